"""Runs a candidate's tests again and again, each time in a fork, without the module (design: ship-gate).

pytest is started once, up to the place where it would collect. There it asks the gate what to do next, forks, and waits
for the fork to end: so every repetition is the same process, with the same folder, which the gate empties in between.
Calls go through the gate as in any run of the tests. It alone decides which answers come back changed; what it cannot do
without decoding a value is done here, before the test gets it.
"""

import gc
import os
import sys
import traceback
from pathlib import Path
from typing import Any, cast

import pytest

from ship_gate.inside.drawing import draws, use_fixed_profile
from ship_gate.inside.frames import Link
from ship_gate.inside.observation.clock import install as install_clock
from ship_gate.inside.proxies import Caller, install
from ship_gate.inside.test_runner import Guard, Reporter, pytest_options
from ship_gate.inside.variants.changes import files_below, perturb, perturb_files, spoil
from ship_gate.inside.variants.forks import limit


def run(link: Link, plan: dict[str, Any]) -> None:
    """Start pytest, and run the tests as often as the gate asks for it."""
    sys.argv = ["pytest"]
    pytest.main(
        ["--assert=plain", *pytest_options(plan["tests"])], plugins=[_Repetitions(link, plan["tests"])]
    )


class _Perturber(Caller):
    """Makes calls, and changes what comes back where the gate says so.

    Args:
        link: To the gate.
        watches: Whether the module may write files.
    """

    def __init__(self, link: Link, *, watches: bool) -> None:
        super().__init__(link, link.send)
        self._watches = watches
        self._folder = Path.cwd()
        self._before = files_below(self._folder) if watches else {}
        self._given: list[object] = []
        self._slept = self._asked = 0
        self.altered = False

    def before_call(self) -> None:
        """Remember the files that are there, what was slept, and what was asked."""
        self._slept, self._asked = len(self.clock.slept), len(self.web.requests)
        if self._watches:
            self._before = files_below(self._folder)

    def after_call(self, header: dict[str, Any], values: list[object]) -> None:
        """Change the files, what was asked, or the arguments."""
        self._given = values
        if "slept" in header:
            self.clock.alter(self._slept, header["slept"])
        if "files" in header:
            perturb_files(self._folder, self._before, header["files"])
        if "requests" in header:
            self.web.alter(self._asked, header["requests"])
        if "spoil" in header:
            spoil(values)

    def result(self, header: dict[str, Any], value: object) -> object:
        """Another value of the same type, an argument of that type, or None."""
        variation: str | None = header.get("change")
        part: Any = header.get("part")
        if "rest" in header:
            # one part of another answer, and the rest of this one
            whole: list[object] = list(self.codec.decode(header["rest"].encode()))
            whole[part] = cast("tuple[object, ...]", value)[part]
            return tuple(whole)
        if variation is None:
            return value
        changed = self._replaced(value, variation) if part is None else self._in_part(value, variation, part)
        self.altered = self.altered or type(changed) is not type(value) or changed != value
        return changed

    def _in_part(self, value: object, variation: str, part: int) -> object:
        parts = list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else []
        if part >= len(parts):
            return self._replaced(cast("object", value), variation)
        parts[part] = self._replaced(parts[part], variation)
        return tuple(parts)

    def _replaced(self, value: object, variation: str) -> object:
        if variation == "none":
            return None
        if variation == "argument":
            return next((one for one in self._given if type(one) is type(value)), value)
        return perturb(value, variation)


class _Repetitions:
    """Replaces the collection of a session: there it forks, once for each repetition."""

    def __init__(self, link: Link, tests: str) -> None:
        self._link = link
        self._tests = tests
        self._wanted: set[str] | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        try:
            job, _ = self._link.receive()
        except EOFError:
            # the gate does not need it any more
            os._exit(0)
        send = self._link.marked(job.pop("nonce"))
        if draws(Path(self._tests)):
            use_fixed_profile(shrinks=False)
        # keep the collector from looking at what is loaded already in every fork
        gc.freeze()
        gc.disable()
        while True:
            send({"event": "next"})
            order, _ = self._link.receive()
            if order.get("end"):
                send({"event": "end"})
                os._exit(0)
            if pid := os.fork():
                os.waitpid(pid, 0)
                continue
            gc.enable()
            limit(order["seconds"])
            self._wanted = set(order["tests"]) if order["tests"] is not None else None
            caller = _Perturber(self._link, watches=job["watches"])
            install(caller, job["surface"])
            install_clock(caller.clock)
            guard = Guard(lambda what: send({"event": "forged", "message": what}), self._tests)
            reporter = _Reporter(send, guard, self._tests, caller)
            session.config.pluginmanager.register(reporter)
            reporter.pytest_sessionstart()
            return

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._wanted is not None:
            items[:] = [item for item in items if item.nodeid in self._wanted]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        os._exit(0)


class _Reporter(Reporter):
    """Tells of each test also how and where it failed, and whether a changed answer was another one."""

    def __init__(self, send: Any, guard: Guard, tests: str, caller: _Perturber) -> None:
        super().__init__(self._with_kind, guard, caller.clock, caller.web)
        self._tell = send
        self._tests = tests
        self._caller = caller
        self._failures: dict[str, dict[str, Any]] = {}

    def _with_kind(self, header: dict[str, Any]) -> None:
        if header["event"] == "start":
            self._caller.altered = False
        if header["event"] == "test":
            header = {**header, **self._failures.get(header["name"], {}), "altered": self._caller.altered}
        self._tell(header)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        # pytest's own report would render the source of every failure, which nobody reads
        when = "call" if call.when == "collect" else call.when
        if call.excinfo is None:
            return pytest.TestReport(item.nodeid, ("", 0, ""), {}, "passed", None, when)
        how, line = _how(call.excinfo, self._tests), _failing_line(call.excinfo.value, self._tests)
        self._failures.setdefault(item.nodeid, {"how": how, "line": line})
        return pytest.TestReport(item.nodeid, ("", 0, ""), {}, "failed", "failed", when)


def _failing_line(error: BaseException, tests: str) -> str:
    """The line of the tests that failed, `test_x.py:12`."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseException", error.exceptions[0])
    places = ((frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__))
    own = [
        f"{file.removeprefix(tests).lstrip('/')}:{line}" for file, line in places if file.startswith(tests)
    ]
    return own[-1] if own else ""


def _how(failure: pytest.ExceptionInfo[BaseException], tests: str) -> str:
    """Whether a test failed by an assertion of its own, because no drawn input met what it assumes, or otherwise."""
    waiting = [failure.value]
    while waiting:
        error = waiting.pop()
        if isinstance(error, (AssertionError, pytest.fail.Exception)):
            return "assertion"
        if type(error).__name__ in {"Unsatisfiable", "FailedHealthCheck"}:
            return "assumption"
        if isinstance(error, BaseExceptionGroup):
            waiting += error.exceptions
    last = failure.traceback[-1]
    own = str(last.path).startswith(tests) and str(last.statement).lstrip().startswith("raise")
    return "assertion" if own else "error"
