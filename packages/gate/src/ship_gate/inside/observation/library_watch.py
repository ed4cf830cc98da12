"""Functions of the library that raise no audit event, each in one that tells of its effect first (design: ship-gate).

They are put in place before anything of a candidate is loaded, so that the library itself and every way to hand a
function on meets them. The module could reach what they wrap by walking into them; the static stage refuses the names
that it takes.

Left out: `datetime.now` and `utcnow`, methods of a class of C that nothing can be put in the place of, and constants
such as `sys.flags`; the static stage refuses those by name.
"""

import codecs
import io
import os
import platform
import random  # noqa: TID251 - it is watched, not used
import selectors
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from ship_gate.inside.observation.audit import Report
from ship_gate.inside.observation.clock import ModuleClock
from ship_gate.inside.observation.databases import watch_databases

_FUNCTIONS: dict[Any, dict[str, str]] = {
    os: {
        "LOOK": "stat lstat access statvfs getcwd getcwdb",
        "READ": "readlink",
        "ENVIRONMENT": """getpid getppid getuid geteuid getgid getegid getlogin cpu_count uname get_terminal_size
            getloadavg times""",
        "RANDOMNESS": "urandom getrandom",
        "MUTATION": "umask nice",
    },
    time: {
        "CLOCK": """time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns
            thread_time thread_time_ns clock_gettime clock_gettime_ns sleep"""
    },
    codecs: {"MUTATION": "register register_error unregister"},
}
_WITHOUT_TIME = {"localtime": 0, "gmtime": 0, "ctime": 0, "asctime": 0, "strftime": 1}
"""Functions of `time` that take the present time unless it is given, at this place."""


_READS = ("__getitem__", "__iter__")
_LINES = ("read", "readline", "__iter__")


def install(tell: Report, sources: bytes, clock: ModuleClock) -> None:
    """Put the functions in place.

    Args:
        tell: Takes an effect.
        sources: Of the module; what they do not name needs no watching, and is not loaded for it.
        clock: The module's.
    """
    for module, kinds in _FUNCTIONS.items():
        for kind, names in kinds.items():
            for name in filter(lambda name: hasattr(module, name), names.split()):
                setattr(
                    module, name, _reporting(tell, kind, f"{module.__name__}.{name}", getattr(module, name))
                )
    for name, place in _WITHOUT_TIME.items():
        setattr(time, name, _reporting(tell, "CLOCK", f"time.{name}", getattr(time, name), place))
    # what the sandbox has asked already would not be asked again
    platform.__dict__["_uname_cache"] = None
    _watch_chance(tell)
    _watch_environment(tell)
    _watch_waiting(tell)
    if b"sqlite3" in sources:
        watch_databases(tell, clock)
    arguments: Any = type(
        "Arguments", (list,), _reporting_methods(tell, "ENVIRONMENT", "sys.argv", list, _READS)
    )
    sys.argv = arguments(sys.argv)
    nothing: Any = type(
        "Input", (io.StringIO,), _reporting_methods(tell, "INPUT", "sys.stdin", io.StringIO, _LINES)
    )
    sys.stdin = nothing()


def _reporting(
    tell: Report, kind: str, name: str, function: Callable[..., Any], most_arguments: int | None = None
) -> Callable[..., Any]:
    """The function, telling of itself; where so many arguments are more than a place, it is a value function."""

    def watched(*args: Any, **kwargs: Any) -> Any:
        if most_arguments is None or len(args) <= most_arguments:
            tell(kind, name)
        return function(*args, **kwargs)

    watched.__name__ = watched.__qualname__ = function.__name__
    watched.__doc__ = function.__doc__
    return watched


def _watch_chance(tell: Report) -> None:
    """Generators without a seed, and the system's chance; `state` compares the generator that all share."""
    seed = random.Random.seed

    def watched(self: random.Random, a: Any = None, version: int = 2) -> None:
        if a is None:
            tell("RANDOMNESS", "a generator without a seed")
        seed(self, a, version)

    random.Random.seed = watched  # type: ignore[method-assign]  # that is the purpose
    random.__dict__["_urandom"] = os.urandom


def _watch_environment(tell: Report) -> None:
    kind: Any = type(os.environ)
    methods = _reporting_methods(tell, "ENVIRONMENT", "os.environ", kind, (*_READS, "__len__"))
    for name, method in methods.items():
        setattr(kind, name, method)


def _reporting_methods(
    tell: Report, kind: str, what: str, owner: Any, names: Iterable[str]
) -> dict[str, Callable[..., Any]]:
    """Methods of a class that tell of themselves first, by their names."""
    return {name: _reporting(tell, kind, what, getattr(owner, name)) for name in names}


def _watch_waiting(tell: Report) -> None:
    """An event loop that waits for a time to come: `asyncio.sleep`, `call_later`, a time limit."""
    kind: Any = selectors.DefaultSelector
    select = kind.select

    def watched(self: Any, timeout: float | None = None) -> Any:
        if timeout is not None and timeout > 0:
            tell("WAITING", "an event loop")
        return select(self, timeout)

    kind.select = watched
