"""Cycles and reachable nodes of directed graphs.

A graph is a mapping from each node to its targets. The walks are iterative, because a chain of tasks may be
10,000 long. For a topological order use `graphlib.TopologicalSorter` with lists: it keeps the input's order, and the order
of a set differs between processes.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter

_SHOWN = 8


def find_cycles(edges: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, ...]]:
    """Yield the cycles of a graph, one for each back edge of a depth-first walk; none for a DAG.

    Args:
        edges: Each node's targets; targets that are not nodes are ignored.

    Returns:
        The nodes of each cycle; each points to the next, and the last to the first.
    """
    done: set[str] = set()
    for root in edges:
        if root not in done:
            yield from _cycles_from(root, edges, done)


def describe_cycle(cycle: Sequence[str]) -> str:
    """Format a cycle as `a -> b -> a`; long ones are shortened."""
    if len(cycle) <= _SHOWN:
        return " -> ".join((*cycle, cycle[0]))
    return f"{' -> '.join(cycle[:_SHOWN])} -> ({len(cycle) - _SHOWN} more) -> {cycle[0]}"


def reachable(starts: Iterable[str], targets: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """Yield every node that can be reached from the starts, without these; nearest first, each once."""
    pending = deque(starts)
    seen = set(pending)
    while pending:
        for target in targets(pending.popleft()):
            if target not in seen:
                seen.add(target)
                pending.append(target)
                yield target


def dependents(starts: Collection[str], edges: Mapping[str, Iterable[str]]) -> list[str]:
    """Return every node of an acyclic graph that leads to one of the starts, without these; each after its targets, in a
    stable order.

    Args:
        starts: The nodes to lead to.
        edges: Each node's targets, in any order; a target that is not a key has no targets.
    """
    ordered = {node: sorted(edges[node]) for node in sorted(edges)}
    found = dict.fromkeys(starts)
    for node in TopologicalSorter(ordered).static_order():
        if any(target in found for target in ordered.get(node, ())):
            found[node] = None
    return [node for node in found if node not in starts]


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
