"""Hosts of a session: what they answer while the product is called or asked (design: executable-spec, shell).

    https://gone.example/ 404
    https://moved.example/old 301
      Location: https://moved.example/new
    POST https://api.example/items 201 after 2.5 s
      Content-Type: application/json
      | {"id": 7}
    https://down.example/ refused

A line is an address, before it a method if only that one is answered, and after it a status or how the host fails. Indented
below stand headers, and the lines of the body after `| `. Several for one address are given in turn, and the last again and
again; of a host that is scripted any other address is 404, any other host is no such host.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

HOST_FAILURES = (
    "no such host", "refused", "certificate", "no TLS", "timeout", "reset", "closed", "malformed", "cut off",
    "reset in body", "timeout in body",
)  # fmt: skip
"""How a host can fail."""

_LINE = re.compile(r"(?:([A-Z]+) )?(https?://\S+) +(.+)")
_STATUS = re.compile(r"([1-9][0-9]{2})(?: after ([0-9]+(?:\.[0-9]+)?) s)?")
_HEADER = re.compile(r"\s+([A-Za-z0-9-]+): ?(.*)")
_BODY = re.compile(r"\s+\| ?(.*)")


class HostAnswer(NamedTuple):
    """What a host does when it is asked for an address.

    Args:
        method: Of the requests that are answered so; empty for all.
        url: The address.
        status: Of the answer; 0 if the host fails.
        failure: How it fails, one of `HOST_FAILURES`.
        delay: Seconds before the answer, which nobody waits for.
        headers: Of the answer.
        body: Of the answer.
    """

    method: str
    url: str
    status: int
    failure: str = ""
    delay: float = 0.0
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""


def host_answers(lines: Sequence[str]) -> tuple[HostAnswer, ...]:
    """Read what hosts answer.

    Raises:
        ValueError: a line is none; the message says which and what to write.
    """
    found: list[HostAnswer] = []
    for line in lines:
        if not line.strip():
            continue
        if not line[0].isspace():
            found.append(_answer(line.strip()))
        elif not found:
            raise ValueError(
                f"{line.strip()!r} stands below no address; write `https://a.example/ 404` first"
            )
        else:
            found[-1] = _with_line(found[-1], line)
    if not found:
        raise ValueError("no host is described; write a line such as `https://a.example/ 404`")
    return tuple(found)


def _answer(line: str) -> HostAnswer:
    read = _LINE.fullmatch(line)
    if read is None:
        raise ValueError(f"{line!r} is no answer of a host; write `https://a.example/ 404` or `... refused`")
    method, url, what = read[1] or "", read[2], read[3].strip()
    try:
        has_host = bool(urlsplit(url).hostname) and urlsplit(url).port != 0
    except ValueError:
        has_host = False
    if not has_host:
        raise ValueError(f"{url!r} is no address of a host")
    if status := _STATUS.fullmatch(what):
        return HostAnswer(method, url, int(status[1]), delay=float(status[2] or 0))
    if what in HOST_FAILURES:
        return HostAnswer(method, url, 0, what)
    raise ValueError(
        f"{url} cannot answer {what!r}; write a status such as 404, `200 after 2.5 s`, or one of "
        f"{', '.join(HOST_FAILURES)}"
    )


def _with_line(one: HostAnswer, line: str) -> HostAnswer:
    if one.failure:
        raise ValueError(f"{one.url} fails by {one.failure}, so it has neither headers nor a body")
    if body := _BODY.fullmatch(line):
        return one._replace(body=f"{one.body}\n{body[1]}" if one.body else body[1])
    header = _HEADER.fullmatch(line)
    if header is None or one.body:
        raise ValueError(
            f"{line.strip()!r}: below {one.url} stand headers, `Name: text`, then the body, `| text`"
        )
    return one._replace(headers=(*one.headers, (header[1], header[2].strip())))
