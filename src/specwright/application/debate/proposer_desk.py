"""One invocation of the Proposer, opened: what it is given, and what it may not take for granted (F§5.3, F§9.7)."""

from collections.abc import Sequence
from typing import NamedTuple

from specwright.application.factory import Factory
from specwright.application.project_stage import Task, neighbours, task_board
from specwright.application.stores.artifact_store import artifacts
from specwright.application.stores.context_packs import (
    Given,
    dependencies,
    directory,
    heard,
    index_statuses,
    previous,
    rows,
    schemas,
    surface_of,
    task_ref,
)
from specwright.application.stores.packed_store import PackedStore
from specwright.application.stores.records import Invocation, open_invocation
from specwright.domain.contract import MicroModuleContract
from specwright.domain.provenance import Permission
from specwright.ports.journal import Scope
from specwright.ports.roles import Files, Place, Role

__all__ = ["Desk", "Work", "implements", "made_to", "open_desk"]


class Desk(NamedTuple):
    """An invocation with its directory and its store."""

    scope: Scope
    place: Place
    invocation: Invocation
    pack: Files
    store: PackedStore


class Work(NamedTuple):
    """What is implemented.

    Args:
        task: The task.
        contract: Locked.
        contract_ref: Its artifact, `CTR-...@x.y.z`.
        siblings: The other modules of its plan.
    """

    task: Task
    contract: MicroModuleContract
    contract_ref: str
    siblings: Sequence[str]

    @property
    def calls(self) -> list[str]:
        """The modules that it may call."""
        return [dependency.ref for dependency in self.contract.dependencies]


def implements(contract_ref: str) -> list[tuple[str, str]]:
    """What an implementation is made from."""
    return [(contract_ref, _IMPLEMENTED)]


class Earlier(NamedTuple):
    """A contract that was debated again, and its artifact."""

    ref: str
    contract: MicroModuleContract


def made_to(factory: Factory, task: Task, version: str, now: str) -> Earlier | None:
    """The contract that an implementation was made to, if it is another than now (D10).

    Args:
        factory: The ports.
        task: The task.
        version: The implementation's artifact.
        now: The artifact of the contract that is locked.
    """
    made_from = artifacts(factory).envelope(task.folder, version).inputs
    ref = next((given.ref for given in made_from if given.purpose == _IMPLEMENTED), now)
    if ref == now:
        return None
    data = artifacts(factory).body(task.folder, ref.partition("@")[0])["contract.json"]
    return Earlier(ref, MicroModuleContract.from_bytes(data, ref))


_IMPLEMENTED = "the contract that it implements"


def open_desk(
    factory: Factory,
    work: Work,
    stage: str,
    workspace: Files,
    before: str,
    told_by: Sequence[tuple[str, str]] = (),
) -> Desk:
    """Write the context pack of an invocation and lay out its directory.

    Args:
        factory: The ports.
        work: What is implemented.
        stage: `round-1`, or `amended-1`.
        workspace: The module's files as they are.
        before: The version that is revised; empty for a first one.
        told_by: The records that failures come from, beside those of that version.
    """
    task = work.task
    place = task.place(work.contract.name, stage, Role.PROPOSER)
    scope = factory.journal.scope(f"{place.run_id}/desk")
    given = _given(factory, scope, work, stage, workspace, before)
    given += [Given(ref, Permission.SUMMARY_ONLY, what) for ref, what in told_by]
    excluded = [(ref, "no dependency of this module") for ref in _others(factory, work)]
    invocation = open_invocation(factory, scope, place, task.task_id, task.folder, rows(given), excluded)
    store = PackedStore(factory, invocation, drafts_of=implements(work.contract_ref))
    return Desk(scope, place, invocation, directory(given), store)


def _given(
    factory: Factory, scope: Scope, work: Work, stage: str, workspace: Files, before: str
) -> list[Given]:
    """The Proposer's column of the role table (F§9.7)."""
    task_file = factory.folder.read(work.task.path)
    refs = work.calls
    surfaces = {ref: surface_of(factory, ref) for ref in refs}
    contract = {"contract.json": work.contract.to_bytes()}
    given = [
        Given(task_ref(factory, work.task), Permission.FULL, "the task", {"task.md": task_file}),
        Given(work.contract_ref, Permission.FULL, "the contract to implement", {**contract, **workspace}),
        *dependencies(refs, surfaces, index_statuses(factory, scope, refs)),
        *schemas(),
    ]
    if before:
        given += previous(factory, work.task, before, workspace)
        given += heard(factory, work.task, before, amending=stage.startswith("amended"))
    return given


def _others(factory: Factory, work: Work) -> list[str]:
    """What it might take for given and does not call: the other modules of its plan, and those of the tasks about its
    own; fixed by the task's own start."""
    board, own = task_board(factory), {work.contract.ref, *work.calls}
    near = {ref for t in neighbours(factory, work.task) for ref in board.modules_of(t)}
    return sorted({*work.siblings, *near} - own)
