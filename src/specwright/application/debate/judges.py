"""The Challenger and the Arbiter of a debate: what each is given, and how its answer becomes a record (design: debate,
role-access)."""

from collections.abc import Mapping, Sequence

from specwright import canonical_json
from specwright.application import scopes
from specwright.application.context.packs import index_statuses, task_ref
from specwright.application.context.role_store import RoleStore
from specwright.application.criteria import CriterionRuling, carried_rulings
from specwright.application.debate.deliverable import PLAN_CLAIM, Deliverable
from specwright.application.factory import Factory
from specwright.application.messages.debate import arbiter_message, challenge_message, with_rulings
from specwright.application.store.debates import DebateHistory
from specwright.application.store.invocations import Invocation
from specwright.application.store.modules import DependencyView
from specwright.domain.answers.answers import ArbiterAnswer, ChallengerAnswer, Failure, FaultOf, Verdict
from specwright.domain.artifacts.provenance import ContributionType, Permission
from specwright.domain.base.ids import ArtifactType, artifact_id
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.debate.amendments import target_problems, unreachable_targets
from specwright.domain.debate.answer_rules import (
    Citable,
    citable,
    compliance_problems,
    mild_review,
    ruling_problems,
)
from specwright.domain.debate.debate import (
    CONTRACTS,
    Adjudication,
    Challenge,
    Proposal,
    adjudication,
    challenge,
)
from specwright.domain.debate.falsifying import TriedTest, named_in, naming_problems
from specwright.errors import AnswerError
from specwright.ports.gate import Trial
from specwright.ports.journal import Scope
from specwright.ports.roles import Assignment, Place, Role

_HISTORY = "the debate so far"


def ask_challenger(
    factory: Factory, deliverable: Deliverable, version_id: str, number: int, history: DebateHistory
) -> Challenge:
    """Ask for the verdict of a round. A Challenger that never complies counts as FAIL (design: debate)."""
    place = deliverable.task.place(deliverable.name, f"round-{number}", Role.CHALLENGER)
    contracts, proposal = deliverable.contracts(version_id), history.proposals[-1]
    views = deliverable.dependencies(version_id)
    scope = factory.journal.scope(scopes.index_statuses(place.run_id))
    statuses = index_statuses(factory, scope, [view.contract.ref for view in views])
    views = [view.known_as(statuses.get(view.contract.ref)) for view in views]
    rulings = carried_rulings(factory, deliverable.task, deliverable.questions, place.run_id)
    by = _open_pack(factory, deliverable, place, contracts, views, history, rulings)
    criteria = deliverable.task.definition.acceptance_criteria
    claim = deliverable.plan_claim
    message = challenge_message(
        deliverable.name, proposal, contracts, views, criteria, history, rulings, claim
    )
    store = RoleStore(factory, factory.index, by, judged=contracts, contracts_only=True)
    assignment = Assignment(place, message, {"proposal.json": proposal.to_bytes()}, store=store)
    tests = factory.journal.scope(scopes.falsifying_tests(place.run_id))
    examination = _Examination(
        deliverable, version_id, history, [*contracts, *(v.contract for v in views)], tests
    )
    try:
        answer = factory.roles.challenge(assignment, examination.problems)
    except AnswerError as error:
        answer = examination.fallback(error)
    if deliverable.name == CONTRACTS:  # plan and contracts are the deliverable: their faults are its own
        answer = answer.model_copy(update={"failures": [_own_fault(failure) for failure in answer.failures]})
    scope = factory.journal.scope(scopes.record(place.run_id))
    record = challenge(
        answer, artifact_id(ArtifactType.CHALLENGE, scope.hex8()), version_id, examination.tried
    )
    about = _about(factory, deliverable, version_id, "what it challenges", proposal)
    store_record(factory, scope, by, record, about)
    factory.invocations.contribute(scope, by, ContributionType.CHALLENGE, record_ref(record))
    return record


def ask_arbiter(
    factory: Factory,
    deliverable: Deliverable,
    version_id: str,
    number: int,
    history: DebateHistory,
    revisions_left: int,
) -> Adjudication:
    """Ask for the ruling on the last challenge."""
    place = deliverable.task.place(deliverable.name, f"round-{number}", Role.ARBITER)
    contracts, judged = deliverable.contracts(version_id), history.challenges[-1]
    rulings = carried_rulings(factory, deliverable.task, deliverable.questions, place.run_id)
    views = deliverable.dependencies(version_id)
    by = _open_pack(factory, deliverable, place, contracts, views, history, rulings)
    task_file = factory.folder.read(deliverable.task.path).decode()
    message = arbiter_message(
        deliverable.name, task_file, contracts, history, revisions_left, deliverable.plan_claim
    )
    message = with_rulings(message, deliverable.task.definition.acceptance_criteria, rulings)
    files, by_name = deliverable.files(version_id), {contract.name: contract for contract in contracts}

    disclaimed = bool(history.proposals[-1].contract_at_fault)

    def problems(answer: ArbiterAnswer) -> list[str]:
        aims = target_problems(answer.amendments, contracts=deliverable.name == CONTRACTS)
        aims = aims or unreachable_targets(answer.amendments, files, by_name)
        wrong = ruling_problems(answer, judged, contracts, revisions_left, rulings, disclaimed=disclaimed)
        return [*wrong, *aims]

    answer = factory.roles.arbitrate(Assignment(place, message, {}), problems)
    scope = factory.journal.scope(scopes.record(place.run_id))
    record = adjudication(answer, artifact_id(ArtifactType.ADJUDICATION, scope.hex8()), version_id)
    store_ruling(factory, deliverable, scope, by, record, history)
    return record


def store_ruling(
    factory: Factory,
    deliverable: Deliverable,
    scope: Scope,
    by: Invocation,
    record: Adjudication,
    history: DebateHistory,
) -> None:
    """Store a ruling on the last challenge as an artifact: the Arbiter's, or a person's."""
    answered = history.proposals[-1], history.challenges[-1]
    about = _about(factory, deliverable, record.target_artifact_id, "what it decides on", *answered)
    store_record(factory, scope, by, record, about)
    factory.invocations.contribute(scope, by, ContributionType.ADJUDICATION, record_ref(record))


def store_record(
    factory: Factory,
    scope: Scope,
    by: Invocation,
    record: Proposal | Challenge | Adjudication,
    inputs: Sequence[tuple[str, str]],
) -> None:
    """Store a debate record as an artifact of its own."""
    kind = ArtifactType(type(record).__name__.upper())
    body = {f"{kind.lower()}.json": record.to_bytes()}
    name = record_ref(record).partition("@")[0]
    factory.artifacts.create(scope, by, kind, body, inputs=inputs, name=name)


def record_ref(record: Proposal | Challenge | Adjudication) -> str:
    """The reference of a debate record, which is always the first version of its id."""
    names = {"proposal_id", "challenge_id", "adjudication_id"} & type(record).model_fields.keys()
    return f"{getattr(record, names.pop())}@1.0.0"


def _about(
    factory: Factory, deliverable: Deliverable, version_id: str, why: str, *answered: Proposal | Challenge
) -> list[tuple[str, str]]:
    """The artifacts whose status a record moves, and the records that it answers."""
    names = deliverable.artifacts(version_id)
    about = [(factory.artifacts.ref(deliverable.task.folder, name), why) for name in names]
    return [*about, *((record_ref(record), "what it answers") for record in answered)]


def _open_pack(
    factory: Factory,
    deliverable: Deliverable,
    place: Place,
    contracts: Sequence[MicroModuleContract],
    dependencies: Sequence[DependencyView],
    history: DebateHistory,
    rulings: Mapping[int, CriterionRuling],
) -> Invocation:
    """Write the context pack: the columns of these roles in the role table (design: role-access)."""
    task, full = task_ref(factory, deliverable.task), Permission.FULL
    included = [(record_ref(record), full, _HISTORY) for record in (*history.proposals, *history.challenges)]
    included += [(contract.ref, full, "the contract in question") for contract in contracts]
    carried = {ruling.ref: ruling for ruling in rulings.values()}
    earlier = [r for r in history.adjudications if record_ref(r) not in carried]
    whole = {record_ref(r) for r in history.adjudications if place.role is Role.ARBITER}
    included += [ruling.row for ref, ruling in carried.items() if ref not in whole]
    if deliverable.plan_ref:
        included.append((deliverable.plan_ref, Permission.SUMMARY_ONLY, PLAN_CLAIM))
    sources = [source for cause in history.causes for source in cause.told_by]
    included += [(ref, Permission.SUMMARY_ONLY, what) for ref, what in sources]
    hidden = "the planner's answer" if deliverable.name == CONTRACTS else "implementation source"
    versions = sorted({proposal.deliverable_ref for proposal in history.proposals})
    excluded = [(ref, f"{hidden} is never shown to this role") for ref in versions]
    if place.role is Role.ARBITER:
        included += [(record_ref(record), full, _HISTORY) for record in history.adjudications]
        included.append((task, full, "the task file, for grounding"))
        excluded += [(d.contract.ref, "dependencies are no business of this role") for d in dependencies]
    else:
        for view in dependencies:
            status = f"its index status: {view.status}"
            included.append((view.contract.ref, Permission.CONTRACT_ONLY, "a dependency"))
            included.append((view.contract.ref, Permission.METADATA_ONLY, status))
        extract = "its acceptance criteria, as an extract (design: role-access)"
        included.append((task, Permission.SUMMARY_ONLY, extract))
        excluded += [(record_ref(r), "rulings are not shown to this role") for r in earlier]
    scope, own = factory.journal.scope(scopes.pack(place.run_id)), deliverable.task
    return factory.invocations.open(
        scope, (place.role, place.run_id), own.task_id, own.folder, included, excluded
    )


class _Examination:
    """Examines the answers of one Challenger and runs its falsifying tests (design: falsifying-tests).

    A problem with a test is a problem of the answer and goes back to the Challenger, within its attempts (design:
    debate). If it never gets a test right, its answer counts without tests, unless its review is mild.

    Args:
        deliverable: What is challenged.
        version_id: Its version.
        history: The debate so far; its last proposal is challenged.
        contracts: Those of the deliverable and of its dependencies.
        scope: Journals the runs of the tests.
    """

    def __init__(
        self,
        deliverable: Deliverable,
        version_id: str,
        history: DebateHistory,
        contracts: Sequence[MicroModuleContract],
        scope: Scope,
    ) -> None:
        self._deliverable = deliverable
        self._version_id = version_id
        self._proposal = history.proposals[-1]
        self._earlier = [tried for earlier in history.challenges for tried in earlier.falsifying_tests]
        self._contracts = contracts
        self._scope = scope
        self._without_tests: ChallengerAnswer | None = None
        self.tried: list[TriedTest] = []

    def problems(self, answer: ChallengerAnswer) -> list[str]:
        """What is wrong with an answer; of an answer without problems the tests are in `tried`."""
        self._without_tests = None
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
        self.tried = [] if problems else self._records(answer, trials)
        return problems

    def fallback(self, error: AnswerError) -> ChallengerAnswer:
        """What counts if no answer was accepted: the last one without its tests, or a FAIL (design: debate)."""
        self.tried = []
        return self._without_tests or mild_review(error.what)

    def _citable(self, own: Sequence[str]) -> Citable:
        """What the evidence may cite: what the proposal shows, and the falsifying tests so far."""
        shown = self._proposal
        tests = [*shown.test_inventory, *(tried.name for tried in self._earlier), *own]
        sources = citable(
            self._contracts, tests if shown.test_inventory else (), shown.preflight, shown.examples
        )
        return sources._replace(criteria=len(self._deliverable.task.definition.acceptance_criteria))

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


def _own_fault(failure: Failure) -> Failure:
    return failure.model_copy(update={"fault": FaultOf.MODULE})
