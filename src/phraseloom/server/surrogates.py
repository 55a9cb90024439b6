"""Half characters: JSON can bring them in as escapes, but nothing can be sent out with them."""

import re

_LONE = re.compile("[\ud800-\udfff]")


def replace_surrogates(text: str) -> str:
    r"""Put U+FFFD in the place of each lone surrogate; all offsets stay as they are.

    >>> replace_surrogates("half \ud83d, whole 😀")
    'half �, whole 😀'
    """
    return _LONE.sub("\ufffd", text)
