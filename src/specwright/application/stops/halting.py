"""A halt: the escalation that a person answers, written before the Wire that says so (F§10.3, F§17, D29)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from specwright import canonical_json
from specwright.application.announcing import announce, task_event
from specwright.application.debate.implementation import Implementation
from specwright.application.debate.records import DebateRecords
from specwright.application.factory import Factory
from specwright.application.project_stage import Task, project_state
from specwright.application.stores.kept_records import keep
from specwright.domain import state_changes
from specwright.domain.dispatch import rederive
from specwright.domain.escalation import DebateTrail, EscalationArtifact, FailedInvariant, Resolution
from specwright.domain.ids import ArtifactType, ModuleRef, artifact_id
from specwright.ports.progress import Step

__all__ = ["Halt", "halt", "set_draft_aside"]


class Halt(NamedTuple):
    """Why a task halts.

    Args:
        cause: `planning`, `contracts`, `modules` or `plan`.
        reason: One sentence.
        decision: What a person must decide.
        recommended: The factory's best guess.
        context: What helps to decide.
        debates: The ids of the debates held so far.
        failed: The invariants that did not hold.
        details: Typed by the cause.
    """

    cause: str
    reason: str
    decision: str
    recommended: Resolution
    context: str
    debates: Sequence[str] = ()
    failed: Sequence[tuple[str, str]] = ()
    details: dict[str, Any] | None = None


def halt(factory: Factory, task: Task, why: Halt) -> str:
    """Write the escalation and halt the task.

    Returns:
        The escalation's id.
    """
    scope = factory.journal.scope(f"{task.run}/halt")
    name, now = artifact_id(ArtifactType.ESCALATION, scope.hex8()), scope.now()
    path = f"escalations/{name}.json"
    if factory.store.exists(path):  # this node runs again after a crash
        escalation = EscalationArtifact.from_bytes(factory.store.read(path), path)
    else:
        escalation = _escalation(factory, task, why, name, now)
        factory.store.publish(path, escalation.to_bytes())
    sha256 = factory.store.define(escalation.to_bytes())
    payload = {"reason": "human_input", "reference": name, "definition_sha256": sha256}
    event = task_event("task.blocked", task.entry.spec_task_id, task.entry.attempt, payload)
    announce(factory, scope, factory.projection.project_id, [event])
    factory.projection.write(now=True)
    factory.progress.note(Step("halted", task.entry.spec_task_id, f"{name}: {why.reason}"))
    return name


def set_draft_aside(
    factory: Factory, module: Implementation, target: str, why: str, observed: Mapping[str, Any]
) -> None:
    """Keep a halted module's files under `drafts/`, with what stopped it and what the gate saw (D20, F§11.2)."""
    contract = module.contracts(target)[0]
    base = "drafts/{}/{}".format(*ModuleRef.parse(contract.ref))
    place = f"{base}/{target}"
    note = {"module_id": contract.module_id, "module_version": contract.module_version, "reason": why}
    # a version may be halted again after a person's answer; the note of each halt stays
    again = f"-r{len(module.task.answers)}" if module.task.answers else ""
    files = {
        "contract.json": contract.to_bytes(),
        **module.files(target),
        f"escalation{again}.json": canonical_json.pretty({**note, **observed}),
    }
    factory.store.publish_tree(place, files)
    scope = factory.journal.scope(f"{module.task.run}/{contract.name}/aside/{target}")
    keep(scope, {f"{place}/{path}": data for path, data in files.items()})


def _escalation(factory: Factory, task: Task, why: Halt, name: str, now: str) -> EscalationArtifact:
    trails = [DebateRecords(factory.store, debate).trail() for debate in why.debates]
    state = project_state(factory)
    after = rederive(state_changes.halt(state, task.task_id, why.decision, name, now))
    return EscalationArtifact(
        escalation_id=name,
        task_id=task.task_id,
        task_ref=task.path,
        created_at=now,
        debate_trail=DebateTrail(
            proposals=[p for trail in trails for p in trail.proposals],
            challenges=[c for trail in trails for c in trail.challenges],
            adjudications=[a for trail in trails for a in trail.adjudications],
        ),
        failed_invariants=[FailedInvariant(invariant=i, evidence=e) for i, e in why.failed],
        state_machine_snapshot=after.to_json(),
        minimal_decision_required=why.decision,
        recommended_resolution=why.recommended,
        resolution_context=why.context,
        details={"cause": why.cause, **(why.details or {})},
    )
