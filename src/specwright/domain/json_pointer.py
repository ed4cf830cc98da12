"""JSON Pointer (RFC 6901), as far as contracts are addressed by it (D13, D14)."""

from typing import Any, cast

__all__ = ["resolve"]


def resolve(document: Any, pointer: str, missing: Any) -> Any:
    """The value that a pointer names, or `missing`."""
    value = document
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = cast(dict[str, Any], value)[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(cast(list[Any], value)):
            value = cast(list[Any], value)[int(key)]
        else:
            return missing
    return value
