"""The class statement: how a contract states the fields of a class that it names (design: module-directory, ship-gate).

A class that the module itself exports belongs to its surface, with its fields. As a default is written in
the signature alone and read as the constraint `defaults to <literal>`, so a class is written as a class
alone and read as one more constraint of the input, or invariant of the output, that names it first:

    Receipt is a frozen dataclass: total: Decimal, note: str = ''
    Row is a TypedDict: total: Decimal, note: str
    Span is a NamedTuple: start: int, end: int = 0
    Mode is an Enum: OPEN='open', SHUT='shut'
    JSON is a type: None | bool | int | float | str | list[JSON] | dict[str, JSON]

A frozen dataclass may check its fields when it is made, and derive properties from them; both are part of it, in
alphabetical order:

    Span is a frozen dataclass: start: int, end: int; properties: length: int; raises: SpanError

A named type may hold itself, which no other type can say; in source it is a `TypeAlias` with its own name in quotes.
It comes after the other constraints, before a default. A class of a declared dependency has no statement here: it
belongs to that dependency's surface."""

import ast
import re
from collections import deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ship_gate.contract.types import class_names, literal_problem, normal_or_same, type_problem
from ship_gate.syntax_tree import parse_expression, parse_module

_STATEMENT = re.compile(
    r"(?P<name>[A-Z][A-Za-z0-9]*) is an? "
    r"(?P<kind>(?:frozen )?dataclass|NamedTuple|TypedDict|Enum|StrEnum|IntEnum|type): (?P<body>.+)"
)
_PROPERTIES, _RAISES = "properties: ", "raises: "
_SEPARATOR = "; "
_ERRORS = re.compile(r"[A-Za-z_]\w*(?:, ?[A-Za-z_]\w*)*")


class Field(NamedTuple):
    """A field with its type, or a member of an Enum with its value; `default` may be empty. A named type has one field
    without a name."""

    name: str
    type: str
    default: str = ""


class ClassStatement(NamedTuple):
    """A class with its fields, in the order of its source.

    Args:
        name: Its own.
        kind: As the statement has it.
        fields: In their order.
        properties: Of a frozen dataclass, what is derived from the fields and read only; by name.
        raises: The exceptions with which a frozen dataclass refuses fields, by name.
    """

    name: str
    kind: str
    fields: tuple[Field, ...]
    properties: tuple[Field, ...] = ()
    raises: tuple[str, ...] = ()

    @property
    def is_enum(self) -> bool:
        """Whether its fields are members."""
        return self.kind.endswith("Enum")

    @property
    def is_named_type(self) -> bool:
        """Whether it is no class, but a name of a type."""
        return self.kind == "type"

    @property
    def has_code(self) -> bool:
        """Whether code of the class runs when a value is made."""
        return bool(self.properties or self.raises)

    def render(self) -> str:
        """The statement as a constraint."""
        article = "an" if self.kind[0] in "EI" else "a"
        parts = [", ".join(self._render(field) for field in self.fields)]
        if self.properties:
            parts.append(_PROPERTIES + ", ".join(f"{one.name}: {one.type}" for one in self.properties))
        if self.raises:
            parts.append(_RAISES + ", ".join(self.raises))
        return f"{self.name} is {article} {self.kind}: {'; '.join(parts)}"

    def _render(self, field: Field) -> str:
        if self.is_enum:
            return f"{field.name}={field.default}"
        if self.is_named_type:
            return field.type
        return f"{field.name}: {field.type}" + (f" = {field.default}" if field.default else "")

    def names(self) -> tuple[str, ...]:
        """The classes that its fields and properties name."""
        return tuple(name for field in (*self.fields, *self.properties) for name in class_names(field.type))

    def problems(self) -> list[str]:
        """What keeps it from being stated: types outside the boundary, values that are no literals."""
        messages = [f"the class {self.name} has no fields; name at least one"] if not self.fields else []
        for field in (*self.fields, *self.properties):
            checks = [] if self.is_enum else [type_problem(field.type)]
            checks += [literal_problem(field.default)] if field.default else []
            place = f"{self.name}.{field.name}" if field.name else self.name
            messages += [f"{place}: {problem}" for problem in checks if problem]
        if self.is_enum and len({field.default for field in self.fields}) < len(self.fields):
            messages.append(f"two members of {self.name} have one value, and are one; give each its own")
        return messages


def looks_like_statement(text: str) -> bool:
    """Whether a constraint is meant as a class statement."""
    return _STATEMENT.fullmatch(text) is not None


def parse_statement(text: str) -> ClassStatement | None:
    """Read a constraint; None if it is not a class statement in the grammar above."""
    if not (match := _STATEMENT.fullmatch(text)):
        return None
    if match["kind"] == "type":
        return _named_type(match["name"], match["body"])
    if match["kind"].endswith("dataclass"):  # there is no other than a frozen one
        return _dataclass(match["name"], match["body"])
    fields = _members(match["body"]) if match["kind"].endswith("Enum") else _fields(match["body"])
    if fields is None or (match["kind"] == "TypedDict" and any(field.default for field in fields)):
        return None
    return ClassStatement(match["name"], match["kind"], fields)


def _named_type(name: str, body: str) -> ClassStatement | None:
    try:
        meant = ast.unparse(parse_expression(body).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return ClassStatement(name, "type", (Field("", meant),))


def _dataclass(name: str, body: str) -> ClassStatement | None:
    """A frozen dataclass: its fields end where what stands before a semicolon can be read."""
    ends = [match.start() for match in re.finditer(_SEPARATOR, body)] + [len(body)]
    for end in ends:
        if (fields := _fields(body[:end])) is not None:
            return _with_clauses(ClassStatement(name, "frozen dataclass", fields), body[end:])
    return None


def _with_clauses(statement: ClassStatement, text: str) -> ClassStatement | None:
    properties: tuple[Field, ...] = ()
    raises: tuple[str, ...] = ()
    for clause in text.removeprefix(_SEPARATOR).split(_SEPARATOR) if text else []:
        if clause.startswith(_PROPERTIES) and not (properties or raises):
            found = _fields(clause.removeprefix(_PROPERTIES))
            if not found or any(field.default for field in found):
                return None
            properties = tuple(sorted(found))
        elif clause.startswith(_RAISES) and not raises:
            names = clause.removeprefix(_RAISES)
            if not _ERRORS.fullmatch(names):
                return None
            raises = tuple(sorted({part.strip() for part in names.split(",")}))
        else:
            return None
    return statement._replace(properties=properties, raises=raises)


def _fields(body: str) -> tuple[Field, ...] | None:
    try:
        node = parse_module(f"lambda_ = 0\ndef f({body}): ...").body[1]
    except (SyntaxError, ValueError, RecursionError):
        return None
    if not isinstance(node, ast.FunctionDef) or len(node.body) != 1:
        return None
    arguments = node.args
    if arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
        return None
    defaults = [""] * (len(arguments.args) - len(arguments.defaults)) + [
        ast.unparse(d) for d in arguments.defaults
    ]
    if any(argument.annotation is None for argument in arguments.args):
        return None
    return tuple(
        Field(argument.arg, ast.unparse(argument.annotation), default)
        for argument, default in zip(arguments.args, defaults, strict=True)
        if argument.annotation is not None
    )


def _members(body: str) -> tuple[Field, ...] | None:
    try:
        node = parse_expression(f"f({body})").body
    except (SyntaxError, ValueError, RecursionError):
        return None
    if not isinstance(node, ast.Call) or node.args or ast.unparse(node.func) != "f":
        return None
    if any(keyword.arg is None for keyword in node.keywords):
        return None
    return tuple(Field(keyword.arg or "", "", ast.unparse(keyword.value)) for keyword in node.keywords)


def placed(types: Iterable[str], known: Mapping[str, ClassStatement]) -> list[list[ClassStatement]]:
    """Which statements belong to which slot: each class where it is named first, then those of its fields.

    Args:
        types: The types of the inputs, then of the outputs.
        known: The classes that the module itself exports.

    Returns:
        One list of statements per type.
    """
    visited: set[str] = set()
    return [_reached(class_names(normal_or_same(text)), known, visited) for text in types]


def _reached(
    names: Iterable[str], known: Mapping[str, ClassStatement], visited: set[str]
) -> list[ClassStatement]:
    queue, statements = deque(names), list[ClassStatement]()
    while queue:
        name = queue.popleft()
        if name in known and name not in visited:
            visited.add(name)
            statements.append(known[name])
            queue.extend(known[name].names())
    return statements
