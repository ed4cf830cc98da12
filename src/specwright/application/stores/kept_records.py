"""What a record was when it was written: its hash in the journal, against which `verify` holds the file (D-S9-11).

A sealed version and a definition are bound by the log. Packs, contributions and the bodies of artifacts are named by no
Wire; whoever writes one notes it here, after it is published (ADR 0045). An envelope is noted as it was created: what
became of it since follows from its outputs.
"""

from collections.abc import Iterable, Mapping
from typing import cast

from specwright import canonical_json
from specwright.canonical_json import JsonValue
from specwright.ports.journal import Scope

__all__ = ["KEPT", "keep", "kept_in"]

KEPT = "kept"
"""The kind of these records in the journal."""


def keep(scope: Scope, files: Mapping[str, bytes]) -> None:
    """Note files that were published, by their paths in the store."""
    hashes = cast(JsonValue, {path: canonical_json.sha256(data) for path, data in files.items()})
    scope.recall(KEPT, hashes, lambda: hashes)


def kept_in(answers: Iterable[JsonValue]) -> dict[str, str]:
    """The SHA-256 of every record by its path, from the journal's records of this kind."""
    found: dict[str, str] = {}
    for answer in answers:
        found |= cast(dict[str, str], answer)
    return found
