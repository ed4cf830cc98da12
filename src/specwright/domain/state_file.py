"""The bytes of `state_machine.json`, made from what changed since they were made last (F§4.2, D29).

The same bytes as `ProjectState.to_bytes`; of ten thousand tasks only the changed ones are rendered again.
"""

from specwright import canonical_json
from specwright.domain.project_state import ProjectState, TaskEntry

__all__ = ["StateFile"]


class StateFile:
    """Renders one project's state again and again."""

    def __init__(self) -> None:
        self._rendered: dict[str, tuple[TaskEntry, bytes]] = {}

    def render(self, state: ProjectState) -> bytes:
        """The file's bytes."""
        if not state.tasks:
            return state.to_bytes()
        head = canonical_json.pretty(state.model_dump(mode="json", exclude={"tasks"})).removesuffix(b"\n}\n")
        tasks = b",\n".join(self._task(task_id, entry) for task_id, entry in state.tasks.items())
        return b"".join((head, b',\n  "tasks": {\n', tasks, b"\n  }\n}\n"))

    def _task(self, task_id: str, entry: TaskEntry) -> bytes:
        known = self._rendered.get(task_id)
        if known is not None and known[0] is entry:  # entries are frozen: the same object says the same
            return known[1]
        # the entry as it stands two levels deep: without the braces around it, and indented once more
        lines = canonical_json.pretty({task_id: entry.to_json()}).splitlines()[1:-1]
        rendered = b"\n".join(b"  " + line for line in lines)
        self._rendered[task_id] = (entry, rendered)
        return rendered
