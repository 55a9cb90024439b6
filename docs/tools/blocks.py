"""The code blocks of a Markdown page: found, and run as its reader would run them.

``python`` blocks run, and the lines of ``sh`` blocks; so do lines behind a prompt in ``console``
blocks, which also show what is printed. A ``console`` block without prompts is a record of what was
run elsewhere, on corpora that are not here: its options and arguments are checked. ``toml`` and
``json`` blocks are read.
"""

import importlib
import io
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path, PurePath
from textwrap import dedent
from typing import Any, NamedTuple
from unittest.mock import patch

import typer
from typer.main import get_command

from experiments import MODULES
from experiments.__main__ import main as experiments_main
from phraseloom.cli import app, main
from phraseloom.config import parse_config

_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```[ ]*$", re.MULTILINE | re.DOTALL)
_SHELLS = {"sh", "console"}
_ENDS = {"|", "||", "&&", ";", "&", ";;"}
_ENDLESS = {"serve"}
PROMPT = "$ "
"""Before what a reader types, where a block also shows what is printed."""


class Block(NamedTuple):
    """A fenced block: its language, its lines without indentation, and where they stand."""

    language: str
    code: str
    start: int
    end: int

    @property
    def is_record(self) -> bool:
        """Whether it says what was run elsewhere."""
        return self.language == "console" and PROMPT not in self.code


class Command(NamedTuple):
    """A call of ``phraseloom``, ``experiments`` or ``curl``, and the file piped into it, if any."""

    program: str
    arguments: tuple[str, ...]
    piped: str | None = None


def find_blocks(page: str) -> list[Block]:
    """All fenced blocks of a page in order."""
    return [
        Block(match[2], dedent(match[3]), match.start(3), match.end(3))
        for match in _FENCE.finditer(page)
    ]


def shell_lines(block: Block) -> list[str]:
    """What a reader types: the lines behind a prompt or, where there is none, all of them."""
    if block.language not in _SHELLS:
        return []
    lines = block.code.replace("\\\n", " ").splitlines()
    prompted = [line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)]
    return prompted or [line for line in lines if line.strip()]


def find_commands(line: str) -> Iterator[Command]:
    """Calls in a line of shell that we can check."""
    piped = None
    for words in _simple_commands(line):
        if PurePath(words[0]).name in {"phraseloom", "curl"}:
            yield Command(PurePath(words[0]).name, tuple(words[1:]), piped)
        elif words[1:3] == ["-m", "experiments"]:
            yield Command("experiments", tuple(words[3:]), piped)
        piped = words[1] if words[:1] == ["cat"] else None


def check_command(command: Command) -> None:
    """Raise unless the command exists and takes these options and arguments."""
    if command.program == "curl" or not command.arguments:
        return
    name, *rest = command.arguments
    if command.program == "experiments":
        single = typer.Typer()
        single.command()(importlib.import_module(MODULES[name]).run)
        _check(get_command(single), name, rest)
        return
    root = get_command(app)
    if name.startswith("-"):
        assert any(name in option.opts for option in root.params), name
        return
    _check(root.commands[name], name, rest)  # type: ignore[attr-defined]


def run_command(command: Command) -> str:
    """What the command prints, run in this process; raise if it fails."""
    program, arguments = command.program, list(command.arguments)
    piped = b"" if command.piped is None else Path(command.piped).read_bytes()
    stdin = io.TextIOWrapper(io.BytesIO(piped), encoding="utf-8")
    run = main
    if program == "experiments":
        run = experiments_main
        arguments += [] if "--pictures" in arguments else ["--pictures", "."]  # not docs/pictures
    argv = [program, *arguments]
    with patch("sys.argv", argv), patch("sys.stdin", stdin), redirect_stdout(io.StringIO()) as out:
        try:
            run()
        except SystemExit as end:
            assert not end.code, f"{shlex.join(argv)} ended with status {end.code}"
    return out.getvalue()


class Session:
    """One reader who follows a page from top to bottom: names stay, files stay.

    Args:
        known: calls that were run before, on this page or another, and need not be run again: with
            them, only the first of equal commands is run.
    """

    def __init__(self, known: set[Command] | None = None) -> None:
        self._names: dict[str, object] = {"__name__": "a_page"}
        self._known = known
        self._post: Callable[[str, str], str] | None = None

    def run(self, block: Block, name: str) -> str:
        """What the block prints."""
        if block.language == "python":
            with redirect_stdout(io.StringIO()) as out:
                exec(compile(block.code, name, "exec"), self._names)
            return out.getvalue()
        if block.language == "json":
            json.loads(block.code)
        if block.language == "toml":
            parse_config(tomllib.loads(block.code))
        commands = [part for line in shell_lines(block) for part in find_commands(line)]
        for command in commands:
            check_command(command)
        return "" if block.is_record else "".join(map(self._run_once, commands))

    def _run_once(self, command: Command) -> str:
        if command.program == "curl":
            return self._curl(command.arguments)
        if not command.arguments or command.arguments[0] in _ENDLESS:
            return ""
        if self._known is not None and command in self._known:
            return ""
        if self._known is not None:
            self._known.add(command)
        is_about_itself = {"--help", "--install-completion"} & {*command.arguments}
        return "" if is_about_itself else run_command(command)

    def _curl(self, arguments: Sequence[str]) -> str:
        """Answer of a server that stands in for the one that the reader has started."""
        if self._post is None:
            self._post = _start_server()
        body = arguments[arguments.index("-d") + 1]
        (address,) = [word for word in arguments if word.startswith("http")]
        return self._post("/" + address.split("/", 3)[3], body)


def _start_server() -> Callable[[str, str], str]:
    """A function that posts JSON to a server with the default model, and gives what it answers."""
    from phraseloom.extractor import Extractor  # here: few pages need them
    from tests.server.serving import ask, make_app

    app = make_app(Extractor.load())

    def post(path: str, body: str) -> str:
        headers = {"Content-Type": "application/json"}
        return _layout(ask(app, "POST", path, content=body, headers=headers).json())

    return post


def _layout(content: dict[str, Any]) -> str:
    """JSON as a page shows it: a line a field, and a line for each thing in a list."""
    fields = []
    for key, value in content.items():
        if isinstance(value, list):
            items = ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in value)
            fields.append(f" {json.dumps(key)}: [\n  {items}\n ]")
        else:
            fields.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _simple_commands(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if word not in _ENDS:
            words.append(word)
        elif words:
            yield words
            words = []
    if words:
        yield words


def _check(command: Any, name: str, arguments: Sequence[str]) -> None:
    if "--help" not in arguments:
        command.make_context(name, list(arguments))
