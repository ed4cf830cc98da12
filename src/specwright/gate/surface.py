"""The surface of a module: its five dimensions, read from its source without importing it (DESIGN §8,
D-S8-02).

griffe reads the signature and the docstring; the syntax tree tells that the exported names mean these
functions and classes. Differences that a contract can have end up in the dimensions, so that they show as a
mismatch; a `SurfaceFault` is raised only where there is nothing to compare:

    source.unreadable    not UTF-8, not Python, or missing
    surface.exports      `__all__` is no literal, or holds too little or too much
    surface.entry_point  the function of the contract's name is missing, bound twice or decorated
    surface.parameters   a parameter is not plain positional-or-keyword, or has no annotation
    surface.twins        `f` and `f_async` differ
    surface.docstring    there is none, or it is not in the grammar of §8.1
    surface.class        an exported class is not field-only
    surface.name         a type's name does not mean the boundary type, or is bound to nothing
    surface.star_import  names are hidden
"""

import ast
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import griffe

from specwright.domain.boundary_types import (
    BOUNDARY_IMPORTS,
    class_names,
    is_class_name,
    named,
    normal_or_same,
)
from specwright.domain.class_statement import ClassStatement, placed
from specwright.domain.contract_rules import DEFAULT, is_builtin_exception
from specwright.gate.exported_classes import find_class, read_class
from specwright.gate.prose import Prose, read_prose
from specwright.gate.top_level import Import, SurfaceFault, TopLevel, parse_source, read_top_level
from specwright.syntax_tree import parse_expression

__all__ = ["SurfaceFault", "extract_surface"]

_WHERE = "implementation/__init__.py"


class _Slot(NamedTuple):
    """An input or output: what the docstring says of it, and what the code declares."""

    name: str
    type: str
    texts: list[str]
    default: str | None = None


class _Source(NamedTuple):
    directory: Path
    top: TopLevel
    module: griffe.Module


def extract_surface(implementation_dir: Path, name: str) -> dict[str, Any]:
    """The five dimensions as `MicroModuleContract.dimensions()` gives them.

    Args:
        implementation_dir: The directory that holds `__init__.py`.
        name: The contract's name, which is the entry point's (D21).

    Raises:
        SurfaceFault: there is no surface to compare; see the codes above.
    """
    source = _read(implementation_dir)
    entries = _entry_points(source.top, name)
    surfaces = [_surface(source, entry) for entry in entries]
    for dimension, value in surfaces[0].items():
        if value != surfaces[-1][dimension]:
            raise SurfaceFault(
                "surface.twins", _WHERE, f"{' and '.join(entries)} differ in {dimension}; align them"
            )
    awaited = ["async" in source.module[entry].labels for entry in entries]
    notes = surfaces[0]["modes"]["notes"]
    return {**surfaces[0], "modes": {"sync": not all(awaited), "async": any(awaited), "notes": notes}}


def _read(directory: Path) -> _Source:
    file = directory / "__init__.py"
    if not file.is_file():
        raise SurfaceFault("source.unreadable", _WHERE, "the file is missing; it holds the entry point")
    code = file.read_bytes()
    top = read_top_level(parse_source(code, _WHERE), _WHERE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # a Path, not a text: griffe resolves relative imports by its parents
            module = griffe.visit(directory.name, filepath=file, code=code.decode("utf-8-sig"))
    except RecursionError as error:
        raise SurfaceFault(
            "source.unreadable", _WHERE, "the file is nested too deeply; simplify it"
        ) from error
    return _Source(directory, top, module)


def _entry_points(top: TopLevel, name: str) -> list[str]:
    if not top.exports:
        raise SurfaceFault("surface.exports", _WHERE, f'there is no `__all__`; write `__all__ = ["{name}"]`')
    functions = [exported for exported in top.exports if exported in top.functions]
    if name not in functions:
        raise SurfaceFault(
            "surface.entry_point", _WHERE, f"no function {name} is defined here and in `__all__`; add it"
        )
    if extra := set(functions) - {name, f"{name}_async"}:
        raise SurfaceFault(
            "surface.exports", _WHERE, f"{sorted(extra)} in `__all__` are further functions; remove them"
        )
    for entry in functions:
        node = top.functions[entry]
        if node.decorator_list or top.bound.get(entry, 0) != 1 or getattr(node, "type_params", []):
            message = f"{entry} is decorated, generic or bound more than once; leave one plain `def {entry}`"
            raise SurfaceFault("surface.entry_point", f"{_WHERE}:{node.lineno}", message)
    ordered = [name, *(entry for entry in functions if entry != name)]
    kinds = [type(top.functions[entry]).__name__ for entry in ordered]
    if len(ordered) == 2 and kinds != ["FunctionDef", "AsyncFunctionDef"]:
        raise SurfaceFault("surface.twins", _WHERE, f"make {name} a `def` and {name}_async an `async def`")
    return ordered


def _surface(source: _Source, entry: str) -> dict[str, Any]:
    function = source.module[entry]
    prose = read_prose(function.docstring, f"{_WHERE}:{source.top.functions[entry].lineno}")
    inputs = [_input(parameter, prose, entry) for parameter in function.parameters]
    outputs = _outputs(_annotation(function.returns, f"what {entry} returns"), prose)
    types = [slot.type for slot in (*inputs, *outputs)]
    classes = _own_classes(source, types)
    _check_names(
        source.top, [*types, *(field.type for own in classes.values() for field in own.fields if field.type)]
    )
    _check_exports(source, prose, inputs, outputs, classes)
    texts = [
        [
            *slot.texts,
            *(own.render() for own in due),
            *([] if slot.default is None else [DEFAULT + slot.default]),
        ]
        for slot, due in zip((*inputs, *outputs), placed(types, classes), strict=True)
    ]
    return {
        "inputs": [
            {"name": slot.name, "type": slot.type, "constraints": own}
            for slot, own in zip(inputs, texts[: len(inputs)], strict=True)
        ],
        "outputs": [
            {"name": slot.name, "type": slot.type, "invariants": own}
            for slot, own in zip(outputs, texts[len(inputs) :], strict=True)
        ],
        "error_surfaces": prose.raises + prose.errors,
        "effects": prose.effects,
        "modes": {"notes": prose.notes},
    }


def _annotation(annotation: object, what: str) -> str:
    if annotation is None:
        raise SurfaceFault(
            "surface.parameters", _WHERE, f"{what} has no annotation; write the contract's type"
        )
    return normal_or_same(str(annotation))


def _input(parameter: griffe.Parameter, prose: Prose, entry: str) -> _Slot:
    if parameter.kind is not griffe.ParameterKind.positional_or_keyword:
        message = f"{parameter.name} of {entry} is {parameter.kind}; make it a plain parameter"
        raise SurfaceFault("surface.parameters", _WHERE, message)
    default = None if parameter.default is None else normal_or_same(str(parameter.default))
    declared = _annotation(parameter.annotation, f"the parameter {parameter.name} of {entry}")
    # a parameter that the docstring does not know differs from every contract, and shows as a mismatch
    return _Slot(parameter.name, declared, prose.parameters.get(parameter.name, []), default)


def _outputs(returns: str, prose: Prose) -> list[_Slot]:
    if returns == "None":
        return []
    types = _tuple_elements(returns) if len(prose.returns) > 1 else [returns]
    if len(types) != max(1, len(prose.returns)):
        types = [returns]
    names = prose.returns or [("result", [])]
    return [_Slot(name, declared, texts) for (name, texts), declared in zip(names, types, strict=False)]


def _tuple_elements(text: str) -> list[str]:
    node = parse_expression(text).body
    match node:
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=elements)):
            return [ast.unparse(element) for element in elements]
        case _:
            return []


def _own_classes(source: _Source, types: list[str]) -> dict[str, ClassStatement]:
    """The classes of the module itself that its types name, with those that their fields name."""
    found: dict[str, ClassStatement] = {}
    names = [name for text in types for name in class_names(text)]
    seen: set[str] = set()
    while names:
        name = names.pop(0)
        if name in seen:
            continue
        seen.add(name)
        origin = find_class(name, source.top, source.directory)
        if origin is None or source.top.bound.get(name, 0) != 1:
            message = f"{name} is no class of this module or of a sibling, bound once; define or import it"
            raise SurfaceFault("surface.name", _WHERE, message)
        if origin.definition is not None:
            found[name] = read_class(origin)
            names += found[name].names()
    return found


def _check_names(top: TopLevel, types: list[str]) -> None:
    """A bare name in a type must mean the boundary's type, not something that borrows its name."""
    for name in dict.fromkeys(name for text in types for name in _named_or_none(text)):
        if name in BOUNDARY_IMPORTS:
            if top.imports.get(name) != Import(0, BOUNDARY_IMPORTS[name], name) or top.bound.get(name) != 1:
                message = (
                    f"{name} must come from `from {BOUNDARY_IMPORTS[name]} import {name}`, once, at the top"
                )
                raise SurfaceFault("surface.name", top.where, message)
        elif not is_class_name(name) and name in top.bound:
            raise SurfaceFault(
                "surface.name", top.where, f"{name} is bound anew; leave Python's own name alone"
            )


def _named_or_none(text: str) -> tuple[str, ...]:
    try:
        return named(text)
    except ValueError:
        return ()


def _check_exports(
    source: _Source, prose: Prose, inputs: list[_Slot], outputs: list[_Slot], own: dict[str, ClassStatement]
) -> None:
    """`__all__` holds the exceptions and output classes that the contract names, and the module's own."""
    raised = {error["name"] for error in prose.raises if not is_builtin_exception(error["name"])}
    returned = {name for slot in outputs for name in class_names(slot.type)}
    taken = {name for slot in inputs for name in class_names(slot.type)}
    exported = set(source.top.exports) - set(source.top.functions)
    if missing := (raised | returned | set(own)) - exported:
        raise SurfaceFault(
            "surface.exports", _WHERE, f"`__all__` lacks {sorted(missing)}, which the contract names; add it"
        )
    if extra := exported - raised - returned - taken - set(own):
        raise SurfaceFault(
            "surface.exports", _WHERE, f"`__all__` holds {sorted(extra)}, which no contract names; remove it"
        )
    for name in sorted(raised):
        if source.top.bound.get(name) != 1 or not (name in source.top.classes or name in source.top.imports):
            message = f"the exception {name} is not defined or imported here, once; add the class"
            raise SurfaceFault("surface.name", _WHERE, message)
