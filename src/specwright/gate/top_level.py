"""What a module binds at its top level, read from its syntax tree alone (DESIGN §8, D-S8-02, D-S8-19).

griffe tells what a function looks like; this tells whether the name still means that function when the
module is imported: bound once, undecorated, exported by a literal `__all__`.

Left out: rebinding through `globals()` or another module, which a later static check refuses.
"""

import ast
import re
import threading
import warnings
from typing import NamedTuple

from specwright.syntax_tree import parse_module

__all__ = ["Import", "SurfaceFault", "TopLevel", "parse_source", "read_top_level"]

_PARSING = threading.Lock()

_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


class SurfaceFault(Exception):  # noqa: N818 - a fault of the module under judgement, not an error of the gate
    """The source has no surface that could be compared with a contract.

    Args:
        code: The stable code of the finding.
        where: The file, with the line where there is one.
        message: What to change.
    """

    def __init__(self, code: str, where: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.where = where
        self.message = message


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
    """

    where: str
    exports: tuple[str, ...]
    functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef]
    classes: dict[str, ast.ClassDef]
    imports: dict[str, Import]
    bound: dict[str, int]


def parse_source(source: bytes, where: str) -> ast.Module:
    """The syntax tree of a source file.

    Raises:
        SurfaceFault: `source.unreadable`; not UTF-8, or not Python.
    """
    try:
        text = source.decode("utf-8-sig")
        # one at a time: which warnings are shown is one setting for all threads
        with _PARSING, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parse_module(source, where)
    except UnicodeDecodeError as error:
        raise SurfaceFault(
            "source.unreadable", where, f"the file is not UTF-8 ({error}); save it as UTF-8"
        ) from error
    except SyntaxError as error:
        raise SurfaceFault(
            "source.unreadable",
            f"{where}:{error.lineno or 1}",
            f"the file is not Python ({error.msg}); correct it",
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SurfaceFault(
            "source.unreadable", where, f"the file cannot be parsed ({error}); simplify it"
        ) from error
    _refuse_other_encodings(text, where)
    return tree


def read_top_level(tree: ast.Module, where: str) -> TopLevel:
    """The bindings of a file.

    Raises:
        SurfaceFault: `surface.star_import`; `surface.exports` for an `__all__` that is no literal.
    """
    facts = TopLevel(where, (), {}, {}, {}, {})
    exports: tuple[str, ...] = ()
    for node in tree.body:
        if _is_all(node):
            exports = _literal_names(node, where)
        _note(node, facts)
    mentions = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "__all__"]
    if len(mentions) > 1:
        raise SurfaceFault(
            "surface.exports", f"{where}:{mentions[-1]}", "`__all__` is used twice; set it once"
        )
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            message = "a star import hides names; name each"
            raise SurfaceFault("surface.star_import", f"{where}:{node.lineno}", message)
    _Bindings(facts.bound).visit(tree)
    return facts._replace(exports=exports)


def _refuse_other_encodings(text: str, where: str) -> None:
    for number, line in enumerate(text.split("\n", 2)[:2], 1):
        declared = _ENCODING.match(line)
        if declared and declared[1].lower().replace("_", "-") not in {"utf-8", "utf8"}:
            raise SurfaceFault(
                "source.unreadable", f"{where}:{number}", "declares another encoding; use UTF-8"
            )


def _is_all(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def _literal_names(node: ast.stmt, where: str) -> tuple[str, ...]:
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    if isinstance(value, (ast.List, ast.Tuple)):
        names = [element.value for element in value.elts if isinstance(element, ast.Constant)]
        if (
            len(names) == len(value.elts)
            and all(isinstance(name, str) for name in names)
            and len(set(names)) == len(names)
        ):
            return tuple(str(name) for name in names)
    raise SurfaceFault(
        "surface.exports",
        f"{where}:{node.lineno}",
        "`__all__` is no literal list of different names; write it out once",
    )


def _note(node: ast.stmt, facts: TopLevel) -> None:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            facts.functions[name] = node
        case ast.ClassDef(name=name):
            facts.classes[name] = node
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
