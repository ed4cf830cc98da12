"""What the names in a file mean: an import, a builtin, something of the file's own, or a local (design: ship-gate).

The other static checks ask here, so that `input` as a parameter is no standard input, and `os` under another
name is still `os`. Where Python itself would find the builtin, it is found here: a comprehension's or a class's
name hides nothing outside of it, and a plain assignment at the top does not hide an effect.

Left out: names made at run time, which the static checks refuse, and attributes of values.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

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
