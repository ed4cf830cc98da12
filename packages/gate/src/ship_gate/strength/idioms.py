"""Idioms that are easily taken for one another: each is right for some values that the other is wrong for (design:
ship-gate).

    a // b + 1                -(-a // b)            a division without a remainder
    math.ceil(x)              math.floor(x) + 1     a whole number
    math.floor(x), int(a / b) round(x)              a fraction over a half
    moment.replace(tzinfo=z)  moment.astimezone(z)  a moment of another zone

A module that has one of them is right only if its author knew which; a test shows it with a value where they differ. Such a
fault must be noticed, however many other mutants die.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

_NO_REMAINDER = "a division that leaves no remainder"
_WHOLE = "a whole number"
_OVER_A_HALF = "a fraction of more than a half"
_OTHER_ZONE = "a moment of another zone"


class OtherIdiom(NamedTuple):
    """An expression that is easily taken for another.

    Args:
        source: The other one.
        value: What tells them apart.
        text: The other one as a person reads it, if that is shorter.
    """

    source: str
    value: str
    text: str = ""


def other_idioms(node: ast.expr) -> Iterator[OtherIdiom]:
    """What an expression is easily taken for."""
    match node:
        case ast.BinOp(ast.BinOp(a, ast.FloorDiv(), b), ast.Add(), ast.Constant(1)):
            yield OtherIdiom(f"-(-{_inner(a)} // {_inner(b)})", _NO_REMAINDER)
        case ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), a), ast.FloorDiv(), b)):
            yield OtherIdiom(f"{_inner(a)} // {_inner(b)} + 1", _NO_REMAINDER)
        case ast.BinOp(
            ast.BinOp(ast.BinOp(a, ast.Add(), b), ast.Sub(), ast.Constant(1)), ast.FloorDiv(), again
        ) if _inner(b) == _inner(again):
            yield OtherIdiom(f"{_inner(a)} // {_inner(b)} + 1", _NO_REMAINDER)
        case ast.Call(ast.Name("ceil") | ast.Attribute(ast.Name("math"), "ceil"), [x], []):
            yield OtherIdiom(f"int({_inner(x)} // 1) + 1", _WHOLE)
        case ast.Call(ast.Name("floor") | ast.Attribute(ast.Name("math"), "floor"), [x], []):
            yield OtherIdiom(f"round({_inner(x)})", _OVER_A_HALF)
        case ast.Call(ast.Name("int"), [ast.BinOp(_, ast.Div(), _) as x], []):
            yield OtherIdiom(f"round({_inner(x)})", _OVER_A_HALF)
        case ast.Call(ast.Attribute(moment, "astimezone"), [zone], []):
            yield OtherIdiom(f"{_inner(moment)}.replace(tzinfo={_inner(zone)})", _OTHER_ZONE)
        case ast.Call(ast.Attribute(moment, "replace"), [], [ast.keyword("tzinfo", ast.expr() as zone)]) if (
            not isinstance(zone, ast.Constant)
        ):
            # a moment without a zone cannot be converted; here any test of one notices
            naive = f"m.replace(tzinfo={_inner(zone)}, microsecond=m.microsecond ^ 1)"
            source = f"(lambda m: m.astimezone({_inner(zone)}) if m.tzinfo else {naive})({_inner(moment)})"
            text = f"{ast.unparse(moment)}.astimezone({ast.unparse(zone)})"
            yield OtherIdiom(source, _OTHER_ZONE, text)
        case _:
            pass


def _inner(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"
