"""The Challenger and the Arbiter of a debate: their context, their requests, and the records of their answers
(design: debate, role-access)."""

from collections.abc import Collection, Mapping, Sequence

from pydantic import ValidationError

from agent_wire import canonical_json
from ship_gate.base.ids import ArtifactType, artifact_id
from ship_gate.base.record import validation_messages
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.verdict import Trial
from specwright.application.context import RoleStore, index_statuses, task_ref
from specwright.application.criteria import CriterionRuling, carried_rulings
from specwright.application.debate.deliverable import PLAN_CLAIM, Case, Deliverable
from specwright.application.factory import Factory
from specwright.application.requests import (
    CONTRACTS_READ,
    DEBATE,
    TASK,
    arbiter_files,
    arbiter_message,
    challenge_message,
)
from specwright.application.store.artifacts import Invocation
from specwright.application.store.modules import DependencyView
from specwright.application.store.records import DebateHistory
from specwright.domain.answers import (
    ArbiterAnswer,
    ChallengerAnswer,
    ContractChallenge,
    ContractRuling,
    ModuleChallenge,
    ModuleRuling,
    UndisputedRuling,
    Verdict,
)
from specwright.domain.artifacts import Permission
from specwright.domain.debate.amendments import (
    OfferedChange,
    accepted_problems,
    changes_of,
    offered_changes,
    target_problems,
    unreachable_targets,
    with_accepted,
)
from specwright.domain.debate.answer_rules import (
    Citable,
    citable,
    compliance_problems,
    mild_review,
    ruling_problems,
    settled_problems,
)
from specwright.domain.debate.records import (
    CONTRACTS,
    Adjudication,
    Challenge,
    Proposal,
    TriedTest,
    active_tests,
    adjudication,
    asked_criteria,
    challenge,
    named_in,
    naming_problems,
    untested_problems,
)
from specwright.errors import AnswerError
from specwright.ports import Assignment, Place, Role, Scope

_HISTORY = "the debate so far"


def criteria_to_test(case: Case, rulings: Mapping[int, CriterionRuling]) -> list[int]:
    """Return the criteria that the Challenger of a module must test, from its second look on: those without approved
    example, ruling or earlier falsifying test (design: falsifying-tests)."""
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
    """Checks the answers of one Challenger and runs its falsifying tests (design: falsifying-tests).

    A problem with a test is a problem of the answer and goes back to the Challenger, within its attempts (design:
    debate). If its tests never become valid, its answer counts without tests, unless its review is mild. If it only leaves
    out requested criteria, its answer counts with the tests that it has.

    Args:
        factory: The ports.
        case: The round to challenge.
        contracts: The contracts in the request.
        place: The place of the answer, where test runs are journalled.
        asked: The criteria for which the request asks for tests.
        settled: The criteria that rulings have set aside.
    """

    def __init__(
        self,
        factory: Factory,
        case: Case,
        contracts: Sequence[MicroModuleContract],
        place: str,
        asked: Sequence[int] = (),
        settled: Collection[int] = (),
    ) -> None:
        self._deliverable, self._version_id, history = case.deliverable, case.version_id, case.history
        self._proposal = history.proposals[-1]
        self._earlier = [tried for earlier in history.challenges for tried in earlier.falsifying_tests]
        self._contracts = contracts
        self._asked = asked
        self._settled = settled
        self._scope = factory.journal.scope(f"{place}/tests")
        self._fallback: tuple[ChallengerAnswer | None, list[TriedTest]] | None = None
        self.tried: list[TriedTest] = []

    def problems(self, given: ContractChallenge | ModuleChallenge) -> list[str]:
        """Return the problems of an answer; if there are none, `tried` has its tests."""
        self._fallback = None, []
        try:
            answer = given.whole()
        except ValidationError as error:
            return validation_messages(error)
        names = [test.name for test in answer.falsifying_tests]
        mild = compliance_problems(answer, self._citable(names))
        if mild := [*mild, *settled_problems(answer, self._settled)]:
            return mild
        if not any(named_in(failure, names) for failure in answer.failures):
            self._fallback = answer.model_copy(update={"falsifying_tests": []}), []
        if reused_names := naming_problems(answer.falsifying_tests, self._earlier):
            return reused_names
        trials = self._deliverable.falsify(self._version_id, answer.falsifying_tests, self._scope)
        problems = [f"falsifying_tests.{i}: {p}" for i, trial in enumerate(trials) for p in trial.problems]
        problems += _disproved(answer, trials)
        tried = [] if problems else self._records(answer, trials)
        left_out = list(untested_problems(answer, self._asked, self._criteria))
        self._fallback = (answer, tried) if left_out and not problems else self._fallback
        self.tried = [] if left_out else tried
        return [*problems, *left_out]

    def fallback(self, error: AnswerError) -> ChallengerAnswer:
        """Return the verdict if no answer was accepted: the last one without its tests, or a FAIL (design: debate).

        Raises:
            AnswerError: no answer was a review; this costs the deliverable no revision.
        """
        if self._fallback is None:
            raise error
        answer, self.tried = self._fallback
        return answer or mild_review(error.what)

    def _citable(self, own: Sequence[str]) -> Citable:
        """Return what evidence may cite: the content of the proposal, and the falsifying tests so far."""
        shown = self._proposal
        tests = [*shown.test_inventory, *(tried.name for tried in self._earlier), *own]
        sources = citable(
            self._contracts, tests if shown.test_inventory else (), shown.preflight, shown.examples
        )
        return sources._replace(criteria=self._criteria)

    @property
    def _criteria(self) -> int:
        """The number of the task's criteria."""
        return len(self._deliverable.task.definition.acceptance_criteria)

    def _records(self, answer: ChallengerAnswer, trials: Sequence[Trial]) -> list[TriedTest]:
        if not trials:
            return []
        (contract,) = self._deliverable.contracts(self._version_id)  # an implementation has exactly one
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
    """Report failures that rest on a test which the module passes."""
    passed = [trial.name for trial in trials if trial.passed]
    return [
        f"failures.{i}: {name} passes on the module; show this failure otherwise, or leave it out"
        for i, failure in enumerate(answer.failures)
        for name in named_in(failure, passed)
    ]


def ask_challenger(factory: Factory, case: Case) -> Challenge:
    """Ask the Challenger for the verdict of a round. If it never complies, the verdict is FAIL; if it never sends a review,
    the task halts (design: debate)."""
    deliverable, place = case.deliverable, case.place(Role.CHALLENGER)
    called = deliverable.dependencies(case.version_id)
    scope = factory.journal.scope(f"{place.run_id}/index")
    statuses = index_statuses(factory, scope, [view.contract.ref for view in called])
    views = [view.known_as(statuses.get(view.contract.ref)) for view in called]
    rulings = carried_rulings(factory, deliverable.task, deliverable.questions, place.run_id)
    by = _open_judge_pack(factory, case, place, views, rulings)
    asked = criteria_to_test(case, rulings)
    message = challenge_message(case.shown(rulings), views, asked)
    proposal = case.history.proposals[-1]
    store = RoleStore(
        factory,
        factory.index,
        by,
        judged=case.contracts,
        contracts_only=True,
        upstream=() if deliverable.task.change else [view.contract.ref for view in views],
        works_on=proposal.deliverable_ref,
    )
    pack = {"proposal.json": proposal.to_bytes()}
    kind = ContractChallenge if case.name == CONTRACTS else ModuleChallenge
    known = [*case.contracts, *(view.contract for view in views)]
    examination = Examination(factory, case, known, place.run_id, asked, rulings)
    try:
        assignment = Assignment(place, kind, message, pack, store=store)
        answer = factory.roles.ask(assignment, lambda given, _: examination.problems(given)).answer.whole()
    except AnswerError as error:
        answer = examination.fallback(error)
    corrected = all(one.exact_changes for one in answer.failures)
    mendable = corrected and case.problems_by_code(changes_of(answer.failures)) is not None
    scope = factory.journal.scope(f"{place.run_id}/record", deferred=True)
    name = artifact_id(ArtifactType.CHALLENGE, scope.hex8())
    record = challenge(answer, name, case.version_id, examination.tried, mendable=mendable)
    about = _about(factory, deliverable, case.version_id, "what it challenges", proposal)
    store_record(factory, scope, by, record, about)
    return record


def ask_arbiter(factory: Factory, case: Case) -> Adjudication:
    """Ask the Arbiter for the ruling on the last challenge."""
    deliverable, place = case.deliverable, case.place(Role.ARBITER)
    task, judged, of_contracts = deliverable.task, case.history.challenges[-1], case.name == CONTRACTS
    by_name = {contract.name: contract for contract in case.contracts}
    offers = offered_changes(judged.failures, by_name) if of_contracts else []
    rulings = carried_rulings(factory, task, deliverable.questions, place.run_id)
    by = _open_judge_pack(factory, case, place, deliverable.dependencies(case.version_id), rulings)
    unsound = case.problems_by_code(changes_of(judged.failures)) if judged.mendable else ()
    shown = case.shown(rulings, unsound or ())
    files = arbiter_files(shown, factory.folder.read(task.path).decode())
    pack = {path: text.encode(errors="replace") for path, text in files.items()}
    kind = ContractRuling if of_contracts else ModuleRuling
    kind = UndisputedRuling if not offers and shown.undisputed else kind
    answer = factory.roles.ask(
        Assignment(place, kind, arbiter_message(shown, offers, files), pack),
        lambda given, _: _ruling_problems(case, given.whole(), rulings, offers),
    ).answer.whole()
    scope = factory.journal.scope(f"{place.run_id}/record", deferred=True)
    name = artifact_id(ArtifactType.ADJUDICATION, scope.hex8())
    record = adjudication(with_accepted(answer, offers), name, case.version_id)
    store_ruling(factory, deliverable, scope, by, record, case.history)
    return record


def _ruling_problems(
    case: Case,
    answer: ArbiterAnswer,
    rulings: Mapping[int, CriterionRuling],
    offers: Sequence[OfferedChange],
) -> list[str]:
    contracts, files = case.contracts, case.deliverable.files(case.version_id)
    judged, disclaimed = case.history.challenges[-1], bool(case.history.proposals[-1].contract_at_fault)
    unknown, answer = list(accepted_problems(answer, offers)), with_accepted(answer, offers)
    wrong = ruling_problems(answer, judged, contracts, case.revisions_left, rulings, disclaimed=disclaimed)
    wrong += unknown
    aims = target_problems(answer.amendments, contracts=case.name == CONTRACTS)
    by_name = {contract.name: contract for contract in contracts}
    wrong += aims or unreachable_targets(answer.amendments, files, by_name)
    if wrong or not answer.amendments:
        return wrong
    broken = case.problems_by_code(answer.amendments)
    return [f"amendments: with all of them the contracts cannot be locked: {one}" for one in broken or ()]


def store_ruling(
    factory: Factory,
    deliverable: Deliverable,
    scope: Scope,
    by: Invocation,
    record: Adjudication,
    history: DebateHistory,
) -> None:
    """Store a ruling on the last challenge, of the Arbiter or a person, as an artifact."""
    answered = history.proposals[-1], history.challenges[-1]
    about = _about(factory, deliverable, record.target_artifact_id, "what it decides on", *answered)
    store_record(factory, scope, by, record, about)


def store_record(
    factory: Factory,
    scope: Scope,
    by: Invocation,
    record: Proposal | Challenge | Adjudication,
    inputs: Sequence[tuple[str, str]],
) -> None:
    """Store a debate record as an artifact."""
    kind = ArtifactType(type(record).__name__.upper())
    body = {f"{kind.lower()}.json": record.to_bytes()}
    name = record.ref.partition("@")[0]
    own = not isinstance(record, Proposal)  # a proposal is about what its invocation contributed
    made = factory.artifacts.draft(scope, by, kind, body, inputs=inputs, name=name, contributes=own)
    factory.artifacts.add(scope, made)


def _about(
    factory: Factory, deliverable: Deliverable, version_id: str, why: str, *answered: Proposal | Challenge
) -> list[tuple[str, str]]:
    """Return the artifacts whose status a record changes, and the records that it answers."""
    names = deliverable.artifacts(version_id)
    about = [(factory.artifacts.ref(deliverable.task.folder, name), why) for name in names]
    return [*about, *((record.ref, "what it answers") for record in answered)]


def _open_judge_pack(
    factory: Factory,
    case: Case,
    place: Place,
    dependencies: Sequence[DependencyView],
    rulings: Mapping[int, CriterionRuling],
) -> Invocation:
    """Write the context pack of a judge, by its column in the role table (design: role-access)."""
    deliverable, history, full = case.deliverable, case.history, Permission.FULL
    task = task_ref(factory, deliverable.task)
    arbiter = place.role is Role.ARBITER
    debated = f"{_HISTORY}, readable as /{DEBATE}" if arbiter else _HISTORY
    contract = "the contract in question" + (f", readable as /{CONTRACTS_READ}" if arbiter else "")
    now = history.proposals[-1].target_artifact_id  # earlier rounds are in the history
    included = [
        (one.ref, full if one.target_artifact_id == now else Permission.SUMMARY_ONLY, debated)
        for one in (*history.proposals, *history.challenges)
    ]
    included += [(one.ref, full, contract) for one in case.contracts]
    carried = {ruling.ref: ruling for ruling in rulings.values()}
    earlier = [ruling.ref for ruling in history.adjudications]
    whole = set(earlier) if arbiter else set[str]()
    included += [ruling.row for ref, ruling in carried.items() if ref not in whole]
    if deliverable.plan_ref:
        included.append((deliverable.plan_ref, Permission.SUMMARY_ONLY, PLAN_CLAIM))
    sources = [source for cause in history.causes for source in cause.told_by]
    included += [(ref, Permission.SUMMARY_ONLY, what) for ref, what in sources]
    hidden = "the planner's answer" if case.name == CONTRACTS else "implementation source"
    versions = sorted({proposal.deliverable_ref for proposal in history.proposals})
    excluded = [(ref, f"{hidden} is never shown to this role") for ref in versions]
    if arbiter:
        included += [(ref, full, debated) for ref in earlier]
        included.append((task, full, f"the task file, for grounding, readable as /{TASK}"))
        excluded += [(d.contract.ref, "dependencies are no business of this role") for d in dependencies]
    else:
        for view in dependencies:
            status = f"its index status: {view.status}"
            included.append((view.contract.ref, Permission.CONTRACT_ONLY, "a dependency"))
            included.append((view.contract.ref, Permission.METADATA_ONLY, status))
        shown = case.name == CONTRACTS and deliverable.task.definition.acceptance
        extract = f"its acceptance criteria{', its approved examples' if shown else ''} and its decisions"
        extract += ", as an extract (design: role-access)"
        included.append((task, Permission.SUMMARY_ONLY, extract))
        excluded += [(ref, "rulings are not shown to this role") for ref in earlier if ref not in carried]
    scope, own = factory.journal.scope(f"{place.run_id}/pack", deferred=True), deliverable.task
    return factory.invocations.open(
        scope, (place.role, place.run_id), own.task_id, own.folder, included, excluded
    )
