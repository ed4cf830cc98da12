"""A tree of Python source that nobody imports: its files, its modules and its public functions (design: adoption).

Everything is read from files. What a name of the tree leads to is followed through imports within the tree, as Python
would follow it; what lies outside of it, such as an installed package, is left to the module's scope.
"""

import ast
import importlib.machinery
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from specwright.domain.base.text import closest
from specwright.errors import InputError
from specwright.gate.findings import FindingCode
from specwright.gate.source.files import Definition, SourceError, parse_source

_PASSED_OVER = {
    "__pycache__",
    "tests",
    "test",
    "testing",
    "_vendor",
    "vendor",
    "node_modules",
    "build",
    "dist",
}
_MOST_HOPS = 16
_MOST_BYTES = 1024 * 1024


class Module:
    """One file of the tree.

    Args:
        name: Dotted, from the top of its package.
        path: Of the file.
        label: How messages name the file.
    """

    def __init__(self, name: str, path: Path, label: str) -> None:
        self.name = name
        self.path = path
        self.label = label
        self._reading = threading.Lock()
        self._tree: ast.Module | None = None

    @property
    def is_package(self) -> bool:
        """Whether it is the `__init__.py` of a folder."""
        return self.path.name == "__init__.py"

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.path.read_bytes()

    @property
    def tree(self) -> ast.Module:
        """The syntax tree, the same one for all threads.

        Raises:
            SourceError: it is not Python in UTF-8, or too large.
        """
        with self._reading:
            if self._tree is None:
                if len(self.data) > _MOST_BYTES:
                    raise SourceError(FindingCode.FILES_SIZE, self.label, "the file is larger than 1 MiB")
                self._tree = parse_source(self.data, self.label)
            return self._tree

    @cached_property
    def bindings(self) -> dict[str, list[ast.stmt]]:
        """The top-level statements that bind each name, in their order."""
        found: dict[str, list[ast.stmt]] = {}
        for statement in self.tree.body:
            for name in sorted(bound_names(statement)):
                found.setdefault(name, []).append(statement)
        return found

    def at_runtime(self, name: str) -> list[ast.stmt]:
        """The statements that bind a name when the module is imported."""
        return [one for one in self.bindings.get(name, []) if not is_for_types(one)]

    @cached_property
    def exports(self) -> tuple[str, ...] | None:
        """The names in a literal `__all__`; None if there is none."""
        for statement in self.bindings.get("__all__", ()):
            value = getattr(statement, "value", None)
            if isinstance(value, ast.List | ast.Tuple):
                texts = [one.value for one in value.elts if isinstance(one, ast.Constant)]
                return tuple(text for text in texts if isinstance(text, str))
        return None

    def function(self, name: str) -> Definition | None:
        """The function that a name of the file is bound to last."""
        statements = self.bindings.get(name, [])
        return statements[-1] if statements and isinstance(statements[-1], Definition) else None


class PublicFunction(NamedTuple):
    """A function to adopt: the module that defines it, and its definition."""

    module: Module
    node: Definition

    @property
    def name(self) -> str:
        """Dotted."""
        return f"{self.module.name}.{self.node.name}"

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.module.label}:{self.node.lineno}"

    def is_called(self, name: str) -> bool:
        """Whether a name, dotted or only its end, is this function's."""
        return f".{self.name}".endswith(f".{name}")


class Target(NamedTuple):
    """What a name leads to: a binding in a module, or a module itself if the name is empty."""

    module: Module
    name: str


class SourceTree:
    """A package with its files, or a file with those beside it.

    Args:
        folder: Where the top package or the file lies.
        top: The first part of the names of all its modules; empty if the files beside one another are modules.
        root: What messages name files from; the folder if left out.
    """

    def __init__(self, folder: Path, top: str, root: Path | None = None) -> None:
        self.folder = folder
        self.top = top
        self.root = root
        self._modules: dict[str, Module | None] = {}

    def label(self, path: Path, otherwise: Path) -> str:
        """How messages name a file: from the root, or from another folder where there is none or the file is outside."""
        for place in (self.root, otherwise):
            if place is not None and path.is_relative_to(place):
                return path.relative_to(place).as_posix()
        return path.as_posix()

    def module(self, name: str) -> Module | None:
        """A module of the tree by its dotted name; None if it has none."""
        if name not in self._modules:
            self._modules[name] = self._find(name)
        return self._modules[name]

    def _find(self, name: str) -> Module | None:
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            return None
        if self.top and parts[0] != self.top:
            return None
        if not self.top and parts[0] in sys.stdlib_module_names:
            return None
        base = self.folder.joinpath(*parts)
        for path in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if path.is_file():
                return Module(name, path, self.label(path, self.folder))
        return None

    def imported(self, module: Module, node: ast.ImportFrom) -> str | None:
        """The dotted name that a `from` import means; None if it leads above the tree."""
        if node.level == 0:
            return node.module or ""
        parts = module.name.split(".")
        keep = len(parts) - node.level + (1 if module.is_package else 0)
        if keep < 1:
            return None
        return ".".join([*parts[:keep], *(node.module.split(".") if node.module else [])])

    def resolve(self, module: Module, name: str) -> Target | None:
        """What a top-level name of a module leads to within the tree, through imports; None if it leads outside."""
        for _ in range(_MOST_HOPS):
            statements = module.bindings.get(name)
            if statements is None:
                return self._starred(module, name)
            found = self._imported_by(module, statements[-1], name) if len(statements) == 1 else None
            if found is None:
                outside = all(_is_outside(self, module, one, name) for one in statements)
                return None if outside else Target(module, name)
            if not found.name:
                return found
            module, name = found
        return None

    def _imported_by(self, module: Module, statement: ast.stmt, name: str) -> Target | None:
        """What an import binds a name to; of alternatives, as for a part in C, the one that can be read."""
        targets = {
            target
            for node in ast.walk(statement)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if (alias.asname or alias.name) == name and (target := self.target(module, node, alias.name))
        }
        is_import = isinstance(statement, ast.ImportFrom | ast.If | ast.Try)
        return targets.pop() if is_import and len(targets) == 1 else None

    def target(self, module: Module, node: ast.ImportFrom, original: str) -> Target | None:
        """The module and name that one name of a `from` import means; None if it lies outside of the tree."""
        dotted = self.imported(module, node)
        origin = self.module(dotted) if dotted else None
        if origin is not None and (original in origin.bindings or original == "*"):
            return Target(origin, original)
        inner = self.module(f"{dotted}.{original}") if dotted else None
        if inner is not None:
            return Target(inner, "")
        return Target(origin, original) if origin is not None else None

    def _starred(self, module: Module, name: str) -> Target | None:
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                found = self.target(module, node, "*")
                if found and found.module is not module and (inner := self.resolve(found.module, name)):
                    return inner
        return None

    def modules(self) -> Iterator[Module]:
        """Every module of the top package that is neither private nor a test, in the order of their paths."""
        root = self.folder / self.top
        if not root.is_dir():
            yield from filter(None, [self.module(self.top)])
            return
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(self.folder).with_suffix("").parts
            if _PASSED_OVER & set(parts) or any(part.startswith(".") for part in parts):
                continue
            dotted = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if module := self.module(dotted):
                yield module

    def public_functions(self, modules: Sequence[Module]) -> list[PublicFunction]:
        """The public functions that modules define or export, each once.

        Raises:
            SourceError: a file is not Python.
        """
        found: dict[tuple[str, str], PublicFunction] = {}
        for module in modules:
            is_private = any(p.startswith("_") for p in module.name.split("."))
            names = [name for name in module.bindings if not name.startswith("_")]
            if module.exports is not None:
                names = [name for name in names if name in module.exports]
            for name in [] if is_private else names:
                target = self.resolve(module, name)
                node = target.module.function(target.name) if target and target.name else None
                is_own = target is not None and (target.module is module or module.exports is not None)
                if target and node and is_own:
                    found.setdefault((target.module.name, node.name), PublicFunction(target.module, node))
        return sorted(found.values(), key=lambda one: (one.module.label, one.node.lineno))


def is_installation(folder: Path) -> bool:
    """Whether packages are installed in a folder, each beside others that it has nothing to do with."""
    return any(folder.glob("*.dist-info"))


def _is_outside(tree: SourceTree, module: Module, statement: ast.stmt, name: str) -> bool:
    """Whether a statement binds a name to something that does not belong to the tree."""
    if isinstance(statement, ast.ImportFrom):
        return all(tree.target(module, statement, a.name) is None for a in statement.names)
    if isinstance(statement, ast.Import):
        return all(tree.module(alias.name) is None for alias in statement.names)
    return False


def bound_names(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module's top level binds, also within `if`, `try`, `for` and `with`."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names):
            return {alias.asname or alias.name.partition(".")[0] for alias in names}
        case ast.ImportFrom(names=names):
            return {alias.asname or alias.name for alias in names} - {"*"}
        case _:
            inner = [part for part in ast.iter_child_nodes(statement) if isinstance(part, ast.stmt)]
            parts = [one for part in ast.iter_child_nodes(statement) for one in _blocks(part)]
            found = {name for part in (*inner, *parts) for name in bound_names(part)}
            return found | {
                node.id
                for part in ast.iter_child_nodes(statement)
                if isinstance(part, ast.expr | ast.withitem)
                for node in ast.walk(part)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }


def is_for_types(statement: ast.stmt) -> bool:
    """Whether a statement is read by type checkers alone, `if TYPE_CHECKING:`."""
    return (
        isinstance(statement, ast.If)
        and ast.unparse(statement.test).rpartition(".")[2] == "TYPE_CHECKING"
        and not statement.orelse
    )


def _blocks(node: ast.AST) -> list[ast.stmt]:
    """The statements of a handler or of a case."""
    return node.body if isinstance(node, ast.ExceptHandler | ast.match_case) else []


class Selection(NamedTuple):
    """A tree, and the functions of it that were named."""

    tree: SourceTree
    functions: list[PublicFunction]


def read_source(source: str, search: Sequence[str] | None = None, root: Path | None = None) -> Selection:
    """Find what a source names; nothing is imported.

    Args:
        source: `file.py`, `file.py:function`, a folder of a package, or the import name of an installed package or
            module, `:function` after it.
        search: Where installed packages lie; this interpreter's own places if left out.
        root: What messages name files from, links followed; the folder of the package if left out.

    Raises:
        InputError: there is no such source, no such function in it, or it is not Python.
    """
    place, _, function = source.partition(":") if not Path(source).exists() else (source, "", "")
    tree, module = _located(place, search, root)
    try:
        if function:
            return Selection(tree, [_named(tree, module, function, source)])
        modules = list(tree.modules()) if module.is_package and module.name == tree.top else [module]
        functions = tree.public_functions(modules)
    except SourceError as error:
        raise InputError(error.finding.message, where=error.finding.where) from error
    if not functions:
        raise InputError(
            "it defines no public function",
            where=source,
            remedy="name a file with functions, or file.py:function",
        )
    return Selection(tree, functions)


def _named(tree: SourceTree, module: Module, function: str, source: str) -> PublicFunction:
    target = tree.resolve(module, function)
    node = target.module.function(target.name) if target and target.name else None
    if target is None or node is None:
        known = [name for name in module.bindings if module.function(name)]
        like = closest(function, known)
        remedy = f"did you mean `{like}`?" if like else f"it defines {', '.join(known[:10]) or 'none'}"
        raise InputError(f"there is no function {function!r} at its top level", where=source, remedy=remedy)
    return PublicFunction(target.module, node)


def _located(place: str, search: Sequence[str] | None, root: Path | None) -> tuple[SourceTree, Module]:
    path = Path(place)
    if path.is_dir() and (path / "__init__.py").is_file():
        path = path / "__init__.py"
    if path.is_file():
        return _of_file(path, root)
    if path.exists() or "/" in place or place.endswith(".py"):
        what = "it is no Python file and no package" if path.exists() else "there is no such file"
        remedy = "name a Python file, the folder of a package (with __init__.py), or an installed package"
        raise InputError(what, where=place, remedy=remedy)
    return _installed(place, search)


def _of_file(path: Path, root: Path | None) -> tuple[SourceTree, Module]:
    if path.suffix != ".py":
        raise InputError("it is no Python file", where=str(path), remedy="name a file that ends in .py")
    path = path.resolve()
    folder, parts = path.parent, [] if path.name == "__init__.py" else [path.stem]
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    is_alone = len(parts) == 1 and path.name != "__init__.py"
    top = "" if is_alone and not is_installation(folder) else parts[0]
    tree = SourceTree(folder, top, root)
    module = tree.module(".".join(parts))
    if module is None:
        if parts[-1].isidentifier():  # a file that is called like a module of the library
            return SourceTree(folder, parts[0]), Module(parts[-1], path, path.name)
        raise InputError(
            f"{path.name} is no name of a module",
            where=str(path),
            remedy="use letters, digits and underscores",
        )
    return tree, module


def _installed(name: str, search: Sequence[str] | None) -> tuple[SourceTree, Module]:
    remedy = "name a Python file, the folder of a package, or an installed package by its import name"
    top = name.partition(".")[0]
    if not all(part.isidentifier() for part in name.split(".")):
        raise InputError("there is no such file or package", where=name, remedy=remedy)
    # the finder of paths runs nothing of what it finds
    spec = importlib.machinery.PathFinder.find_spec(top, None if search is None else [*search])
    if spec is None or not spec.origin:
        raise InputError("there is no such file or installed package", where=name, remedy=remedy)
    origin = Path(spec.origin)
    if origin.suffix != ".py":
        raise InputError(
            "it is not written in Python", where=str(origin), remedy="only source can be adopted"
        )
    folder = origin.parent.parent if origin.name == "__init__.py" else origin.parent
    tree = SourceTree(folder, top)
    module = tree.module(name)
    if module is None:
        raise InputError(f"{top} is installed and has no module {name}", where=str(folder), remedy=remedy)
    return tree, module
