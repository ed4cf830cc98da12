"""A contract as source text: its docstring, and the stub from which an implementer starts (design: module-directory).

The docstring carries what a signature cannot say. What the code itself declares (names, types, defaults,
classes, sync or async) is written there alone, so that it can only be read from the code and prose cannot
cover a drift.

An exception that a contract names and Python does not have derives in the stub from the builtin class that the contract
states (`error_classes`), else from `Exception`, so that only its own name catches it: the contract promises the exact class,
and another base would let a test of one error surface pass on another. The statement is part of the fingerprint, and the
gate compares the class with it. A class that a contract names without stating its fields belongs to a
dependency; the stub imports it from that sibling module, or says in a comment that it must be imported."""

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ship_gate.base.boundary_values import TYPE_VARIABLE
from ship_gate.contract.class_statement import ClassStatement
from ship_gate.contract.contract import ErrorField, MicroModuleContract, SurfaceKind
from ship_gate.contract.error_classes import (
    ErrorClass,
    base_of,
    class_line,
    error_class,
    error_classes,
    own_exceptions,
)
from ship_gate.contract.rules import (
    adds_to_code,
    default_of,
    is_any_number,
    is_keyword_only,
    is_vocabulary,
    own_statements,
)
from ship_gate.contract.statements import entries
from ship_gate.contract.types import BOUNDARY_IMPORTS, class_names, is_generic, named, normal_or_same
from ship_gate.syntax_tree import parse_expression

_INDENT = "    "


class EntryPoint(NamedTuple):
    """A function through which callers reach the module."""

    name: str
    is_async: bool


def entry_points(contract: MicroModuleContract) -> tuple[EntryPoint, ...]:
    """The function of the contract's name, or with both modes `f` and `f_async` (design: contracts); none of definitions."""
    if is_vocabulary(contract):
        return ()
    names = (contract.name, f"{contract.name}_async")
    modes = zip(names, contract.modes.names, strict=False)
    return tuple(EntryPoint(name, is_async=mode == "async") for name, mode in modes)


def error_fields(contract: MicroModuleContract) -> dict[str, list[ErrorField]]:
    """The fields of each exception class that has some."""
    return {name: list(stated.fields) for name, stated in error_classes(contract).items() if stated.fields}


def public_names(contract: MicroModuleContract) -> tuple[str, ...]:
    """What a caller may import: entry points, the contract's own exceptions, every class in its types."""
    names = [entry.name for entry in entry_points(contract)]
    return tuple(dict.fromkeys([*names, *own_exceptions(contract), *named_classes(contract)]))


def return_type(contract: MicroModuleContract) -> str:
    """The annotation of what is returned: nothing, the one output, or a tuple of all."""
    types = [output.type for output in contract.outputs]
    if len(types) == 1:
        return types[0]
    return f"tuple[{', '.join(types)}]" if types else "None"


def signature_parameters(contract: MicroModuleContract) -> list[str]:
    """The parameters of an entry point as its signature has them, with `*` where those begin that are passed by keyword.

    Args:
        contract: Names them in the order of Python.
    """
    found: list[str] = []
    has_star = False
    for parameter in contract.inputs:
        if is_keyword_only(parameter) and not has_star:
            found.append("*")
        has_star = has_star or is_keyword_only(parameter) or is_any_number(parameter)
        default = default_of(parameter)
        value = "" if default is None else f" = {default}"
        found.append(f"{'*' * is_any_number(parameter)}{parameter.name}: {parameter.type}{value}")
    return found


def render_docstring(contract: MicroModuleContract) -> str:
    """The docstring of the entry point, unindented, as `inspect.cleandoc` gives it back."""
    return "\n\n".join(["\n".join(section) for section in _sections(contract)])


def docstring_literal(text: str, indent: str = _INDENT, newline: str = "\n") -> str:
    """A docstring's text as Python source, without the indentation of its first line."""
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    lines = [line and indent + line for line in escaped.split("\n")]
    return f'"""{newline.join(lines).removeprefix(indent)}{newline}{indent}"""'


def render_stub(contract: MicroModuleContract, siblings: Mapping[str, str] | None = None) -> str:
    """The source of `implementation/__init__.py` whose surface is the contract's and whose body is missing.

    Args:
        contract: One that has no problems.
        siblings: For classes and exceptions of dependencies, the name of the module that exports them.
    """
    siblings = siblings or {}
    about = [docstring_literal(render_docstring(contract), "")] if is_vocabulary(contract) else []
    blocks = ["\n\n".join([*about, _header(contract, siblings)])]
    blocks += [_exception(contract, name) for name in own_exceptions(contract) if name not in siblings]
    # a default of a dataclass may be a member of an Enum, and a named type may hold a dataclass
    stated = sorted(own_statements(contract).values(), key=lambda one: (one.is_named_type, not one.is_enum))
    types = {one.name for one in stated if one.is_named_type}
    blocks += [
        _named_type(one, types) if one.is_named_type else _class(one)
        for one in stated
        if one.name not in siblings
    ]
    blocks += [_function(contract, entry) for entry in entry_points(contract)]
    return "\n\n\n".join(blocks) + "\n"


def imported_classes(
    contract: MicroModuleContract, dependencies: Sequence[MicroModuleContract]
) -> dict[str, str]:
    """The classes that a module imports, by the name of the module that exports them: those of a dependency that the
    contract names, and does not describe as something else."""
    found: dict[str, str] = {}
    for name in (*own_exceptions(contract), *named_classes(contract)):
        for other in dependencies:
            exported = name in own_exceptions(other) or name in own_statements(other)
            if exported and not describes_otherwise(contract, name, other):
                found.setdefault(name, other.name)
    return found


def describes_otherwise(contract: MicroModuleContract, name: str, other: MicroModuleContract) -> bool:
    """Whether a contract says of a class, or of an exception, that it is made of something else than another says, which
    exports it."""
    stated, theirs = own_statements(contract), own_statements(other)
    if stated.get(name, theirs.get(name)) != theirs.get(name):
        return True
    return error_classes(contract).get(name, ErrorClass()).contradicts(error_class(other, name))


def named_classes(contract: MicroModuleContract) -> tuple[str, ...]:
    """The classes in its types, and in the fields of those that it states."""
    types = [slot.type for slot in (*contract.inputs, *contract.outputs)]
    fields = [
        name
        for statement in own_statements(contract).values()
        for name in (statement.name, *statement.names())
    ]
    return tuple(
        dict.fromkeys([*(name for text in types for name in class_names(normal_or_same(text))), *fields])
    )


def _sections(contract: MicroModuleContract) -> Iterator[list[str]]:
    errors = [one for one, _ in entries(contract, "error_surfaces")]
    raised = [one for one in errors if one.form == SurfaceKind.EXCEPTION]
    classes = [class_line(name, stated) for name, stated in error_classes(contract).items()]
    sections = {
        "Args:": [*_slots(contract, "inputs")],
        "Returns:": [*_slots(contract, "outputs")],
        "Raises:": [one.sentence for one in raised],
        "Error classes:": [f"- {line}" for line in classes if " " in line],
        "Errors:": [f"- {one.name} [{one.form}]: {one.text}" for one in errors if one not in raised],
        "Effects:": [f"- {one.form} `{one.name}`: {one.text}" for one, _ in entries(contract, "effects")],
        "Modes:": [contract.modes.notes] if contract.modes.notes else [],
    }
    yield [contract.purpose]
    yield from ([title, *(_INDENT + line for line in lines)] for title, lines in sections.items() if lines)


def _slots(contract: MicroModuleContract, field: str) -> Iterator[str]:
    for one, parts in entries(contract, field):
        added = [part.text for part in parts if adds_to_code(part.text)]
        if added or not is_vocabulary(contract):
            yield f"{one.name}:"
            yield from (f"{_INDENT}- {text}" for text in added)


def _header(contract: MicroModuleContract, siblings: Mapping[str, str]) -> str:
    statements = own_statements(contract)
    public = [name for name in public_names(contract) if name in siblings or not _is_foreign(contract, name)]
    listed = "[" + ", ".join(f'"{name}"' for name in public) + "]"
    lines = [
        "from __future__ import annotations",
        "",
        *_imports(contract, siblings),
        "",
        f"__all__ = {listed}",
        *(["", f'{TYPE_VARIABLE} = TypeVar("{TYPE_VARIABLE}")'] if _is_generic(contract) else []),
    ]
    imported = [
        line
        for name in public
        if name in siblings
        for line in (f"from ..{siblings[name]} import {name}", *_constructor_comment(contract, name))
    ]
    missing = [
        f"# {name} belongs to a dependency: write `from ..<module> import {name}`"
        for name in named_classes(contract)
        if name not in statements and name not in siblings
    ]
    at = lines.index("", 2)
    return "\n".join([*lines[:at], *imported, *missing, *lines[at:]]).replace("\n\n\n", "\n\n")


def _is_generic(contract: MicroModuleContract) -> bool:
    return any(is_generic(slot.type) for slot in (*contract.inputs, *contract.outputs))


def _constructor_comment(contract: MicroModuleContract, name: str) -> list[str]:
    """How an imported error with fields is made if its module kept the stub; a reader sees no other source."""
    fields = error_fields(contract).get(name, [])
    given = ", ".join(f"{field.name}=..." for field in fields)
    return [f"# usually made as {name}(message, {given})"] if fields else []


def _is_foreign(contract: MicroModuleContract, name: str) -> bool:
    return name in named_classes(contract) and name not in own_statements(contract)


def _imports(contract: MicroModuleContract, siblings: Mapping[str, str]) -> list[str]:
    statements = list(own_statements(contract).values())
    types = [slot.type for slot in (*contract.inputs, *contract.outputs)]
    types += [
        field.type
        for statement in statements
        for field in (*statement.fields, *statement.properties)
        if field.type
    ]
    types += [field.type for fields in error_fields(contract).values() for field in fields]
    types += [default for slot in contract.inputs if (default := default_of(slot)) is not None]
    types += [field.default for statement in statements for field in statement.fields if field.default]
    wanted: dict[str, set[str]] = {}
    for name in (name for text in types for name in named(text) if name in BOUNDARY_IMPORTS):
        wanted.setdefault(BOUNDARY_IMPORTS[name], set()).add(name)
    for statement in (stated for stated in statements if stated.name not in siblings):
        module, name = _ORIGIN[statement.kind]
        wanted.setdefault(module, set()).add(name)
    if _is_generic(contract):
        wanted.setdefault("typing", set()).add("TypeVar")
    plain = ["import re"] if any("re.Pattern" in text for text in types) else []
    return plain + [
        f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(wanted.items())
    ]


_ORIGIN = {
    "frozen dataclass": ("dataclasses", "dataclass"),
    "TypedDict": ("typing", "TypedDict"),
    "NamedTuple": ("typing", "NamedTuple"),
    "type": ("typing", "TypeAlias"),
    "Enum": ("enum", "Enum"),
    "StrEnum": ("enum", "StrEnum"),
    "IntEnum": ("enum", "IntEnum"),
}


def _exception(contract: MicroModuleContract, name: str) -> str:
    fields = error_fields(contract).get(name, [])
    whens = [one.when.rstrip(".") for one in contract.error_surfaces if one.name == name]
    said = f"Raised: {whens[0]}." if len(whens) == 1 else f"See what `{contract.name}` raises."
    head = f"class {name}({base_of(contract, name)}):\n{_INDENT}{docstring_literal(said, '', '')}"
    if not fields:
        return head
    declared = [f"{_INDENT}{field.name}: {field.type}" for field in fields]
    parameters = ", ".join(f"{field.name}: {field.type}" for field in fields)
    assigned = [f"{_INDENT * 2}self.{field.name} = {field.name}" for field in fields]
    start = f"{_INDENT}def __init__(self, message: str, *, {parameters}) -> None:"
    return "\n".join([head, "", *declared, "", start, f"{_INDENT * 2}super().__init__(message)", *assigned])


def _named_type(statement: ClassStatement, types: Collection[str]) -> str:
    """A named type, with the names of such types in quotes: they are not bound yet."""
    text = statement.fields[0].type
    node = _NamesAsText(types).visit(parse_expression(text).body)
    return f"{statement.name}: TypeAlias = {ast.unparse(node)}"


class _NamesAsText(ast.NodeTransformer):
    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(node.id) if node.id in self._names else node


def _class(statement: ClassStatement) -> str:
    head = f"class {statement.name}({statement.kind}):"
    if statement.kind == "frozen dataclass":
        head = f"@dataclass(frozen=True)\nclass {statement.name}:"
    names = ", ".join(field.name for field in statement.fields)
    lines = [head, _INDENT + docstring_literal(f"{statement.name}: {names}.", "", ""), ""]
    for field in statement.fields:
        annotation = f": {field.type}" if field.type else ""
        default = f" = {field.default}" if field.default else ""
        lines.append(f"{_INDENT}{field.name}{annotation}{default}")
    if statement.raises:
        lines += ["", f"{_INDENT}def __post_init__(self) -> None:"]
        # conditions to be written, one for each error
        lines += [
            line
            for error in statement.raises
            for line in (f"{_INDENT * 2}if ...:", f'{_INDENT * 3}raise {error}("...")')
        ]
    for one in statement.properties:
        lines += ["", f"{_INDENT}@property", f"{_INDENT}def {one.name}(self) -> {one.type}:"]
        lines.append(f"{_INDENT * 2}raise NotImplementedError")
    return "\n".join(lines)


def _function(contract: MicroModuleContract, entry: EntryPoint) -> str:
    keyword = "async def" if entry.is_async else "def"
    head = f"{keyword} {entry.name}({', '.join(signature_parameters(contract))}) -> {return_type(contract)}:"
    literal = docstring_literal(render_docstring(contract))
    return f"{head}\n{_INDENT}{literal}\n{_INDENT}raise NotImplementedError"
