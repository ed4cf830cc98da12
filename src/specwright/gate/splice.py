"""Puts the contract's docstring into a module's source, byte for byte beside it (DESIGN §8, D-S8-03).

The Proposer writes signature and body; the factory writes the docstring, so that prose cannot drift. A
docstring that says the same already stays as it is written. Everything is done by the positions of the
syntax tree, in bytes, and the result is compared with the source: apart from the docstring it must be the
same program."""

import ast
import codecs
import inspect

from specwright.domain.contract import MicroModuleContract
from specwright.domain.docstring import docstring_literal, entry_points, render_docstring
from specwright.gate.top_level import SurfaceFault, parse_source

__all__ = ["splice"]

_WHERE = "implementation/__init__.py"
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def splice(source: bytes, contract: MicroModuleContract) -> bytes:
    """The source with the contract's docstring in each of its entry points that is defined.

    Raises:
        SurfaceFault: `source.unreadable`; or `surface.docstring` where the docstring has no place.
    """
    text = render_docstring(contract)
    mark = codecs.BOM_UTF8 if source.startswith(codecs.BOM_UTF8) else b""
    spliced = source.removeprefix(mark)
    for entry in entry_points(contract):
        function = _function(parse_source(spliced, _WHERE), entry.name)
        if function is None or inspect.cleandoc(ast.get_docstring(function, clean=False) or "") == text:
            continue
        spliced = _placed(spliced, function, text)
    names = {entry.name for entry in entry_points(contract)}
    if _without_docstrings(spliced, names) != _without_docstrings(source.removeprefix(mark), names):
        raise SurfaceFault(
            "surface.docstring", _WHERE, "the docstring has no place; put the body on lines of its own"
        )
    return mark + spliced


def _function(tree: ast.Module, name: str) -> _Function | None:
    found = [
        n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.name == name
    ]
    return found[-1] if found else None


def _placed(source: bytes, function: _Function, text: str) -> bytes:
    lines = source.splitlines(keepends=True)
    newline = "\r\n" if lines[0].endswith(b"\r\n") else "\n"
    first = function.body[0]
    row = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))])
    before = (
        lines[row - 1][: first.col_offset]
        if row == first.lineno
        else lines[row - 1][: _margin(lines[row - 1])]
    )
    own_line = not before.strip()
    indent = (
        before.decode() if own_line else lines[function.lineno - 1][: function.col_offset].decode() + "    "
    )
    literal = docstring_literal(text, indent, newline).encode()
    start = _offset(lines, row, len(before))
    if ast.get_docstring(function, clean=False) is not None:
        end = _offset(lines, first.end_lineno or row, first.end_col_offset or 0)
        return source[:start] + literal + source[end:]
    if own_line:
        return source[:start] + literal + (newline + indent).encode() + source[start:]
    lead = (newline + indent).encode()
    return source[:start].rstrip(b" \t") + lead + literal + lead + source[start:]


def _margin(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" \t"))


def _offset(lines: list[bytes], row: int, column: int) -> int:
    return sum(len(line) for line in lines[: row - 1]) + column


def _without_docstrings(source: bytes, names: set[str]) -> str:
    try:
        tree = parse_source(source, _WHERE)
    except SurfaceFault:
        return ""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in names:
            documented = ast.get_docstring(node, clean=False) is not None
            node.body = node.body[1:] if documented else node.body
    return ast.dump(tree)
