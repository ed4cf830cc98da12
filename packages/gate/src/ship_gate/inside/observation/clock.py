"""The clock of a module: a test sets it, and a sleep puts it forward without anybody waiting (design: contracts).

`clock` of `modules.testing` is one object in the process of the tests; what it says goes to the module's process with each
call, and how far the clock came goes back with the answer. Until it is set, or hosts are scripted, it shows the
system's time, and what was slept on top.

Left out: the time stamps of files, which are the system's, and processor time.
"""

import datetime
import gc
import selectors
import sys
import time
import types
from collections.abc import Callable
from typing import Any, cast

_BILLION = 1_000_000_000
_MOST_SECONDS = 9_223_372_036
_MOST_SLEEPS = 1000
_LITTLE = 1e-6
_BEGINS = 1000 * _BILLION
"""What a clock that was set shows of seconds since some moment, when nothing has passed yet."""
_EPOCH = datetime.datetime.fromtimestamp(0, datetime.UTC)


class ModuleClock:
    """What a module takes for the time.

    `set` lets it stand still at a moment, `advance` and what the module sleeps put it forward, `slept` lists the seconds of
    each sleep since the test began.
    """

    def __init__(self) -> None:
        self._moment: int | None = None
        self._passed = 0
        self._slept: list[float] = []

    def set(self, moment: datetime.datetime | str) -> None:
        """Let it stand still at a moment; what passed before is forgotten.

        Args:
            moment: With its zone, or as ISO text, `2024-05-01T12:00:00+00:00`.

        Raises:
            ValueError: it is no such text, or has no zone.
        """
        at = datetime.datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        if at.tzinfo is None:
            raise ValueError(f"{moment!r} has no time zone; write `2024-05-01T12:00:00+00:00`")
        since = at - _EPOCH
        self._moment = ((since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds) * 1000
        self._passed = 0

    def stand(self) -> None:
        """Let it stand still where it is, unless it was set: hosts are scripted, and what they and sleeps take is all that
        passes from here on. What a module reads is then what `web.requests` tells."""
        if self._moment is None:
            self._moment = _time_ns()

    def advance(self, seconds: float) -> None:
        """Put it forward.

        Raises:
            ValueError: that would be back.
        """
        if not seconds >= 0:
            raise ValueError(f"a clock does not go back by {seconds!r} seconds; set it")
        self._passed += round(seconds * _BILLION)

    def now(self) -> datetime.datetime:
        """What it shows, in UTC."""
        return _EPOCH + datetime.timedelta(microseconds=self.time_ns() // 1000)

    @property
    def slept(self) -> list[float]:
        """The seconds of each sleep of the module since the test began, in their order."""
        return [*self._slept]

    @property
    def seconds(self) -> float:
        """How far it was put forward."""
        return self._passed / _BILLION

    def clear(self) -> None:
        """Show the system's time again; it happens before each test and example."""
        self._moment, self._passed, self._slept = None, 0, []

    def time_ns(self) -> int:
        """Nanoseconds since 1970."""
        return (_time_ns() if self._moment is None else self._moment) + self._passed

    def elapsed_ns(self, real: Callable[[], int]) -> int:
        """Nanoseconds of a clock that counts from some moment, as the system's does."""
        return (real() if self._moment is None else _BEGINS) + self._passed

    def sleep(self, seconds: float) -> None:
        """As `time.sleep`, without the wait.

        Raises:
            TypeError: it is no number.
            ValueError: it is negative or NaN.
            OverflowError: no system sleeps so long.
        """
        if not hasattr(seconds, "__index__") and not hasattr(seconds, "__float__"):
            raise TypeError(f"'{type(seconds).__name__}' object cannot be interpreted as an integer")
        wanted = float(seconds)
        if wanted != wanted:
            raise ValueError("Invalid value NaN (not a number)")
        if wanted < 0:
            raise ValueError("sleep length must be non-negative")
        if wanted > _MOST_SECONDS:
            raise OverflowError("timestamp too large to convert to C _PyTime_t")
        self.wait(wanted)

    def wait(self, seconds: float) -> None:
        """Something was waited for so long."""
        self.advance(seconds)
        if len(self._slept) < _MOST_SLEEPS:
            self._slept.append(seconds)

    def alter(self, since: int, how: str) -> None:
        """Change what was slept since some sleep, to see who reads it: `unslept` takes it away, and `longer` adds to it."""
        before = sum(self._slept[since:])
        self._slept[since:] = [] if how == "unslept" else [seconds + 1 for seconds in self._slept[since:]]
        self._passed += round((sum(self._slept[since:]) - before) * _BILLION)

    def state(self) -> dict[str, Any]:
        """What goes to the module's process with a call."""
        return {"moment": self._moment, "passed": self._passed}

    def take(self, state: object) -> None:
        """Show what the tests' process told; without a word the system's time."""
        self.clear()
        given = cast("dict[str, Any]", state) if isinstance(state, dict) else {}
        if isinstance(given.get("moment"), int):
            self._moment = given["moment"]
        if isinstance(given.get("passed"), int):
            self._passed = given["passed"]

    def came_to(self) -> dict[str, Any]:
        """What goes back with the answer of a call."""
        return {"passed": self._passed, "slept": self._slept}

    def follow(self, came: object) -> None:
        """Go on from where the module's process came to, which may say anything."""
        given = cast("dict[str, Any]", came) if isinstance(came, dict) else {}
        passed, slept = given.get("passed"), given.get("slept")
        if isinstance(passed, int) and self._passed <= passed < _MOST_SECONDS * _BILLION:
            self._passed = passed
        if isinstance(slept, list):
            self._slept += [
                float(one) for one in cast("list[object]", slept) if isinstance(one, (int, float))
            ]


_time_ns = time.time_ns


def install(clock: ModuleClock) -> None:
    """Let the library's functions of this process follow a clock.

    It is done before anything of a candidate is loaded, so that every way to hand a function on meets it.
    """
    _of_time(clock)
    _of_datetime()
    _of_event_loops(clock)


def _of_time(clock: ModuleClock) -> None:
    elapsed: dict[str, Callable[[], int]] = {
        name: getattr(time, f"{name}_ns") for name in ("monotonic", "perf_counter")
    }
    readers: dict[str, Callable[[], int]] = {"time": clock.time_ns}
    readers |= {name: _elapsed(clock, real) for name, real in elapsed.items()}
    for name, reader in readers.items():
        _put(f"{name}_ns", _whole(reader))
        _put(name, _in_seconds(reader))
    by_number = {time.CLOCK_REALTIME: readers["time"], time.CLOCK_MONOTONIC: readers["monotonic"]}
    plain = time.clock_gettime_ns

    def gettime_ns(number: int) -> int:
        return by_number[number]() if number in by_number else plain(number)

    def gettime(number: int) -> float:
        return gettime_ns(number) / _BILLION

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)

    _put("clock_gettime_ns", gettime_ns)
    _put("clock_gettime", gettime)
    _put("sleep", sleep)
    for name in ("localtime", "gmtime", "ctime"):
        _put(name, _at(getattr(time, name), clock))
    _put("asctime", _of_present(time.asctime, 0))
    _put("strftime", _of_present(time.strftime, 1))


def _put(name: str, function: Any) -> None:
    function.__name__ = function.__qualname__ = name
    setattr(time, name, function)


def _whole(reader: Callable[[], int]) -> Callable[[], int]:
    def whole() -> int:
        return reader()

    return whole


def _elapsed(clock: ModuleClock, real: Callable[[], int]) -> Callable[[], int]:
    return lambda: clock.elapsed_ns(real)


def _in_seconds(reader: Callable[[], int]) -> Callable[[], float]:
    return lambda: reader() / _BILLION


def _at(function: Callable[[float], Any], clock: ModuleClock) -> Callable[..., Any]:
    def at(seconds: float | None = None) -> Any:
        return function(clock.time_ns() / _BILLION if seconds is None else seconds)

    return at


def _of_present(function: Callable[..., str], place: int) -> Callable[..., str]:
    """A function that takes the present time unless it is given, at this place."""
    local = time.localtime

    def of_present(*given: Any) -> str:
        return function(*given) if len(given) > place else function(*given, local())

    return of_present


def _of_datetime() -> None:
    """`now` and `utcnow` are methods of a class of C, whose names stand in a dict that can be reached all the same; `today`
    asks `time.time`."""
    names: dict[str, Any] = gc.get_referents(datetime.datetime.__dict__)[0]

    def now(cls: Any, tz: datetime.tzinfo | None = None) -> Any:
        seconds, rest = divmod(time.time_ns(), _BILLION)
        return cls.fromtimestamp(seconds, tz).replace(microsecond=rest // 1000)

    def utcnow(cls: Any) -> Any:
        return now(cls, datetime.UTC).replace(tzinfo=None)

    names.update(now=classmethod(now), utcnow=classmethod(utcnow))
    sys._clear_type_cache()  # pyright: ignore[reportPrivateUsage] - what was found by these names before


def _of_event_loops(clock: ModuleClock) -> None:
    """A loop that waits for nothing but a time to come has it at once."""
    kind: Any = selectors.DefaultSelector
    select = kind.select

    def passing(self: Any, timeout: float | None = None) -> Any:
        if timeout is None or timeout <= 0:
            return select(self, timeout)
        if (ready := select(self, 0)) or len(self.get_map()) > 1:
            return ready or select(self, timeout)
        if timeout > _LITTLE:
            clock.wait(timeout)
        else:
            # what rounding left of a wait before
            clock.advance(_LITTLE)
        return ready

    kind.select = passing


def offer(**offered: object) -> None:
    """Put objects into `modules.testing`: what tests and examples say of a module's surroundings."""
    root = sys.modules.setdefault("modules", types.ModuleType("modules"))
    testing = sys.modules.setdefault("modules.testing", types.ModuleType("modules.testing"))
    testing.__dict__.update(offered)
    testing.__dict__["__all__"] = sorted(name for name in vars(testing) if not name.startswith("_"))
    root.__dict__["testing"] = testing
