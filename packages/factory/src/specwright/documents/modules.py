"""Documents about tasks and modules (design: command-line)."""

from pathlib import Path
from typing import Self

from ship_gate.base.record import Record
from ship_gate.base.text import did_you_mean
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.terminal.output import listed
from specwright.application.factory import ProjectView
from specwright.application.history.provenance import (
    ModuleDebates,
    debates_of,
    decisions_of_module,
    planned_modules,
)
from specwright.documents.commands import next_command
from specwright.domain.base.document import Document
from specwright.domain.modules.code_index import CodeIndexEntry, Deprecation
from specwright.domain.modules.evidence import ResealedModule, ShipEvidence
from specwright.domain.modules.release import PersonDecision
from specwright.domain.tasks.project_state import TaskEntry
from specwright.domain.tasks.task_board import why_each
from specwright.errors import InputError


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

    @classmethod
    def of(cls, view: ProjectView) -> Self:
        """The sealed modules of a project."""
        return cls(modules=[ModuleRow.of(view, ref) for ref in view.modules.refs()])


class Match(CodeIndexEntry):
    """A module that was found: the cosine of its embedding with the query's, at least 0, and what it is placed by."""

    similarity_score: float
    match: float


class Matches(Document, schema="matches"):
    """What was found in the Code Index, the best match first."""

    matches: list[Match]


class Module(Document, schema="module"):
    """A sealed module."""

    contract: MicroModuleContract
    evidence: ShipEvidence
    examples: str
    deprecation: Deprecation | None
    sealed_again: ResealedModule | None
    decided: list[PersonDecision]
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
            sealed_again=next(
                (one for one in view.projection.resealed.values() if one.replaces == ref), None
            ),
            decided=decisions_of_module(view, ref),
            files=str(view.modules.location(ref)),
        )


def module_debates(view: ProjectView, wanted: str, directory: Path) -> ModuleDebates:
    """What was said about a module, by its name, its id or a reference.

    Raises:
        InputError: none was ever planned.
    """
    planned = planned_modules(view)
    named = [one for one in planned if wanted in _names_of(one.contract)]
    if not named:
        names = [one.contract.name for one in planned]
        raise InputError(
            f"no module {wanted!r} was ever planned here",
            where=str(directory),
            remedy=f"{did_you_mean(wanted, names)}planned are {listed(names) or 'none yet'}",
        )
    newest = named[-1].contract.module_id  # a name may have been planned twice, for two modules
    return debates_of(view, [one for one in named if one.contract.module_id == newest])


def _names_of(contract: MicroModuleContract) -> tuple[str, ...]:
    return contract.ref, contract.module_id, contract.name


def sealed_module(view: ProjectView, wanted: str, directory: Path) -> str:
    """The newest sealed version of a module, by its name, its id or a reference.

    Raises:
        InputError: none is sealed.
    """
    if ref := newest_sealed(view, wanted):
        return ref
    if is_planned(view, wanted):
        raise InputError(
            f"no version of {wanted} is sealed yet",
            where=str(directory),
            remedy=f"`{next_command(f'module {wanted}', rest='--debate')}` shows what was said of it",
        )
    names = [name for ref in view.modules.refs() for name in _names_of(view.modules.contract(ref))]
    raise InputError(
        f"there is no sealed module {wanted!r}",
        where=str(directory),
        remedy=f"{did_you_mean(wanted, names)}`{next_command('modules')}` lists them",
    )


def newest_sealed(view: ProjectView, wanted: str) -> str:
    """The same; empty if none is sealed."""
    refs = reversed(view.modules.refs())
    return next((ref for ref in refs if wanted in _names_of(view.modules.contract(ref))), "")


def is_planned(view: ProjectView, wanted: str) -> bool:
    """Whether a module was ever planned."""
    return any(wanted in _names_of(one.contract) for one in planned_modules(view))
