"""A public function as an interface sees it, by its approved signature or by its contract, and how a command line writes its
parameters (design: release).
"""

import ast
import inspect
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from ship_gate.base.scalars import SCALARS
from ship_gate.contract.boundary.annotations import normal_type, union_parts
from ship_gate.contract.boundary.class_statement import ClassStatement
from ship_gate.contract.boundary.types import class_names, is_class_name, named
from ship_gate.contract.contract import MicroModuleContract, SurfaceKind
from ship_gate.contract.docstring import entry_points
from ship_gate.contract.rules import adds_to_code, default_of, is_any_number, own_statements
from ship_gate.syntax_tree import parse_expression
from specwright.domain.acceptance.records import name_of, signature_of
from specwright.domain.interfaces.records import Content, FunctionUse, ParameterMapping


class FunctionParameter(NamedTuple):
    """A parameter.

    Args:
        name: In Python.
        type: In normal form; empty if none is stated.
        default: As source; None if it must be given.
        about: What its contract says of it.
        is_any_number: Whether it stands for any number of arguments, `*args`.
    """

    name: str
    type: str
    default: str | None
    about: tuple[str, ...] = ()
    is_any_number: bool = False


class StatedClass(NamedTuple):
    """A class with the module that exports it."""

    module: str
    statement: ClassStatement


class PublicFunction(NamedTuple):
    """A function that an interface calls.

    Args:
        name: In Python.
        parameters: In order.
        returns: The types of its outputs, by name; None before there is a contract.
        purpose: Of its contract.
        errors: The names of its exceptions, each with when it is raised.
        classes: Those that its types name, directly or not; None before there is a contract.
        is_async: Whether it must be awaited.
        effects: The types of its effects.
    """

    name: str
    parameters: tuple[FunctionParameter, ...]
    returns: Mapping[str, str] | None = None
    purpose: str = ""
    errors: Mapping[str, str] = {}
    classes: Mapping[str, StatedClass] | None = None
    is_async: bool = False
    effects: tuple[str, ...] = ()


def function_of_signature(public: str) -> PublicFunction | None:
    """A function as a task provides it; None for a class."""
    if (signature := signature_of(public)) is None:
        return None
    return PublicFunction(
        name_of(public),
        tuple(
            FunctionParameter(
                one.name,
                normal_type(one.annotation) if one.annotation else "",
                None if one.default is inspect.Parameter.empty else one.default,
                is_any_number=one.kind is inspect.Parameter.VAR_POSITIONAL,
            )
            for one in signature.parameters.values()
        ),
    )


def function_of_contract(
    contract: MicroModuleContract, others: Sequence[MicroModuleContract] = ()
) -> PublicFunction:
    """A function as its contract has it.

    Args:
        contract: Of its module.
        others: Of the modules whose classes it may name.
    """
    exceptions: dict[str, str] = {}
    for error in contract.error_surfaces:
        if error.surface is SurfaceKind.EXCEPTION:
            exceptions.setdefault(error.name, error.when)
    return PublicFunction(
        contract.name,
        tuple(
            FunctionParameter(
                one.name,
                one.type,
                default_of(one),
                tuple(filter(adds_to_code, one.constraints)),
                is_any_number(one),
            )
            for one in contract.inputs
        ),
        {one.name: one.type for one in contract.outputs},
        contract.purpose,
        exceptions,
        _classes(contract, others),
        is_async=entry_points(contract)[0].is_async,
        effects=tuple(one.type.value for one in contract.effects),
    )


def _classes(contract: MicroModuleContract, others: Sequence[MicroModuleContract]) -> dict[str, StatedClass]:
    known = {
        name: StatedClass(one.name, statement)
        for one in (*reversed(others), contract)
        for name, statement in own_statements(one).items()
    }
    found: dict[str, StatedClass] = {}
    queue = [name for slot in (*contract.inputs, *contract.outputs) for name in class_names(slot.type)]
    while queue:
        name = queue.pop()
        if name in known and name not in found:
            found[name] = known[name]
            queue += known[name].statement.names()
    return found


RESERVED = ("help", "json", "version")
"""Options that every command has."""

_WORDS = {row.name for row in SCALARS if row.is_word}
_ARRAYS = {"list", "tuple", "set", "frozenset", "Sequence", "Collection", "Iterable", "Iterator"}
_IN_DOCUMENTS = {*_WORDS, *_ARRAYS, "bytes", "dict", "Mapping", "Literal", "None"}
CLOCK_TYPES = {"today": "date", "now": "datetime"}
"""Defaults that are read from the clock, each with the type of its parameter."""


class CommandWord(NamedTuple):
    """A parameter on the command line.

    Args:
        parameter: Of the function.
        place: Where it comes from.
        name: Of the option without `--`, or how the help calls the argument.
        content: What is the value.
        default: As the user would write it; empty if nothing is passed where it is not given.
        help: What it is.
        needed: Whether it must be given.
        many: Whether several words make the value.
        flag: Whether it stands alone: `--quiet`, `--no-quiet`.
        short: The letter of an option, without `-`; empty if it has none.
    """

    parameter: FunctionParameter
    place: Literal["argument", "option", "stdin"]
    name: str
    content: Content
    default: str
    help: str
    needed: bool
    many: bool
    flag: bool
    short: str = ""

    @property
    def option(self) -> str:
        """How the option is written, by its letter if it has one."""
        return f"-{self.short}" if self.short else f"--{self.name}"

    @property
    def synopsis(self) -> str:
        """As usage has it: `DIR`, `[--limit INT]`."""
        if self.place == "stdin":
            return "< INPUT"
        if self.place == "argument":
            shown = self.name.upper() + (" ..." if self.many else "")
        elif self.flag:
            shown = self.option
        else:
            shown = f"{self.option} {self.metavar}"
        shown = shown if self.needed else f"[{shown}]"
        return f"{shown}..." if self.many and self.place == "option" else shown

    @property
    def metavar(self) -> str:
        """What stands for the word of an option."""
        return "FILE" if self.content != "value" else _metavar(self.parameter.type)


def _metavar(text: str) -> str:
    names = [one.id for one in ast.walk(_parse(text)) if isinstance(one, ast.Name)] if text else []
    names = [one for one in names if one not in _ARRAYS]
    return "TEXT" if not names or names[0] == "str" else names[0].upper()


def _parse(text: str) -> ast.expr:
    return parse_expression(text).body


def words_of(use: FunctionUse, function: PublicFunction) -> list[CommandWord]:
    """The parameters of a function on the command line, in its order."""
    stated = {one.parameter: one for one in use.parameters}
    return [
        _word(one, stated.get(one.name, ParameterMapping(parameter=one.name))) for one in function.parameters
    ]


def _word(parameter: FunctionParameter, stated: ParameterMapping) -> CommandWord:
    has_default = parameter.default is not None or bool(stated.default)
    is_flag = stated.content == "value" and parameter.type == "bool"
    place = stated.place or ("option" if has_default or is_flag else "argument")
    name = stated.name or parameter.name.replace("_", "-")
    one_letter = name.lower() if place == "option" and len(name) == 1 and name.lower() != "h" else ""
    return CommandWord(
        parameter,
        place,
        name if place == "argument" else name.lower(),
        stated.content,
        stated.default,
        stated.help or "; ".join(parameter.about),
        needed=not has_default and not (place == "option" and is_flag),
        many=stated.content == "value" and is_array(parameter.type),
        flag=is_flag and place == "option",
        short=stated.short or one_letter,
    )


def is_array(text: str) -> bool:
    """Whether several words make a value."""
    return bool(text) and any(_base(one) in _ARRAYS for one in union_parts(_parse(text)))


def _base(node: ast.expr) -> str:
    return ast.unparse(node.value if isinstance(node, ast.Subscript) else node)


def word_problem(word: CommandWord, classes: Mapping[str, StatedClass] | None) -> str:
    """What keeps a value of this type from being written so, and what to do; empty if nothing does.

    Args:
        word: As it would be written.
        classes: What is known of classes; None where only their names are.
    """
    kind = word.parameter.type
    if not kind:
        return "it has no type; state it in `provides`"
    parts = _parts(kind)
    names = [*map(ast.unparse, parts)]
    match word.content:
        case "text":
            fits, wanted = names in (["str"], ["bytes"]), "str or bytes"
        case "lines":
            fits, wanted = names == ["list[str]"], "list[str]"
        case "toml":
            fits, wanted = len(parts) == 1 and _is_object(parts[0], classes), "a record or a dict"
        case "json":
            fits, wanted = True, ""
        case "value":
            if kind != "bool" and names == ["bool"]:
                return f"a flag is there or not, so {kind} cannot be told; give it `bool` with a default"
            return value_problem(kind, word.default, classes)
    if not fits:
        return f"{kind} is not what `content` {word.content} gives; it takes {wanted}"
    if name := foreign_to_documents(kind, classes or {}):
        return f"{name} has no form in a document; take a type that JSON has, or a text of it"
    return ""


def foreign_to_documents(
    kind: str, classes: Mapping[str, StatedClass], within: frozenset[str] = frozenset(), *, paths: bool = True
) -> str:
    """The first type of which a document holds no value, among those of a type and of its fields; empty if there is none.

    Args:
        kind: The type.
        classes: What is known of classes.
        within: Those whose fields are being looked at.
        paths: Whether a document may name files.
    """
    for name in named(kind):
        if name == "Path" and not paths:
            return name
        if name not in _IN_DOCUMENTS and not is_class_name(name):
            return name
        if name in classes and name not in within and not classes[name].statement.is_enum:
            for field in classes[name].statement.fields:
                if found := foreign_to_documents(field.type, classes, within | {name}, paths=paths):
                    return found
    return ""


def _is_object(node: ast.expr, classes: Mapping[str, StatedClass] | None) -> bool:
    name = _base(node)
    if name in ("dict", "Mapping"):
        return True
    if not is_class_name(name):
        return False
    return classes is None or (name in classes and not classes[name].statement.is_enum)


def value_problem(kind: str, default: str, classes: Mapping[str, StatedClass] | None) -> str:
    """What keeps a word, or several, from being a value of a type, and what to do; empty if nothing does.

    Args:
        kind: The type.
        default: What the interface states.
        classes: What is known of classes; None where only their names are.
    """
    parts = _parts(kind)
    if len(parts) != 1:
        return f"a word cannot say which of {kind} it is; give it one type, or `content` json"
    if default in CLOCK_TYPES and CLOCK_TYPES[default] == kind:
        return ""
    node = parts[0]
    if _base(node) in _ARRAYS and isinstance(node, ast.Subscript):
        elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if _base(node) == "tuple" and not (len(elements) == 2 and ast.unparse(elements[1]) == "..."):
            return f"{kind} has a fixed number of words; give it one parameter for each, or `content` json"
        node = elements[0]
    name = _base(node)
    is_enum = is_class_name(name) and (
        classes is None or (name in classes and classes[name].statement.is_enum)
    )
    if name in _WORDS or name == "Literal" or is_enum:
        return ""
    if name == "bytes":
        return f"{kind} is no word; use `content` text, which reads a file"
    if is_class_name(name) or name in ("dict", "Mapping"):
        return f"{kind} has fields, which one word cannot carry; use `content` toml for settings, or json"
    return f"{kind} cannot be written as words; use `content` json"


def _parts(kind: str) -> list[ast.expr]:
    """The types of which a value may be that is there."""
    return [one for one in union_parts(_parse(kind)) if ast.unparse(one) != "None"]
