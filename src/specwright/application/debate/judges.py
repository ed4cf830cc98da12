"""The Challenger and the Arbiter of a debate: what each is given, and how its answer becomes a record (design: debate,
role-access)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Self

from specwright.application import scopes
from specwright.application.context.packs import Row, index_statuses, task_ref
from specwright.application.context.role_store import RoleStore
from specwright.application.criteria import CriterionRuling, carried_rulings
from specwright.application.debate.case import Case
from specwright.application.debate.deliverable import PLAN_CLAIM, Deliverable
from specwright.application.debate.examination import Examination, criteria_to_test
from specwright.application.factory import Factory
from specwright.application.messages.debate import (
    arbiter_message,
    challenge_message,
)
from specwright.application.messages.parts import as_refusal
from specwright.application.plan.advance_answers import OfferedAnswer, after_refusal
from specwright.application.store.debates import DebateHistory
from specwright.application.store.invocations import Invocation
from specwright.application.store.modules import DependencyView
from specwright.domain.answers.answers import ArbiterAnswer, ChallengerAnswer, Failure, FaultOf
from specwright.domain.artifacts.provenance import ContributionType, Permission
from specwright.domain.base.ids import ArtifactType, artifact_id
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.debate.amendments import target_problems, unreachable_targets
from specwright.domain.debate.answer_rules import (
    ruling_problems,
)
from specwright.domain.debate.debate import (
    CONTRACTS,
    MAX_REVISIONS,
    Adjudication,
    Challenge,
    Proposal,
    adjudication,
    challenge,
)
from specwright.domain.debate.exact_changes import (
    OfferedChange,
    accepted_problems,
    changes_of,
    offered_changes,
    taken_over,
)
from specwright.domain.debate.open_cases import EarlierRounds, open_cases
from specwright.errors import AnswerError
from specwright.ports.journal import Scope
from specwright.ports.roles import Assignment, Place, Role

_HISTORY = "the debate so far"


class RefusedPart(NamedTuple):
    """What a shared request was answered about one deliverable, where that cannot be accepted.

    Args:
        problems: What is wrong with it.
        raw: The answer.
    """

    problems: Sequence[str]
    raw: str

    @classmethod
    def unreadable(cls, error: AnswerError) -> Self:
        """Of an answer without any part that could be read."""
        return cls(("it held no answer that could be read",), "\n".join(error.raw_answers))


def shared_place(cases: Sequence[Case], role: Role) -> Place:
    """Where a role judges several debates of one round (design: shared-requests)."""
    return cases[0].place(role)._replace(subject="+".join(case.name for case in cases))


def challenge_text(cases: Sequence[Case]) -> str:
    """What a Challenger would be asked about these debates, as far as it can be said before it is asked."""
    shown, task = [case.shown for case in cases], cases[0].deliverable.task.definition
    return challenge_message(
        shown,
        called_modules(cases),
        task.acceptance_criteria,
        decided=task.decided,
        acceptance=task.acceptance,
        description=_description(cases),
    )


def ruling_text(factory: Factory, cases: Sequence[Case]) -> str:
    """What an Arbiter would be asked about these debates, as far as it can be said before it is asked."""
    return arbiter_message([case.shown for case in cases], _task_file(factory, cases), MAX_REVISIONS)


def ask_challenger(
    factory: Factory, case: Case, refused: Sequence[str] = (), ahead: OfferedAnswer | None = None
) -> Challenge:
    """Ask for the verdict of a round. A Challenger that never complies counts as FAIL; one that never reviews halts
    the task (design: debate).

    Args:
        factory: The ports.
        case: What is judged.
        refused: What was wrong with an answer that a shared request held.
        ahead: What a request about several tasks was answered about this one (design: tasks-together).
    """
    place = case.place(Role.CHALLENGER)
    by, assignment, known, asked = _challenger_request(factory, [case], place)
    examination = Examination(factory, case, known, place.run_id, asked)
    answer = None
    if ahead:
        answer, refused = ahead.answer.take(ChallengerAnswer, ahead.basis, examination.problems)
    try:
        with after_refusal(ahead, refused):
            answer = answer or factory.roles.challenge(_once_more(assignment, refused), examination.problems)
    except AnswerError as error:
        answer = examination.fallback(error)
    return _challenge(factory, case, by, answer, examination)


def take_challenge(
    factory: Factory, case: Case, known: Sequence[MicroModuleContract], ahead: OfferedAnswer
) -> Challenge | RefusedPart | None:
    """The verdict on a module that was given in advance, if it still counts (design: one-shot).

    Args:
        factory: The ports.
        case: What is judged.
        known: The contracts that the request showed.
        ahead: What was answered.

    Returns:
        Its record, or what is wrong with it; None if it is only out of date.
    """
    place = case.place(Role.CHALLENGER)
    early = scopes.part(place.run_id, "ahead")  # if it is refused, the module is judged anew at its own place
    examination = Examination(factory, case, _citable_in(case, known), early)
    answer, problems = ahead.answer.take(ChallengerAnswer, ahead.basis, examination.problems)
    if answer is None:
        return RefusedPart(problems, ahead.answer.raw) if problems else None
    by, *_ = _challenger_request(factory, [case], place)
    return _challenge(factory, case, by, answer, examination)


def challenge_together(factory: Factory, cases: Sequence[Case]) -> list[Challenge | RefusedPart]:
    """Ask for the verdicts on several proposals in one request.

    Returns:
        For each its record, or what is wrong with the answer about it (design: shared-requests).
    """
    place = shared_place(cases, Role.CHALLENGER)
    by, assignment, known, _ = _challenger_request(factory, cases, place)
    try:
        shared = factory.roles.challenge_together(assignment)
    except AnswerError as error:
        return [RefusedPart.unreadable(error)] * len(cases)
    found = list[Challenge | RefusedPart]()
    for case in cases:
        answer = shared.answers.get(case.name)
        own = _citable_in(case, known)
        examination = Examination(factory, case, own, scopes.part(place.run_id, case.name))
        problems = shared.problems[case.name] if answer is None else examination.problems(answer)
        accepted = answer if answer is not None and not problems else None
        refused = RefusedPart(problems, shared.raw[case.name])
        found.append(refused if accepted is None else _challenge(factory, case, by, accepted, examination))
    return found


def ask_arbiter(
    factory: Factory,
    case: Case,
    revisions_left: int,
    refused: Sequence[str] = (),
    ahead: OfferedAnswer | None = None,
) -> Adjudication:
    """Ask for the ruling on the last challenge.

    Args:
        factory: The ports.
        case: What is ruled on.
        revisions_left: Of the deliverable.
        refused: What was wrong with an answer that a shared request held.
        ahead: What a request about several tasks was answered about this one (design: tasks-together).
    """
    place = case.place(Role.ARBITER)
    by, assignment, rulings = _arbiter_request(factory, [case], place, revisions_left)

    def problems(answer: ArbiterAnswer) -> list[str]:
        return _ruling_problems(case, answer, revisions_left, rulings)

    answer = None
    if ahead:
        answer, refused = ahead.answer.take(ArbiterAnswer, ahead.basis, problems)
    with after_refusal(ahead, refused):
        answer = answer or factory.roles.arbitrate(_once_more(assignment, refused), problems)
    return _ruling(factory, case, by, answer)


def take_ruling(
    factory: Factory, case: Case, revisions_left: int, ahead: OfferedAnswer
) -> Adjudication | RefusedPart | None:
    """The ruling on a module that was given in advance, if it still counts; as `take_challenge` (design: one-shot)."""
    place, deliverable = case.place(Role.ARBITER), case.deliverable
    early = scopes.part(place.run_id, "ahead")
    rulings = carried_rulings(factory, deliverable.task, deliverable.questions, early)

    def problems(answer: ArbiterAnswer) -> list[str]:
        return _ruling_problems(case, answer, revisions_left, rulings)

    answer, wrong = ahead.answer.take(ArbiterAnswer, ahead.basis, problems)
    if answer is None:
        return RefusedPart(wrong, ahead.answer.raw) if wrong else None
    by, *_ = _arbiter_request(factory, [case], place, revisions_left)
    return _ruling(factory, case, by, answer)


def arbitrate_together(
    factory: Factory, cases: Sequence[Case], revisions_left: int
) -> list[Adjudication | RefusedPart]:
    """Ask for the rulings on several challenges in one request.

    Returns:
        For each its record, or what is wrong with the answer about it (design: shared-requests).
    """
    place = shared_place(cases, Role.ARBITER)
    by, assignment, rulings = _arbiter_request(factory, cases, place, revisions_left)
    try:
        shared = factory.roles.arbitrate_together(assignment)
    except AnswerError as error:
        return [RefusedPart.unreadable(error)] * len(cases)
    found = list[Adjudication | RefusedPart]()
    for case in cases:
        answer = shared.answers.get(case.name)
        problems = (
            shared.problems[case.name]
            if answer is None
            else _ruling_problems(case, answer, revisions_left, rulings)
        )
        accepted = answer if answer is not None and not problems else None
        refused = RefusedPart(problems, shared.raw[case.name])
        found.append(refused if accepted is None else _ruling(factory, case, by, accepted))
    return found


def _challenger_request(
    factory: Factory, cases: Sequence[Case], place: Place
) -> tuple[Invocation, Assignment, list[MicroModuleContract], list[int]]:
    """The request, the contracts that it shows, and the criteria for which it asks for tests."""
    views = known_views(factory, called_modules(cases), place.run_id)
    first = cases[0].deliverable
    rulings = carried_rulings(factory, first.task, first.questions, place.run_id)
    by = open_judge_pack(factory, cases, place, views, rulings)
    shown, decided = [case.shown for case in cases], first.task.definition.decided
    task, asked = first.task.definition, criteria_to_test(cases[0], rulings) if len(cases) == 1 else []
    message = challenge_message(
        shown,
        views,
        task.acceptance_criteria,
        rulings,
        first.plan_claim,
        decided,
        task.acceptance,
        asked,
        _description(cases),
    )
    judged = [contract for case in cases for contract in case.contracts]
    store = RoleStore(
        factory,
        factory.index,
        by,
        judged=judged,
        contracts_only=True,
        upstream=() if first.task.change else [view.contract.ref for view in views],
        works_on=cases[0].history.proposals[-1].deliverable_ref,
    )
    proposals = {
        f"{case.name}/proposal.json" if len(cases) > 1 else "proposal.json": case.history.proposals[
            -1
        ].to_bytes()
        for case in cases
    }
    known = [*judged, *(view.contract for view in views)]
    asks_kinds = cases[0].name == CONTRACTS and cases[0].number > 1
    assignment = Assignment(
        place, message, proposals, store=store, asks_tests=bool(asked), asks_kinds=asks_kinds
    )
    return by, assignment, known, asked


def _description(cases: Sequence[Case]) -> str:
    """Of the task, where its contracts are judged; a module's are its own purpose."""
    first = cases[0].deliverable
    return first.task.definition.description if first.name == CONTRACTS else ""


def _citable_in(case: Case, known: Sequence[MicroModuleContract]) -> list[MicroModuleContract]:
    """Of the contracts that a shared request shows, those that are a deliverable's business."""
    called = {dependency.ref for contract in case.contracts for dependency in contract.dependencies}
    return [*case.contracts, *(contract for contract in known if contract.ref in called)]


def _challenge(
    factory: Factory, case: Case, by: Invocation, answer: ChallengerAnswer, examination: Examination
) -> Challenge:
    """The record of an answer that was accepted."""
    if case.name == CONTRACTS:  # plan and contracts are the deliverable: their faults are its own
        answer = answer.model_copy(update={"failures": [_own_fault(failure) for failure in answer.failures]})
    opened = open_cases(answer.failures, _earlier_rounds(case)) if case.name == CONTRACTS else []
    standing = [failure for failure in answer.failures if failure not in opened]
    mendable = all(one.exact_changes for one in standing) and _by_code(case, standing) is not None
    scope = factory.journal.scope(f"{case.place(Role.CHALLENGER).run_id}/record")
    name = artifact_id(ArtifactType.CHALLENGE, scope.hex8())
    record = challenge(answer, name, case.version_id, examination.tried, opened, mendable=mendable)
    about = _about(
        factory, case.deliverable, case.version_id, "what it challenges", case.history.proposals[-1]
    )
    store_record(factory, scope, by, record, about)
    factory.invocations.contribute(scope, by, ContributionType.CHALLENGE, record.ref)
    return record


def _by_code(case: Case, failures: Sequence[Failure]) -> Sequence[str] | None:
    """What keeps the contracts from being locked with the exact changes of failures; None if code cannot make them."""
    return case.deliverable.problems_by_code(case.version_id, case.number, changes_of(failures))


def _unsound(case: Case) -> Sequence[str]:
    """Why the exact changes of a challenge cannot be taken over as they stand, if that is so."""
    challenge = case.history.challenges[-1]
    return (_by_code(case, challenge.failures) or ()) if challenge.mendable else ()


def _earlier_rounds(case: Case) -> EarlierRounds:
    """What this round of a contract debate may go back to (design: late-findings)."""
    history = case.history
    listed = [*(one.failures for one in history.challenges), *(cause.failures for cause in history.causes)]
    return EarlierRounds(
        case.contracts,
        len(case.deliverable.task.definition.acceptance_criteria),
        case.number,
        max(map(len, listed), default=0),
        bool(history.adjudications),
        history.proposals[-1].contract_changes,
    )


def _offers(case: Case) -> list[OfferedChange]:
    """The exact changes that the Arbiter may take over (design: exact-changes)."""
    if case.name != CONTRACTS:
        return []
    by_name = {contract.name: contract for contract in case.contracts}
    history = case.history
    revisions = [proposal.contract_changes for proposal in history.proposals[1:]]
    return offered_changes(history.challenges, history.adjudications, by_name, revisions)


def _arbiter_request(
    factory: Factory, cases: Sequence[Case], place: Place, revisions_left: int
) -> tuple[Invocation, Assignment, dict[int, CriterionRuling]]:
    """The request, and the rulings on criteria that it tells of."""
    first = cases[0].deliverable
    rulings = carried_rulings(factory, first.task, first.questions, place.run_id)
    by = open_judge_pack(factory, cases, place, called_modules(cases), rulings)
    shown = [case.shown._replace(unsound=_unsound(case)) for case in cases]
    offers = [offer for case in cases for offer in _offers(case)]
    message = arbiter_message(
        shown, _task_file(factory, cases), revisions_left, first.plan_claim, rulings, _criteria(cases), offers
    )
    undisputed = not offers and all(debate.undisputed for debate in shown)
    return by, Assignment(place, message, {}, undisputed=undisputed, has_offers=bool(offers)), rulings


def _ruling_problems(
    case: Case, answer: ArbiterAnswer, revisions_left: int, rulings: Mapping[int, CriterionRuling]
) -> list[str]:
    contracts, files = case.contracts, case.deliverable.files(case.version_id)
    judged, disclaimed = case.history.challenges[-1], bool(case.history.proposals[-1].contract_at_fault)
    offers = _offers(case)
    unknown, answer = list(accepted_problems(answer, offers)), taken_over(answer, offers)
    wrong = ruling_problems(answer, judged, contracts, revisions_left, rulings, disclaimed=disclaimed)
    wrong += unknown
    aims = target_problems(answer.amendments, contracts=case.name == CONTRACTS)
    by_name = {contract.name: contract for contract in contracts}
    wrong += aims or unreachable_targets(answer.amendments, files, by_name)
    if wrong or not answer.amendments:
        return wrong
    broken = case.deliverable.problems_by_code(case.version_id, case.number, answer.amendments)
    return [f"amendments: with all of them the contracts cannot be locked: {one}" for one in broken or ()]


def _ruling(factory: Factory, case: Case, by: Invocation, answer: ArbiterAnswer) -> Adjudication:
    """The record of an answer that was accepted."""
    scope = factory.journal.scope(f"{case.place(Role.ARBITER).run_id}/record")
    answer = taken_over(answer, _offers(case))
    record = adjudication(answer, artifact_id(ArtifactType.ADJUDICATION, scope.hex8()), case.version_id)
    store_ruling(factory, case.deliverable, scope, by, record, case.history)
    return record


def _once_more(assignment: Assignment, refused: Sequence[str]) -> Assignment:
    """A request for what a shared request was answered wrongly, with what was wrong."""
    if not refused:
        return assignment
    return assignment._replace(message=f"{assignment.message}\n\n{as_refusal(refused)}", refused=True)


def called_modules(cases: Sequence[Case]) -> list[DependencyView]:
    """The sealed modules that are called, each once."""
    views = [view for case in cases for view in case.deliverable.dependencies(case.version_id)]
    return list({view.contract.ref: view for view in views}.values())


def known_views(factory: Factory, views: Sequence[DependencyView], place: str) -> list[DependencyView]:
    """Sealed modules with their statuses in the Code Index, as an invocation, by its `run_id`, is shown them."""
    scope = factory.journal.scope(f"{place}/index")
    statuses = index_statuses(factory, scope, [view.contract.ref for view in views])
    return [view.known_as(statuses.get(view.contract.ref)) for view in views]


def _criteria(cases: Sequence[Case]) -> Sequence[str]:
    return cases[0].deliverable.task.definition.acceptance_criteria


def _task_file(factory: Factory, cases: Sequence[Case]) -> str:
    return factory.folder.read(cases[0].deliverable.task.path).decode()


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
    factory.invocations.contribute(scope, by, ContributionType.ADJUDICATION, record.ref)


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
    name = record.ref.partition("@")[0]
    factory.artifacts.create(scope, by, kind, body, inputs=inputs, name=name)


def _about(
    factory: Factory, deliverable: Deliverable, version_id: str, why: str, *answered: Proposal | Challenge
) -> list[tuple[str, str]]:
    """The artifacts whose status a record moves, and the records that it answers."""
    names = deliverable.artifacts(version_id)
    about = [(factory.artifacts.ref(deliverable.task.folder, name), why) for name in names]
    return [*about, *((record.ref, "what it answers") for record in answered)]


def open_judge_pack(
    factory: Factory,
    cases: Sequence[Case],
    place: Place,
    dependencies: Sequence[DependencyView],
    rulings: Mapping[int, CriterionRuling],
    others: Sequence[Row] = (),
) -> Invocation:
    """Write the context pack: the columns of these roles in the role table (design: role-access), and what is shown of
    other tasks (design: tasks-together)."""
    first, full = cases[0].deliverable, Permission.FULL
    task, histories = task_ref(factory, first.task), [case.history for case in cases]
    included = [
        (record.ref, full, _HISTORY)
        for history in histories
        for record in (*history.proposals, *history.challenges)
    ]
    included += [row for case in cases for row in _contract_rows(case)]
    adjudications = [ruling for history in histories for ruling in history.adjudications]
    carried = {ruling.ref: ruling for ruling in rulings.values()}
    earlier = [r for r in adjudications if r.ref not in carried]
    whole = {r.ref for r in adjudications if place.role is Role.ARBITER}
    included += [ruling.row for ref, ruling in carried.items() if ref not in whole]
    if first.plan_ref:
        included.append((first.plan_ref, Permission.SUMMARY_ONLY, PLAN_CLAIM))
    sources = [source for history in histories for cause in history.causes for source in cause.told_by]
    included += [(ref, Permission.SUMMARY_ONLY, what) for ref, what in sources]
    hidden = "the planner's answer" if first.name == CONTRACTS else "implementation source"
    versions = sorted({proposal.deliverable_ref for history in histories for proposal in history.proposals})
    excluded = [(ref, f"{hidden} is never shown to this role") for ref in versions]
    if place.role is Role.ARBITER:
        included += [(record.ref, full, _HISTORY) for record in adjudications]
        included.append((task, full, "the task file, for grounding"))
        excluded += [(d.contract.ref, "dependencies are no business of this role") for d in dependencies]
    else:
        for view in dependencies:
            status = f"its index status: {view.status}"
            included.append((view.contract.ref, Permission.CONTRACT_ONLY, "a dependency"))
            included.append((view.contract.ref, Permission.METADATA_ONLY, status))
        examples = ", its approved examples" if first.task.definition.acceptance else ""
        described = "its description, " if first.name == CONTRACTS else ""
        extract = f"{described}its acceptance criteria{examples} and what its sketch decided"
        extract += ", as an extract (design: role-access)"
        included.append((task, Permission.SUMMARY_ONLY, extract))
        excluded += [(r.ref, "rulings are not shown to this role") for r in earlier]
    included += [row for row in others if row not in included]
    scope, own = factory.journal.scope(f"{place.run_id}/pack"), first.task
    return factory.invocations.open(
        scope, (place.role, place.run_id), own.task_id, own.folder, included, excluded
    )


def _contract_rows(case: Case) -> Iterator[Row]:
    """The contracts of a debate in the context packs of its judges."""
    yield from ((contract.ref, Permission.FULL, "the contract in question") for contract in case.contracts)


def _own_fault(failure: Failure) -> Failure:
    return failure.model_copy(update={"fault": FaultOf.MODULE})
