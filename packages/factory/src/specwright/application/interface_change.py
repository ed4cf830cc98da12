"""A person's decision about an interface change exception: checked, written, then appended as one batch of Wires (design:
interface-changes, wire).

No model is asked here. A decision can be taken as long as the task of the exception waits; one that a crash kept from the
log counts, and the next command that drives the project appends it.

Who is concerned by a changed contract (design: interface-changes).

An approved interface change: the candidate contract is debated, implemented, judged and sealed (design:
interface-changes). Those that use the module are settled afterwards, as in a change (`change.consumers`).

Each step may be repeated: the journal answers what was answered, and the outcome is one batch of Wires, so that an approval
is carried out exactly once. `graphs.exception_graph` says in which order.

The hash of what a person was shown, so that nothing is decided by a page that is old (design: approval, escalation).

An answer may name the hash of the spec, the escalation or the exception that it is about. It is refused if what waits now
has another one: a spec that was written anew, an exception about which somebody has decided since.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from agent_wire import canonical_json
from ship_gate.base.ids import ModuleRef
from ship_gate.base.text import did_you_mean
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.announce import Announcement, announce, review
from specwright.application.debate.debate import Debate, open_debate
from specwright.application.debate.implementation import module_of
from specwright.application.deprecation import finish_deprecations, superseded
from specwright.application.escalation.answers import next_attempt
from specwright.application.escalation.halt import open_escalations
from specwright.application.factory import Factory, ProjectView
from specwright.application.loop import after_adjudication, after_challenge
from specwright.application.loop_state import DebateState
from specwright.application.plan.planner import next_version_plan
from specwright.application.plan.stored_plans import load_plan
from specwright.application.ship import seal_files
from specwright.application.stages.product import draft_files, shown_hash
from specwright.application.store.artifacts import note_hashes
from specwright.application.tasks import Task, project_state, task_at
from specwright.domain.answers import PlanAnswer, PlannedModule, ReuseAnswer, ReuseConclusion
from specwright.domain.debate.debate import CONTRACTS
from specwright.domain.debate.falsifying import active_tests
from specwright.domain.escalation import OPERATOR, DebateTrail
from specwright.domain.interface_change import (
    Decision,
    DecisionRequest,
    ExceptionDecision,
    ExceptionOutcome,
    ExceptionStatus,
    InterfaceChangeException,
    NewVersion,
    candidate_contract,
    compare_contracts,
    status_of,
)
from specwright.domain.modules.code_index import IndexStatus
from specwright.domain.modules.evidence import tree_sha256
from specwright.domain.tasks.project_state import TaskStatus
from specwright.errors import InputError, RefusedError
from specwright.ports import Step


class Impact(NamedTuple):
    """What a changed contract means.

    Args:
        changes: The difference, a line for each statement, with who breaks.
        consumers: The shipped versions that depend on the old one, directly or not, each after those that it uses.
    """

    changes: list[str]
    consumers: list[str]


def impact_of(view: ProjectView, before: MicroModuleContract, after: MicroModuleContract) -> Impact:
    """Who is concerned by a changed contract."""
    difference = compare_contracts(before, after)
    shipped = {ref for entry in project_state(view).tasks.values() for ref in entry.module_refs}
    concerned, found = {before.ref}, list[str]()
    waiting = {ref: {d.ref for d in view.modules.contract(ref).dependencies} for ref in sorted(shipped)}
    while reached := [ref for ref, calls in waiting.items() if calls & concerned]:
        for ref in reached:
            del waiting[ref]
        found += reached
        concerned |= set(reached)
    return Impact([change.line for change in difference.changes], _ordered(view, found))


def _ordered(view: ProjectView, refs: Sequence[str]) -> list[str]:
    """The references, each after those that it depends on."""
    left, ordered = list(refs), list[str]()
    while left:
        ready = [
            ref for ref in left if not {d.ref for d in view.modules.contract(ref).dependencies} & {*left}
        ]
        ordered += ready
        left = [ref for ref in left if ref not in ready]
    return ordered


def unapprovable(view: ProjectView, record: InterfaceChangeException) -> str:
    """Why a change cannot be approved; empty if it can."""
    ref = record.target_module
    entries = project_state(view).tasks.values()
    if not any(entry.status is TaskStatus.SHIPPED and ref in entry.module_refs for entry in entries):
        return f"no shipped task has {ref} any more"
    return ""


class KnownException(NamedTuple):
    """An exception with what became of it.

    Args:
        record: As it was raised.
        decisions: In their order.
        escalation: The escalation by which its task waits; empty if it waits no more.
        outcomes: What came of its approvals.
    """

    record: InterfaceChangeException
    decisions: list[ExceptionDecision]
    escalation: str
    outcomes: list[ExceptionOutcome]

    @property
    def status(self) -> ExceptionStatus:
        """Where it is."""
        return status_of(self.decisions, self.outcomes, waits=bool(self.escalation))


def exceptions(view: ProjectView) -> Iterator[KnownException]:
    """Every exception that the log knows, oldest first."""
    raised = view.projection.exceptions
    waiting = {} if not raised else _waiting(view)
    for name, record in raised.items():
        decisions = view.projection.exception_decisions.get(name, [])
        outcomes = view.projection.exception_outcomes.get(name, [])
        yield KnownException(record, decisions, waiting.get(name, ""), outcomes)


def decide(factory: Factory, request: DecisionRequest) -> ExceptionDecision:
    """Take a decision; the same one, repeated after a crash, changes nothing more.

    Raises:
        InputError: there is no such exception.
        RefusedError: its task does not wait any more, or a crash left another decision.
    """
    known = _waits(factory, request)
    approves = request.decision is Decision.APPROVE_CHANGE
    if approves and (why := unapprovable(factory, known.record)):
        raise RefusedError(
            f"{request.exception_id} cannot be approved: {why}",
            where=known.escalation,
            remedy="reject it, or answer the escalation otherwise",
        )
    number = len(known.decisions) + 1
    left = factory.exceptions.decision(request.exception_id, number)
    if left is not None and not left.answers(request):
        raise RefusedError(
            f"{request.exception_id} is decided already: {left.decision}; a crash came before it was carried out",
            where=known.escalation,
            remedy="`specwright exceptions list` says where it is now",
        )
    scope = factory.journal.scope(f"exception/{request.exception_id}/{number}")
    decided = ExceptionDecision(
        **request.to_json(), number=number, decided_by=OPERATOR, decided_at=scope.now()
    )
    task = task_at(factory, factory.escalations.escalation(known.escalation).task_id)
    factory.exceptions.decide(decided)
    sha256, project_id = factory.store.define(decided.to_bytes()), factory.projection.project_id
    wire = review(project_id, "exception.decided", sha256, request.exception_id, OPERATOR)
    events = _requeued(factory, task, known.escalation, wire) if decided.requeue else []
    announce(factory, scope, project_id, [wire, *events])
    factory.projection.write(now=True)
    factory.progress.note(
        Step("decided", task.entry.spec_task_id, f"{request.exception_id}: {decided.decision}")
    )
    return decided


def finish_decisions(factory: Factory) -> None:
    """Append the decisions that a crash kept from the log."""
    for known in [*exceptions(factory)]:
        left = factory.exceptions.decision(known.record.exception_id, len(known.decisions) + 1)
        if left is not None and known.escalation:
            decide(factory, DecisionRequest(**left.model_dump(include=set(DecisionRequest.model_fields))))


def _waits(view: ProjectView, request: DecisionRequest) -> KnownException:
    """The exception that a decision is about, whose task waits."""
    every = {one.record.exception_id: one for one in exceptions(view)}
    known = every.get(request.exception_id)
    if known is None:
        raise InputError(
            f"there is no interface change exception {request.exception_id}",
            remedy=f"{did_you_mean(request.exception_id, every)}`specwright exceptions list` lists them",
        )
    if not known.escalation:
        raise RefusedError(
            f"{request.exception_id} cannot be decided any more: its task has gone on",
            where=known.record.raised_by.run_id,
            remedy="`specwright exceptions list` says where it is now",
        )
    return known


def _waiting(view: ProjectView) -> dict[str, str]:
    """The open escalations of exceptions, by the exception."""
    escalations = [view.escalations.escalation(name) for name in open_escalations(view)]
    return {
        str(one.details["exception_id"]): one.escalation_id
        for one in escalations
        if "exception_id" in one.details
    }


def _requeued(factory: Factory, task: Task, escalation: str, wire: Announcement) -> list[Announcement]:
    """The events by which a task runs again; the decision caused the end of its attempt (design: wire)."""
    first, *rest = next_attempt(factory, task, task.definition, escalation)
    return [first._replace(caused_by=wire.stream_id), *rest]


MAX_ROUNDS = 3
"""Rounds of the debate over a candidate contract; then the person is asked again."""


def approved(view: ProjectView) -> KnownException | None:
    """The exception whose approval is to be carried out, if there is one."""
    return next((one for one in exceptions(view) if one.status is ExceptionStatus.APPROVED), None)


class Resolution:
    """One approval that is carried out; each method is a step."""

    def __init__(self, factory: Factory, known: KnownException) -> None:
        self._factory = factory
        self._known = known
        self._number = len(known.decisions)
        self._old = factory.modules.contract(known.record.target_module)
        self._label = f"{known.record.exception_id}-{self._number}"

    @cached_property
    def _task(self) -> Task:
        """The task that shipped the module, for this change."""
        tasks = project_state(self._factory).tasks
        shipping = [
            name
            for name, entry in tasks.items()
            if entry.status is TaskStatus.SHIPPED and self._old.ref in entry.module_refs
        ]
        owner = min(shipping, key=lambda name: tasks[name].declaration_order)
        return task_at(self._factory, owner, self._label)

    def validate(self) -> str:
        """Why the change cannot be debated; empty if it can."""
        entry = self._factory.index.get(*ModuleRef.parse(self._old.ref))
        if entry is None or entry.status is not IndexStatus.SHIPPED:
            return f"{self._old.ref} is not in use any more"
        return ""

    def impact(self) -> Impact:
        """What the proposed change means."""
        delta = self._known.record.proposed_contract_delta
        return impact_of(self._factory, self._old, candidate_contract(self._old, delta))

    def propose(self, impact: Impact) -> DebateState:
        """The candidate contract as a plan of one module, and the first proposal of its debate."""
        record = self._known.record
        after = candidate_contract(self._old, record.proposed_contract_delta)
        used = ", ".join(impact.consumers) or "none"
        claim = " ".join(
            [
                f"{record.exception_id} asks for a change of the sealed contract {self._old.ref}: {record.reason}",
                *(f"Evidence: {said}" for said in record.evidence),
                f"Code computed {after.ref} and this difference: {'; '.join(impact.changes)}.",
                f"Shipped modules that use it: {used}.",
            ]
        )
        plan_id = next_version_plan(
            self._factory, self._task, self._old, _plan_of(after, claim, impact.changes)
        )
        state = DebateState(
            task_id=self._task.task_id,
            deliverable=CONTRACTS,
            plan_id=plan_id,
            schema_version=1,
            change=self._label,
            baseline=self._old.ref,
        )
        return {**state, **self._open(state).propose(state)}

    def debate_round(self, state: DebateState) -> DebateState:
        """One round: after the first the planner revises, then the contract is challenged and, if need be, ruled on."""
        debate = self._open(state)
        if "verdict" in state:
            state = {**state, **debate.revise(state)}
        state = {**state, "decision": "", **debate.challenge(state)}
        if after_challenge(state) == "adjudicate":
            state = {**state, **debate.adjudicate(state)}
        return state

    def next_step(self, state: DebateState) -> str:
        """`agreed`, `again` or `rejected`."""
        following = after_adjudication(state) if state["decision"] else "revise"
        if following in {"ship", "apply_amendments"}:
            return "agreed"
        return "again" if following == "revise" and state["round"] < MAX_ROUNDS else "rejected"

    def lock(self, state: DebateState) -> DebateState:
        """Apply the amendments of an approval, if there are some, and lock the contract; `halt_reason` says what keeps it
        from that."""
        debate = self._open(state)
        if after_adjudication(state) == "apply_amendments":
            state = {**state, **debate.apply_amendments(state)}
            state = {**state, **debate.validate_amendments(state)}
            if state["halt_reason"]:
                return state
        state = {**state, **debate.ship(state)}
        if not state["halt_reason"] and not self._is_of_one_module(state["version_id"]):
            reason = f"the plan that was agreed on is not that of {self._old.name} alone"
            return {**state, "halt_reason": reason}
        return state

    def implementation(self, plan_id: str) -> DebateState:
        """The state in which the debate over the new implementation begins."""
        return DebateState(
            task_id=self._task.task_id,
            deliverable=self._old.name,
            plan_id=plan_id,
            schema_version=1,
            change=self._label,
        )

    def seal(self, plan_id: str, state: DebateState) -> None:
        """Seal the new version, whose debate and gate are passed, and say so; those that use the old one are settled
        before the next dispatch (design: change)."""
        factory, version_id = self._factory, state["version_id"]
        plan = load_plan(factory.artifacts, self._task.folder, plan_id)
        module = module_of(factory, self._task, plan, self._old.name)
        contract = module.contract
        tried, struck = factory.debates.records(state["debate_id"]).falsified()
        active = active_tests(tried, struck, canonical_json.digest(contract.to_json()))
        scope = factory.journal.scope(f"{self._task.run}/{contract.name}/seal/{version_id}")
        files = seal_files(
            factory,
            scope,
            contract,
            module.verdict(version_id, active),
            struck,
            module.tests_to_seal(active),
            lambda: module.mark_shipped(version_id),
        )
        changes = [change.line for change in compare_contracts(self._old, contract).changes]
        self._announce(
            NewVersion(module_ref=contract.ref, supersedes=self._old.ref, sha256=tree_sha256(files)), changes
        )

    def reject(self, reason: str, debate_id: str = "") -> None:
        """Nothing was agreed: the transcript goes beside the escalation, and the person decides again."""
        scope = self._factory.journal.scope(f"exception/{self._label}/outcome")
        trail = DebateTrail()
        if debate_id:
            history = self._factory.debates.records(debate_id).history()
            trail = DebateTrail(
                proposals=list(history.proposals),
                challenges=list(history.challenges),
                adjudications=list(history.adjudications),
            )
        path = self._factory.exceptions.transcript(self._known.escalation, self._number, trail)
        note_hashes(scope, path)
        self._announce(None, self.impact().changes, reason)

    def _announce(self, version: NewVersion | None, changes: list[str], reason: str = "") -> None:
        """Say what came of the approval; with a new version the old one is retired, and the halted task runs again
        (design: wire)."""
        factory, name = self._factory, self._known.record.exception_id
        scope = factory.journal.scope(f"exception/{self._label}/outcome/wire")
        outcome = ExceptionOutcome(
            exception_id=name,
            number=self._number,
            reason=reason,
            changes=changes,
            version=version,
            resolved_at=scope.now(),
        )
        sha256, project_id = factory.store.define(outcome.to_bytes()), factory.projection.project_id
        wire = review(project_id, "exception.resolved", sha256, name)
        halted = task_at(factory, factory.escalations.escalation(self._known.escalation).task_id)
        events = [wire]
        if version is not None:
            events += superseded(factory, scope, version.supersedes, version.module_ref, name)
            first, *rest = next_attempt(factory, halted, halted.definition, self._known.escalation)
            events += [first._replace(caused_by=wire.stream_id), *rest]
        announce(factory, scope, project_id, events)
        finish_deprecations(factory)
        factory.projection.write(now=True)
        what = f"{name}: {version.module_ref if version else reason}"
        factory.progress.note(Step("resolved", halted.entry.spec_task_id, what))

    def _is_of_one_module(self, plan_id: str) -> bool:
        contracts = load_plan(self._factory.artifacts, self._task.folder, plan_id).contracts
        return contracts.keys() == {self._old.name}

    def _open(self, state: DebateState) -> Debate:
        return open_debate(self._factory, state)


def _plan_of(contract: MicroModuleContract, claim: str, changes: Sequence[str]) -> PlanAnswer:
    """The plan whose one module is a contract."""
    reuse = ReuseAnswer(
        query=contract.purpose,
        conclusion=ReuseConclusion.CREATE_NEW,
        justification="It is the next version of a sealed module.",
    )
    module = PlannedModule.of_contract(contract, reuse)
    checks = [f"It is shown: {line}" for line in changes][:5] or ["The contract is the one that is stated."]
    return PlanAnswer(modules=[module], claim=claim, acceptance_checks=checks)


_SHA256 = re.compile(r"[0-9a-f]{64}")


def shown_sha256(view: ProjectView, name: str = "") -> str:
    """The SHA-256 of what a person is shown.

    Args:
        view: The project.
        name: Of an escalation or of an interface change exception; empty for the spec that waits.

    Returns:
        The hash in hex; empty if there is no such thing.
    """
    if not name:
        return shown_hash(view) if view.store.exists(draft_files(view).spec) else ""
    if name.startswith("ESC-"):
        exists = view.escalations.exists(name)
        return canonical_json.digest(view.escalations.escalation(name).to_json()) if exists else ""
    for known in exceptions(view):
        if known.record.exception_id == name:
            rows = (known.record, *known.decisions, *known.outcomes)
            return canonical_json.digest([row.to_json() for row in rows])
    return ""


def require_shown(view: ProjectView, sha256: str, name: str = "") -> None:
    """Refuse an answer to something else than what waits now.

    Args:
        view: The project.
        sha256: Of what the person was shown; empty to take what waits now.
        name: As `shown_sha256`.

    Raises:
        InputError: it is no SHA-256.
        RefusedError: what waits now has another one.
    """
    if not sha256:
        return
    if not _SHA256.fullmatch(sha256.lower()):
        raise InputError(
            f"{sha256[:80]!r} is no SHA-256",
            where="--sha256",
            remedy="`specwright status --json` and `specwright escalations --json` show it",
        )
    if (now := shown_sha256(view, name)) and now != sha256.lower():
        raise RefusedError(
            f"{name or 'the spec'} is not what was shown: the answer names {sha256.lower()}, this one has {now}",
            where=name or view.store.address,
            remedy="look at it again, and answer what it says now",
        )
