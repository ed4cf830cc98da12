"""Runs the tests once for each variant of a module, each in a process of its own (design: ship-gate).

pytest is started once, up to the place where it would collect; a variant's process is a fork of that, which collects and
runs. Nothing of the candidate is loaded before the fork, so a variant costs its tests and little more. What a process
may use is bounded, an endless loop by processor time. A fork reports on itself alone: it holds neither the link to the
gate nor another fork's pipe, and the names of its folders tell it nothing.

The files on disk stay as they are: a loader gives the text of the variant in place of one of them.
"""

import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random  # noqa: TID251 - its seed is set, so that every run draws the same
import sys
import tempfile
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NoReturn

import pytest

from ship_gate.inside.drawing import use_fixed_profile
from ship_gate.inside.frames import Link
from ship_gate.inside.observation.clock import ModuleClock, install, offer
from ship_gate.inside.observation.databases import shorten_waits
from ship_gate.inside.variants.forks import Forked, limit, run_all, write
from ship_gate.inside.web.client import lead_to
from ship_gate.inside.web.script import Web


def _replace_file(lib: str, name: str, path: str, source: str) -> None:
    """From now on a file of the module is this text.

    Args:
        lib: Holds `modules`.
        name: The module's.
        path: `implementation/__init__.py`, or another file below `implementation/`.
        source: The whole file.
    """
    below = Path(path).relative_to("implementation")
    parts = [part for part in below.with_suffix("").parts if part != "__init__"]
    file = Path(lib, "modules", name, below)
    sys.meta_path.insert(0, _Finder(".".join(["modules", name, *parts]), file, source))


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


# pytest loads these late; they are wanted once, before the forks
for _name in ("python", "raises", "skipping", "unittest"):
    importlib.import_module(f"_pytest.{_name}")


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
        write(self._writer, json.dumps(result).encode())
        os._exit(0)


class _Variants:
    """Replaces the collection of a session: there it forks, once for each variant.

    Args:
        link: Brings the job, and takes what is reported.
        plan: Of this process.
    """

    def __init__(self, link: Link, plan: dict[str, Any]) -> None:
        self._link = link
        self._plan = plan
        self.outcomes: _Outcomes | None = None
        self._clock = ModuleClock()
        self._web = Web(self._clock.stand)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        try:
            job, _ = self._link.receive()
        except EOFError:
            # the gate does not need it any more
            os._exit(0)
        send = self._link.marked(job.pop("nonce"))
        work = json.loads(Path(self._plan["listing"]).read_text(encoding="utf-8"))
        if any(b"sqlite3" in path.read_bytes() for path in Path(self._plan["lib"]).rglob("*.py")):
            shorten_waits(self._clock)
        if work["web"]:
            for name in ("ssl", "socket", "urllib.request"):
                importlib.import_module(name)
        # keep the collector from looking at what is loaded already in every fork
        gc.freeze()
        gc.disable()
        forked = run_all(work, send)
        if forked is None:
            send({"event": "end"})
            os._exit(0)
        for descriptor in (self._plan["from_gate"], self._plan["to_gate"]):
            os.close(descriptor)
        self.outcomes = _Outcomes(forked.writer, whole=work["variants"][forked.place]["whole"])
        _become(work, forked, self.outcomes, self._clock, self._web)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._clock.clear()
        self._web.clear()

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


def _become(work: dict[str, Any], forked: Forked, outcomes: _Outcomes, clock: ModuleClock, web: Web) -> None:
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
        limit(work["seconds"])
        variant = work["variants"][forked.place]
        _replace_file(work["lib"], work["name"], variant["path"], variant["source"])
        random.seed(0)
        gc.enable()
    except BaseException:
        os._exit(1)
    try:
        install(clock)
        importlib.import_module(f"modules.{work['name']}")
        offer(clock=clock)
        if work["web"]:
            lead_to(web, clock)
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


def run(link: Link, plan: dict[str, Any]) -> None:
    """Start pytest, and run the variants of the job when it comes."""
    sys.argv = ["pytest"]
    sys.dont_write_bytecode = True
    sys.path.insert(0, plan["lib"])
    if plan["draws"]:
        use_fixed_profile(shrinks=False)
    variants = _Variants(link, plan)
    _session(plan["tests"], variants)
    if variants.outcomes:
        variants.outcomes.tell()
