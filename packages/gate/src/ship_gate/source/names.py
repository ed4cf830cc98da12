"""What the names in a file mean: an import, a builtin, something of the file's own, or a local (design: ship-gate).

The other static checks ask here, so that `input` as a parameter is no standard input, and `os` under another
name is still `os`. Where Python itself would find the builtin, it is found here: a comprehension's or a class's
name hides nothing outside of it, and a plain assignment at the top does not hide an effect.

Left out: names made at run time, which the static checks refuse, and attributes of values.

What the name of a loop over values means that stand in the source, `for name in ("price", "tax")`, is as plain as a
constant, as long as nothing else binds it: Python reads it in the function that the loop is in, or in the comprehension.

Modules of the standard library can be reached through each other: `pathlib.os.remove` is `os.remove`, `posix.remove` too.
The static checks decide by the name that a thing has where it belongs, so `canonical` follows every path through the library
itself; but modules that warn or act when they are imported are not loaded, and their paths are taken as they are written.
"""

import ast
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple, cast

BUILTIN = "builtins."
"""How the origin of a builtin begins."""

OWN = "own."
"""How the origin of a name bound at the top of the file begins."""

_LOCAL = ""
_Scope = dict[str, str]
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Names(NamedTuple):
    """The meaning of every name of a file.

    Args:
        origins: By the node's id: a dotted path (`os.remove`, `builtins.open`, `.tables.RATES` for the module's
            own files), `own.x` for what is bound at the top of the file; nothing for a local.
        parents: The node above each node, by its id.
        top: The origins of the names bound at the top of the file.
    """

    origins: dict[int, str]
    parents: dict[int, ast.AST]
    top: dict[str, str]

    def dotted(self, node: ast.AST) -> str:
        """The dotted path of a name or of a chain of attributes; empty for anything else."""
        if isinstance(node, ast.Name):
            return self.origins.get(id(node), "")
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return f"{base}.{node.attr}" if base else ""
        return ""

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, from the nearest outwards."""
        while (parent := self.parents.get(id(node))) is not None:
            yield parent
            node = parent


def read_names(tree: ast.Module) -> Names:
    """Resolve every name of a file."""
    parents = {id(child): parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    top = {name: origin or OWN + name for name, origin in _bound(tree.body).items()}
    names = Names({}, parents, top)
    visible = {name: origin for name, origin in top.items() if not _hides_nothing(tree, name)}
    _Resolver(names.origins, visible).visit_all(tree.body)
    return names


def imported_modules(tree: ast.Module) -> set[str]:
    """The dotted paths that a file's `import` statements bind to whole modules."""
    return {
        alias.name if alias.asname else alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }


def _hides_nothing(tree: ast.Module, name: str) -> bool:
    """Whether a name of the top might still mean the builtin: it is assigned, not defined."""
    import builtins

    defined = any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name
        for node in tree.body
    )
    imported = name in _imports(tree.body)
    return hasattr(builtins, name) and not defined and not imported


def _imports(body: list[ast.stmt]) -> _Scope:
    return {name: origin for node in body for name, origin in _Binder().read([node]).items() if origin}


def _bound(body: list[ast.stmt]) -> _Scope:
    return _Binder().read(body)


class _Binder(ast.NodeVisitor):
    """Collects what the statements of one scope bind; an import keeps its origin."""

    def __init__(self) -> None:
        self._scope: _Scope = {}
        self._globals: set[str] = set()

    def read(self, nodes: list[ast.stmt] | list[ast.expr]) -> _Scope:
        for node in nodes:
            self.visit(node)
        return {name: origin for name, origin in self._scope.items() if name not in self._globals}

    def _bind(self, name: str | None, origin: str = _LOCAL) -> None:
        if name:
            self._scope[name] = self._scope.get(name) or origin

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id)

    def visit_Global(self, node: ast.Global) -> None:
        self._globals.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self._globals.update(node.names)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            root = alias.name.partition(".")[0]
            self._bind(alias.asname or root, alias.name if alias.asname else root)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = "." * node.level + (node.module or "")
        for alias in node.names:
            self._bind(
                alias.asname or alias.name, f"{base}.{alias.name}" if node.module else base + alias.name
            )

    def _visit_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self._bind(node.name)
        for outside in [*node.decorator_list, *getattr(node, "bases", [])]:
            self.visit(outside)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _visit_definition  # noqa: N815 - the names that ast calls

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """It binds within itself."""

    def _visit_capture(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
        self._bind(node.name)
        self.generic_visit(node)

    visit_ExceptHandler = visit_MatchAs = visit_MatchStar = _visit_capture  # noqa: N815 - the names that ast calls

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._bind(node.rest)
        self.generic_visit(node)

    def _visit_comprehension(self, node: _Comprehension) -> None:
        # only an assignment expression binds outside of it
        for part in ast.walk(node):
            if isinstance(part, ast.NamedExpr):
                self._bind(part.target.id)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension  # noqa: N815 - ast's names


class _Resolver(ast.NodeVisitor):
    def __init__(self, origins: dict[int, str], top: _Scope) -> None:
        self._origins = origins
        self._scopes = [top]

    def visit_all(self, nodes: list[ast.stmt] | list[ast.expr]) -> None:
        for node in nodes:
            self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        for scope in reversed(self._scopes):
            if node.id in scope:
                self._origins[id(node)] = scope[node.id]
                return
        self._origins[id(node)] = BUILTIN + node.id

    def _within(self, scope: _Scope, nodes: list[ast.stmt] | list[ast.expr]) -> None:
        self._scopes.append(scope)
        self.visit_all(nodes)
        self._scopes.pop()

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.visit_all(node.decorator_list)
        self._visit_arguments(node.args)
        if node.returns:
            self.visit(node.returns)
        self._within({**_bound(node.body), **_parameters(node.args)}, node.body)

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function  # noqa: N815 - ast's names - the visitor's protocol

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_arguments(node.args)
        self._within(_parameters(node.args), [node.body])

    def _visit_arguments(self, arguments: ast.arguments) -> None:
        self.visit_all([*arguments.defaults, *(default for default in arguments.kw_defaults if default)])
        for argument in _all_arguments(arguments):
            if argument.annotation:
                self.visit(argument.annotation)

    def _visit_comprehension(self, node: _Comprehension) -> None:
        first, *others = node.generators
        self.visit(first.iter)
        targets = _Binder().read([generator.target for generator in node.generators])
        inner = [first.target, *first.ifs]
        for generator in others:
            inner += [generator.target, generator.iter, *generator.ifs]
        inner += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._within(targets, inner)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension  # noqa: N815 - ast's names


def _all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    starred = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]


def _parameters(arguments: ast.arguments) -> _Scope:
    return {argument.arg: _LOCAL for argument in _all_arguments(arguments)}


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_listed(name: ast.Name, names: Names, allowed: Callable[[ast.expr], bool]) -> bool:
    """Whether a name can only mean one of the allowed values of a tuple, list or set written where its loop is.

    Args:
        name: Where it is read.
        names: Of its file.
        allowed: Whether a value may be listed.
    """
    path = [name, *names.above(name)]
    functions = [place for place, node in enumerate(path) if isinstance(node, _Function)]
    if not functions:
        return False
    within = path[: functions[-1] + 1]
    loops = (_is_loop_of(node, under, name.id) for under, node in pairwise(within))
    has_class = any(isinstance(node, ast.ClassDef) for node in within)
    return any(loops) and not has_class and _binds_nothing_else(within[-1], name.id, names, allowed)


def _is_loop_of(node: ast.AST, under: ast.AST, name: str) -> bool:
    """Whether a loop gives the name its meaning in the part of it that is read."""
    match node:
        case ast.For(target=ast.Name(id=bound)):
            return bound == name
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            # the first list is read outside of the comprehension
            targets = [one.target for one in node.generators]
            is_bound = any(isinstance(one, ast.Name) and one.id == name for one in targets)
            return is_bound and under is not node.generators[0]
        case _:
            return False


def _binds_nothing_else(
    function: ast.AST, name: str, names: Names, allowed: Callable[[ast.expr], bool]
) -> bool:
    for node in ast.walk(function):
        if binds(node, name) and not (isinstance(node, ast.Name) and _is_of_a_list(node, names, allowed)):
            return False
    return True


def binds(node: ast.AST, name: str) -> bool:
    """Whether a node gives a name a meaning: it is assigned or deleted, or stands as text, as those of parameters, imports,
    definitions, captures and `global` do."""
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Attribute | ast.Constant | ast.keyword):
        return False
    found = set[str]()
    for _, value in ast.iter_fields(node):
        several = cast("list[object]", value) if isinstance(value, list) else [value]
        found |= {text.partition(".")[0] for text in several if isinstance(text, str)}
    return name in found


def _is_of_a_list(target: ast.Name, names: Names, allowed: Callable[[ast.expr], bool]) -> bool:
    match names.parents.get(id(target)):
        case ast.For(target=bound, iter=listed) | ast.comprehension(target=bound, iter=listed):
            is_list = isinstance(listed, ast.Tuple | ast.List | ast.Set)
            return bound is target and is_list and all(map(allowed, listed.elts))
        case _:
            return False


_NOT_LOADED = {
    "__main__", "antigravity", "idlelib", "lib2to3", "test", "this", "tkinter", "turtle", "turtledemo", "aifc",
    "asynchat", "asyncore", "audioop", "cgi", "cgitb", "chunk", "crypt", "distutils", "imghdr", "imp", "mailcap",
    "msilib", "nis", "nntplib", "ossaudiodev", "pipes", "smtpd", "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib",
}  # fmt: skip
_SAME = {
    "posixpath": "os.path",
    "ntpath": "os.path",
    "genericpath": "os.path",
    "posix": "os",
    "nt": "os",
    "_io": "io",
}
_MOST_PARTS = 12
_WITH_ERRORS = (
    *(
        "binascii",
        "configparser",
        "csv",
        "decimal",
        "email.errors",
        "graphlib",
        "http.client",
        "ipaddress",
        "json",
    ),
    *(
        "lzma",
        "shutil",
        "sqlite3",
        "socket",
        "ssl",
        "struct",
        "subprocess",
        "tarfile",
        "tomllib",
        "urllib.error",
    ),
    *("zipfile", "zlib", "zoneinfo"),
)
"""Modules of the library that define errors of their own which modules handle."""


@functools.cache
def canonical(dotted: str) -> str:
    """The path of what a dotted path leads to, from the module that it belongs to."""
    root, *rest = dotted.split(".")
    if root == "builtins" or root not in sys.stdlib_module_names or root in _NOT_LOADED:
        return dotted
    name, value = root, _loaded(root)
    while rest and isinstance(value, types.ModuleType) and len(rest) < _MOST_PARTS:
        found = getattr(value, rest[0], None) or _loaded(f"{name}.{rest[0]}")
        if not isinstance(found, types.ModuleType):
            break
        name, value = found.__name__, found
        del rest[0]
    return ".".join([_SAME.get(name, name), *rest])


def is_private(dotted: str) -> bool:
    """Whether a path leads through what the standard library keeps to itself."""
    root, *rest = dotted.split(".")
    if not is_standard(dotted):
        return False
    return any(part.startswith("_") and not part.endswith("__") for part in (root, *rest))


def is_standard(dotted: str) -> bool:
    """Whether a path begins with a module of the standard library."""
    return dotted.partition(".")[0] in sys.stdlib_module_names


@functools.cache
def error_bases() -> Mapping[str, frozenset[str]]:
    """The names of the bases of the library's errors, by the last part of their names; of two of a name those that they
    share."""
    found: dict[str, frozenset[str]] = {}
    for module in filter(None, map(_loaded, _WITH_ERRORS)):
        for name, kind in vars(module).items():
            if isinstance(kind, type) and issubclass(kind, Exception) and kind.__module__ != "builtins":
                bases = frozenset(base.__name__ for base in kind.__mro__[1:])
                found[name] = found.get(name, bases) & bases
    return found


def _loaded(name: str) -> types.ModuleType | None:
    try:
        return importlib.import_module(name)
    except Exception:
        # a module of another system, or no module at all
        return None
