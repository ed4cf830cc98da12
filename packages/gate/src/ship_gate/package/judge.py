"""Judges a package in place: what `shipgate package` does (design: package-gate)."""

import time
from collections.abc import Callable
from pathlib import Path

from ship_gate.base.text import did_you_mean
from ship_gate.errors import InputError
from ship_gate.package.reports import PackageReport
from ship_gate.package.run import run_package
from ship_gate.package.tree import find_tree
from ship_gate.package.verdict import verdict_of
from ship_gate.sandbox.kind import Sandbox, chosen_sandbox
from ship_gate.settings import load_gate_settings


def judge_package(
    directory: Path,
    *,
    function: str = "",
    seconds: float = 120.0,
    strict: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> PackageReport:
    """Judge the public functions of a project, a package or a module.

    Args:
        directory: It.
        function: The one function that is judged, by its name or with its module; empty for all.
        seconds: For all of it; what is not done by then is not shown.
        strict: Whether what is not shown is an error too.
        tell: Takes what is being done, in a line.

    Raises:
        InputError: there is nothing that can be imported, or no such function.
        ShipGateError: there is no sandbox, or the process could not be started.
    """
    began = time.monotonic()
    tree = find_tree(directory)
    sandbox = Sandbox(chosen_sandbox(load_gate_settings(tree.root).sandbox))
    run = run_package(tree, sandbox, seconds, function, tell)
    if function and not run.api.functions:
        raise InputError(
            "; ".join(
                (f"there is no public function {function!r}", *(one.message for one in run.api.findings))
            ),
            where=str(directory),
            remedy=f"{did_you_mean(function, run.published)}`--json` without --function lists all",
        )
    return PackageReport(verdict_of(run, tree.names), tree.root, time.monotonic() - began, strict)
