"""The Python files of a candidate: each is parsed once, and says what it binds at its top level (design: ship-gate).

griffe tells what a function looks like; the top level tells whether the name still means that function when the
module is imported: bound once, undecorated, exported by a literal `__all__`.

Left out: rebinding through `globals()` or another module, which the static stage refuses.
"""

import ast
import copy
import re
import threading
import warnings
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Self

from ship_gate.findings import Finding, FindingCode
from ship_gate.source.names import Names, read_names
from ship_gate.syntax_tree import parse_module
from ship_gate.verdict import ENTRY_FILE

TEST_FILE = re.compile(r"tests/test_[A-Za-z0-9_]+\.py")
"""The path of a file of tests."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef

_IMPLEMENTATION = "implementation/"
_PARSING = threading.Lock()
_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


class SourceError(Exception):
    """A source that cannot be read, or that has no surface to compare with a contract.

    Args:
        code: The code of the finding.
        where: The file, with the line where there is one.
        message: What to change.
    """

    def __init__(self, code: FindingCode, path: str, message: str) -> None:
        super().__init__(message)
        self.finding = Finding(code, path, message)


class Import(NamedTuple):
    """`from <level dots><module> import <name>`; `import a.b` has no name."""

    level: int
    module: str
    name: str


class TopLevel(NamedTuple):
    """The bindings of one source file.

    Args:
        where: The file's name for messages, `implementation/__init__.py`.
        exports: The names in `__all__`; empty if there is none.
        functions: Functions by name, each bound once and undecorated if it is an entry point.
        classes: Classes by name.
        imports: Names that come from elsewhere.
        bound: How often each name is bound, by whatever statement.
        aliases: Types with a name of their own, `JSON: TypeAlias = ...`, by name.
        variables: What is assigned the result of a call, `T = TypeVar("T")`, by name.
    """

    path: str
    exports: tuple[str, ...]
    functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef]
    classes: dict[str, ast.ClassDef]
    imports: dict[str, Import]
    bound: dict[str, int]
    aliases: dict[str, ast.AnnAssign]
    variables: dict[str, ast.Call]


class ParsedFiles(Mapping[str, bytes]):
    """Files by their paths in a module directory, the Python files among them parsed once.

    Args:
        files: The bytes of each.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = dict(files)
        self._trees: dict[str, ast.Module | SourceError] = {}
        self._names: dict[str, Names] = {}

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Self:
        """The files; as they are if they are parsed already."""
        return files if isinstance(files, cls) else cls(files)

    @classmethod
    def of_implementation(cls, directory: Path) -> Self:
        """The Python files of an `implementation` directory."""
        paths = [path for path in sorted(directory.rglob("*.py")) if path.is_file()]
        return cls(
            {_IMPLEMENTATION + path.relative_to(directory).as_posix(): path.read_bytes() for path in paths}
        )

    def __getitem__(self, path: str) -> bytes:
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def implementation(self) -> list[str]:
        """The paths of the implementation's Python files, the entry file first."""
        paths = [path for path in self if path.startswith(_IMPLEMENTATION) and path.endswith(".py")]
        return sorted(paths, key=lambda path: (path != ENTRY_FILE, path))

    def tests(self) -> list[str]:
        """The paths of the files of tests."""
        return sorted(filter(TEST_FILE.fullmatch, self))

    def tree(self, path: str) -> ast.Module:
        """The syntax tree of a file. Who changes it restores it.

        Raises:
            SourceError: `source.unreadable`; not UTF-8, or not Python.
        """
        if path not in self._trees:
            try:
                self._trees[path] = parse_source(self._files[path], path)
            except SourceError as error:
                self._trees[path] = error
        tree = self._trees[path]
        if isinstance(tree, SourceError):
            raise tree
        return tree

    def names(self, path: str) -> Names:
        """What the names of a file mean; raises as `tree`."""
        if path not in self._names:
            self._names[path] = read_names(self.tree(path))
        return self._names[path]

    def top_level(self, path: str) -> TopLevel:
        """The bindings of a file; raises as `tree` and `read_top_level`."""
        return read_top_level(self.tree(path), path)

    def unreadable(self) -> Iterator[Finding]:
        """A finding for each Python file that cannot be parsed."""
        for path in sorted(path for path in self if path.endswith(".py")):
            try:
                self.tree(path)
            except SourceError as error:
                yield error.finding

    def with_file(self, path: str, data: bytes) -> Self:
        """The same files with one in place of another; what is parsed stays parsed."""
        changed = type(self)({**self._files, path: data})
        if data == self._files.get(path):
            changed._trees, changed._names = self._trees, self._names
        else:
            changed._trees = {other: tree for other, tree in self._trees.items() if other != path}
            changed._names = {other: names for other, names in self._names.items() if other != path}
        return changed


def imported_file(files: Collection[str], folder: str, module: str) -> str | None:
    """The file that Python imports for a dotted name: a package comes before a file of its name.

    Args:
        files: The paths that there are.
        folder: The package that the name is relative to.
        module: The dotted name; empty for the package itself.
    """
    file = f"{folder}/__init__.py"
    for part in module.split(".") if module else ():
        if file == f"{folder}.py" and file in files:
            return None  # a plain file holds no further modules
        folder = f"{folder}/{part}"
        package = f"{folder}/__init__.py"
        file = package if package in files else f"{folder}.py"
    return file if file in files else None


def parse_source(source: bytes, path: str) -> ast.Module:
    """The syntax tree of a source file.

    Raises:
        SourceError: `source.unreadable`; not UTF-8, or not Python.
    """
    try:
        text = source.decode("utf-8-sig")
        # one at a time: which warnings are shown is one setting for all threads
        with _PARSING, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parse_module(source, path)
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"the file is not UTF-8 ({error}); save it as UTF-8") from error
    except SyntaxError as error:
        message = f"the file is not Python ({error.msg}); correct it"
        raise _unreadable(f"{path}:{error.lineno or 1}", message) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise _unreadable(path, f"the file cannot be parsed ({error}); simplify it") from error
    for number, line in enumerate(text.split("\n", 2)[:2], 1):
        declared = _ENCODING.match(line)
        if declared and declared[1].lower().replace("_", "-") not in {"utf-8", "utf8"}:
            raise _unreadable(f"{path}:{number}", "declares another encoding; use UTF-8")
    return tree


def _unreadable(path: str, message: str) -> SourceError:
    return SourceError(FindingCode.SOURCE_UNREADABLE, path, message)


def with_body(function: Definition, body: list[ast.stmt]) -> Definition:
    """A function with another body; the original stays as it is."""
    changed = copy.copy(function)
    changed.body = body
    return changed


def read_top_level(tree: ast.Module, path: str) -> TopLevel:
    """The bindings of a file.

    Raises:
        SourceError: `surface.star_import`; `surface.exports` for an `__all__` that is no literal.
    """
    facts = TopLevel(path, (), {}, {}, {}, {}, {}, {})
    exports: tuple[str, ...] = ()
    for node in tree.body:
        if _is_all(node):
            exports = _literal_names(node, path)
        _note(node, facts)
    mentions = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "__all__"]
    if len(mentions) > 1:
        message = "`__all__` is used twice; set it once"
        raise SourceError(FindingCode.SURFACE_EXPORTS, f"{path}:{mentions[-1]}", message)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            message = "a star import hides names; name each"
            raise SourceError(FindingCode.SURFACE_STAR_IMPORT, f"{path}:{node.lineno}", message)
    _Bindings(facts.bound).visit(tree)
    return facts._replace(exports=exports)


def _is_all(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def _literal_names(node: ast.stmt, path: str) -> tuple[str, ...]:
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    if isinstance(value, (ast.List, ast.Tuple)):
        names = [element.value for element in value.elts if isinstance(element, ast.Constant)]
        texts = {name for name in names if isinstance(name, str)}
        if len(texts) == len(names) == len(value.elts):
            return tuple(map(str, names))
    message = "`__all__` is no literal list of different names; write it out once"
    raise SourceError(FindingCode.SURFACE_EXPORTS, f"{path}:{node.lineno}", message)


def _note(node: ast.stmt, facts: TopLevel) -> None:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            facts.functions[name] = node
        case ast.ClassDef(name=name):
            facts.classes[name] = node
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=ast.expr()):
            if ast.unparse(annotation).rpartition(".")[2] == "TypeAlias":
                facts.aliases[name] = node
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
            facts.variables[name] = call
        case ast.ImportFrom(module=module, names=names, level=level):
            for alias in names:
                facts.imports[alias.asname or alias.name] = Import(level, module or "", alias.name)
        case ast.Import(names=names):
            for alias in names:
                facts.imports[alias.asname or alias.name.partition(".")[0]] = Import(0, alias.name, "")
        case _:
            pass


class _Bindings(ast.NodeVisitor):
    """Counts how often each of a module's names is bound; what a function binds within itself is its own."""

    def __init__(self, bound: dict[str, int]) -> None:
        self._bound = bound

    def _bind(self, name: str) -> None:
        self._bound[name] = self._bound.get(name, 0) + 1

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self._bind(node.id)

    def _visit_scope(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self._bind(node.name)
        for part in ast.walk(node):
            if isinstance(part, ast.Global):
                for name in part.names:
                    self._bind(name)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _visit_scope  # noqa: N815 - the visitor's protocol

    def _visit_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self._bind(alias.asname or alias.name.partition(".")[0])

    visit_Import = visit_ImportFrom = _visit_import  # noqa: N815 - the visitor's protocol

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._bind(node.name)
        self.generic_visit(node)

    def _skip(self, node: ast.AST) -> None:
        """A comprehension or lambda binds within itself."""

    visit_Lambda = visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _skip  # noqa: N815 - ast's names
