"""An approved interface change: the candidate contract is debated, implemented, judged and sealed (design:
interface-changes). Those that use the module are settled afterwards, as in a change (`change.consumers`).

Each step may be repeated: the journal answers what was answered, and the outcome is one batch of Wires, so that an approval
is carried out exactly once. `graphs.exception_graph` says in which order.
"""

from collections.abc import Sequence
from functools import cached_property

from agent_wire import canonical_json
from ship_gate.base.ids import ModuleRef
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.announce import announce, review
from specwright.application.debate.debate import Debate, open_debate
from specwright.application.debate.implementation import module_of
from specwright.application.deprecation import finish_deprecations, superseded
from specwright.application.escalation.answers import next_attempt
from specwright.application.factory import Factory, ProjectView
from specwright.application.interface_change.decisions import KnownException, exceptions
from specwright.application.interface_change.impact import Impact, impact_of
from specwright.application.loop import after_adjudication, after_challenge
from specwright.application.loop_state import DebateState
from specwright.application.plan.planner import next_version_plan
from specwright.application.plan.stored_plans import load_plan
from specwright.application.ship import seal_files
from specwright.application.store.file_hashes import note_hashes
from specwright.application.tasks import Task, project_state, task_at
from specwright.domain.answers.plan_answers import (
    PlanAnswer,
    PlannedModule,
    ReuseAnswer,
    ReuseConclusion,
)
from specwright.domain.debate.debate import CONTRACTS
from specwright.domain.debate.falsifying import active_tests
from specwright.domain.escalation.escalation import DebateTrail
from specwright.domain.interface_change.comparison import compare_contracts
from specwright.domain.interface_change.decision import ExceptionOutcome, ExceptionStatus, NewVersion
from specwright.domain.interface_change.exception import candidate_contract
from specwright.domain.modules.code_index import IndexStatus
from specwright.domain.modules.evidence import tree_sha256
from specwright.domain.tasks.project_state import TaskStatus
from specwright.ports.progress import Step

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
