"""How much work a PDF is: its library takes the square of what a page shows, and a file of some
kilobytes may show gigabytes.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from phraseloom.errors import ReadingError

MAX_PAGES = 20_000
_MAX_BYTES = 32 << 20  # of what a page shows: drawings take much
_MAX_SQUARE = 4 * 10**11  # pieces of text on a page, times its bytes: some ten seconds
_MAX_PIECES = 2_000_000  # on all pages: some minutes
_DRAWN = re.compile(rb"/([^\s/]+)\s+Do\b")


class Size(NamedTuple):
    """What a page shows: strings, each a line or part of one, and bytes of instructions."""

    pieces: int
    bytes: int


class PageSizes:
    """Sizes of the pages of a file, counted before they are read.

    A form is a part of a page that may be drawn many times, also by other forms.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._pieces = 0
        self._forms: dict[object, Size] = {}

    def add(self, page: Any, number: int) -> None:
        """Count a page.

        Raises:
            ReadingError: it shows too much, or all pages together do.
        """
        try:
            size = self._measure(page, page.get_contents().get_data())
        except Exception:  # it is damaged or empty, which its reader will find
            size = Size(0, 0)
        self._pieces += size.pieces
        if size.bytes > _MAX_BYTES or size.pieces * size.bytes > _MAX_SQUARE:
            raise ReadingError(f"{self._name} shows too much on page {number}; leave it out")
        if self._pieces > _MAX_PIECES:
            raise ReadingError(
                f"{self._name} has more than {_MAX_PIECES:,} pieces of text; split it"
            )

    def _measure(self, owner: Any, content: bytes) -> Size:
        """The size of a page or a form with these instructions; one without text is not read."""
        pieces, size = content.count(b"(") + content.count(b"<"), len(content)
        drawn = Counter(name.decode("latin-1") for name in _DRAWN.findall(content))
        forms = dict(_forms(owner)) if drawn else {}
        sizes = {name: self._of_form(form) for name, form in forms.items()}
        largest = max(sizes.values(), default=Size(0, 0))
        for name, times in drawn.items():
            form = sizes.get(name, largest if "#" in name else Size(0, 0))
            pieces, size = pieces + times * form.pieces, size + times * form.bytes
        return Size(pieces, size if pieces else 0)

    def _of_form(self, form: Any) -> Size:
        key = getattr(getattr(form, "indirect_reference", None), "idnum", None) or id(form)
        if key not in self._forms:
            self._forms[key] = Size(0, 0)  # if it draws itself, or is damaged: that is left out
            with suppress(Exception):
                self._forms[key] = self._measure(form, form.get_data())
        return self._forms[key]


def _forms(owner: Any) -> Iterator[tuple[str, Any]]:
    try:
        objects = owner["/Resources"].get_object()["/XObject"].get_object()
        for name in objects:
            form = objects[name].get_object()
            if form["/Subtype"] == "/Form":
                yield name.removeprefix("/"), form
    except (AttributeError, KeyError, TypeError):  # damaged, or there are none
        return
