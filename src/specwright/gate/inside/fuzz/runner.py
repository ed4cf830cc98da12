"""Calls a module with drawn inputs and tells what no contract allows (design: module-directory, ship-gate).

It runs as tests do: beside the module's process, not in it, so that a module cannot hide what it did. The same job
draws the same inputs."""

import contextlib
import itertools
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specwright.domain.contract.boundary.limits import BoundaryLimit
from specwright.gate.inside.frames import Link
from specwright.gate.inside.fuzz.drawn_inputs import (
    HangError,
    OverTimeError,
    classes_of,
    explore,
    sources_of,
    stop,
)
from specwright.gate.inside.fuzz.examination import MOST_KINDS, Examination, ModuleUnderTest
from specwright.gate.inside.fuzz.hosts import behaviours
from specwright.gate.inside.fuzz.strategies import arguments
from specwright.gate.inside.fuzz.sweep import calls_of_tests, enlarged, overlong, sweep
from specwright.gate.inside.proxies import Caller, install
from specwright.gate.inside.values.shapes import CONSTRUCTORS, RefusedError, shape_of

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
    variants: list[dict[str, Any]] = request["variants"] or [{}]
    for part in ({**request, **more} for more in (*variants, *request["makers"])):
        if not _examine(link, plan, send, caller, part):
            break
    send({"event": "end"})


def _examine(link: Link, plan: dict[str, Any], send: Any, caller: Caller, request: dict[str, Any]) -> bool:
    """Examine what is called in one way; whether the module still answers."""
    subject = ModuleUnderTest(request, Path(plan["scratch"]), link, send, caller.codec)
    classes = classes_of(request)
    shapes = {name: shape_of(text, classes) for name, text in request["parameters"].items()}
    fields = {
        error: {name: shape_of(text, classes) for name, text in stated.items()}
        for error, stated in request["error_fields"].items()
    }
    sources = sources_of(request, {**CONSTRUCTORS, **classes.found}, subject.folder)
    hosts = behaviours(sources.whole) if request["web"] else []
    generic = shapes if "variable" in request else {}
    examination = Examination(subject, shape_of(request["returns"], classes), fields, send, hosts, generic)
    drawn = arguments(shapes, frozenset(request["defaults"]), sources)
    examination.allow(request["seconds"])
    try:
        if hosts:
            examination.sweep_hosts(calls_of_tests(shapes, sources))
        examination.sweep(sweep(shapes, sources))
        short = {name: bound for name, bound in request["takes"].items() if bound <= _SHORT}
        examination.sweep(overlong(shapes, sources, short))
        for turn in range(MOST_KINDS):
            explore(drawn, examination.examine, seed=request["seed"] + turn, examples=request["examples"])
            if not examination.settle():
                break
    except OverTimeError:
        pass
    except HangError:
        send({"event": "hang"})
        return False
    long = {name: bound for name, bound in request["takes"].items() if bound > _SHORT}
    large = itertools.chain(overlong(shapes, sources, long), enlarged(shapes, sources))
    _enlarge(examination, large, request)
    return True


def _enlarge(examination: Examination, inputs: Iterator[dict[str, Any]], request: dict[str, Any]) -> None:
    """Large inputs come last: one that takes long is no counterexample, and ends nothing but this."""
    if request["most_size"]:
        return
    examination.allow(request["seconds"] / _SHARE)
    with contextlib.suppress(OverTimeError, HangError, RefusedError):
        examination.sweep(inputs)
