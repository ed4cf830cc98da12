"""The difference between two versions of a product spec by task, for the change of a product that is released (design:
change)."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple, cast

from packaging.version import Version

from ship_gate.base.text import one_line
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft, TaskSpec


class SpecDifference(NamedTuple):
    """Two approved specs by task, each named by its TSK id (design: change).

    Args:
        added: In the order of the later spec.
        changed: What is different in each, a line for each entry: what is gone, new, or `old -> new`.
        removed: In the order of the earlier spec.
        untouched: Those whose own fields are the same, whatever became of the levels above them.
    """

    added: tuple[str, ...]
    changed: Mapping[str, tuple[str, ...]]
    removed: tuple[str, ...]
    untouched: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The lists for a program."""
        changed = [{"task_id": name, "what": list(what)} for name, what in self.changed.items()]
        return {**self._asdict(), "changed": changed}


def spec_difference(before: ProductSpecDraft, after: ProductSpecDraft) -> SpecDifference:
    """Which tasks are added, changed, removed and untouched; the order of dependencies makes no difference."""
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
    """Why a spec cannot follow an approved one; empty if it can (design: change).

    Args:
        taken: The TSK ids of all tasks that the project ever had.
        abandoned: Those of tasks that a person abandoned or split; they cannot run again.
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
    """The fields of a task, those of its sketch among them."""
    fields = task.to_json()
    sketch = fields.pop("io_contract_sketch")
    return {**fields, **sketch, "depends_on": sorted(set(task.depends_on))}


def _changes(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    fields = dict.fromkeys((*now, *was))
    for field in fields:
        if was.get(field) != now.get(field):
            yield from _change(field, was.get(field), now.get(field))


def _change(field: str, before: Any, after: Any) -> Iterator[str]:
    """A line for everything that is different in a field: what is gone, what has come, what is another one now."""
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
    """What is gone, what has come and what is different in an entry, by the names of entries."""
    yield from (f"- {name}" for name in was if name not in now)
    for name, entry in now.items():
        if name not in was:
            yield f"+ {name}"
        elif was[name] != entry:
            yield from (f"{name}: {line}" for line in _changes(was[name], entry))


def _acceptance_entries(acceptance: Mapping[str, Any]) -> dict[str, Any]:
    """Public names, examples and properties by their titles."""
    named = dict.fromkeys(acceptance.get("provides", ()))
    titled = {one["title"]: one for field in ("examples", "properties") for one in acceptance.get(field, ())}
    whys = {
        f"criterion {one['criterion']} is not executable": one for one in acceptance.get("unexecutable", ())
    }
    return {**named, **titled, **whys}
