"""Who is concerned by a changed contract (design: interface-changes)."""

from collections.abc import Sequence
from typing import NamedTuple

from ship_gate.contract.contract import MicroModuleContract
from specwright.application.factory import ProjectView
from specwright.application.tasks import project_state
from specwright.domain.interface_change.comparison import compare_contracts
from specwright.domain.interface_change.exception import InterfaceChangeException
from specwright.domain.tasks.project_state import TaskStatus


class Impact(NamedTuple):
    """What a changed contract means.

    Args:
        changes: The difference, a line for each statement, with who breaks.
        consumers: The shipped versions that depend on the old one, directly or not, each after those that it uses.
    """

    changes: list[str]
    consumers: list[str]


def impact_of(view: ProjectView, before: MicroModuleContract, after: MicroModuleContract) -> Impact:
    """Who is concerned by a changed contract."""
    difference = compare_contracts(before, after)
    shipped = {ref for entry in project_state(view).tasks.values() for ref in entry.module_refs}
    concerned, found = {before.ref}, list[str]()
    waiting = {ref: {d.ref for d in view.modules.contract(ref).dependencies} for ref in sorted(shipped)}
    while reached := [ref for ref, calls in waiting.items() if calls & concerned]:
        for ref in reached:
            del waiting[ref]
        found += reached
        concerned |= set(reached)
    return Impact([change.line for change in difference.changes], _ordered(view, found))


def _ordered(view: ProjectView, refs: Sequence[str]) -> list[str]:
    """The references, each after those that it depends on."""
    left, ordered = list(refs), list[str]()
    while left:
        ready = [
            ref for ref in left if not {d.ref for d in view.modules.contract(ref).dependencies} & {*left}
        ]
        ordered += ready
        left = [ref for ref in left if ref not in ready]
    return ordered


def unapprovable(view: ProjectView, record: InterfaceChangeException) -> str:
    """Why a change cannot be approved; empty if it can."""
    ref = record.target_module
    entries = project_state(view).tasks.values()
    if not any(entry.status is TaskStatus.SHIPPED and ref in entry.module_refs for entry in entries):
        return f"no shipped task has {ref} any more"
    return ""
