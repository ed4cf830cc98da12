"""An approval in advance, left for a worker by `run --approve` (design: workers, approval).

Every other answer stands where it counts when the command that took it returns: in the log, or beside the draft. This one is
for a draft that nobody has written yet. It holds for one change, and until the next command.
"""

from specwright.bootstrap.storage.stores import RUNTIME
from specwright.ports.store import FileTree

_APPROVED = f"{RUNTIME}/approved_in_advance"


def leave_approval(folder: FileTree, change: int | None) -> None:
    """Approve the next draft of a change in advance, or none."""
    folder.replace(_APPROVED, b"" if change is None else str(change).encode())


def approved_in_advance(folder: FileTree, change: int) -> bool:
    """Whether the next draft of a change is approved in advance."""
    return folder.exists(_APPROVED) and folder.read(_APPROVED) == str(change).encode()
