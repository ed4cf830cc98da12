"""The JSON Schemas of the documents of `--json`, made from their types (design: command-line)."""

from typing import Any, cast

from pydantic import TypeAdapter

from ship_gate.terminal.output import DOCUMENT_VERSION
from specwright.cli.documents.models import DOCUMENTS

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def document_schema(name: str) -> dict[str, Any]:
    """The schema of a document, by its `schema`."""
    made = TypeAdapter(DOCUMENTS[name]).json_schema()
    fixed = {"schema": {"const": name}, "version": {"const": DOCUMENT_VERSION}}
    made |= {"title": name, "properties": {**fixed, **made["properties"], **fixed}}
    made["required"] = sorted({*made["required"], *fixed})
    return {"$schema": _DIALECT, **_open(made)}


def _open(value: Any) -> Any:
    """A schema in which every object may have further keys, since they are added within a version."""
    if isinstance(value, dict):
        items = cast(dict[str, Any], value).items()
        return {key: _open(part) for key, part in items if (key, part) != ("additionalProperties", False)}
    return [_open(part) for part in cast(list[Any], value)] if isinstance(value, list) else value
