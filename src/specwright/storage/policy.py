"""What an agent may do to a path: pure decisions, one function per rule (F§6.3, F§6.6, F§12, DESIGN §2).

A policy looks at an operation and a canonical path (`/a/b`) and says why not, or nothing. Where its reason says
`{path}`, the backend puts the path as it was named, never the one that a link leads to. How paths become canonical,
and that links, ancestors and bulk operations cannot get round a policy, is the business of `guarded_backend`.
"""

from collections.abc import Callable, Collection
from enum import StrEnum

from specwright.domain.provenance import NOT_IN_PACK

__all__ = ["SEALED", "Operation", "Policy", "context_pack", "immutable", "nothing", "opaque", "unrestricted"]


class Operation(StrEnum):
    """What is asked for. A listing asks for each entry; what may not be listed does not appear."""

    READ = "read"
    LIST = "list"
    WRITE = "write"
    EDIT = "edit"
    DELETE = "delete"


Policy = Callable[[Operation, str], str]
"""Why an operation on a path is refused, with `{path}` for the path; empty if it is allowed."""

CHANGES = frozenset({Operation.WRITE, Operation.EDIT, Operation.DELETE})

SEALED = (
    "ACCESS DENIED: '{path}' is a sealed implementation directory. This module is a closed-source service — "
    "integrate via contract.json, examples.md, and ship.json only. See §12 (Opaque Implementation Rule) and §6.8 "
    "(Black-Box Integration) for rationale. If the contract is insufficient, raise an Interface Change Exception (§13)."
)
"""The literal message of F§12.5."""

SHIPPED = "'{path}' is shipped and immutable; a change is a new version (§6.6)."
NOTHING_HERE = "there is nothing at '{path}'."


def unrestricted(operation: Operation, path: str) -> str:
    """Any operation below the root, and none outside it (F§7: standard read and write)."""
    return ""


def nothing(operation: Operation, path: str) -> str:
    """An empty root: what no route of the state store leads to (F§7)."""
    return "" if operation is Operation.LIST and path == "/" else NOTHING_HERE


def immutable(shipped: Callable[[str], bool]) -> Policy:
    """What is shipped never changes (F§6.6).

    Args:
        shipped: Whether a path is, or lies in, or holds, something shipped.
    """

    def decide(operation: Operation, path: str) -> str:
        return SHIPPED if operation in CHANGES and shipped(path) else ""

    return decide


def opaque(sealed: Callable[[str], bool]) -> Policy:
    """Of a sealed version nothing can be seen but its public surface (F§12).

    Args:
        sealed: Whether a path is, or lies in, a sealed directory.
    """

    def decide(operation: Operation, path: str) -> str:
        return SEALED if sealed(path) else ""

    return decide


def context_pack(readable: Collection[str], writable: Collection[str]) -> Policy:
    """A role sees what its pack names and writes where it may (F§6.3, F§9.7).

    Args:
        readable: Files of the pack, `/contract.json`.
        writable: Files, or directories ending in `/`, that the role makes.
    """
    files = frozenset(readable)
    yours = f"'{{path}}' is not yours to change; you may write {', '.join(writable) or 'nothing'}."

    def own(path: str) -> bool:
        return any(
            path == prefix or (prefix.endswith("/") and f"{path}/".startswith(prefix)) for prefix in writable
        )

    def above(path: str) -> bool:
        base = "/" if path == "/" else f"{path}/"
        return any(name.startswith(base) for name in (*files, *writable))

    def decide(operation: Operation, path: str) -> str:
        if operation in CHANGES:
            return "" if own(path) else yours
        return "" if path in files or own(path) or above(path) else NOT_IN_PACK

    return decide
