"""Role invocations: the context pack before, the contribution after (design: provenance)."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

from ship_gate.base.ids import ArtifactType, artifact_id
from specwright.application.store import layout
from specwright.application.store.file_hashes import note_hashes
from specwright.domain.artifacts.artifact import ArtifactEnvelope
from specwright.domain.artifacts.provenance import (
    Author,
    ContextPack,
    Contribution,
    ContributionType,
    CreatedFor,
    ExcludedRef,
    IncludedRef,
    Permission,
)
from specwright.domain.escalation.resolutions import OPERATOR
from specwright.ports.journal import Scope
from specwright.ports.store import StateStore


class Invocation(NamedTuple):
    """A role invocation with its pack; it names the author of what the role makes.

    `folder` is the first path segment of the task's artifacts, the slug of its pillar.
    """

    role: str
    run_id: str
    task_ref: str
    pack_id: str
    folder: str

    @classmethod
    def of(cls, envelope: ArtifactEnvelope, task_ref: str, folder: str) -> Self:
        """The invocation that made an artifact, from its envelope."""
        return cls(
            envelope.created_by.role, envelope.created_by.run_id, task_ref, envelope.context_pack_ref, folder
        )


class InvocationStore:
    """`context_packs/` and `contributions/`."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    def open(
        self,
        scope: Scope,
        author: tuple[str, str],
        task_ref: str,
        folder: str,
        included: Sequence[tuple[str, Permission, str]],
        excluded: Sequence[tuple[str, str]] = (),
    ) -> Invocation:
        """Write the context pack of an invocation, before its first model call.

        Args:
            scope: Of its draws.
            author: The role, and the `run_id` of its place.
            task_ref: The task.
            folder: Of the task's artifacts.
            included: References with how much of each is shown, and why.
            excluded: References that are withheld, and why.
        """
        role, run_id = author
        pack_id = artifact_id(ArtifactType.CONTEXT_PACK, scope.hex8())
        pack = ContextPack(
            context_pack_id=pack_id,
            created_for=CreatedFor(role=role, run_id=run_id, task_ref=task_ref),
            included_refs=[
                IncludedRef(ref=ref, permission=permission, reason=why) for ref, permission, why in included
            ],
            excluded_refs=[ExcludedRef(ref=ref, reason=why) for ref, why in excluded],
            created_at=scope.now(),
        )
        self._write(scope, layout.context_pack(pack_id), pack.to_bytes())
        return Invocation(role, run_id, task_ref, pack_id, folder)

    def open_resolution(
        self, scope: Scope, run_id: str, task_ref: str, folder: str, escalation_id: str
    ) -> Invocation:
        """A person's part in a run, recorded as an invocation whose pack holds the escalation that is answered."""
        included = [(f"{escalation_id}@1.0.0", Permission.FULL, "the escalation that is answered")]
        return self.open(scope, (OPERATOR, run_id), task_ref, folder, included)

    def pack(self, pack_id: str) -> ContextPack:
        """A context pack."""
        path = layout.context_pack(pack_id)
        return ContextPack.from_bytes(self._store.read(path), path)

    def contributions(self) -> Iterator[Contribution]:
        """Every contribution."""
        for name in self._store.names(layout.CONTRIBUTIONS):
            path = f"{layout.CONTRIBUTIONS}/{name}"
            yield Contribution.from_bytes(self._store.read(path), path)

    def contribute(self, scope: Scope, by: Invocation, kind: ContributionType, artifact_ref: str) -> None:
        """Record what an invocation produced."""
        contribution = Contribution(
            contribution_id=f"CONTRIB-{scope.hex8()}",
            type=kind,
            produced_by=Author(role=by.role, run_id=by.run_id),
            artifact_ref=artifact_ref,
            task_ref=by.task_ref,
            created_at=scope.now(),
            context_pack_ref=by.pack_id,
        )
        self._write(scope, layout.contribution(contribution.contribution_id), contribution.to_bytes())

    def _write(self, scope: Scope, path: str, data: bytes) -> None:
        self._store.publish(path, data)
        note_hashes(scope, {path: data})
