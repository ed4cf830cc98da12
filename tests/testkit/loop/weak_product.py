"""A product whose one module has tests that notice too little: a branch that no test enters."""

import http.server
import json
import shutil
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from testkit.cli.commands import SMALL, specwright

__all__ = ["BRANCH", "INLINE", "halted_weak"]

BRANCH = """

def _shortened(letters: str) -> str:
    if len(letters) > 40:
        return letters[:40]
    return letters
"""
"""Five small faults in it are noticed by no test."""

INLINE = """letters = letters[:40] if len(letters) > 40 else letters
    return "".join(letters).upper()"""
"""The last line of the module with a branch of its own: enough small faults in it are noticed where half of them are due."""


def halted_weak(base: Path, ending: str = "") -> None:
    """Make the project, halted because a Proposer gave the same weak tests until its attempts were spent; its playbook lies
    beside it.

    Args:
        base: For both.
        ending: What stands for the last line of the module; by default a call of the branch.
    """
    playbook = Path(shutil.copytree(SMALL / "playbook", base / "playbook"))
    answers = playbook / "TSK-001/initials/round-1"
    entry = answers / "deliverable/implementation/__init__.py"
    sound = entry.read_text()
    called = 'return _shortened("".join(letters).upper())'
    weak = sound.replace('return "".join(letters).upper()', ending or called)
    entry.write_text(weak if ending else weak + BRANCH)
    with _saying(_written(answers)) as url:
        told = specwright(
            *("run", base / "project", "--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}"),
            *("--role-model", "proposer=openai:m", "--base-url", url, "--approve"),
        )
    assert told.code == 3, told
    entry.write_text(sound)


def _written(answers: Path) -> list[tuple[str, Any]]:
    """The calls that write a deliverable and submit it."""
    base = answers / "deliverable"
    files = sorted(path for path in base.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    given = [
        {"file_path": f"/{path.relative_to(base).as_posix()}", "content": path.read_text()} for path in files
    ]
    claim = json.loads((answers / "proposer.json").read_text())
    return [*(("write_file", one) for one in given), ("submit_proposal", claim)]


@contextmanager
def _saying(calls: list[tuple[str, Any]]) -> Generator[str]:
    """An endpoint on loopback that gives the same calls as its answer to everything; gives its base URL."""
    made = [
        {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for i, (name, given) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": "", "tool_calls": made}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200}
    completion = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    answer = json.dumps({**completion, "usage": usage}).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
