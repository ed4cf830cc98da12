"""The classes that a module exports at its boundary, read from their source (DESIGN §8.1, D-S8-22).

A class is found where the module binds its name: in `__init__.py`, in a file beside it, or in a sibling
module that is a declared dependency. Those of the module itself are field-only, and their fields are part
of its surface."""

import ast
from pathlib import Path
from typing import NamedTuple

from specwright.domain.boundary_types import literal_problem
from specwright.domain.class_statement import ClassStatement, Field
from specwright.gate.top_level import SurfaceFault, TopLevel, parse_source, read_top_level

__all__ = ["Origin", "find_class", "read_class"]

_KINDS = {"TypedDict", "Enum", "StrEnum", "IntEnum"}
_MOST_HOPS = 8


class Origin(NamedTuple):
    """Where a class is defined; `definition` is None if it belongs to a sibling module."""

    where: str
    definition: ast.ClassDef | None


def find_class(name: str, top: TopLevel, implementation_dir: Path) -> Origin | None:
    """Follow a name to its class; None if it leads to no class of the module or of a sibling."""
    folder = implementation_dir
    for _ in range(_MOST_HOPS):
        if name in top.classes:
            return Origin(f"{top.where}:{top.classes[name].lineno}", top.classes[name])
        source = top.imports.get(name)
        if source is None or source.level == 0:
            return None
        above = folder
        for _step in range(source.level - 1):
            above = above.parent
        if not above.is_relative_to(implementation_dir):
            return Origin(top.where, None)
        file = _file_of(above, source.module)
        if file is None:
            return None
        where = f"implementation/{file.relative_to(implementation_dir).as_posix()}"
        top = read_top_level(parse_source(file.read_bytes(), where), where)
        name, folder = source.name, file.parent
    return None


def read_class(origin: Origin) -> ClassStatement:
    """What a class of the module is made of.

    Raises:
        SurfaceFault: `surface.class`; it is of no kind that crosses the boundary, or more than its fields.
    """
    node = origin.definition
    assert node is not None  # callers ask for the module's own classes only
    kind = _kind(node)
    if kind is None:
        raise _fault(
            origin, node.name, "make it a frozen dataclass, a TypedDict or an Enum, with no other base"
        )
    body = node.body
    if ast.get_docstring(node) is not None:
        body = body[1:]
    fields = tuple(_field(part, kind, origin, node.name) for part in body if not isinstance(part, ast.Pass))
    statement = ClassStatement(node.name, kind, fields)
    if problems := statement.problems():
        raise _fault(origin, node.name, "; ".join(problems))
    return statement


def _fault(origin: Origin, name: str, message: str) -> SurfaceFault:
    return SurfaceFault("surface.class", origin.where, f"{name} cannot cross the boundary: {message}")


def _file_of(folder: Path, module: str) -> Path | None:
    target = folder.joinpath(*module.split(".")) if module else folder
    candidates = (
        [target / "__init__.py"] if not module else [target.with_suffix(".py"), target / "__init__.py"]
    )
    return next((file for file in candidates if file.is_file()), None)


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


def _field(node: ast.stmt, kind: str, origin: Origin, name: str) -> Field:
    is_enum = kind.endswith("Enum")
    match node:
        case ast.AnnAssign(target=ast.Name(id=field), annotation=annotation, value=value) if not is_enum:
            return Field(
                field, ast.unparse(annotation), "" if value is None else _literal(value, origin, name)
            )
        case ast.Assign(targets=[ast.Name(id=field)], value=value) if is_enum:
            return Field(field, "", _literal(value, origin, name))
        case _:
            raise _fault(
                origin, name, f"it may hold nothing but its fields; move line {node.lineno} out of the class"
            )


def _literal(node: ast.expr, origin: Origin, name: str) -> str:
    text = ast.unparse(node)
    if problem := literal_problem(text):
        raise _fault(origin, name, f"a value must be a literal: {problem}")
    return text
