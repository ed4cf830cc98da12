"""Canonical JSON (RFC 8785), its SHA-256, and a strict parser.

Used wherever bytes are compared or hashed: fingerprints (design: contracts), definitions (design: projection), Wires
(design: wire).
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Any, NoReturn, TypeAlias

import orjson
import rfc8785

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = "dict[str, JsonValue]"

_AS_STORED = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
"""orjson's options for the format of `pretty`; some numbers are written differently."""


def canonical(value: Any) -> bytes:
    """Encode a JSON value as RFC 8785 bytes.

    Raises:
        ValueError: the value is not representable (NaN, an integer beyond 2^53-1, a lone surrogate).
    """
    return rfc8785.dumps(value)


def sha256(data: bytes) -> str:
    """Return the SHA-256 of bytes as 64 lowercase hex characters."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """Return the SHA-256 of a value's canonical bytes."""
    return sha256(canonical(value))


def pretty(value: Any) -> bytes:
    """Encode a record for storage: indented by two, keys in insertion order, UTF-8, one final newline."""
    return (json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def loads(data: bytes | str) -> Any:
    """Parse JSON strictly: duplicate keys, NaN and Infinity are errors.

    Raises:
        ValueError: not JSON, not UTF-8, a duplicate key, NaN or Infinity, or nested too deeply.
    """
    if isinstance(data, bytes):
        try:
            value = orjson.loads(data)
            if orjson.dumps(value, option=_AS_STORED) == data:
                return value  # the same bytes again, so no duplicate key was lost
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            pass  # the strict parser below reports the error
    try:
        return json.loads(data, object_pairs_hook=_unique, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"the key {key!r} occurs twice in one object")
        result[key] = value
    return result


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
