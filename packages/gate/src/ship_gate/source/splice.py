"""Puts the contract's docstring into a module's source, byte for byte beside it (design: ship-gate).

The Proposer writes signature and body; the factory writes the docstring, so that its text cannot drift. A docstring
that says the same already stays as it is written. Everything is done by the positions of the syntax tree, in bytes, and
the result is compared with the source: apart from the docstring it must be the same program.
"""

import ast
import codecs
import inspect

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import docstring_literal, entry_points, render_docstring
from ship_gate.contract.rules import is_vocabulary
from ship_gate.findings import FindingCode
from ship_gate.source.files import Definition, ParsedFiles, SourceError, with_body
from ship_gate.verdict import ENTRY_FILE


def splice(source: bytes, contract: MicroModuleContract) -> bytes:
    """The source with the contract's docstring in each of its entry points that is defined.

    Raises:
        SourceError: `source.unreadable`; or `surface.docstring` where the docstring has no place.
    """
    return spliced_files(ParsedFiles({ENTRY_FILE: source}), contract)[ENTRY_FILE]


def spliced_files(files: ParsedFiles, contract: MicroModuleContract) -> ParsedFiles:
    """A module's files with the contract's docstring in the entry file; raises as `splice`."""
    text = render_docstring(contract)
    source = files[ENTRY_FILE]
    mark = codecs.BOM_UTF8 if source.startswith(codecs.BOM_UTF8) else b""
    spliced = source.removeprefix(mark)
    names = {entry.name for entry in entry_points(contract)}
    tree = files.tree(ENTRY_FILE)
    if is_vocabulary(contract):
        return files.with_file(ENTRY_FILE, mark + _with_module_docstring(spliced, tree, text))
    last = {n.name: n for n in tree.body if isinstance(n, Definition) and n.name in names}
    # from the last one upwards, so that the positions of the others stay right
    for function in sorted(last.values(), key=lambda node: -node.lineno):
        if inspect.cleandoc(ast.get_docstring(function, clean=False) or "") != text:
            spliced = _placed(spliced, function, text)
    result = files.with_file(ENTRY_FILE, mark + spliced)
    if mark + spliced != source and not _is_same_program(files, result, names):
        message = "the docstring has no place; put the body on lines of its own"
        raise SourceError(FindingCode.SURFACE_DOCSTRING, ENTRY_FILE, message)
    return result


def _with_module_docstring(source: bytes, tree: ast.Module, text: str) -> bytes:
    """The source of definitions, whose module carries the contract."""
    if (own := ast.get_docstring(tree, clean=False)) is not None and inspect.cleandoc(own) == text:
        return source
    literal = docstring_literal(text, "").encode()
    if not tree.body:
        return literal + b"\n" + source
    lines = source.splitlines(keepends=True)
    first = tree.body[0]
    row = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))])
    start = _offset(lines, row, 0)
    if own is None:
        return source[:start] + literal + b"\n\n" + source[start:]
    end = _offset(lines, first.end_lineno or row, first.end_col_offset or 0)
    return source[:start] + literal + source[end:]


def _is_same_program(before: ParsedFiles, after: ParsedFiles, names: set[str]) -> bool:
    try:
        trees = before.tree(ENTRY_FILE), after.tree(ENTRY_FILE)
    except SourceError:
        return False
    dumps = [[ast.dump(_without_docstring(node, names)) for node in tree.body] for tree in trees]
    return dumps[0] == dumps[1]


def _without_docstring(node: ast.stmt, names: set[str]) -> ast.AST:
    if (
        isinstance(node, Definition)
        and node.name in names
        and ast.get_docstring(node, clean=False) is not None
    ):
        return with_body(node, node.body[1:])
    return node


def _placed(source: bytes, function: Definition, text: str) -> bytes:
    lines = source.splitlines(keepends=True)
    newline = "\r\n" if lines[0].endswith(b"\r\n") else "\n"
    first = function.body[0]
    row = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))])
    line = lines[row - 1]
    before = line[: first.col_offset] if row == first.lineno else line[: len(line) - len(line.lstrip(b" \t"))]
    own_line = not before.strip()
    margin = lines[function.lineno - 1][: function.col_offset].decode()
    indent = before.decode() if own_line else margin + "    "
    literal = docstring_literal(text, indent, newline).encode()
    start = _offset(lines, row, len(before))
    if ast.get_docstring(function, clean=False) is not None:
        end = _offset(lines, first.end_lineno or row, first.end_col_offset or 0)
        return source[:start] + literal + source[end:]
    lead = (newline + indent).encode()
    if own_line:
        return source[:start] + literal + lead + source[start:]
    return source[:start].rstrip(b" \t") + lead + literal + lead + source[start:]


def _offset(lines: list[bytes], row: int, column: int) -> int:
    return sum(len(line) for line in lines[: row - 1]) + column
