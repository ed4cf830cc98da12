"""The mutants of a module: its files, each with one small fault, to see whether its tests notice (design:
module-directory, ship-gate).

`strength.mutations` has the faults, `strength.mutations` the places that are left out. Every file of
`implementation/` is mutated. Which mutants are taken, when there are too many, depends on nothing but the source: of a
function that stays as it is, the same ones, wherever it stands in the file.
"""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ship_gate.source.files import ParsedFiles
from ship_gate.strength.mutations import Mutations
from ship_gate.verdict import ENTRY_FILE

MODULE_LEVEL = "the module level"
"""The scope of code outside functions."""


class Mutant(NamedTuple):
    """One fault in one file.

    Args:
        path: The file, `implementation/__init__.py`.
        line: Where.
        scope: The function that holds it, with its file where that is not the first; or the module level.
        change: What was changed, as a person reads it.
        source: The whole file with the fault.
        limit: The number that the file accepts up to, if the fault moves it.
        value: What tells an idiom from the one that it was changed to.
        boundary: Whether the fault moves the boundary of a comparison.
        which: Which one it is, where several in a line read alike: `number 2 of 2 in the line`.
    """

    path: str
    line: int
    scope: str
    change: str
    source: str
    limit: str = ""
    value: str = ""
    boundary: bool = False
    which: str = ""

    @property
    def listed(self) -> str:
        """The change as findings list it."""
        return f"{self.change} ({self.which})" if self.which else self.change

    @property
    def location(self) -> str:
        """`implementation/__init__.py:12`."""
        return f"{self.path}:{self.line}"


def mutants_of(files: Mapping[str, bytes]) -> list[Mutant]:
    """Every mutant of an implementation, in the order of the source.

    Args:
        files: The files of a candidate, readable.
    """
    parsed = ParsedFiles.of(files)
    return _numbered(
        mutant for path in sorted(parsed.implementation()) for mutant in _of_file(parsed.tree(path), path)
    )


def _numbered(mutants: Iterable[Mutant]) -> list[Mutant]:
    """Mutants of which those that read alike say which they are, in the order of the source."""
    alike: dict[tuple[str, str], list[int]] = {}
    found = list(mutants)
    for place, mutant in enumerate(found):
        alike.setdefault((mutant.location, mutant.change), []).append(place)
    for places in alike.values():
        for number, place in enumerate(places, start=1) if len(places) > 1 else ():
            found[place] = found[place]._replace(which=f"number {number} of {len(places)} in the line")
    return found


def sampled(mutants: list[Mutant], most: int) -> list[Mutant]:
    """At most so many mutants, spread evenly over the functions, chosen by the digests of their changes: another draft with
    the same function is asked about the same faults of it.

    Args:
        mutants: Of `mutants_of`.
        most: How many.
    """
    if len(mutants) <= most:
        return mutants
    scopes: dict[str, list[tuple[str, int]]] = {}
    alike = Counter[tuple[str, str]]()
    for place, mutant in enumerate(mutants):
        change = mutant.scope, mutant.change
        alike[change] += 1
        digest = hashlib.sha256(" ".join((*change, str(alike[change]))).encode()).hexdigest()
        scopes.setdefault(mutant.scope, []).append((digest, place))
    waiting = [[place for _, place in sorted(scopes[scope])] for scope in sorted(scopes)]
    chosen: list[int] = []
    while len(chosen) < most:
        for places in waiting:
            if places and len(chosen) < most:
                chosen.append(places.pop(0))
    return [mutants[place] for place in sorted(chosen)]


def _of_file(tree: ast.Module, path: str) -> Iterator[Mutant]:
    prefix = "" if path == ENTRY_FILE else path.removeprefix("implementation/") + "::"
    scopes = _scopes(tree, prefix)
    for fault in Mutations(tree).found():
        undo = fault.apply()
        source = ast.unparse(ast.fix_missing_locations(tree))
        undo()
        line, scope = getattr(fault.node, "lineno", 1), scopes.get(id(fault.node), MODULE_LEVEL)
        yield Mutant(path, line, scope, fault.change, source, fault.limit, fault.value, fault.boundary)


def _scopes(tree: ast.Module, prefix: str) -> dict[int, str]:
    """The function that holds each node; a function within one belongs to the outer."""
    scopes: dict[int, str] = {}

    def enter(node: ast.AST, owner: str, scope: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = scope
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and not scope:
                inner = f"{prefix}{owner}{child.name}"
            if inner:
                scopes[id(child)] = inner
            enter(child, f"{child.name}." if isinstance(child, ast.ClassDef) else owner, inner)

    enter(tree, "", "")
    return scopes
