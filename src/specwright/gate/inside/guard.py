"""Notices when tests tamper with what runs them (D-S8-09).

Tests share a process with pytest, so nothing here is out of their reach for good; `gate.test_run` says what that leaves.
This makes the usual ways of forging a report end the run: functions changed that run or report a test, plugins brought
along, tests that replace other tests, the interpreter searched for the reporter.
"""

import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["Guard"]

_WATCHED = ("_pytest", "pytest", "pluggy", "unittest", "json", "specwright", "modules")
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

_Part = tuple[Mapping[str, Any], str, Any, types.CodeType | None]
"""Where something stands, its name, itself, and the code that it had."""


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
        self.items: list[tuple[Any, tuple[object, ...]]] = []

    def arm(self) -> None:
        """From now on a change is a finding."""
        sys.addaudithook(self._audit)
        self._parts = _parts()

    def check(self) -> None:
        """Compare with what was remembered."""
        for owner, name, part, code in self._parts:
            if owner.get(name) is not part or (code is not None and part.__code__ is not code):
                self.found(f"{name} was replaced, which runs or reports the tests")

    def check_items(self, made_of: Callable[[Any], tuple[object, ...]]) -> None:
        """Compare what was collected with what it was then."""
        for item, before in self.items:
            if made_of(item) != before:
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
            if isinstance(value, types.FunctionType):
                found.append((names, name, value, value.__code__))
            elif isinstance(value, type):
                found.append((names, name, value, None))
                if value not in seen and value.__module__.partition(".")[0] in _WATCHED:
                    seen.add(value)
                    found += _members(vars(value))
    for module_name in _WHOLE:
        names = vars(sys.modules[module_name])
        found += [(names, name, value, None) for name, value in names.items() if callable(value)]
    return found


def _members(names: Mapping[str, Any]) -> Iterator[_Part]:
    for name, member in names.items():
        if isinstance(member, types.FunctionType):
            yield names, name, member, member.__code__
        elif isinstance(member, (classmethod, staticmethod, property)):
            yield names, name, member, None
