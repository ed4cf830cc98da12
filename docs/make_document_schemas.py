"""Writes the JSON Schemas of the documents of `--json` to schemas/command-line, from their models.

Run by `make pages` after a change of `specwright.documents`.
"""

import json
from pathlib import Path

from ship_gate.terminal.output import DOCUMENT_VERSION
from specwright.documents.schemas import DOCUMENTS, document_schema

SCHEMAS = Path(__file__).resolve().parents[1] / f"schemas/command-line/v{DOCUMENT_VERSION}"


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
