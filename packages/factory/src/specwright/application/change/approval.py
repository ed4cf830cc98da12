"""The approval of a change: what it does, shown by code, and the Wires that begin it (design: change)."""

from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

from agent_wire import canonical_json
from specwright.application import scopes
from specwright.application.announce import Announcement, announce, project_stream, review, task_event
from specwright.application.change.catch_up import finish_change
from specwright.application.change.request import product_modules
from specwright.application.factory import Factory, ProjectView
from specwright.application.store import layout
from specwright.application.store.file_hashes import note_hashes
from specwright.application.tasks import project_state
from specwright.domain.spec.product_spec import ProductSpec
from specwright.domain.spec.spec_changes import SpecDifference, spec_difference
from specwright.domain.tasks.project_state import TaskStatus, expanded
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.domain.tasks.task_ids import lay_out_change


class ChangedModule(NamedTuple):
    """A module of a task that runs again: it may get a new version.

    Args:
        name: As it is imported.
        module_ref: The version now.
        task_id: The task, as the spec names it.
        used_by: The names of the modules that call it.
    """

    name: str
    module_ref: str
    task_id: str
    used_by: tuple[str, ...]


class ChangePreview(NamedTuple):
    """What a change does, as the approval gate shows it."""

    number: int
    request: str
    version_before: str
    version: str
    difference: SpecDifference
    modules: tuple[ChangedModule, ...]

    @property
    def tasks_to_build(self) -> int:
        """How many tasks ask models."""
        return len(self.difference.added) + len(self.difference.changed)

    def to_json(self) -> dict[str, Any]:
        """The preview for a program."""
        modules = [module._asdict() for module in self.modules]
        return {**self._asdict(), "difference": self.difference.to_json(), "modules": modules}


def preview_of(view: ProjectView, spec: ProductSpec) -> ChangePreview:
    """What the approval of a spec would change."""
    change, before = view.projection.open_change, view.projection.spec
    assert change is not None
    assert before is not None
    difference = spec_difference(before, spec)
    contracts = [view.modules.contract(ref) for ref in product_modules(view)]
    modules = [
        ChangedModule(
            name=contract.name,
            module_ref=contract.ref,
            task_id=entry.spec_task_id,
            used_by=tuple(c.name for c in contracts if any(d.ref == contract.ref for d in c.dependencies)),
        )
        for entry in project_state(view).tasks.values()
        if entry.spec_task_id in difference.changed and entry.status is TaskStatus.SHIPPED
        for contract in contracts
        if contract.ref in entry.module_refs
    ]
    number, asked = change.request.number, change.request.request
    return ChangePreview(number, asked, before.spec_version, spec.spec_version, difference, tuple(modules))


def approve_change(factory: Factory, spec: ProductSpec, by: str) -> None:
    """Accept the amended spec: one batch of Wires names it, and begins, adds and removes tasks (design: change, wire).

    Raises:
        InputError: the spec cannot be laid out; it is not accepted.
    """
    projection = factory.projection
    change, before = projection.open_change, projection.spec
    assert change is not None
    assert before is not None
    number, project_id = change.request.number, projection.project_id
    difference = spec_difference(before, spec)
    definitions = {d.spec_task_id: d for d in lay_out_change(spec, difference, projection.definitions)}
    scope = factory.journal.scope(f"{scopes.product_change(number)}/approval")
    sha256, folder = factory.store.define(spec.to_bytes()), layout.spec_files(number).folder
    for definition in definitions.values():
        factory.store.define(definition.to_bytes())
    note_hashes(scope, {f"{folder}/{path}": data for path, data in factory.store.tree(folder).items()})
    decision = review(project_id, "change.approved", sha256, scopes.product_change(number), by)
    removed = [
        review(project_id, "task.removed", sha256, task_id, by)
        for task_id in _removed_tasks(factory, difference.removed)
    ]
    begun = _attempts(factory, difference, definitions)
    announce(factory, scope, project_id, [decision, *removed, *begun])
    finish_change(factory)
    projection.write(now=True)


def _removed_tasks(factory: ProjectView, removed: Sequence[str]) -> list[str]:
    """The shipped tasks that are removed, a split one by its parts."""
    tasks = project_state(factory).tasks
    whole = [task_id for task_id, entry in tasks.items() if entry.spec_task_id in removed]
    whole += [name for name, of in factory.projection.migrations.items() if of in whole]
    return [ref for ref in expanded(tasks, whole) if tasks[ref].status is TaskStatus.SHIPPED]


def _attempts(
    factory: ProjectView, difference: SpecDifference, definitions: Mapping[str, TaskDefinition]
) -> Iterator[Announcement]:
    """The first attempts of added tasks, then the next ones of changed tasks, caused by the approval."""
    tasks, cause = project_state(factory).tasks, project_stream(factory.projection.project_id)
    attempts = {e.spec_task_id: e.attempt + 1 for e in tasks.values() if e.spec_task_id in definitions}
    by_id = {definition.task_id: definition for definition in definitions.values()}
    names = {task_id: entry.spec_task_id for task_id, entry in tasks.items()}
    names |= {definition.task_id: name for name, definition in definitions.items()}
    waits = {name: [names[ref] for ref in d.depends_on] for name, d in definitions.items()}
    order = TopologicalSorter(
        {name: [ref for ref in waits[name] if ref in difference.added] for name in difference.added}
    ).static_order()  # one that is added names only tasks that are there
    for name in (*order, *difference.changed):
        definition, attempt = definitions[name], attempts.get(name, 1)
        bound = {"definition_sha256": canonical_json.sha256(definition.to_bytes())}
        yield task_event("task.created", name, attempt, bound, waits[name])._replace(caused_by=cause)
        if all(ref not in by_id and _stays_shipped(tasks, ref) for ref in definition.depends_on):
            yield task_event("task.available", name, attempt, {})


def _stays_shipped(tasks: Mapping[str, Any], task_id: str) -> bool:
    return all(tasks[ref].status is TaskStatus.SHIPPED for ref in expanded(tasks, [task_id]))
