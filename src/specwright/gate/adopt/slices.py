"""Cuts a function out of its tree, with all that it needs of the tree, as the implementation of a module (design: adoption).

The statements of a top level that bind a name that is needed are kept as they are written, those that change it as well:
`TABLE.update(...)`, a loop that fills it. The file of the function becomes `__init__.py`, every other file one beside it;
imports within the tree are rewritten to these. What nothing needs stays behind.

Left out: names that are made at run time (`globals()[...]`), which the gate refuses anyway.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from specwright.domain.adoption.report import Obstacle
from specwright.gate.adopt.source_tree import (
    Module,
    PublicFunction,
    SourceTree,
    Target,
    bound_names,
    is_for_types,
)

_PLAIN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_COMMENT = re.compile(rb"[ \t]*#")


class Line(NamedTuple):
    """Where a line of an implementation comes from: the label of the file, and the line in it; 0 if it is new."""

    label: str
    number: int


class SlicedFile(NamedTuple):
    """One file of a slice.

    Args:
        text: Its source.
        lines: Where each of its lines comes from.
    """

    text: bytes
    lines: tuple[Line, ...]


class Slice(NamedTuple):
    """What a function needs.

    Args:
        future: The `from __future__` imports of the entry file.
        before: The statements of the entry file that come before the function, in their order.
        function: The function as it is written, decorators included.
        after: The statements that come after it.
        files: The files beside it, by name.
        names: For each module of the tree the name of its file; empty for the entry file.
        obstacles: What could not be cut out.
    """

    future: tuple[str, ...]
    before: tuple[SlicedFile, ...]
    function: SlicedFile
    after: tuple[SlicedFile, ...]
    files: dict[str, SlicedFile]
    names: dict[str, str]
    obstacles: tuple[Obstacle, ...]


class _ModulePart:
    """What is kept of one module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.statements: set[int] = set()
        self.names: set[str] = set()
        self.starred: dict[str, Target] = {}
        self.aliases: dict[str, Target] = {}


def cut_out(tree: SourceTree, function: PublicFunction, also: tuple[str, ...] = ()) -> Slice:
    """Cut a function out.

    Args:
        tree: Of its modules.
        function: Which one.
        also: Further names of its module that are needed, such as classes that callers meet.

    Raises:
        SourceError: a file that it needs is not Python.
    """
    cutter = _Cutter(tree, function)
    for name in (function.node.name, *also):
        cutter.need(Target(function.module, name))
    cutter.complete()
    return cutter.result()


class _Cutter:
    def __init__(self, tree: SourceTree, function: PublicFunction) -> None:
        self._tree = tree
        self._function = function
        self._kept: dict[str, _ModulePart] = {}
        self._waiting: list[tuple[_ModulePart, str]] = []
        self._obstacles: dict[Obstacle, None] = {}

    def need(self, target: Target) -> None:
        """Something of the tree is needed."""
        part = self._kept.setdefault(target.module.name, _ModulePart(target.module))
        if not target.name:
            return
        if target.name not in part.names:
            part.names.add(target.name)
            self._waiting.append((part, target.name))

    def complete(self) -> None:
        """Follow what is needed until nothing new is."""
        while self._waiting:
            part, name = self._waiting.pop()
            statements = part.module.bindings.get(name)
            if statements is None:
                self._from_star(part, name)
            for statement in statements or ():
                if not is_for_types(statement):
                    self._keep(part, statement, name)
            if not self._waiting:
                self._keep_changes()

    def _keep_changes(self) -> None:
        """Statements that are run for what they do to something that is kept."""
        for part in list(self._kept.values()):
            for statement in part.module.tree.body:
                if id(statement) not in part.statements and _changes(statement, part.names):
                    self._keep(part, statement, "")

    def _keep(self, part: _ModulePart, statement: ast.stmt, name: str) -> None:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            part.statements.add(id(statement))
            self._imported(part, statement, only=name)
            return
        if id(statement) in part.statements:
            return
        part.statements.add(id(statement))
        # whatever else it binds is bound by it alone
        for bound in bound_names(statement):
            self.need(Target(part.module, bound))
        for node in _nodes(statement):
            if isinstance(node, ast.Name) and node.id in part.module.bindings:
                self._used(part, node, statement)
            elif isinstance(node, ast.Name):
                self._from_star(part, node.id)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self._imported(part, node, only="")

    def _used(self, part: _ModulePart, node: ast.Name, statement: ast.stmt) -> None:
        target = self._tree.resolve(part.module, node.id)
        if target is not None and not target.name:
            self._attributes(target, node.id, statement)
        self.need(Target(part.module, node.id))

    def _attributes(self, target: Target, alias: str, statement: ast.stmt) -> None:
        """What a statement takes of a module of the tree that it knows under a name."""
        held = {id(n.value) for n in ast.walk(statement) if isinstance(n, ast.Attribute)}
        for node in ast.walk(statement):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == alias:
                    self.need(Target(target.module, attribute))
                case ast.Name(id=name) if name == alias and id(node) not in held:
                    for bound in target.module.bindings:
                        self.need(Target(target.module, bound))
                case _:
                    pass

    def _from_star(self, part: _ModulePart, name: str) -> None:
        if name in part.starred or not any(_is_star(one) for one in part.module.tree.body):
            return
        if target := self._tree.resolve(part.module, name):
            part.starred[name] = target
            self.need(target)

    def _imported(self, part: _ModulePart, node: ast.Import | ast.ImportFrom, *, only: str) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                inner = self._tree.module(alias.name)
                if inner is not None and "." in alias.name and not alias.asname:
                    what = f"`import {alias.name}` names its own package; write `from ... import ...`"
                    self._obstacles[Obstacle(what, f"{part.module.label}:{node.lineno}")] = None
                elif inner is not None:
                    self.need(Target(inner, ""))
            return
        for alias in node.names:
            bound = alias.asname or alias.name
            if (only and bound != only) or alias.name == "*":
                continue
            if target := self._followed(part.module, node, alias.name):
                self.need(target)

    def _followed(self, module: Module, node: ast.ImportFrom, original: str) -> Target | None:
        """Where an imported name is defined, however many modules pass it on."""
        target = self._tree.target(module, node, original)
        if target is None or not target.name:
            return target
        end = self._tree.resolve(target.module, target.name)
        # what a module of the tree imports from outside is taken from that module
        return end or target

    def result(self) -> Slice:
        """The slice."""
        home = self._function.module.name
        names = {home: ""}
        for module in self._kept:
            if module != home:
                names[module] = self._file_name(module, {*names.values()})
        files = {
            names[module]: joined(self._parts(part, names))
            for module, part in self._kept.items()
            if module != home
        }
        before, own, after = list[SlicedFile](), list[SlicedFile](), list[SlicedFile]()
        future = list[str]()
        for statement, text in self._statements(self._kept[home], names):
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                future += [alias.name for alias in statement.names]
            elif statement is self._function.node:
                own.append(text)
            else:
                (after if own else before).append(text)
        future = [*dict.fromkeys(future)]
        return Slice((*future,), (*before,), own[0], (*after,), files, names, (*self._obstacles,))

    def _file_name(self, module: str, taken: set[str]) -> str:
        parts = module.split(".")
        name = "_".join(parts[1:] if len(parts) > 1 and self._tree.top else parts).lstrip("_") or parts[-1]
        while name in taken or name == self._function.node.name:
            name += "_source"
        return name

    def _parts(self, part: _ModulePart, names: dict[str, str]) -> Iterator[SlicedFile]:
        statements = list(self._statements(part, names))
        futures = [p for s, p in statements if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
        others = [
            p for s, p in statements if not (isinstance(s, ast.ImportFrom) and s.module == "__future__")
        ]
        return iter([*futures, *others])

    def _statements(self, part: _ModulePart, names: dict[str, str]) -> Iterator[tuple[ast.stmt, SlicedFile]]:
        module = part.module
        for name, target in part.starred.items():
            line = _import_text(names, module.name, target, name)
            node = next(one for one in module.tree.body if _is_star(one))
            yield node, SlicedFile(line.encode(), (Line(module.label, node.lineno),))
        for statement in module.tree.body:
            is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
            if id(statement) in part.statements or is_future:
                text = _Rewriter(self, part, names).statement(statement)
                if text is not None:
                    yield statement, text

    def followed(self, module: Module, node: ast.ImportFrom, original: str) -> Target | None:
        """Where an imported name is defined; None if it does not belong to the tree."""
        return self._followed(module, node, original)

    def module(self, name: str) -> Module | None:
        """A module of the tree."""
        return self._tree.module(name)


class _Rewriter:
    """Writes a kept statement with its imports led to the files of the slice."""

    def __init__(self, cutter: _Cutter, part: _ModulePart, names: dict[str, str]) -> None:
        self._cutter = cutter
        self._part = part
        self._names = names

    def statement(self, node: ast.stmt) -> SlicedFile | None:
        """The text of a statement; None if nothing of it is left."""
        module = self._part.module
        lines = module.data.splitlines(keepends=True)
        if isinstance(node, ast.Import | ast.ImportFrom):
            text = self._import(node, self._part.names)
            if not text:
                return None
            return SlicedFile(text.encode(), tuple(Line(module.label, node.lineno) for _ in text.split("\n")))
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        start = _with_comments(lines, first)
        last = node.end_lineno or node.lineno
        pieces: list[bytes] = []
        numbers: list[int] = []
        inner = [part for part in ast.walk(node) if isinstance(part, ast.Import | ast.ImportFrom)]
        place = (start, 0 if start != first or first != node.lineno else node.col_offset)
        for part in sorted(inner, key=lambda one: (one.lineno, one.col_offset)):
            text = self._import(part, None)
            if text is None:
                continue
            pieces.append(_between(lines, place, (part.lineno, part.col_offset)))
            indent = b" " * part.col_offset
            pieces.append(text.encode().replace(b"\n", b"\n" + indent))
            place = (part.end_lineno or part.lineno, part.end_col_offset or 0)
        end = (last, node.end_col_offset or 0)
        rest = lines[last - 1][end[1] :]
        pieces.append(_between(lines, place, end) + (rest.rstrip() if _COMMENT.match(rest) else b""))
        text = b"".join(pieces).rstrip()
        numbers = [min(start + offset, last) for offset in range(text.count(b"\n") + 1)]
        return SlicedFile(text, tuple(Line(module.label, number) for number in numbers))

    def _import(self, node: ast.Import | ast.ImportFrom, wanted: set[str] | None) -> str | None:
        """The text of an import, only of what is wanted; None if it stays as it is, empty if nothing is left."""
        if isinstance(node, ast.Import):
            return self._module_import(node, wanted)
        if node.module == "__future__":
            return f"from __future__ import {', '.join(alias.name for alias in node.names)}"
        module = self._part.module.name
        made: list[str] = []
        outside: list[str] = []
        for alias in node.names:
            bound = alias.asname or alias.name
            if alias.name == "*":
                made += [] if wanted is not None else ["pass"]
                continue
            if wanted is not None and bound not in wanted:
                continue
            target = self._cutter.followed(self._part.module, node, alias.name)
            if target is None:
                outside.append(alias.name + (f" as {alias.asname}" if alias.asname else ""))
            else:
                made.append(_import_text(self._names, module, target, bound))
        if outside:
            made.insert(0, f"from {'.' * node.level}{node.module or ''} import {', '.join(outside)}")
        elif wanted is None and len(made) == len(node.names) and not made:
            return None
        return "\n".join(made)

    def _module_import(self, node: ast.Import, wanted: set[str] | None) -> str | None:
        made: list[str] = []
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            if wanted is not None and bound not in wanted:
                continue
            inner = self._cutter.module(alias.name)
            if inner is not None and ("." not in alias.name or alias.asname):
                made.append(_import_text(self._names, self._part.module.name, Target(inner, ""), bound))
            else:
                made.append(f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else ""))
        return "\n".join(made)


def _import_text(names: dict[str, str], module: str, target: Target, bound: str) -> str:
    """`from .file import name as bound`, as the slice's files lie."""
    file = names.get(target.module.name)
    if file is None or (target.module.name == module and not target.name):
        return f"from . import {target.module.name.rpartition('.')[2]} as {bound}"
    if not target.name:
        return f"from . import {file or '__init__'}" + (f" as {bound}" if bound != file else "")
    source = f".{file}" if file else "."
    return f"from {source} import {target.name}" + (f" as {bound}" if bound != target.name else "")


def joined(parts: Iterable[SlicedFile]) -> SlicedFile:
    """The text of a file of several statements, spaced as usual."""
    texts: list[bytes] = []
    lines: list[Line] = []
    before: SlicedFile | None = None
    for part in parts:
        blank = 0 if before is None else _blank_lines(before, part)
        texts.append(b"\n" * blank + part.text + b"\n")
        lines += [Line("", 0)] * blank + [*part.lines]
        before = part
    return SlicedFile(b"".join(texts), tuple(lines))


_IMPORT = re.compile(rb"(from|import)\s")
_DEFINITION = re.compile(rb"(?:[ \t]*#[^\n]*\n)*(?:@|def\s|async\s|class\s)")


def _blank_lines(before: SlicedFile, after: SlicedFile) -> int:
    if _DEFINITION.match(before.text) or _DEFINITION.match(after.text):
        return 2
    follows = before.lines[-1].number and before.lines[-1].number + 1 == after.lines[0].number
    both_import = _IMPORT.match(before.text) and _IMPORT.match(after.text)
    from_future = before.text.startswith(b"from __future__")
    return 0 if not from_future and (follows or both_import) else 1


def _between(lines: list[bytes], start: tuple[int, int], end: tuple[int, int]) -> bytes:
    """The bytes from one place of a file to another, in lines from 1 and bytes from 0."""
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    middle = lines[start[0] : end[0] - 1]
    return lines[start[0] - 1][start[1] :] + b"".join(middle) + lines[end[0] - 1][: end[1]]


def _with_comments(lines: list[bytes], first: int) -> int:
    """The line from which the comments right above a statement begin."""
    while first > 1 and _COMMENT.match(lines[first - 2]) and not lines[first - 2].startswith(b"#!"):
        first -= 1
    return first


def _nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """All nodes of a statement, those of quoted annotations too."""
    for node in ast.walk(statement):
        yield node
        for field in ("annotation", "returns"):
            annotation = getattr(node, field, None)
            for part in ast.walk(annotation) if isinstance(annotation, ast.AST) else ():
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield from _quoted(part.value)


def _quoted(text: str) -> Iterator[ast.AST]:
    try:
        yield from ast.walk(ast.parse(text, mode="eval"))
    except (SyntaxError, ValueError, RecursionError):
        return


def _is_star(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"


def _changes(statement: ast.stmt, names: set[str]) -> bool:
    """Whether a statement that defines nothing does something to one of the names."""
    if isinstance(statement, _PLAIN) or _is_main(statement) or is_for_types(statement):
        return False
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        parts = [part for target in targets for part in ast.walk(target)]
    else:
        parts = list(ast.walk(statement))
    return any(isinstance(node, ast.Name) and node.id in names for node in parts)


def _is_main(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and any(
        isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(statement.test)
    )
