"""The notes of all versions of a product, from what the log says of its changes (design: release)."""

from collections.abc import Iterator, Mapping

from ship_gate.base.ids import ModuleRef
from specwright.application.factory import ProjectView
from specwright.application.tasks import project_state
from specwright.domain.modules.release_notes import ModuleChange, VersionNotes, render_notes
from specwright.domain.spec.product_spec import ProductSpec
from specwright.domain.tasks.project_state import TaskEntry, TaskStatus


def release_notes(view: ProjectView) -> str:
    """The notes of the version that is released now and of those before it."""
    return render_notes(list(_versions(view)))


def _versions(view: ProjectView) -> Iterator[VersionNotes]:
    """The versions from the first; a change that was abandoned made none."""
    made = [c for c in view.projection.changes if c.before is not None and c.ended != "abandoned"]
    hashes = [*(c.before.spec_sha256 for c in made if c.before), view.projection.spec_sha256]
    specs = [ProductSpec.from_bytes(view.store.definition(sha256), sha256) for sha256 in hashes]
    states = [*(c.before.tasks for c in made if c.before), project_state(view).tasks]
    yield VersionNotes(specs[0], None, "", ())
    for n, change in enumerate(made, start=1):
        modules = list(_modules(view, states[n - 1], states[n]))
        asked = change.request
        yield VersionNotes(specs[n], specs[n - 1], asked.request, modules, asked.report)


def _modules(
    view: ProjectView, before: Mapping[str, TaskEntry], after: Mapping[str, TaskEntry]
) -> Iterator[ModuleChange]:
    old, new = _shipped(before), _shipped(after)
    for module_id, (ref, task) in new.items():
        was = ModuleRef.parse(old[module_id][0]).version if module_id in old else ""
        if ref != old.get(module_id, ("", ""))[0]:
            reason = _reason(view, ref) or f"built for {task}"
            name = view.modules.contract(ref).name
            yield ModuleChange(name, was, ModuleRef.parse(ref).version, reason)
    for module_id, (ref, task) in old.items():
        if module_id not in new:
            name = view.modules.contract(ref).name
            yield ModuleChange(name, ModuleRef.parse(ref).version, "", f"{task} does not need it any more")


def _reason(view: ProjectView, ref: str) -> str:
    """Why there is a version that no task built; empty for one that a task did."""
    if (name := view.projection.changed_by.get(ref)) is not None:
        return f"{name}: {view.projection.exceptions[name].reason}"
    resealed = view.projection.resealed.get(ref)
    return resealed.reason if resealed else ""


def _shipped(tasks: Mapping[str, TaskEntry]) -> dict[str, tuple[str, str]]:
    """The modules of shipped tasks by their ids: reference, and the task that has it first."""
    found: dict[str, tuple[str, str]] = {}
    for entry in sorted(tasks.values(), key=lambda one: one.declaration_order):
        if entry.status is TaskStatus.SHIPPED:
            for ref in entry.module_refs:
                found.setdefault(ModuleRef.parse(ref).module_id, (ref, entry.spec_task_id))
    return found
