"""The examples that documents give of a function, as code whose last expression has a known result (design: adoption).

They are taken from its docstring, from those of its module and package, and from the README or the description of the
installed package, as doctest writes them. Whether they are true is for the sandbox; nothing is run here.
"""

import ast
import doctest
import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from specwright.domain.contract.examples_file import Outcome, python_tree, undefined_names
from specwright.gate.adopt.source_tree import PublicFunction, SourceTree, is_installation

_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_ERROR = re.compile(r"(?:\w+\.)*([A-Z]\w*)(?::|$)")
_ARROW = re.compile(r"^([ \t]*)([\w.]+\(.*\))[ \t]*#[ \t]*(?:=>|->|==>|returns:?)[ \t]*(\S.*)$", re.MULTILINE)
"""How many a README shows what a call gives."""
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_MOST = 40
_MOST_README = 500_000


class Text(NamedTuple):
    """A text that may hold examples.

    Args:
        label: Of its file.
        line: At which it begins, from 1.
        text: Its own.
    """

    label: str
    line: int
    text: str


class DocumentedExample(NamedTuple):
    """One example.

    Args:
        where: File and line.
        code: It stands alone but for the import of the module.
        wanted: What the document says comes out: a `repr`, a printed text, or `ErrorName: message`.
        is_printed: Whether it is a printed text.
        error: The name of the error; empty if there is none.
    """

    where: str
    code: str
    wanted: str
    is_printed: bool = False
    error: str = ""

    def problem(self, outcome: Outcome) -> str:
        """How an outcome differs from what the document says; empty if it does not."""
        if outcome.value is None:
            came = f"{outcome.errors[0]}: {outcome.message}"
            said = self.error or _error_named(self.wanted)
            return (
                ""
                if said == outcome.errors[0]
                else f"it raises {came[:200]}, the document says {self.wanted!r}"
            )
        got = ast.literal_eval(outcome.value) if self.is_printed else outcome.value
        if not self.error and (
            doctest.OutputChecker().check_output(f"{self.wanted}\n", f"{got}\n", _FLAGS)
            or (not self.is_printed and _are_equal(self.wanted, outcome.value))
        ):
            return ""
        return f"it gives {outcome.value[:200]}, the document says {self.wanted[:200]!r}"


def _are_equal(one: str, other: str) -> bool:
    """Whether two texts are literals of one value, such as in different quotes."""
    try:
        values = ast.literal_eval(one), ast.literal_eval(other)
        return type(values[0]) is type(values[1]) and values[0] == values[1]
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return False


def _error_named(wanted: str) -> str:
    """The class of an error whose last line alone is shown."""
    match = _ERROR.match(wanted.strip().rpartition("\n")[2])
    return match[1] if match else ""


def documented_examples(
    tree: SourceTree, function: PublicFunction, texts: Iterable[Text], names: Sequence[str]
) -> tuple[DocumentedExample, ...]:
    """The examples of a function.

    Args:
        tree: Of its module.
        function: Which one.
        texts: That may hold examples.
        names: What a module of it exports, the function first; an example that needs more is none of it.
    """
    found: dict[str, DocumentedExample] = {}
    for text in texts:
        for example in _in_text(tree, function.node.name, text, names):
            found.setdefault(example.code, example)
    return tuple(found.values())[:_MOST]


def _in_text(tree: SourceTree, name: str, text: Text, names: Sequence[str]) -> Iterator[DocumentedExample]:
    if name not in text.text:
        return
    setup: list[ast.stmt] = []
    aliases = {tree.top} if tree.top else set[str]()
    for example in _parsed(text):
        block = python_tree(example.source)
        if block is None:
            continue
        _note_imports(tree, block, aliases)
        body = [_Bare(aliases, names).visit(one) for one in block.body if not _is_own_import(tree, one)]
        wants = bool(example.want.strip() or example.exc_msg)
        if wants and body and isinstance(body[-1], ast.Expr) and _calls(body[-1], name):
            where = f"{text.label}:{_line_of(text, example)}"
            if made := _example(example, [*setup, *body], where, names):
                yield made
        elif not wants:
            setup += body


def _parsed(text: Text) -> list[doctest.Example]:
    # a fence ends an example as an empty line does; `f(x)  # => y` is one too
    sessions = _ARROW.sub(r"\1>>> \2\n\1\3\n", _FENCE.sub("", text.text))
    try:
        return doctest.DocTestParser().get_examples(sessions)
    except ValueError:
        return []


def _line_of(text: Text, example: doctest.Example) -> int:
    """The line of an example in its file."""
    place = text.text.find(example.source.rstrip("\n"))
    return text.line + (text.text.count("\n", 0, place) if place >= 0 else example.lineno)


def _example(
    example: doctest.Example, body: list[ast.stmt], where: str, names: Sequence[str]
) -> DocumentedExample | None:
    last = body[-1]
    assert isinstance(last, ast.Expr)
    is_printed = False
    match last.value:
        case ast.Call(func=ast.Name(id="print"), args=[inner], keywords=[] | [ast.keyword(arg="end")]):
            is_printed, last = True, ast.Expr(ast.Call(ast.Name("str", ast.Load()), [inner], []))
        case _:
            pass
    needed = _needed(body[:-1], last)
    whole = ast.fix_missing_locations(ast.Module([*needed, last], []))
    if undefined_names(whole) - set(names):
        return None
    code = ast.unparse(whole)
    if example.exc_msg:
        error = example.exc_msg.partition(":")[0].strip().rpartition(".")[2]
        return DocumentedExample(where, code, example.exc_msg.strip(), error=error)
    return DocumentedExample(where, code, example.want.rstrip("\n"), is_printed)


def _needed(setup: Sequence[ast.stmt], last: ast.stmt) -> list[ast.stmt]:
    """The statements before an expression that bind what it uses, or change it."""
    names = {node.id for node in ast.walk(last) if isinstance(node, ast.Name)}
    kept: list[ast.stmt] = []
    for statement in reversed(setup):
        bound = {
            n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        if isinstance(statement, ast.Import | ast.ImportFrom):
            bound = {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
        used = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
        is_change = isinstance(statement, ast.Expr) and used & names
        if bound & names or is_change:
            kept.insert(0, statement)
            names |= used
    return kept


def _note_imports(tree: SourceTree, block: ast.Module, aliases: set[str]) -> None:
    """Under which names a document knows the tree's own modules."""
    for node in block.body:
        for alias in node.names if isinstance(node, ast.Import) else ():
            if tree.module(alias.name) is not None:
                aliases.add(alias.asname or alias.name)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if tree.module(f"{node.module}.{alias.name}") is not None:
                    aliases.add(alias.asname or alias.name)


def _is_own_import(tree: SourceTree, node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (bool(node.module) and tree.module(node.module or "") is not None)
    return isinstance(node, ast.Import) and all(tree.module(alias.name) for alias in node.names)


class _Bare(ast.NodeTransformer):
    """`package.module.f` as `f`."""

    def __init__(self, aliases: set[str], names: Sequence[str]) -> None:
        self._aliases = aliases
        self._names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr in self._names and ast.unparse(node.value) in self._aliases:
            return ast.Name(node.attr, node.ctx)
        node.value = self.visit(node.value)
        return node


def _calls(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == name
        for one in ast.walk(node)
    )


def texts_of(tree: SourceTree, function: PublicFunction) -> list[Text]:
    """The docstrings that may show a function: its own, that of its module, that of the package."""
    modules = [function.module, *filter(None, [tree.module(tree.top) if tree.top else None])]
    found = [_docstring(function.module.label, function.node)]
    found += [_docstring(one.label, one.tree) for one in dict.fromkeys(modules)]
    return [text for text in found if text]


def _docstring(label: str, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module) -> Text | None:
    raw = ast.get_docstring(node, clean=False)
    return Text(label, node.body[0].lineno, inspect.cleandoc(raw)) if raw else None


def readme_of(tree: SourceTree) -> list[Text]:
    """The README of a source tree, or the description of an installed package."""
    if is_installation(tree.folder):
        files = list(_metadata(tree.folder, tree.top))
    else:
        folders = [tree.folder, tree.folder.parent] if tree.folder.name in {"src", "lib"} else [tree.folder]
        files = [path for folder in folders for path in sorted(folder.glob("README*")) if path.is_file()]
    return [
        Text(_label(tree, path), 1, text)
        for path in files
        if (text := path.read_bytes()[:_MOST_README].decode(errors="replace"))
    ]


def _label(tree: SourceTree, path: Path) -> str:
    if tree.root is not None:
        return tree.label(path, path.parent)
    return path.name if path.name.startswith("README") else f"{path.parent.name}/{path.name}"


def _metadata(site: Path, top: str) -> Iterator[Path]:
    for record in sorted(site.glob("*.dist-info/RECORD")):
        text = record.read_text(encoding="utf-8", errors="replace")
        if re.search(rf"^{re.escape(top)}(?:/__init__)?\.py,", text, re.MULTILINE):
            yield record.with_name("METADATA")
