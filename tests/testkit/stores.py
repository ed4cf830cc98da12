"""What a project left on the disk, for comparing two runs."""

from contextlib import closing
from pathlib import Path
from typing import Any

from agent_wire.entries import LogEnd
from specwright.index.embedder import load_embedder
from specwright.index.sqlite_index import SqliteCodeIndex
from specwright.journal import JournalRecord, read_records

__all__ = ["answered", "differences", "index_entries", "journal_of", "records", "store_files"]


def store_files(project: Path) -> dict[str, bytes]:
    """Every file of `state_store/`, and the task files, by its path; the index is read by its entries."""
    found: dict[str, bytes] = {}
    for base in (project / "state_store", project / "project"):
        for path in sorted(base.rglob("*")):
            name = path.relative_to(project).as_posix()
            if path.is_file() and not name.startswith("state_store/code_index/"):
                found[name] = _lasting(path)
    return found


def _lasting(path: Path) -> bytes:
    """A file's bytes; of the notes of where the log ended the place alone, the hash covers the time of day."""
    data = path.read_bytes()
    return str(LogEnd.from_bytes(data, "").sequence_number).encode() if path.name == "log_end.json" else data


def index_entries(project: Path) -> list[Any]:
    """The Code Index, in the order in which it grew."""
    with closing(SqliteCodeIndex(project / "state_store/code_index", load_embedder("wordllama"))) as index:
        return [entry.to_json() for entry in index.entries()]


def differences(one: Path, other: Path) -> list[str]:
    """The files that are not the same bytes in two projects."""
    left, right = store_files(one), store_files(other)
    differing = [name for name in sorted({*left, *right}) if left.get(name) != right.get(name)]
    return differing if index_entries(one) == index_entries(other) else [*differing, "code_index"]


def journal_of(project: Path) -> Path:
    """Where its journal lies."""
    return project / ".specwright" / "journal.jsonl"


def records(project: Path, kind: str) -> list[JournalRecord]:
    """The records of its journal of one kind."""
    return [record for record in read_records(journal_of(project)) if record.place.kind == kind]


def answered(project: Path, task: str = "") -> list[str]:
    """Where models have answered, of one task or of all."""
    places = [record.place.scope for record in records(project, "model")]
    return [place for place in places if place.startswith(task)]
