"""The rules for a contract's content, checked when it is locked (design: module-directory, contracts).

Every rule serves one property: the docstring and signature rendered from a contract without problems are
read back as exactly its five dimensions. `normalise` repairs what has one obvious repair; `problems` lists
the rest.

- Names are ASCII identifiers and no keywords (Python would read other letters in another normal form).
- Types are in normal form and on the boundary list (`types`); another CamelCase name is a class.
- Texts are one line with single spaces (within quotes an error case may have more), without control, format or
  bidirectional characters.
- A default is the last constraint, `defaults to <literal>`; a literal's own text may hold any spaces.
- That a parameter is given by name only, or that it stands for any number of arguments, is the last constraint before it.
- Exceptions come before codes and variants, as the docstring's sections do.
- A type variable is `T`, of which an input gives values (`types`).
- An iterable or iterator says how many items are taken or yielded at most (`types`).
- A class is stated, or belongs to a declared dependency, and its values come to an end.
- A text is no placeholder.
- What is out of scope is said of an input, and names the values (`out of scope: `).
- An exception is a builtin that says something, or a CamelCase class that the module exports; what such a class is stands in
  its first surface, with a base of `ERROR_BASES`.
- Definitions alone (design: contracts) have no inputs or effects; each class is an output, each exception a surface.
- An effect on hosts names them, says how long it waits, and has an error surface beside it (`network`).
- Changed arguments are refused: they enter as values.
- There are values for what it says (`possible_values`).

Whether the texts are true, testable or complete is decided by the debate and the fuzz.

In normal form types, defaults and class statements are written as code is; exceptions come before other surfaces; what is
said of an error class stands in its first surface; a class is stated in the slot that names it first, after other statements
and before a default; a text has single spaces, and writes more within quotes as `\\x20`.
"""

import builtins
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from ship_gate.base.text import text_problem
from ship_gate.contract.class_statement import ClassStatement, looks_like_statement, parse_statement, placed
from ship_gate.contract.contract import EffectType, Input, MicroModuleContract, SurfaceKind, network_problems
from ship_gate.contract.error_classes import error_problems, stated_once
from ship_gate.contract.possible_values import alternatives, is_endless, possibility_problems
from ship_gate.contract.statements import OF_SLOTS, Statement, StatementKind, entries, statements
from ship_gate.contract.types import (
    BOUNDARY_IMPORTS,
    class_name_problem,
    class_names,
    identifier_problem,
    lazy_type_problems,
    literal_problem,
    members_named,
    normal_or_same,
    normal_type,
    type_problem,
    type_variable_default_problem,
    type_variable_problems,
)


class ReadingLimit(Enum):
    """A limit, with its size and what it is about."""

    CONTRACT = 60, "statements of a contract: inputs, outputs, what is said of each, errors and effects"
    MODULE = 500, "statements of a module's implementation, as Python counts them"

    @property
    def most(self) -> int:
        """The largest size."""
        return self.value[0]

    @property
    def about(self) -> str:
        """What is counted."""
        return self.value[1]


def _contract_size_problems(statements: int) -> Iterator[str]:
    """What is said of a contract of so many statements."""
    if statements > ReadingLimit.CONTRACT.most:
        yield (
            f"inputs: the contract makes {statements} statements, and one reader judges {ReadingLimit.CONTRACT.most} at "
            "most; split it: by its outputs, by what it reads and what it does with it, or into one module for each kind "
            "of input and one that calls these"
        )


DEFINITIONS = "definitions alone"
"""What the modes of such a contract say."""

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

DEFAULT = "defaults to "
"""How the last constraint of an input with a default begins."""

KEYWORD_ONLY = "passed by keyword only"
"""The constraint of a parameter that stands behind `*`; the last one, before a default."""

ANY_NUMBER = "any number of arguments"
"""The last constraint of `*args`, whose type is that of each argument."""

OUT_OF_SCOPE = "out of scope: "
"""How a constraint begins of whose values the contract promises no more than a declared error or a value of the type."""

MOST_OUT_OF_SCOPE = 6
"""Such constraints in one contract."""

SCOPE_WORDS = 3
"""That name the values in such a constraint, at least."""

_WORD = re.compile(r"[A-Za-z0-9_]+")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def default_of(parameter: Input) -> str | None:
    """The literal that an input defaults to, as its text; None if it must be given."""
    if parameter.constraints and parameter.constraints[-1].startswith(DEFAULT):
        return parameter.constraints[-1].removeprefix(DEFAULT)
    return None


def is_keyword_only(parameter: Input) -> bool:
    """Whether an input is given by its name only."""
    return KEYWORD_ONLY in parameter.constraints


def is_any_number(parameter: Input) -> bool:
    """Whether an input stands for any number of arguments, `*args`."""
    return ANY_NUMBER in parameter.constraints


def is_read_from_code(text: str) -> bool:
    """Whether a constraint states what the code itself declares: a class, or how a parameter is passed. It stands in no
    docstring, and no test has to show it."""
    return looks_like_statement(text) or text in (KEYWORD_ONLY, ANY_NUMBER)


def adds_to_code(text: str) -> bool:
    """Whether a constraint or invariant says what cannot be read from the code: a default and a class can be."""
    return not text.startswith(DEFAULT) and not is_read_from_code(text)


def is_scope_limit(text: str) -> bool:
    """Whether a constraint names values that are out of scope. It stands in the docstring, and no test has to show it:
    what comes out of such a call is a declared error or any value of the type, and the fuzz holds the module to that."""
    return text.startswith(OUT_OF_SCOPE)


def scope_limits(contract: MicroModuleContract) -> list[Statement]:
    """What a contract leaves out of its scope: the statements, each with only the values that it names as its text."""
    return [
        one._replace(text=one.text.removeprefix(OUT_OF_SCOPE))
        for one in statements(contract)
        if one.kind is StatementKind.CONSTRAINT and is_scope_limit(one.text)
    ]


def in_signature_order(inputs: Sequence[Input]) -> list[Input]:
    """Inputs as Python asks for them: those that must be given, those with a default, `*args`, those given by name."""
    return sorted(inputs, key=lambda one: (is_keyword_only(one), is_any_number(one), _can_be_left_out(one)))


def _can_be_left_out(parameter: Input) -> bool:
    return not is_keyword_only(parameter) and default_of(parameter) is not None


def own_statements(contract: MicroModuleContract) -> dict[str, ClassStatement]:
    """The classes that a contract states: those that the module itself exports."""
    stated = (parse_statement(one.text) for one in statements(contract) if one.kind in OF_SLOTS)
    return {statement.name: statement for statement in stated if statement}


def is_vocabulary(contract: MicroModuleContract) -> bool:
    """Whether a contract defines classes and has no function."""
    return contract.modes.notes == DEFINITIONS


def _has_classes_with_code(contract: MicroModuleContract) -> bool:
    """Whether a class that it states checks its fields or derives properties: code that tests can show."""
    return any(statement.has_code for statement in own_statements(contract).values())


def is_untested(contract: MicroModuleContract) -> bool:
    """Whether there is nothing that a test could show: definitions of fields alone."""
    return is_vocabulary(contract) and not _has_classes_with_code(contract)


def raised_errors(contract: MicroModuleContract) -> list[str]:
    """The errors that the module itself can meet, each once; of definitions those that a class raises."""
    raised = {name for statement in own_statements(contract).values() for name in statement.raises}
    names = dict.fromkeys(error.name for error in contract.error_surfaces)
    return [name for name in names if name in raised or not is_vocabulary(contract)]


def output_name(class_name: str) -> str:
    """How the output that stands for a class is called: `paid_bill` for `PaidBill`."""
    return _CAPITAL.sub("_", class_name).lower()


def module_name_problem(name: str) -> str:
    """Why a module cannot have this name; empty if it can."""
    if name == "testing":
        return "'testing' is where tests find the clock and the hosts; choose another"
    hides = name in BOUNDARY_IMPORTS or hasattr(builtins, name)
    return f"{name!r} would hide a name of Python's own; choose another" if hides else ""


def problems(contract: MicroModuleContract) -> list[str]:
    """Everything that keeps a contract from being locked.

    Returns:
        One sentence each: the field's path, what is wrong, what to do; empty if it can be locked.
    """
    found = [
        *_name_problems(contract),
        *_text_problems(contract),
        *_type_problems(contract),
        *lazy_type_problems(contract, [slot.name for slot in contract.inputs if is_any_number(slot)]),
        *_default_problems(contract),
        *_passing_problems(contract.inputs),
        *_scope_limit_problems(contract),
        *_statement_problems(contract),
        *_class_problems(contract),
        *error_problems(contract, own_statements(contract)),
        *_effect_problems(contract),
        *_vocabulary_problems(contract),
        *network_problems(contract),
        *_contract_size_problems(_statement_count(contract)),
    ]
    known, is_called = own_statements(contract), not is_vocabulary(contract)
    # where a type cannot be read, nothing can be said of its values
    return found or [*possibility_problems(contract, known, is_called=is_called)]


def _statement_count(contract: MicroModuleContract) -> int:
    """Of a contract; definitions alone are a list of which nobody needs the whole in mind."""
    return 0 if is_vocabulary(contract) else sum(one.kind in _COUNTED for one in statements(contract))


_COUNTED = {
    *OF_SLOTS,
    *(StatementKind.INPUT, StatementKind.OUTPUT, StatementKind.EFFECT),
    *(StatementKind.ERROR_SURFACE, StatementKind.ERROR_CLASS),
}


def _slots(contract: MicroModuleContract) -> Iterator[tuple[str, str, list[str]]]:
    """What is said of each input and output: its path, the type, the texts."""
    for field, said in (("inputs", "constraints"), ("outputs", "invariants")):
        for one, parts in entries(contract, field):
            yield f"{one.path}.{said}", one.text, [part.text for part in parts]


def _name_problems(contract: MicroModuleContract) -> Iterator[str]:
    if problem := module_name_problem(contract.name):
        yield f"name: {problem}"
    for field in ("inputs", "outputs"):
        names = [one.name for one, _ in entries(contract, field)]
        for index, name in enumerate(names):
            if problem := identifier_problem(name):
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
    for path, text in ((one.path, one.text) for one in statements(contract) if one.kind in OF_SLOTS):
        if not text.startswith(DEFAULT) and not parse_statement(text) and (problem := text_problem(text)):
            yield f"{path}: {text[:60]!r} {problem}"


def _texts(contract: MicroModuleContract) -> Iterator[tuple[str, str]]:
    for one in statements(contract):
        if one.kind is StatementKind.EFFECT:
            yield from ((f"{one.path}.target", one.name), (f"{one.path}.description", one.text))
        elif one.kind is StatementKind.ERROR_SURFACE:
            yield f"{one.path}.when", one.text
        elif one.kind in (StatementKind.PURPOSE, StatementKind.ERROR_CLASS):
            yield one.path, one.text
    if contract.modes.notes:
        yield "modes.notes", contract.modes.notes


def _type_problems(contract: MicroModuleContract) -> Iterator[str]:
    for index, parameter in enumerate(contract.inputs):
        if problem := type_problem(parameter.type, taken=True):
            yield f"inputs.{index}.type: {problem}"
    for index, output in enumerate(contract.outputs):
        if problem := type_problem(output.type, returned=True):
            yield f"outputs.{index}.type: {problem}"
        elif output.type == "None":
            yield f"outputs.{index}.type: None is no output; leave it out, or name it as `X | None`"
    yield from type_variable_problems(
        [one.type for one in contract.inputs if not type_problem(one.type, taken=True)],
        [one.type for one in contract.outputs if not type_problem(one.type, returned=True)],
    )


def _default_problems(contract: MicroModuleContract) -> Iterator[str]:
    optional = ""
    known = own_statements(contract)
    for index, parameter in enumerate(contract.inputs):
        default = default_of(parameter)
        for place, constraint in enumerate(parameter.constraints):
            last = place == len(parameter.constraints) - 1
            if constraint.lower().startswith(DEFAULT.strip()) and not (last and default is not None):
                path = f"inputs.{index}.constraints.{place}"
                yield f"{path}: {constraint[:60]!r} is no default; write `{DEFAULT}<literal>`, as the last"
        by_place = not is_keyword_only(parameter) and not is_any_number(parameter)
        if default is None and optional and by_place:
            yield f"inputs.{index}: {parameter.name!r} has no default; move it before {optional!r}, which has"
        if default is not None:
            optional = parameter.name if by_place else optional
            is_alone = not contract.dependencies
            if problem := (
                literal_problem(default)
                or _unknown_member(default, known, is_alone=is_alone)
                or type_variable_default_problem(parameter.type, default)
            ):
                yield f"inputs.{index}.constraints.{len(parameter.constraints) - 1}: the default {problem}"


def _passing_problems(inputs: Sequence[Input]) -> Iterator[str]:
    """How parameters are passed: the place of the statement, and the order that Python asks for."""
    for index, parameter in enumerate(inputs):
        place = f"inputs.{index}.constraints"
        body = parameter.constraints[:-1] if default_of(parameter) is not None else parameter.constraints
        stated = [text for text in parameter.constraints if text in (KEYWORD_ONLY, ANY_NUMBER)]
        if stated and (body[-1:] != stated):
            yield f"{place}: {stated[0]!r} stands once, as the last, before a default"
        if is_any_number(parameter) and default_of(parameter) is not None:
            yield f"{place}: any number of arguments have no default; none is given where there are none"
    if list(inputs) != (ordered := in_signature_order(inputs)) and any(map(_is_passed_otherwise, inputs)):
        names = ", ".join(one.name for one in ordered)
        yield f"inputs: any number of arguments come after the plain inputs, those by keyword last; write {names}"
    if len(many := [one.name for one in inputs if is_any_number(one)]) > 1:
        yield f"inputs: {' and '.join(many)} both stand for any number of arguments; leave one"


def _scope_limit_problems(contract: MicroModuleContract) -> Iterator[str]:
    for one in (stated := scope_limits(contract)):
        if len(one.text.split()) < SCOPE_WORDS:
            yield f"{one.path}: {one.text[:60]!r} names no values; say which ones, in {SCOPE_WORDS} words or more"
    if len(stated) > MOST_OUT_OF_SCOPE:
        yield f"inputs: {len(stated)} statements are out of scope; say it in {MOST_OUT_OF_SCOPE} at most"
    for one in statements(contract):
        if one.kind is StatementKind.INVARIANT and is_scope_limit(one.text):
            yield f"{one.path}: what is out of scope is said of an input; name its values"


def _is_passed_otherwise(parameter: Input) -> bool:
    """Whether an input is passed in another way than plainly."""
    return is_keyword_only(parameter) or is_any_number(parameter)


def _unknown_member(default: str, known: Mapping[str, ClassStatement], *, is_alone: bool) -> str:
    """What is wrong with the members of Enums that a default names; empty if nothing is.

    Args:
        default: As it is written.
        known: The classes that the contract states.
        is_alone: Whether no dependency could say what another class is.
    """
    for name, member in members_named(default):
        statement = known.get(name)
        if statement is None and is_alone:
            return f"{default!r} is a member of {name}, and nothing says what {name} is; write a value of the input's type"
        if statement and member not in [field.name for field in statement.fields if statement.is_enum]:
            return f"{default!r} is no member of {name}"
    return ""


def _statement_problems(contract: MicroModuleContract) -> Iterator[str]:
    known = own_statements(contract)
    slots = [*_slots(contract)]
    for (path, _, slot), due in zip(slots, placed([kind for _, kind, _ in slots], known), strict=True):
        body = slot[:-1] if slot and slot[-1].startswith(DEFAULT) else slot
        body = body[:-1] if body and body[-1] in (KEYWORD_ONLY, ANY_NUMBER) else body
        for place, text in enumerate(slot):
            statement = parse_statement(text)
            if statement is None and looks_like_statement(text):
                advice = "write `Name is a frozen dataclass: field: type, ...`"
                yield f"{path}.{place}: {text[:60]!r} cannot be read; {advice}"
            elif statement and statement.render() != text:
                yield f"{path}.{place}: {text[:60]!r} is not in normal form; write {statement.render()!r}"
            elif statement:
                faults = [
                    *statement.problems(),
                    *_field_names(statement),
                    *_class_code_problems(statement, contract),
                ]
                yield from (f"{path}.{place}: {problem}" for problem in faults)
        stated = [text for text in body if looks_like_statement(text)]
        wanted = [statement.render() for statement in due]
        if stated != wanted or body[len(body) - len(wanted) :] != wanted:
            yield f"{path}: the classes named first here are stated last, before a default; write {wanted}"


def _class_problems(contract: MicroModuleContract) -> Iterator[str]:
    """Classes of which nobody says what they are made of, and classes that no value can be of."""
    known = own_statements(contract)
    if not contract.dependencies:  # whose classes are in their own contracts
        for path, kind, _ in _slots(contract):
            for name in () if type_problem(kind, taken=True) else class_names(kind):
                if name not in known:
                    yield f"{path}: nothing says what {name} is; {_statement_advice(name)}"
        for statement in known.values():
            yield from _unstated_in(statement, known)
    yield from _named_type_problems(known)
    for name in known:
        if is_endless(name, known):
            yield f"{name}: each {name} holds another {name}, so that none ever ends; write `{name} | None` or a list"


def _unstated_in(statement: ClassStatement, known: Mapping[str, ClassStatement]) -> Iterator[str]:
    """The classes in a statement of which nobody says what they are."""
    for field in statement.fields:
        if field.default and (problem := _unknown_member(field.default, known, is_alone=True)):
            yield f"{statement.name}.{field.name}: the default {problem}"
    for name in statement.names():
        if name not in known:
            yield f"{statement.name}: nothing says what its {name} is; {_statement_advice(name)}"


def _named_type_problems(known: Mapping[str, ClassStatement]) -> Iterator[str]:
    """A named type that is an alternative of another or of itself: Python cannot join a quoted name."""
    named = {name for name, statement in known.items() if statement.is_named_type}
    for name in sorted(named):
        parts = alternatives(known[name].fields[0].type)
        if name in parts and len(parts) > 1:
            yield f"{name}: {name} is one of its own alternatives, which says nothing; leave it out"
        for part in parts:
            if part in named - {name}:
                yield f"{name}: {part} is a named type too; write what it stands for, or hold it in a list"


def _statement_advice(name: str) -> str:
    form = f"`{name} is a frozen dataclass: ...`, in these words"
    return f"state it as the last constraint or invariant where it is named first: {form}"


def _class_code_problems(statement: ClassStatement, contract: MicroModuleContract) -> Iterator[str]:
    """What is wrong with the check and the properties of a class."""
    fields = {field.name for field in statement.fields}
    for one in statement.properties:
        if one.name in fields:
            yield f"{statement.name}.{one.name} is a field and a property; leave one"
        known = own_statements(contract)
        for name in _reachable(one.type, known):
            if known[name].properties:
                yield (
                    f"{statement.name}.{one.name} holds a {name}, which has properties of its own, so that no end of them "
                    "is in sight; derive a plain value, or make it a function"
                )
    errors = {one.name for one in contract.error_surfaces if one.surface is SurfaceKind.EXCEPTION}
    if not contract.dependencies and (missing := [name for name in statement.raises if name not in errors]):
        yield f"{statement.name} raises {missing[0]}, of which no error surface says when; add one"


def _reachable(text: str, known: Mapping[str, ClassStatement]) -> list[str]:
    """The stated classes that a value of a type may hold."""
    found: dict[str, None] = {}
    waiting = [*class_names(text)]
    while waiting:
        name = waiting.pop()
        if name in known and name not in found:
            found[name] = None
            waiting += known[name].names()
    return [*found]


def _field_names(statement: ClassStatement) -> list[str]:
    fields = (*statement.fields, *statement.properties)
    names = [field.name for field in fields if not statement.is_named_type]
    messages = [
        f"{statement.name}.{name}: {problem}" for name in names if (problem := identifier_problem(name))
    ]
    if problem := class_name_problem(statement.name):
        messages.append(problem)
    if any(name.startswith("_") for name in names):
        messages.append(
            f"{statement.name} has a private field; a class at the boundary has public fields only"
        )
    return messages


def _effect_problems(contract: MicroModuleContract) -> Iterator[str]:
    parameters = {parameter.name for parameter in contract.inputs}
    for index, effect in enumerate(contract.effects):
        path = f"effects.{index}"
        if effect.type is EffectType.MUTATION and (changed := parameters & set(_WORD.findall(effect.target))):
            names = ", ".join(sorted(changed))
            yield (
                f"{path}.type: a module does not change its arguments ({names}); inject it as a value: "
                "return the changed copy as an output"
            )
        if "`" in effect.target:
            yield f"{path}.target: {effect.target!r} holds a backtick; remove it"


def _vocabulary_problems(contract: MicroModuleContract) -> Iterator[str]:
    """What such a contract may not say; nothing of one with a function."""
    if not is_vocabulary(contract):
        return
    if not (contract.outputs or contract.error_surfaces):
        yield "outputs: there is no definition; name each class as an output, or each exception as an error surface"
    if contract.inputs or contract.effects or contract.error_cases:
        yield (
            f"modes.notes: {DEFINITIONS!r} says that there is no function, so there are no inputs, effects and error "
            "cases; leave them out, or the note"
        )
    if contract.modes.async_ or not contract.modes.sync:
        yield "modes.async: nothing is awaited where nothing is called; write sync alone"
    known = own_statements(contract)
    for index, output in enumerate(contract.outputs):
        if output.name != output_name(output.type):
            yield (
                f"outputs.{index}: {output.name!r} of type {output.type!r} is no definition; name one class of this module "
                f"as its type, and call it {output_name(output.type)!r}"
            )
        others = [text for text in output.invariants if not looks_like_statement(text)]
        statement = known.get(output.type)
        if others and not (statement and statement.has_code):
            yield (
                f"outputs.{index}.invariants: {others[0][:60]!r} is nothing that a definition shows; say it in the contract "
                "of the module that makes such values, or state a check or a property that shows it"
            )


_QUOTED_WORDS = re.compile(r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|`[^`]*`")


def normalise(contract: MicroModuleContract) -> MicroModuleContract:
    """The same contract in normal form."""
    stated = {"inputs": "constraints", "outputs": "invariants"}
    types = [slot.type for slot in (*contract.inputs, *contract.outputs)]
    texts = [[_normal(text) for text in p.constraints] for p in contract.inputs]
    texts += [[_normal(text) for text in output.invariants] for output in contract.outputs]
    texts = [_passing_in_place(slot) for slot in _classes_in_place(types, texts)]
    slots = {
        dimension: [
            slot.model_copy(update={"type": normal_type(slot.type), field: texts.pop(0)})
            for slot in getattr(contract, dimension)
        ]
        for dimension, field in stated.items()
    }
    errors = [
        error.model_copy(
            update={
                "when": _single_spaced(error.when),
                "shared": _single_spaced(error.shared),
                "fields": [f.model_copy(update={"type": normal_type(f.type)}) for f in error.fields],
            }
        )
        for error in contract.error_surfaces
    ]
    effects = [
        effect.model_copy(
            update={
                "target": _single_spaced(effect.target),
                "description": _single_spaced(effect.description),
            }
        )
        for effect in contract.effects
    ]
    rest: dict[str, Any] = {
        "purpose": _single_spaced(contract.purpose),
        "error_surfaces": stated_once(
            sorted(errors, key=lambda error: error.surface is not SurfaceKind.EXCEPTION)
        ),
        "effects": effects,
        "modes": contract.modes.model_copy(update={"notes": _single_spaced(contract.modes.notes)}),
        "error_cases": [_single_spaced(case) for case in contract.error_cases],
    }
    return contract.model_copy(update={**slots, **rest})


def _single_spaced(text: str) -> str:
    """A text without repeated spaces and spaces at its ends; within quotes they may be meant, and are written as `\\x20`."""
    meant = _QUOTED_WORDS.sub(lambda quoted: re.sub("(?<= ) ", r"\\x20", quoted[0]), text)
    return re.sub(" {2,}", " ", meant).strip(" ")


def _normal(text: str) -> str:
    """A default or a class statement as code is written; any other text with single spaces."""
    if text.startswith(DEFAULT):
        return DEFAULT + normal_or_same(text.removeprefix(DEFAULT))
    if statement := parse_statement(text):
        fields, properties = (
            tuple(f._replace(type=normal_type(f.type)) if f.type else f for f in of)
            for of in (statement.fields, statement.properties)
        )
        return statement._replace(fields=fields, properties=properties).render()
    if text.lower().startswith(OUT_OF_SCOPE):
        text = OUT_OF_SCOPE + text[len(OUT_OF_SCOPE) :]
    return _single_spaced(text)


def _passing_in_place(texts: list[str]) -> list[str]:
    """How a parameter is passed, after all but a default."""
    found = [text for text in texts if text in (KEYWORD_ONLY, ANY_NUMBER)]
    if len(found) != 1:
        return texts
    others = [text for text in texts if text not in found]
    default = others[-1:] if others and others[-1].startswith(DEFAULT) else []
    return [*others[: len(others) - len(default)], *found, *default]


def _classes_in_place(types: Sequence[str], texts: Sequence[list[str]]) -> list[list[str]]:
    """The statements of each slot with the classes where they belong; as they are where one cannot be read, is stated
    in two ways, or is named by no type."""
    said = [text for slot in texts for text in slot if looks_like_statement(text)]
    statements = [parse_statement(text) for text in said]
    known = {statement.name: statement for statement in statements if statement}
    due = placed(types, known)
    if None in statements or len({*said}) != len(known) or sum(map(len, due)) != len(known):
        return list(texts)
    ordered = list[list[str]]()
    for slot, classes in zip(texts, due, strict=True):
        others = [text for text in slot if not looks_like_statement(text)]
        default = others[-1:] if others and others[-1].startswith(DEFAULT) else []
        others = others[: len(others) - len(default)]
        ordered.append([*others, *(statement.render() for statement in classes), *default])
    return ordered
