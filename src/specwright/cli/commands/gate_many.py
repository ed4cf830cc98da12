"""`specwright gate` on many modules: in parallel, within a time, with reports for other programs."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from specwright.cli.terminal.output import check_report, note, show, write_report

if TYPE_CHECKING:
    from specwright.bootstrap.gate_batch import JudgedModule


class ManyOptions(NamedTuple):
    """The options of the command for many modules.

    Args:
        jobs: Modules at a time.
        seconds: After which no further one is begun.
        passed: The file with those that need not be judged again.
        reports: The file of each kind of report.
    """

    jobs: int | None
    seconds: float | None
    passed: Path | None
    reports: Mapping[str, Path]


def judge_many(directories: Sequence[Path], options: ManyOptions, *, as_json: bool) -> None:
    """Judge them, print, and write the reports; 0 if all pass, else 1.

    Raises:
        InputError: no module in a place, or a file that cannot be written.
        Exit: always.
    """
    from specwright.bootstrap.gate_batch import BatchLimits, judge_all, modules_in

    began, found = time.monotonic(), modules_in(directories)
    _check_reports(options.reports)
    limits = BatchLimits(seconds=options.seconds, passed=options.passed)
    if options.jobs:
        limits = limits._replace(jobs=options.jobs)
    modules = judge_all(found, limits, _teller(len(found)))
    _report(modules, options.reports)
    _present(modules, time.monotonic() - began, options, as_json=as_json)
    raise typer.Exit(0 if all(module.result in ("PASS", "UNCHANGED") for module in modules) else 1)


def _present(
    modules: "Sequence[JudgedModule]", seconds: float, options: ManyOptions, *, as_json: bool
) -> None:
    from specwright.cli.pages.gate_many import gates_document, print_modules

    if as_json:
        show(gates_document(modules), "gates")
    elif Path("-") not in options.reports.values():
        print_modules(modules, seconds)


def _teller(every: int) -> "Callable[[JudgedModule], None]":
    """Tells on a terminal of each module as it ends."""
    from specwright.cli.pages.gate_many import line_of

    ended = list["JudgedModule"]()

    def tell(module: "JudgedModule") -> None:
        ended.append(module)
        if sys.stderr.isatty():
            note(f"{len(ended)} of {every}  {line_of(module)}")

    return tell


def _check_reports(wanted: Mapping[str, Path]) -> None:
    from specwright.cli.reports import badge, junit, sarif

    begins = {"sarif": sarif.BEGINS, "junit": junit.BEGINS, "badge": badge.BEGINS}
    for kind, path in wanted.items():
        check_report(path, begins[kind])


def _report(modules: "Sequence[JudgedModule]", wanted: Mapping[str, Path]) -> None:
    from specwright.cli.reports.badge import badge
    from specwright.cli.reports.junit import junit_report
    from specwright.cli.reports.sarif import sarif_report

    kinds = {
        "sarif": lambda: sarif_report(modules, Path.cwd()),
        "junit": lambda: junit_report(modules),
        "badge": lambda: badge(modules),
    }
    for kind, path in wanted.items():
        write_report(path, kinds[kind]())
