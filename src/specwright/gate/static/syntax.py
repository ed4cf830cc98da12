"""Small questions about the syntax of tests: what can be executed, what a target binds, what expects an error
(design: module-directory).

They are asked by `static.flow`, which follows the module's values.
"""

import ast
from collections.abc import Iterator

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
    """The part behind the last dot."""
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


_TRUE = {"repr", "ascii", "type", "iter", "zip", "map", "filter", "enumerate", "reversed"}
"""What these return is true whatever they are given."""


def always_holds(test: ast.expr) -> str:
    """What of an assertion always holds, as it is written; empty if it may fail."""
    return ast.unparse(test)[:80] if _holds(test) else ""


def _holds(test: ast.expr) -> bool:
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(map(_holds, values))
        case ast.BoolOp(values=values):
            return all(map(_holds, values))
        case ast.IfExp(test=ast.Constant(value=chosen), body=body, orelse=orelse):
            return _holds(body if chosen else orelse)
        case ast.IfExp(body=body, orelse=orelse):
            return _holds(body) and _holds(orelse)
        case ast.NamedExpr(value=value):
            return _holds(value)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compares_nothing(left, op, right)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _is_true_call(name, arguments)
        case _:
            return _is_true_value(test)


def _is_true_call(name: str, arguments: list[ast.expr]) -> bool:
    if name == "isinstance" and len(arguments) > 1:
        return isinstance(arguments[1], ast.Name) and arguments[1].id == "object"
    if name == "str" and arguments:
        # the text of a comparison is "True" or "False"
        return isinstance(arguments[0], (ast.Compare, ast.BoolOp))
    return name in _TRUE and bool(arguments)


def _is_true_value(test: ast.expr) -> bool:
    match test:
        case ast.GeneratorExp() | ast.JoinedStr() | ast.Lambda():
            return True
        case ast.Constant(value=value):
            return bool(value)
        case ast.Dict(keys=keys):
            return bool(keys)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return any(not isinstance(element, ast.Starred) for element in elements)
        case _:
            return not _calls_or_names(test)


def _compares_nothing(left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
    if not _calls_or_names(left) and not _calls_or_names(right):
        return True
    same = ast.dump(left) == ast.dump(right) and not any(
        isinstance(part, ast.Call) for part in ast.walk(left)
    )
    length = isinstance(left, ast.Call) and isinstance(left.func, ast.Name) and left.func.id == "len"
    bound = right.value if isinstance(right, ast.Constant) else None
    never_negative = length and (
        (isinstance(op, ast.GtE) and bound == 0) or (isinstance(op, ast.Gt) and bound == -1)
    )
    return (same and isinstance(op, (ast.Eq, ast.Is, ast.LtE, ast.GtE))) or never_negative


def _calls_or_names(node: ast.expr) -> bool:
    return any(isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(node))
