"""`phraseloom serve`: one-line errors, and an end that leaves no accepted request behind."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from phraseloom.cli.serve import _is_loopback
from tests.conftest import Outcome

Run = Callable[..., Outcome]


def test_a_port_in_use_is_said_in_one_line(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        outcome = run("serve", "--port", port)

    assert outcome.status == 2
    assert outcome.out == ""
    [line] = outcome.err.splitlines()
    assert f"port {port}" in line
    assert "--port" in line


def test_without_the_extra_the_fix_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "phraseloom.server.run", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    outcome = run("serve")

    assert outcome.status == 2
    assert "pip install 'phraseloom[server]'" in outcome.err
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--token", " "], "token is empty"),
        (["--queue", "3"], "--queue"),
        (["--port", "0", "--model", "no-such-model"], "no-such-model"),
        (["--host", "no.such.host.invalid", "--port", "0"], "--host"),
    ],
)
def test_mistakes_are_said_in_one_line(run: Run, arguments: list[str], says: str) -> None:
    outcome = run("serve", *arguments)

    assert outcome.status == 2
    assert says in outcome.err
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("box", False)],
)
def test_only_loopback_is_closed_by_itself(host: str, expected: bool) -> None:
    assert _is_loopback(host) is expected


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_server_finishes_what_it_has_accepted(tmp_path: Path, stop: signal.Signals) -> None:
    start = "from phraseloom.cli import main; main()"
    command = [sys.executable, "-c", start, "serve", "--port", "0", "--timeout", "300"]
    environment = {**os.environ, "PHRASELOOM_TOKEN": "secret", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stderr is not None
        address = server.stderr.readline().split()[1]
        client = httpx.Client(
            base_url=address, headers={"Authorization": "Bearer secret"}, timeout=300
        )
        text = "Graph networks read whole sentences. " * 200
        with client, client.stream("POST", "/v1/extract", json={"text": text, "top": 2}) as answer:
            server.send_signal(stop)
            found = httpx.Response(answer.status_code, content=answer.read()).json()
        said = server.stderr.read()
    assert len(found["keyphrases"]) == 2
    assert "Graph networks" not in said
    assert "Traceback" not in said
    assert server.returncode == (0 if stop is signal.SIGINT else -signal.SIGTERM)
