"""Calls a function with drawn arguments, and looks whether its results are of the stated type (design: package-gate).

Nothing but the stated type of a result is held against a function here. It reports what the function raises; the gate
judges that.
"""

import functools
import inspect
import signal
import sys
import time
import traceback
import types
import typing
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException

from ship_gate.package.inside.forks import Send
from ship_gate.package.inside.types import UnreadableTypeError, contradicts, evaluated, original

SECONDS = 2.0
CALL_SECONDS = 1.0
SILENCE = 15.0
"""The most that Hypothesis may think between two calls."""
_EXAMPLES = 250
_SHOWN = 200
_MOST_ERRORS = 5
_MOST_CONSTANTS = 12
_HUGE = 1_000_000_000
_MOST_LATE = 2
"""Calls that do not return in time, after which no more are made."""
_ABSENT = object()
_now, _alarm = time.process_time, signal.setitimer
_HEALTH_CHECKS: list[Any] = list(hypothesis.HealthCheck)
_SETTINGS = functools.partial(
    hypothesis.settings,
    database=None,
    deadline=None,
    derandomize=True,
    phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
    suppress_health_check=_HEALTH_CHECKS,
    report_multiple_bugs=False,
)
_ANY_ARGUMENTS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class CannotDrawError(Exception):
    """A parameter for which no value can be drawn, and why."""


class _TooLongError(BaseException):
    """A drawn call has taken too long."""


class _ContradictionError(Exception):
    """A result is of another type than is stated."""


class Drawing:
    """Drawn calls of one function.

    Args:
        stated: `parameters` and `returns` as the gate read them, `name`, `overloaded`.
        function: The function under its decorators.
        observed: The types of what checks passed, by parameter.
    """

    def __init__(
        self, stated: dict[str, Any], function: types.FunctionType, observed: dict[str, list[str]]
    ) -> None:
        self._stated = stated
        self._function = function
        self._observed = observed
        self._target: Callable[..., Any] = function
        self._calls = self._late = 0
        self._errors: dict[str, dict[str, Any]] = {}

    def run(self, send: Send) -> None:
        """Draw, call, and tell what came of it."""
        self._target = self._published()
        if inspect.iscoroutinefunction(self._function) or inspect.isasyncgenfunction(self._function):
            send({"undrawn": "it is async"})
            return
        narrow(constants_of(self._function), small=False)
        try:
            arguments = self.arguments()
            returns = self._returns()
        except CannotDrawError as error:
            send({"undrawn": str(error)})
            return
        contradiction = self._try(arguments, returns, send)
        errors = list(self._errors.values())
        send(
            {
                "calls": self._calls,
                "checked": returns is not _ABSENT,
                "errors": errors,
                "contradiction": contradiction,
            }
        )

    def _published(self) -> Callable[..., Any]:
        """What a caller gets by the function's name, with its decorators."""
        found: Any = sys.modules.get(self._stated["module"])
        for part in self._stated["qualname"].split("."):
            found = getattr(found, part, None)
        return found if callable(found) and original(found) is self._function else self._function

    def arguments(self) -> st.SearchStrategy[tuple[list[Any], dict[str, Any]]]:
        """Those of a call: by position, and by name, where `ABSENT` leaves one out.

        Raises:
            CannotDrawError: there is a parameter for which no value can be drawn.
        """
        try:
            parameters = inspect.signature(self._function).parameters.values()
        except (ValueError, TypeError) as error:
            raise CannotDrawError("its signature cannot be read") from error
        positional: list[st.SearchStrategy[Any]] = []
        named: dict[str, st.SearchStrategy[Any]] = {}
        for one in parameters:
            if one.kind in _ANY_ARGUMENTS:
                continue
            strategy = self._values(one)
            if one.kind is inspect.Parameter.POSITIONAL_ONLY or one.default is inspect.Parameter.empty:
                if one.kind is inspect.Parameter.KEYWORD_ONLY:
                    named[one.name] = strategy
                else:
                    positional.append(strategy)
            elif strategy is not None:
                named[one.name] = st.just(_ABSENT) | strategy
        return st.tuples(st.tuples(*positional).map(list), st.fixed_dictionaries(named))

    def _values(self, one: inspect.Parameter) -> Any:
        text = self._stated["parameters"].get(one.name, "")
        kinds = [kind for kind in self._observed.get(one.name, []) if kind]
        has_default = one.default is not inspect.Parameter.empty
        if not text and kinds:
            text = " | ".join(kinds)
        elif not text and type(one.default) in {bool, int, float, str, bytes}:
            text = type(one.default).__name__
        if not text:
            if has_default:
                return None
            raise CannotDrawError("a parameter has no annotation, and no check passes it a plain value")
        try:
            return self._from(text)
        except (UnreadableTypeError, CannotDrawError) as error:
            if has_default:
                return None
            raise CannotDrawError(str(error)) from error

    def _from(self, text: str) -> st.SearchStrategy[Any]:
        hint = evaluated(text, self._function.__globals__)
        if (
            hint is Any
            or hint is object
            or hint is inspect.Parameter.empty
            or isinstance(hint, typing.TypeVar)
        ):
            raise CannotDrawError(f"{text} says nothing about the value")
        try:
            strategy = st.from_type(hint)
            strategy.validate()
        except Exception as error:  # Hypothesis runs constructors of the package, which may raise anything
            raise CannotDrawError(f"no value of {text} can be drawn") from error
        return strategy

    def _returns(self) -> Any:
        text = self._stated["returns"]
        if not text or self._stated["overloaded"]:
            return _ABSENT
        if inspect.isgeneratorfunction(self._function) and self._target is not self._function:
            return _ABSENT  # a decorator makes something else of it
        try:
            return evaluated(text, self._function.__globals__)
        except UnreadableTypeError:
            return _ABSENT

    def _try(self, strategy: st.SearchStrategy[Any], returns: Any, send: Send) -> dict[str, Any] | None:
        found = dict[str, Any]()

        def attempt(positional: list[Any], named: dict[str, Any]) -> None:
            if self._late >= _MOST_LATE:
                return
            call = self.shown(positional, named)
            send({"calling": call})
            self._calls += 1
            _alarm(signal.ITIMER_REAL, CALL_SECONDS)
            try:
                result = self._target(*positional, **named)
            except HypothesisException:
                raise
            except BaseException as error:  # whatever the function raises is what is looked for
                self._late += isinstance(error, _TooLongError)
                self._note(call, error)
                return
            finally:
                _alarm(signal.ITIMER_REAL, SILENCE)
            if returns is not _ABSENT and contradicts(result, returns):
                found.update(call=call, result=text_of(result), type=type(result).__name__)
                raise _ContradictionError

        try:
            draw_calls(strategy, attempt, _EXAMPLES, SECONDS)
        except _ContradictionError:
            return found
        except BaseException as error:  # constructors of the package, again
            send({"undrawn": f"Hypothesis gave up: {type(error).__name__}"})
        return None

    def shown(self, positional: list[Any], named: dict[str, Any]) -> str:
        """A call as its source."""
        parts = [*map(text_of, positional), *(f"{name}={text_of(value)}" for name, value in named.items())]
        return f"{self._stated['qualname']}({', '.join(parts)})"

    def _note(self, call: str, error: BaseException) -> None:
        name = type(error).__name__
        known = self._errors.get(name)
        if known is None and len(self._errors) >= _MOST_ERRORS:
            return
        if known is None or len(call) < len(known["call"]):
            frames = traceback.extract_tb(error.__traceback__)
            line = (frames[-1].line or "") if frames else ""
            self._errors[name] = {
                "error": name,
                "bases": [base.__name__ for base in type(error).__mro__],
                "call": call,
                "message": _text_of_error(error),
                "deliberate": line.strip().startswith("raise"),
            }


def draw_calls(
    strategy: st.SearchStrategy[tuple[list[Any], dict[str, Any]]],
    attempt: Callable[[list[Any], dict[str, Any]], None],
    most: int,
    seconds: float,
) -> None:
    """Attempt drawn calls, the same ones in each fork, until the processor time is over."""
    until = _now() + seconds
    signal.signal(signal.SIGALRM, _stop)

    def one(drawn: tuple[list[Any], dict[str, Any]]) -> None:
        if _now() <= until:
            attempt(drawn[0], {name: value for name, value in drawn[1].items() if value is not _ABSENT})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _SETTINGS(max_examples=most)(hypothesis.given(strategy)(one))()


def warm_up() -> None:
    """Have Hypothesis load what it needs and read the constants of the package, once for all forks."""
    settings = _SETTINGS(max_examples=2)
    settings(hypothesis.given(st.tuples(st.from_type(list[str]), st.integers(), st.floats()))(_nothing))()


def _nothing(_: object) -> None:
    """Use a value for nothing."""


def narrow(constants: Sequence[object], *, small: bool) -> None:
    """Have values drawn of moderate size: what a huge one does is no statement about a function.

    Args:
        constants: Of the function, which are drawn too; of numbers also their neighbors.
        small: Whether all others are few and small, so that they are often equal.
    """
    numbers = [one for one in constants if isinstance(one, (int, float)) and abs(one) < _HUGE]
    texts = st.sampled_from(["", *(one for one in constants if isinstance(one, str))])
    whole = sorted({*range(-1, 4), *(int(number) + step for number in numbers for step in (-1, 0, 1))})
    near = st.sampled_from(whole)
    if small:
        st.register_type_strategy(int, near)
        st.register_type_strategy(float, st.sampled_from([*map(float, whole), 0.5, *map(float, numbers)]))
        st.register_type_strategy(str, texts | st.text("ab1 ", max_size=4))
    else:
        st.register_type_strategy(int, near | st.integers(-20, 20) | st.integers(-10_000, 10_000))
        some = st.text(max_size=20) | st.text("abcXYZ 019.,-_/", max_size=20)
        st.register_type_strategy(str, texts | some)
        st.register_type_strategy(bytes, st.binary(max_size=30))


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code, and those of the functions in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from codes_of(one)


def constants_of(function: types.FunctionType) -> list[object]:
    """Numbers and texts that the code names."""
    found = dict[object, None]()
    for code in codes_of(function.__code__):
        named = [function.__globals__.get(name) for name in code.co_names]
        found |= dict.fromkeys(one for one in (*code.co_consts, *named) if type(one) in {int, float, str})
    return [*found][:_MOST_CONSTANTS]


def _stop(*_: object) -> None:
    raise _TooLongError


def text_of(value: object) -> str:
    """A value in a short line."""
    try:
        text = repr(value)
    except Exception:  # a `__repr__` of the package
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _text_of_error(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())[:_SHOWN]
    except Exception:  # a `__str__` of the package
        return ""
