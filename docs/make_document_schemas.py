"""Writes the JSON Schemas of the documents of `--json` to schemas/command-line, from their models.

Run by `make pages` after a change of `specwright.documents`.
"""

import json
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from ship_gate.terminal.output import DOCUMENT_VERSION
from specwright.application.history.provenance import ModuleDebates, Trail
from specwright.application.stages.trace import Trace
from specwright.bootstrap.doctor import Diagnosis
from specwright.bootstrap.mirrors import SubmitStatus
from specwright.bootstrap.transfer import Moved
from specwright.documents import modules, needs, reports, stops
from specwright.domain.base.document import Document
from specwright.domain.modules.release import AcceptanceReport

SCHEMAS = Path(__file__).resolve().parents[1] / f"schemas/command-line/v{DOCUMENT_VERSION}"

_DIALECT = "https://json-schema.org/draft/2020-12/schema"

DOCUMENTS: dict[str, type[Document]] = {
    one.schema_name: one
    for one in (
        AcceptanceReport,
        Diagnosis,
        ModuleDebates,
        Moved,
        SubmitStatus,
        Trace,
        Trail,
        *(
            found
            for place in (modules, needs, reports, stops)
            for found in vars(place).values()
            if isinstance(found, type) and issubclass(found, Document) and found is not Document
        ),
    )
}
"""By their `schema`."""


def document_schema(name: str) -> dict[str, Any]:
    """The schema of a document, by its `schema`."""
    model = DOCUMENTS[name]
    made = model.model_json_schema()
    fixed = {"schema": {"const": name}, "version": {"const": DOCUMENT_VERSION}}
    counted = {
        field: TypeAdapter(one.return_type).json_schema()
        for field, one in model.model_computed_fields.items()
    }
    made |= {"title": name, "properties": {**fixed, **made["properties"], **counted, **fixed}}
    always = (
        field
        for field, one in model.model_fields.items()
        if one.is_required() or one.get_default() is not None
    )
    made["required"] = sorted({*always, *counted, *fixed})
    return {"$schema": _DIALECT, **_open(made)}


def _open(value: Any) -> Any:
    """A schema in which every object may have further keys, since they are added within a version."""
    if isinstance(value, dict):
        items = cast(dict[str, Any], value).items()
        return {key: _open(part) for key, part in items if (key, part) != ("additionalProperties", False)}
    return [_open(part) for part in cast(list[Any], value)] if isinstance(value, list) else value


def schema_files() -> dict[str, str]:
    """The files as they should be, by name."""
    return {
        f"{name}.schema.json": json.dumps(document_schema(name), indent=2, ensure_ascii=False) + "\n"
        for name in DOCUMENTS
    }


if __name__ == "__main__":
    SCHEMAS.mkdir(parents=True, exist_ok=True)
    for name, text in schema_files().items():
        (SCHEMAS / name).write_text(text, encoding="utf-8")
