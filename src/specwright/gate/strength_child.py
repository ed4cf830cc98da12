"""Runs the tests once for each variant of a module, each in a process of its own. Executed by `strength_run`.

pytest is started once, up to the place where it would collect; a variant's process is a fork of that, which collects and
runs. Nothing of the candidate is loaded before the fork, so a variant costs its tests and little more. What a process
may use is bounded, a loop without an end by processor time. A fork reports on itself alone: it holds no other's pipe,
and the names of its folders tell it nothing.
"""

import contextlib
import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random  # noqa: TID251 - its seed is set, so that every run draws the same
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple, NoReturn

import pytest

__all__: list[str] = []

# pytest loads these late; they are wanted once, before the forks
for _name in ("python", "raises", "skipping", "unittest"):
    importlib.import_module(f"_pytest.{_name}")

_MIB = 1024 * 1024
_MEMORY = 1024 * _MIB
_FILE = 16 * _MIB
_WALL = 10
_LEAST_SECONDS = 0.3
_TIMES = 6


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads the candidate's files, one of them from the variant's text."""

    def __init__(self, fullname: str, path: str, source: str) -> None:
        super().__init__(fullname, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._source, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the varied file before the one on disk."""

    def __init__(self, fullname: str, path: Path, source: str) -> None:
        self._fullname, self._path, self._source = fullname, path, source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._fullname:
            return None
        places = [str(self._path.parent)] if self._path.name == "__init__.py" else None
        loader = _Loader(fullname, str(self._path), self._source)
        return importlib.util.spec_from_file_location(
            fullname, self._path, loader=loader, submodule_search_locations=places
        )


class _Outcomes:
    """Notes which tests passed and which failed, in a fork.

    Args:
        writer: Takes the result.
        whole: Whether all tests are run, or only those up to the first that fails.
    """

    def __init__(self, writer: int, *, whole: bool) -> None:
        self._writer = writer
        self._whole = whole
        self._failed: dict[str, None] = {}
        self._passed: dict[str, None] = {}

    def failed(self, name: str) -> None:
        """A test, or a file of tests, failed."""
        self._failed[name] = None
        self._passed.pop(name, None)
        if not self._whole:
            self.tell()

    def passed(self, name: str) -> None:
        """The call of a test passed; its clean-up may still fail."""
        if name not in self._failed:
            self._passed[name] = None

    def tell(self, outcome: str = "") -> NoReturn:
        """Send the result and end the fork."""
        outcome = outcome or ("failed" if self._failed or not self._passed else "passed")
        result = {"outcome": outcome, "passed": [*self._passed], "failed": [*self._failed]}
        _write(self._writer, json.dumps(result).encode())
        os._exit(0)


class _Variants:
    """Stands in for the collection of a session: there it forks, once for each variant.

    Args:
        descriptor: Takes the results.
        requests: Brings the word to begin.
        listing: The file that then holds the plan.
    """

    def __init__(self, descriptor: int, requests: int, listing: str) -> None:
        self._descriptor = descriptor
        self._requests = requests
        self._listing = listing
        self.outcomes: _Outcomes | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        if not os.read(self._requests, 1):
            # the gate does not need it any more
            os._exit(0)
        os.close(self._requests)
        plan = json.loads(Path(self._listing).read_text(encoding="utf-8"))
        # what is there is not looked at again in every fork
        gc.freeze()
        gc.disable()
        forked = _run_all(plan, self._descriptor)
        if forked is None:
            os._exit(0)
        os.close(self._descriptor)
        self.outcomes = _Outcomes(forked.writer, whole=plan["variants"][forked.place]["whole"])
        _become(plan, forked, self.outcomes)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.outcomes:
            self.outcomes.failed(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        # pytest's own report would render the source of every failure, which nobody reads
        outcome = "failed" if call.excinfo else "passed"
        when = "call" if call.when == "collect" else call.when
        return pytest.TestReport(item.nodeid, ("", 0, ""), {}, outcome, None, when)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        assert self.outcomes  # tests are run in forks only
        if report.failed or report.skipped:
            self.outcomes.failed(report.nodeid)
        elif report.when == "call":
            self.outcomes.passed(report.nodeid)


class _Forked(NamedTuple):
    """That this process is a fork: for which variant, in which folder, and where its result goes."""

    place: int
    home: Path
    writer: int


def _become(plan: dict[str, Any], forked: _Forked, outcomes: _Outcomes) -> None:
    """Make this fork the process of a variant."""
    home = forked.home
    try:
        home.mkdir()
        os.chdir(home)
        os.environ["HOME"] = os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = str(home)
        tempfile.tempdir = None
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (1, 2):
            os.dup2(null, descriptor)
        _limit(plan["seconds"])
        variant = plan["variants"][forked.place]
        below = Path(variant["path"]).relative_to("implementation")
        parts = [part for part in below.with_suffix("").parts if part != "__init__"]
        path = Path(plan["lib"], "modules", plan["name"], below)
        sys.meta_path.insert(0, _Finder(".".join(["modules", plan["name"], *parts]), path, variant["source"]))
        random.seed(0)
        gc.enable()
    except BaseException:
        os._exit(1)
    try:
        importlib.import_module(f"modules.{plan['name']}")
    except BaseException:
        outcomes.tell("stillborn")


def _session(tests: str, variants: _Variants) -> None:
    # as `inside.test_runner` runs them, without what only serves a report
    off = [
        "cacheprovider",
        "terminal",
        "logging",
        "junitxml",
        "faulthandler",
        "doctest",
        "debugging",
        "pastebin",
    ]
    off += ["setuponly", "setupplan", "stepwise", "unraisableexception", "threadexception", "warnings"]
    options = ["--disable-plugin-autoload", "--noconftest", "-c", os.devnull, f"--rootdir={tests}"]
    options += [f"--confcutdir={tests}", "--import-mode=importlib", "--assert=plain", "--capture=no"]
    options += [part for name in off for part in ("-p", f"no:{name}")]
    pytest.main([*options, tests], plugins=[variants])


def _limit(seconds: float) -> None:
    try:
        import resource
    except ImportError:
        return
    for limit, most in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_FSIZE, _FILE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, int(seconds) + 2),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (most, most))
    # processor time, not the clock: a busy machine does not change the verdict
    signal.setitimer(signal.ITIMER_PROF, seconds)


class _Running:
    """One fork that is running.

    Args:
        place: Its variant.
        home: Its folder.
        reader: Brings its result.
        pid: Of the fork.
    """

    def __init__(self, place: int, home: Path, reader: int, pid: int) -> None:
        self.place = place
        self._home = home
        self.reader = reader
        self._pid = pid
        self.began = time.monotonic()
        self.seconds = 0.0
        self._data = b""

    def ended(self) -> bool:
        """Read what is there; at its end the fork is gone."""
        chunk = os.read(self.reader, 65536)
        self._data += chunk
        return not chunk

    def result(self) -> dict[str, Any]:
        """End it and say how it was."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        _, _, usage = os.wait4(self._pid, 0)
        self.seconds = usage.ru_utime + usage.ru_stime
        os.close(self.reader)
        shutil.rmtree(self._home, ignore_errors=True)
        stopped: dict[str, Any] = {"outcome": "stopped", "passed": [], "failed": []}
        try:
            return json.loads(self._data) if self._data else stopped
        except ValueError:
            return stopped


def _forked(place: int, others: Iterable[_Running]) -> _Running | _Forked:
    home = Path.cwd() / os.urandom(8).hex()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return _Running(place, home, reader, pid)
    for descriptor in (reader, *(other.reader for other in others)):
        os.close(descriptor)
    return _Forked(place, home, writer)


def _run_all(plan: dict[str, Any], descriptor: int) -> _Forked | None:
    """Run every variant; None when all have ended, and in a fork what it is."""
    waiting = [*range(len(plan["variants"]))]
    running: dict[int, _Running] = {}
    while waiting or running:
        # the first is the module as it is: what it takes bounds the others, so that a loop without an end is soon stopped
        most = (
            plan["jobs"] if waiting[:1] != [0] and 0 not in [fork.place for fork in running.values()] else 1
        )
        while waiting and len(running) < most:
            started = _forked(waiting.pop(0), running.values())
            if isinstance(started, _Forked):
                return started
            running[started.reader] = started
        for fork in _ended(running, plan["seconds"]):
            _write(
                descriptor,
                json.dumps({"event": "variant", "place": fork.place, **fork.result()}).encode() + b"\n",
            )
            if fork.place == 0:
                plan["seconds"] = min(plan["seconds"], max(_LEAST_SECONDS, _TIMES * fork.seconds))
    return None


def _ended(running: dict[int, _Running], seconds: float) -> list[_Running]:
    """Wait a little; those that came to their end, or are late."""
    ready = set(select.select([*running], [], [], 0.2)[0])
    now = time.monotonic()
    late = {reader for reader, fork in running.items() if now - fork.began > _WALL * seconds}
    over = [
        reader for reader, fork in running.items() if (reader in ready and fork.ended()) or reader in late
    ]
    return [running.pop(reader) for reader in over]


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _main(descriptor: int, lib: str, tests: str, listing: str, draws: str, requests: int) -> None:
    os.set_inheritable(descriptor, False)
    sys.argv = ["pytest"]
    sys.dont_write_bytecode = True
    sys.path.insert(0, lib)
    if draws:
        import hypothesis

        hypothesis.settings.register_profile("gate", derandomize=True, database=None, deadline=None)
        hypothesis.settings.load_profile("gate")
    variants = _Variants(descriptor, requests, listing)
    _session(tests, variants)
    if variants.outcomes:
        variants.outcomes.tell()


if __name__ == "__main__":
    given = sys.argv[1:]
    _main(int(given[0]), given[1], given[2], given[3], given[4], int(given[5]))
    os._exit(0)
