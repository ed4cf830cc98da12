"""An approved interface change: the candidate contract is debated, implemented, judged with those that use it, and sealed
(design: interface-changes).

Each step may be repeated: the journal answers what was answered, and the outcome is one batch of Wires, so that an approval
is carried out exactly once. `graphs.exception_graph` says in which order.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from specwright import canonical_json
from specwright.application import scopes
from specwright.application.announce import announce, review
from specwright.application.debate.debate import Debate, open_debate
from specwright.application.debate.gate_runs import GateRun, as_failures, candidate, judge
from specwright.application.debate.implementation import module_of
from specwright.application.escalation.answers import next_attempt
from specwright.application.factory import Factory, ProjectView
from specwright.application.interface_change.decisions import KnownException, exceptions
from specwright.application.interface_change.impact import Impact, impact_of, migration_problem
from specwright.application.loop import after_adjudication, after_challenge
from specwright.application.loop_state import DebateState
from specwright.application.plan.planner import next_version_plan
from specwright.application.plan.stored_plans import load_plan
from specwright.application.ship import seal_files
from specwright.application.store.file_hashes import note_hashes
from specwright.application.tasks import Task, project_state, task_at
from specwright.domain.answers.answers import StruckTest
from specwright.domain.answers.plan_answers import (
    DependencyAnswer,
    PlanAnswer,
    PlannedEffect,
    PlannedModule,
    ReuseAnswer,
    ReuseConclusion,
)
from specwright.domain.base.ids import ModuleRef
from specwright.domain.contract.contract import Dependency, MicroModuleContract
from specwright.domain.debate.debate import CONTRACTS
from specwright.domain.debate.falsifying import active_tests
from specwright.domain.escalation.escalation import DebateTrail
from specwright.domain.interface_change.comparison import Bump, compare_contracts, next_version
from specwright.domain.interface_change.decision import ExceptionOutcome, ExceptionStatus, NewVersion
from specwright.domain.interface_change.exception import candidate_contract
from specwright.domain.modules.code_index import IndexStatus, summarise
from specwright.domain.modules.evidence import TreeHashes, tree_sha256
from specwright.ports.gate import GateVerdict, SealedModule
from specwright.ports.journal import Scope
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
        owner = next(name for name, entry in tasks.items() if self._old.ref in entry.module_refs)
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
        if not state["halt_reason"] and (reason := self._unmigrated(state["version_id"])):
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

    def judge_and_seal(self, plan_id: str, state: DebateState) -> str:
        """Judge the consumers with the new version; if all pass, seal everything. Returns why nothing was sealed."""
        plan = load_plan(self._factory.artifacts, self._task.folder, plan_id)
        module = module_of(self._factory, self._task, plan, self._old.name)
        contract, version_id = module.contract, state["version_id"]
        tried, struck = self._factory.debates.records(state["debate_id"]).falsified()
        active = active_tests(tried, struck, canonical_json.digest(contract.to_json()))
        verdict = module.verdict(version_id, active)
        location = self._factory.artifacts.location(self._task.folder, version_id)
        drafted = {
            contract.ref: SealedModule(contract, location, TreeHashes.of(verdict.files).implementation)
        }
        judged = [(contract, self._old.ref, verdict, struck)]
        newer = {self._old.ref: contract.ref}
        for ref in impact_of(self._factory, self._old, contract).consumers:
            patched = _repointed(self._factory.modules.contract(ref), newer)
            verdict = self._judged(patched, ref, drafted)
            if not verdict.passed:
                said = "; ".join(failure.evidence for failure in as_failures(verdict))
                return f"{patched.name} ({ref}), which uses it, does not pass the gate with {contract.ref}: {said}"
            sha256 = self._factory.modules.evidence(ref).tree_sha256.implementation
            drafted[patched.ref] = SealedModule(patched, self._factory.modules.location(ref), sha256)
            newer[ref] = patched.ref
            judged.append((patched, ref, verdict, []))
        versions = [self._sealed(*one) for one in judged]
        module.mark_shipped(version_id)
        changes = [change.line for change in compare_contracts(self._old, contract).changes]
        self._announce(versions, changes, "")
        return ""

    def reject(self, reason: str, debate_id: str = "") -> None:
        """Nothing was agreed: the transcript goes beside the escalation, and the person decides again."""
        scope = self._factory.journal.scope(scopes.exception_outcome(self._label))
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
        self._announce([], self.impact().changes, reason)

    def _announce(self, versions: list[NewVersion], changes: list[str], reason: str) -> None:
        """Say what came of the approval; with a new version the halted task runs again (design: wire)."""
        factory, name = self._factory, self._known.record.exception_id
        scope = factory.journal.scope(f"{scopes.exception_outcome(self._label)}/wire")
        outcome = ExceptionOutcome(
            exception_id=name,
            number=self._number,
            reason=reason,
            changes=changes,
            versions=versions,
            resolved_at=scope.now(),
        )
        sha256, project_id = factory.store.define(outcome.to_bytes()), factory.projection.project_id
        wire = review(project_id, "exception.resolved", sha256, name)
        halted = task_at(factory, factory.escalations.escalation(self._known.escalation).task_id)
        events = (
            list(next_attempt(factory, halted, halted.definition, self._known.escalation)) if versions else []
        )
        events = [event._replace(caused_by=wire.stream_id) for event in events[:1]] + events[1:]
        announce(factory, scope, project_id, [wire, *events])
        finish_supersessions(factory)
        factory.projection.write(now=True)
        what = f"{name}: {reason}" if reason else f"{name}: {', '.join(one.module_ref for one in versions)}"
        factory.progress.note(Step("resolved", halted.entry.spec_task_id, what))

    def _sealed(
        self, contract: MicroModuleContract, before: str, verdict: GateVerdict, struck: Sequence[StruckTest]
    ) -> NewVersion:
        scope = self._factory.journal.scope(scopes.seal(self._task.run, contract.name, contract.ref))
        files = seal_files(self._factory, scope, contract, verdict, struck)
        return NewVersion(module_ref=contract.ref, supersedes=before, sha256=tree_sha256(files))

    def _judged(
        self, contract: MicroModuleContract, before: str, drafted: Mapping[str, SealedModule]
    ) -> GateVerdict:
        """The ship gate's verdict on a consumer's own files with the new version."""
        factory, run = self._factory, self._task.run
        scope = factory.journal.scope(scopes.gate(run, contract.name, contract.ref))
        files = factory.modules.files(before)

        def measured(digest: str) -> Scope:
            return factory.journal.scope(scopes.measured(run, contract.name, digest))

        judging = GateRun(factory.gate, factory.progress, scope, measured, shipping=True)
        return judge(judging, candidate(factory.modules, contract, files, drafted))

    def _unmigrated(self, plan_id: str) -> str:
        """Why a breaking change that was agreed on cannot be carried out."""
        contracts = load_plan(self._factory.artifacts, self._task.folder, plan_id).contracts
        if contracts.keys() != {self._old.name}:
            return f"the plan that was agreed on is not that of {self._old.name} alone"
        contract = contracts[self._old.name]
        return migration_problem(impact_of(self._factory, self._old, contract))

    def _open(self, state: DebateState) -> Debate:
        return open_debate(self._factory, state)


def finish_supersessions(factory: Factory) -> None:
    """Bring the Code Index to what the log says was superseded, where a crash came in between."""
    for name, outcomes in factory.projection.exception_outcomes.items():
        for version in [version for outcome in outcomes for version in outcome.versions]:
            if factory.index.get(*ModuleRef.parse(version.supersedes)) is not None:
                factory.index.add(summarise(factory.modules.contract(version.module_ref)))
                key = ModuleRef.parse(version.supersedes)
                factory.index.retire(*key, IndexStatus.SUPERSEDED, version.module_ref, version.note(name))


def _repointed(contract: MicroModuleContract, newer: Mapping[str, str]) -> MicroModuleContract:
    """The contract of a consumer that uses later versions: the same interface, as a patch (design: contracts)."""
    dependencies = [Dependency(ref=newer.get(one.ref, one.ref), why=one.why) for one in contract.dependencies]
    version = next_version(contract.module_version, Bump.PATCH)
    return contract.model_copy(update={"dependencies": dependencies, "module_version": version})


def _plan_of(contract: MicroModuleContract, claim: str, changes: Sequence[str]) -> PlanAnswer:
    """The plan whose one module is a contract."""
    reuse = ReuseAnswer(
        query=contract.purpose,
        conclusion=ReuseConclusion.CREATE_NEW,
        justification="It is the next version of a sealed module.",
    )
    module = PlannedModule(
        name=contract.name,
        purpose=contract.purpose,
        tags=contract.tags or [contract.name],
        inputs=contract.inputs,
        outputs=contract.outputs or "none: nothing is returned",
        error_surfaces=contract.error_surfaces or "none: it cannot fail",
        effects=[PlannedEffect.model_validate(one.to_json()) for one in contract.effects] or "none: pure",
        modes=contract.modes,
        error_cases=contract.error_cases or ["none that is not in the contract"],
        depends_on=[DependencyAnswer(module=one.ref, why=one.why) for one in contract.dependencies],
        runtime_budgets=contract.runtime_budgets,
        reuse=reuse,
    )
    checks = [f"It is shown: {line}" for line in changes][:5] or ["The contract is the one that is stated."]
    return PlanAnswer(modules=[module], claim=claim, acceptance_checks=checks)
