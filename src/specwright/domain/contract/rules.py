"""The rules for a contract's content, checked when it is locked (design: module-directory, module-scope).

Every rule serves one property: the docstring and signature rendered from a contract without problems are
read back as exactly its five dimensions. `normalise` repairs what has one obvious repair; `problems` lists
the rest.

- Names are ASCII identifiers and no keywords (Python would read other letters in another normal form).
- Types are in normal form and on the boundary list (`boundary_types`); another CamelCase name is a class.
- Texts are one line with single spaces (within quotes an error case may have more), without control, format or
  bidirectional characters.
- A default is the last constraint, `defaults to <literal>`; a literal's own text may hold any spaces.
- Exceptions come before codes and variants, as the docstring's sections do.
- A class is stated, or belongs to a declared dependency, and its values come to an end.
- A text is no placeholder.
- An exception is a builtin that says something, or a CamelCase class that the module exports.
- Outbound network and changed arguments are refused: they enter as values.

Whether the texts are true, testable or complete is decided by the debate and the fuzz.
"""

import ast
import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from specwright.domain.base.record import is_placeholder
from specwright.domain.contract.annotations import union_parts
from specwright.domain.contract.boundary_types import (
    BOUNDARY_IMPORTS,
    class_names,
    is_class_name,
    literal_problem,
    type_problem,
)
from specwright.domain.contract.class_statement import (
    ClassStatement,
    looks_like_statement,
    parse_statement,
    placed,
)
from specwright.domain.contract.contract import (
    EffectType,
    ErrorSurface,
    Input,
    MicroModuleContract,
    SurfaceKind,
)
from specwright.syntax_tree import parse_expression

DEFAULT = "defaults to "
"""How the last constraint of an input with a default begins."""

_BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_JOINERS = {"\u200c", "\u200d"}
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_WORD = re.compile(r"[A-Za-z0-9_]+")
_NETWORK = re.compile(r"https?://|\b(network|socket)\b", re.IGNORECASE)
_OUTBOUND = {EffectType.POST, EffectType.PUT, EffectType.PATCH}
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_BLANK = re.compile(
    r"<[a-z]+([_ -][a-z]+)*>|\{[a-z]+([_ -][a-z]+)*\}|(TODO|TBD|FIXME|XXX)\b.*|\.{3}|…", re.IGNORECASE
)
_TOO_VAGUE = {"Exception", "BaseException", "NotImplementedError", "AssertionError"}


def default_of(parameter: Input) -> str | None:
    """The literal that an input defaults to, as its text; None if it must be given."""
    if parameter.constraints and parameter.constraints[-1].startswith(DEFAULT):
        return parameter.constraints[-1].removeprefix(DEFAULT)
    return None


def own_statements(contract: MicroModuleContract) -> dict[str, ClassStatement]:
    """The classes that a contract states: those that the module itself exports."""
    statements = (parse_statement(text) for slot in _slots(contract) for text in slot)
    return {statement.name: statement for statement in statements if statement}


def is_builtin_exception(name: str) -> bool:
    """Whether Python itself has an exception of this name."""
    value = getattr(builtins, name, None)
    return isinstance(value, type) and issubclass(value, BaseException)


def module_name_problem(name: str) -> str:
    """Why a module cannot have this name; empty if it can."""
    hides = name in BOUNDARY_IMPORTS or hasattr(builtins, name)
    return f"{name!r} would hide a name of Python's own; choose another" if hides else ""


def problems(contract: MicroModuleContract) -> list[str]:
    """Everything that keeps a contract from being locked.

    Returns:
        One sentence each: the field's path, what is wrong, what to do; empty if it can be locked.
    """
    return [
        *_name_problems(contract),
        *_text_problems(contract),
        *_type_problems(contract),
        *_default_problems(contract.inputs),
        *_statement_problems(contract),
        *_class_problems(contract),
        *_error_problems(contract),
        *_error_field_problems(contract),
        *_effect_problems(contract),
    ]


def _slots(contract: MicroModuleContract) -> list[list[str]]:
    return [parameter.constraints for parameter in contract.inputs] + [
        output.invariants for output in contract.outputs
    ]


def _slot_paths(contract: MicroModuleContract) -> list[str]:
    return [_slot_path(contract, index) for index in range(len(contract.inputs) + len(contract.outputs))]


def _slot_path(contract: MicroModuleContract, index: int) -> str:
    if index < len(contract.inputs):
        return f"inputs.{index}.constraints"
    return f"outputs.{index - len(contract.inputs)}.invariants"


def _identifier_problem(name: str) -> str:
    if not (name.isascii() and name.isidentifier()):
        return f"{name!r} is not an ASCII identifier; use letters, digits and underscores"
    if keyword.iskeyword(name):
        return f"{name!r} is a Python keyword; choose another name"
    if name.startswith("__"):
        return f"{name!r} starts with two underscores; choose a plain name"
    return ""


def _name_problems(contract: MicroModuleContract) -> Iterator[str]:
    if problem := module_name_problem(contract.name):
        yield f"name: {problem}"
    for field, names in (
        ("inputs", [i.name for i in contract.inputs]),
        ("outputs", [o.name for o in contract.outputs]),
    ):
        for index, name in enumerate(names):
            if problem := _identifier_problem(name):
                yield f"{field}.{index}.name: {problem}"
            elif name in names[:index]:
                yield f"{field}.{index}.name: {name!r} is there already; give each its own name"


def _text_problems(contract: MicroModuleContract) -> Iterator[str]:
    for path, text in _texts(contract):
        if problem := text_problem(text):
            yield f"{path}: {text[:60]!r} {problem}"
    for index, case in enumerate(contract.error_cases):
        # no part of the docstring, so spaces within quotes may be what it is about
        if problem := text_problem(_QUOTED.sub(lambda quoted: re.sub(" +", " ", quoted[0]), case)):
            yield f"error_cases.{index}: {case[:60]!r} {problem}"
    for index, slot in enumerate(_slots(contract)):
        for place, text in enumerate(slot):
            if not text.startswith(DEFAULT) and not parse_statement(text) and (problem := text_problem(text)):
                yield f"{_slot_path(contract, index)}.{place}: {text[:60]!r} {problem}"


def text_problem(text: str) -> str:
    """What keeps a text from one line of a docstring (design: module-directory); empty if nothing does."""
    if not text:
        return "is empty; say what holds"
    if is_placeholder(text) or _BLANK.fullmatch(text):
        return "is a placeholder; say what holds, or leave it out"
    if text.startswith("```"):
        return "starts with three backticks, which opens a code block; begin with a word"
    hidden = next((c for c in text if _is_hidden(c)), None)
    if hidden is not None:
        return f"holds the control or bidirectional character U+{ord(hidden):04X}; remove it"
    if text != " ".join(text.split()):
        return r"is not on one line with single spaces; collapse its white space, or write spaces that are meant as \x20"
    return ""


def _is_hidden(character: str) -> bool:
    if character in _JOINERS:  # format characters too, yet scripts and emoji need them
        return False
    category = unicodedata.category(character)
    return (
        category in {"Cc", "Cf", "Cs", "Zl", "Zp"} or unicodedata.bidirectional(character) in _BIDIRECTIONAL
    )


def _texts(contract: MicroModuleContract) -> Iterator[tuple[str, str]]:
    yield "purpose", contract.purpose
    for index, error in enumerate(contract.error_surfaces):
        yield f"error_surfaces.{index}.when", error.when
    for index, effect in enumerate(contract.effects):
        yield f"effects.{index}.target", effect.target
        yield f"effects.{index}.description", effect.description
    if contract.modes.notes:
        yield "modes.notes", contract.modes.notes


def _type_problems(contract: MicroModuleContract) -> Iterator[str]:
    for index, parameter in enumerate(contract.inputs):
        if problem := type_problem(parameter.type):
            yield f"inputs.{index}.type: {problem}"
    for index, output in enumerate(contract.outputs):
        if problem := type_problem(output.type):
            yield f"outputs.{index}.type: {problem}"
        elif output.type == "None":
            yield f"outputs.{index}.type: None is no output; leave it out, or name it as `X | None`"


def _default_problems(inputs: Sequence[Input]) -> Iterator[str]:
    optional = ""
    for index, parameter in enumerate(inputs):
        default = default_of(parameter)
        for place, constraint in enumerate(parameter.constraints):
            last = place == len(parameter.constraints) - 1
            if constraint.lower().startswith(DEFAULT.strip()) and not (last and default is not None):
                path = f"inputs.{index}.constraints.{place}"
                yield f"{path}: {constraint[:60]!r} is no default; write `{DEFAULT}<literal>`, as the last"
        if default is None and optional:
            yield f"inputs.{index}: {parameter.name!r} has no default; move it before {optional!r}, which has"
        if default is not None:
            optional = parameter.name
            if problem := literal_problem(default):
                yield f"inputs.{index}.constraints.{len(parameter.constraints) - 1}: the default {problem}"


def _statement_problems(contract: MicroModuleContract) -> Iterator[str]:
    known = own_statements(contract)
    types = [parameter.type for parameter in contract.inputs] + [output.type for output in contract.outputs]
    for index, (slot, due) in enumerate(zip(_slots(contract), placed(types, known), strict=True)):
        path = _slot_path(contract, index)
        body = slot[:-1] if slot and slot[-1].startswith(DEFAULT) else slot
        for place, text in enumerate(slot):
            statement = parse_statement(text)
            if statement is None and looks_like_statement(text):
                advice = "write `Name is a frozen dataclass: field: type, ...`"
                yield f"{path}.{place}: {text[:60]!r} cannot be read; {advice}"
            elif statement and statement.render() != text:
                yield f"{path}.{place}: {text[:60]!r} is not in normal form; write {statement.render()!r}"
            elif statement:
                yield from (
                    f"{path}.{place}: {problem}"
                    for problem in [*statement.problems(), *_field_names(statement)]
                )
        stated = [text for text in body if looks_like_statement(text)]
        wanted = [statement.render() for statement in due]
        if stated != wanted or body[len(body) - len(wanted) :] != wanted:
            yield f"{path}: the classes named first here are stated last, before a default; write {wanted}"


def _class_problems(contract: MicroModuleContract) -> Iterator[str]:
    """Classes of which nobody says what they are made of, and classes that no value can be of."""
    known = own_statements(contract)
    if not contract.dependencies:  # whose classes are in their own contracts
        slots = zip(_slot_paths(contract), [*contract.inputs, *contract.outputs], strict=True)
        for path, slot in slots:
            for name in () if type_problem(slot.type) else class_names(slot.type):
                if name not in known:
                    yield f"{path}: nothing says what {name} is; {_statement_advice(name)}"
        for statement in known.values():
            for name in statement.names():
                if name not in known:
                    yield f"{statement.name}: nothing says what its {name} is; {_statement_advice(name)}"
    for name in known:
        if _is_endless(name, known, frozenset()):
            yield f"{name}: each {name} holds another {name}, so that none ever ends; write `{name} | None` or a list"


def _statement_advice(name: str) -> str:
    return f"state it as the last constraint or invariant where it is named first: `{name} is a frozen dataclass: ...`"


def _is_endless(text: str, known: Mapping[str, ClassStatement], within: frozenset[str]) -> bool:
    """Whether each value of a type holds one of the classes that it is within."""
    try:
        parts = [ast.unparse(part) for part in union_parts(parse_expression(text).body)]
    except (SyntaxError, ValueError, RecursionError):
        return False
    return all(_needs(part, known, within) for part in parts)


def _needs(text: str, known: Mapping[str, ClassStatement], within: frozenset[str]) -> bool:
    if text in within:
        return True
    if text in known:
        return any(
            _is_endless(field.type, known, within | {text}) for field in known[text].fields if field.type
        )
    node = parse_expression(text).body
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "tuple":
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not any(ast.unparse(part) == "..." for part in parts):
            return any(_is_endless(ast.unparse(part), known, within) for part in parts)
    return False


def _field_names(statement: ClassStatement) -> list[str]:
    names = [field.name for field in statement.fields]
    messages = [
        f"{statement.name}.{name}: {problem}" for name in names if (problem := _identifier_problem(name))
    ]
    if not is_class_name(statement.name):
        messages.append(f"{statement.name!r} is a name of Python's own; choose another")
    if any(name.startswith("_") for name in names):
        messages.append(
            f"{statement.name} has a private field; a class at the boundary has public fields only"
        )
    return messages


def _error_problems(contract: MicroModuleContract) -> Iterator[str]:
    types = [slot.type for slot in (*contract.inputs, *contract.outputs)]
    classes = {name for text in types for name in class_names(text)} | set(own_statements(contract))
    others = False
    for index, error in enumerate(contract.error_surfaces):
        path = f"error_surfaces.{index}"
        if error.surface is SurfaceKind.EXCEPTION:
            if others:
                yield f"{path}: an exception comes after a code or variant; list exceptions first"
            if problem := _exception_problem(error, classes):
                yield f"{path}.name: {problem}"
        else:
            others = True
            if not _CODE.fullmatch(error.name):
                yield f"{path}.name: {error.name!r} is no code; use letters, digits, `_`, `.`, `-`"


def _error_field_problems(contract: MicroModuleContract) -> Iterator[str]:
    known = own_statements(contract)
    stated: set[str] = set()
    for index, error in enumerate(contract.error_surfaces):
        path = f"error_surfaces.{index}.fields"
        is_own = error.surface is SurfaceKind.EXCEPTION and not is_builtin_exception(error.name)
        if error.fields and not is_own:
            yield f"{path}: only an exception of the module's own has fields; name a class of its own"
        elif error.fields and error.name in stated:
            yield f"{path}: the fields of {error.name} are stated once, where the class is named first"
        stated.add(error.name)
        names = [field.name for field in error.fields]
        for place, field in enumerate(error.fields):
            if problem := _error_field_problem(field.name, names[:place]) or type_problem(field.type):
                yield f"{path}.{place}: {problem}"
            elif unknown := [name for name in class_names(field.type) if name not in known]:
                yield f"{path}.{place}: nothing says what {unknown[0]} is; an input or output has to state it"


def _error_field_problem(name: str, before: Sequence[str]) -> str:
    if problem := _identifier_problem(name):
        return problem
    if name.startswith("_") or hasattr(Exception, name):
        return f"{name!r} is private or has a meaning for every exception; choose another name"
    return f"{name!r} is there already; give each its own name" if name in before else ""


def _exception_problem(error: ErrorSurface, classes: set[str]) -> str:
    name = error.name
    if is_builtin_exception(name):
        value = getattr(builtins, name)
        if name in _TOO_VAGUE or not issubclass(value, Exception):
            return f"{name!r} tells the caller nothing; name a more precise exception"
        return ""
    if problem := _identifier_problem(name):
        return problem
    if not is_class_name(name):
        return f"{name!r} is no exception's name; write a builtin exception or a CamelCase class"
    if name in classes:
        return f"{name!r} is the class of a value too; give the exception its own name"
    return ""


def _effect_problems(contract: MicroModuleContract) -> Iterator[str]:
    parameters = {parameter.name for parameter in contract.inputs}
    for index, effect in enumerate(contract.effects):
        path = f"effects.{index}"
        if effect.type in _OUTBOUND or (effect.type is EffectType.CALL and _NETWORK.search(effect.target)):
            yield (
                f"{path}.type: a module does not talk to the network ({effect.type}); inject it as a value: "
                "return what is to be sent, or take what was received as an input"
            )
        if effect.type is EffectType.MUTATION and (changed := parameters & set(_WORD.findall(effect.target))):
            names = ", ".join(sorted(changed))
            yield (
                f"{path}.type: a module does not change its arguments ({names}); inject it as a value: "
                "return the changed copy as an output"
            )
        if "`" in effect.target:
            yield f"{path}.target: {effect.target!r} holds a backtick; remove it"
