from __future__ import annotations

import re

from ..parse_pointer import PointerSyntaxError, parse_pointer

__all__ = ["resolve", "PointerLookupError"]

_INDEX = re.compile("0|[1-9][0-9]*")


class PointerLookupError(ValueError):
    """The pointer names nothing in the document."""

    pointer: str

    def __init__(self, message: str, *, pointer: str) -> None:
        super().__init__(message)
        self.pointer = pointer


def resolve(document: dict | list | str | int | float | bool | None, pointer: str) -> dict | list | str | int | float | bool | None:
    try:
        tokens = parse_pointer(pointer)
    except PointerSyntaxError:
        raise PointerLookupError(f"not a JSON Pointer: {pointer}", pointer=pointer) from None
    value = document
    for token in tokens:
        if isinstance(value, dict):
            if token not in value:
                raise PointerLookupError(f"no such member: {pointer}", pointer=pointer)
            value = value[token]
        elif isinstance(value, list):
            if not _INDEX.fullmatch(token):
                raise PointerLookupError(f"not an array index: {pointer}", pointer=pointer)
            # The lengths are compared first, as int() refuses thousands of digits.
            if len(token) > len(str(len(value))) or int(token) >= len(value):
                raise PointerLookupError(f"index past the end: {pointer}", pointer=pointer)
            value = value[int(token)]
        else:
            raise PointerLookupError(f"neither object nor array: {pointer}", pointer=pointer)
    return value
