"""Is everything that was shipped still what was shipped? Recomputed from files alone, offline (D-20-03, D-S9-11).

For every sealed version: that its records validate, that the hashes in `ship.json` and in the Wire that
announced it are those of its files, that the interface in its source is the contract's, that the contract is one
that was locked. Then every other file of the store, which is bound by a hash in the log (`verifying_log`) or in the
journal (`kept_records`), is a copy of one that is, or is made anew and compared (`verifying_views`). What is wrong is
told with the file that is wrong; a file that nothing binds is told as such (ADR 0051).

Left out: the log's own chain, which `log.verify` proves; whether the tests still pass, which needs the sandbox."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from specwright import canonical_json
from specwright.application.projection import STATE_FILE
from specwright.application.proof.sealed_version import Fault, SealedVersion, Sources
from specwright.application.proof.verifying_log import Told, gate_records, read_log, referred_files
from specwright.application.proof.verifying_views import INDEX, Index, index_faults, projection_faults
from specwright.application.stores.kept_records import kept_in
from specwright.application.stores.stored_records import StoredRecords
from specwright.canonical_json import JsonValue
from specwright.ports.store import FileTree, StateStore
from specwright.ports.wire_log import WireLog

__all__ = ["Checked", "Fault", "Looked", "verify_store"]

_PROVEN = (
    *("definitions/*", "releases/*/*.whl", "releases/*/log_end.json", "project/log_end.json"),
    *(f"debates/*/{name}.json" for name in ("proposal", "challenge", "adjudication")),
    *(STATE_FILE, f"{INDEX}*"),
)
"""Files that a hash of their own does not bind: their name is one, they are copies, or they are made anew."""


class Looked(NamedTuple):
    """How a project is looked at.

    Args:
        sources: Reads sealed sources.
        code_index: Looks at the Code Index.
        folder: The project's directory, with the task files.
    """

    sources: Sources
    code_index: Index
    folder: FileTree


class Checked(NamedTuple):
    """What was looked at, and what is wrong with it.

    Args:
        modules: Sealed versions, and what a crash left of one.
        definitions: How many.
        records: Those that have a schema.
        wires: How many.
        faults: What is wrong.
        unbound: Files that nothing binds: an older version wrote them, or a run was cut short. Told, and no fault.
    """

    modules: int
    definitions: int
    records: int
    wires: int
    faults: tuple[Fault, ...]
    unbound: tuple[str, ...] = ()


def verify_store(
    store: StateStore, log: WireLog, looked: Looked, kept: Iterable[JsonValue] = (), *, at_rest: bool
) -> Checked:
    """Recompute everything.

    Args:
        store: `state_store/`; it is only read.
        log: The project's, which is read as far as it can be.
        looked: What else it takes.
        kept: What the journal says of records that no Wire names (`kept_records`).
        at_rest: Whether no run goes on; state file, task files and Code Index may be a step ahead of the log or behind it.
    """
    faults: list[Fault] = []
    told = read_log(log, faults)
    versions = [
        SealedVersion(store, looked.sources, name, version, told.announced.get(f"{name}@{version}", ""))
        for name in store.names("modules")
        for version in store.names(f"modules/{name}")
    ]
    for version in versions:
        faults += version.faults()
    there = {f"{version.name}@{version.number}" for version in versions}
    for ref in sorted(told.announced.keys() - there):
        faults.append(Fault("seal.missing", f"modules/{ref.replace('@', '/')}", "the sealed version is gone"))
    definitions = store.names("definitions")
    faults += _definition_faults(store, definitions, told)
    bound = _bound(store, told, kept)
    records = StoredRecords(store, bound)
    faults += records.faults()
    if at_rest:
        faults += projection_faults(log, store, looked.folder)
        faults += index_faults(store, looked.code_index, told)
    return Checked(
        modules=len(versions),
        definitions=len(definitions),
        records=records.count,
        wires=told.wires,
        faults=tuple(dict.fromkeys(faults)),
        unbound=tuple(_unbound(store, bound, told)) if at_rest else (),
    )


def _bound(store: StateStore, told: Told, kept: Iterable[JsonValue]) -> dict[str, Collection[str]]:
    """The hashes that files may have; where journal and log both name a file, the log counts."""
    noted = {path: {sha256} for path, sha256 in kept_in(kept).items()}
    return {**noted, **referred_files(told), **gate_records(store, told)}


def _unbound(store: StateStore, bound: Mapping[str, object], told: Told) -> Iterator[str]:
    """Files that nothing speaks for; in a sealed version there are none."""
    sealed = {f"modules/{ref.replace('@', '/')}" for ref in told.announced}
    for path in _paths(store, ""):
        proven = "/".join(path.split("/")[:3]) in sealed or any(fnmatchcase(path, name) for name in _PROVEN)
        if path not in bound and not proven:
            yield path


def _paths(store: StateStore, base: str) -> Iterator[str]:
    """Every file, unread."""
    for name in store.names(base):
        path = f"{base}/{name}" if base else name
        if store.exists(path):
            yield path
        else:
            yield from _paths(store, path)


def _definition_faults(store: StateStore, names: list[str], told: Told) -> Iterator[Fault]:
    for name in names:
        path = f"definitions/{name}"
        if canonical_json.sha256(store.read(path)) != name:
            yield Fault("definition.changed", path, "its bytes have another hash than its name")
    for sha256 in sorted(told.definitions.keys() - set(names)):
        message = f"Wire {told.definitions[sha256]} refers to it, but it is gone"
        yield Fault("definition.missing", f"definitions/{sha256}", message)
