"""The hash of a file as it was written, noted in the journal for `verify` (design: command-line).

The log binds what its Wires name: sealed versions, definitions, escalations, gate records. No Wire names packs,
contributions, bodies of artifacts, drafts or product files, nor the single files of a sealed version; whoever writes one
notes its hash here after publishing it.
An envelope is noted as it was created, because what became of it since follows from its outputs.
"""

from collections.abc import Iterable, Mapping
from typing import cast

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonValue
from specwright.ports.journal import Scope

FILE_HASHES = "kept"
"""The kind of these records in the journal."""


def note_hashes(scope: Scope, files: Mapping[str, bytes]) -> None:
    """Note the hashes of files that were published, by their paths in the store."""
    hashes = cast(JsonValue, {path: canonical_json.sha256(data) for path, data in files.items()})
    scope.recall(FILE_HASHES, hashes, lambda: hashes)


def noted_hashes(records: Iterable[JsonValue]) -> dict[str, str]:
    """The SHA-256 of every noted file by its path, from the journal's records of this kind."""
    hashes: dict[str, str] = {}
    for record in records:
        hashes |= cast(dict[str, str], record)
    return hashes
