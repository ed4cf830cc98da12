"""The canonical bytes of a Wire (design: wire).

RFC 8785, no floats, integers within +-(2^53-1), no duplicate key, at most 1,024 bytes. Most Wires take a faster path:
orjson's sorted output is RFC 8785 when every byte is ASCII and no float occurs, which a property test compares with the
reference implementation.
"""

from typing import TypeGuard, cast

import orjson

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonObject
from agent_wire.rejection import Rejection, WireRefusedError

MAX_BYTES = 1024
_MAX_INTEGER = 2**53 - 1
_MAX_DEPTH = 16


def encode(wire: JsonObject) -> bytes:
    """The canonical bytes of a Wire.

    Raises:
        WireRefusedError: a value that a Wire cannot hold, or more than 1,024 bytes.
    """
    if type(wire) is not dict:
        raise WireRefusedError(_no("wire.not_json", "a Wire is a JSON object"))
    if rejection := _check_value(wire, "", 0):
        raise WireRefusedError(rejection, _id_of(wire))
    try:
        body = orjson.dumps(wire, option=orjson.OPT_SORT_KEYS)
        if not body.isascii():
            body = canonical_json.canonical(wire)
    except (TypeError, ValueError) as error:
        rejection = _no("wire.text", f"a text of the Wire is not valid Unicode: {error}")
        raise WireRefusedError(rejection, _id_of(wire)) from error
    if len(body) > MAX_BYTES:
        message = f"the Wire has {len(body)} canonical bytes; at most {MAX_BYTES} are allowed"
        raise WireRefusedError(_no("wire.too_large", message), _id_of(wire))
    return body


def parse(data: bytes) -> JsonObject:
    """Read one Wire from bytes, which need not be canonical.

    Raises:
        WireRefusedError: not a JSON object, a duplicate key, a float, an integer out of range, too many bytes.
    """
    try:
        wire: object = orjson.loads(data)
    except ValueError as error:
        raise WireRefusedError(_no("wire.not_json", f"the Wire is not JSON: {error}")) from error
    if not _is_object(wire):
        raise WireRefusedError(_no("wire.not_json", "a Wire is a JSON object"))
    if encode(wire) != data:
        # The bytes may only be spelled differently, but orjson does not report a duplicate key.
        try:
            canonical_json.loads(data)
        except (ValueError, RecursionError) as error:
            rejection = _no("wire.duplicate_key", f"the Wire is ambiguous: {error}")
            raise WireRefusedError(rejection, _id_of(wire)) from error
    return wire


def _check_value(value: object, pointer: str, depth: int) -> Rejection | None:
    """The first value that a Wire cannot hold, by exact type: a subclass would serialize differently."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return None
    if kind is int:
        is_safe = -_MAX_INTEGER <= cast("int", value) <= _MAX_INTEGER
        return None if is_safe else _no("wire.integer_range", "an integer is beyond 2^53-1", pointer)
    if kind is float:
        return _no("wire.float", "a Wire carries no floating-point numbers", pointer)
    if kind is not dict and kind is not list:
        return _no("wire.type", f"a {kind.__name__} is not a JSON value", pointer)
    if depth == _MAX_DEPTH:
        return _no("wire.too_deep", f"values nest more than {_MAX_DEPTH} deep", pointer)
    inner = cast("dict[str, object] | list[object]", value)
    for key, item in enumerate(inner) if isinstance(inner, list) else inner.items():
        if rejection := _check_value(item, f"{pointer}/{key}", depth + 1):
            return rejection
    return None


def _is_object(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)


def _no(code: str, message: str, pointer: str = "") -> Rejection:
    return Rejection(code, message, pointer, "parse")


def _id_of(wire: JsonObject) -> str:
    value = wire.get("wire_id")
    return value if isinstance(value, str) else ""
