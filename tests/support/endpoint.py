"""A model endpoint on loopback in the OpenAI chat-completions wire format, whose answers come from a playbook.

It knows nothing of the run but what a request holds: the role by the system prompt, task, module and round by the
message, the ordinal by the assistant messages so far. It counts what it was asked and what it answered in full, and
misbehaves when told to. Left out: streaming, which the factory does not use, and every other path of the API.
"""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from specwright.ports.roles import Place, Role
from specwright.roles.playbook import Playbook
from specwright.roles.team import prompt

__all__ = ["Asked", "Endpoint", "Fault", "serving"]

PROMPTS = ("researcher", "planner", "proposer", "amender", "challenger", "arbiter")


class Asked(NamedTuple):
    """A request, recognised.

    Args:
        place: Where in the run it comes from; of the attempt a request says nothing.
        ordinal: How many answers its conversation holds.
        identity: The SHA-256 of its messages.
    """

    place: Place
    ordinal: int
    identity: str


class Fault(NamedTuple):
    """A way to misbehave.

    Args:
        kind: `hang`, a status as text, `malformed`, `same ids`, or one of `_SHAPES` and `_ARGUMENTS`.
        role: Whose requests it meets; empty for all.
        subject: The module, `contracts` or `plan`; empty for all.
        ordinal: The place in the conversation; None for all.
        times: How often.
    """

    kind: str
    role: str = ""
    subject: str = ""
    ordinal: int | None = None
    times: int = 1

    def meets(self, asked: Asked) -> bool:
        """Whether it is about this request."""
        place = asked.place
        return (
            self.role in ("", place.role)
            and self.subject in ("", place.subject)
            and self.ordinal in (None, asked.ordinal)
        )


class Endpoint:
    """The server's answers and counts; `serving` runs it.

    Args:
        playbook: The directory that holds the answers.
    """

    def __init__(self, playbook: Path) -> None:
        self._recognise = Recogniser(playbook)
        self._playbook = Playbook(playbook)
        self._lock = threading.Lock()
        self._faults: list[list[Any]] = []
        self._released = threading.Event()
        self.hanging = threading.Event()
        self.requests: list[dict[str, Any]] = []
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.log: list[Asked] = []
        self.keys: set[str] = set()
        self.tokens = Counter[str]()
        self.base_url = ""

    def misbehave(self, *faults: Fault) -> None:
        """Misbehave from now on; what was told before and has not happened is forgotten, what hangs is let go."""
        with self._lock:
            self._faults = [[fault, fault.times] for fault in faults]
            self._released.set()
            self._released = threading.Event()
            self.hanging.clear()

    def release(self) -> None:
        """End every request that hangs, without an answer."""
        with self._lock:
            self._released.set()

    def answer(self, request: dict[str, Any]) -> tuple[int, bytes, Asked] | None:
        """Status and body for a request, or None for no answer at all."""
        asked = self._recognise(request["messages"])
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
            error = {"error": {"message": f"told to answer {fault}", "type": "server_error", "code": None}}
            return int(fault), json.dumps(error).encode(), asked
        if fault == "malformed":
            return 200, b'{"id": "chatcmpl-1", "choices": [{"mess', asked
        return 200, json.dumps(self._completion(request, asked, fault)).encode(), asked

    def done(self, asked: Asked, usage: dict[str, int]) -> None:
        """Take notice that an answer went out in full."""
        with self._lock:
            self.answered[asked.identity] += 1
            self.tokens.update(usage)

    def _next_fault(self, asked: Asked) -> str:
        for left in self._faults:
            if left[1] and left[0].meets(asked):
                left[1] -= 1
                return str(left[0].kind)
        return ""

    def _completion(self, request: dict[str, Any], asked: Asked, fault: str) -> dict[str, Any]:
        turns = self._playbook.model(asked.place).turns
        turn = turns[min(asked.ordinal, len(turns) - 1)]  # asked once more, it insists
        message = _misshapen(turn, fault) if fault in _SHAPES else _message(turn, asked.ordinal)
        if fault in _ARGUMENTS:
            call = message["tool_calls"][0]["function"]
            call["arguments"] = _ARGUMENTS[fault](call["arguments"])
        if fault == "same ids":
            message = _message(turn, 0)
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


class Recogniser:
    """Finds the place of a request in a playbook, by what the request says."""

    def __init__(self, playbook: Path) -> None:
        self._playbook = playbook
        self._by_role: dict[str, Callable[[str], Place]] = {
            "researcher": lambda _: Place("", 1, "", "", Role.RESEARCHER),
            "planner": self._planner,
            "proposer": self._proposer,
            "amender": self._amender,
            "challenger": self._challenger,
            "arbiter": self._arbiter,
        }

    def __call__(self, messages: list[dict[str, Any]]) -> Asked:
        """Recognise a conversation."""
        system, first = _text(messages[0]), _text(messages[1])
        role = next(name for name in PROMPTS if system.startswith(prompt(name).splitlines()[0]))
        ordinal = sum(message["role"] == "assistant" for message in messages)
        identity = sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()
        return Asked(self._by_role[role](first), ordinal, identity)

    def _planner(self, text: str) -> Place:
        task = self._task_named(text)
        return Place(task, 1, "plan", self._round_after(f"{task}/contracts", text), Role.PLANNER)

    def _proposer(self, text: str) -> Place:
        module = _found(r"Implement the module `(\w+)`", text)
        task = self._task_of(module)
        return Place(task, 1, module, self._round_after(f"{task}/{module}", text), Role.PROPOSER)

    def _amender(self, text: str) -> Place:
        for path in sorted(self._playbook.glob("TSK-*/*/round-*/arbiter.json")):
            amendments = json.loads(path.read_bytes())["amendments"]
            if amendments and all(amendment["detail"] in text for amendment in amendments):
                return Place(path.parts[-4], 1, path.parts[-3], "amended", Role.PROPOSER)
        raise LookupError("no ruling of the playbook has these amendments")

    def _challenger(self, text: str) -> Place:
        stage = "round-" + _found(r"Round (\d+)\.", text)
        return self._debated(text, stage, Role.CHALLENGER, contracts="This is a contract debate" in text)

    def _arbiter(self, text: str) -> Place:
        proposals = re.findall(r"^# Round (\d+): proposal$", text, re.MULTILINE)
        contracts = '"target_artifact_id": "MP-' in text
        return self._debated(text, f"round-{proposals[-1]}", Role.ARBITER, contracts=contracts)

    def _debated(self, text: str, stage: str, role: Role, *, contracts: bool) -> Place:
        module = _found(r"# Contract of `(\w+)`", text)
        return Place(self._task_of(module), 1, "contracts" if contracts else module, stage, role)

    def _task_named(self, text: str) -> str:
        """The task that the task file is about."""
        title = _found(r"(?m)^# Task: (.+)$", text)
        spec = json.loads((self._playbook / "researcher/spec.json").read_bytes())
        stories = [s for p in spec["pillars"] for e in p["epics"] for s in e["stories"]]
        names = {task["name"]: task["task_id"] for story in stories for task in story["tasks"]}
        return str(names[title.strip()])

    def _task_of(self, module: str) -> str:
        plans = {
            path.parent.name: json.loads(path.read_bytes()) for path in self._playbook.glob("*/planner*.json")
        }
        return next(
            task for task, plan in plans.items() if module in [m["name"] for m in plan["plan"]["modules"]]
        )

    def _round_after(self, debate: str, text: str) -> str:
        """The round after the one whose failures, or whose rejection, the text quotes."""
        last = 1
        for path in self._playbook.glob(f"{debate}/round-*/*.json"):
            said = json.loads(path.read_bytes())
            quoted = [failure["evidence"] for failure in said.get("failures", [])]
            if said.get("decision") == "REJECT":
                quoted.append(said["rationale"])
            if quoted and all(quote in text for quote in quoted):
                last = max(last, int(path.parent.name.removeprefix("round-")) + 1)
        return f"round-{last}"


def _handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.keys.add(self.headers.get("Authorization", ""))
            answer = endpoint.answer(request)
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


def _message(turn: list[tuple[str, dict[str, Any]]], ordinal: int) -> dict[str, Any]:
    if not turn[0][0]:
        return {"content": json.dumps(turn[0][1], ensure_ascii=False)}
    calls = [
        {
            "id": f"call-{ordinal}-{i}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
        }
        for i, (name, arguments) in enumerate(turn)
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


def _misshapen(turn: list[tuple[str, dict[str, Any]]], fault: str) -> dict[str, Any]:
    return {"content": _SHAPES[fault].format(said=json.dumps(turn[0][1], ensure_ascii=False, indent=2))}


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise LookupError(f"{pattern!r} is not in the request")
    return match[1]
