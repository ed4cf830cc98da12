"""Answers of the right content in the wrong type, corrected by what pydantic's validation reports (design: models).

A correction is made where only one reading is possible: `3` for a text, a JSON text for a list, one item for a list of
one, `pass` for `PASS`, null for an optional field, `shipDirective` for `ship_directive`. An unknown field is dropped if
its object has every field that it may have. Everything else is reported to the role.
"""

import copy
import json
import re
from typing import Any, NamedTuple, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ship_gate.base.record import OmittedIfEmpty, Record
from specwright.roles.answers.json_text import LenientError, parse_object

R = TypeVar("R", bound=Record)

_ROUNDS = 6
_SEVERAL = re.compile(r"[\n,;•]")
_CHOICES = re.compile(r"'([^']*)'")
_MISSING = object()


class _FieldPlace(NamedTuple):
    """Where an unknown field was that was left out.

    Args:
        level: The object that it was in.
        is_container: A list or an object.
    """

    level: tuple[str | int, ...]
    is_container: bool


def mended(schema: type[R], raw: dict[str, Any]) -> R:
    """The answer, corrected if necessary.

    Raises:
        ValidationError: what is wrong with it after all corrections.
    """
    try:
        return schema.model_validate(raw)
    except ValidationError as error:
        refusal = error
    value: dict[str, Any] = copy.deepcopy(raw)
    dropped: list[_FieldPlace] = []
    for _ in range(_ROUNDS):
        errors = refusal.errors(include_url=False)
        if not [fault for fault in errors if _mend(value, fault, errors, dropped)]:
            raise refusal
        try:
            answer = schema.model_validate(value)
        except ValidationError as error:
            refusal = error
            continue
        if all(_is_complete(answer, place) for place in dropped):
            return answer
        return schema.model_validate(
            raw
        )  # an unknown field may be meant for another: report the answer as it was
    raise refusal


def _mend(value: Any, fault: ErrorDetails, every: list[ErrorDetails], dropped: list[_FieldPlace]) -> bool:
    """Correct one error in place; whether that was possible."""
    parent, key = _parent(value, fault["loc"])
    if parent is None:
        return False
    if fault["type"] == "extra_forbidden" and isinstance(key, str):
        _drop_or_rename(parent, key, fault["loc"], every, dropped)
        return True
    new = _corrected(parent[key], fault)
    if new is _MISSING:
        return False
    if new is None:
        del parent[key]
    else:
        parent[key] = new
    return True


def _parent(value: Any, place: tuple[str | int, ...]) -> tuple[Any, str | int]:
    """The container of the value at a place, and its key there. Parts that are not keys, such as a union's, are skipped."""
    parent, last, at = None, cast(str | int, ""), value
    for part in place:
        if (isinstance(at, dict) and part in at) or (isinstance(at, list) and isinstance(part, int)):
            parent, last = cast(Any, at), part
            at = parent[part]
    return parent, last


def _corrected(value: Any, fault: ErrorDetails) -> Any:
    """The corrected value, None to leave it out, or _MISSING if there is no correction."""
    kind = fault["type"]
    if value is None and kind.endswith("_type"):
        return None
    if kind == "list_type":
        return _as_list(value)
    if kind == "string_type" and isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    if kind in ("model_type", "model_attributes_type", "dict_type") and isinstance(value, str):
        return _as_object(value)
    if kind in ("enum", "literal_error") and isinstance(value, str):
        choices = _CHOICES.findall(str(fault.get("ctx", {}).get("expected", "")))
        same = [choice for choice in choices if _normalised(choice) == _normalised(value)]
        return same[0] if len(same) == 1 else _MISSING
    return _MISSING


def _as_list(value: Any) -> Any:
    if isinstance(value, dict):
        return [value]
    if not isinstance(value, str) or not value.strip():
        return _MISSING
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            return _MISSING
    return _MISSING if _SEVERAL.search(value.strip()) else [value]


def _as_object(value: str) -> Any:
    start = value.find("{")
    if start == -1 or value[:start].strip():
        return _MISSING
    try:
        parsed = parse_object(value, start)
    except LenientError:
        return _MISSING
    return _MISSING if value[parsed.end :].strip() else parsed.value


def _drop_or_rename(
    parent: dict[str, Any],
    key: str,
    place: tuple[str | int, ...],
    every: list[ErrorDetails],
    dropped: list[_FieldPlace],
) -> None:
    level = place[:-1]
    missing = [str(f["loc"][-1]) for f in every if f["type"] == "missing" and f["loc"][:-1] == level]
    same = [name for name in missing if _normalised(name) == _normalised(key)]
    value = parent.pop(key)
    if len(same) == 1:
        parent[same[0]] = value
    elif value not in (None, "", [], {}):
        dropped.append(_FieldPlace(level, isinstance(value, dict | list)))


def _is_complete(answer: Record, dropped: _FieldPlace) -> bool:
    """Whether an object has every field that what was dropped could have been meant for: lists and objects that are left
    out when they are empty are meant by no word or number."""
    at: Any = answer
    for part in dropped.level:
        if isinstance(at, Record) and isinstance(part, str):
            at = getattr(at, part, at)
        elif isinstance(at, list) and isinstance(part, int):
            at = cast(list[Any], at)[part]
    if not isinstance(at, Record):
        return False
    left_out = at.omitted if isinstance(at, OmittedIfEmpty) and not dropped.is_container else ()
    return at.model_fields_set >= set(type(at).model_fields) - set(left_out)


def _normalised(word: str) -> str:
    return re.sub(r"[\s_-]", "", word).casefold()
