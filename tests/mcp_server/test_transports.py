"""How a server is reached: clean standard output, loopback alone, who may ask, calls that end."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from testkit.gate.running import need_sandbox
from testkit.mcp import SERVE, Agent, http_server, with_agent
from testkit.paths import ROOT

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_NOISY = """
import sys
from specwright.mcp_server import call, judging
def gate(arguments, work):
    print("noise"); sys.stdout.flush()
    return judging.gate(arguments, work)
call.FUNCTIONS = {"gate": gate}
call.main()
"""


def request(name: str, arguments: Mapping[str, Any], number: int = 2) -> dict[str, Any]:
    """A call of a tool."""
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def server(root: Path, *options: str, **more: Any) -> subprocess.Popen[str]:
    """A server over standard input and output."""
    pipe = subprocess.PIPE
    command = [sys.executable, *SERVE, str(root), *options]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, **more)


def send(process: subprocess.Popen[str], *messages: Mapping[str, Any]) -> None:
    """Write messages to a server."""
    assert process.stdin is not None
    process.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
    process.stdin.flush()


@pytest.fixture
def hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root in which a call does not end by itself: its module's tests never return."""
    module = tmp_path / "root/tally_words"
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    shutil.copytree(ROOT / "tests/gate/modules/tally_words", module)
    (module / "specwright.toml").write_text("gate_timeout_seconds = 300\n")
    tests = module / "tests/test_tally_words.py"
    tests.write_text(
        tests.read_text()
        + "\n\ndef test_that_hangs():\n    assert tally_words('a')\n    while True:\n        pass\n"
    )
    return tmp_path / "root"


def test_nothing_but_messages_is_written_to_standard_output(tmp_path: Path):
    """Errors of arguments, unknown tools and junk included; the end of input ends the server (D-50-03)."""
    with server(tmp_path) as process:
        assert process.stdin is not None
        send(process, HELLO, READY)
        process.stdin.write("this is no message\n")
        send(process, request("explain", {"code": "tests.failed"}), request("nothing", {}, 3))
        send(process, request("gate", {"directories": ["\0", "../.."]}, 4))
        answers = list[dict[str, Any]]()
        while {2, 3, 4} - {one.get("id") for one in answers}:
            assert process.stdout is not None
            answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.wait(10) == 0
        assert process.stdout.read() == ""
    assert all(one["jsonrpc"] == "2.0" for one in answers)
    by_id = {one["id"]: one for one in answers if "id" in one}
    assert by_id[2]["result"]["structuredContent"]["code"] == "tests.failed"
    assert by_id[3]["error"]["code"] == -32602
    assert by_id[4]["result"]["isError"]


def test_a_tool_that_prints_does_not_disturb_its_answer(tmp_path: Path):
    """What it prints goes to standard error (D-50-03)."""
    given = {
        "tool": "gate",
        "arguments": {"directories": ["nowhere"]},
        "roots": [str(tmp_path)],
        "scratch": str(tmp_path),
        "seconds": 9,
    }
    with subprocess.Popen(
        [sys.executable, "-P", "-c", _NOISY], stdin=-1, stdout=-1, stderr=-1, text=True
    ) as process:
        send(process, given)
        assert process.stdout is not None
        assert process.stderr is not None
        assert "no such directory" in json.loads(process.stdout.readline())["error"]
        assert process.stderr.readline() == "noise\n"


def test_a_request_from_a_web_page_or_under_another_name_is_refused(tmp_path: Path):
    """A page of some site must not reach the server, neither by its origin nor by DNS that it has bound anew; and another
    address of the machine has no server (D-50-03)."""
    with http_server(tmp_path) as url:
        port = int(url.split(":")[2].split("/")[0])
        good = {"Host": f"127.0.0.1:{port}"}
        assert status(url, good) == 200
        assert status(url, {**good, "Origin": f"http://localhost:{port}"}) == 200
        assert status(url, {**good, "Origin": "https://evil.example"}) == 403
        assert status(url, {**good, "Origin": "null"}) == 403
        assert status(url, {**good, "Origin": "http://localhost:1"}) == 403
        assert status(url, {"Host": f"evil.example:{port}"}) == 421
        assert status(url, {**good, "Content-Type": "text/plain"}) == 400
        with socket.socket() as other, pytest.raises(OSError):  # noqa: PT011 - whichever way it is refused
            other.connect(("127.0.0.2", port))
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            used = taken.getsockname()[1]
            told = subprocess.run(
                [sys.executable, *SERVE, str(tmp_path), "--http", "--port", str(used)],
                capture_output=True,
                text=True,
                check=False,
            )
        assert (told.returncode, told.stdout) == (2, "")
        assert "the port cannot be had" in told.stderr


def test_with_a_token_no_request_passes_without_it(tmp_path: Path):
    """Other users of the machine reach the loopback interface too (D-50-03)."""
    with http_server(tmp_path, env={"SPECWRIGHT_MCP_TOKEN": "t0ken"}) as url:
        host = {"Host": url.split("/")[2]}
        assert status(url, host) == 401
        assert status(url, {**host, "Authorization": "Bearer t0ke"}) == 401
        assert status(url, {**host, "Authorization": "Bearer t0ken"}) == 200


def status(url: str, headers: Mapping[str, str]) -> int:
    """The status of the first request of a session."""
    all_headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        **headers,
    }
    asked = urllib.request.Request(url, json.dumps(HELLO).encode(), dict(all_headers))
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


@pytest.mark.slow
def test_a_call_that_takes_too_long_is_ended_with_all_that_it_started(hangs: Path):
    """The agent is told what to do, the server goes on, and no process or file is left (D-50-03)."""

    async def work(agent: Agent) -> None:
        answer = await agent.call("gate", directories=["."])
        assert "more than 3 seconds" in answer.error
        assert "--seconds" in answer.error
        assert (await agent.client.list_tools()).tools
        assert left_over(hangs) == []

    with_agent(hangs, work, "--seconds", "3")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "sandbox"), [("cancelled", "landlock"), ("input ends", "bubblewrap"), ("killed", "landlock")]
)
def test_a_call_ends_when_nobody_waits_for_it(
    hangs: Path, how: str, sandbox: str, monkeypatch: pytest.MonkeyPatch
):
    """The client cancels it or goes away, or the server is killed: no process of it runs on (D-50-03)."""
    need_sandbox(sandbox)
    monkeypatch.setenv("SPECWRIGHT_SANDBOX", sandbox)
    with server(hangs) as process:
        assert process.stdin is not None
        send(process, HELLO, READY, request("gate", {"directories": ["."]}))
        until(lambda: len(left_over(hangs)) > 1)
        if how == "cancelled":
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
            send(process, cancel)
        elif how == "input ends":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGKILL)
        until(lambda: not left_over(hangs))
        process.kill()


def left_over(root: Path) -> list[str]:
    """The command lines of processes of calls: they name the directory for temporary files, or work below it."""
    found = list[str]()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            line, environment = ((path / name).read_bytes() for name in ("cmdline", "environ"))
            about = line + environment + str((path / "cwd").readlink()).encode()
        except OSError:
            continue
        if (
            str(root.parent).encode() in about
            and b"specwright\0mcp\0" not in line
            and path.name != str(os.getpid())
        ):
            found.append(line.decode(errors="replace"))
    return found


def until(condition: Any) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_without_the_sdk_the_command_says_what_to_install(tmp_path: Path):
    """One message, on standard error (D-50-03)."""
    program = "import sys; sys.modules['mcp'] = None; from specwright.cli.main import run; run()"
    told = subprocess.run(
        [sys.executable, "-P", "-c", program, "mcp", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.returncode, told.stdout) == (2, "")
    assert "pip install 'specwright[mcp]'" in told.stderr
    assert "Traceback" not in told.stderr
