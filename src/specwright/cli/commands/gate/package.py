"""`gate --package`: the gate on an ordinary source tree (design: package, command-line)."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from specwright.errors import InputError
from specwright.gate.terminal.output import note, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specwright.cli.commands.verify import BatchOptions
    from specwright.domain.adoption.package_verdict import FunctionVerdict


def judge_package_tree(
    directory: Path,
    options: "BatchOptions",
    functions: "Sequence[str]" = (),
    *,
    allows_unshown: bool,
    as_json: bool,
) -> None:
    """Judge the public functions of a source tree, print, and write the reports; 0 if the verdict is PASS, else 1; with
    --allow-unshown 0 if nothing is wrong.

    Raises:
        InputError: no package in the directory, no function of a name, or a file that cannot be written.
        Exit: always.
    """
    from specwright.bootstrap.gate.batch import BatchLimits
    from specwright.bootstrap.gate.package import judge_package, package_document
    from specwright.cli.commands.verify import check_reports, write_reports
    from specwright.cli.pages.gate.package import print_package

    if options.passed and options.passed.is_dir():
        raise InputError("it is a directory", where=str(options.passed), remedy="name a file")
    began = time.monotonic()
    check_reports(options.reports)
    limits = BatchLimits(seconds=options.seconds, passed=options.passed)
    if options.jobs:
        limits = limits._replace(jobs=options.jobs)
    judged = judge_package(directory, limits, _tell, functions)
    write_reports(judged.modules, options.reports)
    if as_json:
        show(package_document(judged, allows_unshown=allows_unshown), "package")
    elif Path("-") not in options.reports.values():
        print_package(judged, time.monotonic() - began, allows_unshown=allows_unshown)
    raise typer.Exit(0 if judged.verdict.succeeds(allows_unshown=allows_unshown) else 1)


def _tell(function: "FunctionVerdict") -> None:
    """Tells on a terminal of each function as it ends."""
    if sys.stderr.isatty():
        note(f"{function.result.ljust(13)}  {function.name}")
