"""A model endpoint on loopback in the wire formats of OpenAI (chat completions) and Anthropic (messages), whose answers
come from a playbook.

A request names its invocation in the header that the product sends to every server of `--base-url`; the ordinal is the
number of answers in the conversation. So the endpoint never reads a prompt. It counts the requests and the answers that
went out in full, and misbehaves on demand. It leaves out streaming, which the product does not use, and every other path
of the APIs.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage

from specwright.ports import Place, Role
from specwright.roles.models.playbook import Playbook
from specwright.roles.models.sources import INVOCATION_HEADER
from testkit.loopback import Asked, Reply, answering
from testkit.model.dialects import DIALECTS, Dialect, answer_of
from testkit.model.fake_model import PlaybookReplies

__all__ = ["Endpoint", "Fault", "ReceivedRequest", "serving"]


class ReceivedRequest(NamedTuple):
    """A request and where in the run it comes from.

    Args:
        place: The invocation.
        ordinal: How many answers its conversation holds.
        identity: The SHA-256 of its messages.
        model: That is asked.
        dialect: The wire format, by the name of its provider.
        path: That the request is sent to; a base URL may go on after `/v1`.
        client: The address that it comes from.
    """

    place: Place
    ordinal: int
    identity: str
    model: str = ""
    dialect: str = "openai"
    path: str = ""
    client: str = ""


class Fault(NamedTuple):
    """A way to misbehave.

    Args:
        kind: `hang`; a status as text, with `wait` behind it if the endpoint says for how long; `cut connection`; one of
            `_BODIES`; or a fault of `testkit.model.dialects`.
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
        self.watch: Callable[[ReceivedRequest], None] = lambda asked: None
        """Called with each request before it is answered."""

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

    def reply(self, request: Asked) -> Reply | None:
        """What goes out for a request, or None for no answer at all."""
        given = request.document
        dialect = DIALECTS["anthropic" if request.path.endswith("/messages") else "openai"]
        self.keys.add(request.headers.get("Authorization") or request.headers.get("x-api-key", ""))
        asked = _received(given, request, dialect)
        self.watch(asked)
        with self._lock:
            self.asked[asked.identity] += 1
            self.log.append(asked)
            self.requests.append(given)
            fault, released = self._next_fault(asked), self._released
        if fault == "hang":
            self.hanging.set()
            released.wait()
            return None
        status, _, wait = fault.partition(" ")
        if status.isdigit():
            said = dialect.error(f"this endpoint answers {status} on demand", "on_demand")
            return Reply(int(status), said, {"Retry-After": wait.removeprefix("wait ")} if wait else {})
        if fault in _BODIES:
            return Reply(body=_BODIES[fault])
        if fault == "error":
            return Reply(body=dialect.error("the backend is gone", "backend"))
        answer = self._reply(asked.place, [AIMessage("")] * asked.ordinal)
        said = dialect.completion(answer_of(answer, fault, asked.ordinal, dialect.tools(given)), given)
        return Reply(
            body=said, cut=fault == "cut connection", sent=lambda: self.done(asked, dialect.used(said))
        )

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


@contextmanager
def serving(playbook: Path, host: str = "127.0.0.1") -> Iterator[Endpoint]:
    """An endpoint on a free port of an address of this machine until the block ends; its `base_url` is set."""
    endpoint = Endpoint(playbook)
    with answering(endpoint.reply, host) as address:
        endpoint.base_url = f"{address}/v1"
        try:
            yield endpoint
        finally:
            endpoint.release()


_BODIES = {
    "malformed": b'{"id": "chatcmpl-1", "choices": [{"mess',
    "no fields": b"{}",
    "another page": b"<html>Welcome</html>",
}
"""What a careless server sends with the status 200."""


def _received(given: dict[str, Any], request: Asked, dialect: Dialect) -> ReceivedRequest:
    asked = [given.get("system", ""), given["messages"]]
    return ReceivedRequest(
        place=place_of(request.headers[INVOCATION_HEADER]),
        ordinal=dialect.ordinal(given["messages"]),
        identity=sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest(),
        model=given["model"],
        dialect=dialect.name,
        path=request.path,
        client=request.client,
    )
