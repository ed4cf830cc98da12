"""The classes that a module exports at its boundary, read from their source (design: module-directory, ship-gate).

A class is found where the module binds its name: in `__init__.py`, in a file beside it, or in a sibling module that is
a declared dependency. Those of the module itself are field-only, and their fields are part of its surface. Tests and
examples get classes made anew from descriptions, since the implementation is not in their process (`inside.classes`).
"""

import ast
import builtins
from collections.abc import Mapping
from typing import Any, NamedTuple

from ship_gate.base.boundary_values import TYPE_VARIABLE
from ship_gate.contract.class_statement import ClassStatement, Field
from ship_gate.contract.types import (
    BOUNDARY_IMPORTS,
    Meaning,
    bare_name,
    literal_problem,
    normal_annotation,
    normal_default,
    normal_or_same,
)
from ship_gate.findings import FindingCode
from ship_gate.source.files import ParsedFiles, SourceError, TopLevel, imported_file
from ship_gate.verdict import ENTRY_FILE

_KINDS = {
    "typing.TypedDict": "TypedDict",
    "typing.NamedTuple": "NamedTuple",
    "enum.Enum": "Enum",
    "enum.StrEnum": "StrEnum",
    "enum.IntEnum": "IntEnum",
}
_FREE_OPTIONS = {"order", "kw_only", "slots"}
"""Arguments of `dataclass` that are the implementer's: a contract states fields, and they are passed by name."""

_CHECK = "__post_init__"

_MOST_HOPS = 16


class ClassSource(NamedTuple):
    """Where a class is defined.

    Args:
        module: The name of the micro module.
        path: The file that defines it.
        node: Its definition; None if it belongs to a module whose source was not given, or if it is a named type.
        top: What its file binds; None likewise.
        alias: The definition of a named type, `JSON: TypeAlias = ...`.
    """

    module: str
    path: str
    node: ast.ClassDef | None
    top: TopLevel | None = None
    alias: ast.AnnAssign | None = None

    @property
    def location(self) -> str:
        """The file and line, for a finding."""
        found = self.node or self.alias
        return f"{self.path}:{found.lineno}" if found else self.path

    @property
    def is_defined(self) -> bool:
        """Whether its source was given."""
        return self.node is not None or self.alias is not None


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
            return ClassSource(module, path, top.classes[name], top)
        if name in top.aliases:
            return ClassSource(module, path, None, top, top.aliases[name])
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
    # a default of a dataclass may be a member of an Enum
    classes.sort(key=lambda described: not described["kind"].endswith("Enum"))
    return {"functions": functions, "classes": classes}


def _defined_class(
    name: str, module: str, modules: Mapping[str, ParsedFiles], path: str = ENTRY_FILE
) -> ClassSource | None:
    try:
        source = find_class(name, module, modules, path)
    except SourceError:
        return None
    return source if source and source.is_defined else None


def _description(source: ClassSource, modules: Mapping[str, ParsedFiles], hops: int) -> dict[str, Any]:
    name = source.node.name if source.node else _alias_name(source)
    base: dict[str, Any] = {
        "id": f"{source.module}/{source.path}:{name}",
        "module": f"modules.{source.module}",
        "name": name,
    }
    try:
        statement = read_class(source)
    except SourceError:
        fields = [name for name, _ in annotated_fields(source)]
        return {**base, "kind": "exception", "bases": _bases(source, modules, hops - 1), "fields": fields}
    fields = [[field.name, field.type, field.default] for field in statement.fields]
    return {
        **base,
        "kind": statement.kind,
        "fields": fields,
        "options": _options(source),
        "properties": [one.name for one in statement.properties],
        "called": statement.has_code,
    }


def _alias_name(source: ClassSource) -> str:
    return ast.unparse(source.alias.target) if source.alias else ""


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


def builtin_bases(source: ClassSource, modules: Mapping[str, ParsedFiles]) -> set[str]:
    """The exceptions of Python from which an exception of a module derives."""
    found: set[str] = set()
    waiting: list[str | dict[str, Any]] = _bases(source, modules, _MOST_HOPS)
    while waiting:
        base = waiting.pop()
        if isinstance(base, str):
            found.add(base)
        else:
            waiting += base.get("bases", [])
    return found


def annotated_fields(source: ClassSource) -> list[tuple[str, ast.expr]]:
    """The fields that an exception declares in its body, `index: int`, with their annotations."""
    return [
        (part.target.id, part.annotation)
        for part in (source.node.body if source.node else [])
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.value is None
    ]


def type_text(node: ast.expr, top: TopLevel) -> str:
    """An annotation of a file in the normal form of a contract.

    Raises:
        SourceError: `surface.name`; a name in it means something else than the boundary's type of that name.
    """

    return normal_annotation(node, _meaning_in(top))


def default_text(node: ast.expr, top: TopLevel) -> str:
    """A default of a file in the normal form of a contract; raises as `type_text`."""
    return normal_or_same(normal_default(node, _meaning_in(top)))


def _meaning_in(top: TopLevel) -> Meaning:
    def meaning(dotted: str) -> str:
        head, _, rest = dotted.partition(".")
        origin = top.imports.get(head)
        is_plain = origin is not None and origin.level == 0 and top.bound.get(head) == 1
        full = ".".join(filter(None, (origin.module, origin.name, rest))) if origin and is_plain else ""
        if full and origin and not origin.name and origin.module.startswith(f"{head}."):
            full = dotted  # `import collections.abc` binds `collections`
        if not rest and head in BOUNDARY_IMPORTS and bare_name(full) != head:
            message = f"{head} must come from `from {BOUNDARY_IMPORTS[head]} import {head}`, once, at the top"
            raise SourceError(FindingCode.SURFACE_NAME, top.path, message)
        if not rest and (head == TYPE_VARIABLE or _is_type_variable(head, top)):
            _check_type_variable(head, top)
        if not rest and head in top.bound and hasattr(builtins, head):
            message = f"{head} is bound anew; leave Python's own name alone"
            raise SourceError(FindingCode.SURFACE_NAME, top.path, message)
        return full

    return meaning


def _is_type_variable(name: str, top: TopLevel) -> bool:
    return name in top.variables and _full_name(top.variables[name].func, top) == "typing.TypeVar"


def _check_type_variable(name: str, top: TopLevel) -> None:
    is_plain = _is_type_variable(name, top) and ast.unparse(top.variables[name]).endswith(f"({name!r})")
    if name != TYPE_VARIABLE or not is_plain or top.bound.get(name) != 1:
        message = (
            f'{name} is not the type variable of a contract; write `{TYPE_VARIABLE} = TypeVar("{TYPE_VARIABLE}")` in this '
            "file, once, without a bound, and `from typing import TypeVar`"
        )
        raise SourceError(FindingCode.SURFACE_NAME, top.path, message)


def read_class(source: ClassSource) -> ClassStatement:
    """What a class or a named type of the module is made of.

    Raises:
        SourceError: `surface.class`; it is of no kind that crosses the boundary, or more than its fields.
    """
    if source.alias and source.alias.value and source.top:
        meant = normal_or_same(type_text(source.alias.value, source.top))
        statement = ClassStatement(_alias_name(source), "type", (Field("", meant),))
        if problems := statement.problems():
            raise _not_field_only(source, statement.name, "; ".join(problems))
        return statement
    node = source.node
    assert node is not None  # callers ask for the module's own classes only
    kind = _kind(source, node)
    if kind is None:
        raise _not_field_only(
            source,
            node.name,
            "make it a frozen dataclass, a NamedTuple, a TypedDict or an Enum, with no other base",
        )
    body = [part for part in node.body if not _is_docstring_or_pass(part)]
    methods = [part for part in body if kind == "frozen dataclass" and isinstance(part, ast.FunctionDef)]
    statement = ClassStatement(
        node.name,
        kind,
        tuple(_field(part, kind, source, node.name) for part in body if part not in methods),
        tuple(sorted(_property(part, source, node.name) for part in methods if part.name != _CHECK)),
        _refusals(methods, source, node.name),
    )
    if problems := statement.problems():
        raise _not_field_only(source, node.name, "; ".join(problems))
    return statement


def _property(node: ast.FunctionDef, source: ClassSource, name: str) -> Field:
    """A property of a frozen dataclass, `@property def length(self) -> int`."""
    assert source.top is not None  # as its node is
    is_plain = [ast.unparse(one) for one in node.decorator_list] == ["property"] and _takes_self_alone(node)
    if not is_plain or "property" in source.top.bound or node.returns is None:
        message = f"{node.name} is no property; write `@property` above `def {node.name}(self) -> <type>:`, or move it out"
        raise _not_field_only(source, name, message)
    return Field(node.name, normal_or_same(type_text(node.returns, source.top)))


def _refusals(methods: list[ast.FunctionDef], source: ClassSource, name: str) -> tuple[str, ...]:
    """The exceptions that the check of a frozen dataclass raises, each once, by name."""
    found: set[str] = set()
    for node in (part for method in methods for part in ast.walk(method)):
        if isinstance(node, ast.Attribute) and node.attr in {"__setattr__", "__dict__"}:
            raise _not_field_only(
                source, name, f"line {node.lineno} changes a field; fields stay as they were given"
            )
    checks = [method for method in methods if method.name == _CHECK]
    if checks and (len(checks) > 1 or not _takes_self_alone(checks[0]) or checks[0].decorator_list):
        raise _not_field_only(source, name, f"write one plain `def {_CHECK}(self) -> None:`")
    for node in (part for check in checks for part in ast.walk(check) if isinstance(part, ast.Raise)):
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if not isinstance(raised, ast.Name) or not raised.id[:1].isupper():
            message = f"line {node.lineno} does not name what is raised; write `raise <class>(...)`"
            raise _not_field_only(source, name, message)
        found.add(raised.id)
    if checks and not found:
        raise _not_field_only(source, name, f"{_CHECK} raises nothing; refuse fields there, or remove it")
    return tuple(sorted(found))


def _takes_self_alone(node: ast.FunctionDef) -> bool:
    return ast.unparse(node.args) == "self"


def _is_docstring_or_pass(node: ast.stmt) -> bool:
    """A docstring, of the class or below a field, or `pass`."""
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _not_field_only(source: ClassSource, name: str, message: str) -> SourceError:
    return SourceError(
        FindingCode.SURFACE_CLASS, source.location, f"{name} cannot cross the boundary: {message}"
    )


def _full_name(node: ast.expr, top: TopLevel | None) -> str:
    """The full name of what a dotted name of a file is imported from; empty if it is not, or bound anew."""
    head, _, rest = ast.unparse(node).partition(".")
    origin = top.imports.get(head) if top and top.bound.get(head) == 1 else None
    if origin is None or origin.level:
        return ""
    return ".".join(filter(None, (origin.module, origin.name, rest)))


def _kind(source: ClassSource, node: ast.ClassDef) -> str | None:
    if node.keywords:
        return None
    if not node.bases:
        return "frozen dataclass" if _is_frozen(source, node) else None
    if len(node.bases) == 1 and not node.decorator_list:
        return _KINDS.get(_full_name(node.bases[0], source.top))
    return None


def _is_frozen(source: ClassSource, node: ast.ClassDef) -> bool:
    """`@dataclass(frozen=True)`, perhaps with options that are the implementer's."""
    match node.decorator_list:
        case [ast.Call(func=function, args=[], keywords=keywords)]:
            options = {keyword.arg: ast.unparse(keyword.value) for keyword in keywords}
        case _:
            return False
    others = {name: value for name, value in options.items() if name != "frozen"}
    return (
        _full_name(function, source.top) == "dataclasses.dataclass"
        and options.get("frozen") == "True"
        and others.keys() <= _FREE_OPTIONS
        and set(others.values()) <= {"True", "False"}
    )


def _options(source: ClassSource) -> list[str]:
    """The options of a dataclass that are switched on: what its callers can do with it depends on them."""
    keywords = (
        [k for d in source.node.decorator_list if isinstance(d, ast.Call) for k in d.keywords]
        if source.node
        else []
    )
    return sorted(k.arg for k in keywords if k.arg in _FREE_OPTIONS and ast.unparse(k.value) == "True")


def _field(node: ast.stmt, kind: str, source: ClassSource, name: str) -> Field:
    is_enum = kind.endswith("Enum")
    match node:
        case ast.AnnAssign(target=ast.Name(id=field), annotation=annotation, value=value) if not is_enum:
            assert source.top is not None  # as its node is
            declared = normal_or_same(type_text(annotation, source.top))
            return Field(field, declared, "" if value is None else _literal(value, source, name))
        case ast.Assign(targets=[ast.Name(id=field)], value=value) if is_enum:
            return Field(field, "", _literal(value, source, name))
        case _:
            raise _not_field_only(
                source,
                name,
                "it may hold nothing but its fields, a `__post_init__` that checks them, and properties; "
                f"move line {node.lineno} out of the class",
            )


def _literal(node: ast.expr, source: ClassSource, name: str) -> str:
    assert source.top is not None  # as its node is
    text = default_text(node, source.top)
    if problem := literal_problem(text):
        raise _not_field_only(source, name, f"a value must be a literal: {problem}")
    return text
