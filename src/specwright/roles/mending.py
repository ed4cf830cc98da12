"""Answers of the right content in the wrong type, mended by what the validation itself found (DESIGN §6).

A mend is made where one reading is possible: `3` for a text, a JSON text for a list, one item for a list of one, `pass`
for `PASS`, null for what may be left out, `shipDirective` for `ship_directive`. A field too many is dropped where its
object has every field that it may have, so that nothing can have been meant by it. All else is told to the role.
"""

import copy
import json
import re
from typing import Any, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from specwright.domain.record import Record
from specwright.roles.lenient_json import LenientError, parse_object

__all__ = ["fits", "mended"]

R = TypeVar("R", bound=Record)

_ROUNDS = 6
_SEVERAL = re.compile(r"[\n,;•]")
_CHOICES = re.compile(r"'([^']*)'")
_MISSING = object()


def fits(schema: type[Record], raw: dict[str, Any]) -> bool:
    """Whether an answer is right as it is."""
    try:
        schema.model_validate(raw)
    except ValidationError:
        return False
    return True


def mended(schema: type[R], raw: dict[str, Any]) -> R:
    """The answer.

    Raises:
        ValidationError: what is wrong with it, after everything that could be mended.
    """
    try:
        return schema.model_validate(raw)
    except ValidationError as error:
        faults = error
    value: dict[str, Any] = copy.deepcopy(raw)
    dropped: list[tuple[str | int, ...]] = []
    for _ in range(_ROUNDS):
        found = faults.errors(include_url=False)
        if not [fault for fault in found if _mend(value, fault, found, dropped)]:
            raise faults
        try:
            answer = schema.model_validate(value)
        except ValidationError as error:
            faults = error
            continue
        if all(_says_everything(answer, place) for place in dropped):
            return answer
        return schema.model_validate(raw)  # a field too many may be another one's: told as it was
    raise faults


def _mend(
    value: Any, fault: ErrorDetails, every: list[ErrorDetails], dropped: list[tuple[str | int, ...]]
) -> bool:
    """Mend one fault in place; whether that was possible."""
    parent, key = _parent(value, fault["loc"])
    if parent is None:
        return False
    if fault["type"] == "extra_forbidden" and isinstance(key, str):
        _drop_or_rename(parent, key, fault["loc"], every, dropped)
        return True
    new = _better(parent[key], fault)
    if new is _MISSING:
        return False
    if new is None:
        del parent[key]
    else:
        parent[key] = new
    return True


def _parent(value: Any, place: tuple[str | int, ...]) -> tuple[Any, str | int]:
    """What holds the value at a place, and by which key. Parts that name no value, as a union's do, are passed over."""
    parent, last, at = None, cast(str | int, ""), value
    for part in place:
        if (isinstance(at, dict) and part in at) or (isinstance(at, list) and isinstance(part, int)):
            parent, last = cast(Any, at), part
            at = parent[part]
    return parent, last


def _better(given: Any, fault: ErrorDetails) -> Any:
    """Another way to write a value, None to leave it out, or _MISSING."""
    kind = fault["type"]
    if given is None and kind.endswith("_type"):
        return None
    if kind == "list_type":
        return _as_list(given)
    if kind == "string_type" and isinstance(given, int | float) and not isinstance(given, bool):
        return json.dumps(given)
    if kind in ("model_type", "model_attributes_type", "dict_type") and isinstance(given, str):
        return _as_object(given)
    if kind in ("enum", "literal_error") and isinstance(given, str):
        choices = _CHOICES.findall(str(fault.get("ctx", {}).get("expected", "")))
        same = [choice for choice in choices if _plain(choice) == _plain(given)]
        return same[0] if len(same) == 1 else _MISSING
    return _MISSING


def _as_list(given: Any) -> Any:
    if isinstance(given, dict):
        return [given]
    if not isinstance(given, str) or not given.strip():
        return _MISSING
    if given.lstrip().startswith("["):
        try:
            return json.loads(given)
        except ValueError:
            return _MISSING
    return _MISSING if _SEVERAL.search(given.strip()) else [given]


def _as_object(given: str) -> Any:
    start = given.find("{")
    if start == -1 or given[:start].strip():
        return _MISSING
    try:
        found = parse_object(given, start)
    except LenientError:
        return _MISSING
    return _MISSING if given[found.end :].strip() else found.value


def _drop_or_rename(
    parent: dict[str, Any],
    key: str,
    place: tuple[str | int, ...],
    every: list[ErrorDetails],
    dropped: list[tuple[str | int, ...]],
) -> None:
    level = place[:-1]
    missing = [str(f["loc"][-1]) for f in every if f["type"] == "missing" and f["loc"][:-1] == level]
    same = [name for name in missing if _plain(name) == _plain(key)]
    taken = parent.pop(key)
    if len(same) == 1:
        parent[same[0]] = taken
    elif taken not in (None, "", [], {}):
        dropped.append(level)


def _says_everything(answer: Record, place: tuple[str | int, ...]) -> bool:
    """Whether the object at a place has every field given that it may have."""
    at: Any = answer
    for part in place:
        if isinstance(at, Record) and isinstance(part, str):
            at = getattr(at, part, at)
        elif isinstance(at, list) and isinstance(part, int):
            at = cast(list[Any], at)[part]
    return isinstance(at, Record) and at.model_fields_set >= set(type(at).model_fields)


def _plain(word: str) -> str:
    return re.sub(r"[\s_-]", "", word).casefold()
