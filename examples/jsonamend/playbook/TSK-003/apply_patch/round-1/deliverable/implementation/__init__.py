from __future__ import annotations

import re
from typing import Any

from ..parse_pointer import PointerSyntaxError, parse_pointer

__all__ = ["apply_patch", "PatchError"]

_INDEX = re.compile("0|[1-9][0-9]*")


class PatchError(ValueError):
    """An operation of the patch cannot be carried out."""

    index: int
    reason: str

    def __init__(self, message: str, *, index: int, reason: str) -> None:
        super().__init__(message)
        self.index = index
        self.reason = reason


def _copy(value: Any) -> Any:
    """A deep copy, by a loop: documents may be deeper than the stack."""
    holder = [value]
    pending: list[Any] = [holder]
    while pending:
        container = pending.pop()
        for key in container if isinstance(container, dict) else range(len(container)):
            child = container[key]
            if isinstance(child, (dict, list)):
                container[key] = child.copy()
                pending.append(container[key])
    return holder[0]


def _equal(first: Any, second: Any) -> bool:
    pending = [(first, second)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pending.extend((a[name], b[name]) for name in a)
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pending.extend(zip(a, b))
        elif isinstance(a, bool) != isinstance(b, bool):
            return False
        elif a != b and (a == a or b == b):  # only NaN differs from itself
            return False
    return True


class _Run:
    """The working document, as the one member "" of `top`, so that a path of "" has a parent too."""

    def __init__(self, document: Any) -> None:
        self.top: dict[str, Any] = {"": document}
        self.index = 0

    def error(self, reason: str) -> PatchError:
        return PatchError(f"operation {self.index}: {reason}", index=self.index, reason=reason)

    def tokens(self, operation: dict[str, Any], member: str) -> list[str]:
        text = operation.get(member)
        if not isinstance(text, str):
            raise self.error(f"{member} is missing or is not a text")
        try:
            return ["", *parse_pointer(text)]
        except PointerSyntaxError:
            raise self.error(f"{member} is not a JSON Pointer") from None

    def value(self, operation: dict[str, Any]) -> Any:
        if "value" not in operation:
            raise self.error("value is missing")
        return operation["value"]

    def position(self, token: str, limit: int) -> int:
        if not _INDEX.fullmatch(token):
            raise self.error("not an array index")
        # The lengths are compared first, as int() refuses thousands of digits.
        if len(token) > len(str(limit)) or int(token) >= limit:
            raise self.error("array index past the end")
        return int(token)

    def find(self, tokens: list[str]) -> Any:
        value: Any = self.top
        for token in tokens:
            if isinstance(value, dict):
                if token not in value:
                    raise self.error("no such member")
                value = value[token]
            elif isinstance(value, list):
                value = value[self.position(token, len(value))]
            else:
                raise self.error("neither object nor array")
        return value

    def place(self, tokens: list[str]) -> tuple[Any, str | int]:
        """The parent of an existing value, and its key there."""
        parent = self.find(tokens[:-1])
        self.find(tokens)
        return parent, tokens[-1] if isinstance(parent, dict) else int(tokens[-1])

    def add(self, tokens: list[str], value: Any) -> None:
        parent = self.find(tokens[:-1])
        if isinstance(parent, dict):
            parent[tokens[-1]] = value
        elif not isinstance(parent, list):
            raise self.error("neither object nor array")
        elif tokens[-1] == "-":
            parent.append(value)
        else:
            parent.insert(self.position(tokens[-1], len(parent) + 1), value)

    def carry_out(self, operation: Any) -> None:
        if not isinstance(operation, dict):
            raise self.error("not an object")
        path = self.tokens(operation, "path")
        op = operation.get("op")
        if op == "add":
            self.add(path, _copy(self.value(operation)))
        elif op == "remove":
            if path == [""]:
                raise self.error("the whole document cannot be removed")
            parent, key = self.place(path)
            del parent[key]
        elif op == "replace":
            parent, key = self.place(path)
            parent[key] = _copy(self.value(operation))
        elif op == "move":
            origin = self.tokens(operation, "from")
            if len(origin) < len(path) and path[: len(origin)] == origin:
                raise self.error("a value cannot move into itself")
            parent, key = self.place(origin)
            self.add(path, parent.pop(key))
        elif op == "copy":
            self.add(path, _copy(self.find(self.tokens(operation, "from"))))
        elif op == "test":
            if not _equal(self.find(path), self.value(operation)):
                raise self.error("the value is another one")
        else:
            raise self.error("op is missing or unknown")


def apply_patch(document: dict | list | str | int | float | bool | None, patch: list[dict | list | str | int | float | bool | None]) -> dict | list | str | int | float | bool | None:
    run = _Run(_copy(document))
    for index, operation in enumerate(patch):
        run.index = index
        run.carry_out(operation)
    patched: dict | list | str | int | float | bool | None = run.top[""]
    return patched
