"""`{task_id}.md`: the task file that the engineering loop reads (design: ids, task-files).

A `TaskDefinition` is the stored content; rendering it is pure. At init the section Dependency Contracts is written from
the sketches of the upstream tasks, at dispatch from the contracts and examples of the shipped modules.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import Field, ValidationError

from agent_wire import canonical_json
from ship_gate.base.ids import TaskId
from ship_gate.base.markdown_text import bullets, fenced, inline, printable
from ship_gate.base.record import OmittedIfEmpty, Record, Text, Timestamp, validation_messages
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.contract_text import text_for_callers
from ship_gate.contract.examples_file import examples_in_short
from specwright.domain.acceptance.amended import amended_acceptance
from specwright.domain.acceptance.records import TaskAcceptance
from specwright.domain.spec.acceptance_text import task_acceptance
from specwright.domain.spec.product_spec import DIMENSION_LABELS, IoContractSketch, SpecTaskId, all_decided
from specwright.domain.tasks.project_state import TaskEntry
from specwright.errors import InputError

_REFERENCES = "References to upstream modules (CONTRACT_ONLY — no source code):"
_CASE_END = re.compile(r";\s+|\n+")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")


class Level(Record):
    """A pillar, epic or story above a task."""

    name: Text
    description: Text


class TaskAmendment(Record):
    """A change of acceptance criteria by a person, with what it replaced (design: escalation AMEND_SPEC)."""

    replaced_criteria: list[Text]
    rationale: Text
    escalation_ref: str
    amended_at: Timestamp


class TaskDefinition(OmittedIfEmpty):
    """Everything in a task file except the dependency contracts. A content-addressed definition (design: projection)."""

    omitted = ("acceptance", "decisions")

    task_id: TaskId
    spec_task_id: SpecTaskId
    name: Text
    path: str
    declaration_order: int
    pillar: Level
    epic: Level
    story: Level
    description: Text
    subtasks: list[Text] = Field(min_length=1)
    acceptance_criteria: list[Text] = Field(min_length=1)
    depends_on: list[TaskId] = Field(default_factory=list)
    io_contract_sketch: IoContractSketch
    amendments: list[TaskAmendment] = Field(default_factory=list)
    acceptance: TaskAcceptance | None = None
    decisions: list[Text] = Field(default_factory=list)

    @property
    def decided(self) -> list[str]:
        """What was decided of cases that SPEC.md leaves open."""
        return all_decided(self.decisions, self.io_contract_sketch)


class ShippedDependency(NamedTuple):
    """A module that a dependency shipped, for the reader of the task file.

    Args:
        dependency: The `T-` id as in `depends_on`; parts of a split task come under its id (design: task-states).
        contract: The module's contract.
        examples: The text of its `examples.md`.
        spec_task_id: The `TSK-` id of the dependency, which the spec's texts use.
    """

    dependency: str
    contract: MicroModuleContract
    examples: str
    spec_task_id: str = ""


def first_entry(definition: TaskDefinition) -> TaskEntry:
    """The entry in the state of a task that has not run."""
    return _entry(definition.to_json())


def stored_entry(data: bytes, where: str) -> tuple[str, TaskEntry]:
    """The id and the first entry of a task from its stored definition, of which the rest is not validated.

    Raises:
        InputError: not the definition of a task.
    """
    try:
        fields = canonical_json.loads(data)
        return str(fields["task_id"]), _entry(fields)
    except ValidationError as error:
        problems = "; ".join(validation_messages(error))
        raise InputError(f"not a valid TaskDefinition: {problems}", where=where) from error
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not a valid TaskDefinition: {error!r}", where=where) from error


def _entry(fields: Mapping[str, Any]) -> TaskEntry:
    return TaskEntry(
        spec_task_id=fields["spec_task_id"],
        pillar=fields["pillar"]["name"],
        epic=fields["epic"]["name"],
        story=fields["story"]["name"],
        task=fields["name"],
        depends_on=fields["depends_on"],
        declaration_order=fields["declaration_order"],
    )


def amended(
    definition: TaskDefinition,
    criteria: Sequence[str],
    amendment: TaskAmendment,
    depends_on: Sequence[str],
    struck: Collection[str] = (),
) -> TaskDefinition:
    """The definition with other acceptance criteria, the old ones kept in its history (design: escalation).

    Args:
        amendment: Its `replaced_criteria` are the definition's present ones.
        depends_on: What the task depends on from now (design: task-states, `drop_depends_on`).
        struck: Titles of approved examples and properties that hold no more.

    Raises:
        InputError: as `amended_acceptance`.
    """
    before = definition.acceptance_criteria
    return TaskDefinition.model_validate(
        {
            **dict(definition),
            "acceptance_criteria": list(criteria),
            "acceptance": amended_acceptance(definition.acceptance, before, criteria, struck),
            "depends_on": list(depends_on),
            "amendments": [*definition.amendments, amendment],
        }
    )


def render_at_init(definition: TaskDefinition, definitions: Mapping[str, TaskDefinition]) -> str:
    """The task file with Dependency Contracts from the sketches of the upstream tasks (design: task-files).

    Args:
        definitions: By task id; at least those of the dependencies.
    """
    upstream = [_sketched(definitions[task_id]) for task_id in definition.depends_on]
    return _render(definition, upstream)


def render_at_dispatch(definition: TaskDefinition, shipped: Iterable[ShippedDependency]) -> str:
    """The task file with Dependency Contracts from what the dependencies shipped (design: task-files).

    Raises:
        InputError: a dependency without a shipped contract, or a contract without examples.
    """
    modules = list(shipped)
    covered = {module.dependency for module in modules if module.examples.strip()}
    if missing := [task_id for task_id in definition.depends_on if task_id not in covered]:
        raise InputError(
            f"the task {definition.task_id} ({printable(definition.name)}) lacks the contract or the examples of "
            f"{', '.join(missing)}",
            where=definition.path,
            remedy="`specwright verify` says whether the shipped module is damaged",
        )
    return _render(definition, [_contracted(module) for module in modules])


def _render(definition: TaskDefinition, upstream: Sequence[str]) -> str:
    sketch = definition.io_contract_sketch
    dimensions = [
        f"- **{label}:** {printable(getattr(sketch, name))}" for name, label in DIMENSION_LABELS.items()
    ]
    levels = (("Pillar", definition.pillar), ("Epic", definition.epic), ("Story", definition.story))
    blocks = [
        f"# Task: {printable(definition.name)}\n## Task ID: {definition.task_id}",
        "## Context\n"
        + "\n".join(
            f"- **{label}:** {printable(at.name)} — {printable(at.description)}" for label, at in levels
        ),
        f"## Description\n{inline(definition.description)}",
        "## Subtasks\n" + "\n".join(f"{n}. {inline(text)}" for n, text in enumerate(definition.subtasks, 1)),
        f"## Acceptance Criteria\n{bullets(definition.acceptance_criteria)}",
        *(
            [f"## Approved Examples\n{task_acceptance(definition.acceptance)}"]
            if definition.acceptance
            else []
        ),
        *([f"## Decisions\n{bullets(definition.decisions)}"] if definition.decisions else []),
        "## Micro Module Contract\n" + "\n".join(dimensions),
        "## Dependency Contracts\n" + ("\n".join((_REFERENCES, *upstream)) if upstream else "None"),
        f"## Error Cases\n{bullets(_error_cases(sketch.error_surfaces))}",
    ]
    if definition.amendments:
        blocks.append("\n\n".join(("## Amendment History", *map(_amendment, definition.amendments))))
    return "\n\n".join(blocks) + "\n"


def _error_cases(surfaces: str) -> list[str]:
    """The cases of an `error_surfaces` sketch: its lines, and what semicolons separate."""
    cases = [_BULLET.sub("", part).strip() for part in _CASE_END.split(surfaces)]
    return [case for case in cases if printable(case)]


def _sketched(upstream: TaskDefinition) -> str:
    sketch = upstream.io_contract_sketch
    dimensions = [
        f"  - {label}: {printable(getattr(sketch, name))}" for name, label in DIMENSION_LABELS.items()
    ]
    head = f"- {upstream.task_id} ({printable(upstream.name)}): sketch, nothing shipped yet"
    return "\n".join((head, *dimensions))


def without_dependencies(task_file: str) -> str:
    """A task file without its section Dependency Contracts."""
    head, found, rest = task_file.partition("\n## Dependency Contracts\n")
    _, cases, tail = rest.partition("\n## Error Cases\n")
    return f"{head}{cases}{tail}" if found else task_file


def without_example_code(task_file: str) -> str:
    """A task file with the titles of its approved examples, and which criteria they show."""
    head, found, rest = task_file.partition("\n## Approved Examples\n")
    if not found:
        return task_file
    section, following, tail = rest.partition("\n## ")
    lines = [line for line in section.split("\n") if not line.startswith("    ")]
    titles = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).replace("their imports are", "their code is")
    return f"{head}{found}{titles}{following}{tail}"


def _contracted(module: ShippedDependency) -> str:
    return "\n".join(
        (
            f"- {module.contract.ref}: `{module.contract.name}`, {printable(module.contract.purpose)} "
            f"(shipped by {module.dependency}{f', {module.spec_task_id}' if module.spec_task_id else ''})",
            fenced(text_for_callers(module.contract), "text", indent="  "),
            fenced(examples_in_short(module.examples), "markdown", indent="  "),
        )
    )


def _amendment(amendment: TaskAmendment) -> str:
    return (
        f"### {amendment.escalation_ref}, {amendment.amended_at}\n"
        f"Why: {printable(amendment.rationale)}\n\nReplaced criteria:\n{bullets(amendment.replaced_criteria)}"
    )
