"""The scripts of the page as one, for a file that is opened without a server.

Browsers load no modules from files, so each becomes a function that returns what it exports.
"""

import re
from importlib.resources import files

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


def read_part(name: str) -> str:
    """One of the files that the page is made of."""
    return files("phraseloom.web").joinpath(name).read_text(encoding="utf-8")


def bundle(entry: str) -> str:
    """A script that does what the module ``entry`` and all that it imports do."""
    bodies: dict[str, str] = {}
    _collect(entry, bodies)
    return "\n".join(f"const {name}_js = (() => {{\n{body}}})();" for name, body in bodies.items())


def _collect(name: str, bodies: dict[str, str]) -> None:
    """Add a module after those that it imports."""
    source = read_part(f"{name}.js")
    for imported in _IMPORT.finditer(source):
        if imported[2] not in bodies:
            _collect(imported[2], bodies)
    exported = ", ".join(match[2] for match in _EXPORT.finditer(source))
    body = _IMPORT.sub(r"const \1 = \2_js;", source)
    bodies[name] = _EXPORT.sub(r"\1", body) + f"return {{ {exported} }};\n"
