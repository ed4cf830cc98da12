"""What the graphs of a project left in its checkpoints, graph by graph and step by step."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from langgraph.checkpoint.sqlite import SqliteSaver

from specwright.graphs.checkpoints import JsonSerializer

__all__ = ["Invocation", "Kept", "invocations", "sizes"]

_OWN = ("__", "branch:")
"""How the channels begin that belong to LangGraph."""


class Kept(NamedTuple):
    """A checkpoint: the nodes that ran since the one before, and the state."""

    nodes: tuple[str, ...]
    state: dict[str, Any]


class Invocation(NamedTuple):
    """One run of one graph.

    Args:
        graph: `outer` for the root, else the node that invoked it.
        namespace: Where its checkpoints are.
        kept: Its checkpoints, the oldest first.
    """

    graph: str
    namespace: str
    kept: list[Kept]

    @property
    def ran(self) -> list[tuple[str, ...]]:
        """The nodes that ran between any two of its checkpoints, without its start."""
        return [kept.nodes for kept in self.kept if kept.nodes not in (("__input__",), ("__start__",))]

    @property
    def begins_with(self) -> dict[str, Any]:
        """The state before its first node."""
        return next(kept.state for kept in self.kept if kept.nodes == ("__start__",))


def invocations(project: Path) -> list[Invocation]:
    """Every run of a graph, in the order in which they began."""
    with _opened(project) as saver:
        rows = saver.conn.execute(
            "SELECT checkpoint_ns FROM checkpoints GROUP BY 1 ORDER BY min(checkpoint_id)"
        )
        return [
            Invocation(name.rpartition("|")[2].partition(":")[0] or "outer", name, list(_kept(saver, name)))
            for (name,) in rows.fetchall()
        ]


def sizes(project: Path) -> list[int]:
    """The bytes of every checkpoint with its writes, the oldest first."""
    with _opened(project) as saver:
        rows = saver.conn.execute(
            "SELECT length(checkpoint) + (SELECT coalesce(sum(length(value)), 0) FROM writes w WHERE"
            " w.checkpoint_ns = c.checkpoint_ns AND w.checkpoint_id = c.checkpoint_id)"
            " FROM checkpoints c ORDER BY checkpoint_id"
        )
        return [size for (size,) in rows.fetchall()]


def _kept(saver: SqliteSaver, namespace: str) -> Iterator[Kept]:
    config: Any = {"configurable": {"thread_id": "project", "checkpoint_ns": namespace}}
    seen: dict[str, Any] = {}
    for one in sorted(saver.list(config), key=lambda one: one.checkpoint["id"]):
        now = one.checkpoint["versions_seen"]
        nodes = tuple(node for node in now if now[node] != seen.get(node) and node != "__interrupt__")
        values = one.checkpoint["channel_values"]
        yield Kept(nodes, {name: value for name, value in values.items() if not name.startswith(_OWN)})
        seen = now


@contextmanager
def _opened(project: Path) -> Iterator[SqliteSaver]:
    path = project / ".specwright/checkpoints.db"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        yield SqliteSaver(connection, serde=JsonSerializer())
