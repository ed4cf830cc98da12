"""What follows from the log in files, for a change or a migration: done at once, and again where a crash came in between
(design: change)."""

from specwright.application import scopes
from specwright.application.factory import Factory
from specwright.application.store import layout
from specwright.application.store.file_hashes import note_hashes
from specwright.application.tasks import dispatched_file, refreshed_file, task_board
from specwright.domain.spec.spec_markdown import render
from specwright.domain.tasks.project_state import WAITING


def finish_change(factory: Factory) -> None:
    """Write what the log says of the last change: its SPEC.md, that it was abandoned, and the files of its tasks; and the
    files of migrations that have not run."""
    _write_migration_files(factory)
    if not factory.projection.changes:
        return
    change = factory.projection.changes[-1]
    files = layout.spec_files(change.request.number)
    if not factory.store.exists(files.source):
        factory.store.replace(files.source, change.request.spec_text.encode())
    if change.request.report is not None:
        _write_spec_of_repair(factory, change.request.number)
    if change.ended == "abandoned" and not factory.store.exists(files.abandoned):
        _write_task_files(factory)
        factory.store.replace(files.abandoned, b"")  # last: it says that all else is done
    if change.before is not None and not change.ended:
        _write_task_files(factory)


def _write_migration_files(factory: Factory) -> None:
    """The files of migrations that wait."""
    projection = factory.projection
    for task_id in projection.migrations if projection.board else ():
        if projection.board is not None and projection.board.entry(task_id).status in WAITING:
            _write_task_file(factory, task_id)


def _write_spec_of_repair(factory: Factory, number: int) -> None:
    """The spec that a repair was begun with: that of the release, under the next version (design: bug-reports)."""
    files, scope = layout.spec_files(number), factory.journal.scope(f"{scopes.product_change(number)}/files")
    if not factory.store.exists(files.spec):
        spec = factory.projection.spec  # a repair that is given up has its files before
        assert spec is not None
        factory.store.replace(files.text, render(spec, ()).encode())
        factory.store.replace(files.spec, spec.to_bytes())
    note_hashes(scope, {path: factory.store.read(path) for path in (files.source, files.text, files.spec)})


def _write_task_files(factory: Factory) -> None:
    """The files of tasks that the change has run again, as they are told now."""
    projection = factory.projection
    before = projection.changes[-1].before
    if before is None or projection.board is None:
        return
    for task_id, entry in projection.board.tasks.items():
        if task_id not in before.tasks or before.tasks[task_id].attempt != entry.attempt:
            _write_task_file(factory, task_id)


def _write_task_file(factory: Factory, task_id: str) -> None:
    definition, status = factory.projection.definitions[task_id], task_board(factory).entry(task_id).status
    path = f"project/{definition.path}"
    told = dispatched_file(factory, definition)
    text = refreshed_file(factory, definition) if status in WAITING or told is None else told
    if not factory.folder.exists(path) or factory.folder.read(path) != text.encode():
        factory.folder.replace(path, text.encode())
