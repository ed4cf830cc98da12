"""Compares the entry points as they are called with their source: what is called is what was read (design:
ship-gate).

A module could give a function other code, defaults, annotations or another docstring than the source says, while it is
imported or by a call. So each is made again from the source, with an empty body, among the names of the module, and
compared.
"""

import ast
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_PARTS = (
    "__defaults__",
    "__kwdefaults__",
    "__annotations__",
    "__doc__",
    "__dict__",
    "__closure__",
    "__name__",
)


def code_changes(module: types.ModuleType, file: Path, entries: Iterable[str]) -> Iterator[str]:
    """What of the entry points is not as the source says.

    Args:
        module: As it was imported.
        file: Its source.
        entries: The names of the entry points; each is bound once, by an undecorated definition.
    """
    source = file.read_bytes()
    tree = ast.parse(source)
    whole = compile(source, str(file), "exec", dont_inherit=True)
    codes = {part.co_name: part for part in whole.co_consts if isinstance(part, types.CodeType)}
    for name in entries:
        function: Any = getattr(module, name, None)
        if type(function) is not types.FunctionType or function.__globals__ is not vars(module):
            yield f"`{name}`"
            continue
        if function.__code__ != codes.get(name):
            yield f"the code of `{name}`"
        again = _stub_of(tree, name, module)
        for part in _PARTS:
            if repr(getattr(again, part)) != repr(getattr(function, part)):
                yield f"`{name}.{part}`"


def _stub_of(tree: ast.Module, name: str, module: types.ModuleType) -> Any:
    """The function with its docstring alone, from the source."""
    body: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            body.append(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            has_text = ast.get_docstring(node, clean=False) is not None
            node.body = node.body[:1] if has_text else [ast.Pass()]
            body.append(node)
    stub = ast.fix_missing_locations(ast.Module(body, []))
    names = dict(vars(module))
    exec(compile(stub, "<stub>", "exec", dont_inherit=True), names)  # noqa: S102 - only its defaults and annotations are executed
    return names.get(name)
