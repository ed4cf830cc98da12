"""The ports and stores that application code uses."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agent_wire.entries import WireLog
from ship_gate.sandbox.packages import AllowedPackage
from ship_gate.verdict import ShipGate
from specwright.application.projection import Projection
from specwright.application.store.artifacts import ArtifactStore, InvocationStore
from specwright.application.store.modules import ModuleStore
from specwright.application.store.records import DebateStore, DraftStore, EscalationStore
from specwright.domain.costs import Price
from specwright.domain.modules.evidence import Environment
from specwright.ports import CodeIndex, FileTree, Journal, Packager, Progress, Roles, StateStore


@dataclass(frozen=True, kw_only=True)
class ProjectView:
    """A project for reading, even while another process drives it.

    Args:
        store: `state_store/` as named bytes. The stores below read and write its parts as records.
        projection: The state of the project, computed from the log.
    """

    store: StateStore
    projection: Projection

    @cached_property
    def artifacts(self) -> ArtifactStore:
        """Plans, contracts, implementations and debate records as versioned artifacts."""
        return ArtifactStore(self.store)

    @cached_property
    def modules(self) -> ModuleStore:
        """Sealed modules."""
        return ModuleStore(self.store)

    @cached_property
    def debates(self) -> DebateStore:
        """The rounds of debates."""
        return DebateStore(self.store)

    @cached_property
    def drafts(self) -> DraftStore:
        """Files that did not ship."""
        return DraftStore(self.store)

    @cached_property
    def invocations(self) -> InvocationStore:
        """Context packs and contributions."""
        return InvocationStore(self.store)

    @cached_property
    def escalations(self) -> EscalationStore:
        """Escalations and their answers; interface change exceptions and the decisions about them."""
        return EscalationStore(self.store, self._waits_for)

    def _waits_for(self, escalation_id: str) -> bool:
        state = self.projection.state
        return state is not None and any(e.escalation_ref == escalation_id for e in state.tasks.values())


@dataclass(frozen=True)
class Adapters:
    """The adapters that write to disk, and the gate (design: journal).

    Args:
        store: `state_store/` as named bytes.
        folder: The project's directory, in which `project/` has the task files.
        log: The Wire log, the source of truth.
        journal: Records every model answer and every drawn id or time, so that a run can be repeated.
        index: The Code Index.
        gate: Judges modules.
    """

    store: StateStore
    folder: FileTree
    log: WireLog
    journal: Journal
    index: CodeIndex
    gate: ShipGate


@dataclass(frozen=True, kw_only=True)
class Factory(ProjectView, Adapters):
    """A project to drive: its stores, and the ports that change it.

    Args:
        roles: Asks models.
        packager: Builds wheels and tries them.
        progress: Shows events while the project runs.
        environment: The description of this machine in `ship.json`.
        spec_text: The text of SPEC.md.
        packages: Third-party packages that modules may import (design: contracts).
        given_spec: A structured spec that replaces SPEC.md and goes to the approval unchanged.
        price: Returns the price of a role's tokens; None if all answers are scripted.
        searches: Whether a web search is configured.
        license: The product's license, an SPDX expression; empty if none is stated.
    """

    roles: Roles
    packager: Packager
    progress: Progress
    environment: Environment
    spec_text: str
    packages: tuple[AllowedPackage, ...] = ()
    given_spec: dict[str, Any] | None = None
    price: Price | None = None
    searches: bool = False
    license: str = ""
