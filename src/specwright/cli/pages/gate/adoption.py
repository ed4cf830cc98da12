"""What came of adopting functions: each with what its draft lacks, then the counts (design: adoption)."""

from collections.abc import Iterable
from pathlib import Path

from specwright.cli.terminal.output import next_command
from specwright.domain.adoption.report import AdoptedFunction, AdoptionReport, AdoptionStatus, Evidence
from specwright.gate.terminal.output import counted
from specwright.gate.terminal.page import Page

_WORDS = {
    AdoptionStatus.COMPLETE: "drafted completely, not judged yet",
    AdoptionStatus.INCOMPLETE: "lack something",
    AdoptionStatus.INEXPRESSIBLE: "cannot be expressed",
}

_LABELS = {
    AdoptionStatus.COMPLETE: "draft complete  ",
    AdoptionStatus.INCOMPLETE: "draft incomplete",
    AdoptionStatus.INEXPRESSIBLE: "no draft        ",
}


def print_adoption(report: AdoptionReport, out: Path) -> None:
    """Print a report."""
    page = Page()
    for function in report.functions:
        _function(page, function)
    counts = [_count(AdoptionStatus(status), number) for status, number in report.counts().items() if number]
    page.line(f"{counted(len(report.functions), 'function')}: {', '.join(counts)}")
    if any(function.directory for function in report.functions):
        page.copy("none is judged yet: ", next_command("gate", out), 0)
    page.print()


def _count(status: AdoptionStatus, number: int) -> str:
    words = "lacks something" if number == 1 and status is AdoptionStatus.INCOMPLETE else _WORDS[status]
    return f"{number} {words}"


def _function(page: Page, function: AdoptedFunction) -> None:
    page.line(f"{_LABELS[function.status]}  {function.name}  {function.where}")
    if function.directory:
        page.line(_drafted(function), "  draft ".ljust(10))
        claimed = [one for one in function.statements if one.evidence is Evidence.CLAIMED]
        _items(page, "claimed", ((f"{one.text.rstrip('.')}: no run has shown it", "") for one in claimed))
    _items(page, "cannot", ((one.what, one.where) for one in function.obstacles))
    _items(page, "missing", ((f"{one.what}; write {one.instructions}", one.where) for one in function.gaps))
    _items(page, "remark", ((one, "") for one in function.remarks))


def _drafted(function: AdoptedFunction) -> str:
    shown = sum(one.evidence is not Evidence.CLAIMED for one in function.statements)
    said = f"{shown} of {counted(len(function.statements), 'statement')} shown"
    made = f"{counted(function.examples, 'example')}, {counted(function.tests, 'test')}"
    return f"{function.directory}: {said}, {made}"


def _items(page: Page, label: str, items: Iterable[tuple[str, str]]) -> None:
    for what, where in items:
        page.labelled(f"  {label} ".ljust(10), f"{what} ({where})" if where else what, labels=10)
