"""Artifacts, context packs and contributions: what is kept of every role invocation (F§5.2, F§5.3, F§8)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from specwright.application.factory import Factory
from specwright.domain.artifact import (
    ArtifactEnvelope,
    ArtifactRef,
    ArtifactStatus,
    Author,
    check_transition,
)
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
    "advance",
    "artifact_body",
    "contribute",
    "create_artifact",
    "invocation_of",
    "open_invocation",
    "set_back",
]

_RANK = {status: rank for rank, status in enumerate(ArtifactStatus)}


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


def create_artifact(
    factory: Factory,
    scope: Scope,
    by: Invocation,
    kind: ArtifactType,
    body: Mapping[str, bytes],
    inputs: Sequence[tuple[str, str]] = (),
    name: str = "",
) -> str:
    """Store an artifact and return its id: body first, then its envelope, DRAFT.

    Args:
        inputs: What it was made from, as (id@version, purpose).
        name: Its id, where it was drawn before because the body names it.
    """
    name = name or artifact_id(kind, scope.hex8())
    envelope = ArtifactEnvelope(
        artifact_id=name,
        artifact_type=kind,
        created_at=scope.now(),
        created_by=Author(role=by.role, run_id=by.run_id),
        context_pack_ref=by.pack_id,
        inputs=[ArtifactRef(ref=ref, purpose=purpose) for ref, purpose in inputs],
    )
    base = _base(by.folder, name)
    factory.store.publish_tree(f"{base}/body", body)
    if not factory.store.exists(f"{base}/envelope.json"):
        factory.store.replace(f"{base}/envelope.json", envelope.to_bytes())
    return name


def invocation_of(factory: Factory, folder: str, name: str, task_ref: str) -> Invocation:
    """The invocation that made an artifact, as its envelope tells."""
    envelope = _envelope(factory, folder, name)
    return Invocation(
        envelope.created_by.role, envelope.created_by.run_id, task_ref, envelope.context_pack_ref, folder
    )


def artifact_body(factory: Factory, folder: str, name: str) -> dict[str, bytes]:
    """The files of an artifact."""
    return factory.store.tree(f"{_base(folder, name)}/body")


def advance(factory: Factory, folder: str, name: str, status: ArtifactStatus) -> None:
    """Move an artifact on; a step that was made before a restart is passed over.

    Raises:
        RefusedError: the step is not in the table (F§8.4).
    """
    envelope = _envelope(factory, folder, name)
    if _RANK[envelope.status] < _RANK[status]:
        _write(factory, folder, envelope, status)


def set_back(factory: Factory, folder: str, name: str) -> None:
    """Return a rejected artifact to DRAFT, inside the retry window (F§8.4)."""
    envelope = _envelope(factory, folder, name)
    if envelope.status is not ArtifactStatus.DRAFT:
        _write(factory, folder, envelope, ArtifactStatus.DRAFT)


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


def _base(folder: str, name: str) -> str:
    return f"artifacts/{folder}/{name}/1.0.0"


def _envelope(factory: Factory, folder: str, name: str) -> ArtifactEnvelope:
    path = f"{_base(folder, name)}/envelope.json"
    return ArtifactEnvelope.from_bytes(factory.store.read(path), path)


def _write(factory: Factory, folder: str, envelope: ArtifactEnvelope, status: ArtifactStatus) -> None:
    check_transition(envelope.artifact_id, envelope.status, status)
    changed = envelope.model_copy(update={"status": status})
    factory.store.replace(f"{_base(folder, envelope.artifact_id)}/envelope.json", changed.to_bytes())
