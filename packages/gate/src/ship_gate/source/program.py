"""A module's own functions, over all its files, and which of them a call can reach (design: ship-gate).

Calls are followed by name: functions of the files, methods of the module's own classes, and functions that are
passed around. A function that only runs while the module is imported, such as one that fills a table, is not
reached by a call.

Left out: which of several methods of one name is meant; all of them count.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ship_gate.source.files import ParsedFiles
from ship_gate.source.names import OWN, Names

_Definition = ast.FunctionDef | ast.AsyncFunctionDef


class SourceFile(NamedTuple):
    """One file of the implementation."""

    path: str
    tree: ast.Module
    names: Names


class Function(NamedTuple):
    """A function, a method, or a function within one."""

    file: SourceFile
    node: _Definition
    owner: str
    """The class that it is a method of, or nothing."""

    def own_nodes(self) -> Iterator[ast.AST]:
        """Its body without the functions within it, which count for themselves."""
        waiting: list[ast.AST] = [*self.node.body]
        while waiting:
            node = waiting.pop(0)
            yield node
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                waiting += ast.iter_child_nodes(node)


class Program(NamedTuple):
    """All files of an implementation.

    Args:
        files: By their order.
        functions: Every function, by its bare name.
        classes: Every class with its file, by its name.
    """

    files: tuple[SourceFile, ...]
    functions: dict[str, list[Function]]
    classes: dict[str, tuple[SourceFile, ast.ClassDef]]

    def methods(self) -> set[str]:
        """The names of the methods of the module's own classes."""
        return {name for name, found in self.functions.items() if any(function.owner for function in found)}

    def called(self, function: Function, node: ast.AST) -> list[Function]:
        """The module's own functions that a name or an attribute within a function may mean."""
        if isinstance(node, ast.Attribute):
            return [
                found for found in self.functions.get(node.attr, []) if found.owner or _module_level(found)
            ]
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            return []
        origin = function.file.names.dotted(node)
        if not origin:  # a local: a function within a function, perhaps
            return [found for found in self.functions.get(node.id, []) if found.file is function.file]
        if not origin.startswith((OWN, ".")):
            return []
        name = origin.rpartition(".")[2]
        if name in self.classes:
            return [
                found
                for hidden in ("__init__", "__post_init__", "__new__", "__call__", "__enter__", "__exit__")
                for found in self.functions.get(hidden, [])
                if found.owner == name
            ]
        return [found for found in self.functions.get(name, []) if not found.owner]

    def reachable(self, entries: list[str]) -> list[Function]:
        """What a call of an entry point can reach, each once, in the order of discovery."""
        waiting = [
            found for name in entries for found in self.functions.get(name, []) if found.file is self.files[0]
        ]
        reached: dict[int, Function] = {}
        while waiting:
            function = waiting.pop(0)
            if id(function.node) in reached:
                continue
            reached[id(function.node)] = function
            for node in function.own_nodes():
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    # decorated or not: it is there to be called
                    waiting += [found for found in self.functions[node.name] if found.node is node]
                waiting += self.called(function, node)
        return list(reached.values())


def _module_level(function: Function) -> bool:
    return any(node is function.node for node in function.file.tree.body)


def read_program(files: ParsedFiles) -> Program:
    """The Python files of an implementation, `implementation/__init__.py` first.

    Raises:
        SourceError: a file cannot be parsed.
    """
    sources = tuple(SourceFile(path, files.tree(path), files.names(path)) for path in files.implementation())
    program = Program(sources, {}, {})
    for source in sources:
        for function in _functions(source, source.tree, ""):
            program.functions.setdefault(function.node.name, []).append(function)
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ClassDef):
                program.classes[node.name] = (source, node)
    return program


def _functions(source: SourceFile, node: ast.AST, owner: str) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Function(source, child, owner)
            yield from _functions(source, child, "")
        elif isinstance(child, ast.ClassDef):
            yield from _functions(source, child, child.name)
        else:
            yield from _functions(source, child, owner)
