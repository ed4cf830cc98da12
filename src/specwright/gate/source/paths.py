"""Which expressions of a file are paths, values in memory, or values for certain (design: ship-gate).

Only as far as names and annotations say: `touch()` of a path writes, `touch()` of a module's own class does not.
"""

import ast
from typing import Literal

from specwright.gate.source.names import Names

_Type = Literal["path", "paths", "memory", "value", ""]
_PATH = {"pathlib.Path", "pathlib.PosixPath", "pathlib.WindowsPath"}
_SAME = {
    "parent", "with_suffix", "with_name", "with_stem", "joinpath", "resolve", "absolute", "expanduser", "relative_to",
    "rename", "replace",
}  # fmt: skip
_MANY = {"iterdir", "glob", "rglob", "parents"}


class PathTypes:
    """Infers types within one file, one answer per name and function."""

    def __init__(self, tree: ast.Module, names: Names) -> None:
        self._names = names
        self._known: dict[tuple[int, str], _Type] = {}
        for node in ast.walk(tree):
            for argument, annotation in _annotated(node):
                self._note(node, argument, self._annotated_type(annotation))
        for _ in range(2):  # a name may be assigned from one that stands below
            for node in ast.walk(tree):
                self._bindings(node)

    def of(self, node: ast.expr) -> _Type:
        """What an expression is: a path, several, a file in memory, a value for certain, or unknown."""
        match node:
            case ast.Name():
                return self._name(node)
            case ast.Call(func=function):
                return self._called(function)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return "path" if "path" in (self.of(left), self.of(right)) else ""
            case ast.Attribute(value=value, attr=attribute):
                return self._attribute(self.of(value), attribute)
            case ast.Subscript(value=value):
                return "path" if self.of(value) == "paths" else ""
            case ast.Constant() | ast.JoinedStr() | ast.Dict() | ast.List() | ast.Set():
                return "value"
            case _:
                return ""

    def _attribute(self, base: _Type, attribute: str) -> _Type:
        if base != "path":
            return ""
        return "path" if attribute in _SAME else "paths" if attribute in _MANY else ""

    def _called(self, function: ast.expr) -> _Type:
        dotted = self._names.dotted(function)
        if dotted in _PATH or dotted in {"pathlib.Path.cwd", "pathlib.Path.home"}:
            return "path"
        if dotted in {"io.BytesIO", "io.StringIO"}:
            return "memory"
        if dotted in {"builtins.sorted", "builtins.list", "builtins.reversed"}:
            parent = self._names.parents[id(function)]
            return self.of(parent.args[0]) if isinstance(parent, ast.Call) and parent.args else ""
        if isinstance(function, ast.Attribute):
            return self._attribute(self.of(function.value), function.attr)
        return ""

    def _name(self, node: ast.Name) -> _Type:
        for scope in self._names.above(node):
            if (id(scope), node.id) in self._known:
                return self._known[id(scope), node.id]
        return ""

    def _annotated_type(self, annotation: ast.expr) -> _Type:
        text = ast.unparse(annotation).strip("'\"")
        if any(self._names.dotted(part) in _PATH for part in ast.walk(annotation)) or text == "Path":
            return (
                "paths"
                if text.startswith(("list", "tuple", "set", "Iterable", "Iterator", "Sequence"))
                else "path"
            )
        return "value" if text in {"str", "int", "float", "bytes", "bool"} or text.startswith("dict") else ""

    def _note(self, node: ast.AST, name: str, found: _Type) -> None:
        scope = node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
            scope = next((above for above in self._names.above(node) if isinstance(above, scopes)), node)
        if found and self._known.get((id(scope), name)) not in {"path", "paths"}:
            self._known[id(scope), name] = found

    def _bindings(self, node: ast.AST) -> None:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ):
                self._note(node, name, self.of(value))
            case (
                ast.For(target=ast.Name(id=name), iter=source)
                | ast.comprehension(target=ast.Name(id=name), iter=source)
            ):
                self._note(node, name, "path" if self.of(source) == "paths" else "")
            case _:
                pass


def _annotated(node: ast.AST) -> list[tuple[str, ast.expr]]:
    match node:
        case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            return [(argument.arg, argument.annotation) for argument in every if argument.annotation]
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
            return [(name, annotation)]
        case _:
            return []
