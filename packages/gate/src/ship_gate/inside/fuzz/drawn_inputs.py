"""What is drawn for the module under the fuzz and for the variables of a property, and how (design: module-directory,
executable-spec).

Loaded by the runners, which run without the module and load nothing else of the factory. The same request draws the same
values.
"""

import contextlib
import importlib
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import strategies

from ship_gate.base.boundary_values import CLASSES, CONSTRUCTORS
from ship_gate.inside.drawing import read_no_sources
from ship_gate.inside.fuzz.dangerous_values import Sources
from ship_gate.inside.fuzz.strategies import leaves_of
from ship_gate.inside.values.members import members_of
from ship_gate.inside.values.shapes import Classes, of_variable


class CounterexampleError(Exception):
    """Tells Hypothesis that inputs are a counterexample; each kind of fault has a subclass of its own."""


class OverTimeError(BaseException):
    """The budget is used up; no bare `except Exception` keeps it."""


class HangError(BaseException):
    """A call does not end."""


def stop(number: int, frame: object) -> None:
    """Handle the alarm of a call."""
    raise HangError


def _evaluated(texts: list[str], names: dict[str, Any]) -> list[Any]:
    """The values of expressions; one with more members than can be drawn from in time is left out."""
    found: list[Any] = []
    for text in texts:
        with contextlib.suppress(Exception):
            value = eval(text, {"__builtins__": _BUILTINS}, names)  # noqa: S307 - closed expressions of the tests
            if not _holds_over(value, _MOST_MEMBERS):
                found.append(value)
    return found


def _holds_over(value: Any, most: int) -> bool:
    waiting, seen = [value], 0
    while waiting and seen <= most:
        waiting += members_of(waiting.pop()) or ()
        seen += 1
    return seen + len(waiting) > most


_MOST_MEMBERS = 10_000
_BUILTINS = {**CLASSES, "bytes": bytes}


def classes_of(request: dict[str, Any]) -> Classes:
    """The exported classes, made anew by `install`."""
    stated: dict[str, Any] = request["classes"]
    found = {name: getattr(importlib.import_module(of["module"]), name) for name, of in stated.items()}
    instances: dict[str, list[Any]] = {name: [] for name in stated}
    for text in request["constants"]:
        for value in (
            _evaluated([text], {**CONSTRUCTORS, **found}) if any(map(text.__contains__, found)) else ()
        ):
            _note_instances(value, instances)
    classes = Classes(stated, found, instances)
    return of_variable(classes, request["variable"]) if "variable" in request else classes


def _note_instances(value: Any, instances: Mapping[str, list[Any]]) -> None:
    """Keep the values of exported classes that a value holds, by their class."""
    waiting = [value]
    while waiting:
        whole: Any = waiting.pop()
        waiting += members_of(whole) or ()
        if type(whole).__name__ in instances:
            instances[type(whole).__name__].append(whole)


def sources_of(request: dict[str, Any], names: dict[str, Any], folder: Path) -> Sources:
    """What there is to draw from.

    Args:
        request: Of `gate.fuzz`.
        names: What its constants use.
        folder: Where paths lie.
    """
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
        request["huge"],
        request["ordinary"],
        request.get("web", False),
        {name: range(low, high + 1) for name, (low, high) in request["ranges"].items()},
        request["found"],
    )


def explore(drawn: Any, examine: Callable[[dict[str, Any]], None], *, seed: int, examples: int) -> None:
    """Draw inputs and shrink what was found.

    Args:
        drawn: The strategy of the inputs.
        examine: Reports a fault as it sees it, and raises CounterexampleError.
        seed: Of what is drawn.
        examples: How many inputs at most.
    """

    @hypothesis.seed(seed)
    @hypothesis.settings(
        database=None,
        deadline=None,
        max_examples=examples,
        suppress_health_check=list(hypothesis.HealthCheck),  # pyright: ignore[reportArgumentType]  # its metaclass hides the members
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
        report_multiple_bugs=True,
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(drawn)
    def explored(inputs: dict[str, Any]) -> None:
        examine(inputs)

    read_no_sources()
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
