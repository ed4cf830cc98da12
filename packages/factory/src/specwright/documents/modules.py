"""Documents about tasks and modules (design: command-line)."""

from typing import Any, Self

from ship_gate.base.record import Record
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.factory import ProjectView
from specwright.domain.base.document import Document
from specwright.domain.modules.code_index import CodeIndexEntry, Deprecation
from specwright.domain.modules.evidence import ShipEvidence
from specwright.domain.tasks.project_state import TaskEntry
from specwright.domain.tasks.task_board import why_each


class TaskRow(TaskEntry):
    """A task, and why it is not running."""

    task_id: str
    why: str


class Tasks(Document, schema="tasks"):
    """Every task, in declaration order."""

    tasks: list[TaskRow]

    @classmethod
    def of(cls, view: ProjectView, *, driven: bool) -> Self:
        """The tasks of a project; none before its spec is approved."""
        if (state := view.projection.state) is None:
            return cls(tasks=[])
        why = why_each(state, driven=driven)
        rows = [TaskRow(**dict(state.tasks[one]), task_id=one, why=why[one]) for one in state.ordered]
        return cls(tasks=rows)


class ModuleRow(Record):
    """A sealed module."""

    module_ref: str
    name: str
    purpose: str
    version: str
    interface_fingerprint: str
    tests: int
    ship_id: str
    deprecated: bool
    status: str

    @classmethod
    def of(cls, view: ProjectView, ref: str) -> Self:
        """A module by its reference."""
        contract, evidence = view.modules.contract(ref), view.modules.evidence(ref)
        retired = view.projection.deprecations.get(ref)
        return cls(
            module_ref=ref,
            name=contract.name,
            purpose=contract.purpose,
            version=contract.module_version,
            interface_fingerprint=evidence.verification.interface_fingerprint,
            tests=evidence.execution_log.summary.total,
            ship_id=evidence.ship_id,
            deprecated=retired is not None,
            status=retired.status.value if retired else "SHIPPED",
        )


class Modules(Document, schema="modules"):
    """Every sealed module."""

    modules: list[ModuleRow]


class Match(CodeIndexEntry):
    """A module that was found."""

    similarity_score: float


class Matches(Document, schema="matches"):
    """What was found in the Code Index, the best match first."""

    matches: list[Match]


class Module(Document, schema="module"):
    """A sealed module."""

    contract: MicroModuleContract
    evidence: ShipEvidence
    examples: str
    deprecation: Deprecation | None
    files: str

    @classmethod
    def of(cls, view: ProjectView, ref: str) -> Self:
        """A module by its reference."""
        seen, evidence = view.modules.view(ref), view.modules.evidence(ref)
        return cls(
            contract=seen.contract,
            evidence=evidence,
            examples=seen.examples,
            deprecation=view.projection.deprecations.get(ref),
            files=str(view.modules.location(ref)),
        )


class Trail(Document, schema="trail"):
    """How a module came about."""

    evidence: ShipEvidence
    implementation: dict[str, Any]
    contract: dict[str, Any]
    plan: dict[str, Any]
    reuse: dict[str, Any]
    invocations: list[dict[str, Any]]
    exceptions: list[str]
    task: dict[str, Any]
    spec: dict[str, Any]
