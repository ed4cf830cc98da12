"""A model endpoint on loopback in the OpenAI chat-completions wire format, whose answers come from a playbook.

A request names its invocation in the header that the product sends to every server of `--base-url`; the ordinal is the
number of assistant messages in the conversation. So the endpoint never reads a prompt. It counts the requests and the
answers that went out in full, and misbehaves on demand. It leaves out streaming, which the product does not use, and
every other path of the API.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, convert_to_messages

from specwright.ports.roles import Place, Role
from specwright.roles.models.playbook import Playbook
from specwright.roles.models.sources import INVOCATION_HEADER
from testkit.model.fake_model import PlaybookReplies

__all__ = ["Endpoint", "Fault", "ReceivedRequest", "serving"]


class ReceivedRequest(NamedTuple):
    """A request and where in the run it comes from.

    Args:
        place: The invocation.
        ordinal: How many answers its conversation holds.
        identity: The SHA-256 of its messages.
        model: That is asked.
    """

    place: Place
    ordinal: int
    identity: str
    model: str = ""


class Fault(NamedTuple):
    """A way to misbehave.

    Args:
        kind: `hang`, a status as text, `malformed`, `same ids`, or one of `_SHAPES` and `_ARGUMENTS`.
        role: Whose requests it meets; empty for all.
        subject: The module, `contracts` or `plan`; empty for all.
        ordinal: The place in the conversation; None for all.
        times: How often.
        model: That is asked; empty for all.
    """

    kind: str
    role: str = ""
    subject: str = ""
    ordinal: int | None = None
    times: int = 1
    model: str = ""

    def applies_to(self, request: ReceivedRequest) -> bool:
        """Whether it is about this request."""
        place = request.place
        return (
            self.role in ("", place.role)
            and self.subject in ("", place.subject)
            and self.ordinal in (None, request.ordinal)
            and self.model in ("", request.model)
        )


def place_of(run_id: str) -> Place:
    """The invocation that a `Place.run_id` names."""
    run, *middle, role = run_id.split("/")
    task, _, attempt = run.partition(".")
    number, _, resumed = attempt.partition("r")
    subject, stage = middle or ("", "")
    task = "" if task == "product" else task
    return Place(task, int(number), subject, stage, Role(role), int(resumed or 0))


class Endpoint:
    """The server's answers and counts; `serving` runs it.

    Args:
        playbook: The directory that holds the answers.
    """

    def __init__(self, playbook: Path) -> None:
        self._reply = PlaybookReplies(Playbook(playbook))
        self._lock = threading.Lock()
        self._faults: list[list[Any]] = []
        self._released = threading.Event()
        self.hanging = threading.Event()
        self.requests: list[dict[str, Any]] = []
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.log: list[ReceivedRequest] = []
        self.keys: set[str] = set()
        self.tokens = Counter[str]()
        self.base_url = ""

    def __getstate__(self) -> dict[str, Any]:
        """What it received and answered; a copy of it serves nobody."""
        recorded = ("requests", "asked", "answered", "log", "keys", "tokens", "base_url")
        return {name: vars(self)[name] for name in recorded}

    def misbehave(self, *faults: Fault) -> None:
        """Misbehave like this from now on; earlier faults that have not occurred are dropped, hanging requests end."""
        with self._lock:
            self._faults = [[fault, fault.times] for fault in faults]
            self._released.set()
            self._released = threading.Event()
            self.hanging.clear()

    def release(self) -> None:
        """End every request that hangs, without an answer."""
        with self._lock:
            self._released.set()

    def answer(self, request: dict[str, Any], run_id: str) -> tuple[int, bytes, ReceivedRequest] | None:
        """Status and body for a request, or None for no answer at all."""
        asked = _received(request["messages"], run_id)._replace(model=request["model"])
        with self._lock:
            self.asked[asked.identity] += 1
            self.log.append(asked)
            self.requests.append(request)
            fault, released = self._next_fault(asked), self._released
        if fault == "hang":
            self.hanging.set()
            released.wait()
            return None
        if fault.isdigit():
            error = {
                "error": {
                    "message": f"this endpoint answers {fault} on demand",
                    "type": "server_error",
                    "code": None,
                }
            }
            return int(fault), json.dumps(error).encode(), asked
        if fault == "malformed":
            return 200, b'{"id": "chatcmpl-1", "choices": [{"mess', asked
        return 200, json.dumps(self._completion(request, asked, fault)).encode(), asked

    def done(self, asked: ReceivedRequest, usage: dict[str, int]) -> None:
        """Count an answer that went out in full."""
        with self._lock:
            self.answered[asked.identity] += 1
            self.tokens.update(usage)

    def _next_fault(self, asked: ReceivedRequest) -> str:
        for left in self._faults:
            if left[1] and left[0].applies_to(asked):
                left[1] -= 1
                return str(left[0].kind)
        return ""

    def _completion(self, request: dict[str, Any], asked: ReceivedRequest, fault: str) -> dict[str, Any]:
        reply = self._reply(asked.place, convert_to_messages(request["messages"]))
        message = _misshapen(reply, fault) if fault in _SHAPES else _message(reply, asked.ordinal)
        if fault in _ARGUMENTS:
            call = message["tool_calls"][0]["function"]
            call["arguments"] = _ARGUMENTS[fault](call["arguments"])
        if fault == "same ids":
            message = _message(reply, 0)
        spoken = json.dumps(message)
        usage = {"prompt_tokens": len(json.dumps(request)) // 4, "completion_tokens": len(spoken) // 4}
        return {
            "id": f"chatcmpl-{asked.identity[:12]}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": request["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", **message},
                    "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
                }
            ],
            "usage": {**usage, "total_tokens": sum(usage.values())},
        }


@contextmanager
def serving(playbook: Path) -> Iterator[Endpoint]:
    """An endpoint on a free port of 127.0.0.1 until the block ends; its `base_url` is set."""
    endpoint = Endpoint(playbook)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(endpoint))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    endpoint.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield endpoint
    finally:
        endpoint.release()
        server.shutdown()
        server.server_close()
        thread.join()


def _received(messages: list[dict[str, Any]], run_id: str) -> ReceivedRequest:
    ordinal = sum(message["role"] == "assistant" for message in messages)
    identity = sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()
    return ReceivedRequest(place_of(run_id), ordinal, identity)


def _handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.keys.add(self.headers.get("Authorization", ""))
            answer = endpoint.answer(request, self.headers[INVOCATION_HEADER])
            if answer is None:
                self.close_connection = True
                return
            status, body, asked = answer
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                self.wfile.flush()
            except OSError:  # whoever asked is gone
                self.close_connection = True
                return
            if status == 200 and body.endswith(b"}"):
                endpoint.done(asked, json.loads(body)["usage"])

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler


def _message(reply: AIMessage, ordinal: int) -> dict[str, Any]:
    if not reply.tool_calls:
        return {"content": reply.content}
    calls = [
        {
            "id": f"call-{ordinal}-{i}",
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["args"], ensure_ascii=False)},
        }
        for i, call in enumerate(reply.tool_calls)
    ]
    return {"content": None, "tool_calls": calls}


_SHAPES = {
    "prose": "Here is my answer, as you asked {{roughly}}.\n\n{said}\n\nI hope that this helps.",
    "fence": "```json\n{said}\n```",
    "reasoning": '<think>Perhaps {{"decision": "REJECT"}}? No.</think>\n{said}',
    "empty": "",
    "surrogate": "Half a character: \ud83d. And no object at all.",
}
"""Answers as weak models write them: as text, whatever was asked for."""

_ARGUMENTS: dict[str, Callable[[str], str]] = {
    "trailing comma": lambda said: f"{said[:-1]},}}",
    "cut arguments": lambda said: said[: len(said) // 2],
    "wrapped arguments": lambda said: json.dumps({"arguments": said}),
}
"""Arguments of calls as weak models write them."""


def _misshapen(reply: AIMessage, fault: str) -> dict[str, Any]:
    answer = reply.tool_calls[0]["args"] if reply.tool_calls else json.loads(reply.text)
    return {"content": _SHAPES[fault].format(said=json.dumps(answer, ensure_ascii=False, indent=2))}
