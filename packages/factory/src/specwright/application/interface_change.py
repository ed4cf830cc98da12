"""Decisions about interface change exceptions, approved changes, and the hashes of shown pages (design: interface-changes,
approval).

A decision is checked, written, and appended as one batch of Wires, while the exception's task waits. If a crash comes
before the Wires, the next command that drives the project appends them.

An approved change debates the candidate contract, then implements, judges and seals it; `graphs.graphs` has the order.
Each step can be repeated, and the outcome is one batch of Wires, so an approval takes effect exactly once. Consumers are
settled afterwards, as in a change (`change.consumers`).

An answer may have the hash of the spec, escalation or exception that the person was shown. It is refused if the present
one has another hash, so that nobody answers an outdated page.
"""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TypedDict

from agent_wire import canonical_json
from ship_gate.base.ids import ModuleRef
from ship_gate.base.text import did_you_mean
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.announce import announce, review_of
from specwright.application.debate.debate import open_debate
from specwright.application.debate.implementation import Implementation
from specwright.application.deprecation import finish_deprecations, superseded
from specwright.application.escalation.halted import open_escalations
from specwright.application.escalation.offers import next_attempt
from specwright.application.factory import Factory, ProjectView
from specwright.application.loop import after_adjudication, after_challenge
from specwright.application.loop_state import DebateState, HaltedDebate
from specwright.application.planner import next_version_plan
from specwright.application.ship import seal
from specwright.application.stages.product import draft_files, shown_hash
from specwright.application.store.records import debate_trail
from specwright.application.stored_plans import load_plan
from specwright.application.tasks import Task, task_at, task_board
from specwright.domain.base.graph import dependents
from specwright.domain.debate.records import CONTRACTS
from specwright.domain.escalation import OPERATOR
from specwright.domain.interface_change import (
    Decision,
    DecisionRequest,
    ExceptionDecision,
    ExceptionOutcome,
    ExceptionStatus,
    KnownException,
    NewVersion,
    candidate_contract,
    compare_contracts,
)
from specwright.domain.modules.code_index import IndexStatus
from specwright.domain.modules.evidence import tree_sha256
from specwright.errors import AnswerError, InputError, RefusedError
from specwright.ports import RunEvent


def exceptions(view: ProjectView) -> Iterator[KnownException]:
    """Yield every exception in the log, oldest first, with the open escalation of its task."""
    waiting = dict[str, str]()
    for name in open_escalations(view) if view.projection.exceptions else ():
        raised: str = view.escalations.escalation(name).details.get("exception_id", "")
        waiting[raised] = name
    for name, known in view.projection.exceptions.items():
        yield known._replace(escalation=waiting.get(name, ""))


def decide(factory: Factory, request: DecisionRequest) -> ExceptionDecision:
    """Apply a decision; repeating it after a crash is safe.

    Raises:
        InputError: there is no such exception.
        RefusedError: the task no longer waits, or a crash left another decision.
    """
    name, known = request.exception_id, _waits(factory, request)
    ref, number = known.record.target_module, len(known.decisions) + 1
    if request.decision is Decision.APPROVE_CHANGE and not task_board(factory).holders(ref):
        raise RefusedError(
            f"{name} cannot be approved: no shipped task has {ref} anymore",
            where=known.escalation,
            remedy="reject it, or give the escalation another answer",
        )
    left = factory.escalations.decision(name, number)
    if left is not None and not left.answers(request):
        raise RefusedError(
            f"{name} is already decided: {left.decision}; a crash prevented its effect",
            where=known.escalation,
            remedy="`specwright exceptions list` says where it is now",
        )
    scope = factory.journal.scope(f"exception/{name}/{number}")
    decided = ExceptionDecision(
        **request.to_json(), number=number, decided_by=OPERATOR, decided_at=scope.now()
    )
    task = task_at(factory, factory.escalations.escalation(known.escalation).task_id)
    factory.escalations.decide(decided)
    events = [review_of(factory, "exception.decided", decided, name, OPERATOR)]
    if decided.requeue:
        events += next_attempt(factory, task, known.escalation, cause=events[0].stream_id)
    announce(factory, scope, events)
    factory.projection.write(now=True)
    factory.progress.note(RunEvent("decided", task.entry.spec_task_id, f"{name}: {decided.decision}"))
    return decided


def finish_decisions(factory: Factory) -> None:
    """Append decisions that were written but not logged because of a crash."""
    for known in [*exceptions(factory)]:
        left = factory.escalations.decision(known.record.exception_id, len(known.decisions) + 1)
        if left is not None and known.escalation:
            decide(factory, DecisionRequest(**left.model_dump(include=set(DecisionRequest.model_fields))))


def _waits(view: ProjectView, request: DecisionRequest) -> KnownException:
    """Return the exception of a decision; raise unless its task waits."""
    every = {one.record.exception_id: one for one in exceptions(view)}
    known = every.get(request.exception_id)
    if known is None:
        raise InputError(
            f"there is no interface change exception {request.exception_id}",
            remedy=f"{did_you_mean(request.exception_id, every)}`specwright exceptions list` lists them",
        )
    if not known.escalation:
        raise RefusedError(
            f"{request.exception_id} can no longer be decided: its task has continued",
            where=known.record.raised_by.run_id,
            remedy="`specwright exceptions list` says where it is now",
        )
    return known


MAX_ROUNDS = 3
"""The limit on rounds of the debate over a candidate contract; then the person is asked again."""


def approved(view: ProjectView) -> KnownException | None:
    """Return the exception whose approval is in progress, if any."""
    return next((one for one in exceptions(view) if one.status is ExceptionStatus.APPROVED), None)


class ChangeState(TypedDict, total=False):
    """The state of an approved change, as JSON primitives; the content is in the debate's records."""

    schema_version: int
    changes: list[str]
    consumers: list[str]
    debate: DebateState
    agreed: bool
    halted: HaltedDebate
    reason: str


class Resolution:
    """An approved change in progress; its public methods are the nodes of its graph.

    Args:
        factory: The ports.
        known: The approved exception.
        hold_debate: Runs the debate over the implementation to its end; a halt in it leads to `module_halted`.
    """

    def __init__(
        self, factory: Factory, known: KnownException, hold_debate: Callable[[DebateState], DebateState]
    ) -> None:
        self._factory, self._known, self._hold_debate = factory, known, hold_debate
        self._number = len(known.decisions)
        self._old = factory.modules.contract(known.record.target_module)
        self._label = f"{known.record.exception_id}-{self._number}"

    @cached_property
    def _task(self) -> Task:
        """The task that shipped the module, with this change."""
        return task_at(self._factory, task_board(self._factory).holders(self._old.ref)[0], self._label)

    def validate_ice(self, state: ChangeState) -> ChangeState:
        """Stop if the version is no longer in use."""
        entry = self._factory.index.get(*ModuleRef.parse(self._old.ref))
        in_use = entry is not None and entry.status is IndexStatus.SHIPPED
        return {"reason": "" if in_use else f"{self._old.ref} is no longer in use"}

    def assess_impact(self, state: ChangeState) -> ChangeState:
        """Compute the difference of the contracts, and the shipped versions that use the old one, directly or indirectly,
        each after its dependencies."""
        modules, tasks = self._factory.modules, task_board(self._factory).tasks.values()
        calls = {
            ref: [one.ref for one in modules.contract(ref).dependencies]
            for entry in tasks
            for ref in entry.module_refs
        }
        consumers = dependents([self._old.ref], calls)
        return {"changes": self._changes(self._candidate()), "consumers": consumers}

    def propose_change(self, state: ChangeState) -> ChangeState:
        """Store the candidate contract as a plan of one module, and the first proposal of its debate."""
        record, after = self._known.record, self._candidate()
        used = ", ".join(state["consumers"]) or "none"
        claim = " ".join(
            [
                f"{record.exception_id} asks for a change of the sealed contract {self._old.ref}: {record.reason}",
                *(f"Evidence: {said}" for said in record.evidence),
                f"Code computed {after.ref} and this difference: {'; '.join(state['changes'])}.",
                f"Shipped modules that use it: {used}.",
            ]
        )
        checks = [f"It is shown: {line}" for line in state["changes"]][:5]
        checks = checks or ["The contract is the one that is stated."]
        plan_id = next_version_plan(self._factory, self._task, self._old, [after], claim, checks)
        debate = self._debate_of(CONTRACTS, plan_id)
        debate["baseline"] = self._old.ref
        return {"debate": {**debate, **open_debate(self._factory, debate).propose(debate)}}

    def debate_round(self, state: ChangeState) -> ChangeState:
        """Run one round: from the second on the planner revises; then comes the challenge and, if needed, the ruling."""
        debate: DebateState = state["debate"]
        work = open_debate(self._factory, debate)
        if "verdict" in debate:
            debate = {**debate, **work.revise(debate)}
        debate = {**debate, "decision": "", **work.challenge(debate)}
        if after_challenge(debate) == "adjudicate":
            debate = {**debate, **work.adjudicate(debate)}
        return {"debate": debate}

    def check_resolved(self, state: ChangeState) -> ChangeState:
        """Decide whether the contract is agreed, debated again, or rejected."""
        debate = state["debate"]
        following = after_adjudication(debate) if debate["decision"] else "revise"
        if following == "revise" and debate["round"] < MAX_ROUNDS:
            return {}
        if following in {"ship", "apply_amendments"}:
            return {"agreed": True}
        return {"reason": debate.get("halt_reason") or "the contract was not agreed on within its rounds"}

    def finalize(self, state: ChangeState) -> ChangeState:
        """Make the new version if the contract is agreed, and record the outcome."""
        debate = state.get("debate", {})
        try:
            reason = state.get("reason") or self._make(debate)
        except AnswerError as error:
            reason = error.what
        if reason:
            self._reject(reason, debate.get("debate_id", ""))
        return {"reason": reason}

    def module_halted(self, state: ChangeState) -> ChangeState:
        """Handle a halt of the debate over the implementation (design: engineering)."""
        halted = state["halted"]
        reason = f"the new version could not be made: {halted['reason']}"
        self._reject(reason, halted["debate_id"])
        return {"reason": reason}

    def _make(self, state: DebateState) -> str:
        """Apply the amendments of an approval, lock the contract, implement and seal the new version. Return the reason if
        that fails. Consumers are settled before the next dispatch (design: change)."""
        factory, name, debate = self._factory, self._old.name, open_debate(self._factory, state)
        if after_adjudication(state) == "apply_amendments":
            state = {**state, **debate.apply_amendments(state)}
            state = {**state, **debate.validate_amendments(state)}
            if state["halt_reason"]:
                return state["halt_reason"]
        if reason := debate.ship(state)["halt_reason"]:
            return reason
        plan = load_plan(factory.artifacts, self._task.folder, state["version_id"])
        if plan.contracts.keys() != {name}:
            return f"the plan that was agreed on is not that of {name} alone"
        made = self._hold_debate(self._debate_of(name, plan.plan_id))
        module = Implementation(factory, self._task, plan, name)
        files = seal(factory, self._task, module, made["version_id"], made["debate_id"], ready=False)
        ref = module.contract.ref
        version = NewVersion(module_ref=ref, supersedes=self._old.ref, sha256=tree_sha256(files))
        self._announce(version, self._changes(module.contract))
        return ""

    def _candidate(self) -> MicroModuleContract:
        return candidate_contract(self._old, self._known.record.proposed_contract_delta)

    def _changes(self, after: MicroModuleContract) -> list[str]:
        return [change.line for change in compare_contracts(self._old, after).changes]

    def _debate_of(self, deliverable: str, plan_id: str) -> DebateState:
        """Return the initial state of a debate."""
        return DebateState(
            task_id=self._task.task_id,
            deliverable=deliverable,
            plan_id=plan_id,
            schema_version=1,
            change=self._label,
        )

    def _reject(self, reason: str, debate_id: str) -> None:
        """Record that no contract was agreed: the transcript goes beside the escalation, and the person decides again."""
        scope = self._factory.journal.scope(f"exception/{self._label}/outcome")
        held = [self._factory.debates.records(debate_id).history()] if debate_id else []
        trail = debate_trail(held)
        self._factory.escalations.transcript(scope, self._known.escalation, self._number, trail)
        self._announce(None, self._changes(self._candidate()), reason)

    def _announce(self, version: NewVersion | None, changes: list[str], reason: str = "") -> None:
        """Append the outcome of the approval. With a new version, retire the old one and run the halted task again (design:
        wire)."""
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
        halted = task_at(factory, factory.escalations.escalation(self._known.escalation).task_id)
        events = [review_of(factory, "exception.resolved", outcome, name)]
        if version is not None:
            events += superseded(factory, scope, version.supersedes, version.module_ref, name)
            events += next_attempt(factory, halted, self._known.escalation, cause=events[0].stream_id)
        announce(factory, scope, events)
        finish_deprecations(factory)
        factory.projection.write(now=True)
        what = f"{name}: {version.module_ref if version else reason}"
        factory.progress.note(RunEvent("resolved", halted.entry.spec_task_id, what))


_SHA256 = re.compile(r"[0-9a-f]{64}")


CHANGE = "the change"
"""The name of the open change in `shown_sha256` and in messages."""


def shown_sha256(view: ProjectView, name: str = "") -> str:
    """Return the SHA-256 of what a person is shown.

    Args:
        view: The project.
        name: The id of an escalation or exception; `the change` for the open change; empty for the spec that waits.

    Returns:
        The hash in hex; empty if there is no such thing.
    """
    if not name:
        return shown_hash(view) if view.store.exists(draft_files(view).spec) else ""
    if name == CHANGE:
        change = view.projection.open_change
        return canonical_json.digest(change.request.to_json()) if change else ""
    if name.startswith("ESC-"):
        exists = view.escalations.exists(name)
        return canonical_json.digest(view.escalations.escalation(name).to_json()) if exists else ""
    if (known := view.projection.exceptions.get(name)) is None:
        return ""
    rows = (known.record, *known.decisions, *known.outcomes)
    return canonical_json.digest([row.to_json() for row in rows])


def require_shown(view: ProjectView, sha256: str, name: str = "") -> None:
    """Raise unless the person was shown what waits now.

    Args:
        view: The project.
        sha256: The hash of what the person was shown; empty to skip the check.
        name: As in `shown_sha256`.

    Raises:
        InputError: the text is not a SHA-256.
        RefusedError: what waits now has another hash.
    """
    sha256 = checked_sha256(sha256)
    if sha256 and (now := shown_sha256(view, name)) and now != sha256:
        raise RefusedError(
            f"{name or 'the spec'} is not what was shown: the answer names {sha256}, this one has {now}",
            where=name or view.store.address,
            remedy="look at it again, and answer what it says now",
        )


def checked_sha256(text: str) -> str:
    """Return a person's SHA-256 in lower case; empty if none was given.

    Raises:
        InputError: the text is not a SHA-256.
    """
    if text and not _SHA256.fullmatch(text.lower()):
        raise InputError(
            f"{text[:80]!r} is not a SHA-256",
            where="--sha256",
            remedy="`specwright status --json` and `specwright escalations --json` show it",
        )
    return text.lower()
