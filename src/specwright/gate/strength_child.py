"""Runs the tests once for each variant of a module, each in a process of its own. Executed by `strength_run`.

pytest is loaded once; a variant's process is a fork of that, before anything of the candidate was loaded. So a variant
costs its tests and little more. What a process may use is bounded, a loop without an end by processor time.
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
import time
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

__all__: list[str] = []

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
    """Notes which tests passed and which failed."""

    def __init__(self) -> None:
        self.failed: dict[str, None] = {}
        self.passed: dict[str, None] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        # pytest's own report would render the source of every failure, which nobody reads
        outcome = "failed" if call.excinfo else "passed"
        when = "call" if call.when == "collect" else call.when
        return pytest.TestReport(item.nodeid, ("", 0, ""), {}, outcome, None, when)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or report.skipped:
            self.failed[report.nodeid] = None
            self.passed.pop(report.nodeid, None)
        elif report.when == "call" and report.nodeid not in self.failed:
            self.passed[report.nodeid] = None


def _pytest(tests: str, whole: bool, plugins: list[object]) -> None:
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
    options += [f"--confcutdir={tests}"]
    options += ["--import-mode=importlib", "--basetemp=basetemp", "--assert=plain"]
    options += [part for name in off for part in ("-p", f"no:{name}")]
    options += [] if whole else ["--maxfail=1"]
    pytest.main([*options, tests], plugins=plugins)


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


def _variant(plan: dict[str, Any], place: int) -> dict[str, Any]:
    """Run the tests on one variant, in this process."""
    variant = plan["variants"][place]
    below = Path(variant["path"]).relative_to("implementation")
    parts = [part for part in below.with_suffix("").parts if part != "__init__"]
    fullname = ".".join(["modules", plan["name"], *parts])
    sys.meta_path.insert(
        0, _Finder(fullname, Path(plan["lib"], "modules", plan["name"], below), variant["source"])
    )
    random.seed(0)
    gc.enable()
    outcomes = _Outcomes()
    try:
        importlib.import_module(f"modules.{plan['name']}")
    except BaseException:
        return {"outcome": "stillborn", "passed": [], "failed": []}
    _pytest(plan["tests"], variant["whole"], [outcomes])
    outcome = "failed" if outcomes.failed or not outcomes.passed else "passed"
    return {"outcome": outcome, "passed": [*outcomes.passed], "failed": [*outcomes.failed]}


def _child(plan: dict[str, Any], place: int, writer: int) -> None:
    """What the fork does; it never returns."""
    code = 1
    try:
        home = Path.cwd() / f"variant-{place}"
        home.mkdir()
        os.chdir(home)
        os.environ["HOME"] = os.environ["TMPDIR"] = str(home)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (1, 2):
            os.dup2(null, descriptor)
        _limit(plan["seconds"])
        data = json.dumps(_variant(plan, place)).encode()
        while data:
            data = data[os.write(writer, data) :]
        code = 0
    finally:
        os._exit(code)


class _Running:
    """One fork that is running."""

    def __init__(self, plan: dict[str, Any], place: int) -> None:
        self.place = place
        self.began = time.monotonic()
        self.seconds = 0.0
        self.data = b""
        self.reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.reader)
            _child(plan, place, writer)
        os.close(writer)

    def ended(self) -> bool:
        """Read what is there; at its end the fork is gone."""
        chunk = os.read(self.reader, 65536)
        self.data += chunk
        return not chunk

    def result(self) -> dict[str, Any]:
        """End it and say how it was."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        _, _, usage = os.wait4(self.pid, 0)
        self.seconds = usage.ru_utime + usage.ru_stime
        os.close(self.reader)
        shutil.rmtree(f"variant-{self.place}", ignore_errors=True)
        stopped: dict[str, Any] = {"outcome": "stopped", "passed": [], "failed": []}
        try:
            return json.loads(self.data) if self.data else stopped
        except ValueError:
            return stopped


def _run_first(plan: dict[str, Any], descriptor: int) -> float:
    """Run the first variant alone; the processor time that it took."""
    first = _Running(plan, 0)
    while time.monotonic() - first.began < _WALL * plan["seconds"]:
        if select.select([first.reader], [], [], 0.2)[0] and first.ended():
            break
    _tell(descriptor, {"event": "variant", "place": 0, **first.result()})
    return first.seconds


def _run_all(plan: dict[str, Any], descriptor: int) -> None:
    # the first is the module as it is: what it takes bounds the others, so that a loop without an end is soon stopped
    plan["seconds"] = min(plan["seconds"], max(_LEAST_SECONDS, _TIMES * _run_first(plan, descriptor)))
    waiting = [*range(1, len(plan["variants"]))]
    running: dict[int, _Running] = {}
    while waiting or running:
        while waiting and len(running) < plan["jobs"]:
            started = _Running(plan, waiting.pop(0))
            running[started.reader] = started
        ready = set(select.select([*running], [], [], 0.2)[0])
        now = time.monotonic()
        for reader, fork in [*running.items()]:
            late = now - fork.began > _WALL * plan["seconds"]
            if (reader in ready and fork.ended()) or late:
                del running[reader]
                _tell(descriptor, {"event": "variant", "place": fork.place, **fork.result()})


def _tell(descriptor: int, event: dict[str, Any]) -> None:
    line = json.dumps(event).encode() + b"\n"
    while line:
        line = line[os.write(descriptor, line) :]


def _main(descriptor: int, listing: str) -> None:
    os.set_inheritable(descriptor, False)
    plan = json.loads(Path(listing).read_text(encoding="utf-8"))
    sys.argv = ["pytest"]
    sys.dont_write_bytecode = True
    sys.path.insert(0, plan["lib"])
    if plan["hypothesis"]:
        import hypothesis

        hypothesis.settings.register_profile("gate", derandomize=True, database=None, deadline=None)
        hypothesis.settings.load_profile("gate")
    # an empty run loads what pytest loads late, once for all forks
    Path("empty").mkdir()
    _pytest("empty", whole=True, plugins=[])
    # what is there is not looked at again in every fork
    gc.freeze()
    gc.disable()
    _run_all(plan, descriptor)


if __name__ == "__main__":
    _main(int(sys.argv[1]), sys.argv[2])
    os._exit(0)
