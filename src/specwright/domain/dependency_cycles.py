"""Cycles in a dependency graph (F§3.2.3 criterion 9; F§17.2 for split tasks).

Iterative, because a chain may be 10,000 tasks long.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["describe_cycle", "find_cycles"]

_SHOWN = 8


def find_cycles(edges: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, ...]]:
    """Cycles of a graph, one for each edge that closes one in a depth-first walk.

    Args:
        edges: Each node's targets; targets that are no nodes are ignored.

    Returns:
        Lazily, the nodes of each cycle, each pointing to the next, the last to the first; nothing for a DAG.
    """
    done: set[str] = set()
    for root in edges:
        if root not in done:
            yield from _cycles_from(root, edges, done)


def describe_cycle(cycle: Sequence[str]) -> str:
    """`a -> b -> a`, shortened when it is long."""
    if len(cycle) <= _SHOWN:
        return " -> ".join((*cycle, cycle[0]))
    return f"{' -> '.join(cycle[:_SHOWN])} -> ({len(cycle) - _SHOWN} more) -> {cycle[0]}"


def _cycles_from(root: str, edges: Mapping[str, Iterable[str]], done: set[str]) -> Iterator[tuple[str, ...]]:
    depth = {root: 0}
    path = [root]
    pending = [iter(edges[root])]
    while path:
        target = next(pending[-1], None)
        if target is None:
            pending.pop()
            finished = path.pop()
            del depth[finished]
            done.add(finished)
        elif target in depth:
            yield tuple(path[depth[target] :])
        elif target in edges and target not in done:
            depth[target] = len(path)
            path.append(target)
            pending.append(iter(edges[target]))
