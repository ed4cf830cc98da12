"""The public surface of a module: its five dimensions, read from its source without importing it, and compared with the
contract (design: sealing, ship-gate).

griffe reads the signature and the docstring; the syntax tree tells that the exported names mean these functions and
classes. Differences that a contract can have end up in the dimensions, so that they show as a mismatch; a `SourceError`
is raised only where there is nothing to compare.

Docstrings are in the Google style, held to the stricter grammar of docs/design.md#module-directory: a section that a
contract does not know, prose after the purpose or a line that is no entry is refused rather than dropped, because a dropped
line would be a difference that nobody sees.
"""

import ast
import builtins
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import griffe

from ship_gate import canonical_json
from ship_gate.contract.class_statement import ClassStatement, parse_statement, placed
from ship_gate.contract.contract import DIMENSIONS, MicroModuleContract, fingerprint
from ship_gate.contract.docstring import error_fields
from ship_gate.contract.error_classes import base_of, error_classes, is_builtin_exception, own_exceptions
from ship_gate.contract.rules import (
    ANY_NUMBER,
    DEFAULT,
    DEFINITIONS,
    KEYWORD_ONLY,
    output_name,
    own_statements,
)
from ship_gate.contract.types import class_names, normal_or_same
from ship_gate.findings import Finding, FindingCode
from ship_gate.source.classes import (
    ClassSource,
    annotated_fields,
    builtin_bases,
    default_text,
    find_class,
    read_class,
    type_text,
)
from ship_gate.source.files import ParsedFiles, SourceError, TopLevel
from ship_gate.syntax_tree import parse_expression
from ship_gate.verdict import ENTRY_FILE, SealedModule

_EFFECT = re.compile(r"(?P<type>[A-Z]+) `(?P<target>[^`]+)`: (?P<description>.+)")
_ERROR = re.compile(r"(?P<name>\S+) \[(?P<surface>code|variant)\]: (?P<when>.+)")
_CLASS = re.compile(r"(?P<name>\w+)(?: is an? (?P<base>\w+))?(?:: (?P<shared>.+))?")
_SECTIONS = ("parameters", "returns", "raises", "error-classes", "errors", "effects", "modes")


class _DocstringSections(NamedTuple):
    """The docstring's sections in the shape of a contract's dimensions; what is absent is empty."""

    parameters: dict[str, list[str]]
    returns: list[tuple[str, list[str]]]
    raises: list[dict[str, str]]
    errors: list[dict[str, str]]
    effects: list[dict[str, str]]
    notes: str
    classes: dict[str, dict[str, str]]


class _Reader(NamedTuple):
    location: str

    def fault(self, message: str) -> SourceError:
        return SourceError(FindingCode.SURFACE_DOCSTRING, self.location, message)

    def bullets(self, text: str) -> list[str]:
        """`- one per line`."""
        lines = [line for line in text.split("\n") if line]
        for line in lines:
            if not line.startswith("- "):
                raise self.fault(f"{line[:60]!r} is no entry; write each on one line, starting with `- `")
        return [line.removeprefix("- ") for line in lines]

    def matched(self, pattern: re.Pattern[str], texts: Iterable[str], shape: str) -> list[dict[str, str]]:
        found: list[dict[str, str]] = []
        for text in texts:
            if not (match := pattern.fullmatch(text)):
                raise self.fault(f"{text[:60]!r} cannot be read; write {shape}")
            found.append(match.groupdict())
        return found


def _read_docstring(docstring: griffe.Docstring | None, location: str) -> _DocstringSections:
    """Read a docstring.

    Raises:
        SourceError: `surface.docstring`; there is none, or it is not in the grammar.
    """
    reader = _Reader(location)
    if docstring is None:
        raise reader.fault("the entry point has no docstring; it carries the contract")
    sections = _sections(docstring, reader)
    parameters = {entry.name: reader.bullets(entry.description) for entry in sections.get("parameters", [])}
    if len(parameters) != len(sections.get("parameters", [])):
        raise reader.fault("Args names a parameter twice; name each once")
    errors = reader.bullets(sections.get("errors", ""))
    effects = reader.bullets(sections.get("effects", ""))
    return _DocstringSections(
        parameters=parameters,
        returns=[(entry.name, reader.bullets(entry.description)) for entry in sections.get("returns", [])],
        raises=[
            {"name": str(entry.annotation), "when": entry.description, "surface": "exception"}
            for entry in sections.get("raises", [])
        ],
        errors=reader.matched(_ERROR, errors, "`- NAME [code]: when` or `- NAME [variant]: when`"),
        effects=reader.matched(_EFFECT, effects, "`- WRITE `target`: description`"),
        notes=sections.get("modes", ""),
        classes=_error_classes(reader, sections),
    )


def _error_classes(reader: _Reader, sections: dict[str, Any]) -> dict[str, dict[str, str]]:
    """What is stated of each error class: its base, what holds for all its surfaces, or both."""
    shape = "`- NAME is a BASE: what always holds`"
    found: dict[str, dict[str, str]] = {}
    named = {str(entry.annotation) for entry in sections.get("raises", [])}
    for entry in reader.matched(_CLASS, reader.bullets(sections.get("error-classes", "")), shape):
        name = entry.pop("name")
        if name not in named or name in found:
            raise reader.fault(f"{name} is twice among the error classes or not raised; name each once")
        found[name] = {part: text for part, text in entry.items() if text}
    return found


def _sections(docstring: griffe.Docstring, reader: _Reader) -> dict[str, Any]:
    """The sections by their kind; griffe calls those that it does not know admonitions."""
    found: dict[str, Any] = {}
    for place, section in enumerate(docstring.parse("google", warnings=False)):
        kind, value = str(section.kind.value), section.value
        if kind == "admonition":
            kind, value = value.kind, value.contents
        if place == 0 and kind == "text":
            if "\n" in value.strip():
                raise reader.fault("the purpose is more than one line; say it in one")
            continue
        if kind not in _SECTIONS or kind in found:
            raise reader.fault(f"the section {kind!r} occurs twice or belongs to no contract; take it out")
        found[kind] = value
    return found


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


def _of_definitions(source: _Source) -> _DocstringSections | None:
    """The docstring of a module that has no function and says so."""
    if any(exported in source.top.functions for exported in source.top.exports):
        return None
    if source.module.docstring is None or DEFINITIONS not in source.module.docstring.value:
        return None
    prose = _read_docstring(source.module.docstring, ENTRY_FILE)
    return prose if prose.notes == DEFINITIONS else None


def _definitions(source: _Source, prose: _DocstringSections) -> dict[str, Any]:
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
    prose = _read_docstring(function.docstring, f"{ENTRY_FILE}:{source.top.functions[entry].lineno}")
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


def _with_classes(prose: _DocstringSections, source: _Source) -> list[dict[str, Any]]:
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
    arguments: ast.arguments, source: _Source, prose: _DocstringSections, entry: str
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


def _outputs(returns: str, prose: _DocstringSections) -> list[_Slot]:
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
    prose: _DocstringSections,
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


_MOST_SHOWN = 5
_TEXTS = {"inputs": "constraints", "outputs": "invariants"}


class SurfaceComparison(NamedTuple):
    """What the surface stage observed.

    Args:
        actual: The fingerprint of the extracted surface; empty if there is none.
        diverged: The dimensions that differ, each with both sides.
        findings: What to change.
    """

    actual: str
    diverged: dict[str, str]
    findings: list[Finding]


def compare_surface(
    files: ParsedFiles, contract: MicroModuleContract, dependencies: Sequence[SealedModule] = ()
) -> SurfaceComparison:
    """Extract a candidate's surface and compare it with its locked contract's.

    Args:
        files: The candidate's.
        contract: Its locked one.
        dependencies: The modules whose classes it may import.
    """
    try:
        actual = extract_surface(files, contract.name, imported_classes(contract, dependencies))
    except SourceError as error:
        return SurfaceComparison("", {}, [error.finding])
    locked, extracted = contract.interface_fingerprint, fingerprint(actual)
    if extracted == locked:
        return SurfaceComparison(extracted, {}, list(_other_bases(files, contract, dependencies)))
    dimensions = contract.dimensions()
    diverged = {
        name: f"contract: {_shown(dimensions[name])}; source: {_shown(actual[name])}"
        for name in DIMENSIONS
        if dimensions[name] != actual[name]
    }
    # docs/design.md#sealing: literally
    message = f"Interface fingerprint mismatch: expected {locked}, got {extracted}"
    findings = [Finding(FindingCode.SURFACE_MISMATCH, ENTRY_FILE, message)]
    for name in diverged:
        found = [*_differences(name, dimensions[name], actual[name])]
        more = f" (and {len(found) - _MOST_SHOWN} more)" if len(found) > _MOST_SHOWN else ""
        advice = f"{'; '.join(found[:_MOST_SHOWN])}{more}; {_advice(name, dimensions, actual)}"
        findings.append(Finding(FindingCode.SURFACE_DIVERGED, f"{ENTRY_FILE}#/{name}", advice))
    return SurfaceComparison(extracted, diverged, findings)


def _other_bases(
    files: ParsedFiles, contract: MicroModuleContract, dependencies: Sequence[SealedModule]
) -> Iterator[Finding]:
    """Exceptions that do not derive from the exception of Python that the contract states, or that the words of their
    surfaces name; a stated base is the only one, and holds of a class that is imported as well."""
    own = {contract.name: files}
    for name in own_exceptions(contract):
        is_stated = name in error_classes(contract) and bool(error_classes(contract)[name].base)
        stated = base_of(contract, name)
        modules = {**own, **_sources(dependencies)} if is_stated else own
        source = find_class(name, contract.name, modules)
        if (stated == "Exception" and not is_stated) or source is None or source.node is None:
            continue
        found = builtin_bases(source, modules)
        kinds = [getattr(builtins, base) for base in found]
        fits = any(issubclass(kind, getattr(builtins, stated)) for kind in kinds)
        if found != {stated} if is_stated else not fits:
            bases = " and ".join(sorted(found))
            message = (
                f"by the contract {name} is a {stated}, here it derives from {bases}; derive it from {stated}"
            )
            yield Finding(FindingCode.SURFACE_CLASS, source.location, message)


def imported_classes(contract: MicroModuleContract, dependencies: Sequence[SealedModule]) -> Imported:
    """The sources of dependencies, where the contract describes a class that may be theirs."""
    described = {*own_statements(contract), *error_fields(contract)}
    return Imported(_sources(dependencies), described) if described else Imported()


def _sources(dependencies: Sequence[SealedModule]) -> dict[str, ParsedFiles]:
    return {
        d.contract.name: ParsedFiles.of_implementation(d.directory / "implementation") for d in dependencies
    }


def _differences(place: str, locked: Any, actual: Any) -> Iterator[str]:
    """Where two sides differ, each place with what both say."""
    kinds: set[type] = {type(locked), type(actual)}
    if kinds == {dict}:
        for key in {**locked, **actual}:
            yield from _differences(f"{place}.{key}", locked.get(key), actual.get(key))
    elif kinds == {list}:
        yield from _list_differences(place, locked, actual)
    elif locked != actual:
        yield f"{place}: the contract says {_label(locked)}, the source says {_label(actual)}"


def _list_differences(place: str, locked: list[Any], actual: list[Any]) -> Iterator[str]:
    if len(locked) == len(actual):
        for index, both in enumerate(zip(locked, actual, strict=True)):
            yield from _differences(f"{place}.{index}", *both)
        return
    for said, others, who in ((locked, actual, "the contract"), (actual, locked, "the source")):
        if alone := [_label(item) for item in said if item not in others]:
            yield f"{place}: only {who} has {', '.join(alone)}"


def _label(value: Any) -> str:
    """A part of a dimension: a slot by its name and type, anything else as JSON."""
    if hasattr(value, "keys") and {"name", "type"} <= value.keys():
        return f"`{value['name']}: {value['type']}`"
    return "nothing" if value is None else _shown(value)


def _advice(name: str, locked: dict[str, Any], actual: dict[str, Any]) -> str:
    """What to change; where a contract names a class and does not say what it is made of, no code can match it."""
    stated, declared = _statements(name, locked), _statements(name, actual)
    if unstated := [declared[of].render() for of in declared if of not in stated]:
        return (
            f"the contract has to state what its classes are made of, as the last constraint of the slot that names "
            f"them first: {'; '.join(unstated)}"
        )
    return "change the code to match it"


def _statements(name: str, dimensions: dict[str, Any]) -> dict[str, ClassStatement]:
    texts = [text for slot in dimensions[name] for text in slot[_TEXTS[name]]] if name in _TEXTS else []
    return {statement.name: statement for text in texts if (statement := parse_statement(text))}


def _shown(value: object) -> str:
    return canonical_json.canonical(value).decode()
