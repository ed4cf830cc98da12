"""An outline of each test's statements, for judges, who see neither source nor files (design: role-access)."""

import ast
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

MOST_CHARACTERS = 16_000
"""The size limit of the outline. Tests beyond it get only their first line: the name and the statements that they show."""

MOST_BEYOND = 6_000
"""The size limit of these first lines; tests beyond it are only counted."""

BEYOND = " (its statements are left out for want of room)"

_VALUES = 2_500
_LINE = 400
_BODY = 1_200

Function = ast.FunctionDef | ast.AsyncFunctionDef


def test_outline(files: Mapping[str, bytes], claims: Mapping[str, Sequence[str]]) -> str:
    """Outline the tests of a module: name, parameters, claimed statements and body of each; shared helpers once.

    Bodies are complete: to judge an assertion one needs the values that it reads, including those from loops and helpers.

    Args:
        files: The module's files, of which those below `tests/` are read; invalid Python is left out.
        claims: The contract pointers of each test, from `tests/obligations.json`.
    """
    lines: list[str] = []
    length = beyond = 0
    trees = list(_trees(files))
    shared = [text for tree in trees for text in _shared_in(tree.body, "")]
    tests = [one for tree in trees for one in _functions(tree.body) if one.name.startswith("test_")]
    entries = [_entry(test, claims.get(test.name, ())) for test in tests]
    for text in [*shared, *entries]:
        length += len(text)
        if length <= MOST_CHARACTERS:
            lines.append(text)
            continue
        first_line = text.partition("\n")[0] + BEYOND
        beyond += len(first_line)
        if beyond <= MOST_BEYOND:
            lines.append(first_line)
    if more := len(shared) + len(entries) - len(lines):
        lines.append(f"and {more} more")
    return "\n".join(lines)


def _trees(files: Mapping[str, bytes]) -> Iterator[ast.Module]:
    for path, data in sorted(files.items()):
        if path.startswith("tests/") and path.endswith(".py"):
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                yield ast.parse(data)


def _shared_in(body: Iterable[ast.stmt], owner: str) -> Iterator[str]:
    """Yield the constants, helpers and fixtures of a test file and its classes."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _shared_in(node.body, f"{owner}{node.name}.")
        elif isinstance(node, Function):
            if not node.name.startswith("test_"):
                yield "\n  ".join([f"helper {owner}{node.name}({_source(node.args)})", *_statements(node)])
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield _cut(owner + _on_one_line(node), _VALUES)
        elif not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr | ast.Pass):
            yield "\n  ".join(_cut(line, _LINE) for line in _source(node).splitlines() if line)


def _functions(body: Iterable[ast.stmt]) -> Iterator[Function]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body)
        elif isinstance(node, Function):
            yield node


def _entry(test: Function, pointers: Sequence[str]) -> str:
    shows = ", ".join(pointer or "the happy path" for pointer in pointers)
    parameters = [_parameters(decorator) for decorator in test.decorator_list]
    head = f"{test.name}{f' shows {shows}' if shows else ''}"
    return "\n  ".join([head, *(line for line in parameters if line), *_statements(test)])


def _statements(function: Function) -> Iterator[str]:
    """Yield the lines of a body without docstring and imports; long lines and long bodies are shortened."""
    left = _BODY
    for node in function.body:
        said = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if said or isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for line in _source(node).splitlines():
            if left <= 0:
                yield "..."
                return
            shown = _cut(line, _LINE)
            left -= len(shown)
            yield shown


def _cut(line: str, most: int) -> str:
    """Shorten a line to `most` characters, with a note."""
    return line if len(line) <= most else f"{line[:most]}... ({len(line)} characters)"


def _parameters(decorator: ast.expr) -> str:
    """Return the values of a `parametrize` or `given`; empty for other decorators."""
    if not isinstance(decorator, ast.Call):
        return ""
    name = ast.unparse(decorator.func).rpartition(".")[2]
    if name not in {"parametrize", "given", "example"}:
        return ""
    values = ", ".join(_on_one_line(argument) for argument in decorator.args)
    named = ", ".join(f"{k.arg}={_on_one_line(k.value)}" for k in decorator.keywords if k.arg != "ids")
    return _cut(f"{name}: {', '.join(part for part in (values, named) if part)}", _VALUES)


def _on_one_line(node: ast.AST) -> str:
    """Return the source of a value with line ends escaped: in an f-string they could look like another test."""
    return "\\n".join(_source(node).splitlines())


def _source(node: ast.AST) -> str:
    """Return the source of a node; combining and non-printing characters are escaped."""
    text = ast.unparse(node)
    seen = (c.isspace() or (c.isprintable() and not unicodedata.combining(c)) for c in text)
    return "".join(
        c if shown else c.encode("unicode_escape").decode() for c, shown in zip(text, seen, strict=True)
    )
