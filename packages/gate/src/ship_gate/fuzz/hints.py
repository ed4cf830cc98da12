"""What the fuzz draws from besides the declared types: the constants of a module's tests, and the numbers and limits in the
texts of its contract (design: module-directory, ship-gate).

An annotation says that a text comes in, a test shows what such a text looks like. Taken are expressions that hold
nothing but literals and the constructors of boundary types and exported classes; those that are given to an entry point are
also kept by parameter. They travel as source texts, since not every value is JSON.

Numbers and quoted texts are taken from every text of the contract, as places where something may change. A `Bound` is taken
from a constraint that says nothing else ("at most 1000 characters", "between 0 and 100", "one of 'a', 'b'"), so that
breaking it is beyond doubt.

Left out: what a test computes, the values of fixtures, and every other sentence of a contract, such as one about the
elements of a list; what it says is for the tests.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ship_gate.base.boundary_values import CLASSES, SCALARS
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import entry_points
from ship_gate.contract.types import BOUNDARY_IMPORTS, is_class_name
from ship_gate.source.files import ParsedFiles
from ship_gate.syntax_tree import parse_expression

_CONSTRUCTORS = {*BOUNDARY_IMPORTS, *CLASSES, "bytes"} - {"Literal"}
_LONGEST = 2000
_MOST = 300


class Constants(NamedTuple):
    """Constant expressions as source texts.

    Args:
        values: Every one, each once.
        given: Those that are given to an entry point, by the name of the parameter.
        aware: Whether a time zone is mentioned; a naive time never meets an aware one otherwise.
    """

    values: list[str]
    by_parameter: dict[str, list[str]]
    aware: bool


def constants_of(files: Mapping[str, bytes], contract: MicroModuleContract) -> Constants:
    """The constants in the tests of a module.

    Args:
        files: The module's; its test files are readable.
        contract: Names the entry points and their parameters.
    """
    names = [slot.name for slot in contract.inputs]
    parsed = ParsedFiles.of(files)
    entries = {entry.name: names for entry in entry_points(contract)}
    return constants_in(map(parsed.tree, parsed.tests()), entries)


def constants_in(trees: Iterable[ast.AST], entries: Mapping[str, Sequence[str]]) -> Constants:
    """The constants in code.

    Args:
        trees: Of it.
        entries: Functions, each with the names of its parameters.
    """
    values: dict[str, None] = {}
    by_parameter: dict[str, dict[str, None]] = {}
    aware = False
    for tree in trees:
        for node in _outermost(tree):
            values[ast.unparse(node)] = None
        for node in ast.walk(tree):
            aware = aware or (isinstance(node, ast.Name) and node.id in {"UTC", "timezone", "ZoneInfo"})
            if isinstance(node, ast.Call) and (names := entries.get(ast.unparse(node.func))) is not None:
                for name, argument in _arguments(node, names):
                    by_parameter.setdefault(name, {})[ast.unparse(argument)] = None
    known = {name for names in entries.values() for name in names}
    given = {name: _short(found) for name, found in by_parameter.items() if name in known}
    return Constants(_short(values), given, aware)


def _short(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if len(text) <= _LONGEST][:_MOST]


def _outermost(node: ast.AST) -> Iterator[ast.expr]:
    """The largest closed expressions; docstrings and formatted texts are none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr) or (
            isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        ):
            continue
        if isinstance(child, ast.expr) and _is_closed(child):
            yield child
        else:
            yield from _outermost(child)


def _arguments(call: ast.Call, names: Sequence[str]) -> Iterator[tuple[str, ast.expr]]:
    for name, argument in zip(names, call.args, strict=False):
        if _is_closed(argument):
            yield name, argument
    for keyword in call.keywords:
        if keyword.arg and _is_closed(keyword.value):
            yield keyword.arg, keyword.value


def _is_closed(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return value is not ...
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return all(map(_is_closed, elements))
        case ast.Dict(keys=keys, values=values):
            return all(key is not None and _is_closed(key) for key in keys) and all(map(_is_closed, values))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_closed(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() | ast.Sub(), right=right):
            return _is_closed(left) and _is_closed(right)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
            return (name in _CONSTRUCTORS or is_class_name(name)) and all(
                map(_is_closed, [*arguments, *(keyword.value for keyword in keywords)])
            )
        case _:
            return False


_WORDS = {
    w: str(n)
    for n, w in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}
_NUMBER = r"[+-]?\d[\d_,]*(?:\.\d+)?"
_COUNT = rf"(?:{_NUMBER}|{'|'.join(_WORDS)})"
_IN_TEXT = re.compile(rf"(?<![\w.]){_NUMBER}(?![\w])")
_QUOTED = re.compile(r"'([^']{1,200})'|\"([^\"]{1,200})\"|`([^`]{1,200})`")
_CHOICE = re.compile(r"(?:is |must be )?(?:one of|either) (?P<list>.+)", re.IGNORECASE)
_NUMERIC = {row.name for row in SCALARS if row.is_bounded}
_SIZED = re.compile(r"(?:str|bytes|list|set|frozenset|dict|tuple)\b")
_UNITS = {"str": r"characters?(?: long)?", "bytes": r"bytes?(?: long)?"}
_LARGEST = 10**30
_MOST_TRIED = 128


class Bound(NamedTuple):
    """A limit of one input, as its constraint states it.

    Args:
        text: The constraint.
        of: Whether the value, its length or its membership is limited.
        low: The least, as a decimal text; empty if there is none. `above` makes it exclusive.
        high: The greatest, likewise. `below` makes it exclusive.
        values: The choices.
    """

    text: str
    of: str
    low: str = ""
    high: str = ""
    above: bool = False
    below: bool = False
    values: tuple[str, ...] = ()


def numbers(texts: Iterable[str]) -> list[str]:
    """Every number in some texts, as decimal texts, each once."""
    found = [_decimal_text(match) for text in texts for match in _IN_TEXT.findall(text)]
    return [number for number in dict.fromkeys(found) if abs(float(number)) <= _LARGEST]


def quoted(texts: Iterable[str]) -> list[str]:
    """Every quoted text in some texts, each once."""
    found = ["".join(groups) for text in texts for groups in _QUOTED.findall(text)]
    return list(dict.fromkeys(found))


def bounds(declared: str, constraints: Iterable[str]) -> list[Bound]:
    """The constraints of an input that say a limit and nothing else.

    Args:
        declared: The type; that of an optional input limits what is given.
        constraints: The texts.
    """
    base = " | ".join(part for part in declared.split(" | ") if part != "None")
    return [bound for text in constraints if (bound := _bound(base, text)) is not None]


def small_range(declared: str, constraints: Iterable[str]) -> tuple[int, int] | None:
    """The least and the greatest number that an input may be, if all between them can be tried."""
    found = [bound for bound in bounds(declared, constraints) if bound.of == "value"]
    ends = [int(end) for bound in found for end in (bound.low, bound.high) if end.lstrip("-").isdigit()]
    is_small = "int" in declared.split(" | ") and len(ends) == 2 and 0 <= ends[1] - ends[0] <= _MOST_TRIED
    return (ends[0], ends[1]) if is_small else None


def _bound(base: str, text: str) -> Bound | None:
    sentence = text.strip().rstrip(".")
    if base == "str" and (choice := _CHOICE.fullmatch(sentence)):
        values = _choices(choice["list"])
        return Bound(text, "choice", values=values) if values else None
    if base in _NUMERIC:
        return _limited(text, sentence, "value", "")
    if _SIZED.match(base) and " | " not in base:
        if re.fullmatch(r"(?:is |must be )?(?:non-empty|not empty)", sentence, re.IGNORECASE):
            return Bound(text, "length", low="1")
        kind = re.split(r"\W", base)[0]
        return _limited(text, sentence, "length", " " + _UNITS.get(kind, r"[a-z]+"))
    return None


def _choices(listed: str) -> tuple[str, ...]:
    """The texts of a list that holds nothing else."""
    try:
        value = ast.literal_eval(
            parse_expression("(" + re.sub(r",? (?:or|and) (?=['\"])", ", ", listed) + ",)")
        )
    except (ValueError, SyntaxError):
        return ()
    return tuple(map(str, value)) if all(isinstance(part, str) for part in value) else ()


_FORMS: list[tuple[str, Callable[[re.Match[str]], dict[str, object]]]] = [
    (r"(?:between|from) (?P<a>{n}) (?:and|to) (?P<b>{n}){u}(?: inclusive)?", lambda m: _both(m["a"], m["b"])),
    (
        r"(?:at least|no less than|no fewer than|minimum) (?P<a>{n}){u}",
        lambda m: {"low": _decimal_text(m["a"])},
    ),
    (r"(?P<a>{n}){u} or more", lambda m: {"low": _decimal_text(m["a"])}),
    (r"(?:at most|no more than|up to|maximum) (?P<a>{n}){u}", lambda m: {"high": _decimal_text(m["a"])}),
    (r"(?P<a>{n}){u} or (?:less|fewer)", lambda m: {"high": _decimal_text(m["a"])}),
    (r"(?:greater|more|longer) than (?P<a>{n}){u}", lambda m: {"low": _decimal_text(m["a"]), "above": True}),
    (r"(?:less|fewer|shorter) than (?P<a>{n}){u}", lambda m: {"high": _decimal_text(m["a"]), "below": True}),
    (r"exactly (?P<a>{n}){u}", lambda m: _both(m["a"], m["a"])),
]
_SIGNS: dict[str, dict[str, object]] = {
    "positive": {"low": "0", "above": True},
    "non-negative": {"low": "0"},
    "not negative": {"low": "0"},
}


def _limited(text: str, sentence: str, of: str, unit: str) -> Bound | None:
    sentence = re.sub(r"^(?:is|must be|has) ", "", sentence)
    if of == "value" and sentence.lower() in _SIGNS:
        return Bound(text, of, **_SIGNS[sentence.lower()])  # pyright: ignore[reportArgumentType]  # its own fields
    for form, read in _FORMS:
        pattern = form.replace("{n}", _COUNT).replace("{u}", unit)
        if match := re.fullmatch(pattern, sentence, re.IGNORECASE):
            return Bound(text, of, **read(match))  # pyright: ignore[reportArgumentType]  # its own fields
    return None


def _both(low: str, high: str) -> dict[str, object]:
    return {"low": _decimal_text(low), "high": _decimal_text(high)}


def _decimal_text(number: str) -> str:
    return _WORDS.get(number.lower(), number.replace(",", "").replace("_", ""))
