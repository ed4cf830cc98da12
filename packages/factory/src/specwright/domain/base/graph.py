"""Walks over directed graphs: cycles and reachable nodes.

A graph is a mapping from each node to its targets. The walks are iterative, because a chain of tasks may be
10,000 long. For a topological order use `graphlib.TopologicalSorter`.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_SHOWN = 8


def find_cycles(edges: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, ...]]:
    """Cycles of a graph, one for each edge that closes one in a depth-first walk; lazily, none for a DAG.

    Args:
        edges: Each node's targets; targets that are not nodes are ignored.

    Returns:
        The nodes of each cycle, each pointing to the next, the last to the first.
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


def reachable(starts: Iterable[str], targets: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """Every node that can be reached from some nodes, themselves left out; nearest first, each once."""
    pending = deque(starts)
    seen = set(pending)
    while pending:
        for target in targets(pending.popleft()):
            if target not in seen:
                seen.add(target)
                pending.append(target)
                yield target


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
