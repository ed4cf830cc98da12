"""The difference between two versions of a product spec: for the person who approves it, and by task for the change of
a product that is released (design: approval, change)."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from packaging.version import Version

from ship_gate.base.text import one_line
from specwright.domain.spec.product_spec import LEVELS, ProductSpec, ProductSpecDraft, TaskSpec

_ELSEWHERE = {
    *("created_at", "updated_at", "io_contract_sketch"),
    *(name for children, kind in LEVELS for name in (children, f"{kind}_id")),
}
"""Of a part of a spec: its times, what names it, and what has entries of its own."""


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


def spec_changes(before: ProductSpec, after: ProductSpec) -> list[str]:
    """What was added, removed and changed, one line each, by id; empty if both say the same."""
    old, new = _entries(before.to_json()), _entries(after.to_json())
    lines = [f"removed: {old[key][0]}" for key in old if key not in new]
    for key, (name, fields) in new.items():
        if key not in old:
            lines.append(f"added: {name}")
            continue
        lines += [f"changed: {name}: {change}" for change in _changes(old[key][1], fields)]
    return lines


def _entries(spec: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Every part of a spec by its id: its name for a person, and its own fields."""
    return {"": ("the spec", _fields(spec)), **dict(_below(spec, LEVELS))}


def _below(
    parent: dict[str, Any], levels: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, tuple[str, dict[str, Any]]]]:
    if levels:
        (children, kind), *deeper = levels
        for child in parent[children]:
            name = child[f"{kind}_id"]
            yield name, (f"{kind} {name} {child['name']}", _fields(child))
            yield from _below(child, deeper)


def _fields(part: dict[str, Any]) -> dict[str, Any]:
    """The own fields of a part of a spec, those of its sketch among them."""
    own = {name: value for name, value in part.items() if name not in _ELSEWHERE}
    return {**own, **part.get("io_contract_sketch", {})}


def _task_fields(task: TaskSpec) -> dict[str, Any]:
    return {**_fields(task.to_json()), "depends_on": sorted(set(task.depends_on))}


def _changes(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    fields = dict.fromkeys((*now, *was))
    for field in fields:
        if was.get(field) != now.get(field):
            yield from _change(field, was.get(field), now.get(field))


def _change(field: str, before: Any, after: Any) -> Iterator[str]:
    """A line for everything that is different in a field: what is gone, what has come, what is another one now."""
    label = "not built" if field == "outside" else field.replace("_", " ")
    if entries := _NAMED.get(field):
        lines = [*_differences(entries(before or {}), entries(after or {}))] or ["in another order"]
    elif isinstance(before, list) or isinstance(after, list):
        was, now = cast(list[Any], before or []), cast(list[Any], after or [])
        come = [f"+ {item}" for item in now if item not in was]
        lines = [*(f"- {item}" for item in was if item not in now), *come] or ["in another order"]
    else:
        lines = [f"{before} -> {after}"]
    return (one_line(f"{label}: {line}") for line in lines)


def _interface_entries(interfaces: Mapping[str, Any]) -> dict[str, Any]:
    """Each interface, and each of its subcommands, routes and tools."""
    found: dict[str, Any] = {}
    for kind, parts in (("command", "subcommands"), ("http", "routes"), ("mcp", "tools")):
        if head := dict(interfaces.get(kind) or {}):
            entries = head.pop(parts, ())
            found[f"{kind} {head['name']}"] = head
            found |= {_interface_label(kind, head["name"], one): one for one in entries}
    return found


def _interface_label(kind: str, program: str, one: Mapping[str, Any]) -> str:
    match kind:
        case "command":
            return f"{program} {one['name']}"
        case "http":
            return f"route {one.get('method', '')} {one.get('path') or '/' + one['calls']}".replace("  ", " ")
        case _:
            return f"tool {one.get('name') or one['calls']}"


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


_NAMED: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "acceptance": _acceptance_entries,
    "interfaces": _interface_entries,
    "outside": lambda outside: {one["quote"]: one for one in outside},
}
"""The fields whose entries have names, with what gives them by their names."""
