"""Small questions about the syntax of tests: what can be executed, what a target binds, what expects an error (§8.1).

They are asked by `static.flow`, which follows the module's values.
"""

import ast
from collections.abc import Iterator

__all__ = ["Definition", "bound", "expects_error", "fails", "last", "last_name", "live", "parameters"]

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def live(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What can be executed: nothing after a plain return, nothing under a constant condition."""
    for statement in body:
        yield from _live_parts(statement)
        if isinstance(statement, (ast.Return, ast.Raise)):
            return


def _live_parts(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
            return  # counts where it is called
        case ast.If(test=ast.Constant(value=value), body=body, orelse=orelse):
            yield from live(body if value else orelse)
        case ast.While(test=ast.Constant(value=value)) if not value:
            return
        case ast.With(body=body) | ast.AsyncWith(body=body) | ast.For(body=body) | ast.While(body=body):
            yield node
            for child in ast.iter_child_nodes(node):
                if child not in body:
                    yield from _live_parts(child)
            yield from live(body)
        case _:
            yield node
            for child in ast.iter_child_nodes(node):
                yield from _live_parts(child)


def bound(target: ast.expr) -> set[str]:
    """The names that a target binds, `self.x` as it is written."""
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, (ast.Subscript, ast.Starred)):
        return bound(target.value)
    if isinstance(target, ast.Attribute):
        return {ast.unparse(target)}
    return {name for element in getattr(target, "elts", []) for name in bound(element)}


def parameters(definition: Definition) -> list[ast.arg]:
    """A function's parameters that have a name of their own."""
    return [*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs]


def last(dotted: str) -> str:
    """What stands behind the last dot."""
    return dotted.rpartition(".")[2]


def last_name(node: ast.expr) -> str:
    """The name by which something is called."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def expects_error(node: ast.expr) -> bool:
    """Whether a call says that an error is due."""
    return isinstance(node, ast.Call) and last_name(node.func) in {
        "raises",
        "assertRaises",
        "assertRaisesRegex",
        "warns",
        "RaisesGroup",
    }


def fails(node: ast.stmt) -> bool:
    """Whether a statement lets the test fail."""
    return isinstance(node, ast.Raise) or (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and last_name(node.value.func) == "fail"
    )
