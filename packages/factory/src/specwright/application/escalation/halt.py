"""Halts and stalls: determine the cause, then write the escalation and append its Wire (design: planning, escalation,
task-states).

A stalled task has not run, so its escalation has no debates. It has the state of the tasks that the task waits for, only
the nearest if there are many, because thousands may stall behind one. The task is already BLOCKED, so a review Wire
announces the stall, not a task Wire (design: wire).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import islice
from typing import Any

from ship_gate.base.ids import ArtifactType, artifact_id
from specwright.application.announce import announce, review
from specwright.application.debate.implementation import Implementation
from specwright.application.escalation.halted import Judged, draft_names
from specwright.application.factory import Factory
from specwright.application.loop_state import EngineeringState
from specwright.application.raising import Halt, write_escalation
from specwright.application.store.records import DebateRecords, GateResult, debate_trail
from specwright.application.stored_plans import StoredPlan, load_plan
from specwright.application.tasks import Task, project_state, task_at, task_board
from specwright.domain.answers import Decision, FaultOf
from specwright.domain.artifacts import ArtifactStatus
from specwright.domain.debate.records import CONTRACTS, Adjudication, Challenge, Proposal, is_counterexample
from specwright.domain.debate.reported_faults import as_failure
from specwright.domain.escalation import Action
from specwright.domain.tasks import task_changes
from specwright.domain.tasks.project_state import (
    ProjectState,
    TaskEntry,
    TaskStatus,
    effective_dependencies,
    upstream,
    upstream_sizes,
)
from specwright.domain.tasks.task_board import TaskBoard
from specwright.errors import NonDeterminismError
from specwright.ports import RunEvent

MAX_UPSTREAM = 20
"""The number of nearest upstream tasks whose state the escalation of a stalled task shows."""


def halt(factory: Factory, task: Task, why: Halt) -> str:
    """Write the escalation and halt the task.

    Returns:
        The escalation's id.
    """
    scope = factory.journal.scope(f"{task.run}/halt")
    name, now = artifact_id(ArtifactType.ESCALATION, scope.hex8()), scope.now()
    if factory.escalations.exists(name):  # this node runs again after a crash
        sha256 = factory.escalations.add(factory.escalations.escalation(name))
    else:
        board = TaskBoard(project_state(factory))
        board.change(task.task_id, now, task_changes.halt, why.decision, name)
        trail = debate_trail(
            [records.history() for records in factory.debates.of(task.folder, task.entry.spec_task_id)]
        )
        sha256 = write_escalation(factory, task, why, name, now, trail, board.state().to_json())
    payload = {"reason": "human_input", "reference": name, "definition_sha256": sha256}
    events = [task.event("task.blocked", payload)]
    if exception := why.details.get("exception_id"):
        raised = factory.store.define(factory.escalations.exception(exception).to_bytes())
        wire = review("exception.raised", raised, exception, caused_by=task.stream)
        events.insert(0, wire)
    announce(factory, scope, events)
    factory.projection.write(now=True)
    factory.progress.note(RunEvent("halted", task.entry.spec_task_id, f"{name}: {why.reason}"))
    return name


def halt_contradicted(factory: Factory, task: Task, error: NonDeterminismError) -> str:
    """Halt a task whose checkpoint is lost and whose repeated requests differ from the journal (design: journal).

    Returns:
        The escalation's id.
    """
    why = Halt(
        cause="journal",
        reason="its checkpoint is gone and the journal contradicts it",
        decision=f"Run {task.task_id} again as a new attempt, or give it up: {error.what}",
        recommended=Action.AMEND_SPEC,
        context=f"{error.where}. {error.remedy}".strip(". "),
        failed=[("a run that is repeated asks what it asked before", str(error))],
    )
    return halt(factory, task, why)


def raise_stalled(factory: Factory) -> None:
    """Raise an escalation for each task that depends directly on an abandoned one and has none yet."""
    state = project_state(factory)
    behind = task_board(factory).stuck_behind_abandoned()
    stuck = [task_id for task_id in behind if state.tasks[task_id].escalation_ref is None]
    sizes = upstream_sizes(state) if stuck else dict[str, int]()
    for task_id in stuck:
        # a task may stall again after an answer that did not help
        count = factory.projection.escalations_raised.get(task_id, 0) + 1
        task = task_at(factory, task_id)
        scope, why = factory.journal.scope(f"{task.run}/stalled-{count}"), _stall(state, task)
        name, now = artifact_id(ArtifactType.ESCALATION, scope.hex8()), scope.now()
        snapshot = _excerpt(state, task_id, sizes[task_id])
        sha256 = write_escalation(factory, task, why, name, now, snapshot=snapshot)
        announce(factory, scope, [review("escalation.raised", sha256, name)])
        factory.progress.note(RunEvent("stalled", task.entry.spec_task_id, f"{name}: {why.decision}"))


def _stall(state: ProjectState, task: Task) -> Halt:
    """Build the content of a stalled task's escalation."""
    abandoned = [
        ref
        for ref in effective_dependencies(state.tasks, task.task_id)
        if state.tasks[ref].status is TaskStatus.ABANDONED
    ]
    one = len(abandoned) == 1
    names = f"{', '.join(abandoned)}, which {'was' if one else 'were'} abandoned"
    return Halt(
        cause="stalled",
        reason=f"it depends on {names}",
        decision=f"Decide what becomes of {task.task_id}: it depends on {names}",
        recommended=Action.AMEND_SPEC,
        context=(
            f"AMEND_SPEC with drop_depends_on lets it run without {'it' if one else 'them'}; "
            "SPLIT_TASK replaces it by tasks that do not need it; ABANDON_TASK gives it up as well"
        ),
        failed=[("every dependency of a task ships", _evidence(state.tasks, ref)) for ref in abandoned],
        details={"abandoned": abandoned},
    )


def _evidence(tasks: Mapping[str, TaskEntry], ref: str) -> str:
    reason = tasks[ref].halted_reason
    return f"{ref} ({tasks[ref].task}) is ABANDONED" + (f"; it had halted: {reason}" if reason else "")


def _excerpt(state: ProjectState, task_id: str, waits_for: int) -> dict[str, Any]:
    """Return the state of a task and those that it waits for; if there are many, the nearest and the number of others."""
    shown = [task_id, *islice(upstream(state, task_id), MAX_UPSTREAM)]
    shown.sort(key=lambda ref: state.tasks[ref].declaration_order)
    excerpt = state.model_copy(update={"tasks": {ref: state.tasks[ref] for ref in shown}}).to_json()
    if (more := waits_for - MAX_UPSTREAM) > 0:
        excerpt["not_shown"] = f"and {more:,} more tasks that it waits for"
    return excerpt


_SETTLED = "the contracts are complete and testable"


def halt_reason(factory: Factory, task: Task, state: EngineeringState) -> Halt | None:
    """Return why a task must halt; None if it can finish. The drafts of failed modules are kept."""
    result = _TaskResult(factory, task, state)
    cause = next((describe for applies, describe in _CAUSES if applies(state)), None)
    if cause is None:
        return None
    result.keep_drafts()
    halt = cause(result)
    answers = {key: state.get(key, []) for key in ("raw_answers", "errors")}
    return halt._replace(details={**halt.details, "shipped": result.shipped, **answers, **result.to_resume()})


class _TaskResult:
    """The result of a task's run, from its modules and debates."""

    def __init__(self, factory: Factory, task: Task, state: EngineeringState) -> None:
        self.factory = factory
        self._task = task
        self.state = state
        self.task_file = task.path
        self.name = f"{task.entry.spec_task_id} ({task.definition.name})"
        self.reason = state.get("halt_reason", "")
        self.shipped = dict(state.get("shipped", {}))
        self.failed = dict(state.get("failed", {}))
        self.debates = dict(state.get("debates", {}))
        if self.reason and (cause := state.get("reopened_by")):
            self.failed[cause["deliverable"]] = cause["reason"]

    @cached_property
    def plan(self) -> StoredPlan:
        """The task's plan."""
        return load_plan(self.factory.artifacts, self._task.folder, self.state["plan_id"])

    def unattempted(self) -> list[str]:
        """Return the modules of the plan that neither shipped nor failed."""
        return [name for name in self.plan.contracts if name not in {**self.shipped, **self.failed}]

    def groups(self, abandoned: Iterable[str]) -> str:
        """Format shipped, failed and abandoned modules in one line."""
        groups = {"failed": self.failed, "abandoned": abandoned, "shipped": self.shipped}
        return "; ".join(f"{group}: {', '.join(names) or 'none'}" for group, names in groups.items())

    def module_details(self, abandoned: list[str]) -> dict[str, Any]:
        """Return the details about modules: the three groups, and the gate's results for failed ones (design: sealing,
        ship-gate)."""
        gates = {name: self._observed(name) for name in self.failed}
        return {
            "failed": self.failed,
            "abandoned": abandoned,
            "gate": {name: observed for name, observed in gates.items() if observed},
        }

    def unmet(self, name: str) -> list[tuple[str, str]]:
        """Return the requirements that a failed module's last draft or round violates, with evidence (design:
        escalation)."""
        refused = self._refused_draft(name)
        if refused is None and name not in self.debates:
            return []
        failures = self.records(name).last_failures() if refused is None else refused.failures
        return [(failure.invariant, failure.evidence) for failure in failures]

    def broken_titles(self) -> list[str]:
        """Return the titles of approved examples and properties that the last drafts of failed modules broke."""
        found = [invariant for name in self.failed for invariant, _ in self.unmet(name)]
        acceptance = self._task.definition.acceptance
        return [
            one.title
            for one in (acceptance.items if acceptance else ())
            if any(said.startswith("acceptance.") and said.endswith(one.heading) for said in found)
        ]

    def of_report(self) -> tuple[list[tuple[str, str]], bool]:
        """Return the failure about the bug report of a failed repair, and whether the report contradicts the contract: then
        the last draft raises a declared error for the example."""
        change = self.factory.projection.open_change
        report = change.request.report if change else None
        if report is None or report.name not in self.failed.keys() & self.plan.contracts.keys():
            return [], False
        told = [shown for said, shown in self.unmet(report.name) if said.startswith("reported.")]
        declared = enumerate(self.plan.contracts[report.name].error_surfaces)
        opposite = [
            f"/error_surfaces/{at}: {one.name} when {one.when}"
            for at, one in declared
            if any(re.search(rf"fails: it raises {one.name}\b", shown) for shown in told)
        ]
        why = f"contradicts the sealed contract, which promises {'; '.join(opposite)}:"
        if not opposite:
            why = f"says that {report.broken_statement} is broken; if the contract promises the opposite,"
        ways = "AMEND_SPEC changes what is promised, `specwright change --abandon` withdraws the report"
        return [("the reported example", f"{report.heading!r} {why} {ways}")], bool(opposite)

    def _observed(self, name: str) -> dict[str, Any]:
        """Return the gate's last result for a failed module; empty if the gate never ran on it."""
        if refused := self._refused_draft(name):
            return refused.observed
        return self.records(name).last_gate() if name in self.debates else {}

    def _refused_draft(self, name: str) -> GateResult | None:
        """Return the gate's result for the refused draft that ended a module's debate, if there is one."""
        if name not in self.plan.contracts:  # a reopened plan may have dropped it
            return None
        last = self.records(name).rounds()[-1] if name in self.debates else 0
        ref, drafts = self.plan.contracts[name].ref, self.factory.drafts
        kept = (drafts.refused(ref, one) for one in draft_names(self._task, last))
        return next((one for one in kept if one), None)

    def passes_gate(self, name: str) -> bool:
        """Whether the gate and all falsifying tests pass the last draft of a failed module, so that only judges object."""
        if name not in self.debates or self._refused_draft(name) is not None:
            return False
        records = self.records(name)
        last = records.rounds()[-1]
        if records.judged(last) or not records.has_ruling(last):
            return False
        is_rejected = records.one(Adjudication, last).decision is Decision.REJECT
        is_shown = any(is_counterexample(invariant) for invariant, _ in self.unmet(name))
        return is_rejected and bool(records.one(Proposal, last).preflight) and not is_shown

    def last_words(self, *names: str) -> dict[str, str]:
        """Return the Arbiter's last rationale on each of these deliverables."""
        last = {name: self.last_ruling(name) for name in names}
        return {name: ruling.rationale for name, ruling in last.items() if ruling}

    def rulings(self, *names: str) -> list[str]:
        """Format the Arbiter's last rationales (design: escalation)."""
        return [f"the Arbiter's last word on {name}: {r}" for name, r in self.last_words(*names).items()]

    def last_ruling(self, name: str) -> Adjudication | None:
        """Return the Arbiter's last ruling. A person's override does not count; its round has no proposal (design:
        escalation)."""
        if name not in self.debates:
            return None
        records = self.records(name)
        for number in reversed(records.rounds()):
            if records.find(Proposal, number) and (ruling := records.find(Adjudication, number)):
                return ruling
        return None

    def records(self, name: str) -> DebateRecords:
        """Return the records of a deliverable's debate."""
        return self.factory.debates.records(self.debates[name])

    def to_resume(self) -> dict[str, Any]:
        """Return the state from which an answer can resume in place; empty if there is no plan (design: escalation)."""
        if "plan_id" not in self.state:
            return {}
        judged = {name: self._judged(name) for name in self.failed if name in self.debates}
        carried = {key: self.state[key] for key in ("plan_id", "locked", "reopened_by") if key in self.state}
        done = {"shipped": self.shipped, "failed": self.failed, "debates": self.debates}
        return {"resume": {**carried, **done, "judged": judged}}

    def keep_drafts(self) -> None:
        """Store the files of failed modules under `drafts/`, with the reason and the gate's result (design: sealing)."""
        debated = {name: why for name, why in self.failed.items() if name in self.debates}
        plan = self.plan if debated else None
        for name, reason in debated.items():
            if plan is None or name not in plan.contracts:  # a reopened plan may have dropped it
                continue
            records, module = self.records(name), Implementation(self.factory, self._task, plan, name)
            version_id = records.history().proposals[-1].target_artifact_id
            scope = self.factory.journal.scope(f"{self._task.run}/{name}/aside/{version_id}")
            # a version may halt again after a person's answer; the note of each halt is kept
            suffix = f"-r{len(self._task.answers)}" if self._task.answers else ""
            note = {"reason": reason, **records.last_gate()}
            files = module.files(version_id)
            self.factory.drafts.add_halted(scope, module.contract, version_id, files, note, suffix)

    def _judged(self, name: str) -> dict[str, Any]:
        """Return where a debate ended: the last judged version, and the last round."""
        records, artifacts = self.records(name), self.factory.artifacts
        history = records.history()
        version_id = history.proposals[-1].target_artifact_id
        if version_id not in {one.target_artifact_id for one in history.challenges}:
            version_id = ""  # nobody judged it
        for number in records.rounds():
            if records.amended(number) is not None:
                before, after, _ = records.amendments(number)
                settled = artifacts.envelope(self._task.folder, after).status is ArtifactStatus.ADJUDICATED
                version_id = after if settled and before == version_id else version_id
        return Judged(self.debates[name], version_id, records.rounds()[-1])._asdict()


def _without_modules(result: _TaskResult) -> Halt:
    """Halt without modules: there is no sound plan, or its contracts are not settled."""
    is_planned = "plan_id" in result.state
    advice = "revise task decomposition, or simplify task scope"
    return Halt(
        cause="contracts" if is_planned else "planning",
        reason=result.reason,
        decision=f"Revise the plan of {result.name}, or simplify what it asks for: {result.reason}",
        recommended=Action.AMEND_SPEC if is_planned else Action.REVISE_PLAN,
        context="; ".join((advice, *result.rulings(CONTRACTS))),
        failed=[(_SETTLED if is_planned else "the plan is sound", result.reason)],
        details={"task_file": result.task_file},
    )


def _reopened_contracts(result: _TaskResult) -> Halt:
    """Halt because the contract debate was reopened for a module and settled nothing (design: debate)."""
    name, reason, abandoned = result.state["reopened_by"]["deliverable"], result.reason, result.unattempted()
    return Halt(
        cause="contracts",
        reason=f"the contract of {name} is at fault, and no other was settled: {reason}",
        decision=f"Give {result.name} a plan with another contract of {name}, or simplify what it asks for: {reason}",
        recommended=Action.REVISE_PLAN,
        context="; ".join((result.groups(abandoned), *result.rulings(CONTRACTS, *result.failed))),
        failed=[(_SETTLED, reason), *_unshipped(result)],
        details={"task_file": result.task_file, "module": name, **result.module_details(abandoned)},
    )


def _plan_at_fault(result: _TaskResult) -> Halt:
    """Halt because the plan is wrong, as the Arbiter or code confirmed (design: planning, contract-at-fault)."""
    halted = result.state["plan_fault"]
    name, number = halted["deliverable"], halted["round"]
    records = result.records(name)
    by_code = [as_failure(fault) for fault in records.one(Proposal, number).contract_at_fault]
    challenge = records.find(Challenge, number)
    failures = challenge.faults(FaultOf.PLAN) if challenge else by_code
    required = "; ".join(failure.required_change for failure in failures)
    return Halt(
        cause="plan",
        reason=f"the plan is at fault: {name} cannot be shipped under it",
        decision=f"Cut {result.name} anew: {'; '.join(failure.evidence for failure in failures)}",
        recommended=Action.REVISE_PLAN,
        context=f"split task, revise plan or merge modules. Required: {required}",
        failed=[(failure.invariant, failure.evidence) for failure in failures],
        details={
            "plan": result.plan.plan.to_json(),
            "module": name,
            "debate": halted["debate_id"],
            "evidence": [failure.to_json() for failure in failures],
            "confirmed": halted["reason"],
            **result.module_details(result.unattempted()),
        },
    )


def _modules(result: _TaskResult) -> Halt:
    names, abandoned = ", ".join(result.failed), sorted(result.unattempted())
    reasons = (why.partition(": ")[0] for why in result.failed.values())
    advice = [
        f"no implementation of the contract of {name} can be right: revise the plan"
        for name in result.failed
        if (ruling := result.last_ruling(name)) and ruling.confirmed_fault is FaultOf.CONTRACT
    ]
    passing = [name for name in result.failed if result.passes_gate(name)]
    by_hand = Action.APPROVE_OVERRIDE if passing == [*result.failed] else Action.PROVIDE_FIX
    recommended = Action.REVISE_PLAN if advice else by_hand
    advice += [f"the gate passes the last draft of {name}" for name in passing]
    if broken := result.broken_titles():
        listed = ", ".join(map(repr, broken))
        advice.append(f"if what was approved as {listed} is wrong itself, AMEND_SPEC strikes it")
        alone = all(
            said.startswith("acceptance.") for name in result.failed for said, _ in result.unmet(name)
        )
        recommended = Action.AMEND_SPEC if alone else recommended
    about_report, is_opposite = result.of_report()
    recommended = Action.AMEND_SPEC if is_opposite else recommended
    return Halt(
        cause="modules",
        reason=f"{names} could not be shipped",
        decision=f"Decide how {names} of {result.name} goes on: {'; '.join(reasons)}",
        recommended=recommended,
        context="; ".join((result.groups(abandoned), *advice, *result.rulings(*result.failed))),
        failed=[*about_report, *_unshipped(result)],
        details={
            **result.module_details(abandoned),
            "last_words": result.last_words(*result.failed),
            "passing": passing,
            **({"broken_titles": broken} if broken else {}),
        },
    )


def _exception_raised(result: _TaskResult) -> Halt:
    """Halt because a role found the contract of a dependency wrong (design: interface-changes)."""
    record = result.factory.escalations.exception(result.state["exception_id"])
    return Halt(
        cause="exception",
        reason=f"{record.exception_id} was raised against {record.target_module}",
        decision=f"Decide whether the contract of {record.target_module}, on which {result.name} depends, is to change: "
        f"{record.reason}: `specwright exceptions approve {record.exception_id}`, `reject` or `defer`",
        recommended=Action.REVISE_PLAN,
        context=f"{record.exception_id}, {record.type}, {record.urgency}, {record.compatibility_expectation}, raised by "
        f"{record.raised_by.role} at {record.raised_by.run_id}; `specwright exceptions list` shows the change",
        failed=[
            (f"the contract of {record.target_module} is enough for its users", said)
            for said in record.evidence
        ],
        details={
            "task_file": result.task_file,
            **record.to_json(),
            **result.module_details(result.unattempted()),
        },
    )


def _unshipped(result: _TaskResult) -> list[tuple[str, str]]:
    return [
        unmet
        for name, reason in result.failed.items()
        for unmet in [(f"{name} ships", reason), *result.unmet(name)]
    ]


_CAUSES: tuple[tuple[Callable[[Mapping[str, Any]], object], Callable[[_TaskResult], Halt]], ...] = (
    (lambda state: "exception_id" in state, _exception_raised),
    (lambda state: state.get("halt_reason") and "reopened_by" in state, _reopened_contracts),
    (lambda state: state.get("halt_reason"), _without_modules),
    (lambda state: "plan_fault" in state, _plan_at_fault),
    (lambda state: state.get("failed"), _modules),
)
"""The causes of a halt, in order of precedence, with the functions that build the escalation."""
