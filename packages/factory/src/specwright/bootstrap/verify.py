"""The check of a whole project; it asks no model (design: command-line)."""

import time
from contextlib import closing
from functools import cache, partial
from pathlib import Path

from agent_wire.log import SqliteWireLog
from agent_wire.verify import UNPROTECTED
from agent_wire.verify import verify as verify_log
from ship_gate.findings import Finding
from ship_gate.module_directory import SealedSource
from specwright.application.announce import author_in_wire
from specwright.application.history.verify import JOURNAL, Journal, Verification, VerifyPorts, verify_store
from specwright.application.store.artifacts import FILE_HASHES, noted_hashes
from specwright.application.store.log_ends import log_ends
from specwright.bootstrap.stores import LOG, RUNTIME, TOPIC, begun_store
from specwright.bootstrap.transfer import as_directory
from specwright.bootstrap.views import driven_by
from specwright.errors import CorruptionErrors, InputErrors
from specwright.index.embedder import DEFAULT_EMBEDDER, Embedder, load_embedder
from specwright.index.sqlite_index import audit
from specwright.journal import line_of, read_records
from specwright.storage import DiskStateStore, DiskTree

_CONTRADICTED = "the log lacks the entry that this file records; one of them was changed"


def verify_project(directory: str | Path, *, at_rest: bool | None = None) -> Verification:
    """Check offline that every file of a project is as it was written: records, seals, log, state (design: command-line).

    Files are compared with the log. If the log itself was changed, that is the only finding, and the first thing to repair.

    Args:
        directory: The project.
        at_rest: Whether to compare also what a run in progress changes: state file, task files and Code Index. By default,
            unless a run is in progress.

    Returns:
        What was checked, and the findings.

    Raises:
        InputError: there is no project.
        CorruptionError: the project's log is missing.
    """
    directory = Path(directory)
    if at_rest is None:
        at_rest = not driven_by(directory)
    with begun_store(directory) as store:
        # only a server's store can differ; the local copy that is checked below does not show it
        unlike = ", ".join(store.unlike_schema())
        message = f"these parts differ from this version's schema: {unlike}"
        unprotected = [Finding(UNPROTECTED, store.log_address, message)] if unlike else []
    with as_directory(directory) as place:
        verified = _verified(place, at_rest=at_rest)
    return verified._replace(findings=(*unprotected, *verified.findings))


def _verified(directory: Path, *, at_rest: bool) -> Verification:
    path, store = directory / RUNTIME / LOG, DiskStateStore(directory / "state_store")
    noted = log_ends(store)
    broken = [Finding("log.note", fault.where, fault.what) for fault in noted.unreadable]
    of_log = verify_log(path, expected=tuple(noted.ends.values()))
    broken += (
        Finding(finding.code, f"{RUNTIME}/{path.name}", f"Wire {finding.sequence_number}: {finding.message}")
        for finding in of_log
    )
    journal, damaged = read_journal(directory / JOURNAL)
    broken += damaged
    if any(finding.code != UNPROTECTED and not finding.by_note for finding in of_log):
        return Verification(0, 0, 0, 0, tuple(broken))  # a changed log proves nothing about files
    with closing(SqliteWireLog(path, TOPIC, time.time_ns, reading=True)) as log:
        broken += (Finding("log_end.changed", place, _CONTRADICTED) for place in noted.contradicted(log))
        index = partial(audit, directory / "state_store" / "code_index", _local_embedder())
        ports = VerifyPorts(SealedSource().fingerprint, index, DiskTree(directory))
        checked = verify_store(store, log, ports, journal, at_rest=at_rest)
    return checked._replace(findings=(*broken, *checked.findings))


@cache
def _local_embedder() -> Embedder:
    return load_embedder(DEFAULT_EMBEDDER)  # its weights are loaded once, for the first vector


def read_journal(path: Path) -> tuple[Journal, list[Finding]]:
    """Read the journal as far as possible; return it with its findings."""
    journal = Journal([], [], {})
    try:
        for record in read_records(path):
            journal.lines.append(line_of(record))
            journal.notes.append(noted_hashes([record.answer] if record.place.kind == FILE_HASHES else []))
            if record.place.kind == "model":
                journal.authors.setdefault(record.place.scope, set()).add(author_in_wire(record.answer))
    except CorruptionErrors as error:
        return journal._replace(is_whole=False), [Finding("journal.damaged", JOURNAL, error.what)]
    except InputErrors as error:
        what = f"{error.what}, so files that only the journal binds are not verified: {error.where.rpartition(': ')[2]}"
        return journal._replace(is_whole=False), [Finding("journal.unread", JOURNAL, what)]
    return journal, []
