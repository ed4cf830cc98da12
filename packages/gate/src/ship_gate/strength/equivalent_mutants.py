"""What of a module is not mutated, because no test could or need notice it (design: module-directory, ship-gate).

Docstrings, annotations, `__all__`, decorators, texts of errors, exception classes and enumerations, assertions, guards
against wrong types, clean-up, and options such as an encoding. Of a long table the first and the last entry stand for
all. Every mutant that behaves as the original does costs a sound module, so this errs on the side of sparing.
"""

import ast
from collections.abc import Iterator

# options that change no value that a test could see, or only in ways that no contract speaks of
_OPTIONS = {
    "encoding",
    "errors",
    "strict",
    "maxsize",
    "newline",
    "flags",
    "slots",
    "frozen",
    "kw_only",
    "cls",
    "default",
}
_CLEANUP = {"close", "flush", "fsync", "sleep"}
_LONG = 4


def equivalent_nodes(tree: ast.Module) -> set[int]:
    """The ids of the nodes that are not mutated."""
    equivalent = set[int]()
    for node in ast.walk(tree):
        for part in _equivalent_parts(node):
            equivalent.update(map(id, ast.walk(part)))
    return equivalent


def _equivalent_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that are left as they are."""
    for field in ("annotation", "returns"):
        if isinstance(part := getattr(node, field, None), ast.AST):
            yield part
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from _of_definition(node)
    elif isinstance(node, (ast.Dict, ast.List, ast.Set, ast.Tuple)):
        yield from _inner_entries(node)
    elif isinstance(node, ast.stmt):
        yield from _of_statement(node)
    elif isinstance(node, ast.keyword) and node.arg in _OPTIONS:
        yield node
    elif isinstance(node, ast.Call) and _last_name(node.func) in {"encode", "decode"}:
        yield from node.args
    elif isinstance(node, ast.Call) and _is_logged(node.func):
        yield node


def _is_logged(function: ast.expr) -> bool:
    """Whether a logger is asked for, or told what nobody sees."""
    match function:
        case ast.Attribute(value=ast.Name(id=name), attr="debug" | "info"):
            return "log" in name.lower()
        case _:
            return _last_name(function) == "getLogger"


def _of_definition(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        # members of an Enum are compared by identity, and their values belong to the surface
        kinds = ("Error", "Exception", "Warning", "Enum")
        if any(ast.unparse(base).endswith(kinds) for base in node.bases):
            yield node
    elif node.name in {"__repr__", "__str__"}:
        yield node


def _of_statement(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Assert() | ast.Import() | ast.ImportFrom():
            yield node
        case ast.Raise(exc=ast.Call() as call):
            yield from _raised_parts(node, call)
        case ast.AnnAssign(annotation=annotation) if _last_name(annotation) == "TypeAlias":
            yield node
        case ast.Assign(value=ast.Call(func=called, args=[ast.Constant()], keywords=[])) if (
            _last_name(called) == "TypeVar"
        ):
            yield node
        case ast.Assign() | ast.AnnAssign():
            yield from _passed_assignment(node)
        case ast.If():
            yield from _type_guard(node)
        case ast.Expr(value=ast.Call(func=called) | ast.Await(value=ast.Call(func=called))):
            if _last_name(called) in _CLEANUP:
                yield node
        case _:
            pass


def _raised_parts(node: ast.Raise, call: ast.Call) -> Iterator[ast.AST]:
    yield from call.args
    yield from call.keywords
    name = ast.unparse(call.func)
    if name in {"AssertionError", "NotImplementedError"}:
        yield node  # it says that this cannot happen


def _passed_assignment(node: ast.Assign | ast.AnnAssign) -> Iterator[ast.AST]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    if any(name.startswith("__") or "message" in name.lower() for name in names):
        yield node


def _type_guard(node: ast.If) -> Iterator[ast.AST]:
    """`if not isinstance(x, str): raise TypeError(...)`: typed inputs never meet it."""
    match node.body:
        case [ast.Raise(exc=raised)] if raised is not None and "isinstance" in ast.unparse(node.test):
            if ast.unparse(raised).startswith("TypeError"):
                yield node.test
                yield node.body[0]
        case _:
            pass


def _inner_entries(node: ast.Dict | ast.List | ast.Set | ast.Tuple) -> Iterator[ast.AST]:
    entries = [*node.keys] if isinstance(node, ast.Dict) else [*node.elts]
    if len(entries) <= _LONG:
        return
    yield from (entry for entry in entries[1:-1] if entry is not None)
    if isinstance(node, ast.Dict):
        yield from node.values[1:-1]


def _last_name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]
