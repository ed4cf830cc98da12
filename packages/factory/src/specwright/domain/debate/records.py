"""Records of a debate: proposal, challenge, adjudication and falsifying tests, and the bound on revisions (design: debate).

A challenge consists of the Challenger's answer and the results of its falsifying tests; a failed test makes it a FAIL. A
failed test is a counterexample: it is reproducible and shows no source of the module. Until the Arbiter strikes it or the
contract changes, it runs in every later round and at the ship gate.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field, model_validator

from ship_gate.base.ids import ArtifactId
from ship_gate.base.record import OmittedIfEmpty, Record, Sha256, Text
from ship_gate.contract.contract import MISSING, MicroModuleContract
from ship_gate.contract.independent_tests import FalsifyingTest, RegressionTest
from specwright.domain.answers import (
    MAX_FALSIFYING_TESTS,
    MIN_WORDS,
    Amendment,
    ArbiterAnswer,
    Assessment,
    ChallengerAnswer,
    ContractFault,
    Decision,
    Failure,
    FaultOf,
    SetAsideCriterion,
    ShipDirective,
    StruckTest,
    UnshownCriterion,
    UntestedCriterion,
    Verdict,
    check_review,
    check_ruling,
    is_vague,
)


class TriedTest(OmittedIfEmpty):
    """A falsifying test and its result.

    Args:
        contract_sha256: The hash of the contract that it was written against.
        message: The failure, as the test's process reported it; empty if the test passed.
        criteria: The numbers of the task's criteria that it tests.
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
        """The test as the Challenger wrote it."""
        return FalsifyingTest(
            name=self.name, obligation=self.obligation, source=self.source, criteria=self.criteria
        )

    @property
    def about(self) -> str:
        """What it tests, as text."""
        numbers = ", ".join(map(str, self.criteria))
        named = f" and {_criteria(self.criteria)} {numbers}" if numbers else ""
        return f"{self.obligation or 'the purpose'}{named}"


def _criteria(numbers: Collection[int]) -> str:
    return "criterion" if len(numbers) == 1 else "criteria"


def asked_criteria(count: int, settled: Collection[int], earlier: Collection[int]) -> list[int]:
    """Return the criteria that a Challenger must test, at most as many as an answer may have tests.

    Args:
        count: The number of the task's criteria.
        settled: The criteria that an approved example or property shows or a ruling set aside.
        earlier: The criteria that an earlier test covers, or that an earlier answer explained.
    """
    due = [number for number in range(1, count + 1) if number not in settled and number not in earlier]
    return due[:MAX_FALSIFYING_TESTS]


def untested_problems(answer: ChallengerAnswer, asked: Collection[int], count: int) -> Iterator[str]:
    """Report requested criteria that an answer neither tests nor explains, and numbers without a criterion.

    Args:
        answer: The Challenger's answer.
        asked: The criteria that its request names.
        count: The number of the task's criteria.
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
    """Return the failure of a failed test."""
    return Failure(
        invariant=f"{tried.obligation or 'the purpose'}: the falsifying test {tried.name} passes",
        evidence=f"{tried.name} fails when it is run:\n{tried.source.strip()}\n\n{tried.message.strip()}",
        required_change=f"Correct the module so that {tried.name} passes; keep what the contract says.",
    )


def is_counterexample(invariant: str) -> bool:
    """Whether a failure with this invariant comes from a falsifying test."""
    return ": the falsifying test " in invariant


def named_in(failure: Failure, tests: Iterable[str]) -> list[str]:
    """Return the tests that a failure's text mentions by full name."""
    text = f"{failure.invariant} {failure.evidence} {failure.required_change}"
    return [name for name in tests if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


def naming_problems(tests: Iterable[FalsifyingTest], earlier: Iterable[TriedTest]) -> list[str]:
    """Report tests with the name of an earlier test, which runs again anyway."""
    taken = {tried.name for tried in earlier}
    return [
        f"falsifying_tests.{i}.name: {test.name} is a test of an earlier round; take another name, and do not repeat it"
        for i, test in enumerate(tests)
        if test.name in taken
    ]


def active_tests(
    tried: Iterable[TriedTest], struck: Iterable[StruckTest], contract_sha256: str
) -> list[TriedTest]:
    """Return the tests that a deliverable must still pass: those of the present contract that were not struck."""
    names = {one.test for one in struck}
    return [one for one in tried if one.name not in names and one.contract_sha256 == contract_sha256]


def strike_problems(
    struck: Iterable[StruckTest], failed: Iterable[TriedTest], contract: MicroModuleContract
) -> list[str]:
    """Return why strikes are refused: no such test, no such statement in the contract, or no reason
    (design: falsifying-tests)."""
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
"""The dimensions that a test depends on, by the dimension of the statement that it tests."""

_ALL = ("purpose", "inputs", "outputs", "error_surfaces", "effects", "modes")


def as_regression_tests(
    tried: Iterable[TriedTest], criteria: Sequence[str], since: str
) -> list[RegressionTest]:
    """Return the falsifying tests of a debate as regression tests.

    Args:
        tried: The tests that were active when the version was sealed.
        criteria: The task's criteria.
        since: The sealed version.
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
    """Return the regression tests that still count for a later version: the contract has not changed in what they test.

    Args:
        tests: The tests of the earlier version.
        before: Its contract.
        after: The contract of the later version.
    """
    was, now = before.to_json(), after.to_json()

    def untouched(test: RegressionTest) -> bool:
        looked_at = _LOOKED_AT.get(test.obligation.split("/")[1] if test.obligation else "", _ALL)
        return all(was[field] == now[field] for field in looked_at)

    return [test for test in tests if untouched(test)]


CONTRACTS = "contracts"
"""The deliverable of a contract debate; that of an implementation debate is the module's name. No module may have this
name."""

MAX_REVISIONS = 2
"""The limit on revisions of a deliverable, whatever their cause (design: debate)."""


class Proposal(Record):
    """A claim about a deliverable, without its source (design: debate, role-access)."""

    proposal_id: ArtifactId
    target_artifact_id: ArtifactId
    claim: Text
    deliverable_ref: str
    acceptance_checks: list[Text]
    test_inventory: dict[str, list[str]] = Field(default_factory=dict)
    tests: str = ""
    contract_changes: list[str] = Field(default_factory=list)
    examples: str = ""
    preflight: list[str] = Field(default_factory=list)
    contract_at_fault: list[ContractFault] = Field(default_factory=list)

    @property
    def ref(self) -> str:
        """`id@version` of its artifact."""
        return f"{self.proposal_id}@1.0.0"


class Challenge(OmittedIfEmpty):
    """The Challenger's verdict on a deliverable (design: debate, falsifying-tests).

    Args:
        mendable: Whether all failures have exact changes that code can apply (design: amendments).
    """

    omitted = ("untested_criteria", "mendable")

    challenge_id: ArtifactId
    target_artifact_id: ArtifactId
    verdict: Verdict
    failures: list[Failure]
    rubric_assessments: Annotated[list[Assessment], Field(max_length=6)]
    optional_alternative_ref: str | None = None
    unshown_criteria: list[UnshownCriterion] = Field(default_factory=list)
    falsifying_tests: list[TriedTest] = Field(default_factory=list)
    untested_criteria: list[UntestedCriterion] = Field(default_factory=list)
    mendable: bool = False

    _consistent = model_validator(mode="after")(check_review)

    @property
    def ref(self) -> str:
        """`id@version` of its artifact."""
        return f"{self.challenge_id}@1.0.0"

    @property
    def counterexamples(self) -> list[TriedTest]:
        """The falsifying tests that failed."""
        return [tried for tried in self.falsifying_tests if tried.failed]

    @property
    def rests_on_tests(self) -> bool:
        """Whether it is a FAIL only because falsifying tests failed (design: falsifying-tests)."""
        failed = self.counterexamples
        if not failed or any(a.assessment == "NOT_MET" for a in self.rubric_assessments):
            return False
        shown, names = [counterexample(tried) for tried in failed], [tried.name for tried in failed]
        return all(named_in(failure, names) for failure in self.failures if failure not in shown)

    def faults(self, of: FaultOf) -> list[Failure]:
        """Return the failures with this cause (design: debate)."""
        return [failure for failure in self.failures if failure.fault is of]

    def without(self, struck: Sequence[StruckTest]) -> list[Failure]:
        """Return the failures, except those that rest on struck tests."""
        failed, struck_names = self.counterexamples, {one.test for one in struck}
        active = [tried.name for tried in failed if tried.name not in struck_names]
        dropped = [counterexample(tried) for tried in failed if tried.name in struck_names]
        return [
            f
            for f in self.failures
            if f not in dropped and (named_in(f, active) or not named_in(f, struck_names))
        ]


class Adjudication(Record):
    """The Arbiter's, or a person's, decision (design: debate)."""

    adjudication_id: ArtifactId
    target_artifact_id: ArtifactId
    decision: Decision
    amendments: list[Amendment]
    rationale: Text
    ship_directive: ShipDirective
    struck_tests: list[StruckTest] = Field(default_factory=list)
    set_aside: list[SetAsideCriterion] = Field(default_factory=list)
    confirmed_fault: FaultOf | None = None

    _consistent = model_validator(mode="after")(check_ruling)

    @property
    def ref(self) -> str:
        """`id@version` of its artifact."""
        return f"{self.adjudication_id}@1.0.0"


def challenge(
    answer: ChallengerAnswer,
    challenge_id: str,
    target: str,
    tried: Sequence[TriedTest] = (),
    *,
    mendable: bool = False,
) -> Challenge:
    """Build the record of a Challenger's answer.

    Args:
        answer: The accepted answer.
        challenge_id: `CHAL-...`.
        target: The reference of the challenged artifact.
        tried: Its falsifying tests with results; a failed one makes the verdict FAIL.
        mendable: Whether code can apply the exact changes of all failures.
    """
    failed = [counterexample(one) for one in tried if one.failed]
    written: dict[str, Any] = {
        **dict(answer),
        "verdict": Verdict.FAIL if failed else answer.verdict,
        "failures": [*answer.failures, *failed],
        "falsifying_tests": list(tried),
        "mendable": mendable,
    }
    return Challenge(challenge_id=challenge_id, target_artifact_id=target, **written)


def adjudication(answer: ArbiterAnswer, adjudication_id: str, target: str) -> Adjudication:
    """Build the record of an Arbiter's answer, whose amendments include the accepted changes."""
    written = {name: value for name, value in dict(answer).items() if name != "accepted_changes"}
    return Adjudication(adjudication_id=adjudication_id, target_artifact_id=target, **written)


def approval(adjudication_id: str, target: str, rationale: str) -> Adjudication:
    """Build a person's approval in place of the Arbiter's ruling; the gate still decides (design: escalation)."""
    return Adjudication(
        adjudication_id=adjudication_id,
        target_artifact_id=target,
        decision=Decision.APPROVE,
        amendments=[],
        rationale=rationale,
        ship_directive=ShipDirective.SHIP,
    )
