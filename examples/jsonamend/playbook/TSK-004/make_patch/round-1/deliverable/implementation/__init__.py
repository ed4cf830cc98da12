from __future__ import annotations

from typing import Any

__all__ = ["make_patch"]


def _key(value: Any, numbers: dict[int, int]) -> tuple[bool | None, Any]:
    """What stands for a value: equal values have equal keys. `numbers` holds the number of each container by id()."""
    if isinstance(value, (dict, list)):
        return None, numbers[id(value)]
    if value != value:
        return None, "NaN"
    return isinstance(value, bool), value


def _numbers(documents: list[Any]) -> dict[int, int]:
    """A number for each object and array inside, the same for equal ones. A loop, as they may be deeper than the stack."""
    containers: list[Any] = []
    pending: list[Any] = [documents]
    while pending:
        container = pending.pop()
        containers.append(container)
        children = container.values() if isinstance(container, dict) else container
        pending.extend(child for child in children if isinstance(child, (dict, list)))
    numbers: dict[int, int] = {}
    shapes: dict[object, int] = {}
    for container in reversed(containers):  # children before their parents
        if isinstance(container, dict):
            shape: object = frozenset((name, _key(child, numbers)) for name, child in container.items())
        else:
            shape = tuple(_key(child, numbers) for child in container)
        numbers[id(container)] = shapes.setdefault(shape, len(shapes))
    return numbers


def _member(path: str, name: str) -> str:
    return path + "/" + name.replace("~", "~0").replace("/", "~1")


def _object_steps(path: str, old: dict[str, Any], new: dict[str, Any], numbers: dict[int, int]) -> list[Any]:
    steps: list[Any] = [{"op": "remove", "path": _member(path, name)} for name in old if name not in new]
    for name in old:
        if name in new and _key(old[name], numbers) != _key(new[name], numbers):
            steps.append((_member(path, name), old[name], new[name]))
    for name in new:
        if name not in old:
            steps.append({"op": "add", "path": _member(path, name), "value": new[name]})
    return steps


def _array_steps(path: str, old: list[Any], new: list[Any], numbers: dict[int, int]) -> list[Any]:
    old_keys = [_key(item, numbers) for item in old]
    new_keys = [_key(item, numbers) for item in new]
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and old_keys[start] == new_keys[start]:
        start += 1
    tail = 0
    while tail < shorter - start and old_keys[-1 - tail] == new_keys[-1 - tail]:
        tail += 1
    paired = shorter - tail
    steps: list[Any] = []
    for index in range(start, paired):
        if old_keys[index] != new_keys[index]:
            steps.append((f"{path}/{index}", old[index], new[index]))
    for index in reversed(range(paired, len(old) - tail)):
        steps.append({"op": "remove", "path": f"{path}/{index}"})
    for index in range(paired, len(new) - tail):
        steps.append({"op": "add", "path": f"{path}/{index}", "value": new[index]})
    return steps


def make_patch(source: dict | list | str | int | float | bool | None, target: dict | list | str | int | float | bool | None) -> list[dict]:
    documents = [source, target]
    numbers = _numbers(documents)
    if _key(source, numbers) == _key(target, numbers):
        return []
    operations: list[dict] = []
    # A step is a finished operation, or a place with two values that differ.
    pending: list[Any] = [("", source, target)]
    while pending:
        step = pending.pop()
        if isinstance(step, dict):
            operations.append(step)
            continue
        path, old, new = step
        if isinstance(old, dict) and isinstance(new, dict):
            pending.extend(reversed(_object_steps(path, old, new, numbers)))
        elif isinstance(old, list) and isinstance(new, list):
            pending.extend(reversed(_array_steps(path, old, new, numbers)))
        else:
            operations.append({"op": "replace", "path": path, "value": new})
    return operations
