"""A release whose product breaks what was approved: the escalation that says which criterion, which call, what came out, and
which modules took part (design: executable-spec).

No task waits for it, and nothing that shipped changes. A bug report or a change makes another product; an example that is
wrong itself is struck by AMEND_SPEC. The next release closes the question.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ship_gate.base.ids import ArtifactType, artifact_id
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import public_names
from specwright.application.announce import Announcement, review
from specwright.application.factory import Factory, ProjectView
from specwright.application.tasks import task_at
from specwright.domain.acceptance.calls import imported_names
from specwright.domain.acceptance.records import AcceptanceItem
from specwright.domain.base.graph import reachable
from specwright.domain.escalation import (
    RELEASE,
    DebateTrail,
    EscalationArtifact,
    FailedInvariant,
    Resolution,
)
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.ports.packaging import ExampleOutcome
from specwright.ports.progress import Step


class BrokenExample(NamedTuple):
    """An approved example or property that the product breaks.

    Args:
        task: Whose criteria it shows.
        item: As it was approved.
        outcome: What came out, beside what was approved.
        modules: The names of those that took part: that it calls, and that these call.
    """

    task: TaskDefinition
    item: AcceptanceItem
    outcome: str
    modules: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """For the escalation's details."""
        return {
            "task": self.task.spec_task_id,
            "criteria": self.item.criteria,
            "success_criteria": self.item.success_criteria,
            "title": self.item.title,
            "call": self.item.code,
            "outcome": self.outcome,
            "modules": list(self.modules),
        }

    def text(self) -> str:
        """In a sentence."""
        return f"{self.item.call}: {self.outcome} (modules that took part: {', '.join(self.modules)})"


def broken_examples(
    tasks: Sequence[TaskDefinition],
    contracts: Sequence[MicroModuleContract],
    outcomes: Sequence[ExampleOutcome],
) -> list[BrokenExample]:
    """The approved examples and properties among what failed, in the order of the tasks.

    Args:
        tasks: That are released.
        contracts: Of the released modules.
        outcomes: Of the release.
    """
    failed = {(one.module, one.heading): one.detail for one in outcomes if not one.passed}
    return [
        BrokenExample(task, item, detail, tuple(_took_part(imported_names(item), contracts)))
        for task in tasks
        if task.acceptance
        for item in task.acceptance.items
        if (detail := failed.get((task.spec_task_id, item.heading)))
    ]


def _took_part(names: set[str], contracts: Sequence[MicroModuleContract]) -> Iterator[str]:
    # a dependency names a range of versions, of which a release has one
    by_id: Mapping[str, MicroModuleContract] = {contract.module_id: contract for contract in contracts}
    called = [contract.module_id for contract in contracts if names & set(public_names(contract))]

    def below(module_id: str) -> list[str]:
        ids = [one.ref.partition("@")[0] for one in by_id[module_id].dependencies]
        return [one for one in ids if one in by_id]

    for module_id in dict.fromkeys((*called, *reachable(called, below))):
        yield by_id[module_id].name


def escalated(factory: Factory, release_id: str, broken: Sequence[BrokenExample]) -> list[Announcement]:
    """Write the escalation of a release, if anything approved is broken.

    Returns:
        The Wire that announces it.
    """
    if not broken:
        return []
    scope = factory.journal.scope(f"{release_id}/escalation")
    name, now = artifact_id(ArtifactType.ESCALATION, scope.hex8()), scope.now()
    first = broken[0]
    task = task_at(factory, first.task.task_id)
    more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
    escalation = EscalationArtifact(
        escalation_id=name,
        task_id=task.task_id,
        task_ref=task.path,
        created_at=now,
        debate_trail=DebateTrail(),
        failed_invariants=[
            FailedInvariant(invariant=said, evidence=one.text())
            for one in broken
            for said in (*_success_criteria(factory, one), *_criteria(one))
        ],
        state_machine_snapshot={},
        minimal_decision_required=f"The product of {release_id} breaks what was approved: {first.task.spec_task_id}, "
        f"{first.item.heading}{more}",
        recommended_resolution=Resolution.AMEND_SPEC,
        resolution_context="`specwright report` has one module mended, `specwright change` makes another spec; AMEND_SPEC "
        "strikes an example that is wrong itself, `specwright release` tries the product again.",
        details={
            "cause": RELEASE,
            "release_id": release_id,
            "broken": [one.to_json() for one in broken],
            "broken_titles": [one.item.title for one in broken if one.task is first.task],
        },
    )
    sha256, project_id = factory.escalations.add(escalation), factory.projection.project_id
    factory.progress.note(Step("question", task.entry.spec_task_id, f"{name}: {first.text()}"))
    return [review(project_id, "escalation.raised", sha256, name)]


def _criteria(one: BrokenExample) -> Iterator[str]:
    for number in one.item.criteria:
        yield f"{one.task.spec_task_id}, criterion {number}: {one.task.acceptance_criteria[number - 1]}"


def _success_criteria(view: ProjectView, one: BrokenExample) -> Iterator[str]:
    """Of the epic, where it is a scenario."""
    for pillar in view.projection.spec.pillars if view.projection.spec else ():
        for epic in pillar.epics:
            if any(task.task_id == one.task.spec_task_id for story in epic.stories for task in story.tasks):
                for number in one.item.success_criteria:
                    yield f"{epic.epic_id}, success criterion {number}: {epic.success_criteria[number - 1]}"
