"""Requests of a module to hosts, as the gate passes them on between the two processes of a run (design: ship-gate).

The module's process may have been taken over, so nothing that it says of a request is believed beyond its form: whatever
it asks goes to the script of the test, and to no host.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from ship_gate.contract.network import is_covered
from ship_gate.inside.web.script import FAILURES, origin_of
from ship_gate.sandbox.stream import EndOfRun

_FORGED = "a message came from the {}'s process that was no request and no answer"
_LONGEST_HOST = 255
_SCHEMES = ("http", "https")


class ObservedRequest(NamedTuple):
    """A request of the module.

    Args:
        method: As it begins, in capitals, since servers differ in whether they tell them apart.
        scheme: `http` or `https`.
        host: In lower case.
        port: Of the host.
        at: Seconds that the module's clock was put forward in the call.
        line: Where in the modules, `name/file.py:7`; None if a sealed dependency asked.
    """

    method: str
    scheme: str
    host: str
    port: int
    at: float
    line: str | None

    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return self.scheme, self.host, self.port

    def name(self) -> str:
        """For a finding: `GET https://a.example`."""
        return f"{self.method} {origin_of(*self.origin())}"

    def for_script(self) -> dict[str, Any]:
        """What the script needs of it."""
        return {"scheme": self.scheme, "host": self.host, "port": self.port, "at": self.at}

    def is_named(self, surface: Mapping[str, Any]) -> bool:
        """Whether a contract of the modules names its host for such a request."""
        effects = [tuple(effect) for of in surface.values() for effect in of.get("web", ())]
        return is_covered(effects, self.method, *self.origin())


def asked_of(header: dict[str, Any], payload: bytes) -> ObservedRequest:
    """What a message of the module's process asks.

    Raises:
        EndOfRun: it is no request.
    """
    method = payload[:16].partition(b" ")[0].decode("ascii", "replace").upper()
    scheme, host, port, at, line = (header.get(name) for name in ("scheme", "host", "port", "at", "line"))
    fits = scheme in _SCHEMES and _is_host(host) and isinstance(port, int) and isinstance(line, str | None)
    if not fits or not _is_time(at):
        raise EndOfRun("forged", _FORGED.format("module"))
    return ObservedRequest(
        method, str(scheme), str(host), cast(int, port), float(cast(float, at)), cast("str | None", line)
    )


def answer_header(header: dict[str, Any]) -> dict[str, Any]:
    """What the script answered, for the module's process.

    Raises:
        EndOfRun: it is no answer.
    """
    delay, failure = header.get("delay"), header.get("failure")
    if not _is_time(delay) or not (failure == "" or failure in FAILURES):
        raise EndOfRun("forged", _FORGED.format("tests"))
    return {"delay": delay, "failure": failure}


def callback_answer(header: dict[str, Any]) -> dict[str, Any]:
    """What a function of the test gave or raised, for the module's process.

    Raises:
        EndOfRun: it is no answer.
    """
    if "error" not in header:
        return {}
    names, message = header["error"], header.get("message")
    pairs = cast("list[object]", names) if isinstance(names, list) else []
    if not pairs or not all(map(_is_name, pairs)) or not isinstance(message, str):
        raise EndOfRun("forged", _FORGED.format("tests"))
    return {"error": pairs, "message": message}


def _is_name(value: object) -> bool:
    parts = cast("list[object]", value) if isinstance(value, list) else []
    return len(parts) == 2 and all(isinstance(part, str) for part in parts)


def _is_host(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_HOST


def _is_time(value: object) -> bool:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value >= 0
    )
