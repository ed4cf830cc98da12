"""The context of a role invocation: the rows of its context pack with their files, and its view of the artifact store
(design: provenance, role-access, artifact-lifecycle).

The manifest and the role's directory are made from one list, so they always agree. A missing file is found here, before
the pack is written and a model is asked (design: role-access).

The store shows contracts, and never the contents of other artifacts (design: artifact-lifecycle): a module's public
surface or index status, a contract, and for anything else in the pack its id, type, version and status. A role may
register drafts under ids that the factory draws. It cannot ship, revise other artifacts or change a status.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ArtifactType, ModuleRef, artifact_id
from ship_gate.base.record import Record
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.factory import Factory, ProjectView
from specwright.application.store.artifacts import Invocation
from specwright.application.tasks import Task
from specwright.domain.artifacts import (
    CONTRACT,
    METADATA,
    NOT_IN_PACK,
    ContextPack,
    IncludedRef,
    Permission,
    Purpose,
    shown,
)
from specwright.domain.debate.records import Adjudication, Challenge, Proposal
from specwright.domain.debate.reported_faults import quote_problems
from specwright.domain.interface_change import InterfaceChangeException, RaisedBy, checked_request
from specwright.domain.modules.evidence import ShipEvidence
from specwright.domain.plan import MicroPlan, ReuseSearchReport
from specwright.errors import RefusedError
from specwright.ports import CodeIndex, Files, Scope

_SCHEMAS: tuple[type[Record], ...] = (
    Proposal,
    Challenge,
    Adjudication,
    MicroModuleContract,
    MicroPlan,
    ShipEvidence,
    ReuseSearchReport,
)
_CITES = re.compile(r"\bdesign(?::|\.md)")
Row = tuple[str, Permission, str]
"""A reference, its permission, and the reason."""


class PackEntry(NamedTuple):
    """A reference of a context pack, with its files in the role's directory.

    For a role without file tools, the request has the same content.
    """

    ref: str
    permission: Permission
    reason: str
    files: Files = MappingProxyType({})


def pack_rows(entries: Iterable[PackEntry]) -> list[Row]:
    """Return the rows of the manifest."""
    return [(entry.ref, entry.permission, entry.reason) for entry in entries]


def pack_files(entries: Iterable[PackEntry]) -> dict[str, bytes]:
    """Return the files of the role's directory."""
    return {path: data for entry in entries for path, data in entry.files.items()}


def task_ref(factory: ProjectView, task: Task) -> str:
    """Return the reference of a task, with the version of its spec."""
    spec = factory.projection.spec
    return f"{task.task_id}@{spec.spec_version if spec else '1.0.0'}"


def index_statuses(factory: Factory, scope: Scope, refs: Sequence[str]) -> dict[str, JsonValue]:
    """Return the index entries of modules, by reference, as they were when the invocation began."""
    if not refs:
        return {}

    def live() -> JsonValue:
        return {ref: entry for ref in refs if (entry := index_entry(factory.index, ref)) is not None}

    asked: JsonValue = {"tool": "index_status", "refs": list(refs)}
    return cast(dict[str, JsonValue], scope.recall("tool", asked, live))


def index_entry(index: CodeIndex, ref: str) -> JsonValue:
    """Return what METADATA_ONLY shows of a module; None if it is not in the Code Index."""
    entry = index.get(*ModuleRef.parse(ref))
    return entry and {
        "module_ref": ref,
        "name": entry.name,
        "version": entry.version,
        "status": entry.status.value,
        "superseded_by": entry.superseded_by,
        "notes": entry.notes,
    }


def dependency_entries(
    refs: Sequence[str], surfaces: Mapping[str, Files], statuses: Mapping[str, JsonValue]
) -> list[PackEntry]:
    """Return the entries of modules that the role may call: surface and index status (design: deprecation).

    Args:
        refs: The references of sealed modules.
        surfaces: Their public files.
        statuses: Their index entries, from `index_statuses`.
    """
    given: list[PackEntry] = []
    for ref in refs:
        name = MicroModuleContract.from_bytes(surfaces[ref]["contract.json"], ref).name
        shown = {f"dependencies/{name}/{path}": data for path, data in surfaces[ref].items()}
        given.append(PackEntry(ref, Permission.CONTRACT_ONLY, "a module that it may call", shown))
        status = {f"index/{name}/{METADATA}": canonical_json.pretty(statuses[ref])} if ref in statuses else {}
        given.append(
            PackEntry(ref, Permission.METADATA_ONLY, f"its index status: {_status(statuses, ref)}", status)
        )
    return given


def schema_entries() -> list[PackEntry]:
    """Return the entries of the record schemas, for the role that gets them (design: engineering, role-access)."""
    return [
        PackEntry(
            f"SCHEMA-{schema.__name__}@1.0.0",
            Permission.FULL,
            "the schema of a record",
            {f"schemas/{schema.__name__}.json": _schema_text(schema)},
        )
        for schema in _SCHEMAS
    ]


def debate_entries(factory: ProjectView, task: Task, before: str, *, amending: bool) -> list[PackEntry]:
    """Return the debate entries for a revision: the failures of the challenge, the rationale of a rejection, or the
    amendments, each without the rest of its record (design: role-access, debate)."""
    steps = (Purpose.CHALLENGED_BY, Purpose.ADJUDICATED_BY, Purpose.REJECTED_BY, Purpose.AMENDED_AFTER)
    outputs = factory.artifacts.envelope(factory.artifacts.folder_of(before), before).outputs
    judged = [output for output in outputs if output.purpose in steps]
    if not judged:
        return []
    told: dict[str, str] = {
        Purpose.CHALLENGED_BY: "its failures, without its assessments",
        Purpose.REJECTED_BY: "its rationale, as the failure to correct",
        **({Purpose.ADJUDICATED_BY: "its amendments, to be applied"} if amending else {}),
    }
    last = judged[-1]
    return [PackEntry(last.ref, Permission.SUMMARY_ONLY, told[last.purpose])] if last.purpose in told else []


def previous_version(factory: ProjectView, task: Task, before: str, files: Files) -> list[PackEntry]:
    """Return the entry of the version to revise, which the role itself made."""
    ref = factory.artifacts.ref(factory.artifacts.folder_of(before), before)
    return [PackEntry(ref, Permission.FULL, "its own version, to be revised", files)]


def _status(statuses: Mapping[str, JsonValue], ref: str) -> str:
    entry = statuses.get(ref)
    return str(entry["status"]) if isinstance(entry, dict) else "not in the index"


@lru_cache
def _schema_text(schema: type[Record]) -> bytes:
    return canonical_json.pretty(_readable(schema.model_json_schema(by_alias=True)))


def _readable(value: Any) -> Any:
    """Drop descriptions that cite documents which a role cannot open."""
    if isinstance(value, list):
        return [_readable(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {
        key: _readable(item)
        for key, item in cast("dict[str, Any]", value).items()
        if not (key == "description" and isinstance(item, str) and _CITES.search(item))
    }


MAX_LISTED = 100
"""The limit on references in one listing; `search_code_index` finds the rest."""

_CONTRACTS = ("MM-", "CTR-")
_ARTIFACTS = (*_CONTRACTS, *(f"{kind.prefix}-" for kind in ArtifactType))


class RoleStore:
    """The artifact store for one invocation, limited by its stored context pack.

    Args:
        view: The project.
        index: Its Code Index.
        by: The invocation, whose pack decides what is shown.
        drafts_of: The inputs of its drafts, as (id@version, purpose).
        judged: Contracts that are not sealed yet.
        contracts_only: Show only contracts, for the Challenger (design: role-access).
        upstream: The dependencies of the deliverable; an exception may be raised against a sealed one.
        works_on: The artifact that the role makes or judges, `id@version`.
        stub: The files that the factory wrote.
    """

    def __init__(
        self,
        view: ProjectView,
        index: CodeIndex,
        by: Invocation,
        *,
        drafts_of: Sequence[tuple[str, str]] = (),
        judged: Sequence[MicroModuleContract] = (),
        contracts_only: bool = False,
        upstream: Sequence[str] = (),
        works_on: str = "",
        stub: Files = MappingProxyType({}),
    ) -> None:
        self._view = view
        self._index = index
        self._by = by
        self._drafts_of = drafts_of
        self._works_on = works_on
        self._stub = stub
        self.upstream: Sequence[str] = [ref for ref in upstream if view.modules.is_sealed(ref)]
        self._judged = {contract.ref: contract.to_bytes() for contract in judged}
        self._shown = _CONTRACTS if contracts_only else _ARTIFACTS
        self._what = "contracts" if contracts_only else "contracts and artifacts"

    def listed(self) -> JsonValue:
        """List what the role may query, with reasons."""
        rows = [row for row in self._pack().included_refs if row.ref.startswith(self._shown)]
        more = len(rows) - MAX_LISTED
        listed = [
            {"ref": row.ref, "permission": row.permission.value, "reason": row.reason}
            for row in rows[:MAX_LISTED]
        ]
        found = {"your_context_pack": listed}
        return cast(JsonValue, {**found, "not_listed": more} if more > 0 else found)

    def query(self, ref: str) -> JsonValue:
        """Return the part of a reference that the pack permits.

        Raises:
            RefusedError: the reference is not in the pack, or this role may not query it.
            CorruptionError: the store lacks something that the pack shows.
        """
        rows = [row for row in self._pack().included_refs if row.ref == ref]
        if not rows:
            raise RefusedError(NOT_IN_PACK.replace("{path}", ref))
        if not ref.startswith(self._shown):
            raise RefusedError(f"you may query {self._what} only; '{ref}' is none.")
        answer: dict[str, JsonValue] = {"ref": ref}
        for row in rows:
            answer |= self._of(row)
        return answer

    def create(self, draws: Scope, kind: ArtifactType, body: Mapping[str, bytes], revises: str) -> str:
        """Register a draft of this invocation and return its id.

        Args:
            draws: The source of the id and the time.
            kind: The type of the deliverable.
            body: The draft's files.
            revises: The previous draft of the invocation.
        """
        artifacts = self._view.artifacts
        made = artifacts.draft(draws, self._by, kind, body, inputs=self._drafts_of, revises=revises)
        artifacts.add(draws, made)
        return made.envelope.artifact_id

    def raise_exception(self, draws: Scope, raw: JsonValue, files: Files) -> str:
        """Record an interface change exception of this invocation and return its id.

        Raises:
            RefusedError: it is not valid, or quotes source; nothing was written.
        """
        try:
            asked = checked_request(raw, {ref: self._view.modules.contract(ref) for ref in self.upstream})
        except ValueError as error:
            raise RefusedError(str(error)) from error
        said = {name: str(value) for name, value in asked.to_json().items()}
        if quoted := quote_problems(files, self._stub, said):
            raise RefusedError("\n".join(quoted))
        by = RaisedBy(artifact_ref=self._works_on, role=self._by.role, run_id=self._by.run_id)
        name = artifact_id(ArtifactType.INTERFACE_CHANGE_EXCEPTION, draws.hex8())
        self._view.escalations.add_exception(draws, InterfaceChangeException.of(name, asked, by))
        return name

    def _pack(self) -> ContextPack:
        return self._view.invocations.pack(self._by.pack_id)

    def _of(self, row: IncludedRef) -> dict[str, JsonValue]:
        if row.ref in self._judged:
            return _files(row, {CONTRACT: self._judged[row.ref]})
        if row.ref.startswith("MM-"):
            is_listed = row.permission is Permission.METADATA_ONLY  # not necessarily sealed
            files = {} if is_listed else self._view.modules.surface(row.ref)
            return {**_files(row, files), "index": index_entry(self._index, row.ref)}
        name = row.ref.partition("@")[0]
        envelope = self._view.artifacts.envelope(self._by.folder, name)
        if envelope.artifact_type is ArtifactType.CONTRACT and row.permission is not Permission.METADATA_ONLY:
            body = self._view.artifacts.body(self._by.folder, name)
            return _files(row, {CONTRACT: body[CONTRACT]})
        return {
            "artifact_type": envelope.artifact_type.value,
            "version": envelope.version,
            "status": envelope.status.value,
        }


def _files(row: IncludedRef, files: Files) -> dict[str, JsonValue]:
    """Return the files that a row of a pack permits, if any."""
    given: JsonValue = {path: data.decode() for path, data in files.items() if shown(row.permission, path)}
    return {"files": given} if given else {}
