"""The artifact store as one role invocation meets it: what its context pack shows, and drafts of its own (design:
artifact-lifecycle, role-access).

Contracts are shown, never the contents of other artifacts (design: artifacts): of a module its public surface or its
index status, of a contract the contract, of anything else that the pack names its id, type, version and status. A
draft is registered under an id that the factory draws; shipping, revising what others made and changing a status are
no operations here.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ArtifactType, artifact_id
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.context.packs import index_entry
from specwright.application.factory import ProjectView
from specwright.application.store.artifacts import Invocation
from specwright.domain.artifacts import CONTRACT, NOT_IN_PACK, ContextPack, IncludedRef, Permission
from specwright.domain.interface_change import (
    InterfaceChangeException,
    RaisedBy,
    checked_request,
)
from specwright.errors import RefusedError
from specwright.ports.code_index import CodeIndex
from specwright.ports.journal import Scope

MAX_LISTED = 100
"""References of one listing; the rest are found by `search_code_index`."""

_CONTRACTS = ("MM-", "CTR-")
_ARTIFACTS = (*_CONTRACTS, *(f"{kind.prefix}-" for kind in ArtifactType))


class RoleStore:
    """Bounded by the pack as it is stored.

    Args:
        view: The project.
        index: Its Code Index.
        by: The invocation; its pack says what is shown.
        drafts_of: What its drafts are made from, as (id@version, purpose).
        judged: Contracts that are not sealed yet, by their module's reference.
        contracts_only: Whether anything else that the pack names is refused (design: role-access: the Challenger).
        upstream: What the deliverable depends on; against those of it that are sealed an exception may be raised.
        works_on: The artifact that the role makes or judges, `id@version`.
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
    ) -> None:
        self._view = view
        self._index = index
        self._by = by
        self._drafts_of = drafts_of
        self._works_on = works_on
        self.upstream: Sequence[str] = [ref for ref in upstream if view.modules.is_sealed(ref)]
        self._judged = {contract.ref: contract.to_bytes() for contract in judged}
        self._shown = _CONTRACTS if contracts_only else _ARTIFACTS
        self._what = "contracts" if contracts_only else "contracts and artifacts"

    def listed(self) -> JsonValue:
        """What may be queried, and why it was given."""
        rows = [row for row in self._pack().included_refs if row.ref.startswith(self._shown)]
        more = len(rows) - MAX_LISTED
        listed = [
            {"ref": row.ref, "permission": row.permission.value, "reason": row.reason}
            for row in rows[:MAX_LISTED]
        ]
        found = {"your_context_pack": listed}
        return cast(JsonValue, {**found, "not_listed": more} if more > 0 else found)

    def query(self, ref: str) -> JsonValue:
        """One reference of the pack, as far as the pack shows it.

        Raises:
            RefusedError: it is not in the pack, or not to be queried by this role.
            CorruptionError: what the pack shows is not in the store.
        """
        rows = [row for row in self._pack().included_refs if row.ref == ref]
        if not rows:
            raise RefusedError(NOT_IN_PACK.replace("{path}", ref))
        if not ref.startswith(self._shown):
            raise RefusedError(f"you may query {self._what} only; '{ref}' is none.")
        shown: dict[str, JsonValue] = {"ref": ref}
        for row in rows:
            shown |= self._of(row)
        return shown

    def create(self, draws: Scope, kind: ArtifactType, body: Mapping[str, bytes], revises: str) -> str:
        """Register a draft of what this invocation is making; returns its id.

        Args:
            draws: Where its id and time come from.
            kind: What it is a draft of.
            body: Its files.
            revises: The invocation's own draft before it.
        """
        return self._view.artifacts.create(
            draws, self._by, kind, body, inputs=self._drafts_of, revises=revises
        )

    def raise_exception(self, draws: Scope, raw: JsonValue) -> str:
        """Record an interface change exception in the name of this invocation; returns its id.

        Raises:
            RefusedError: it is not valid; nothing was written.
        """
        try:
            asked = checked_request(raw, {ref: self._view.modules.contract(ref) for ref in self.upstream})
        except ValueError as error:
            raise RefusedError(str(error)) from error
        by = RaisedBy(artifact_ref=self._works_on, role=self._by.role, run_id=self._by.run_id)
        name = artifact_id(ArtifactType.INTERFACE_CHANGE_EXCEPTION, draws.hex8())
        self._view.exceptions.add(draws, InterfaceChangeException.of(name, asked, by))
        return name

    def _pack(self) -> ContextPack:
        return self._view.invocations.pack(self._by.pack_id)

    def _of(self, row: IncludedRef) -> dict[str, JsonValue]:
        name = row.ref.partition("@")[0]
        if row.ref in self._judged:
            return {"files": {CONTRACT: self._judged[row.ref].decode()}}
        if row.permission is Permission.METADATA_ONLY:
            return {"index": index_entry(self._index, row.ref)}
        if row.ref.startswith("MM-"):
            surface = self._view.modules.surface(row.ref)
            files: JsonValue = {path: data.decode() for path, data in surface.items()}
            return {"files": files, "index": index_entry(self._index, row.ref)}
        envelope = self._view.artifacts.envelope(self._by.folder, name)
        if envelope.artifact_type is ArtifactType.CONTRACT:
            body = self._view.artifacts.body(self._by.folder, name)
            return {"files": {CONTRACT: body[CONTRACT].decode()}}
        return {
            "artifact_type": envelope.artifact_type.value,
            "version": envelope.version,
            "status": envelope.status.value,
        }
