"""Tries properties: code that must be true for all values of its variables (design: executable-spec).

It runs as examples do: beside the module's process, not in it; at the release in the process that has the installed package.
The same job draws the same values. Numbers are finite and
texts can be written as UTF-8: "for all amounts" means no NaN, and what a module makes of one the contract fuzz tries.
"""

import ast
import contextlib
import copy
import os
import shutil
import signal
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ship_gate.base.boundary_values import CONSTRUCTORS
from ship_gate.inside import proxies
from ship_gate.inside.frames import Link
from ship_gate.inside.fuzz.dangerous_values import Sources, is_ordinary, lay_out_files
from ship_gate.inside.fuzz.inputs import (
    CounterexampleError,
    HangError,
    OverTimeError,
    classes_of,
    drawn_arguments,
    explore,
    leaves_of,
    sources_of,
    stop,
    sweep,
)
from ship_gate.inside.proxies import Caller, install
from ship_gate.inside.values import Classes, measure, mismatch, shape_of, shown

_MOST_TEXT = 600
_MOST_MESSAGE = 160
_TIMES = 5


class _UnfitArgumentError(BaseException):
    """A call was given what does not cross; the values show nothing then."""


class _UnfitResultError(BaseException):
    """A call gave what does not cross."""


class _TimedCaller(Caller):
    """Makes calls that have to come back in time.

    Args:
        link: To the gate.
        send: Sends a call.
        seconds: For one call.
    """

    def __init__(self, link: Link, send: Callable[..., None], seconds: float) -> None:
        super().__init__(link, send)
        self._seconds = seconds
        self.used = 0.0

    def before_call(self) -> None:
        """Set the alarm."""
        signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def after_call(self, header: dict[str, Any], values: list[object]) -> None:
        """Note what time the processes had."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        if "unfit" in header:
            raise _UnfitResultError
        self.used = float(header["used"])

    def refuse_argument(self, message: str) -> NoReturn:
        """Values that a property computes may be larger than what crosses."""
        raise _UnfitArgumentError(message)


class _Outcome(NamedTuple):
    """What a property gave for its values.

    Args:
        problem: Why it does not hold; empty if it does.
        refused: Whether an error came that it allows.
    """

    problem: str = ""
    refused: bool = False


class _Code:
    """The code of a property, to be executed with values.

    Args:
        stated: Its code, and the errors that it allows.
        product: The start of the names of the files that the product's calls run through.
        seconds: For one execution; 0 where each call is timed.
    """

    def __init__(self, stated: Mapping[str, Any], product: str, seconds: float) -> None:
        self._product = product
        self._seconds = seconds
        tree = ast.parse(stated["code"])
        last = tree.body.pop()
        assert isinstance(last, ast.Expr)  # its record was validated
        self._first = compile(tree, "<property>", "exec")
        self._last = compile(ast.Expression(last.value), "<property>", "eval")
        self._errors: list[str] = stated["errors"]

    def outcome(self, values: dict[str, Any]) -> _Outcome:
        """Execute it; the values are copied."""
        names: dict[str, Any] = {"__name__": "__main__", **copy.deepcopy(values)}
        try:
            if self._seconds:
                signal.setitimer(signal.ITIMER_REAL, self._seconds)
            exec(self._first, names)  # noqa: S102 - executing it is what it is for
            value = eval(self._last, names)  # noqa: S307 - executing it is what it is for
            return _Outcome() if value else _Outcome(f"gives {shown(value)}")
        except _UnfitResultError:
            return _Outcome("gets from a call what does not cross a module's boundary")
        except (HangError, OverTimeError, _UnfitArgumentError):
            raise
        except BaseException as error:
            mro = [kind.__name__ for kind in type(error).__mro__]
            allowed = mro[0] in self._errors or ("OSError" in self._errors and "OSError" in mro)
            if allowed and self._came_out_of_product(error):
                return _Outcome(refused=True)
            said = " ".join(str(error).split())
            said = said if len(said) <= _MOST_MESSAGE else f"{said[:_MOST_MESSAGE]}..."
            return _Outcome(f"raises {mro[0]}{f': {said}' if said else ''}")
        finally:
            if self._seconds:
                signal.setitimer(signal.ITIMER_REAL, 0)

    def _came_out_of_product(self, error: BaseException) -> bool:
        """Whether a call of the product raised it; the property's own code may not."""
        frames = traceback.walk_tb(error.__traceback__)
        return any(frame.f_code.co_filename.startswith(self._product) for frame, _ in frames)


@dataclass(eq=False)
class _Trial:
    """Tries one property.

    Args:
        place: Which one it is.
        code: Of it.
        request: What `gate.fuzz.properties` asks.
        folder: Where it runs; laid out anew for each execution if the module meets files.
        send: Tells what is found.
        used: What time the processes had.
    """

    place: int
    code: _Code
    request: dict[str, Any]
    folder: Path
    send: Callable[..., None]
    used: Callable[[], float]

    def __post_init__(self) -> None:
        self.held = self.refused = 0
        self.failed = False
        self.allow(self.request["seconds"])

    def allow(self, seconds: float) -> None:
        """Go on for so much processor time from here on."""
        self._most_processor = time.process_time() + seconds
        self._most_used = self.used() + _TIMES * seconds

    def examine(self, values: dict[str, Any]) -> None:
        """Execute it with values, and raise if it does not hold.

        Raises:
            CounterexampleError: it does not hold.
            OverTimeError: there is no time left.
        """
        if time.process_time() > self._most_processor or self.used() > self._most_used:
            raise OverTimeError
        if not all(is_ordinary(leaf) for of in leaves_of(list(values.values())).values() for leaf in of):
            return
        text = ", ".join(f"{name}={shown(value)}" for name, value in values.items())
        text = text.replace(f"{self.folder}{os.sep}", "").replace(str(self.folder), ".")
        text = text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 3]}..."
        self.send({"event": "calling", "place": self.place, "call": text, "size": measure(values)})
        if self.request["lays_out"]:
            shutil.rmtree(self.folder, ignore_errors=True)
            lay_out_files(self.folder)
        os.chdir(self.folder)
        try:
            outcome = self.code.outcome(values)
        except _UnfitArgumentError:
            return
        if not outcome.problem:
            self.held += not outcome.refused
            self.refused += outcome.refused
            return
        if not self.failed:
            self.allow(self.request["seconds"])  # to shrink it
        self.failed = True
        found = {"place": self.place, "values": text, "happened": outcome.problem}
        self.send({"event": "counterexample", **found})
        raise CounterexampleError


def run(link: Link, plan: dict[str, Any]) -> None:
    """Try the properties of a job on a module."""
    job, _ = link.receive()
    send = link.marked(job.pop("nonce"))
    request: dict[str, Any] = job["request"]
    caller = _TimedCaller(link, send, request["call_seconds"])
    install(caller, job["surface"])
    try_properties(request, send, Path(plan["scratch"]), proxies.__file__, lambda: caller.used)
    send({"event": "end"})


def try_properties(
    request: dict[str, Any],
    send: Callable[..., None],
    scratch: Path,
    product: str,
    used: Callable[[], float] | None = None,
) -> None:
    """Try the properties of a request, and tell what was found as it is found.

    Args:
        request: Of `gate.fuzz.properties`.
        send: Tells it.
        scratch: Holds the folder that they run in.
        product: The start of the names of the files that the product's calls run through.
        used: What time the process of the module had; None if the product is called in this process.
    """
    signal.signal(signal.SIGALRM, stop)
    folder = scratch / "here"
    folder.mkdir()
    classes = classes_of(request)
    sources = sources_of(request, {**CONSTRUCTORS, **classes.found}, folder)
    seconds = 0.0 if used else request["call_seconds"]
    try:
        for place, stated in enumerate(request["properties"]):
            code = _Code(stated, product, seconds)
            trial = _Trial(place, code, request, folder, send, used or (lambda: 0.0))
            _try(trial, stated, classes, sources, request)
            event = {"event": "tried", "place": place, "held": trial.held, "refused": trial.refused}
            send(event)
    except HangError:
        send({"event": "hang"})
    os.chdir(scratch)


def _try(
    trial: _Trial, stated: Mapping[str, Any], classes: Classes, sources: Sources, request: Mapping[str, Any]
) -> None:
    shapes = {name: shape_of(text, classes) for name, text in stated["variables"].items()}
    given = {
        name: [value for value in sources.whole if not mismatch(value, shape)]
        for name, shape in shapes.items()
    }
    own = sources._replace(by_parameter=given)
    # what is known to be dangerous, at every place; then what is drawn, which is made smaller
    with contextlib.suppress(CounterexampleError, OverTimeError):
        for values in sweep(shapes, own):
            trial.examine(values)
    trial.allow(request["seconds"])
    drawn = drawn_arguments(shapes, frozenset(), own)
    with contextlib.suppress(OverTimeError):
        explore(drawn, trial.examine, seed=stated["seed"], examples=request["examples"])
