"""The factory's ports in one hand, and what every use case needs of them."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from specwright.application.projection import Projection
from specwright.domain.allowed_packages import AllowedPackage
from specwright.domain.ship import Environment
from specwright.ports.code_index import CodeIndex
from specwright.ports.gate import ShipGate
from specwright.ports.journal import Journal
from specwright.ports.packaging import Packager
from specwright.ports.progress import Progress
from specwright.ports.roles import Roles
from specwright.ports.store import FileTree, StateStore
from specwright.ports.wire_log import WireLog

__all__ = ["Factory", "Reading", "View"]


class Reading(Protocol):
    """What it takes to look at a project without driving it."""

    @property
    def store(self) -> StateStore:
        """`state_store/`."""
        ...

    @property
    def projection(self) -> Projection:
        """What the log says."""
        ...


class View(NamedTuple):
    """A project that is only looked at."""

    store: StateStore
    projection: Projection


@dataclass(frozen=True, slots=True)
class Factory:
    """Everything that a use case may touch.

    Args:
        store: `state_store/`.
        folder: The project's own directory, where `project/` with the task files lies.
        log: The source of truth.
        projection: What the log says, in memory.
        journal: Under every model call and every draw.
        index: The Code Index.
        gate: Judges modules.
        roles: Asks models.
        packager: Makes wheels.
        progress: Told what happens.
        environment: What `ship.json` says of this machine.
        spec_text: SPEC.md as the person wrote it.
        packages: Third-party packages that modules may import (D23).
    """

    store: StateStore
    folder: FileTree
    log: WireLog
    projection: Projection
    journal: Journal
    index: CodeIndex
    gate: ShipGate
    roles: Roles
    packager: Packager
    progress: Progress
    environment: Environment
    spec_text: str
    packages: tuple[AllowedPackage, ...] = ()
