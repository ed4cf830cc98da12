"""Requests to a product's HTTP API with their answers (design: executable-spec, shell).

    POST /settle
    {"bills": [], "up": true}

    200
    []

    GET /longest?words=a&words=bcd

    200
    "bcd"

Below a request stands its body, if it has one; then the status of its answer, and below that the JSON that comes back. An
answer without JSON is open. Of an answer of 400 and above the members that are written are compared, and of `message` how it
begins. What stands before the first request below a line `HOSTS` is what hosts answer that the product asks
(`scripted_hosts`). Before both a line may say with which options the program is started, as a shell reads them:
`SERVE --db flags.db --now 2026-03-09T12:00:00Z`.
"""

import json
import re
import shlex
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple, cast

from specwright.domain.acceptance.scripted_hosts import HostAnswer, host_answers

_HOSTS = "HOSTS"
_SERVE = "SERVE"
_REQUEST = re.compile(r"(GET|HEAD|POST|PUT|PATCH|DELETE) (/\S*)")
_STATUS = re.compile(r"([2-5][0-9]{2})")
_REFUSED = 400


class Exchange(NamedTuple):
    """A request and its answer.

    Args:
        line: The request as it is written, without its body.
        method: Of the request.
        target: Its path and query.
        body: As it is written; empty if there is none.
        status: Of the answer.
        answer: Its JSON as it is written; empty if it is open.
    """

    line: str
    method: str
    target: str
    body: str
    status: int
    answer: str

    @property
    def path(self) -> str:
        """The target without the query."""
        return self.target.partition("?")[0]


def exchanges(text: str) -> list[Exchange]:
    """Read requests and answers; an empty text has none.

    Raises:
        ValueError: it is something else; the message says in which line and what to write.
    """
    if not text.strip():
        return []
    _, lines = _parts(text)
    starts = [place for place, line in enumerate(lines) if _REQUEST.fullmatch(line.strip())]
    if starts[:1] != [0]:
        raise ValueError(
            f"the requests begin with {lines[0] if lines else ''!r}; begin with one such as `GET /path?name=value`"
        )
    return [
        _exchange(lines[start].strip(), lines[start + 1 : end])
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]


def hosts_of(text: str) -> tuple[HostAnswer, ...]:
    """What hosts answer while the requests are made.

    Raises:
        ValueError: it is none; the message says which line and what to write.
    """
    hosts, _ = _parts(text)
    return () if hosts is None else host_answers(hosts)


def served_with(text: str) -> list[str]:
    """The options with which the program is started, each followed by its value.

    Raises:
        ValueError: they are something else; the message says what to write.
    """
    line = text.replace("\r\n", "\n").strip("\n").partition("\n")[0].strip()
    if line.split(" ")[0] != _SERVE:
        return []
    try:
        words = shlex.split(line)[1:]
    except ValueError as error:
        raise ValueError(f"`{line}` cannot be read: {error}") from error
    if len(words) % 2 or not all(one.startswith("--") and "=" not in one for one in words[::2]):
        raise ValueError(f"`{line}`: write each option with its value, such as `SERVE --db flags.db`")
    return words


def _parts(text: str) -> tuple[list[str] | None, list[str]]:
    """The lines that describe hosts, None without any, and all others."""
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    if lines[0].strip().split(" ")[0] == _SERVE:
        lines = "\n".join(lines[1:]).strip("\n").split("\n")
    if lines[0].strip() != _HOSTS:
        return None, lines
    first = next((place for place, line in enumerate(lines) if _REQUEST.fullmatch(line.strip())), len(lines))
    return lines[1:first], lines[first:]


def _exchange(line: str, below: Sequence[str]) -> Exchange:
    method, target = line.split(" ", 1)
    if not target.isascii():
        raise ValueError(f"`{line}`: write what is not ASCII as %-escapes")
    places = [place for place, one in enumerate(below) if _STATUS.fullmatch(one.strip())]
    if not places:
        raise ValueError(f"`{line}` has no answer; write its status, such as 200, on a line of its own")
    place = places[0]
    body, answer = "\n".join(below[:place]).strip(), "\n".join(below[place + 1 :]).strip()
    if body and method in ("GET", "HEAD", "DELETE"):
        raise ValueError(f"`{line}` has no body; write its values into the query")
    if answer:
        try:
            _read(answer)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"`{line}`: what it answers is not JSON: {error}") from error
    return Exchange(line, method, target, body, int(below[place].strip()), answer)


def _read(text: str) -> Any:
    return json.loads(text, parse_float=Decimal)


def answer_problem(expected: Exchange, status: int, body: str) -> str:
    """How an answer differs from the approved one; empty if it does not.

    Args:
        expected: What was approved.
        status: That came.
        body: That came.
    """
    if status != expected.status:
        return f"`{expected.line}` answers {status}, not {expected.status}: {body[:300]}"
    if not expected.answer:
        return ""
    try:
        came = _read(body)
    except (ValueError, RecursionError):
        return f"`{expected.line}` answers what is no JSON: {body[:300]!r}"
    if _matches(_read(expected.answer), came, is_error=expected.status >= _REFUSED):
        return ""
    return f"`{expected.line}` answers {body[:300]}, not {expected.answer[:300]}"


def _matches(expected: Any, came: Any, *, is_error: bool) -> bool:
    if not (is_error and isinstance(expected, dict) and isinstance(came, dict)):
        return _same(expected, came)
    given, found = cast("dict[str, Any]", expected), cast("dict[str, Any]", came)
    message = given.get("message")
    begins = isinstance(message, str) and str(found.get("message", "")).startswith(message)
    return all(
        begins if name == "message" else name in found and _same(value, found[name])
        for name, value in given.items()
    )


def _same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; true is no 1, and 1.0 is."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        left, right = cast("list[Any]", one), cast("list[Any]", other)
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(one, dict) and isinstance(other, dict):
        first, second = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return first.keys() == second.keys() and all(
            _same(value, second[name]) for name, value in first.items()
        )
    return one == other
