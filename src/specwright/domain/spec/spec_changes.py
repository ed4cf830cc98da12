"""The difference between two versions of a product spec, for the person who approves it (design: approval)."""

from collections.abc import Iterator
from typing import Any, cast

from specwright.domain.spec.product_spec import ProductSpec

_LEVELS = (
    ("pillars", "pillar_id", "pillar"),
    ("epics", "epic_id", "epic"),
    ("stories", "story_id", "story"),
    ("tasks", "task_id", "task"),
)
_TIMES = {"created_at", "updated_at"}


def spec_changes(before: ProductSpec, after: ProductSpec) -> list[str]:
    """What was added, removed and changed, one line each, by id; empty if both say the same."""
    old, new = _entries(before.to_json()), _entries(after.to_json())
    lines = [f"removed: {old[key][0]}" for key in old if key not in new]
    for key, (name, fields) in new.items():
        if key not in old:
            lines.append(f"added: {name}")
            continue
        was = old[key][1]
        lines += [
            f"changed: {name}: {_change(field, was[field], fields[field])}"
            for field in fields
            if was[field] != fields[field]
        ]
    return lines


def _entries(spec: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Every part of a spec by its id: its name for a person, and its own fields, those of its sketch among them."""
    head = {name: value for name, value in spec.items() if name not in _TIMES and name != "pillars"}
    return {"": ("the spec", head), **dict(_below(spec, 0))}


def _below(parent: dict[str, Any], level: int) -> Iterator[tuple[str, tuple[str, dict[str, Any]]]]:
    if level == len(_LEVELS):
        return
    children, id_field, kind = _LEVELS[level]
    further = _LEVELS[level + 1][0] if level + 1 < len(_LEVELS) else ""
    for child in parent[children]:
        fields = {name: value for name, value in child.items() if name not in (id_field, further)}
        fields.update(fields.pop("io_contract_sketch", {}))
        yield child[id_field], (f"{kind} {child[id_field]} {child['name']}", fields)
        yield from _below(child, level + 1)


def _change(field: str, before: Any, after: Any) -> str:
    label = field.replace("_", " ")
    if not isinstance(before, list) or not isinstance(after, list):
        return f"{label}: {before!r} is now {after!r}"
    was, now = cast(list[str], before), cast(list[str], after)
    gone = [f"- {item}" for item in was if item not in now]
    come = [f"+ {item}" for item in now if item not in was]
    return f"{label}: {'; '.join([*gone, *come]) or 'in another order'}"
