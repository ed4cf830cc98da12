"""Falsifying tests: their results, which are active, and which are kept with a sealed version (design: falsifying-tests).

A test that fails on the module is a counterexample: it is reproducible and shows none of the module's source. It is
active until the Arbiter strikes it, in every later round and at the ship gate, as long as the contract is the one that it
was written against.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import Field

from ship_gate.base.record import OmittedIfEmpty, Sha256
from ship_gate.contract.contract import MISSING, MicroModuleContract
from ship_gate.contract.falsifying_tests import FalsifyingTest, RegressionTest
from specwright.domain.answers import (
    MAX_FALSIFYING_TESTS,
    ChallengerAnswer,
    Failure,
    StruckTest,
    Verdict,
)
from specwright.domain.base.vagueness import MIN_WORDS, is_vague


class TriedTest(OmittedIfEmpty):
    """A falsifying test and what code saw when it ran.

    Args:
        contract_sha256: Of the whole contract that it was written against.
        message: What failed, as the test's process saw it; empty if nothing did.
        criteria: Of the task, by their numbers, that it tries.
    """

    omitted = ("criteria",)

    name: str
    obligation: str
    source: str
    contract_sha256: Sha256
    result: Verdict
    message: Annotated[str, Field(max_length=4000)] = ""
    criteria: list[int] = Field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether it is a counterexample."""
        return self.result is Verdict.FAIL

    @property
    def test(self) -> FalsifyingTest:
        """As the Challenger wrote it."""
        return FalsifyingTest(
            name=self.name, obligation=self.obligation, source=self.source, criteria=self.criteria
        )

    @property
    def about(self) -> str:
        """What it tries, in words."""
        numbers = ", ".join(map(str, self.criteria))
        named = f" and {_criteria(self.criteria)} {numbers}" if numbers else ""
        return f"{self.obligation or 'the purpose'}{named}"


def _criteria(numbers: Collection[int]) -> str:
    return "criterion" if len(numbers) == 1 else "criteria"


def asked_criteria(count: int, settled: Collection[int], earlier: Collection[int]) -> list[int]:
    """The criteria for which a Challenger is asked for a test, as many as one answer may hold tests.

    Args:
        count: How many criteria the task has.
        settled: Those that an approved example or property shows, and those that a ruling set aside.
        earlier: Those that an earlier test tries, or of which an earlier answer said why none does.
    """
    due = [number for number in range(1, count + 1) if number not in settled and number not in earlier]
    return due[:MAX_FALSIFYING_TESTS]


def untested_problems(answer: ChallengerAnswer, asked: Collection[int], count: int) -> Iterator[str]:
    """Criteria that an answer was asked to test and says nothing of, and numbers that no criterion has.

    Args:
        answer: The Challenger's.
        asked: The criteria that its request names.
        count: How many criteria the task has.
    """
    if not asked:
        return
    tried = [number for test in answer.falsifying_tests for number in test.criteria]
    untested = [one.criterion for one in answer.untested_criteria]
    unshown = [one.criterion for one in answer.unshown_criteria]
    for i, one in enumerate(answer.untested_criteria):
        if is_vague(one.reason):
            yield f"untested_criteria.{i}.reason: say why, in {MIN_WORDS} words or more"
    if wrong := sorted({number for number in (*tried, *untested) if number > count}):
        numbers = ", ".join(map(str, wrong))
        yield f"falsifying_tests: there is no criterion {numbers}; the task has {count}, numbered from 1"
    if left := [number for number in asked if number not in {*tried, *untested, *unshown}]:
        numbers = ", ".join(map(str, left))
        yield (
            f"falsifying_tests: no test tries {_criteria(left)} {numbers}; hand in one for each, with the number in its "
            "`criteria`, or say in `untested_criteria` why there is none"
        )


def counterexample(tried: TriedTest) -> Failure:
    """The failure that a failed test shows."""
    return Failure(
        invariant=f"{tried.obligation or 'the purpose'}: the falsifying test {tried.name} passes",
        evidence=f"{tried.name} fails when it is run:\n{tried.source.strip()}\n\n{tried.message.strip()}",
        required_change=f"Correct the module so that {tried.name} passes; keep what the contract says.",
    )


def is_counterexample(invariant: str) -> bool:
    """Whether a failure with this invariant was shown by a falsifying test."""
    return ": the falsifying test " in invariant


def named_in(failure: Failure, tests: Iterable[str]) -> list[str]:
    """The tests that a failure names in its text, by their whole name."""
    text = f"{failure.invariant} {failure.evidence} {failure.required_change}"
    return [name for name in tests if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


def naming_problems(tests: Iterable[FalsifyingTest], earlier: Iterable[TriedTest]) -> list[str]:
    """Tests with the name of an earlier one, which is run again anyway."""
    taken = {tried.name for tried in earlier}
    return [
        f"falsifying_tests.{i}.name: {test.name} is a test of an earlier round; take another name, and do not repeat it"
        for i, test in enumerate(tests)
        if test.name in taken
    ]


def active_tests(
    tried: Iterable[TriedTest], struck: Iterable[StruckTest], contract_sha256: str
) -> list[TriedTest]:
    """The tests that a deliverable must still pass: those under the present contract that were not struck."""
    names = {one.test for one in struck}
    return [one for one in tried if one.name not in names and one.contract_sha256 == contract_sha256]


def strike_problems(
    struck: Iterable[StruckTest], failed: Iterable[TriedTest], contract: MicroModuleContract
) -> list[str]:
    """Why strikes are refused: no such test, no such statement in the contract, or no reason (design: falsifying-tests)."""
    names, problems = [one.name for one in failed], list[str]()
    for i, one in enumerate(struck):
        if one.test not in names:
            known = ", ".join(names) or "none"
            problems.append(
                f"struck_tests.{i}.test: {one.test!r} is no failed test of this round; these are: {known}"
            )
        if contract.at(one.contract_pointer) is MISSING:
            problems.append(
                f"struck_tests.{i}.contract_pointer: the contract of {contract.name} has no {one.contract_pointer}"
            )
        if is_vague(one.reason):
            problems.append(f"struck_tests.{i}.reason: say why, in {MIN_WORDS} words or more")
    return problems


_LOOKED_AT = {
    "outputs": ("inputs", "outputs", "modes"),
    "error_surfaces": ("inputs", "error_surfaces", "modes"),
    "effects": ("inputs", "effects", "modes"),
}
"""What a test of a statement looks at, by the dimension of the statement: it calls the module, and sees that dimension."""

_ALL = ("purpose", "inputs", "outputs", "error_surfaces", "effects", "modes")


def as_regression_tests(
    tried: Iterable[TriedTest], criteria: Sequence[str], since: str
) -> list[RegressionTest]:
    """The tests of a debate as they are kept.

    Args:
        tried: Active when the version was sealed.
        criteria: Of the task.
        since: The version.
    """
    return [
        RegressionTest(
            name=one.name,
            obligation=one.obligation,
            source=one.source,
            contract_sha256=one.contract_sha256,
            criteria=[criteria[number - 1] for number in one.criteria if number <= len(criteria)],
            since=since,
        )
        for one in tried
    ]


def still_counting(
    tests: Iterable[RegressionTest], before: MicroModuleContract, after: MicroModuleContract
) -> list[RegressionTest]:
    """The kept tests that count for a later version: nothing that they look at has changed in the contract.

    Args:
        tests: Of the version before.
        before: Its contract.
        after: That of the later version.
    """
    was, now = before.to_json(), after.to_json()

    def untouched(test: RegressionTest) -> bool:
        looked_at = _LOOKED_AT.get(test.obligation.split("/")[1] if test.obligation else "", _ALL)
        return all(was[field] == now[field] for field in looked_at)

    return [test for test in tests if untouched(test)]
