"""Runs a candidate's tests with pytest and reports each, without the module (design: ship-gate).

What pytest could pick up from outside (plugins, conftest files, ini files, its cache) is off, so that a verdict depends
on the module alone. What is reported is believed only as far as the gate saw the calls itself.
"""

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ship_gate.inside.drawing import draws, use_fixed_profile
from ship_gate.inside.frames import Link
from ship_gate.inside.guard import Guard
from ship_gate.inside.observation.clock import ModuleClock
from ship_gate.inside.observation.clock import install as install_clock
from ship_gate.inside.proxies import Caller, install
from ship_gate.inside.web.script import Web

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
