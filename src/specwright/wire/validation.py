"""Wires against their JSON Schemas (W Deterministic Contract Standard): what has no schema is not accepted.

The schemas are passed in. Leaves out what a single Wire cannot show: order, transitions, causes
(`specwright.wire.admission`).
"""

from collections.abc import Iterable, Mapping
from functools import cache

from jsonschema_rs import Draft202012Validator, Registry, ValidationError

from specwright.canonical_json import JsonObject
from specwright.wire import data
from specwright.wire.rejection import Rejection
from specwright.wire.tables import Tables, default_tables

__all__ = ["Schemas", "default_schemas"]

_ENVELOPE = "envelope.schema.json"


class Schemas:
    """The schemas, compiled.

    Args:
        documents: File name -> JSON Schema, as `data.schemas` gives them.
        tables: Tell which schema an event type has.
    """

    def __init__(self, documents: Mapping[str, JsonObject], tables: Tables) -> None:
        registry = Registry([(str(document["$id"]), document) for document in documents.values()])
        self._compiled = {
            name: Draft202012Validator(document, registry=registry, validate_formats=False)
            for name, document in documents.items()
        }
        self._by_type = {event: self._compiled[rule.schema] for event, rule in tables.events.items()}

    def check(self, wire: JsonObject) -> Rejection | None:
        """The first fault of a Wire by its own schema, None if it has none."""
        validator = self._by_type.get(str(wire.get("type")))
        if validator is None:
            unknown = Rejection("wire.unknown_type", "this event type has no schema", "/type", "schema")
            return self.check_document(_ENVELOPE, wire) or unknown
        return None if validator.is_valid(wire) else _first(validator.iter_errors(wire))

    def check_document(self, name: str, document: JsonObject) -> Rejection | None:
        """The first fault of any document by the schema of this file name."""
        validator = self._compiled[name]
        return None if validator.is_valid(document) else _first(validator.iter_errors(document))


@cache
def default_schemas() -> Schemas:
    """The schemas of Agent Wire 1.1 as they ship."""
    return Schemas(data.schemas(), default_tables())


def _first(errors: Iterable[ValidationError]) -> Rejection:
    """The fault that comes first by place and keyword, whatever the validator's order."""
    pointer, keyword, message = min((_pointer(error), error.kind.name, error.message) for error in errors)
    return Rejection("wire.schema", message, pointer, "schema", keyword)


def _pointer(error: ValidationError) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in error.instance_path)
