"""The falsifying tests of one challenge: looked at with the answer, and run when nothing else is wrong with it (D13).

What is wrong with a test goes back to the Challenger as a fault of its answer, within its attempts (D11). A Challenger
that never gets a test right is heard all the same, as if it had handed in none; one whose review is mild is not.
"""

from collections.abc import Sequence

from specwright import canonical_json
from specwright.application.debate.deliverable import Deliverable
from specwright.domain.answers import ChallengerAnswer, Verdict
from specwright.domain.debate import Proposal
from specwright.domain.falsifying import TriedTest, named_in, naming_problems
from specwright.domain.rubric import Citable, citable, compliance_problems, mild_review
from specwright.errors import AnswerError
from specwright.ports.gate import Trial
from specwright.ports.journal import Scope

__all__ = ["Falsification"]


class Falsification:
    """Examines the answers of a Challenger.

    Args:
        deliverable: What is challenged.
        target: Its version.
        proposal: Of this round.
        earlier: The tests of the rounds before.
        scope: Where it is journalled what the tests showed.
    """

    def __init__(
        self,
        deliverable: Deliverable,
        target: str,
        proposal: Proposal,
        earlier: Sequence[TriedTest],
        scope: Scope,
    ) -> None:
        self._deliverable = deliverable
        self._target = target
        self._proposal = proposal
        self._earlier = earlier
        self._scope = scope
        self._without_tests: ChallengerAnswer | None = None
        self.tried: list[TriedTest] = []

    def problems(self, answer: ChallengerAnswer) -> list[str]:
        """Why an answer is not taken; if it is, its tests are in `tried`."""
        self._without_tests = None
        names = [test.name for test in answer.falsifying_tests]
        if mild := compliance_problems(answer, self._citable(names)):
            return mild
        if not any(named_in(failure, names) for failure in answer.failures):
            self._without_tests = answer.model_copy(update={"falsifying_tests": []})
        if taken := naming_problems(answer.falsifying_tests, self._earlier):
            return taken
        trials = self._deliverable.falsify(self._target, answer.falsifying_tests, self._scope)
        wrong = [f"falsifying_tests.{i}: {p}" for i, trial in enumerate(trials) for p in trial.problems]
        if wrong := [*wrong, *_disproved(answer, trials)]:
            return wrong
        self.tried = self._records(answer, trials)
        return []

    def instead(self, error: AnswerError) -> ChallengerAnswer:
        """What counts where no answer was taken: the last one without its tests, or a FAIL (F§9.5)."""
        self.tried = []
        return self._without_tests or mild_review(error.what)

    def _citable(self, own: Sequence[str]) -> Citable:
        """What the evidence may cite: what the proposal shows, and the falsifying tests so far."""
        shown = self._proposal
        tests = [*shown.test_inventory, *(tried.name for tried in self._earlier), *own]
        contracts = [*self._deliverable.contracts(self._target)]
        contracts += [view.contract for view in self._deliverable.dependencies(self._target)]
        return citable(contracts, tests if shown.test_inventory else (), shown.preflight, shown.examples)

    def _records(self, answer: ChallengerAnswer, trials: Sequence[Trial]) -> list[TriedTest]:
        if not trials:
            return []
        (contract,) = self._deliverable.contracts(self._target)  # of an implementation there is one
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
    """Failures that rest on a test which the module withstands."""
    passed = [trial.name for trial in trials if trial.passed]
    return [
        f"failures.{i}: {name} passes on the module; show this failure otherwise, or leave it out"
        for i, failure in enumerate(answer.failures)
        for name in named_in(failure, passed)
    ]
