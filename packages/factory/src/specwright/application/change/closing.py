"""The end of a change: released, or abandoned (design: change)."""

from ship_gate.base.ids import ModuleRef
from specwright.application import scopes
from specwright.application.announce import Announcement, announce, review, task_event
from specwright.application.change.catch_up import finish_change
from specwright.application.deprecation import finish_deprecations, retirement
from specwright.application.factory import Factory
from specwright.application.tasks import project_state
from specwright.domain.escalation.resolutions import OPERATOR
from specwright.domain.modules.code_index import IndexStatus
from specwright.domain.modules.release import ReleaseManifest
from specwright.domain.tasks.task_changes import UNFINISHED
from specwright.errors import InputError
from specwright.ports.journal import Scope
from specwright.ports.progress import Step


def closing_events(
    factory: Factory, scope: Scope, manifest: ReleaseManifest, sha256: str, before: ReleaseManifest | None
) -> list[Announcement]:
    """What ends a change with its release: versions that have later ones are superseded, what is not in the product any
    more is deprecated.

    Args:
        scope: Of the release.
        manifest: Of the release, which succeeded.
        sha256: Its definition.
        before: The manifest of the release that the change began from.
    """
    project_id, number = factory.projection.project_id, factory.projection.change_number
    now = {ModuleRef.parse(module.module_ref).module_id: module.module_ref for module in manifest.modules}
    earlier = {module.module_ref for module in before.modules} if before else set[str]()
    events = [review(project_id, "change.released", sha256, scopes.product_change(number))]
    for entry in factory.index.entries():
        later = now.get(entry.module_id)
        if entry.status is not IndexStatus.SHIPPED or entry.ref == later:
            continue
        if later is not None:
            events.append(retirement(factory, scope, entry, f"{later} takes its place.", later))
        elif entry.ref in earlier:
            events.append(retirement(factory, scope, entry, f"Removed in {manifest.spec_version}."))
    return events


def abandon_change(factory: Factory) -> None:
    """Give up the change that is under way: the product is what was released last, what the change made is kept.

    Raises:
        InputError: none is under way.
    """
    projection = factory.projection
    change = projection.open_change
    if change is None:
        raise InputError(
            "no change is under way, so there is nothing to abandon",
            remedy="`specwright status` says where the project is",
        )
    number, project_id = change.request.number, projection.project_id
    scope = factory.journal.scope(f"{scopes.product_change(number)}/abandon")
    sha256 = factory.store.define(change.request.to_bytes())
    events = [review(project_id, "change.abandoned", sha256, scopes.product_change(number), OPERATOR)]
    if change.before is not None:
        begun = [
            entry
            for task_id, entry in project_state(factory).tasks.items()
            if task_id not in change.before.tasks or entry.attempt != change.before.tasks[task_id].attempt
        ]
        events += [
            task_event("task.cancelled", entry.spec_task_id, entry.attempt, {})
            for entry in begun
            if entry.status in UNFINISHED
        ]
        old = {ref for entry in change.before.tasks.values() for ref in entry.module_refs}
        made = {ref for entry in project_state(factory).tasks.values() for ref in entry.module_refs} - old
        events += [
            retirement(factory, scope, entry, "The change that made it was abandoned.")
            for entry in factory.index.entries()
            if entry.ref in made and entry.status is IndexStatus.SHIPPED
        ]
    announce(factory, scope, project_id, events)
    finish_change(factory)
    finish_deprecations(factory)
    projection.write(now=True)
    factory.progress.note(Step("abandoned", "", scopes.product_change(number)))
