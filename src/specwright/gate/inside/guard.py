"""Notices when tests tamper with what runs them (D-S8-09).

Tests share a process with pytest, so nothing here is out of their reach for good; `gate.test_run` says what that leaves.
This makes the usual ways of forging a report end the run: pytest's own functions changed, plugins brought along, tests
that replace other tests, the interpreter searched for the reporter.
"""

import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["Guard"]

_WATCHED = ("_pytest", "pytest", "pluggy", "unittest")
_EVENTS = {
    "gc.get_objects",
    "gc.get_referrers",
    "gc.get_referents",
    "sys._current_frames",
    "sys._current_exceptions",
    "sys.setprofile",
}

_Part = tuple[Mapping[str, Any], str, Any, types.CodeType | None]
"""Where something stands, its name, itself, and the code that it had."""


class Guard:
    """Remembers what pytest consists of, and tells when it changed.

    Args:
        tell: Sends what was found; the process ends after it.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._parts: list[_Part] = []
        self.items: list[tuple[Any, tuple[object, ...]]] = []

    def arm(self) -> None:
        """From now on a change is a finding."""
        self._parts = _parts()
        sys.addaudithook(self._audit)

    def check(self) -> None:
        """Compare with what was remembered."""
        for owner, name, part, code in self._parts:
            if owner.get(name) is not part or (code is not None and part.__code__ is not code):
                self.found(f"pytest's {name} was replaced")

    def check_items(self, made_of: Callable[[Any], tuple[object, ...]]) -> None:
        """Compare what was collected with what it was then."""
        for item, before in self.items:
            if made_of(item) != before:
                self.found(f"the test {item.nodeid} was replaced")

    def found(self, what: str) -> None:
        """Tell it and end the process."""
        self._tell(what)
        os._exit(1)

    def _audit(self, event: str, _: tuple[Any, ...]) -> None:
        if event in _EVENTS or event.startswith("ctypes."):
            self.found(f"{event} was used")


def _parts() -> list[_Part]:
    """Pytest's classes, functions and methods, where they stand."""
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
    return found


def _members(names: Mapping[str, Any]) -> Iterator[_Part]:
    for name, member in names.items():
        if isinstance(member, types.FunctionType):
            yield names, name, member, member.__code__
        elif isinstance(member, (classmethod, staticmethod, property)):
            yield names, name, member, None
