"""Canonical JSON (RFC 8785), its SHA-256, and a strict reader.

Used wherever bytes are compared, hashed or signed: fingerprints (F§11.1), definitions (D29), Wires (D30).
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Any, NoReturn, TypeAlias

import orjson
import rfc8785

__all__ = ["JsonObject", "JsonValue", "canonical", "digest", "loads", "pretty", "sha256"]

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = "dict[str, JsonValue]"

_AS_STORED = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
"""How `pretty` writes, but for a few spellings of numbers; the fast reader of what was so written."""


def canonical(value: Any) -> bytes:
    """The RFC 8785 bytes of a JSON value.

    Raises:
        ValueError: the value is outside JSON's domain (NaN, an integer beyond 2^53-1, a lone surrogate).
    """
    return rfc8785.dumps(value)


def sha256(data: bytes) -> str:
    """The SHA-256 of some bytes, 64 lowercase hex characters."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """The SHA-256 of a value's canonical bytes."""
    return sha256(canonical(value))


def pretty(value: Any) -> bytes:
    """The bytes in which records are stored: indented by two, keys as given, UTF-8, one final newline."""
    return (json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def loads(data: bytes | str) -> Any:
    """Read JSON, refusing duplicate keys and the constants that JSON does not have.

    Raises:
        ValueError: not JSON, not UTF-8, a key twice in one object, NaN or Infinity.
    """
    if isinstance(data, bytes):
        try:
            value = orjson.loads(data)
            if orjson.dumps(value, option=_AS_STORED) == data:
                return value  # what says the same in the same bytes holds no key twice: a record as it was stored
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            pass  # the strict reader says what is wrong
    return json.loads(data, object_pairs_hook=_unique, parse_constant=_refuse)


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"the key {key!r} stands twice in one object")
        result[key] = value
    return result


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
