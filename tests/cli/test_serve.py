"""`phraseloom serve`: one-line errors, and an end that leaves no accepted request behind."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from phraseloom.cli.serve import _is_loopback
from phraseloom.server.settings import ServerSettings
from tests.conftest import Outcome

Run = Callable[..., Outcome]


def test_a_port_in_use_is_named_in_one_line(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        outcome = run("serve", "--port", port)

    assert outcome.status == 2
    assert outcome.out == ""
    [line] = outcome.err.splitlines()
    assert f"port {port}" in line
    assert "--port" in line


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--token", " "], "token is empty"),
        (["--token", "sésame"], "ASCII"),
        (["--token", "half\udcff"], "ASCII"),
        (["--token", "secret "], "space"),
        (["--queue", "3"], "--queue"),
        (["--port", "0", "--model", "no-such-model"], "no-such-model"),
        (["--host", "no.such.host.invalid", "--port", "0"], "--host"),
    ],
)
def test_mistakes_are_named_in_one_line(run: Run, arguments: list[str], says: str) -> None:
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


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn", "prometheus_client"])
def test_without_the_extra_one_line_names_the_command(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None;"
        "sys.argv = ['phraseloom', 'serve', '--port', '0'];"
        "from phraseloom.cli import main; main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert (result.returncode, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    assert "pip install '.[serve]'" in line


def test_names_to_answer_to_reach_the_server(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ServerSettings] = []
    monkeypatch.setattr(
        "phraseloom.server.run.run_server", lambda settings, on_ready: asked.append(settings)
    )

    outcome = run("serve", "--allow-host", "box", "--allow-host", "b.example", "--max-work", 9)

    assert outcome.status == 0, outcome.err
    assert asked[0].hosts == ("box", "b.example")
    assert asked[0].limits.work == 9


@pytest.mark.slow
def test_processes_run_nothing_that_lies_where_the_server_starts(tmp_path: Path) -> None:
    for name in ("pickle", "numpy", "spacy", "phraseloom", "random", "socket", "uvicorn"):
        (tmp_path / f"{name}.py").write_text("open('executed', 'w').close()", encoding="utf-8")
    script = Path(sys.executable).with_name("phraseloom")
    command = [str(script), "serve", "--port", "0", "--workers", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        server.send_signal(signal.SIGINT)
        rest = server.stderr.read()

    assert "http://127.0.0.1:" in line, line + rest
    assert not (tmp_path / "executed").exists()


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_server_finishes_what_it_has_accepted(stop: signal.Signals) -> None:
    start = "from phraseloom.cli import main; main()"
    command = [sys.executable, "-c", start, "serve", "--port", "0", "--timeout", "300"]
    environment = {**os.environ, "PHRASELOOM_TOKEN": "secret", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stderr is not None
        address = server.stderr.readline().split()[1]
        assert address.startswith("http://127.0.0.1:"), server.stderr.read()
        headers = {"Authorization": "Bearer secret"}
        body = {"text": "Graph networks read whole sentences. " * 200, "top": 2}
        with (
            httpx.Client(base_url=address, headers=headers, timeout=300) as client,
            ThreadPoolExecutor() as pool,
        ):
            answer = pool.submit(client.post, "/v1/extract", json=body)
            while "phraseloom_requests_in_progress 2.0" not in client.get("/metrics").text:
                assert not answer.done()
            server.send_signal(stop)
            result = answer.result().json()
        log = server.stderr.read()
    assert len(result["keyphrases"]) == 2
    assert "Graph networks" not in log
    assert "Traceback" not in log
    assert server.returncode == (0 if stop is signal.SIGINT else -signal.SIGTERM)
