"""Code that a draft repeats from a sealed module, apart from names (design: contract-at-fault).

Lines are compared in the layout of `ast.unparse`, with a mark for each name that is not a builtin. Docstrings, imports,
`__all__`, classes without methods, and the code of the stub are ignored, because modules have them in common anyway.
"""

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ship_gate.syntax_tree import parse_module

REPEATED = "source.repeated"
"""The code of a finding about repeated code. The gate, which sees one module only, does not use it."""

LEAST = 12
"""The number of consecutive lines that count as repeated."""

_MARK = re.compile(r"\bname\d+_\b")
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Lines(NamedTuple):
    """A part of a module: its file, first and last line."""

    path: str
    first: int
    last: int


class _Line(NamedTuple):
    """A line in the common layout: the lines of its statement in the file, its indentation, text and names."""

    first: int
    last: int
    indent: int
    text: str
    names: Sequence[str]


def runs_of(files: Mapping[str, bytes], stub: Mapping[str, bytes] | None = None) -> dict[int, Lines]:
    """Return every run of `LEAST` lines of a module's code, by a hash that is stable within this process.

    Args:
        files: The module's files.
        stub: The files that the factory wrote, which do not count.
    """
    given = {ast.dump(one) for data in (stub or {}).values() for one in _statements_of(data)}
    found: dict[int, Lines] = {}
    for path, data in sorted(files.items()):
        if path.startswith("implementation/") and path.endswith(".py"):
            lines = list(_lines(data, given))
            for start in range(len(lines) - LEAST + 1):
                run = lines[start : start + LEAST]
                place = Lines(path, run[0].first, max(line.last for line in run))
                found.setdefault(_hash(run), place)
    return found


def in_words(places: Collection[Lines]) -> str:
    """Describe the lines of runs: `implementation/__init__.py, lines 4-20 and 31-44`."""
    joined: list[Lines] = []
    for place in sorted(places):
        if joined and joined[-1].path == place.path and place.first <= joined[-1].last + 1:
            joined[-1] = joined[-1]._replace(last=max(joined[-1].last, place.last))
        else:
            joined.append(place)
    return " and ".join(f"{path}, lines {first}-{last}" for path, first, last in joined)


def _hash(run: Sequence[_Line]) -> int:
    """Hash lines, with names replaced by numbers in order of appearance."""
    numbers, margin = dict[str, int](), min(line.indent for line in run)
    said = (
        (line.indent - margin, line.text, *(numbers.setdefault(name, len(numbers)) for name in line.names))
        for line in run
    )
    return hash(tuple(said))


def _lines(data: bytes, given: Collection[str]) -> Iterator[_Line]:
    """Yield the lines of code in the common layout."""
    body, marks = [one for one in _statements_of(data) if ast.dump(one) not in given], dict[str, str]()
    for node in (node for one in body for node in ast.walk(one) if not isinstance(node, ast.keyword)):
        for field in ("id", "name", "arg"):
            name = getattr(node, field, None)
            if isinstance(name, str) and not hasattr(builtins, name):
                setattr(node, field, marks.setdefault(name, f"name{len(marks)}_"))
    try:
        common = ast.unparse(ast.Module(body, []))
        pairs = zip(_all_statements(body), _all_statements(parse_module(common).body), strict=True)
        places = {new.lineno: (old.lineno, _last_line(old)) for old, new in pairs}
    except _UNREADABLE:
        return  # the gate reports such a file
    place = (1, 1)
    for number, line in enumerate(common.splitlines(), start=1):
        place = places.get(number, place)
        if text := line.lstrip():
            yield _Line(*place, len(line) - len(text), _MARK.sub("", text), _MARK.findall(text))


def _statements_of(data: bytes) -> list[ast.stmt]:
    """Return the statements of a file that count, without docstrings; empty if it is not Python."""
    try:
        tree = parse_module(data)
    except _UNREADABLE:
        return []
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.copy_location(ast.Pass(), node.body[0])]
    return [one for one in tree.body if not _is_common(one)]


def _is_common(one: ast.stmt) -> bool:
    if isinstance(one, ast.ClassDef):
        return not any(isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) for part in one.body)
    exports = isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "__all__"
    return exports or isinstance(one, ast.Import | ast.ImportFrom)


def _all_statements(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    return [node for one in body for node in ast.walk(one) if isinstance(node, ast.stmt)]


def _last_line(one: ast.stmt) -> int:
    """Return the last line of a statement, or the first line of a compound one."""
    return one.lineno if hasattr(one, "body") else one.end_lineno or one.lineno
