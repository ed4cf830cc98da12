"""The product spec: pillars, epics, stories, tasks with their contract sketches (design: product-spec).

What a single record can know of itself is checked here: fields, id formats, numbers of children, no
placeholders. What needs the whole spec (unique ids, references, cycles) and the warnings: `completeness`.

The ids are the researcher's own (design: ids). It answers a `ProductSpecDraft`; the factory stamps the times.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from ship_gate.base.record import OmittedIfEmpty, Record, SemVer, Text, Timestamp
from specwright.domain.acceptance.records import TaskAcceptance
from specwright.domain.interfaces.records import Interfaces, OutsideScope

DIMENSION_LABELS = {
    "inputs": "Inputs",
    "outputs": "Outputs",
    "error_surfaces": "Error surfaces",
    "effects": "Effects",
    "modes": "Modes",
}
"""The five dimensions of a sketch in order, with the labels that task files give them (design: ids)."""

LEVELS = (("pillars", "pillar"), ("epics", "epic"), ("stories", "story"), ("tasks", "task"))
"""The levels below a spec: the field of the level above that holds them, and what one is called."""

SpecTaskId = Annotated[
    str, Field(pattern=r"^TSK-[0-9]{3,9}$", description="TSK-001, unique in the whole spec.")
]
"""The id of a task in the spec and on the wire; `T-...` ids are computed from names (`task_ids`)."""

_UNADDRESSED = re.compile(r"(n/a|not applicable|tbd)(?!\w)", re.IGNORECASE)


def _addressed(text: str) -> str:
    # docs/design.md#product-spec: no dimension may be a placeholder or marked not applicable. No sentence begins with these
    # words; many begin with "todo" in a to-do app, so that word needs its colon (design: contracts, checked by Text).
    if _UNADDRESSED.match(text):
        raise ValueError(f"{text[:40]!r} leaves the dimension open; say what is there, or `none: <why>`")
    return text


Dimension = Annotated[Text, AfterValidator(_addressed)]


class IoContractSketch(Record):
    """The five dimensions in prose, before the micro plan refines them (design: product-spec)."""

    inputs: Annotated[Dimension, Field(description="Preliminary input types and constraints.")]
    outputs: Annotated[Dimension, Field(description="Preliminary output types and invariants.")]
    error_surfaces: Annotated[
        Dimension,
        Field(description="Anticipated failures with their conditions; separated by semicolons."),
    ]
    effects: Annotated[Dimension, Field(description="Writes and calls, or `none: pure`.")]
    modes: Annotated[Dimension, Field(description="sync, async or both, and why.")]


class TaskSpec(OmittedIfEmpty):
    """A unit of work that the project loop dispatches."""

    omitted = ("acceptance", "decisions")

    task_id: SpecTaskId
    name: Text
    description: Annotated[Text, Field(description="What this task implements.")]
    subtasks: Annotated[list[Text], Field(min_length=2)]
    acceptance_criteria: Annotated[
        list[Text],
        Field(min_length=2, description="Testable conditions: returns, raises, rejects ..."),
    ]
    depends_on: list[SpecTaskId] = Field(default_factory=list, description="TSK ids; no cycles.")
    io_contract_sketch: IoContractSketch
    acceptance: Annotated[
        TaskAcceptance | None, Field(description="Examples and properties that show the criteria.")
    ] = None
    decisions: list[Text] = Field(
        default_factory=list,
        description="What was decided of cases that SPEC.md leaves open, a short sentence each.",
    )


class Story(Record):
    """A behaviour that the user sees."""

    story_id: Annotated[str, Field(pattern=r"^STR-[0-9]{3,}$")]
    name: Text
    description: Text
    user_facing_behavior: Text
    tasks: Annotated[list[TaskSpec], Field(min_length=1)]


class Epic(Record):
    """A major capability."""

    epic_id: Annotated[str, Field(pattern=r"^EPC-[0-9]{3,}$")]
    name: Text
    description: Text
    success_criteria: Annotated[list[Text], Field(min_length=1, description="Measurable outcomes.")]
    stories: Annotated[list[Story], Field(min_length=1)]


class Pillar(Record):
    """A strategic theme."""

    pillar_id: Annotated[str, Field(pattern=r"^PIL-[0-9]{3,}$")]
    name: Text
    description: Text
    rationale: Annotated[Text, Field(description="Why this pillar exists and what gap it fills.")]
    epics: Annotated[list[Epic], Field(min_length=1)]


class ProductSpecDraft(OmittedIfEmpty):
    """What the researcher answers: the spec without its times (design: ids)."""

    omitted = ("interfaces", "outside")

    spec_id: Annotated[str, Field(pattern=r"^SPEC-[0-9]{3,9}$", description="SPEC-001.")]
    spec_version: SemVer
    title: Text
    description: Text
    interfaces: Annotated[
        Interfaces | None, Field(description="How the product is used from outside Python.")
    ] = None
    outside: list[OutsideScope] = Field(
        default_factory=list, description="What SPEC.md asks for and this factory cannot build."
    )

    pillars: Annotated[list[Pillar], Field(min_length=1)]

    def tasks(self) -> Iterator[TaskSpec]:
        """All tasks in declaration order: pillar, epic, story, task (design: project-loop)."""
        for pillar in self.pillars:
            for epic in pillar.epics:
                for story in epic.stories:
                    yield from story.tasks

    def stamped(self, created_at: str, updated_at: str) -> "ProductSpec":
        """The stored spec.

        Args:
            created_at: When the first draft was accepted, `2026-05-06T16:00:00Z`.
            updated_at: When this one was.

        Raises:
            pydantic.ValidationError: a time is not ISO-8601 in UTC.
        """
        times = {"created_at": created_at, "updated_at": updated_at}
        return ProductSpec.model_validate({**dict(self), **times})


class ProductSpec(ProductSpecDraft):
    """The whole spec as it is stored and approved (design: product-spec)."""

    created_at: Timestamp
    updated_at: Timestamp

    def to_json(self) -> dict[str, Any]:
        """The spec as JSON values, in the order of its documented form: the times before the pillars."""
        fields = super().to_json()
        pillars = fields.pop("pillars")
        return {**fields, "pillars": pillars}
