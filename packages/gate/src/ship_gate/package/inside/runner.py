"""The program of a run: imports the package, has pytest collect its tests, and does everything else in forks of that
process (design: package-gate).

Nothing of the package is loaded before the process is confined. What is reported is believed with the nonce of the job.
"""

import gc
import importlib
import io
import os
import signal
import sys
import time
import types
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from ship_gate.inside.confine import forbid_signals
from ship_gate.inside.frames import Link
from ship_gate.package.inside import boundaries, checks, draw
from ship_gate.package.inside.forks import Send, Work, forbid_other_forks, run_all

_SHOWN = 300
_JOBS = 2
_LOAD_SECONDS = 20
"""For the import of a module, and for a file of tests."""

# pytest and Hypothesis load these late; they are wanted before anything of a package is there
for _name in (
    "_pytest.assertion.rewrite",
    "_pytest.python",
    "_pytest.unittest",
    "_pytest.raises",
    "_pytest.skipping",
):
    importlib.import_module(_name)


def run(link: Link, plan: dict[str, Any]) -> None:
    """Judge what the job names; every fact is reported as it is found."""
    job, _ = link.receive()
    send = link.marked(job.pop("nonce"))
    work = Path(str(plan["job"])).read_text(encoding="utf-8")
    Session(checks.json_loads(work), send, Path(plan["scratch"])).run()
    send({"event": "end"})


class Session:
    """One run over a package.

    Args:
        job: `root`, `source`, `site`, `modules`, `functions`, `seconds`, `ignored`.
        send: Reports.
        scratch: May be written to.
    """

    def __init__(self, job: dict[str, Any], send: Send, scratch: Path) -> None:
        self._job = job
        self.send = send
        self._scratch = scratch
        self._until = time.monotonic() + float(job["seconds"])
        self._functions: dict[int, Any] = {}

    def run(self) -> None:
        """Import, collect, and judge."""
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(self._scratch / "hypothesis")
        draw.warm_up()
        _silence()
        signal.signal(signal.SIGALRM, _stop)
        self._arrange_imports()
        if self._job["sandbox"] != "none":
            forbid_signals()
        forbid_other_forks()
        os.chdir(self._job["root"])
        own = {name.partition(".")[0] for name in self._job["modules"]}
        for name in self._job["modules"]:
            self.send({"event": "importing", "name": name})
            try:
                signal.setitimer(signal.ITIMER_REAL, _LOAD_SECONDS)
                importlib.import_module(name)
            except BaseException as error:  # code of the package runs, which may raise anything
                of_whom = (getattr(error, "name", None) or name).partition(".")[0]
                lacks = isinstance(error, ModuleNotFoundError) and of_whom not in own
                self.send(
                    {"event": "unimported", "name": name, "message": checks.said(error), "lacks": lacks}
                )
        signal.setitimer(signal.ITIMER_REAL, 0)
        plugin = _Collector(self)
        for options in self._options():
            stderr = sys.stderr = io.StringIO()
            self.send({"event": "collecting", "name": ""})
            try:
                code = pytest.main(options, plugins=[plugin])
            except BaseException as error:  # so may a conftest or a plugin
                code, stderr = 3, io.StringIO(checks.said(error))
            if plugin.has_run:
                return
            text = stderr.getvalue().strip()[-_SHOWN:] or f"pytest ended with {int(code)}"
            self.send({"event": "uncollected", "name": "", "message": text})
        self.judge([])

    def _arrange_imports(self) -> None:
        root, source = str(self._job["root"]), str(self._job["source"])
        tops = {name.partition(".")[0] for name in self._job["modules"]}
        # a package that pytest or Hypothesis use themselves is loaded again, from the tree
        for name in [name for name in sys.modules if name.partition(".")[0] in tops]:
            del sys.modules[name]
        # as when a project is tested with its folder on the path
        sys.path[:0] = list(dict.fromkeys([source, root]))
        sys.path += self._job["site"]
        sys.argv = ["pytest"]

    def _options(self) -> list[list[str]]:
        common = ["-q", "-o", "addopts=", f"--rootdir={self._job['root']}", "--capture=no", "--tb=short"]
        common += ["-W", "ignore::pytest.PytestConfigWarning"]
        for blocked in (
            "cacheprovider",
            "shipgate",
            "randomly",
            "faulthandler",
            "unraisableexception",
            "threadexception",
        ):
            common += ["-p", f"no:{blocked}"]
        common += [f"--ignore={name}" for name in self._job["ignored"]]
        if mode := self._job["import_mode"]:
            common.append(f"--import-mode={mode}")
        plain = [*common, "-c", os.devnull, "--disable-plugin-autoload", "--noconftest"]
        return [common, plain]

    def judge(self, items: list[pytest.Item]) -> None:
        """Everything after the collection, in forks."""
        draw.warm_up()
        self._functions = self._find_functions()
        known = {function.__code__: key for key, function in self._functions.items()}
        examples = checks.examples_of(self._job["modules"])
        self.send(
            {
                "event": "collected",
                "tests": [item.nodeid for item in items],
                "examples": [example.name for example in examples],
                "functions": sorted(self._functions),
            }
        )
        run = checks.Checks(items, examples, known, self.send, str(self._job["root"]))
        run_all(run.baseline(), _JOBS, self._until)
        self.send({"event": "baseline"})
        wanted = [one for one in self._job["functions"] if one["key"] in self._functions]
        for one in wanted:
            run_all(deque(run.faults(one, self._functions[one["key"]])), _JOBS, self._until)
        for one in wanted:
            run_all(deque([self._drawn(one, run)]), 1, self._until)
        for one in wanted:
            self._compare(one, run)

    def _compare(self, one: dict[str, Any], run: checks.Checks) -> None:
        """Excuse the faults at a boundary that no check notices because no input can tell them from the function."""
        key, function = one["key"], self._functions[one["key"]]
        faults = {n: one["faults"][n] for n in run.unnoticed.get(key, ()) if n in one["boundaries"]}
        if faults:
            drawing = draw.Drawing(one, function, run.observed.get(key, {}))
            compared = boundaries.Boundaries(drawing, function, faults, checks.replaced)
            run_all(deque(compared.works()), _JOBS, self._until)
            for judged in compared.judged():
                self.send({"event": "fault", "key": key, **judged})

    def _drawn(self, one: dict[str, Any], run: checks.Checks) -> Work:
        key = one["key"]

        last = [""]

        def tell(message: dict[str, Any]) -> None:
            if "calling" in message:
                last[0] = message["calling"]
            else:
                self.send({**message, "event": "drawn", "key": key})

        def ended(how: str) -> None:
            if how:
                self.send({"event": "drawn", "key": key, "ended": how, "call": last[0]})

        work = draw.Drawing(one, self._functions[key], run.observed.get(key, {}))
        return Work(work.run, tell, ended, draw.SILENCE, 3 * draw.SECONDS)

    def _find_functions(self) -> dict[int, types.FunctionType]:
        """The function objects of the public functions, whatever decorates them."""
        wanted = {
            (one["file"], one["begins"], one["qualname"].rpartition(".")[2]): one["key"]
            for one in self._job["functions"]
        }
        found: dict[int, types.FunctionType] = {}
        for one in gc.get_objects():
            if type(one) is types.FunctionType:
                code = one.__code__
                key = wanted.get((code.co_filename, code.co_firstlineno, code.co_name))
                if key is not None and one.__globals__.get("__name__") in sys.modules:
                    found[key] = one
        return found


class _Collector:
    """Takes over from pytest once the tests are collected."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.has_run = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        """Say which file is loaded, in case that it ends the process."""
        if isinstance(collector, pytest.Module):
            signal.setitimer(signal.ITIMER_REAL, _LOAD_SECONDS)
            self._session.send({"event": "collecting", "name": collector.nodeid})

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be loaded."""
        if report.failed:
            text = report.longreprtext.strip().splitlines()
            self._session.send(
                {"event": "uncollected", "name": report.nodeid, "message": (text or [""])[-1][:_SHOWN]}
            )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge, in place of pytest's own loop."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.has_run = True
        self._session.judge(list(session.items))
        return True


def _stop(*_: object) -> None:
    raise TimeoutError(f"it did not come to its end within {_LOAD_SECONDS} seconds")


def _silence() -> None:
    """What a package prints goes nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.close(null)
