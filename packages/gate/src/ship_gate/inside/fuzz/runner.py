"""Calls a module with drawn inputs and tells what no contract allows (design: module-directory, ship-gate).

It runs as tests do: beside the module's process, not in it, so that a module cannot hide what it did. The same job
draws the same inputs."""

import itertools
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ship_gate.base.boundary_values import CONSTRUCTORS, BoundaryLimit
from ship_gate.inside.frames import Link
from ship_gate.inside.fuzz.drawn_inputs import (
    HangError,
    OverTimeError,
    classes_of,
    explore,
    sources_of,
    stop,
)
from ship_gate.inside.fuzz.examination import MOST_KINDS, Examination, ModuleUnderTest
from ship_gate.inside.fuzz.hosts import behaviours
from ship_gate.inside.fuzz.strategies import arguments
from ship_gate.inside.fuzz.sweep import calls_of_tests, enlarged, overlong, sweep
from ship_gate.inside.proxies import Caller, install
from ship_gate.inside.values.shapes import RefusedError, shape_of

# what a module returns may be nested to the limit of the boundary, and is judged level by level
sys.setrecursionlimit(20 * BoundaryLimit.DEPTH.most)

_SHORT = 2000
"""Items of an iterable that are tried before others; more of them may take long."""
_SHARE = 5
"""Of the time for what is drawn, one part in so many is for large inputs again."""


def run(link: Link, plan: dict[str, Any]) -> None:
    """Examine the module of a job."""
    job, _ = link.receive()
    send = link.marked(job.pop("nonce"))
    caller = Caller(link, send)
    install(caller, job["surface"])
    request: dict[str, Any] = job["request"]
    signal.signal(signal.SIGALRM, stop)
    _examine_all([_Part(link, plan, send, caller, part) for part in _parts(request)])
    send({"event": "end"})


def _parts(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What is called in one way: the function, with one type after the other if it is generic, and what makes classes."""
    variants: list[dict[str, Any]] = request["variants"] or [{}]
    yield from ({**request, **variant} for variant in variants)
    yield from ({**request, **maker} for maker in request["makers"])


def _examine_all(parts: Sequence["_Part"]) -> None:
    """Examine them while the module answers. Large inputs come last: one that takes long is no counterexample, and the
    module may still be at it."""
    if all(part.examine() for part in parts):
        all(part.enlarge() for part in parts)


class _Part:
    """Examines what is called in one way.

    Args:
        link: To the gate.
        plan: Of this process.
        send: Sends a message of this process, marked as its own.
        caller: Calls the module.
        request: Of this part.
    """

    def __init__(
        self, link: Link, plan: dict[str, Any], send: Any, caller: Caller, request: dict[str, Any]
    ) -> None:
        subject = ModuleUnderTest(request, Path(plan["scratch"]), link, send, caller.codec)
        classes = classes_of(request)
        fields = {
            error: {name: shape_of(text, classes) for name, text in stated.items()}
            for error, stated in request["error_fields"].items()
        }
        self._send = send
        self._request = request
        self._shapes = {name: shape_of(text, classes) for name, text in request["parameters"].items()}
        self._sources = sources_of(request, {**CONSTRUCTORS, **classes.found}, subject.folder)
        self._hosts = behaviours(self._sources.whole) if request["web"] else []
        generic = self._shapes if "variable" in request else {}
        returns = shape_of(request["returns"], classes)
        self._examination = Examination(subject, returns, fields, send, self._hosts, generic)

    def examine(self) -> bool:
        """Look for counterexamples; whether the module still answers."""
        request, examination = self._request, self._examination
        drawn = arguments(self._shapes, frozenset(request["defaults"]), self._sources)
        examination.allow(request["seconds"])
        try:
            if self._hosts:
                examination.sweep_hosts(calls_of_tests(self._shapes, self._sources))
            examination.sweep(sweep(self._shapes, self._sources))
            short = {name: bound for name, bound in request["takes"].items() if bound <= _SHORT}
            examination.sweep(overlong(self._shapes, self._sources, short))
            for turn in range(MOST_KINDS):
                explore(drawn, examination.examine, seed=request["seed"] + turn, examples=request["examples"])
                if not examination.settle():
                    break
        except OverTimeError:
            pass
        except HangError:
            self._send({"event": "hang"})
            return False
        return True

    def enlarge(self) -> bool:
        """Try large inputs, where they are wanted; whether the module still answers."""
        if self._request["most_size"]:
            return True
        long = {name: bound for name, bound in self._request["takes"].items() if bound > _SHORT}
        large = (overlong(self._shapes, self._sources, long), enlarged(self._shapes, self._sources))
        self._examination.allow(self._request["seconds"] / _SHARE)
        try:
            self._examination.sweep(itertools.chain(*large))
        except HangError:
            return False
        except (OverTimeError, RefusedError):
            pass
        return True
