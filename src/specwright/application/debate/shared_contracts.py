"""The first round over the contracts of a task takes those of the tasks that were planned with it along (design:
tasks-together).

A role is shown the contracts of each as drafts. What it says of a later task is kept for it and counts there, after the
checks that it would have met, if the task comes to the same contracts.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

from specwright.application import scopes
from specwright.application.context.packs import Row, task_ref
from specwright.application.context.role_store import RoleStore
from specwright.application.criteria import carried_rulings
from specwright.application.debate.case import Case
from specwright.application.debate.contract_set import ContractSet
from specwright.application.debate.judges import called_modules, known_views, open_judge_pack
from specwright.application.factory import Factory
from specwright.application.messages.debate import JudgedDebate
from specwright.application.messages.tasks import JudgedTask, challenges_message, rulings_message
from specwright.application.plan.advance_answers import (
    AdvanceAnswer,
    AdvanceStep,
    OfferedAnswer,
    advance_answer,
    keep,
    part_of,
)
from specwright.application.plan.amendment_notes import other_amendments, with_amendments
from specwright.application.plan.drafted_plans import (
    PlanDrafts,
    contracts_as_changed,
    contracts_basis,
    plan_basis,
    plan_holds,
    sealed_fingerprint,
    shown_of,
    was_asked,
)
from specwright.application.plan.rules import known_modules
from specwright.application.plan.shared_plans import (
    SharedTasks,
    following,
    journalled_request,
    may_share,
    shared_place,
    task_brief,
)
from specwright.application.store.debates import DebateHistory
from specwright.application.tasks import Task
from specwright.canonical_json import JsonValue, digest
from specwright.domain.answers.answers import ArbiterAnswer, ChallengerAnswer, Verdict
from specwright.domain.answers.plan_answers import PlanAnswer
from specwright.domain.artifacts.provenance import Permission
from specwright.domain.base.ids import ArtifactType, artifact_id
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.debate.debate import CONTRACTS, MAX_REVISIONS, Challenge, Proposal, challenge
from specwright.errors import AnswerError
from specwright.ports.roles import Assignment, Place, Role, SharedAnswer

Answered = SharedAnswer[ChallengerAnswer] | SharedAnswer[ArbiterAnswer]

_NO_ID = "00000000"


def challenge_ahead(factory: Factory, case: Case) -> OfferedAnswer | None:
    """What a request about several tasks was answered about the contracts of this one: before, or now together with
    those that come next; None if they are challenged alone."""
    together = _together(factory, case, Role.CHALLENGER)
    return together.offered(AdvanceStep.CHALLENGE) if together else None


def ruling_ahead(factory: Factory, case: Case) -> OfferedAnswer | None:
    """The same of the ruling, where the challenge found nothing; None if it is ruled on alone."""
    together = _together(factory, case, Role.ARBITER) if case.shown.undisputed else None
    return together.offered(AdvanceStep.RULING) if together else None


def _together(factory: Factory, case: Case, role: Role) -> "_ContractsTogether | None":
    contracts = case.deliverable
    if not isinstance(contracts, ContractSet) or not contracts.is_new or case.number > 1:
        return None
    if not factory.shared_characters or not may_share(factory, contracts.task):
        return None
    return _ContractsTogether(factory, case, contracts, role)


class _JudgedContracts(NamedTuple):
    """The contracts of a task, and what a verdict on them rests on."""

    task: Task
    plan: PlanAnswer
    contracts: Sequence[MicroModuleContract]
    basis: dict[str, JsonValue]
    debate: JudgedDebate


class _ContractsTogether:
    """The contracts of a task, which are judged now, with those of the tasks that come next.

    Args:
        factory: The ports.
        case: The debate over them.
        contracts: What it is about.
        role: Who judges.
    """

    def __init__(self, factory: Factory, case: Case, contracts: ContractSet, role: Role) -> None:
        self._factory, self._case, self._contracts, self._role = factory, case, contracts, role
        self._task = contracts.task
        scope = factory.journal.scope(scopes.known_together(self._task.run, role))
        self._known = known_modules(factory, scope)

    def offered(self, step: AdvanceStep) -> OfferedAnswer | None:
        """What was answered, and what an answer that counts rests on."""
        answer = advance_answer(self._factory, self._task, step) or self._asked(step)
        return OfferedAnswer(answer, self._own().basis) if answer else None

    def _asked(self, step: AdvanceStep) -> AdvanceAnswer | None:
        """Ask, and keep each part; that of this task last, so that a crash before it leaves the request to be repeated."""
        shared = journalled_request(self._factory, self._task, self._role, self._others, self._composed)
        if not shared.tasks:
            return None
        judged = [self._own(), *self._drafted(shared.others)]
        try:
            answered: Answered | AnswerError = self._answered(shared, judged)
        except AnswerError as error:
            answered = error
        bases = self._bases(shared, judged, answered)
        parts = [part_of(answered, one.entry.spec_task_id, bases[one.task_id]) for one in shared.tasks]
        for one, part in zip(shared.others, parts[1:], strict=True):
            keep(self._factory, one, step, part)
        return keep(self._factory, self._task, step, parts[0])

    def _answered(self, shared: SharedTasks, judged: Sequence[_JudgedContracts]) -> Answered:
        factory, place, case = self._factory, shared.place(self._role), self._case
        views = known_views(factory, called_modules([case]), place.run_id)
        rulings = carried_rulings(factory, self._task, (), part_place(place, self._task))
        rows = [row for one in judged[1:] for row in self._rows(one, place)]
        by = open_judge_pack(factory, [case], place, views, rulings, rows)
        if self._role is Role.ARBITER:
            return factory.roles.arbitrate_together(Assignment(place, shared.message, {}, undisputed=True))
        proposal = case.history.proposals[-1]
        store = RoleStore(
            factory,
            factory.index,
            by,
            judged=case.contracts,
            contracts_only=True,
            upstream=[view.contract.ref for view in views],
            works_on=proposal.deliverable_ref,
        )
        files = {"proposal.json": proposal.to_bytes()}
        return factory.roles.challenge_together(Assignment(place, shared.message, files, store=store))

    def _bases(
        self, shared: SharedTasks, judged: Sequence[_JudgedContracts], answered: Answered | AnswerError
    ) -> dict[str, dict[str, JsonValue]]:
        """What the verdict on each task rests on. A Challenger judges a task beside the contracts before it as its own exact
        changes make them, as it is told; not one that was recorded before it was told so."""
        bases, changed = dict(shared.shown), dict[str, JsonValue]()
        if self._role is Role.ARBITER or isinstance(answered, AnswerError):
            return bases
        for one in judged:
            basis = bases[one.task.task_id]
            calls = cast(dict[str, JsonValue], basis["calls"])
            if not was_asked(self._factory, one.task.place(CONTRACTS, "round-1", self._role)):
                as_changed = {name: changed.get(name, fingerprint) for name, fingerprint in calls.items()}
                bases[one.task.task_id] = {**basis, "calls": as_changed}
            verdict = answered.answers.get(one.task.entry.spec_task_id)
            if isinstance(verdict, ChallengerAnswer):
                contracts = contracts_as_changed(one.plan, one.contracts, verdict.failures)
                changed |= {contract.name: contract.interface_fingerprint for contract in contracts}
        return bases

    def _rows(self, judged: _JudgedContracts, place: Place) -> list[Row]:
        """What the context pack says of a task that comes later: there are no records of it yet."""
        seen = Permission.FULL if self._role is Role.ARBITER else Permission.SUMMARY_ONLY
        rows: list[Row] = [(task_ref(self._factory, judged.task), seen, _LATER)]
        rulings = carried_rulings(self._factory, judged.task, (), part_place(place, judged.task))
        rows += [ruling.row for ruling in rulings.values()]
        if self._role is Role.CHALLENGER:
            rows += [(ref, Permission.CONTRACT_ONLY, "a dependency") for ref in self._sealed_calls([judged])]
        return rows

    def _composed(self, tasks: Sequence[Task]) -> tuple[dict[str, dict[str, JsonValue]], str]:
        place = shared_place(tasks, self._role)
        judged = [self._own(), *self._drafted(tasks[1:])]
        told = [JudgedTask(task_brief(self._factory, one.task, place.run_id), one.debate) for one in judged]
        shown = {one.task.task_id: one.basis for one in judged}
        if self._role is Role.ARBITER:
            return shown, rulings_message(told, MAX_REVISIONS)
        refs = [view.contract.ref for view in called_modules([self._case])]
        refs += [ref for ref in self._sealed_calls(judged[1:]) if ref not in refs]
        views = known_views(self._factory, [self._factory.modules.view(ref) for ref in refs], place.run_id)
        return shown, challenges_message(told, views)

    def _sealed_calls(self, judged: Sequence[_JudgedContracts]) -> list[str]:
        """The sealed modules that drafts call."""
        called = (one.ref for task in judged for contract in task.contracts for one in contract.dependencies)
        return [ref for ref in dict.fromkeys(called) if ref in self._known.refs]

    def _others(self) -> list[Task]:
        """The tasks that come next, as far as they can be judged now."""
        step = AdvanceStep.RULING if self._role is Role.ARBITER else AdvanceStep.CHALLENGE

        def wanted(other: Task) -> bool:
            judged = advance_answer(self._factory, other, step) is not None
            return not judged and advance_answer(self._factory, other, AdvanceStep.PLAN) is not None

        return [one.task for one in self._drafted(following(self._factory, self._task, wanted))]

    def _own(self) -> _JudgedContracts:
        """The contracts of the task that is dispatched, which are stored."""
        case, place = self._case, self._case.place(self._role).run_id
        rulings = carried_rulings(self._factory, self._task, self._contracts.questions, place)
        answer = self._contracts.answer(case.version_id)
        basis = contracts_basis(
            shown_of(self._task, rulings),
            answer,
            lambda name: sealed_fingerprint(self._factory, self._known, name),
        )
        if self._role is Role.ARBITER:
            basis["challenge"] = verdict_digest(case.history.challenges[-1])
            basis = ruling_basis(self._factory, self._task, basis, case.contracts)
        return _JudgedContracts(self._task, answer, case.contracts, basis, case.shown)

    def _drafted(self, tasks: Sequence[Task]) -> list[_JudgedContracts]:
        """The contracts of tasks that come next, as drafts; those are left out that the rules of a plan refuse, or
        that rest on what has changed."""
        drafts, found = PlanDrafts(self._factory, self._known, self._case.contracts), list[_JudgedContracts]()
        for task in tasks:
            early = advance_answer(self._factory, task, AdvanceStep.PLAN)
            answer = early.read(PlanAnswer) if early else None
            if early is None or answer is None:
                continue
            place = scopes.part(self._case.place(self._role).run_id, task.entry.spec_task_id)
            rulings = carried_rulings(self._factory, task, (), place)
            rests_on = plan_basis(shown_of(task, rulings), answer, drafts.fingerprint)
            basis = contracts_basis(shown_of(task, rulings), answer, drafts.fingerprint)
            stands = plan_holds(self._factory, task, self._known, early, rests_on)
            challenges = self._challenges(task, basis) if stands else None
            contracts = drafts.add(answer) if challenges is not None else []
            if challenges is None or not contracts:
                continue
            if challenges:
                basis["challenge"] = verdict_digest(challenges[-1])
                basis = ruling_basis(self._factory, task, basis, contracts)
            amended = other_amendments(self._factory, task, contracts)
            history = DebateHistory([_proposal(answer)], challenges)
            debate = JudgedDebate(CONTRACTS, contracts, history, other_amendments=amended)
            found.append(_JudgedContracts(task, answer, contracts, basis, debate))
        return found

    def _challenges(self, task: Task, basis: JsonValue) -> Sequence[Challenge] | None:
        """The challenge that was given ahead, for the Arbiter; None if there is none that holds, or if it found
        something."""
        if self._role is Role.CHALLENGER:
            return ()
        passed = review_ahead(self._factory, task, basis)
        return None if passed is None else [passed]


def ruling_basis(
    factory: Factory, task: Task, basis: dict[str, JsonValue], contracts: Sequence[MicroModuleContract]
) -> dict[str, JsonValue]:
    """What a ruling on contracts rests on, with what was amended elsewhere and stands in them as before.

    Args:
        factory: The ports.
        task: The task.
        basis: Without it.
        contracts: Of the task.
    """
    lines = other_amendments(factory, task, contracts)
    return with_amendments(factory, basis, lines, task.place(CONTRACTS, "round-1", Role.ARBITER))


def review_ahead(factory: Factory, task: Task, basis: JsonValue) -> Challenge | None:
    """The review of the contracts of a task that was given in advance, if it holds and found nothing."""
    early = advance_answer(factory, task, AdvanceStep.CHALLENGE)
    answer = early.read(ChallengerAnswer) if early else None
    if early is None or answer is None or early.basis != basis:
        return None
    if answer.verdict is not Verdict.PASS or answer.unshown_criteria or answer.falsifying_tests:
        return None
    return challenge(answer, artifact_id(ArtifactType.CHALLENGE, _NO_ID), _NO_PLAN)


_LATER = "a task that comes later: of the plan that was given for it, its contracts and its claim"
_NO_PLAN = artifact_id(ArtifactType.MICRO_PLAN, _NO_ID)


def part_place(place: Place, task: Task) -> str:
    """Where the part of a request that is about one task stands."""
    return scopes.part(place.run_id, task.entry.spec_task_id)


def _proposal(answer: PlanAnswer) -> Proposal:
    """A plan that is not stored, as the proposal of its contracts."""
    return Proposal(
        proposal_id=artifact_id(ArtifactType.PROPOSAL, _NO_ID),
        target_artifact_id=_NO_PLAN,
        claim=answer.claim,
        deliverable_ref=f"{_NO_PLAN}@1.0.0",
        acceptance_checks=list(answer.acceptance_checks),
    )


def verdict_digest(record: Challenge) -> str:
    """A challenge without its ids."""
    return digest(
        {k: v for k, v in record.to_json().items() if k not in ("challenge_id", "target_artifact_id")}
    )
