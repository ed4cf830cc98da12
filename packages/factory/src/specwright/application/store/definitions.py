"""The definitions of tasks, as the log names them (design: projection)."""

from collections.abc import Iterator, Mapping

from specwright.application.store.layout import definition
from specwright.domain.tasks.project_state import TaskEntry
from specwright.domain.tasks.task_file import TaskDefinition, stored_entry
from specwright.errors import CorruptionError, InputErrors
from specwright.ports.store import StateStore


class ProjectDefinitions(Mapping[str, TaskDefinition]):
    """The definitions of tasks, by task id, in the order in which the log first names them (design: benchmarks).

    A definition is bound by its SHA-256: bytes that have it are those that were written, and were valid then. So the
    state takes from each of ten thousand what it needs, and the rest is validated when somebody wants that task.

    Args:
        store: Holds them.
    """

    def __init__(self, store: StateStore) -> None:
        self._store = store
        self._stored: dict[str, tuple[str, bytes]] = {}
        self._digests: dict[str, str] = {}
        self._read: dict[str, TaskDefinition] = {}

    def take(self, sha256: str) -> tuple[str, TaskEntry]:
        """Take in a definition: a new task's, or a later one of a task that is there.

        Returns:
            The task's id, and its entry in a state in which it has not run.

        Raises:
            CorruptionError: it is missing or was altered.
            InputError: it is no definition of a task.
        """
        data, where = self._store.definition(sha256), definition(sha256)
        task_id, entry = stored_entry(data, where)
        self._stored[task_id] = where, data
        self._digests[task_id] = sha256
        self._read.pop(task_id, None)
        return task_id, entry

    @property
    def digests(self) -> Mapping[str, str]:
        """The SHA-256 of each definition, by task id."""
        return dict(self._digests)

    def restore(self, digests: Mapping[str, str]) -> None:
        """Go back to earlier definitions; tasks that have none among them keep theirs."""
        for task_id, sha256 in digests.items():
            if self._digests[task_id] != sha256:
                self.take(sha256)

    def __getitem__(self, task_id: str) -> TaskDefinition:
        """The definition of a task.

        Raises:
            KeyError: no such task.
            CorruptionError: what the log names is no definition of a task.
        """
        if task_id not in self._read:
            where, data = self._stored[task_id]
            try:
                self._read[task_id] = TaskDefinition.from_bytes(data, where)
            except InputErrors as error:
                raise CorruptionError(
                    f"the definition of {task_id} cannot be read: {error.what}",
                    where=error.where,
                    remedy="`specwright verify` says what was altered; restore the project from a copy",
                ) from error
        return self._read[task_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._stored
