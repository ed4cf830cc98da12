"""What came of a package on one page: what is wrong, what is only claimed, what nobody shows, what is shown (design:
package)."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from specwright.domain.adoption.package_verdict import (
    FunctionFinding,
    FunctionResult,
    FunctionVerdict,
    PackageVerdict,
)
from specwright.domain.base.text import one_line
from specwright.gate.terminal.output import counted
from specwright.gate.terminal.page import Page

if TYPE_CHECKING:
    from specwright.bootstrap.gate.package import JudgedPackage

_WORDS = {
    FunctionResult.SHOWN: "shown",
    FunctionResult.UNSTATED: "shown, but nothing is stated",
    FunctionResult.UNSHOWN: "not all shown",
    FunctionResult.WRONG: "wrong",
    FunctionResult.INEXPRESSIBLE: "not expressible",
    FunctionResult.UNJUDGED: "not judged in time",
}
_FUNCTIONS = 12
"""Functions of a section; the rest is in the document of `--json`."""
_ITEMS = 3
"""Lines of a function."""


def print_package(judged: "JudgedPackage", seconds: float, *, allows_unshown: bool) -> None:
    """Print a verdict."""
    page = Page()
    verdict = judged.verdict
    functions = verdict.functions
    counts = [
        f"{number} {_WORDS[FunctionResult(name)]}" for name, number in verdict.counts().items() if number
    ]
    result, number = verdict.result(allows_unshown=allows_unshown), counted(len(functions), "function")
    page.line(f"{result}  {verdict.package}  {number}: {', '.join(counts)}")
    wrong = [one for one in functions if one.wrong]
    _section(page, "Wrong", ((one, list(_lines(one.wrong))) for one in wrong), len(wrong))
    claimed = [one for one in functions if one.claimed]
    _section(page, "Claimed, and seen by no run", ((one, list(one.claimed)) for one in claimed), len(claimed))
    unstated = [one for one in functions if one.result is FunctionResult.UNSTATED]
    _section(page, "Nothing is stated", ((one, list(_lines(one.unshown))) for one in unstated), len(unstated))
    unshown = [one for one in functions if one.unshown and one.result is not FunctionResult.UNSTATED]
    _section(page, "Nobody shows", ((one, list(_lines(one.unshown))) for one in unshown), len(unshown))
    _not_judged(page, functions)
    _unused_tests(page, functions)
    shown = [one for one in functions if one.result is FunctionResult.SHOWN]
    if shown:
        page.heading("Shown")
        page.prose(_names(shown), 2)
    if judged.needless:
        page.heading("Can be judged after all; take them out of tool.specwright.not-judged in pyproject.toml")
        page.prose(", ".join(judged.needless), 2)
    again = sum(one.is_unchanged for one in functions)
    as_before = f", {again} as they were and not judged again" if again else ""
    page.line()
    page.line(tests_line(verdict))
    page.line(
        f"{counted(sum(len(one.shown) for one in functions), 'statement')} shown, {seconds:.1f} s{as_before}"
    )
    page.print()


def _not_judged(page: Page, functions: Sequence[FunctionVerdict]) -> None:
    outside = [one for one in functions if one.obstacles and not one.accepted]
    _section(
        page,
        "Not judged: no contract can say",
        ((one, [f"{obstacle.where}  {obstacle.what}" for obstacle in one.obstacles]) for one in outside),
        len(outside),
    )
    accepted = [one for one in functions if one.accepted]
    _section(
        page,
        "Not judged, as pyproject.toml accepts",
        ((one, [one.accepted]) for one in accepted),
        len(accepted),
    )


def _unused_tests(page: Page, functions: Sequence[FunctionVerdict]) -> None:
    ignoring = [one for one in functions if one.tests.ignored]
    _section(
        page,
        "Tests that were not used",
        ((one, [f"{test.where}  {test.name}: {test.why}" for test in one.tests.ignored]) for one in ignoring),
        len(ignoring),
    )


def tests_line(verdict: PackageVerdict) -> str:
    """How many tests of the source call a function, how many were used, and what was run of them."""
    tests = [one.tests for one in verdict.functions]
    found, used, run, passed = (
        sum(one.found for one in tests),
        sum(one.used for one in tests),
        sum(one.run for one in tests),
        sum(one.passed for one in tests),
    )
    return (
        f"{counted(found, 'test')} of these functions found, {used} used; "
        f"{passed} of {counted(run, 'case')} passed, documented examples among them"
    )


def _names(functions: Sequence[FunctionVerdict]) -> str:
    named = ", ".join(one.name for one in functions[: 2 * _FUNCTIONS])
    more = len(functions) - 2 * _FUNCTIONS
    return f"{named} and {more} more" if more > 0 else named


def _lines(findings: Iterable[FunctionFinding]) -> Iterable[str]:
    return (f"{one.where}  {one.code}: {one.message}" for one in findings)


def _section(page: Page, title: str, items: Iterable[tuple[FunctionVerdict, list[str]]], number: int) -> None:
    if not number:
        return
    page.heading(title)
    for place, (function, texts) in enumerate(items):
        if place == _FUNCTIONS:
            page.line(f"  and {number - _FUNCTIONS} functions more; --json has them")
            break
        page.line(f"  {function.name}  {function.where}")
        for text in texts[:_ITEMS]:
            page.prose(one_line(text), 4, 2)
        if len(texts) > _ITEMS:
            page.line(f"    and {len(texts) - _ITEMS} more")
