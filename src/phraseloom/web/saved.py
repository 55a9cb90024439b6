"""The page: its files, for a server, and one file with the search of one text in it.

Browsers load no modules from files, so there each becomes a function that returns what it exports.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from phraseloom.explanation import Explanation, explain_parsed
from phraseloom.extractor import Extractor
from phraseloom.options import Options, make_options
from phraseloom.text.document import Source
from phraseloom.web.resources import resource, script_policy

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_ENTRY = "app"
_LINKS = """<link rel="icon" type="image/svg+xml" href="icon.svg">
<link rel="stylesheet" href="style.css">
<script type="module" src="app.js"></script>
"""
_END = "</body>\n"


def page_files() -> dict[str, str]:
    """The files of the page by name: what index.html links, and the modules that those import."""
    modules = {f"{name}.js": source for name, source in _modules(_ENTRY).items()}
    return {name: resource(name) for name in ("index.html", "style.css", "icon.svg")} | modules


def bundle(entry: str) -> str:
    """A script that does what the module ``entry`` and all that it imports do."""
    parts = []
    for name, source in _modules(entry).items():
        exported = ", ".join(match[2] for match in _EXPORT.finditer(source))
        body = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = \2_js;", source))
        parts.append(f"const {name}_js = (() => {{\n{body}return {{ {exported} }};\n}})();")
    return "\n".join(parts)


def _modules(entry: str) -> dict[str, str]:
    """Sources of a module and of all that it imports, each after those that it needs."""
    source = resource(f"{entry}.js")
    modules: dict[str, str] = {}
    for imported in _IMPORT.finditer(source):
        modules |= {
            name: text for name, text in _modules(imported[2]).items() if name not in modules
        }
    return modules | {entry: source}


def search_for_page(
    extractor: Extractor,
    source: Source,
    options: Options | None = None,
    *,
    most: int = 15,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """What a saved page shows of a text, for JSON: its search for every number up to ``most``.

    A longer search begins with the steps of a shorter one, so the steps are written once, and of
    each number how many of them belong to it.
    """
    [document] = extractor.parse([source])
    numbers = [None, *range(1, most + 1)]
    explanations: list[Explanation] = []
    for top in numbers:
        wanted = make_options(options, {"top": top})
        explanations.append(explain_parsed(extractor, document, wanted))
        on_progress(len(explanations), len(numbers))
    results = [
        {
            "keyphrases": [asdict(phrase) for phrase in explanation.keyphrases],
            "steps": len(explanation.steps),
        }
        for explanation in explanations
    ]
    longest = max(explanations, key=lambda explanation: len(explanation.steps))
    return {"explanation": longest.as_json(), "by_model": results[0], "numbers": results[1:]}


def saved_page(search: Mapping[str, Any]) -> str:
    """The page as one file; takes what `search_for_page` gives. Only its own script may run in it.

    The text is inside a script of data, where the one thing that could end it is ``</script``; in
    JSON each ``<`` can be written as an escape, as can everything that is not ASCII.
    """
    script = bundle(_ENTRY)
    assert "</script" not in script
    head = f"{script_policy(script)}\n<style>\n{resource('style.css')}</style>\n"
    data = json.dumps(search, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    foot = (
        f'<script type="application/json" id="saved">{data}</script>\n<script>{script}</script>\n'
    )
    page = resource("index.html")
    assert _LINKS in page
    assert _END in page
    return page.replace(_LINKS, head).replace(_END, foot + _END)
