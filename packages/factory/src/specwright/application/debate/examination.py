"""The answers of a Challenger: whether each is a review, and what its tests show (design: debate, falsifying-tests)."""

from collections.abc import Mapping, Sequence

from agent_wire import canonical_json
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.verdict import Trial
from specwright.application.criteria import CriterionRuling
from specwright.application.debate.case import Case
from specwright.application.factory import Factory
from specwright.domain.answers.answers import ChallengerAnswer, Verdict
from specwright.domain.debate.answer_rules import (
    Citable,
    citable,
    compliance_problems,
    mild_review,
)
from specwright.domain.debate.debate import CONTRACTS
from specwright.domain.debate.falsifying import (
    TriedTest,
    active_tests,
    asked_criteria,
    named_in,
    naming_problems,
    untested_problems,
)
from specwright.errors import AnswerError


def criteria_to_test(case: Case, rulings: Mapping[int, CriterionRuling]) -> list[int]:
    """The criteria for which the Challenger of a module is asked for a test, from its second look on (design:
    falsifying-tests): no approved example shows them, no ruling set them aside, and none of its tests tried them."""
    challenges = case.history.challenges
    if case.name == CONTRACTS or not challenges:
        return []
    (contract,) = case.contracts
    tried = [one for challenge in challenges for one in challenge.falsifying_tests]
    struck = [one for ruling in case.history.adjudications for one in ruling.struck_tests]
    active = active_tests(tried, struck, canonical_json.digest(contract.to_json()))
    earlier = {number for one in active for number in one.criteria}
    earlier |= {one.criterion for challenge in challenges for one in challenge.untested_criteria}
    task = case.deliverable.task.definition
    shown = task.acceptance.shown if task.acceptance else frozenset[int]()
    return asked_criteria(len(task.acceptance_criteria), {*shown, *rulings}, earlier)


class Examination:
    """Examines the answers of one Challenger and runs its falsifying tests (design: falsifying-tests).

    A problem with a test is a problem of the answer and goes back to the Challenger, within its attempts (design:
    debate). If it never gets a test right, its answer counts without tests, unless its review is mild; if it leaves out
    criteria that it was asked about, with the tests that it has.

    Args:
        factory: The ports.
        case: What is challenged.
        contracts: Those that the request shows.
        place: Where the answer stands; the runs of the tests are journalled there.
        asked: The criteria for which the request asks for tests.
    """

    def __init__(
        self,
        factory: Factory,
        case: Case,
        contracts: Sequence[MicroModuleContract],
        place: str,
        asked: Sequence[int] = (),
    ) -> None:
        self._deliverable, self._version_id, history = case.deliverable, case.version_id, case.history
        self._proposal = history.proposals[-1]
        self._earlier = [tried for earlier in history.challenges for tried in earlier.falsifying_tests]
        self._contracts = contracts
        self._asked = asked
        self._scope = factory.journal.scope(f"{place}/tests")
        self._without_tests: ChallengerAnswer | None = None
        self._incomplete: tuple[ChallengerAnswer, list[TriedTest]] | None = None
        self._was_review = False
        self.tried: list[TriedTest] = []

    def problems(self, answer: ChallengerAnswer) -> list[str]:
        """What is wrong with an answer; of an answer without problems the tests are in `tried`."""
        self._without_tests, self._incomplete, self._was_review = None, None, True
        names = [test.name for test in answer.falsifying_tests]
        if mild := compliance_problems(answer, self._citable(names)):
            return mild
        if not any(named_in(failure, names) for failure in answer.failures):
            self._without_tests = answer.model_copy(update={"falsifying_tests": []})
        if reused_names := naming_problems(answer.falsifying_tests, self._earlier):
            return reused_names
        trials = self._deliverable.falsify(self._version_id, answer.falsifying_tests, self._scope)
        problems = [f"falsifying_tests.{i}: {p}" for i, trial in enumerate(trials) for p in trial.problems]
        problems += _disproved(answer, trials)
        tried = [] if problems else self._records(answer, trials)
        left_out = list(untested_problems(answer, self._asked, self._criteria))
        self._incomplete = (answer, tried) if left_out and not problems else None
        self.tried = [] if left_out else tried
        return [*problems, *left_out]

    def fallback(self, error: AnswerError) -> ChallengerAnswer:
        """What counts if no answer was accepted: the last one without its tests, or a FAIL (design: debate).

        Raises:
            AnswerError: no answer was a review at all; the deliverable does not pay for that.
        """
        if not self._was_review:
            raise error
        if self._incomplete:
            answer, self.tried = self._incomplete
            return answer
        self.tried = []
        return self._without_tests or mild_review(error.what)

    def _citable(self, own: Sequence[str]) -> Citable:
        """What the evidence may cite: what the proposal shows, and the falsifying tests so far."""
        shown = self._proposal
        tests = [*shown.test_inventory, *(tried.name for tried in self._earlier), *own]
        sources = citable(
            self._contracts, tests if shown.test_inventory else (), shown.preflight, shown.examples
        )
        return sources._replace(criteria=self._criteria)

    @property
    def _criteria(self) -> int:
        """How many the task has."""
        return len(self._deliverable.task.definition.acceptance_criteria)

    def _records(self, answer: ChallengerAnswer, trials: Sequence[Trial]) -> list[TriedTest]:
        if not trials:
            return []
        (contract,) = self._deliverable.contracts(self._version_id)  # of an implementation there is one
        against = canonical_json.digest(contract.to_json())
        return [
            TriedTest(
                **test.to_json(),
                contract_sha256=against,
                result=Verdict.PASS if trial.passed else Verdict.FAIL,
                message=trial.message,
            )
            for test, trial in zip(answer.falsifying_tests, trials, strict=True)
        ]


def _disproved(answer: ChallengerAnswer, trials: Sequence[Trial]) -> list[str]:
    """The failures that rest on a test which the module passes."""
    passed = [trial.name for trial in trials if trial.passed]
    return [
        f"failures.{i}: {name} passes on the module; show this failure otherwise, or leave it out"
        for i, failure in enumerate(answer.failures)
        for name in named_in(failure, passed)
    ]
