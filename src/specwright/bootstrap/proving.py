"""What proves instead of tells: the gate on one directory, the seals of a whole project, the sandbox of this machine.

Sources are parsed here and code of modules may run in its sandbox; no model is asked (DESIGN §8, §9).
"""

import time
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from specwright.application.proof.verifying import Checked, Fault, Looked, verify_store
from specwright.application.stores.kept_records import KEPT
from specwright.application.stores.log_ends import log_ends
from specwright.bootstrap.gating import gate_of
from specwright.bootstrap.reading import RUNTIME, TOPIC, log_file
from specwright.canonical_json import JsonValue
from specwright.domain.code_index import CodeIndexEntry
from specwright.errors import CorruptionError, InputError
from specwright.gate.directory_verdict import DirectoryVerdict, judge_directory
from specwright.gate.sandbox.kind import available_sandbox
from specwright.gate.sandbox.plan import SandboxKind
from specwright.gate.sealed_source import SealedSource
from specwright.index.audit import audit
from specwright.index.embedder import DEFAULT_EMBEDDER, Embedder, load_embedder
from specwright.journal import read_records
from specwright.log.sqlite_log import SqliteWireLog
from specwright.log.verify import verify as verify_log
from specwright.settings import Settings, load_settings
from specwright.storage import DiskStateStore, DiskTree

__all__ = ["judged_directory", "sandbox_here", "verified_project"]

JOURNAL = "journal.jsonl"

_CONTRADICTED = "the log does not hold the entry that it notes; one of the two was changed"


def sandbox_here(settings: Settings) -> tuple[bool, str]:
    """Whether code of modules can be confined as the settings ask, and how, or why not."""
    if settings.sandbox == "none":
        return False, 'sandbox = "none": the code of modules runs with the rights of this account'
    found = available_sandbox()
    if found.kind is not SandboxKind.NONE and settings.sandbox in ("auto", found.kind.value):
        return True, f"{found.kind.value}, with seccomp and limits"
    return False, found.reason


def judged_directory(directory: Path, dependencies: Sequence[Path], *, fix: bool) -> DirectoryVerdict:
    """Judge one module directory with no factory around it (D-S8-15).

    Raises:
        InputError: it is no module directory, or a dependency is nowhere.
        RefusedError: `fix` on a sealed version.
    """
    return judge_directory(gate_of(load_settings(directory)), directory, dependencies, fix=fix)


def verified_project(directory: Path, *, at_rest: bool) -> Checked:
    """Prove a project's records, its log's chain and its state file (D-S9-11).

    Raises:
        InputError: there is no project.
    """
    path, store = log_file(directory), DiskStateStore(directory / "state_store")
    noted = log_ends(store)
    broken = [Fault("log.note", fault.where, fault.what) for fault in noted.unreadable]
    broken += (
        Fault(finding.code, f"{RUNTIME}/{path.name}", f"Wire {finding.sequence_number}: {finding.message}")
        for finding in verify_log(path, expected=noted.ends)
    )
    kept, damaged = _kept_by(directory / RUNTIME / JOURNAL)
    broken += damaged
    try:
        log = SqliteWireLog(path, TOPIC, time.time_ns)
    except CorruptionError as error:
        return Checked(0, 0, 0, 0, (*broken, Fault("log.unreadable", f"{RUNTIME}/{path.name}", error.what)))
    try:
        broken += (Fault("log_end.changed", place, _CONTRADICTED) for place in noted.contradicted(log))
        looked = Looked(SealedSource(), _IndexOf(directory), DiskTree(directory))
        checked = verify_store(store, log, looked, kept, at_rest=at_rest)
    finally:
        log.close()
    return checked._replace(faults=(*broken, *checked.faults))


class _IndexOf:
    """The Code Index of a project, held against its sealed modules."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "state_store" / "code_index"

    def wrong(
        self, entries: Sequence[CodeIndexEntry], required: Collection[str], retired: Collection[str]
    ) -> list[str]:
        """What is in it that they do not explain."""
        return audit(self._directory, entries, _embedder_in_the_box(), required=required, retired=retired)


@cache
def _embedder_in_the_box() -> Embedder:
    return load_embedder(DEFAULT_EMBEDDER)  # its weights are loaded once, when a vector is first asked for


def _kept_by(journal: Path) -> tuple[list[JsonValue], list[Fault]]:
    """What the journal notes of written records, as far as it can be read."""
    found: list[JsonValue] = []
    try:
        found += (record.answer for record in read_records(journal) if record.place.kind == KEPT)
    except CorruptionError as error:
        return found, [Fault("journal.damaged", f"{RUNTIME}/{journal.name}", error.what)]
    except InputError:
        pass  # a project that has not begun, or a copy without its run-time state
    return found, []
