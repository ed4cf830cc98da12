"""Runs a candidate's tests with pytest and reports each, without the module (design: ship-gate).

What pytest could pick up from outside (plugins, conftest files, ini files, its cache) is off, so that a verdict depends
on the module alone. What is reported is believed only as far as the gate saw the calls itself.

Tests share a process with pytest, so nothing of it is out of their reach; `ship_gate.runs` says what that leaves open.
`Guard` makes the usual ways of forging a report end the run: functions changed that run or report a test, plugins brought
along, tests that replace other tests, the interpreter searched for the reporter.
"""

import importlib
import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ship_gate.inside.drawing import draws, use_fixed_profile
from ship_gate.inside.frames import Link
from ship_gate.inside.observation.clock import ModuleClock
from ship_gate.inside.observation.clock import install as install_clock
from ship_gate.inside.proxies import Caller, install
from ship_gate.inside.web.script import Web

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


_MOST_CHARACTERS = 2000

# pytest loads these late; they are wanted before anything of a candidate is there
for _name in ("assertion.rewrite", "python", "raises", "skipping", "unittest"):
    importlib.import_module(f"_pytest.{_name}")

_Send = Callable[..., None]


def run(link: Link, plan: dict[str, Any]) -> None:
    """Run the tests of a job; afterwards all of them are reported."""
    job, _ = link.receive()
    # calls need no nonce, so nothing that a test can reach from the module's functions leads to it
    caller = Caller(link, link.send)
    install(caller, job["surface"])
    install_clock(caller.clock)
    send = link.marked(job.pop("nonce"))
    tests = plan["tests"]
    guard = Guard(lambda what: send({"event": "forged", "message": what}), tests)
    sys.argv = ["pytest"]
    if draws(Path(tests)):
        use_fixed_profile()
    pytest.main(pytest_options(tests), plugins=[Reporter(send, guard, caller.clock, caller.web)])
    send({"event": "end"})


def pytest_options(tests: str) -> list[str]:
    """How pytest runs the tests of a candidate."""
    # not captured: what tests print is bounded by the pipe that it goes to
    options = ["-q", "--disable-plugin-autoload", "--noconftest", "-c", os.devnull, f"--rootdir={tests}"]
    options += ["--import-mode=importlib", "--basetemp=basetemp", "--tb=short", "--capture=no"]
    # it collects garbage ten times at the end, and makes warnings of what it finds, which nobody reads
    options += ["-p", "no:unraisableexception"]
    return [*options, "-p", "no:cacheprovider", f"--confcutdir={tests}", tests]


class Reporter:
    """Tells what was collected, and of each test when it starts, is set up and has finished."""

    def __init__(self, send: _Send, guard: Guard, clock: ModuleClock, web: Web) -> None:
        self._send = send
        self._clock = clock
        self._guard = guard
        self._web = web
        self._armed = False
        self._durations: dict[str, float] = {}
        self._faults: dict[str, str] = {}
        self._called: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """Watch what runs the tests from here on."""
        self._guard.arm()
        self._armed = True

    def pytest_plugin_registered(self, plugin: object) -> None:
        """Nothing registers a plugin after the start."""
        if self._armed:
            self._guard.found(f"the plugin {plugin!r} was registered")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be loaded."""
        if report.failed:
            self._send(
                {
                    "event": "uncollected",
                    "name": report.nodeid,
                    "message": report.longreprtext[-_MOST_CHARACTERS:],
                }
            )

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Look for changes for the last time."""
        # pytest undoes changes of its own after this
        self._guard.check()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """What was collected."""
        self._guard.check()
        self._guard.items = [(item, _identity_of(item)) for item in session.items]
        self._send({"event": "collected", "names": [item.nodeid for item in session.items]})

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        self._guard.check_items(_identity_of)
        self._clock.clear()
        self._web.clear()
        self._send({"event": "start", "name": nodeid})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test was set up, called, or is over."""
        name = report.nodeid
        self._durations[name] = self._durations.get(name, 0.0) + report.duration
        if report.failed or report.skipped or hasattr(report, "wasxfail"):
            text = (
                report.longreprtext
                if report.failed
                else "a skipped or expected failure shows nothing; make it pass"
            )
            self._faults.setdefault(name, text[-_MOST_CHARACTERS:])
        if report.when == "setup":
            self._send({"event": "set_up", "name": name})
        if report.when == "call":
            self._called.add(name)
        if report.when == "teardown":
            self._guard.check()
            fault = self._faults.get(name, "" if name in self._called else "the test was not called")
            duration = round(1000 * self._durations[name], 3)
            self._send(
                {
                    "event": "test",
                    "name": name,
                    "passed": not fault,
                    "duration_ms": duration,
                    "message": fault,
                }
            )


def _identity_of(item: pytest.Item) -> tuple[object, ...]:
    """What running a test depends on, and what another test could replace."""
    names = vars(item)
    return (
        type(item),
        getattr(item, "obj", None),
        names.get("runtest"),
        names.get("setup"),
        names.get("ihook"),
    )
