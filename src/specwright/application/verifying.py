"""Is everything that was shipped still what was shipped? Recomputed from files alone, offline (D-20-03, D-S9-11).

For every sealed version: that its records validate, that the hashes in `ship.json` and in the Wire that
announced it are those of its files, that the interface in its source is the contract's, that the contract is one
that was locked. Then every definition, the records of the debates and artifacts, and that `state_machine.json`
is the projection of the log (D29). What is wrong is told with the file that is wrong.

Left out: the log's own chain, which `log.verify` proves; whether the tests still pass, which needs the sandbox."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from specwright import canonical_json
from specwright.application.kept_records import kept_in
from specwright.application.projection import STATE_FILE, Projection
from specwright.application.sealed_version import Fault, SealedVersion, Sources
from specwright.application.stored_records import StoredRecords
from specwright.canonical_json import JsonValue
from specwright.errors import CorruptionError, SpecwrightError
from specwright.ports.store import StateStore
from specwright.ports.wire_log import WireLog

__all__ = ["Checked", "Fault", "Sources", "verify_store"]


class Checked(NamedTuple):
    """What was looked at, and what is wrong with it."""

    modules: int
    definitions: int
    records: int
    wires: int
    faults: tuple[Fault, ...]


class _Told(NamedTuple):
    """What the log says: what each version's files hashed to, which definitions it refers to, its length."""

    announced: dict[str, str]
    definitions: dict[str, int]
    wires: int


def verify_store(
    store: StateStore, log: WireLog, sources: Sources, kept: Iterable[JsonValue] = (), *, at_rest: bool
) -> Checked:
    """Recompute everything.

    Args:
        store: `state_store/`; it is only read.
        log: The project's, which is read as far as it can be.
        sources: Reads sealed sources.
        kept: What the journal says of records that no Wire names (`kept_records`).
        at_rest: Whether no run goes on; the state file may lag behind a run by a second.
    """
    faults: list[Fault] = []
    told = _read_log(log, faults)
    versions = [
        SealedVersion(store, sources, name, version, told.announced.get(f"{name}@{version}", ""))
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
    records = StoredRecords(store, kept_in(kept))
    faults += records.faults()
    if at_rest:
        faults += _projection_faults(store, log)
    return Checked(len(versions), len(definitions), records.count, told.wires, tuple(dict.fromkeys(faults)))


def _read_log(log: WireLog, faults: list[Fault]) -> _Told:
    told = _Told({}, {}, 0)
    wires = 0
    try:
        for entry in log.entries():
            wires += 1
            payload = cast("dict[str, Any]", entry.wire["payload"])
            if sha256 := payload.get("definition_sha256"):
                told.definitions.setdefault(str(sha256), entry.sequence_number)
            if entry.wire["type"] == "artifact.ready":
                ref = f"{payload['artifact_id']}@{payload['version']}"
                # a task that reuses it announces it again; the first is from when it was sealed
                told.announced.setdefault(ref, str(payload["sha256"]))
    except (SpecwrightError, KeyError, TypeError) as error:
        faults.append(Fault("log.unreadable", "wire.db", f"Wire {wires + 1} cannot be read: {error}"))
    return told._replace(wires=wires)


def _definition_faults(store: StateStore, names: list[str], told: _Told) -> Iterator[Fault]:
    for name in names:
        path = f"definitions/{name}"
        if canonical_json.sha256(store.read(path)) != name:
            yield Fault("definition.changed", path, "its bytes have another hash than its name")
    for sha256 in sorted(told.definitions.keys() - set(names)):
        message = f"Wire {told.definitions[sha256]} refers to it, but it is gone"
        yield Fault("definition.missing", f"definitions/{sha256}", message)


def _projection_faults(store: StateStore, log: WireLog) -> Iterator[Fault]:
    projection = Projection(log, store, lambda: 0.0)
    try:
        projection.catch_up()
    except CorruptionError as error:
        yield Fault("state.unprovable", error.where, error.what)
        return
    state = projection.state
    if state is None:
        if store.exists(STATE_FILE):
            yield Fault("state.changed", STATE_FILE, "the log knows of no tasks")
    elif not store.exists(STATE_FILE):
        yield Fault("state.missing", STATE_FILE, "the file is gone; the next run writes it again")
    elif (stored := store.read(STATE_FILE)) != state.to_bytes():
        yield Fault("state.changed", STATE_FILE, _difference(stored, state.to_json()))


def _difference(stored: bytes, expected: Mapping[str, Any]) -> str:
    try:
        value = canonical_json.loads(stored)
    except ValueError as error:
        return f"it is no JSON: {error}"
    if isinstance(value, dict) and (tasks := cast("dict[str, Any]", value).get("tasks")) != expected["tasks"]:
        known = cast("dict[str, Any]", tasks) if isinstance(tasks, dict) else {}
        names = [n for n in {**expected["tasks"], **known} if known.get(n) != expected["tasks"].get(n)]
        return f"it is not what the log says of {', '.join(names[:5])}; only the log counts"
    return "it is not the projection of the log; only the log counts"
