"""The code blocks of a Markdown page: found, checked, and run as its reader would."""

import importlib
import io
import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path, PurePath
from textwrap import dedent
from typing import NamedTuple
from unittest.mock import patch

import typer
from typer.main import get_command

from experiments import MODULES
from phraseloom.cli import app, main
from phraseloom.config import parse_config

_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```[ ]*$", re.MULTILINE | re.DOTALL)
_SHELLS = {"sh", "bash", "console"}
_ENDS = {"|", "||", "&&", ";", "&", ";;"}
_CHEAP = {"extract", "graph", "models", "show"}
PROMPT = "$ "
"""Before what a reader types, where a block also shows what is printed."""


class Block(NamedTuple):
    """A fenced block: its language, its lines without indentation, and where they stand."""

    language: str
    code: str
    start: int
    end: int


class Command(NamedTuple):
    """Arguments of one call of ``phraseloom``, and the file that is piped into it, if one is."""

    arguments: tuple[str, ...]
    piped: str | None = None

    @property
    def is_cheap(self) -> bool:
        """Whether it takes a moment, starts no process and needs no model but the package's."""
        name, *rest = self.arguments
        is_dear = bool({"--jobs", "--model", "--parser"} & {*rest})
        is_dear |= name == "show" and "--most" not in rest  # it would search fifteen times
        return name in _CHEAP and not is_dear


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
    """Calls of ``phraseloom`` in a line of shell."""
    piped = None
    for words in _simple_commands(line):
        words = words[1:] if words[0] == "do" else words
        if words and PurePath(words[0]).name == "phraseloom":
            redirect = words.index(">") if ">" in words else len(words)
            yield Command(tuple(words[1:redirect]), piped)
        piped = words[1] if words[:1] == ["cat"] else None


def check_command(command: Command) -> None:
    """Raise unless the command exists and takes these options and arguments."""
    name, *rest = command.arguments
    root = get_command(app)
    if name.startswith("-"):
        assert any(name in option.opts for option in root.params), name
        return
    _check(root.commands[name], name, rest)  # type: ignore[attr-defined]
    if name == "experiment" and rest and not rest[0].startswith("$"):
        single = typer.Typer()
        single.command()(importlib.import_module(MODULES[rest[0]]).run)
        _check(get_command(single), rest[0], rest[1:])


def run_command(command: Command) -> str:
    """What the command prints, run in this process; raise if it fails."""
    piped = b"" if command.piped is None else Path(command.piped).read_bytes()
    stdin = io.TextIOWrapper(io.BytesIO(piped), encoding="utf-8")
    argv = ["phraseloom", *command.arguments]
    with patch("sys.argv", argv), patch("sys.stdin", stdin), redirect_stdout(io.StringIO()) as out:
        try:
            main()
        except SystemExit as end:
            assert not end.code, f"{shlex.join(argv)} ended with status {end.code}"
    return out.getvalue()


class Session:
    """One reader who follows a page from top to bottom: names stay, files stay."""

    def __init__(self) -> None:
        self._names: dict[str, object] = {"__name__": "a_page"}

    def run(self, block: Block, name: str) -> str:
        """What the block prints; shell lines are checked, and run if they are cheap."""
        if block.language == "python":
            with redirect_stdout(io.StringIO()) as out:
                exec(compile(block.code, name, "exec"), self._names)
            return out.getvalue()
        if block.language == "json":
            json.loads(block.code)
        if block.language == "toml":
            parse_config(tomllib.loads(block.code))
        commands = [each for line in shell_lines(block) for each in find_commands(line)]
        for command in commands:
            check_command(command)
        return "".join(run_command(command) for command in commands if command.is_cheap)


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


def _check(command: object, name: str, arguments: Sequence[str]) -> None:
    if "--help" not in arguments:
        command.make_context(name, list(arguments))  # type: ignore[attr-defined]
