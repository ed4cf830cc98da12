"""Notices when tests tamper with what runs them (design: ship-gate).

Tests share a process with pytest, so none of this is out of their reach; `runs.suite_run` says what that leaves open.
This makes the usual ways of forging a report end the run: functions changed that run or report a test, plugins brought
along, tests that replace other tests, the interpreter searched for the reporter.
"""

import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_WATCHED = ("_pytest", "pytest", "pluggy", "unittest", "json", "ship_gate", "specwright", "modules")
_WHOLE = ("builtins", "os", "posix", "struct", "threading")
"""Modules of which every function is watched, those of C as well."""

_EVENTS = {
    "gc.get_objects",
    "gc.get_referrers",
    "gc.get_referents",
    "sys._current_frames",
    "sys._current_exceptions",
    "sys.setprofile",
    "sys.settrace",
    "sys.addaudithook",
}
_FRAMES = {
    "tb_frame",
    "gi_frame",
    "gi_code",
    "cr_frame",
    "cr_code",
    "ag_frame",
    "ag_code",
    "f_code",
    "__code__",
}
"""Attributes that a test reads for nothing but the frames behind them; pytest reads them too."""

_CONTENT = {"__code__", "__defaults__", "__kwdefaults__"}
"""Attributes of a function that make it another one in its place."""

_Part = tuple[Mapping[str, Any], str, Any]
"""Where something stands, its name, and itself."""


class Guard:
    """Remembers what pytest consists of, and tells when it changed.

    Args:
        tell: Sends what was found; the process ends after it.
        tests: The folder of the tests.
    """

    def __init__(self, tell: Callable[[str], None], tests: str) -> None:
        self._tell = tell
        self._tests = tests
        self._looking = False
        self._exit = os._exit
        self._parts: list[_Part] = []
        self._functions: set[types.FunctionType] = set()
        self.items: list[tuple[Any, tuple[object, ...]]] = []

    def arm(self) -> None:
        """From now on a change is a finding."""
        self._parts = _parts()
        behind = (_function(part) for _, _, part in self._parts)
        self._functions = {one for one in behind if isinstance(one, types.FunctionType)}
        sys.addaudithook(self._audit)

    def check(self) -> None:
        """Compare with what was remembered."""
        for owner, name, part in self._parts:
            if owner.get(name) is not part:
                self._replaced(name)

    def _replaced(self, name: str) -> None:
        self.found(f"{name} was replaced, which runs or reports the tests")

    def check_items(self, identity_of: Callable[[Any], tuple[object, ...]]) -> None:
        """Compare what was collected with what it was then."""
        for item, before in self.items:
            if identity_of(item) != before:
                self.found(f"the test {item.nodeid} was replaced")

    def found(self, what: str) -> None:
        """Tell it and end the process."""
        self._tell(what)
        self._exit(1)

    def _audit(self, event: str, what: tuple[Any, ...]) -> None:
        if event in _EVENTS or event.startswith("ctypes."):
            self.found(f"{event} was used")
        elif event == "sys._getframe" or (event == "object.__getattr__" and what[1] in _FRAMES):
            self._look(event)
        elif event == "object.__setattr__" and what[1] in _CONTENT and what[0] in self._functions:
            self._replaced(what[0].__name__)

    def _look(self, event: str) -> None:
        """Tell it if a test itself looked for a frame; to see that, this looks for one."""
        if self._looking:
            return
        self._looking = True
        asking = sys._getframe(2).f_code.co_filename  # pyright: ignore[reportPrivateUsage] - there is no other way
        self._looking = False
        if asking.startswith(self._tests):
            self.found(f"{event} was used")


def _parts() -> list[_Part]:
    """The classes, functions and methods that are watched, where they stand."""
    found: list[_Part] = []
    seen: set[type] = set()
    for module_name in [name for name in sys.modules if name.partition(".")[0] in _WATCHED]:
        names = vars(sys.modules[module_name])
        for name, value in names.items():
            if isinstance(value, (types.FunctionType, type)):
                found.append((names, name, value))
            if isinstance(value, type) and value not in seen and _is_watched(value):
                seen.add(value)
                found += _members(vars(value))
    for module_name in _WHOLE:
        names = vars(sys.modules[module_name])
        found += [(names, name, value) for name, value in names.items() if callable(value)]
    return found


def _is_watched(value: type) -> bool:
    return value.__module__.partition(".")[0] in _WATCHED


def _function(part: Any) -> object:
    """The function behind a part; a class or a function of C stays what it is."""
    if isinstance(part, property):
        return part.fget
    return getattr(part, "__func__", part)


def _members(names: Mapping[str, Any]) -> Iterator[_Part]:
    for name, member in names.items():
        if isinstance(member, (types.FunctionType, classmethod, staticmethod, property)):
            yield names, name, member
