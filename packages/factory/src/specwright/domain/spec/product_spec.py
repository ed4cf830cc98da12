"""The product spec: pillars, epics, stories, and tasks with contract sketches; its departures from SPEC.md; and the
difference of two specs by task (design: product-spec, change).

A record checks its own fields, ids and numbers of children; `completeness` checks the whole spec. The researcher chooses
the ids and answers with a `ProductSpecDraft`; the factory adds the times.

The researcher quotes each sentence of SPEC.md that is not built, and code checks the quotation. Each task lists its own
decisions. Decisions are numbered through the whole spec, anew for each draft.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, cast

from packaging.version import Version
from pydantic import AfterValidator, Field

from ship_gate.base.record import OmittedIfEmpty, Record, SemVer, Text, Timestamp
from ship_gate.base.text import holds, one_line, printable
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
"""The levels below a spec: the field that holds the objects, and the name of one."""

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
        """Return the spec with its times, to be stored.

        Args:
            created_at: The time when the first draft was accepted, `2026-05-06T16:00:00Z`.
            updated_at: The time when this draft was accepted.

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
        """Return the spec as JSON values in the documented order, with the times before the pillars."""
        fields = super().to_json()
        pillars = fields.pop("pillars")
        return {**fields, "pillars": pillars}


_SHORTEST = 8


def outside_problems(outside: Sequence[OutsideScope], text: str) -> list[str]:
    """Report entries whose quotation is not in the text, too short, or repeated.

    Args:
        outside: The `outside` entries of a draft.
        text: The text of SPEC.md and the requests.
    """
    problems: list[str] = []
    for place, one in enumerate(outside):
        if len(one.quote) < _SHORTEST:
            problems.append(f"outside[{place}].quote: {one.quote!r} is no sentence; quote the whole one")
        elif not holds(text, one.quote):
            problems.append(
                f"outside[{place}].quote: {one.quote!r} does not stand in SPEC.md; quote its sentence to the letter"
            )
        elif any(one.quote == earlier.quote for earlier in outside[:place]):
            problems.append(f"outside[{place}].quote: {one.quote!r} is quoted twice; say it in one entry")
    return problems


class Decision(Record):
    """A decision, with all tasks that it applies to.

    Args:
        number: Its number in the spec, from 1.
        text: The decision.
        tasks: The ids of its tasks.
        place: `TSK-002 Split a bill` for one task; the ids of several.
    """

    number: int
    text: str
    tasks: list[str]
    place: str


def decisions_of(spec: ProductSpecDraft) -> list[Decision]:
    """Return the distinct decisions of a spec."""
    texts: dict[str, tuple[str, dict[str, str]]] = {}
    for task in spec.tasks():
        for one in task.decisions:
            text = " ".join(one.split())
            texts.setdefault(text.rstrip(".").casefold(), (text, {}))[1][task.task_id] = task.name
    return [
        Decision(number=number, text=text, tasks=[*tasks], place=_place(tasks))
        for number, (text, tasks) in enumerate(texts.values(), start=1)
    ]


def _place(tasks: Mapping[str, str]) -> str:
    return ", ".join(tasks) if len(tasks) > 1 else printable(" ".join(*tasks.items()))


class Departures(NamedTuple):
    """The departures of one kind, for a chapter of `spec.md` and the approval page.

    Args:
        heading: The chapter's heading.
        sentence: An introduction with their number.
        lines: One line for each.
        hint: The command that changes one by its number; empty if there is none, and then lines have no numbers.
    """

    heading: str
    sentence: str
    lines: Sequence[str]
    hint: str = ""


def departures(outside: Sequence[OutsideScope], decisions: Sequence[Decision]) -> list[Departures]:
    """Return the departures of each kind that occurs, in reading order."""
    missing = [one for one in outside if not one.instead]
    otherwise = [one for one in outside if one.instead]
    found = [
        Departures(
            "Not built",
            f"SPEC.md asks for this, and it will be missing ({len(missing)} in all).",
            [f'"{one_line(one.quote)}": {one.why}' for one in missing],
        ),
        Departures(
            "Built otherwise",
            f"SPEC.md asks for this, and it will be built in part, or otherwise ({len(otherwise)} in all).",
            [f'"{one_line(one.quote)}": {one.why} Built: {one.instead}' for one in otherwise],
        ),
        Departures(
            "Decisions",
            f"SPEC.md left {len(decisions)} case{'s' if len(decisions) > 1 else ''} open. They will work like this.",
            [f"{one.text} ({one.place})" for one in decisions],
            " `specwright amend --decision N TEXT` changes one.",
        ),
    ]
    return [one for one in found if one.lines]


class SpecDifference(NamedTuple):
    """The difference of two specs, as TSK ids (design: change).

    Args:
        added: The added tasks, in the order of the later spec.
        changed: The changed tasks, with a line for each removed, added or changed (`old -> new`) entry.
        removed: The removed tasks, in the order of the earlier spec.
        untouched: The tasks whose own fields are the same, even if the levels above them changed.
    """

    added: tuple[str, ...]
    changed: Mapping[str, tuple[str, ...]]
    removed: tuple[str, ...]
    untouched: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the difference as JSON values."""
        changed = [{"task_id": name, "what": list(what)} for name, what in self.changed.items()]
        return {**self._asdict(), "changed": changed}


def spec_difference(before: ProductSpecDraft, after: ProductSpecDraft) -> SpecDifference:
    """Return the added, changed, removed and untouched tasks. The order of dependencies does not matter."""
    old, new = ({task.task_id: _task_fields(task) for task in spec.tasks()} for spec in (before, after))
    changed = {name: tuple(_changes(old[name], new[name])) for name in new if name in old}
    return SpecDifference(
        added=tuple(name for name in new if name not in old),
        changed={name: what for name, what in changed.items() if what},
        removed=tuple(name for name in old if name not in new),
        untouched=tuple(name for name, what in changed.items() if not what),
    )


def change_problems(
    before: ProductSpec, after: ProductSpecDraft, taken: Collection[str], abandoned: Collection[str] = ()
) -> list[str]:
    """Return why a spec cannot follow an approved one; empty if it can (design: change).

    Args:
        before: The approved spec.
        after: The new spec.
        taken: The TSK ids of all tasks that the project ever had.
        abandoned: The ids of tasks that a person abandoned or split; these cannot run again.
    """
    problems: list[str] = []
    if after.spec_id != before.spec_id:
        problems.append(f"spec_id: it stays {before.spec_id}, not {after.spec_id}")
    if Version(after.spec_version) <= Version(before.spec_version):
        problems.append(f"spec_version: {after.spec_version} is not greater than {before.spec_version}")
    difference = spec_difference(before, after)
    problems += [
        f"task_id: {name} was given to another task before; a new task gets a number that was never used"
        for name in difference.added
        if name in taken
    ]
    return problems + [
        f"task_id: {name} was abandoned or split, so it cannot change; leave it, remove it, or add a new task"
        for name in difference.changed
        if name in abandoned
    ]


def _task_fields(task: TaskSpec) -> dict[str, Any]:
    """Return the fields of a task, including those of its sketch."""
    fields = task.to_json()
    sketch = fields.pop("io_contract_sketch")
    return {**fields, **sketch, "depends_on": sorted(set(task.depends_on))}


def _changes(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    fields = dict.fromkeys((*now, *was))
    for field in fields:
        if was.get(field) != now.get(field):
            yield from _change(field, was.get(field), now.get(field))


def _change(field: str, before: Any, after: Any) -> Iterator[str]:
    """Yield a line for each removed, added or changed entry of a field."""
    label = field.replace("_", " ")
    if field == "acceptance":
        was, now = _acceptance_entries(before or {}), _acceptance_entries(after or {})
        lines = [*_differences(was, now)] or ["in another order"]
    elif isinstance(before, list) or isinstance(after, list):
        was, now = cast(list[Any], before or []), cast(list[Any], after or [])
        come = [f"+ {item}" for item in now if item not in was]
        lines = [*(f"- {item}" for item in was if item not in now), *come] or ["in another order"]
    else:
        lines = [f"{before} -> {after}"]
    return (one_line(f"{label}: {line}") for line in lines)


def _differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each removed, added or changed entry, by name."""
    yield from (f"- {name}" for name in was if name not in now)
    for name, entry in now.items():
        if name not in was:
            yield f"+ {name}"
        elif was[name] != entry:
            yield from (f"{name}: {line}" for line in _changes(was[name], entry))


def _acceptance_entries(acceptance: Mapping[str, Any]) -> dict[str, Any]:
    """Return public names, examples, properties and unexecutable criteria, by name or title."""
    named = dict.fromkeys(acceptance.get("provides", ()))
    titled = {one["title"]: one for field in ("examples", "properties") for one in acceptance.get(field, ())}
    whys = {
        f"criterion {one['criterion']} is not executable": one for one in acceptance.get("unexecutable", ())
    }
    return {**named, **titled, **whys}
