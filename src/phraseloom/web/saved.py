"""The page with the search of one text in it: a file that works without a server."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from phraseloom.explain import explain
from phraseloom.extractor import Extractor
from phraseloom.text.document import Source
from phraseloom.web.bundle import bundle, read_part

_LINKS = """<link rel="icon" type="image/svg+xml" href="icon.svg">
<link rel="stylesheet" href="style.css">
<script type="module" src="app.js"></script>
"""
_INLINE = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; script-src 'sha256-{digest}'">
<style>
{style}</style>
"""
_END = "</body>\n"


def search_for_page(
    extractor: Extractor,
    source: Source,
    *,
    style: str | None = None,
    most: int = 15,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """What a saved page shows of a text, for JSON: its search for every number up to ``most``.

    What a longer search says first is what a shorter one says, so the steps are told once; of each
    number it is said how many of them belong to it.
    """
    wanted = [None, *range(1, most + 1)]
    found = []
    for done, top in enumerate(wanted, start=1):
        found.append(explain(extractor, source.text, title=source.title, top=top, style=style))
        on_progress(done, len(wanted))
    told = [
        {
            "keyphrases": [asdict(phrase) for phrase in each.keyphrases],
            "steps": len(each.steps),
        }
        for each in found
    ]
    longest = max(found, key=lambda each: len(each.steps))
    return {"explanation": longest.as_json(), "by_model": told[0], "numbers": told[1:]}


def saved_page(found: Mapping[str, Any]) -> str:
    """The page as one file; takes what `search_for_page` gives. Only its own script may run in it.

    The text is inside a script of data, where the one thing that could end it is ``</script``; in
    JSON each ``<`` can be written as an escape, as can everything that is not ASCII.
    """
    script = bundle("app")
    assert "</script" not in script
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    head = _INLINE.format(digest=digest, style=read_part("style.css"))
    data = json.dumps(found, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    foot = (
        f'<script type="application/json" id="saved">{data}</script>\n<script>{script}</script>\n'
    )
    page = read_part("index.html")
    assert _LINKS in page
    assert _END in page
    return page.replace(_LINKS, head).replace(_END, foot + _END)
