"""Forms made of a JSON Schema, and the value that a filled-in form makes (design: studio, escalation).

The payload of an answer has a schema; its fields, a draft of its values and a few empty rows for what may be added become
inputs with names like `new_tasks.0.name`. What is left empty is left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

FILL = "..."
"""What a draft has where a person is to write."""

SPARE_ROWS = 2
"""Empty rows after those of a list."""

_LONG = 60
"""Characters from which a value gets more than one line."""

_HELP = {
    "drop_depends_on": "a task that it no longer waits for, as TSK-001",
    "strike_examples": "the title of an approved example that holds no more",
    "depends_on": "a part by its name, another task as TSK-001",
    "module": "which one, where several failed",
    "module_ref": "as Modules lists it, MM-0123abcd@1.0.0",
    "module_id": "MM-0123abcd of a module that is known, or a word of your own",
    "removed_artifacts": "a file that is to go",
}
"""What is meant by a property whose name does not say it."""

_MOST_ROWS = 200
"""Of a list, in a form that comes in."""


class Field(NamedTuple):
    """An input of a form.

    Args:
        name: Its path in the value, `new_tasks.0.name`.
        label: For a person.
        kind: `line`, `text`, or `files` for a value with a name of its own.
        value: What stands in it.
        required: Whether it must be filled in.
        help: What is meant.
        depth: How deep it lies in lists and objects.
    """

    name: str
    label: str
    kind: str
    value: str
    required: bool
    help: str
    depth: int


def fields_of(schema: Mapping[str, Any], draft: Mapping[str, Any]) -> list[Field]:
    """The inputs of a form.

    Args:
        schema: Of the value, an object.
        draft: What is known of it.
    """
    definitions = cast("dict[str, Any]", schema.get("$defs", {}))
    return list(_Writer(definitions).object_fields(schema, draft, "", 0, required=True))


def value_of(schema: Mapping[str, Any], form: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The value that a filled-in form makes.

    Args:
        schema: Of the value.
        form: Names and what stands in them, in their order.
    """
    definitions = cast("dict[str, Any]", schema.get("$defs", {}))
    given = {name: text.replace("\r\n", "\n") for name, text in form}
    value = _Reader(definitions, given).value(schema, "")
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


class _Writer:
    """Writes the fields of a schema."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions

    def object_fields(
        self, schema: Mapping[str, Any], draft: Mapping[str, Any], path: str, depth: int, *, required: bool
    ) -> Iterator[Field]:
        needed = set(schema.get("required", ()))
        for name, part in schema.get("properties", {}).items():
            below = f"{path}.{name}" if path else name
            yield from self._fields(
                part, draft.get(name), below, _label(name), depth, required=required and name in needed
            )

    def _fields(
        self, schema: Mapping[str, Any], value: Any, path: str, label: str, depth: int, *, required: bool
    ) -> Iterator[Field]:
        schema = _resolved(schema, self._definitions)
        kind, told = schema.get("type"), _HELP.get(_property(path), "")
        if kind == "array":
            items = list(value or ())
            spare = SPARE_ROWS if len(items) < _MOST_ROWS else 0
            for number in range(len(items) + spare):
                item = items[number] if number < len(items) else None
                one = f"{label} {number + 1}"
                wanted = required and number < len(items)
                yield from self._fields(
                    schema["items"], item, f"{path}.{number}", one, depth + 1, required=wanted
                )
        elif kind == "object" and "properties" in schema:
            yield from self.object_fields(schema, value or {}, path, depth, required=required)
        elif kind == "object":
            files = cast("dict[str, str]", value or {})
            for number, (name, text) in enumerate(files.items()):
                yield Field(f"{path}.{number}.name", name, "files", name, required, "", depth)
                yield Field(f"{path}.{number}.value", name, "code", _shown(text), required, "", depth)
            yield Field(f"{path}.{len(files)}.name", label, "files", "", False, "", depth)
            yield Field(f"{path}.{len(files)}.value", "Another file", "text", "", False, "", depth)
        else:
            text = _shown(value)
            long = len(text) > _LONG or label.startswith(("Rationale", "Description", "Fix description"))
            yield Field(path, label, "text" if long else "line", text, required, told, depth)


class _Reader:
    """Reads the value of a schema."""

    def __init__(self, definitions: Mapping[str, Any], given: Mapping[str, str]) -> None:
        self._definitions = definitions
        self._given = given

    def value(self, schema: Mapping[str, Any], path: str) -> Any:
        schema = _resolved(schema, self._definitions)
        kind = schema.get("type")
        if kind == "array":
            rows = (self.value(schema["items"], f"{path}.{number}") for number in range(_MOST_ROWS))
            return [row for row in rows if not _is_empty(row)]
        if kind == "object" and "properties" in schema:
            parts = {
                name: self.value(part, f"{path}.{name}" if path else name)
                for name, part in schema["properties"].items()
            }
            return {name: part for name, part in parts.items() if not _is_empty(part)}
        if kind == "object":
            rows = ((f"{path}.{number}.name", f"{path}.{number}.value") for number in range(_MOST_ROWS))
            return {
                self._given[name].strip(): self._given.get(text, "")
                for name, text in rows
                if self._given.get(name, "").strip()
            }
        return self._given.get(path, "").strip()


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema without its reference; of several the first that is not null."""
    if "$ref" in schema:
        return _resolved(definitions[str(schema["$ref"]).rpartition("/")[2]], definitions)
    for choice in schema.get("anyOf", ()):
        if choice.get("type") != "null":
            return _resolved(choice, definitions)
    return schema


def _property(path: str) -> str:
    """The name of the property that a value belongs to: of `new_tasks.0.depends_on.1` it is `depends_on`."""
    return next((part for part in reversed(path.split(".")) if not part.isdecimal()), "")


def _is_empty(value: Any) -> bool:
    return value in ("", [], {})


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _shown(value: Any) -> str:
    return "" if value is None or value == FILL else str(value)
