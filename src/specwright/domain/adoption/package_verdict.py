"""What came of judging the functions of a package: what is shown, what is only claimed, what nobody shows (design:
package)."""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from specwright.domain.adoption.report import (
    AdoptedFunction,
    AdoptionStatus,
    Evidence,
    IgnoredTest,
    Obstacle,
)


class FunctionResult(StrEnum):
    """What came of a function."""

    SHOWN = "SHOWN"
    """The gate would ship it: everything that it states is shown."""
    UNSTATED = "UNSTATED"
    """The gate would ship it, and its documents state nothing beyond its types that could be shown."""
    UNSHOWN = "UNSHOWN"
    """Nothing is wrong that was seen, and something that it states is not shown."""
    WRONG = "WRONG"
    """A run or the source shows that something is not as it is stated."""
    INEXPRESSIBLE = "INEXPRESSIBLE"
    """No contract can say what it does, so it was not judged."""
    UNJUDGED = "UNJUDGED"
    """The time was over."""


class PackageResult(StrEnum):
    """What came of all functions together."""

    PASS = "PASS"  # noqa: S105 - a verdict, no password
    """Every function is shown, but for those that somebody accepted as not judged."""
    PARTIAL = "PARTIAL"
    """Nothing fails, and nothing was said of some functions: the verdict does not speak for them."""
    FAIL = "FAIL"
    """Something is wrong, not shown, or was not judged in time."""


MISSING, REFUTED, UNSTATED, INEXPRESSIBLE = "missing", "refuted", "unstated", "inexpressible"
"""The codes of findings that only the judgement of a source tree has."""


class FunctionFinding(NamedTuple):
    """A finding of the gate at its place in the source."""

    code: str
    where: str
    message: str


class FunctionTests(NamedTuple):
    """The tests of a function.

    Args:
        found: Tests of the source that call it.
        used: Those that were run with it.
        run: Cases that were run: of these, and of its documented examples.
        passed: Cases that passed.
        ignored: The tests that need more of the source than this function.
    """

    found: int = 0
    used: int = 0
    run: int = 0
    passed: int = 0
    ignored: tuple[IgnoredTest, ...] = ()


class FunctionVerdict(NamedTuple):
    """A function of the package.

    Args:
        name: Dotted.
        where: File and line.
        result: What came of it.
        shown: The statements that something shows.
        claimed: The statements that nothing shows.
        unshown: What nobody states or tests: gaps, and findings that say that tests are missing or weak.
        wrong: What is not as it is stated.
        obstacles: What no contract can say.
        seconds: That it took.
        is_unchanged: Whether all this is from an earlier run.
        accepted: Why it need not be judged, of one that no contract can express; empty if nobody said so.
        tests: Those of the source that call it.
    """

    name: str
    where: str
    result: FunctionResult
    shown: tuple[str, ...] = ()
    claimed: tuple[str, ...] = ()
    unshown: tuple[FunctionFinding, ...] = ()
    wrong: tuple[FunctionFinding, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    seconds: float = 0.0
    is_unchanged: bool = False
    accepted: str = ""
    tests: FunctionTests = FunctionTests()

    @property
    def is_left_open(self) -> bool:
        """Whether nothing is said of it, for good or ill, and nobody accepted that."""
        return self.result is FunctionResult.UNSTATED or (
            self.result is FunctionResult.INEXPRESSIBLE and not self.accepted
        )


class PackageVerdict(NamedTuple):
    """The functions of a package, in the order of their files."""

    package: str
    functions: tuple[FunctionVerdict, ...]

    def counts(self) -> dict[str, int]:
        """How many functions came to what."""
        return {str(result): sum(one.result is result for one in self.functions) for result in FunctionResult}

    def result(self, *, allows_unshown: bool) -> PackageResult:
        """What came of all together.

        Args:
            allows_unshown: Whether it is enough that nothing is wrong; what is not shown is left open then.
        """
        results = {one.result for one in self.functions}
        failing = {FunctionResult.WRONG, FunctionResult.UNJUDGED}
        if not allows_unshown:
            failing.add(FunctionResult.UNSHOWN)
        if results & failing:
            return PackageResult.FAIL
        is_open = any(one.is_left_open for one in self.functions)
        if is_open or FunctionResult.UNSHOWN in results or FunctionResult.SHOWN not in results:
            return PackageResult.PARTIAL
        return PackageResult.PASS

    def succeeds(self, *, allows_unshown: bool) -> bool:
        """Whether a build goes on: with PASS, or, if it is enough that nothing is wrong, with PARTIAL."""
        result = self.result(allows_unshown=allows_unshown)
        return result is PackageResult.PASS or (allows_unshown and result is PackageResult.PARTIAL)


_TOO_LITTLE = (
    "obligations.",
    "strength.",
    "examples.uncovered",
    "tests.none",
    "tests.vacuous",
    "contract.rule",
)
"""The findings that say that something is not shown; all others say that something is wrong."""


def function_verdict(
    record: AdoptedFunction, findings: tuple[FunctionFinding, ...], seconds: float
) -> FunctionVerdict:
    """What an adoption and the gate's findings on its draft come to.

    Args:
        record: Of the adoption.
        findings: Of the gate, at their places in the source; none where there is no draft.
        seconds: That both took.
    """
    base = FunctionVerdict(record.name, record.where, FunctionResult.INEXPRESSIBLE, seconds=seconds)
    if record.status is AdoptionStatus.INEXPRESSIBLE:
        return base._replace(obstacles=record.obstacles)
    findings = (*_without_repeats(findings),)
    gaps = [
        (
            gap.refuted,
            FunctionFinding(REFUTED if gap.refuted else MISSING, gap.where, f"{gap.what}; write {gap.write}"),
        )
        for gap in record.gaps
        if not _met_by_fuzz(gap.what, findings)
    ]
    wrong = [one for is_wrong, one in gaps if is_wrong]
    wrong += [one for one in findings if not one.code.startswith(_TOO_LITTLE)]
    lacking = [one for is_wrong, one in gaps if not is_wrong]
    lacking += [one for one in findings if one.code.startswith(_TOO_LITTLE) and not _is_gap(one, record)]
    said = [one for one in record.statements if one.pointer]  # the purpose is prose
    shown = tuple(one.text for one in said if one.evidence is not Evidence.CLAIMED)
    claimed = tuple(one.text for one in said if one.evidence is Evidence.CLAIMED)
    result = FunctionResult.WRONG if wrong else FunctionResult.UNSHOWN if lacking else FunctionResult.SHOWN
    if not record.is_stated and not any(_NO_EXAMPLE in one.message for one in lacking):
        lacking.append(FunctionFinding(UNSTATED, record.where, _NOTHING_STATED.format(record.short_name)))
        result = FunctionResult.UNSTATED if result is FunctionResult.SHOWN else result
    refused = sum(gap.what.startswith("its test") for gap in record.gaps)
    tests = FunctionTests(record.taken + refused + len(record.ignored), record.taken, ignored=record.ignored)
    return base._replace(
        result=result, shown=shown, claimed=claimed, unshown=(*lacking,), wrong=(*wrong,), tests=tests
    )


_NO_EXAMPLE = "no example calls "
_NOTHING_STATED = (
    "nothing is stated but its types; shown is that it keeps to them, has no other effect and raises no undeclared error, "
    "and that its tests notice small faults, not that it does what its name says; write an example into the docstring "
    "(`>>> {}(...)`, below it what comes of it), and what it refuses under `Raises`"
)
_STRENGTH = "strength.function"
_RAISES = re.compile(r"\braises ([A-Z]\w*)")
_FAULT = re.compile(r"^  (?!and \d+ more$).+$", re.MULTILINE)


def _without_repeats(findings: tuple[FunctionFinding, ...]) -> Iterator[FunctionFinding]:
    """Findings without those of single functions whose faults the finding of all of them lists."""
    listed = {
        fault for one in findings if one.code == "strength.weak" for fault in _FAULT.findall(one.message)
    }
    for one in findings:
        faults = _FAULT.findall(one.message)
        if one.code != _STRENGTH or not faults or not listed.issuperset(faults):
            yield one


def _met_by_fuzz(what: str, findings: Iterable[FunctionFinding]) -> bool:
    """Whether the gate's own inputs met the undeclared error that a gap tells of."""
    if not what.endswith(", and nothing states it"):
        return False
    raised = _RAISES.findall(what)
    return any(
        one.code == "fuzz.counterexample" and set(raised) & set(_RAISES.findall(one.message))
        for one in findings
    )


def _is_gap(finding: FunctionFinding, record: AdoptedFunction) -> bool:
    """Whether a finding says what a gap says already: a test or an example is missing."""
    if finding.code == "obligations.uncovered":
        return True
    return finding.code == "examples.uncovered" and any(
        finding.message.startswith(gap.what) for gap in record.gaps
    )
