"""What a role invocation is given, as rows of its context pack with the files that stand for them (F§5.3, F§9.7, D12).

One list makes the manifest and the role's directory, so that the one cannot say more than the other holds. A pack
that cannot be filled stops here, before it is written and before a model is asked (DESIGN §7).
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, cast

from specwright import canonical_json
from specwright.application.factory import Factory, Reading
from specwright.application.project_stage import Task
from specwright.application.stores.artifact_store import artifacts
from specwright.canonical_json import JsonValue
from specwright.domain.artifact import ADJUDICATED_BY, AMENDED_AFTER, CHALLENGED_BY, REJECTED_BY
from specwright.domain.contract import MicroModuleContract
from specwright.domain.harness_schemas import harness_schemas
from specwright.domain.ids import ModuleRef
from specwright.domain.provenance import METADATA, SURFACE, Permission
from specwright.domain.ship import ShipEvidence
from specwright.errors import CorruptionError
from specwright.ports.journal import Scope
from specwright.ports.roles import Files

__all__ = [
    "Given",
    "Row",
    "dependencies",
    "directory",
    "heard",
    "index_entry",
    "index_statuses",
    "previous",
    "rows",
    "schemas",
    "surface_of",
    "task_ref",
]

Row = tuple[str, Permission, str]
"""A reference, how much of it is shown, and why."""


class Given(NamedTuple):
    """One row, with what lies in the role's directory for it; a role without file tools is told it in its request."""

    ref: str
    permission: Permission
    reason: str
    files: Files = MappingProxyType({})


def rows(given: Iterable[Given]) -> list[Row]:
    """The manifest of what is given."""
    return [(item.ref, item.permission, item.reason) for item in given]


def directory(given: Iterable[Given]) -> dict[str, bytes]:
    """The role's directory."""
    return {path: data for item in given for path, data in item.files.items()}


def task_ref(factory: Reading, task: Task) -> str:
    """A task in the version of its spec."""
    spec = factory.projection.spec
    return f"{task.task_id}@{spec.spec_version if spec else '1.0.0'}"


def surface_of(factory: Reading, ref: str) -> dict[str, bytes]:
    """The public surface of a sealed module (F§12.2).

    Raises:
        CorruptionError: a file of it is missing or empty, or its contract is not the one that was sealed.
    """
    base = "modules/{}/{}".format(*ModuleRef.parse(ref))
    store = factory.store
    files = {name: store.read(f"{base}/{name}") for name in SURFACE if store.exists(f"{base}/{name}")}
    remedy = "restore `state_store/` from a copy of the project; no model was asked"
    if missing := [name for name in SURFACE if not files.get(name, b"").strip()]:
        raise CorruptionError(
            f"a context pack is incomplete: {ref} has no {', '.join(missing)}", where=base, remedy=remedy
        )
    contract = MicroModuleContract.from_bytes(files["contract.json"], f"{base}/contract.json")
    evidence = ShipEvidence.from_bytes(files["ship.json"], f"{base}/ship.json")
    if contract.interface_fingerprint != evidence.verification.interface_fingerprint:
        raise CorruptionError(f"the contract of {ref} is not the sealed one", where=base, remedy=remedy)
    return files


def index_statuses(factory: Factory, scope: Scope, refs: Sequence[str]) -> dict[str, JsonValue]:
    """What the Code Index says of modules, by reference: as it was when the invocation began."""
    if not refs:
        return {}

    def live() -> JsonValue:
        return {ref: entry for ref in refs if (entry := index_entry(factory, ref)) is not None}

    asked: JsonValue = {"tool": "index_status", "refs": list(refs)}
    return cast(dict[str, JsonValue], scope.recall("tool", asked, live))


def index_entry(factory: Factory, ref: str) -> JsonValue:
    """What METADATA_ONLY shows of a module; None if the Code Index does not know it."""
    entry = factory.index.get(*ModuleRef.parse(ref))
    return entry and {
        "module_ref": ref,
        "name": entry.name,
        "version": entry.version,
        "status": entry.status.value,
        "superseded_by": entry.superseded_by,
        "notes": entry.notes,
    }


def dependencies(
    refs: Sequence[str], surfaces: Mapping[str, Files], statuses: Mapping[str, JsonValue]
) -> list[Given]:
    """Modules that may be called: their surface, and their status in the index (F§16).

    Args:
        refs: Of sealed modules.
        surfaces: Their public files.
        statuses: As `index_statuses` tells them.
    """
    given: list[Given] = []
    for ref in refs:
        name = MicroModuleContract.from_bytes(surfaces[ref]["contract.json"], ref).name
        shown = {f"dependencies/{name}/{path}": data for path, data in surfaces[ref].items()}
        given.append(Given(ref, Permission.CONTRACT_ONLY, "a module that it may call", shown))
        status = {f"index/{name}/{METADATA}": canonical_json.pretty(statuses[ref])} if ref in statuses else {}
        given.append(
            Given(ref, Permission.METADATA_ONLY, f"its index status: {_status(statuses, ref)}", status)
        )
    return given


def schemas() -> list[Given]:
    """The schemas of the factory's records, for the one role that is given them (F§3.4, F§9.7)."""
    return [
        Given(
            f"SCHEMA-{name}@1.0.0",
            Permission.FULL,
            "the schema of a record",
            {f"schemas/{name}.json": data},
        )
        for name, data in harness_schemas().items()
    ]


def heard(factory: Reading, task: Task, before: str, *, amending: bool) -> list[Given]:
    """What a revision is told of the debate: the failures of the challenge, the rationale of a rejection, or the
    amendments, each without the rest of its record (F§9.7, D15)."""
    steps = (CHALLENGED_BY, ADJUDICATED_BY, REJECTED_BY, AMENDED_AFTER)
    outputs = artifacts(factory).envelope(task.folder, before).outputs
    judged = [output for output in outputs if output.purpose in steps]
    if not judged:
        return []
    told = {
        CHALLENGED_BY: "its failures, without its assessments",
        REJECTED_BY: "its rationale, as the failure to correct",
        **({ADJUDICATED_BY: "its amendments, to be applied"} if amending else {}),
    }
    last = judged[-1]
    return [Given(last.ref, Permission.SUMMARY_ONLY, told[last.purpose])] if last.purpose in told else []


def previous(factory: Reading, task: Task, before: str, files: Files) -> list[Given]:
    """The version that is revised, which is the role's own."""
    ref = artifacts(factory).ref(task.folder, before)
    return [Given(ref, Permission.FULL, "its own version, to be revised", files)]


def _status(statuses: Mapping[str, JsonValue], ref: str) -> str:
    entry = statuses.get(ref)
    return str(entry["status"]) if isinstance(entry, dict) else "not in the index"
