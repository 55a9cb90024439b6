"""What MkDocs does to our pages: it adds files from outside ``docs/``, help and settings.

Links in the sources are those of the repository, so that they work there too; here they are turned
into links of the site.
"""

import io
import json
import os.path
import posixpath
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args, get_origin

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pydantic import BaseModel

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")
_FENCE = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
_COMMANDS = "<!-- commands -->"
_SETTINGS = "<!-- settings -->"


def _outside() -> dict[str, str]:
    """Page of the site for each file of the repository that is not in ``docs/``."""
    pages = {
        "benchmarks/README.md": "project/benchmarks.md",
        "experiments/README.md": "project/experiments.md",
        "CHANGELOG.md": "project/changelog.md",
        "CONTRIBUTING.md": "project/contributing.md",
        "SECURITY.md": "project/security.md",
    }
    for script in sorted(ROOT.glob("examples/*.py")):
        pages[f"examples/{script.name}"] = f"examples/{script.stem}.md"
    return pages


_PAGE_OF = _outside()
_FILE_OF = {page: file for file, page in _PAGE_OF.items()}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside."""
    for file, page in _PAGE_OF.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        content = text if file.endswith(".md") else _script_page(Path(file), text)
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links of the repository into links of the site; fill in commands and settings."""
    uri = page.file.src_uri
    parts = _FENCE.split(markdown)
    parts[::2] = [_LINK.sub(lambda link: _site_link(link, uri), part) for part in parts[::2]]
    text = "".join(parts)
    for mark, sections in ((_COMMANDS, _help), (_SETTINGS, _settings)):
        text = text.replace(mark, "\n".join(sections())) if mark in text else text
    return text


def _site_link(link: re.Match[str], uri: str) -> str:
    origin = _FILE_OF.get(uri, f"docs/{uri}")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link[1]))
    page = _PAGE_OF.get(target, target.removeprefix("docs/"))
    return os.path.relpath(page, PurePosixPath(uri).parent) + (link[2] or "")


def _script_page(path: Path, text: str) -> str:
    title = path.stem.replace("_", " ").capitalize()
    return f"# {title}\n\n`{path}`\n\n```python\n{text}```\n"


def _help() -> Iterator[str]:
    """A section for each command."""
    from typer.main import get_command

    from phraseloom.cli import app

    root = get_command(app)
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        with redirect_stdout(io.StringIO()) as out:
            command.main(["--help"], prog_name=f"phraseloom {name}", standalone_mode=False)
        yield f"## {name}\n\n```text\n{out.getvalue().strip()}\n```\n"


def _settings() -> Iterator[str]:
    """A table for each section of the configuration."""
    from phraseloom.config import Config

    for section, field in Config.model_fields.items():
        kind = _section_in(field.annotation)
        if kind is None:  # a setting of its own
            yield f"## {section}\n\n{field.description}\n"
            continue
        yield f"## {section}\n\n{kind.__doc__}\n\n| setting | default | |\n|---|---|---|"
        for name, setting in kind.model_fields.items():
            default = json.dumps(setting.get_default(call_default_factory=True), default=str)
            choices = (
                get_args(setting.annotation) if get_origin(setting.annotation) is Literal else ()
            )
            meaning = setting.description or " or ".join(f'`"{choice}"`' for choice in choices)
            yield f"| `{name}` | `{default}` | {meaning} |"
        yield ""


def _section_in(annotation: Any) -> type[BaseModel] | None:
    """The section that a field holds: one, or several by name or in a row; none if it has none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    sections = (_section_in(part) for part in get_args(annotation))
    return next((section for section in sections if section is not None), None)
