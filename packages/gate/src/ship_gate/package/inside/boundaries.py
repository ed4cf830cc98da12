"""Which faults at a boundary no drawn input tells from the function (design: package-gate).

`if x < low: return low` gives the same with `<=`: where the fault decides otherwise, both ways lead to one value. A fault is
excused if calls show that: the same drawn calls, in a fork with the fault and in forks without it, take another way through
the code at least a few times, and each time return, raise, print, change and call the same. The inputs are few and small,
with the constants of the function among them, so that the sides of a comparison are often equal. What cannot be compared
counts as different.
"""

import contextlib
import functools
import gc
import hashlib
import inspect
import io
import itertools
import os
import pickle
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

from ship_gate.package.inside.draw import (
    CALL_SECONDS,
    SILENCE,
    CannotDrawError,
    Drawing,
    codes_of,
    constants_of,
    draw_calls,
    narrow,
    text_of,
)
from ship_gate.package.inside.forks import Send, Work

_CALLS = 400
_LEAST_CALLS = 5
"""That take another way; of a function of one number one does, for there is no other input where the sides are equal."""
_MOST_ITEMS = 100
_MOST_STEPS = 50_000
_SECONDS = 4.0
_ACTS = ("os.", "shutil.", "socket.", "sqlite3.", "subprocess.")
_now, _alarm = time.process_time, signal.setitimer

Replace = Callable[[types.FunctionType, str], bool]


class Boundaries:
    """The faults of one function that are compared with it.

    Args:
        drawing: Of the function.
        function: It.
        faults: Their sources, by number.
        replace: Gives the function the code of a source.
    """

    def __init__(
        self, drawing: Drawing, function: types.FunctionType, faults: dict[int, str], replace: Replace
    ) -> None:
        self._drawing = drawing
        self._function = function
        self._faults = faults
        self._replace = replace
        self._constants = constants_of(function)
        self._seen: dict[int, list[dict[str, Any]]] = {}
        self._broken: set[int] = set()

    def works(self) -> Iterator[Work]:
        """The forks: two of the function as it is, then one of each fault."""
        for number, fault in ((-2, ""), (-1, ""), *self._faults.items()):
            calls = self._seen[number] = []
            do, ended = functools.partial(self._observe, fault), functools.partial(self._ended, number)
            yield Work(do, calls.append, ended, SILENCE, 3 * _SECONDS)

    def judged(self) -> Iterator[dict[str, Any]]:
        """Of each fault that was compared its number, and that no call told it from the function, or which one did."""
        usual, again = self._seen.get(-2, []), self._seen.get(-1, [])
        if {-2, -1} & self._broken or any(one != two for one, two in zip(usual, again, strict=False)):
            return
        for number in self._faults:
            pairs = [*zip(usual, self._seen.get(number, []), strict=False)]
            if self._is_equivalent(number, pairs):
                yield {"number": number, "outcome": "equivalent"}
            for one, two in (pair for pair in pairs if pair[0]["result"] != pair[1]["result"]):
                said = f"{one['call']} gives {one['result']}, with the fault {two['result']}"
                yield {"number": number, "outcome": "unnoticed", "told_by": said}
                break

    def _ended(self, number: int, how: str) -> None:
        if how:
            self._broken.add(number)

    def _is_equivalent(self, number: int, pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> bool:
        apart = [one for one, two in pairs if one["way"] != two["way"]]
        enough = len(apart) >= _LEAST_CALLS or any(one["alone"] for one in apart)
        return enough and number not in self._broken and all(one["came"] == two["came"] for one, two in pairs)

    def _observe(self, fault: str, send: Send) -> None:
        if fault and not self._replace(self._function, fault):
            return
        gc.disable()  # what a collection calls, at some time or other, is no call of the function
        codes = [*codes_of(self._function.__code__)]
        watch = _Watch(self._function, codes)
        narrow(self._constants, small=True)

        def attempt(positional: list[Any], named: dict[str, Any]) -> None:
            call = self._drawing.shown(positional, named)
            send({"call": call, **watch.call(positional, named)})

        with contextlib.suppress(CannotDrawError):
            draw_calls(self._drawing.arguments(), attempt, _CALLS, _SECONDS)


class _Watch:
    """Calls the function, and digests what came of it and which way it took."""

    def __init__(self, function: types.FunctionType, codes: list[types.CodeType]) -> None:
        self._function = function
        self._codes = {id(code) for code in codes}
        kinds = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)
        names = {name for code in codes for name in code.co_names}
        self._state = sorted(
            name
            for name in names & function.__globals__.keys()
            if not isinstance(function.__globals__[name], kinds)
        )
        self._way: list[tuple[str, int]] = []
        self._entered: list[str] = []
        self._is_calling = self._has_acted = False
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._is_calling:
            writes = event == "open" and arguments[1] not in {"r", "rb", "rt"}
            self._has_acted = self._has_acted or writes or event.startswith(_ACTS)

    def call(self, positional: list[Any], named: dict[str, Any]) -> dict[str, Any]:
        """What is compared of a call."""
        arguments = [*positional, *named.values()]
        alone = len(arguments) == 1 and type(arguments[0]) in {int, float}
        self._way, self._entered, self._has_acted = [], [], False
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            came, text = self._came(positional, named)
        state = [self._function.__globals__.get(name) for name in self._state]
        facts = [*came, positional, named, printed.getvalue(), self._entered, *state]
        return {
            "came": self._digest(facts),
            "way": _sha256(repr(self._way).encode()),
            "result": text,
            "alone": alone,
        }

    def _came(self, positional: list[Any], named: dict[str, Any]) -> tuple[list[Any], str]:
        """The result or the error, and how it is shown."""
        _alarm(signal.ITIMER_REAL, CALL_SECONDS)
        self._is_calling = True
        sys.settrace(self._enter)
        try:
            result = self._function(*positional, **named)
            if inspect.isgenerator(result):
                result = ["items", *itertools.islice(result, _MOST_ITEMS)]
        except Exception as error:  # whatever the function raises is compared
            sys.settrace(None)
            return [type(error).__qualname__, error.args], text_of(error)
        finally:
            sys.settrace(None)
            self._is_calling = False
            _alarm(signal.ITIMER_REAL, SILENCE)
        return [result], text_of(result)

    def _digest(self, facts: list[Any]) -> str:
        """Equal for what is equal in type and value; of what cannot be compared, equal to no other."""
        if not self._has_acted and len(self._way) < _MOST_STEPS:
            with contextlib.suppress(Exception):  # what cannot be pickled, or resists
                return _sha256(repr([pickle.dumps(one) for one in facts]).encode())
        return os.urandom(16).hex()

    def _enter(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if id(frame.f_code) not in self._codes:
            self._entered.append(frame.f_code.co_qualname)
            return None
        frame.f_trace_opcodes = True
        return self._step(frame, event, argument)

    def _step(self, frame: types.FrameType, _event: str, _argument: Any) -> Any:
        if len(self._way) < _MOST_STEPS:
            self._way.append((frame.f_code.co_name, frame.f_lasti))
        return self._step


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
