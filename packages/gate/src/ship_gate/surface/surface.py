"""The surface of a module: its five dimensions, read from its source without importing it (design: ship-gate).

griffe reads the signature and the docstring; the syntax tree tells that the exported names mean these functions and
classes. Differences that a contract can have end up in the dimensions, so that they show as a mismatch; a `SourceError`
is raised only where there is nothing to compare.
"""

import ast
import warnings
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import griffe

from ship_gate.contract.class_statement import ClassStatement, placed
from ship_gate.contract.error_classes import is_builtin_exception
from ship_gate.contract.rules import (
    ANY_NUMBER,
    DEFAULT,
    DEFINITIONS,
    KEYWORD_ONLY,
    output_name,
)
from ship_gate.contract.types import class_names, normal_or_same
from ship_gate.findings import FindingCode
from ship_gate.source.classes import (
    ClassSource,
    annotated_fields,
    default_text,
    find_class,
    read_class,
    type_text,
)
from ship_gate.source.files import ParsedFiles, SourceError, TopLevel
from ship_gate.surface.docstring_reader import DocstringSections, read_docstring
from ship_gate.syntax_tree import parse_expression
from ship_gate.verdict import ENTRY_FILE


class _Slot(NamedTuple):
    """An input or output: what the docstring says of it, and what the code declares.

    Args:
        name: Its own.
        type: In normal form.
        texts: Of the docstring.
        passing: How it is passed, if not plainly.
        default: Its constant.
    """

    name: str
    type: str
    texts: list[str]
    passing: tuple[str, ...] = ()
    default: str | None = None


class Imported(NamedTuple):
    """What a surface may say of classes that its module imports from its dependencies.

    Args:
        modules: The sources of the dependencies, by their names.
        described: The classes that the contract describes itself; of others it says no more than the name.
    """

    modules: Mapping[str, ParsedFiles] = MappingProxyType({})
    described: Collection[str] = ()


class _Source(NamedTuple):
    name: str
    files: ParsedFiles
    top: TopLevel
    module: griffe.Module
    imported: Imported

    def find(self, name: str, module: str = "", path: str = ENTRY_FILE) -> ClassSource | None:
        """A class by its name in a file; without its definition where the contract does not describe it."""
        modules = {self.name: self.files, **self.imported.modules}
        found = find_class(name, module or self.name, modules, path)
        described = found is None or found.module == self.name or name in self.imported.described
        return found if found is None or described else found._replace(node=None, top=None, alias=None)


def extract_surface(files: ParsedFiles, name: str, imported: Imported = Imported()) -> dict[str, Any]:  # noqa: B008 - immutable
    """The five dimensions as `MicroModuleContract.dimensions()` gives them.

    Args:
        files: The files of the module.
        name: The contract's name, which is the entry point's (design: contracts).
        imported: What is known of classes that the module imports.

    Raises:
        SourceError: there is no surface to compare.
    """
    source = _read(files, name, imported)
    if (prose := _of_definitions(source)) is not None:
        return _definitions(source, prose)
    entries = _entry_points(source.top, name)
    surfaces = [_surface(source, entry) for entry in entries]
    for dimension, value in surfaces[0].items():
        if value != surfaces[-1][dimension]:
            message = f"{' and '.join(entries)} differ in {dimension}; align them"
            raise SourceError(FindingCode.SURFACE_TWINS, ENTRY_FILE, message)
    awaited = ["async" in source.module[entry].labels for entry in entries]
    notes = surfaces[0]["modes"]["notes"]
    return {**surfaces[0], "modes": {"sync": not all(awaited), "async": any(awaited), "notes": notes}}


def _read(files: ParsedFiles, name: str, imported: Imported) -> _Source:
    if ENTRY_FILE not in files:
        message = "the file is missing; it holds the entry point"
        raise SourceError(FindingCode.SOURCE_UNREADABLE, ENTRY_FILE, message)
    top = files.top_level(ENTRY_FILE)
    # a Path, not a text: griffe resolves relative imports by its parents
    path = Path("modules", name, "__init__.py")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = griffe.visit(name, filepath=path, code=files[ENTRY_FILE].decode("utf-8-sig"))
    except RecursionError as error:
        message = "the file is nested too deeply; simplify it"
        raise SourceError(FindingCode.SOURCE_UNREADABLE, ENTRY_FILE, message) from error
    return _Source(name, files, top, module, imported)


def _of_definitions(source: _Source) -> DocstringSections | None:
    """The docstring of a module that has no function and says so."""
    if any(exported in source.top.functions for exported in source.top.exports):
        return None
    if source.module.docstring is None or DEFINITIONS not in source.module.docstring.value:
        return None
    prose = read_docstring(source.module.docstring, ENTRY_FILE)
    return prose if prose.notes == DEFINITIONS else None


def _definitions(source: _Source, prose: DocstringSections) -> dict[str, Any]:
    """The dimensions of definitions: each class of the module is an output, each exception an error surface."""
    raised = {error["name"] for error in prose.raises}
    classes = [name for name in source.top.exports if name not in raised]
    origins = {name: source.find(name) for name in classes}
    own = [name for name, origin in origins.items() if origin is None or origin.module == source.name]
    known = _own_classes(source, own)
    said = {name: texts for name, texts in prose.returns if name}
    stated = [_Slot(output_name(name), name, said.pop(output_name(name), [])) for name in own]
    # what is said of no definition differs from every contract, and shows as a mismatch
    others = [{"name": name, "type": "", "invariants": texts} for name, texts in said.items()]
    _check_exports(source, prose, [], [_Slot(name, name, []) for name in classes], known)
    due = placed([slot.type for slot in stated], known)
    return {
        "inputs": [
            {"name": name, "type": "", "constraints": texts} for name, texts in prose.parameters.items()
        ],
        "outputs": [
            {
                "name": slot.name,
                "type": slot.type,
                "invariants": [*slot.texts, *(one.render() for one in found)],
            }
            for slot, found in zip(stated, due, strict=True)
        ]
        + others,
        "error_surfaces": _with_classes(prose, source) + prose.errors,
        "effects": prose.effects,
        "modes": {"sync": True, "async": False, "notes": prose.notes},
    }


def _entry_points(top: TopLevel, name: str) -> list[str]:
    if not top.exports:
        raise SourceError(
            FindingCode.SURFACE_EXPORTS, ENTRY_FILE, f'there is no `__all__`; write `__all__ = ["{name}"]`'
        )
    functions = [exported for exported in top.exports if exported in top.functions]
    if name not in functions:
        raise SourceError(
            FindingCode.SURFACE_ENTRY_POINT,
            ENTRY_FILE,
            f"no function {name} is defined here and in `__all__`; add it",
        )
    if extra := set(functions) - {name, f"{name}_async"}:
        raise SourceError(
            FindingCode.SURFACE_EXPORTS,
            ENTRY_FILE,
            f"{sorted(extra)} in `__all__` are further functions; remove them",
        )
    for entry in functions:
        node = top.functions[entry]
        if node.decorator_list or top.bound.get(entry, 0) != 1 or getattr(node, "type_params", []):
            message = f"{entry} is decorated, bound more than once or has type parameters; leave one plain `def {entry}`"
            raise SourceError(FindingCode.SURFACE_ENTRY_POINT, f"{ENTRY_FILE}:{node.lineno}", message)
    ordered = [name, *(entry for entry in functions if entry != name)]
    kinds = [type(top.functions[entry]).__name__ for entry in ordered]
    if len(ordered) == 2 and kinds != ["FunctionDef", "AsyncFunctionDef"]:
        raise SourceError(
            FindingCode.SURFACE_TWINS, ENTRY_FILE, f"make {name} a `def` and {name}_async an `async def`"
        )
    return ordered


def _surface(source: _Source, entry: str) -> dict[str, Any]:
    function = source.module[entry]
    prose = read_docstring(function.docstring, f"{ENTRY_FILE}:{source.top.functions[entry].lineno}")
    node = source.top.functions[entry]
    inputs = list(_inputs(node.args, source, prose, entry))
    outputs = _outputs(_annotation(node.returns, source, f"what {entry} returns"), prose)
    types = [slot.type for slot in (*inputs, *outputs)]
    classes = _own_classes(source, types)
    _check_exports(source, prose, inputs, outputs, classes)
    texts = [
        [
            *slot.texts,
            *(own.render() for own in due),
            *slot.passing,
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
        "error_surfaces": _with_classes(prose, source) + prose.errors,
        "effects": prose.effects,
        "modes": {"notes": prose.notes},
    }


def _with_classes(prose: DocstringSections, source: _Source) -> list[dict[str, Any]]:
    """The exceptions, the first of each class with what is stated of the class and the fields that it declares."""
    found: list[dict[str, Any]] = []
    for error in prose.raises:
        name = error["name"]
        is_first = all(name != other["name"] for other in found)
        own = None if is_builtin_exception(name) or not is_first else source.find(name)
        fields = [
            {"name": field, "type": normal_or_same(type_text(annotation, own.top))}
            for field, annotation in (annotated_fields(own) if own and own.top else [])
            if own and own.top and not field.startswith("_")
        ]
        stated = prose.classes.get(name, {}) if is_first else {}
        found.append({**error, **stated, **({"fields": fields} if fields else {})})
    return found


def _annotation(annotation: ast.expr | None, source: _Source, what: str) -> str:
    if annotation is None:
        raise SourceError(
            FindingCode.SURFACE_PARAMETERS, ENTRY_FILE, f"{what} has no annotation; write the contract's type"
        )
    return normal_or_same(type_text(annotation, source.top))


def _inputs(
    arguments: ast.arguments, source: _Source, prose: DocstringSections, entry: str
) -> Iterator[_Slot]:
    for refused in [*arguments.posonlyargs, *([arguments.kwarg] if arguments.kwarg else [])]:
        kind = "`**`" if refused is arguments.kwarg else "positional-only"
        message = f"{refused.arg} of {entry} is {kind}; make it a plain parameter"
        raise SourceError(FindingCode.SURFACE_PARAMETERS, ENTRY_FILE, message)

    def slot(argument: ast.arg, default: ast.expr | None, *passing: str) -> _Slot:
        declared = _annotation(argument.annotation, source, f"the parameter {argument.arg} of {entry}")
        text = None if default is None else default_text(default, source.top)
        # a parameter that the docstring does not know differs from every contract, and shows as a mismatch
        return _Slot(argument.arg, declared, prose.parameters.get(argument.arg, []), passing, text)

    plain: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
    for argument, default in zip(arguments.args, [*plain, *arguments.defaults], strict=True):
        yield slot(argument, default)
    if arguments.vararg:
        yield slot(arguments.vararg, None, ANY_NUMBER)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield slot(argument, default, KEYWORD_ONLY)


def _outputs(returns: str, prose: DocstringSections) -> list[_Slot]:
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
    """The classes that its types name, with those that their fields name: the module's own, and imported ones that the
    contract describes."""
    found: dict[str, ClassStatement] = {}
    names = [(name, source.name, ENTRY_FILE) for text in types for name in class_names(text)]
    seen: set[str] = set()
    while names:
        name, module, path = names.pop(0)
        if name in seen:
            continue
        seen.add(name)
        origin = source.find(name, module, path)
        if origin is None:
            message = f"{name} is no class of this module or of a sibling, bound once; define or import it"
            raise SourceError(FindingCode.SURFACE_NAME, ENTRY_FILE, message)
        if origin.is_defined:
            found[name] = read_class(origin)
            names += [(used, origin.module, origin.path) for used in found[name].names()]
    return found


def _check_exports(
    source: _Source,
    prose: DocstringSections,
    inputs: list[_Slot],
    outputs: list[_Slot],
    own: dict[str, ClassStatement],
) -> None:
    """`__all__` holds the exceptions and output classes that the contract names, and the module's own; it may hold those
    of inputs and of fields, as the stub has them."""
    raised = {error["name"] for error in prose.raises if not is_builtin_exception(error["name"])}
    returned = {name for slot in outputs for name in class_names(slot.type)}
    taken = {name for slot in inputs for name in class_names(slot.type)}
    taken |= {name for stated in own.values() for name in stated.names()}
    exported = set(source.top.exports) - set(source.top.functions)
    if missing := (raised | returned | set(own)) - exported:
        raise SourceError(
            FindingCode.SURFACE_EXPORTS,
            ENTRY_FILE,
            f"`__all__` lacks {sorted(missing)}, which the contract names; add it",
        )
    if extra := exported - raised - returned - taken - set(own):
        raise SourceError(
            FindingCode.SURFACE_EXPORTS,
            ENTRY_FILE,
            f"`__all__` holds {sorted(extra)}, which no contract names; remove it",
        )
    for name in sorted(raised):
        if source.top.bound.get(name) != 1 or not (name in source.top.classes or name in source.top.imports):
            message = f"the exception {name} is not defined or imported here, once; add the class"
            raise SourceError(FindingCode.SURFACE_NAME, ENTRY_FILE, message)
