"""Role invocations: the context pack before, the artifacts and the contribution after (F§5.2, F§5.3, F§8)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from specwright.application.artifact_store import ArtifactStoreService
from specwright.application.factory import Factory, Reading
from specwright.domain.artifact import Author
from specwright.domain.ids import ArtifactType, artifact_id
from specwright.domain.provenance import (
    ContextPack,
    Contribution,
    ContributionType,
    CreatedFor,
    ExcludedRef,
    IncludedRef,
    Permission,
    ProducedBy,
)
from specwright.ports.journal import Scope
from specwright.ports.roles import Place

__all__ = [
    "Invocation",
    "artifact_body",
    "artifact_ref",
    "artifacts",
    "contribute",
    "create_artifact",
    "invocation_of",
    "open_invocation",
]


class Invocation(NamedTuple):
    """A role invocation with its pack: who makes what follows from it."""

    role: str
    run_id: str
    task_ref: str
    pack_id: str
    folder: str
    """The first path segment of the task's artifacts: the slug of its pillar."""


def open_invocation(
    factory: Factory,
    scope: Scope,
    place: Place,
    task_ref: str,
    folder: str,
    included: Sequence[tuple[str, Permission, str]],
    excluded: Sequence[tuple[str, str]] = (),
) -> Invocation:
    """Write the context pack of an invocation, before its first model call."""
    pack_id = artifact_id(ArtifactType.CONTEXT_PACK, scope.hex8())
    pack = ContextPack(
        context_pack_id=pack_id,
        created_for=CreatedFor(role=place.role, run_id=place.run_id, task_ref=task_ref),
        included_refs=[
            IncludedRef(ref=ref, permission=permission, reason=why) for ref, permission, why in included
        ],
        excluded_refs=[ExcludedRef(ref=ref, reason=why) for ref, why in excluded],
        created_at=scope.now(),
    )
    factory.store.publish(f"context_packs/{pack_id}.json", pack.to_bytes())
    return Invocation(place.role, place.run_id, task_ref, pack_id, folder)


def artifacts(factory: Reading) -> ArtifactStoreService:
    """The artifact store of a project."""
    return ArtifactStoreService(factory.store)


def create_artifact(
    factory: Factory,
    scope: Scope,
    by: Invocation,
    kind: ArtifactType,
    body: Mapping[str, bytes],
    inputs: Sequence[tuple[str, str]] = (),
    name: str = "",
    revises: str = "",
) -> str:
    """Store what an invocation made, DRAFT, and return its id.

    Args:
        inputs: What it was made from, as (id@version, purpose).
        name: Its id, where it was drawn before because the body names it.
        revises: The id of the version before it.
    """
    author = Author(role=by.role, run_id=by.run_id)
    return artifacts(factory).create(
        scope, by.folder, kind, author, by.pack_id, body, inputs=inputs, name=name, revises=revises
    )


def artifact_ref(factory: Reading, folder: str, name: str) -> str:
    """`id@version` of an artifact."""
    return artifacts(factory).ref(folder, name)


def invocation_of(factory: Factory, folder: str, name: str, task_ref: str) -> Invocation:
    """The invocation that made an artifact, as its envelope tells."""
    envelope = artifacts(factory).envelope(folder, name)
    return Invocation(
        envelope.created_by.role, envelope.created_by.run_id, task_ref, envelope.context_pack_ref, folder
    )


def artifact_body(factory: Reading, folder: str, name: str) -> dict[str, bytes]:
    """The files of an artifact."""
    return artifacts(factory).body(folder, name)


def contribute(
    factory: Factory, scope: Scope, by: Invocation, kind: ContributionType, artifact_ref: str
) -> None:
    """Record what an invocation produced."""
    contribution = Contribution(
        contribution_id=f"CONTRIB-{scope.hex8()}",
        type=kind,
        produced_by=ProducedBy(role=by.role, run_id=by.run_id),
        artifact_ref=artifact_ref,
        task_ref=by.task_ref,
        created_at=scope.now(),
        context_pack_ref=by.pack_id,
    )
    factory.store.publish(f"contributions/{contribution.contribution_id}.json", contribution.to_bytes())
