"""Checks of a Wire by itself: its JSON Schema, and what a schema cannot say (design: wire).

An event type without a schema is not accepted. `agent_wire.credentials` looks for secrets; order, transitions and
causes are checked in `agent_wire.admission`.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from typing import cast

from jsonschema_rs import Draft202012Validator, Registry, ValidationError

from agent_wire import data
from agent_wire.canonical_json import JsonObject
from agent_wire.rejection import Rejection
from agent_wire.tables import Tables, default_tables

_ENVELOPE = "envelope.schema.json"


class Schemas:
    """The compiled schemas.

    Args:
        documents: File name -> JSON Schema, as `data.schemas` gives them.
        tables: Name the schema of each event type.
    """

    def __init__(self, documents: Mapping[str, JsonObject], tables: Tables) -> None:
        registry = Registry([(str(document["$id"]), document) for document in documents.values()])
        self._compiled = {
            name: Draft202012Validator(document, registry=registry, validate_formats=False)
            for name, document in documents.items()
        }
        self._by_type = {event: self._compiled[rule.schema] for event, rule in tables.events.items()}

    def check(self, wire: JsonObject) -> Rejection | None:
        """The first violation of the Wire's own schema, None if it is valid."""
        validator = self._by_type.get(str(wire.get("type")))
        if validator is None:
            unknown = Rejection("wire.unknown_type", "this event type has no schema", "/type", "schema")
            return self.check_document(_ENVELOPE, wire) or unknown
        return None if validator.is_valid(wire) else _first(validator.iter_errors(wire))

    def check_document(self, name: str, document: JsonObject) -> Rejection | None:
        """The first violation of the schema of this file name by any document."""
        validator = self._compiled[name]
        return None if validator.is_valid(document) else _first(validator.iter_errors(document))


@cache
def default_schemas() -> Schemas:
    """The schemas of Agent Wire 1.1 as they ship."""
    return Schemas(data.schemas(), default_tables())


def _first(errors: Iterable[ValidationError]) -> Rejection:
    """The first violation by pointer and keyword, whatever the validator's order."""
    pointer, keyword, message = min((_pointer(error), error.kind.name, error.message) for error in errors)
    return Rejection("wire.schema", message, pointer, "schema", keyword)


def _pointer(error: ValidationError) -> str:
    return "".join("/" + _escaped(str(part)) for part in error.instance_path)


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


_REFERENCE = re.compile(r"[A-Za-z0-9][!#-;=?-\[\]-~]{0,95}")
_MOST_ITEMS = 8


def check_date(wire: JsonObject) -> Rejection | None:
    """The rejection of a `ts` whose day no calendar has; the schema has seen to its form."""
    try:
        date.fromisoformat(str(wire["ts"])[:10])
    except ValueError:
        return Rejection("wire.date", "there is no such day", "/ts", "admission")
    return None


def check_extensions(wire: JsonObject) -> Rejection | None:
    """The rejection of prose in extensions: they hold numbers, references and single words (design: wire)."""
    extensions = wire.get("extensions")
    return _check_extension(extensions, "/extensions") if extensions else None


def _check_extension(value: object, pointer: str) -> Rejection | None:
    if isinstance(value, str):
        if not value or _REFERENCE.fullmatch(value):
            return None
        message = "an extension holds no prose: one word or reference of at most 96 ASCII characters"
        return Rejection("wire.extension_text", message, pointer, "admission")
    if not isinstance(value, list | dict):
        return None
    inner = cast("list[object] | dict[str, object]", value)
    if len(inner) > _MOST_ITEMS:
        message = f"a list or object in extensions has at most {_MOST_ITEMS} values"
        return Rejection("wire.extension_text", message, pointer, "admission")
    for key, item in enumerate(inner) if isinstance(inner, list) else inner.items():
        place = f"{pointer}/{_escaped(str(key))}"
        named = None if isinstance(key, int) else _check_extension(key, place)
        if rejection := named or _check_extension(item, place):
            return rejection
    return None
