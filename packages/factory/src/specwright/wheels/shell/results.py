"""Results of a product's functions as JSON and as lines of text."""

import base64
import dataclasses
import datetime
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from enum import Enum
from typing import Any, cast

from .types import member_word

__all__ = ["is_single", "json_text", "json_value", "lines_of", "named_results", "part_of"]

_INDENT = "  "
_BETWEEN = "  "


def named_results(outputs: Sequence[str], result: Any) -> dict[str, Any]:
    """The outputs of a function by their names; of an iterator the items, and what it raises on the way is raised."""
    if len(outputs) == 1:
        return {outputs[0]: list(cast("Iterable[Any]", result)) if isinstance(result, Iterator) else result}
    return dict(zip(outputs, result or (), strict=True))


def part_of(outputs: Mapping[str, Any], name: str) -> Any:
    """An output by its name, or a field of the only output."""
    if name in outputs:
        return outputs[name]
    (only,) = outputs.values()
    return cast("Mapping[str, Any]", only)[name] if isinstance(only, Mapping) else getattr(only, name)


def json_value(value: Any) -> Any:
    """A value as JSON has it: records are objects, members of an Enum their words, other single values texts."""
    match value:
        case Enum():
            return member_word(value)
        case None | bool() | int() | str():
            return value
        case float():
            return value if value - value == 0 else str(value)
        case re.Pattern():
            return json_value(cast("Any", value).pattern)
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case datetime.timedelta():
            return value.total_seconds()
        case datetime.date() | datetime.time():
            return value.isoformat()
        case _:
            return _container(value)


def _container(value: Any) -> Any:
    fields = fields_of(value)
    if fields is not None:
        return {_key(name): json_value(one) for name, one in fields.items()}
    if isinstance(value, list | tuple | Set):
        return [json_value(one) for one in _elements(value)]
    return str(value)


def fields_of(value: Any) -> dict[Any, Any] | None:
    """The fields of a record or an object; None if it is neither."""
    record: Any = value  # whose type stays `Any` for every type checker
    if isinstance(value, Mapping):
        return dict(record)
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(record, "_asdict"):
        return dict(record._asdict())
    return None


def _key(name: Any) -> str:
    return name if isinstance(name, str) else _word(name)


def _order(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def json_text(outputs: Mapping[str, Any]) -> str:
    """Results as a JSON document; of a single output its value alone."""
    values = {name: json_value(value) for name, value in outputs.items()}
    document = next(iter(values.values())) if len(values) == 1 else values
    return json.dumps(document, indent=2, ensure_ascii=False)


def lines_of(value: Any) -> Iterator[str]:
    """A value as lines of text: a record as its fields, a list of records as a table, a list of anything else as a line
    for each."""
    if value is None:
        return
    if isinstance(value, str):
        yield value.removesuffix("\n")
        return
    fields = fields_of(value)
    if fields is not None:
        yield from _fields(fields)
    elif isinstance(value, list | tuple | Set):
        yield from _list(_elements(value))
    else:
        yield _word(value)


def _elements(values: Any) -> list[Any]:
    """In their order; those of a set in that of their JSON."""
    elements = list(cast("Sequence[Any]", values))
    return sorted(elements, key=lambda one: _order(json_value(one))) if isinstance(values, Set) else elements


def _fields(fields: Mapping[Any, Any]) -> Iterator[str]:
    for name, value in fields.items():
        if is_single(value):
            yield f"{_key(name)}: {_cell(value)}".rstrip()
        else:
            yield f"{_key(name)}:"
            yield from (f"{_INDENT}{line}" for line in lines_of(value))


def _list(values: Sequence[Any]) -> Iterator[str]:
    rows = [fields_of(one) for one in values]
    names = list(rows[0]) if rows and rows[0] is not None else []
    if names and all(
        row is not None and list(row) == names and all(map(is_single, row.values())) for row in rows
    ):
        yield from _table(
            [[_key(name) for name in names], *([_cell(v) for v in row.values()] for row in rows if row)]
        )
        return
    for value in values:
        if is_single(value):
            yield _cell(value)
        elif isinstance(value, tuple) and all(map(is_single, cast("Sequence[Any]", value))):
            yield _BETWEEN.join(map(_cell, cast("Sequence[Any]", value)))
        else:
            first, *more = [*lines_of(value), ""][:-1] or ["-"]
            yield f"- {first}"
            yield from (f"{_INDENT}{line}" for line in more)


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        yield _BETWEEN.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def is_single(value: Any) -> bool:
    """Whether a value is told in one word: no record, and no list of values."""
    return fields_of(value) is None and not isinstance(value, list | tuple | Set)


def _cell(value: Any) -> str:
    """One line, in which nothing can move the cursor of a terminal."""
    text = value if isinstance(value, str) else _word(value)
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def _word(value: Any) -> str:
    match value:
        case None:
            return "-"
        case Enum():
            return member_word(value)
        case bool():
            return "yes" if value else "no"
        case bytes():
            return base64.b64encode(value).decode()
        case Decimal():
            return f"{value:f}" if value.is_finite() else str(value)
        case datetime.datetime():
            return value.isoformat(" ")
        case _:
            return str(value)
