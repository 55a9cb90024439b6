"""Nothing ever asks the network for anything."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from phraseloom import Extractor

if TYPE_CHECKING:
    from tests.conftest import Outcome

TEXT = "Graph networks read dependency trees. Graph networks copy phrases from the trees.\n"


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        raise AssertionError(f"the network was asked for {arguments}")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("create_connection", "getaddrinfo", "gethostbyname"):
        monkeypatch.setattr(socket, name, refuse)


def test_the_guard_works() -> None:
    with pytest.raises(AssertionError, match="the network was asked for"):
        socket.create_connection(("localhost", 9))


def test_python_and_the_command_line_need_no_network_and_agree(
    run: Callable[..., "Outcome"], tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(TEXT, encoding="utf-8")
    extractor = Extractor.load()
    phrases = extractor.extract(TEXT, top=3)

    outcome = run("extract", text, "--top", 3, "--format", "text")

    assert phrases
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.split("\n")[:3] == [phrase.text for phrase in phrases]
    extractor.save_pretrained(tmp_path / "copy")
    assert Extractor.from_pretrained(tmp_path / "copy").extract(TEXT, top=3) == phrases
