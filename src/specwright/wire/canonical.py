"""The bytes of a Wire (D30).

RFC 8785, no floats, integers within +-(2^53-1), no key twice, at most 1,024 bytes. One faster path beside the
plain one: orjson's sorted output is RFC 8785 when every byte is ASCII and no float occurs, which a property
test holds against the reference implementation.
"""

from typing import TypeGuard, cast

import orjson

from specwright import canonical_json
from specwright.canonical_json import JsonObject
from specwright.wire.rejection import Rejection, WireRefusedError

__all__ = ["MAX_BYTES", "encode", "parse"]

MAX_BYTES = 1024
_MAX_INTEGER = 2**53 - 1
_MAX_DEPTH = 16


def encode(wire: JsonObject) -> bytes:
    """The canonical bytes of a Wire.

    Raises:
        WireRefusedError: a value that has no place in a Wire, or more than 1,024 bytes.
    """
    if type(wire) is not dict:
        raise WireRefusedError(_fault("wire.not_json", "a Wire is a JSON object"))
    if not _is_plain(wire) and (fault := _value_fault(wire, "", 0)):
        raise WireRefusedError(fault, _id_of(wire))
    try:
        body = orjson.dumps(wire, option=orjson.OPT_SORT_KEYS)
        if not body.isascii():
            body = canonical_json.canonical(wire)
    except (TypeError, ValueError) as error:
        fault = _fault("wire.text", f"a text of the Wire is not valid Unicode: {error}")
        raise WireRefusedError(fault, _id_of(wire)) from error
    if len(body) > MAX_BYTES:
        message = f"the Wire has {len(body)} canonical bytes; at most {MAX_BYTES} are carried"
        raise WireRefusedError(_fault("wire.too_large", message), _id_of(wire))
    return body


def parse(data: bytes) -> JsonObject:
    """Read one Wire from bytes, which need not be canonical.

    Raises:
        WireRefusedError: not a JSON object, a key twice, a float, an integer out of range, too many bytes.
    """
    try:
        wire: object = orjson.loads(data)
    except ValueError as error:
        raise WireRefusedError(_fault("wire.not_json", f"the Wire is not JSON: {error}")) from error
    if not _is_object(wire):
        raise WireRefusedError(_fault("wire.not_json", "a Wire is a JSON object"))
    if encode(wire) != data:
        # Other bytes may only be other spelling; a key that stands twice is lost in a plain reading.
        try:
            canonical_json.loads(data)
        except (ValueError, RecursionError) as error:
            fault = _fault("wire.duplicate_key", f"the Wire is ambiguous: {error}")
            raise WireRefusedError(fault, _id_of(wire)) from error
    return wire


def _is_plain(wire: JsonObject) -> bool:
    """Whether every value is of a Wire; the common case, and fast. A doubt is a no.

    So few objects and lists cannot nest too deep, nor hold themselves.
    """
    found: list[object] = [wire]
    for container in found:  # which grows meanwhile
        inner = cast("dict[str, object] | list[object]", container)
        for value in inner.values() if type(inner) is dict else inner:
            kind = type(value)
            if kind is str:
                continue
            if kind is dict or kind is list:
                found.append(value)
                if len(found) > _MAX_DEPTH:
                    return False
            elif kind is int:
                if not -_MAX_INTEGER <= cast("int", value) <= _MAX_INTEGER:
                    return False
            elif kind is not bool and value is not None:
                return False
    return True


def _value_fault(value: object, pointer: str, depth: int) -> Rejection | None:
    """The first value that a Wire cannot hold, by exact type: a subclass would serialize otherwise."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return None
    if kind is int:
        return (
            _fault("wire.integer_range", "an integer is beyond 2^53-1", pointer) if _is_large(value) else None
        )
    if kind is float:
        return _fault("wire.float", "a Wire carries no floating-point numbers", pointer)
    if kind is not dict and kind is not list:
        return _fault("wire.type", f"a {kind.__name__} is no value of JSON", pointer)
    if depth == _MAX_DEPTH:
        return _fault("wire.too_deep", f"values nest more than {_MAX_DEPTH} deep", pointer)
    inner = cast("dict[str, object] | list[object]", value)
    for key, item in enumerate(inner) if isinstance(inner, list) else inner.items():
        if fault := _value_fault(item, f"{pointer}/{key}", depth + 1):
            return fault
    return None


def _is_large(value: object) -> bool:
    return not -_MAX_INTEGER <= cast("int", value) <= _MAX_INTEGER


def _is_object(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)


def _fault(code: str, message: str, pointer: str = "") -> Rejection:
    return Rejection(code, message, pointer, "parse")


def _id_of(wire: JsonObject) -> str:
    value = wire.get("wire_id")
    return value if isinstance(value, str) else ""
