"""Role invocations: the context pack before, the contribution after (F§5.2, F§5.3)."""

from collections.abc import Sequence
from typing import NamedTuple, Self

from specwright.application.factory import Factory
from specwright.application.stores.kept_records import keep
from specwright.domain.artifact import ArtifactEnvelope
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
from specwright.domain.resolutions import OPERATOR
from specwright.ports.journal import Scope
from specwright.ports.roles import Place

__all__ = ["Invocation", "contribute", "open_answer", "open_invocation"]


class Invocation(NamedTuple):
    """A role invocation with its pack: who makes what follows from it."""

    role: str
    run_id: str
    task_ref: str
    pack_id: str
    folder: str
    """The first path segment of the task's artifacts: the slug of its pillar."""

    @classmethod
    def of(cls, made: ArtifactEnvelope, task_ref: str, folder: str) -> Self:
        """The invocation that made an artifact, as its envelope tells."""
        return cls(made.created_by.role, made.created_by.run_id, task_ref, made.context_pack_ref, folder)


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
    return _open(factory, scope, (place.role, place.run_id), task_ref, folder, included, excluded)


def open_answer(
    factory: Factory, scope: Scope, run_id: str, task_ref: str, folder: str, to: str
) -> Invocation:
    """A person's part in a run, as if it were an invocation: what comes of it was made for an escalation.

    Args:
        factory: The ports.
        scope: Where its draws come from.
        run_id: Where in the run.
        task_ref: The id of the task.
        folder: Of the task's artifacts.
        to: The escalation that is answered.
    """
    included = [(f"{to}@1.0.0", Permission.FULL, "the escalation that is answered")]
    return _open(factory, scope, (OPERATOR, run_id), task_ref, folder, included)


def _open(
    factory: Factory,
    scope: Scope,
    who: tuple[str, str],
    task_ref: str,
    folder: str,
    included: Sequence[tuple[str, Permission, str]],
    excluded: Sequence[tuple[str, str]] = (),
) -> Invocation:
    role, run_id = who
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
    _write_once(factory, scope, f"context_packs/{pack_id}.json", pack.to_bytes())
    return Invocation(role, run_id, task_ref, pack_id, folder)


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
    _write_once(factory, scope, f"contributions/{contribution.contribution_id}.json", contribution.to_bytes())


def _write_once(factory: Factory, scope: Scope, path: str, data: bytes) -> None:
    factory.store.publish(path, data)
    keep(scope, {path: data})
