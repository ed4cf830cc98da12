"""The classes that a module exports at its boundary, read from their source (design: module-directory, ship-gate).

A class is found where the module binds its name: in `__init__.py`, in a file beside it, or in a sibling module that is
a declared dependency. Those of the module itself are field-only, and their fields are part of its surface. Tests and
examples get classes made anew from descriptions, since the implementation is not in their process (`inside.classes`).
"""

import ast
import builtins
from collections.abc import Mapping
from typing import Any, NamedTuple

from specwright.domain.contract.boundary_types import literal_problem
from specwright.domain.contract.class_statement import ClassStatement, Field
from specwright.gate.findings import FindingCode
from specwright.gate.source.files import ParsedFiles, SourceError, imported_file
from specwright.ports.gate import ENTRY_FILE

_KINDS = {"TypedDict", "Enum", "StrEnum", "IntEnum"}
_MOST_HOPS = 16


class ClassSource(NamedTuple):
    """Where a class is defined.

    Args:
        module: The name of the micro module.
        path: The file that defines it.
        node: Its definition; None if it belongs to a module whose source was not given.
    """

    module: str
    path: str
    node: ast.ClassDef | None

    @property
    def location(self) -> str:
        """The file and line, for a finding."""
        return f"{self.path}:{self.node.lineno}" if self.node else self.path


def find_class(
    name: str, module: str, modules: Mapping[str, ParsedFiles], path: str = ENTRY_FILE
) -> ClassSource | None:
    """Follow a name through relative imports to its class, over files and over modules.

    Args:
        name: As it is bound in the file.
        module: The name of the micro module that the file belongs to.
        modules: The sources by the modules' names.
        path: The file.

    Returns:
        None if the name leads to no class that is bound once.

    Raises:
        SourceError: a file on the way cannot be read.
    """
    for _ in range(_MOST_HOPS):
        top = modules[module].top_level(path)
        if top.bound.get(name) != 1:
            return None
        if name in top.classes:
            return ClassSource(module, path, top.classes[name])
        source = top.imports.get(name)
        if source is None or source.level == 0:
            return None
        # the dots of `implementation/a/b.py` are `implementation/a`, `implementation`, then the siblings
        folders = path.split("/")[:-1]
        if source.level > len(folders):
            if source.level > len(folders) + 1 or source.module not in modules:
                return ClassSource(source.module, path, None)
            module, target = source.module, ENTRY_FILE
        else:
            folder = "/".join(folders[: len(folders) + 1 - source.level])
            target = imported_file(modules[module], folder, source.module)
        if target is None or target not in modules[module]:
            return None
        path, name = target, source.name
    return None


def described_surfaces(modules: Mapping[str, ParsedFiles]) -> dict[str, Any]:
    """What tests and examples may see of modules, as JSON.

    Whether that is the contract's surface is for the surface stage, before anything runs.

    Args:
        modules: The sources by the modules' names, dependencies too.

    Returns:
        By module: `functions`, whether each is async, and `classes`, a description of each.
    """
    return {name: _described_surface(name, modules) for name in modules}


def _described_surface(module: str, modules: Mapping[str, ParsedFiles]) -> dict[str, Any]:
    functions: dict[str, bool] = {}
    classes: list[dict[str, Any]] = []
    try:
        top = modules[module].top_level(ENTRY_FILE)
    except (KeyError, SourceError):
        return {"functions": functions, "classes": classes}
    for export in top.exports:
        if export in top.functions:
            functions[export] = isinstance(top.functions[export], ast.AsyncFunctionDef)
        elif source := _defined_class(export, module, modules):
            # a module that renames a class exports it by its new name
            classes.append({**_description(source, modules, _MOST_HOPS), "name": export})
    return {"functions": functions, "classes": classes}


def _defined_class(
    name: str, module: str, modules: Mapping[str, ParsedFiles], path: str = ENTRY_FILE
) -> ClassSource | None:
    try:
        source = find_class(name, module, modules, path)
    except SourceError:
        return None
    return source if source and source.node else None


def _description(source: ClassSource, modules: Mapping[str, ParsedFiles], hops: int) -> dict[str, Any]:
    assert source.node is not None  # `_defined_class`
    base: dict[str, Any] = {
        "id": f"{source.module}/{source.path}:{source.node.name}",
        "module": f"modules.{source.module}",
        "name": source.node.name,
    }
    try:
        statement = read_class(source)
    except SourceError:
        return {**base, "kind": "exception", "bases": _bases(source, modules, hops - 1)}
    return {**base, "kind": statement.kind, "fields": [[f.name, f.type, f.default] for f in statement.fields]}


def _bases(source: ClassSource, modules: Mapping[str, ParsedFiles], hops: int) -> list[str | dict[str, Any]]:
    bases: list[str | dict[str, Any]] = []
    for node in source.node.bases if source.node and hops else []:
        name = ast.unparse(node)
        other = _defined_class(name, source.module, modules, source.path)
        kind = getattr(builtins, name, None)
        if other is not None:
            bases.append(_description(other, modules, hops))
        elif isinstance(kind, type) and issubclass(kind, BaseException):
            bases.append(name)
    return bases or ["Exception"]


def read_class(source: ClassSource) -> ClassStatement:
    """What a class of the module is made of.

    Raises:
        SourceError: `surface.class`; it is of no kind that crosses the boundary, or more than its fields.
    """
    node = source.node
    assert node is not None  # callers ask for the module's own classes only
    kind = _kind(node)
    if kind is None:
        raise _not_field_only(
            source, node.name, "make it a frozen dataclass, a TypedDict or an Enum, with no other base"
        )
    body = node.body
    if ast.get_docstring(node) is not None:
        body = body[1:]
    fields = tuple(_field(part, kind, source, node.name) for part in body if not isinstance(part, ast.Pass))
    statement = ClassStatement(node.name, kind, fields)
    if problems := statement.problems():
        raise _not_field_only(source, node.name, "; ".join(problems))
    return statement


def _not_field_only(source: ClassSource, name: str, message: str) -> SourceError:
    return SourceError(
        FindingCode.SURFACE_CLASS, source.location, f"{name} cannot cross the boundary: {message}"
    )


def _kind(node: ast.ClassDef) -> str | None:
    bases = [ast.unparse(base) for base in node.bases]
    if node.keywords:
        return None
    if not bases and len(node.decorator_list) == 1 and _is_frozen(node.decorator_list[0]):
        return "frozen dataclass"
    if len(bases) == 1 and not node.decorator_list and bases[0] in _KINDS:
        return bases[0]
    return None


def _is_frozen(decorator: ast.expr) -> bool:
    """`@dataclass(frozen=True)`, with `slots=True` at most."""
    if not (isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "dataclass") or decorator.args:
        return False
    options = {keyword.arg: ast.unparse(keyword.value) for keyword in decorator.keywords}
    return (
        options.pop("frozen", "") == "True"
        and options.pop("slots", "True") in {"True", "False"}
        and not options
    )


def _field(node: ast.stmt, kind: str, source: ClassSource, name: str) -> Field:
    is_enum = kind.endswith("Enum")
    match node:
        case ast.AnnAssign(target=ast.Name(id=field), annotation=annotation, value=value) if not is_enum:
            return Field(
                field, ast.unparse(annotation), "" if value is None else _literal(value, source, name)
            )
        case ast.Assign(targets=[ast.Name(id=field)], value=value) if is_enum:
            return Field(field, "", _literal(value, source, name))
        case _:
            raise _not_field_only(
                source, name, f"it may hold nothing but its fields; move line {node.lineno} out of the class"
            )


def _literal(node: ast.expr, source: ClassSource, name: str) -> str:
    text = ast.unparse(node)
    if problem := literal_problem(text):
        raise _not_field_only(source, name, f"a value must be a literal: {problem}")
    return text
