"""What each test asserts, extracted by code, for judges who see neither source nor files (design: role-access)."""

import ast
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from specwright.domain.base.text import shortened

MOST_CHARACTERS = 12_000
"""Of a whole outline; tests beyond are named only."""

_VALUES = 400
_STATEMENT = 240
_TEST = 900


def test_outline(files: Mapping[str, bytes], claims: Mapping[str, Sequence[str]]) -> str:
    """The tests of a module: name, parameters, what it claims to show, what it calls and asserts.

    Args:
        files: The module's files; those below `tests/` are read, and what is no Python is left out.
        claims: The contract pointers of each test, from `tests/obligations.json`.
    """
    lines: list[str] = []
    length, left_out = 0, list[str]()
    for name, test in _tests(files):
        text = _entry(name, test, claims.get(name, ()))
        length += len(text)
        if length > MOST_CHARACTERS:
            left_out.append(name)
        else:
            lines.append(text)
    if left_out:
        lines.append(f"and {len(left_out)} tests more: {', '.join(left_out)}")
    return "\n".join(lines)


def _tests(files: Mapping[str, bytes]) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, data in sorted(files.items()):
        if not (path.startswith("tests/") and path.endswith(".py")):
            continue
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in _functions(tree.body):
            if node.name.startswith("test_"):
                yield node.name, node


def _functions(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _entry(name: str, test: ast.FunctionDef | ast.AsyncFunctionDef, pointers: Sequence[str]) -> str:
    shows = ", ".join(pointer or "the happy path" for pointer in pointers)
    parameters = [_parameters(decorator) for decorator in test.decorator_list]
    head = f"{name}{f' shows {shows}' if shows else ''}"
    body = "; ".join(shortened(_source(node), _STATEMENT) for node in _shown(test))
    return "\n".join([head, *(f"  {line}" for line in parameters if line), f"  {shortened(body, _TEST)}"])


def _parameters(decorator: ast.expr) -> str:
    """The values of a `parametrize` or a `given`; of any other decorator nothing."""
    if not isinstance(decorator, ast.Call):
        return ""
    name = ast.unparse(decorator.func).rpartition(".")[2]
    if name not in {"parametrize", "given", "example"}:
        return ""
    values = ", ".join(_source(argument) for argument in decorator.args)
    named = ", ".join(f"{k.arg}={_source(k.value)}" for k in decorator.keywords if k.arg != "ids")
    return shortened(f"{name}: {', '.join(part for part in (values, named) if part)}", _VALUES)


def _source(node: ast.AST) -> str:
    """Source of a node; characters that look like others or like none are escaped."""
    text = ast.unparse(node)
    seen = (c.isspace() or (c.isprintable() and not unicodedata.combining(c)) for c in text)
    return "".join(
        c if shown else c.encode("unicode_escape").decode() for c, shown in zip(text, seen, strict=True)
    )


def _shown(test: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """The assertions, in order, with the assignments that they read."""
    statements = [node for node in _simple(test.body) if not isinstance(node, ast.Import | ast.ImportFrom)]
    read = {
        name.id
        for node in statements
        if isinstance(node, ast.Assert | ast.With | ast.AsyncWith)
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    }
    return [node for node in statements if _asserts(node) or _assigned(node) & read]


def _simple(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, those in loops and conditions too; a `with raises` block is one."""
    for node in body:
        if isinstance(node, ast.For | ast.While | ast.If | ast.Try):
            yield from _simple(node.body)
            yield from _simple(node.orelse)
        elif isinstance(node, ast.With | ast.AsyncWith) and "raises" not in ast.unparse(node.items[0]):
            yield from _simple(node.body)
        else:
            yield node


def _asserts(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assert | ast.With | ast.AsyncWith)


def _assigned(node: ast.stmt) -> set[str]:
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return set()
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
