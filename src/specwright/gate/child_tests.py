"""Runs a staged candidate's tests with pytest and reports each (F§11.3). Executed as a script by `test_run`.

It loads nothing of the factory. The module's entry points are watched, so that a declared error is known to
have come out of the module and not of its tests. What pytest could pick up from outside (plugins, conftest
files, ini files, its cache) is off, so that a verdict depends on the module alone."""

import functools
import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

__all__: list[str] = []

_MOST_CHARACTERS = 2000
_MIB = 1024 * 1024


class _Watch:
    """Notes which errors and codes come out of the entry points."""

    def __init__(self, codes: list[str]) -> None:
        self._codes = codes
        self._seen: list[list[str]] = []

    def take(self) -> list[list[str]]:
        """What was noted since the last time."""
        seen, self._seen = self._seen, []
        return seen

    def watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with what it raises and returns noted."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*args: object, **kwargs: object) -> object:
                __tracebackhide__ = True
                try:
                    return self._returned(await function(*args, **kwargs))
                except Exception as error:
                    self._raised(error)
                    raise

            return awaited

        @functools.wraps(function)
        def called(*args: object, **kwargs: object) -> object:
            __tracebackhide__ = True
            try:
                return self._returned(function(*args, **kwargs))
            except Exception as error:
                self._raised(error)
                raise

        return called

    def _raised(self, error: Exception) -> None:
        self._note([kind.__name__ for kind in type(error).__mro__])

    def _returned(self, value: object) -> object:
        if self._codes:
            text = repr(value)
            for code in self._codes:
                if code in text:
                    self._note([code])
        return value

    def _note(self, names: list[str]) -> None:
        if names not in self._seen:
            self._seen.append(names)


class _Reporter:
    """Writes one line for what was collected, one for each test, one at the end."""

    def __init__(self, descriptor: int, watch: _Watch) -> None:
        self._descriptor = descriptor
        self._watch = watch
        self._durations: dict[str, float] = {}
        self._faults: dict[str, str] = {}
        self._called: set[str] = set()

    def write(self, **event: object) -> None:
        line = json.dumps(event).encode() + b"\n"
        while line:
            line = line[os.write(self._descriptor, line) :]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.write(
                event="uncollected", name=report.nodeid, message=report.longreprtext[-_MOST_CHARACTERS:]
            )

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.write(event="collected", names=[item.nodeid for item in session.items])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid
        self._durations[name] = self._durations.get(name, 0.0) + report.duration
        if report.failed or report.skipped or hasattr(report, "wasxfail"):
            text = (
                report.longreprtext
                if report.failed
                else "a skipped or expected failure shows nothing; make it pass"
            )
            self._faults.setdefault(name, text[-_MOST_CHARACTERS:])
        if report.when == "call":
            self._called.add(name)
        if report.when == "teardown":
            fault = self._faults.get(name, "" if name in self._called else "the test was not called")
            milliseconds = round(1000 * self._durations[name], 3)
            seen = self._watch.take()
            self.write(
                event="test", name=name, passed=not fault, duration_ms=milliseconds, message=fault, seen=seen
            )

    def pytest_sessionfinish(self) -> None:
        self.write(event="end")


def _limit() -> None:
    """Bound memory, file sizes and core dumps where the platform can."""
    try:
        import resource
    except ImportError:
        return
    for limit, most in (
        (resource.RLIMIT_AS, 4096 * _MIB),
        (resource.RLIMIT_FSIZE, 64 * _MIB),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(limit, (most, most))
        except (ValueError, OSError):
            continue


def _watch_entries(watch: _Watch, name: str, entries: list[str]) -> None:
    """Put watched entry points into a module; one that cannot be imported fails in its tests."""
    try:
        module = importlib.import_module(f"modules.{name}")
    except Exception:
        return
    for entry in entries:
        if callable(function := getattr(module, entry, None)):
            setattr(module, entry, watch.watched(function))


def _main(descriptor: int, lib: str, tests: str, watched: str) -> None:
    os.set_inheritable(descriptor, False)
    surface = json.loads(watched)
    watch = _Watch(surface["codes"])
    reporter = _Reporter(descriptor, watch)
    reporter.write(event="ready")
    _limit()
    sys.path.insert(0, lib)
    _watch_entries(watch, surface["name"], surface["entries"])
    # not captured: what a module prints is bounded by the pipe that it goes to
    options = ["-q", "--disable-plugin-autoload", "--noconftest", "-c", os.devnull, f"--rootdir={tests}"]
    options += [
        "--import-mode=importlib",
        "--basetemp=basetemp",
        "--tb=short",
        "--capture=no",
        "-p",
        "no:cacheprovider",
        tests,
    ]
    sys.argv = ["pytest"]
    pytest.main(options, plugins=[reporter])


if __name__ == "__main__":
    _main(int(sys.argv[1]), *sys.argv[2:])
    # threads that a module left behind must not keep the process
    sys.stdout.flush()
    os._exit(0)
