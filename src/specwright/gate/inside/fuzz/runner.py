"""Calls a module with drawn inputs and tells what no contract allows (design: module-directory, ship-gate).

It runs as tests do: beside the module's process, not in it, so that a module cannot hide what it did. The same job
draws the same inputs."""

import contextlib
import importlib
import signal
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import strategies

from specwright.domain.contract.boundary_limits import BoundaryLimit
from specwright.gate.inside.frames import Link
from specwright.gate.inside.fuzz.dangerous_values import Sources
from specwright.gate.inside.fuzz.examination import (
    MOST_KINDS,
    CounterexampleError,
    Examination,
    HangError,
    ModuleUnderTest,
    OverTimeError,
)
from specwright.gate.inside.fuzz.shapes import CONSTRUCTORS, Classes, shape_of
from specwright.gate.inside.fuzz.strategies import arguments, leaves_of
from specwright.gate.inside.fuzz.sweep import enlarged, sweep
from specwright.gate.inside.proxies import Caller, install

# what a module returns may be nested to the limit of the boundary, and is judged level by level
sys.setrecursionlimit(20 * BoundaryLimit.DEPTH.most)

_SHARE = 5
"""Of the time for what is drawn, one part in so many is for large inputs again."""


def _evaluated(texts: list[str], names: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    for text in texts:
        with contextlib.suppress(Exception):
            found.append(eval(text, {"__builtins__": _BUILTINS}, names))  # noqa: S307 - closed expressions of the tests
    return found


_BUILTINS = {kind.__name__: kind for kind in (set, frozenset, bytes, tuple, list, dict)}


def _classes(request: dict[str, Any]) -> Classes:
    """The exported classes, made anew by `install`."""
    stated: dict[str, Any] = request["classes"]
    found = {name: getattr(importlib.import_module(of["module"]), name) for name, of in stated.items()}
    return Classes(stated, found)


def _sources(request: dict[str, Any], names: dict[str, Any], folder: Path) -> Any:
    whole = _evaluated(request["constants"], names)
    arguments = {name: _evaluated(texts, names) for name, texts in request["given"].items()}
    numbers = [Decimal(number) for number in request["numbers"]]
    leaves = leaves_of([*whole, *arguments.values(), list(request["texts"])])
    near = [number + step for number in numbers for step in (0, -1, 1)]
    leaves.setdefault("int", []).extend(int(number) for number in near if number == int(number))
    leaves.setdefault("float", []).extend(map(float, near))
    cents = [
        number + step for number in numbers for step in (Decimal("0.01"), Decimal("-0.01"), Decimal("0.001"))
    ]
    leaves.setdefault("Decimal", []).extend([*near, *cents])
    lengths = [int(number) for number in near if number == int(number) and 0 <= number <= 10_000]
    return Sources(
        leaves,
        whole,
        arguments,
        lengths,
        folder,
        request["aware"],
        request["confined"],
        not request["most_size"],
        {name: range(low, high + 1) for name, (low, high) in request["ranges"].items()},
    )


def _stop(number: int, frame: object) -> None:
    raise HangError


def run(link: Link, plan: dict[str, Any]) -> None:
    """Examine the module of a job."""
    job, _ = link.receive()
    send = link.marked(job.pop("nonce"))
    caller = Caller(link, send)
    install(caller, job["surface"])
    request: dict[str, Any] = job["request"]
    signal.signal(signal.SIGALRM, _stop)
    subject = ModuleUnderTest(request, Path(plan["scratch"]), link, send, caller.codec)
    classes = _classes(request)
    shapes = {name: shape_of(text, classes) for name, text in request["parameters"].items()}
    fields = {
        error: {name: shape_of(text, classes) for name, text in stated.items()}
        for error, stated in request["error_fields"].items()
    }
    examination = Examination(subject, shape_of(request["returns"], classes), fields, send)
    sources = _sources(request, {**CONSTRUCTORS, **classes.found}, subject.folder)
    drawn = arguments(shapes, frozenset(request["defaults"]), sources)
    examination.allow(request["seconds"])
    try:
        examination.sweep(sweep(shapes, sources))
        for turn in range(MOST_KINDS):
            _explore(examination, drawn, request, turn)
            if not examination.settle():
                break
    except OverTimeError:
        pass
    except HangError:
        send({"event": "hang"})
        send({"event": "end"})
        return
    _enlarge(examination, enlarged(shapes, sources), request)
    send({"event": "end"})


def _enlarge(examination: Examination, inputs: Iterator[dict[str, Any]], request: dict[str, Any]) -> None:
    """Large inputs come last: one that takes long is no counterexample, and ends nothing but this."""
    if request["most_size"]:
        return
    examination.allow(request["seconds"] / _SHARE)
    with contextlib.suppress(OverTimeError, HangError):
        examination.sweep(inputs)


def _explore(examination: Examination, drawn: Any, request: dict[str, Any], turn: int) -> None:
    """Draw inputs and shrink what was found; every fault is reported as it is seen."""

    @hypothesis.seed(request["seed"] + turn)
    @hypothesis.settings(
        database=None,
        deadline=None,
        max_examples=request["examples"],
        suppress_health_check=list(hypothesis.HealthCheck),  # pyright: ignore[reportArgumentType]  # its metaclass hides the members
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
        report_multiple_bugs=True,
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(drawn)
    def explored(arguments: dict[str, Any]) -> None:
        examination.examine(arguments)

    try:
        explored()
    except (CounterexampleError, ExceptionGroup) as found:
        # they were reported when they were seen, flaky ones too; any other error is a fault of the gate
        if isinstance(found, ExceptionGroup) and (ours := found.split(CounterexampleError)[1]):
            raise ours from None


def _load_all() -> None:
    """Draw once: Hypothesis loads late what it draws with, and is wanted whole before there is a candidate."""

    @hypothesis.settings(database=None, max_examples=2, phases=[hypothesis.Phase.generate])
    @hypothesis.given(strategies.text(strategies.sampled_from("ab")))
    def drawn(text: str) -> None:
        pass

    drawn()


_load_all()
