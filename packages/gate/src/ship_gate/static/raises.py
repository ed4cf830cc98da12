"""Exceptions that leave the module without being declared (design: module-directory, ship-gate).

A `raise` counts if a call of the entry point can reach it and nothing on the way catches it: a private exception
that is caught inside is no fault. Errors match by their exact class; a subclass of OSError counts as OSError.

Left out: exceptions that Python, its library or a sibling raise by themselves, which the contract fuzz meets,
and AssertionError, which says that something cannot happen.
"""

import ast
import builtins
from collections.abc import Iterator
from typing import NamedTuple

from ship_gate.contract.contract import MicroModuleContract, SurfaceKind
from ship_gate.contract.docstring import entry_points
from ship_gate.contract.error_classes import is_os_error
from ship_gate.findings import Finding, FindingCode
from ship_gate.source.names import BUILTIN, error_bases
from ship_gate.source.program import Function, Program

_CANNOT_HAPPEN = {"AssertionError"}
_Try = (ast.Try, ast.TryStar)


class _UndeclaredError(NamedTuple):
    """An exception that leaves the module undeclared: its class, and the `raise` that it comes from."""

    name: str
    path: str
    line: int


class _Raised(NamedTuple):
    """An exception that a statement raises."""

    name: str
    function: Function
    line: int


def raise_findings(program: Program, contract: MicroModuleContract) -> Iterator[Finding]:
    """The undeclared exceptions, each at the `raise` that it comes from."""
    declared = _declared(contract)
    for error in _undeclared_errors(program, contract):
        message = (
            f"{error.name} leaves the module, and the contract declares no such error; "
            f"catch it, or raise one of {sorted(declared) or 'none: the module must not fail'}"
        )
        yield Finding(FindingCode.STATIC_RAISE, f"{error.path}:{error.line}", message)


def _undeclared_errors(program: Program, contract: MicroModuleContract) -> Iterator[_UndeclaredError]:
    """The exceptions that a `raise` lets out of an entry point and that the contract does not declare, each once."""
    declared = _declared(contract)
    leaving = _Leaving(program)
    entries = {entry.name for entry in entry_points(contract)}
    reported: set[_UndeclaredError] = set()
    for name in sorted(entries):
        for function in program.functions.get(name, []):
            if function.file is not program.files[0] or function.owner:
                continue
            for raised in leaving.of(function):
                error = _UndeclaredError(raised.name, raised.function.file.path, raised.line)
                if error not in reported and not _is_declared(raised.name, declared):
                    reported.add(error)
                    yield error


def _declared(contract: MicroModuleContract) -> set[str]:
    return {e.name for e in contract.error_surfaces if e.surface is SurfaceKind.EXCEPTION}


def _is_declared(name: str, declared: set[str]) -> bool:
    return name in declared or name in _CANNOT_HAPPEN or ("OSError" in declared and is_os_error(name))


class _Leaving:
    """Which exceptions leave which function."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[int, list[_Raised]] = {}
        self._open: set[int] = set()

    def of(self, function: Function) -> list[_Raised]:
        """The exceptions that leave a function; while it is being read, nothing (it calls itself)."""
        key = id(function.node)
        if key in self._open:
            return []
        if key not in self._known:
            self._open.add(key)
            self._known[key] = list(self._read(function))
            self._open.discard(key)
        return self._known[key]

    def _read(self, function: Function) -> Iterator[_Raised]:
        for node in function.own_nodes():
            if isinstance(node, ast.Raise):
                found = [_Raised(name, function, node.lineno) for name in self._raised(function, node)]
            elif isinstance(node, (ast.Name, ast.Attribute)):
                if _is_raised(function, node):
                    continue
                called = self._program.called(function, node)
                found = [raised for other in called for raised in self.of(other)]
            else:
                continue
            yield from (raised for raised in found if not self._is_caught(function, node, raised.name))

    def _raised(self, function: Function, node: ast.Raise) -> list[str]:
        if node.exc is None:
            return [name for name in _handled(function, node) if name not in {"Exception", "BaseException"}]
        return self._classes(function, node.exc)

    def _classes(self, function: Function, node: ast.expr) -> list[str]:
        """The class of a raised expression; none if it cannot be seen."""
        match node:
            case ast.Call(func=called):
                return self._classes(function, called) or self._built(function, called)
            case ast.IfExp(body=one, orelse=other):
                return self._classes(function, one) + self._classes(function, other)
            case ast.Name(id=name):
                if self._is_exception(name) and function.file.names.dotted(node):
                    return [self._true_name(function, node)]
                return self._assigned(function, name)
            case ast.Attribute(attr=name) if name[:1].isupper():
                return [name]
            case _:
                return []

    def _true_name(self, function: Function, node: ast.Name) -> str:
        return function.file.names.dotted(node).removeprefix(BUILTIN).rpartition(".")[2]

    def _is_exception(self, name: str) -> bool:
        value = getattr(builtins, name, None)
        return name[:1].isupper() or name.lstrip("_")[:1].isupper() or isinstance(value, type)

    def _assigned(self, function: Function, name: str) -> list[str]:
        found: list[str] = []
        for node in function.own_nodes():
            match node:
                case ast.ExceptHandler(name=bound, type=kinds) if bound == name and kinds:
                    found += _class_names(kinds)
                case ast.Assign(targets=[ast.Name(id=bound)], value=ast.Call() as value) if bound == name:
                    found += self._classes(function, value)
                case _:
                    pass
        return [kind for kind in found if kind not in {"Exception", "BaseException"}]

    def _built(self, function: Function, called: ast.expr) -> list[str]:
        """`raise _error(...)`: what the module's own function returns."""
        return [
            name
            for other in self._program.called(function, called)
            for node in other.own_nodes()
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Call)
            for name in self._classes(other, node.value)
        ]

    def _is_caught(self, function: Function, node: ast.AST, name: str) -> bool:
        inner = node
        for above in function.file.names.above(node):
            if above is function.node:
                return False
            if isinstance(above, _Try) and any(part is inner for part in above.body):
                for handler in above.handlers:
                    if self._catches(handler.type, name):
                        if not _passes_on(handler):
                            return True
                        break
            if isinstance(above, (ast.With, ast.AsyncWith)) and any(part is inner for part in above.body):
                for item in above.items:
                    if self._suppresses(function, item.context_expr, name):
                        return True
            inner = above
        return False

    def _suppresses(self, function: Function, node: ast.expr, name: str) -> bool:
        return (
            isinstance(node, ast.Call)
            and function.file.names.dotted(node.func) == "contextlib.suppress"
            and any(self._catches(kind, name) for kind in node.args)
        )

    def _catches(self, kinds: ast.expr | None, name: str) -> bool:
        return kinds is None or bool(set(_class_names(kinds)) & self._bases(name))

    def _bases(self, name: str) -> set[str]:
        """The names of a class and of all its bases."""
        found, waiting = set[str](), [name]
        while waiting:
            current = waiting.pop()
            if current in found:
                continue
            found.add(current)
            if current in self._program.classes:
                waiting += [n for base in self._program.classes[current][1].bases for n in _class_names(base)]
            elif isinstance(value := getattr(builtins, current, None), type):
                waiting += [base.__name__ for base in value.__mro__]
            elif current in (known := error_bases()):
                waiting += known[current]
            elif current == name:
                waiting += ["Exception", "BaseException"]
        return found


def _is_raised(function: Function, node: ast.AST) -> bool:
    """Whether a name stands in a `raise`, as its class: that is reported by the raise itself."""
    above = function.file.names.parents.get(id(node))
    return isinstance(above, ast.Raise)


def _handled(function: Function, node: ast.AST) -> list[str]:
    for above in function.file.names.above(node):
        if isinstance(above, ast.ExceptHandler):
            return _class_names(above.type) if above.type else []
    return []


def _passes_on(handler: ast.ExceptHandler) -> bool:
    """Whether a handler raises again what it caught."""
    return any(
        isinstance(node, ast.Raise)
        and (node.exc is None or (isinstance(node.exc, ast.Name) and node.exc.id == handler.name))
        for node in ast.walk(handler)
    )


def _class_names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Tuple):
        return [name for element in node.elts for name in _class_names(element)]
    if isinstance(node, ast.Name):
        return [node.id]
    return [node.attr] if isinstance(node, ast.Attribute) else []
