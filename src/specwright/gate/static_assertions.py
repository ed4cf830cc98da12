"""Whether a test asserts something that flows from the module (§8.1, D-S8-06, F-11.3-03).

What is asserted must depend on the entry point's result, on what it was given, or on the files it wrote. It may
get there through variables, loops, helpers, nested functions, fixtures, parameters and `pytest.raises`.

    tests.assertion    a test asserts nothing of the kind
    tests.constant     an assertion that holds whatever the module does

Left out: whether the assertion is strong; both stubs and the mutants tell that.
"""

import ast
from collections.abc import Iterator

from specwright.gate.static_names import Names
from specwright.gate.static_tests import fixtures
from specwright.ports.gate import Finding

__all__ = ["assertion_findings"]

_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_READS = {
    "read_text", "read_bytes", "exists", "is_file", "is_dir", "is_symlink", "stat", "lstat", "iterdir", "glob",
    "rglob", "listdir", "isfile", "isdir", "getsize", "scandir", "readouterr", "open", "walk",
}  # fmt: skip
_CONSTANT_ADVICE = "assert what the call returned, changed or wrote"


def assertion_findings(tree: ast.Module, names: Names, path: str, entries: set[str]) -> Iterator[Finding]:
    """Tests of a file that assert nothing about the module, and assertions that always hold.

    Args:
        tree: The file.
        names: Of `read_names`.
        path: The file's place, for the findings.
        entries: The names of the entry points.
    """
    flow = _Flow(tree, names, entries)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and (what := _always_holds(node.test)):
            yield Finding(
                "tests.constant", f"{path}:{node.lineno}", f"`assert {what}` always holds; {_CONSTANT_ADVICE}"
            )
    for test in _tests(tree):
        if not flow.asserts(test):
            message = f"{test.name} asserts nothing that depends on the entry point; {_CONSTANT_ADVICE}"
            yield Finding("tests.assertion", f"{path}:{test.lineno}", message)


def _tests(tree: ast.Module) -> Iterator[_Definition]:
    waiting: list[ast.AST] = [*tree.body]
    for node in waiting:
        if isinstance(node, ast.ClassDef):
            waiting += node.body
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            yield node


def _always_holds(test: ast.expr) -> str:
    shown = ast.unparse(test)[:80]
    match test:
        case ast.Constant() | ast.JoinedStr() | ast.Lambda():
            return "" if isinstance(test, ast.Constant) and not test.value else shown
        case ast.Tuple(elts=elements):
            return shown if elements else ""
        case ast.BoolOp(op=ast.Or(), values=values):
            return shown if any(_always_holds(value) for value in values) else ""
        case ast.BoolOp(values=values):
            return shown if all(_always_holds(value) for value in values) else ""
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return shown if _compares_nothing(left, op, right) else ""
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id="object")]):
            return shown
        case _:
            return "" if _calls_or_names(test) else shown


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


class _Flow:
    """Follows the module's values through a file of tests."""

    def __init__(self, tree: ast.Module, names: Names, entries: set[str]) -> None:
        self._names = names
        self._entries = {
            name
            for name, origin in names.top.items()
            if origin.startswith("modules.") and _last(origin) in entries
        }
        # an entry point may also be imported inside a test
        self._entries |= {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("modules.")
            for alias in node.names
            if alias.name in entries
        }
        self._fixtures = fixtures(tree)
        self._definitions = {
            node.name: node
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("test")
        }
        self._lambdas = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        self._shared = self._from_module(tree)

    def asserts(self, test: _Definition) -> bool:
        """Whether a test asserts something of the module's."""
        return self._asserts(test, self._given(test))

    def _from_module(self, tree: ast.Module) -> set[str]:
        """Names of the file that carry the entry point: itself, helpers, fixtures, values made by it."""
        carried = set(self._entries)
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        for _ in range(4):
            for name, node in [*self._definitions.items(), *self._lambdas.items()]:
                if self._mentions(node, carried):
                    carried.add(name)
            for node in classes:  # `self.result = entry(...)` in a setup method
                for part in ast.walk(node):
                    if isinstance(part, ast.Assign) and self._mentions(part.value, carried):
                        carried |= {ast.unparse(t) for t in part.targets if isinstance(t, ast.Attribute)}
        return carried

    def _given(self, test: _Definition) -> set[str]:
        """What a test starts from: fixtures and parameters that carry the entry point."""
        carried = set(self._shared)
        for decorator in test.decorator_list:
            if isinstance(decorator, ast.Call) and decorator.args and self._mentions(decorator, carried):
                first = decorator.args[0]
                if isinstance(first, ast.Constant):
                    carried |= {part.strip() for part in str(first.value).split(",")}
                carried |= {str(e.value) for e in ast.walk(first) if isinstance(e, ast.Constant)}
        return carried

    def _mentions(self, node: ast.AST, carried: set[str]) -> bool:
        return any(
            (isinstance(part, ast.Name) and part.id in carried)
            or (isinstance(part, ast.Attribute) and ast.unparse(part) in carried)
            for part in ast.walk(node)
        )

    def _asserts(self, function: _Definition, start: set[str]) -> bool:
        carried = self._follow(function, start)
        return any(self._is_assertion(node, carried, function) for node in _live(function.body))

    def _follow(self, function: _Definition, start: set[str]) -> set[str]:
        """The names that carry the module's values, arguments or files within a function."""
        carried = set(start)
        for _ in range(4):
            before = len(carried)
            for node in ast.walk(function):
                carried |= self._carries_on(node, carried)
            if len(carried) == before:
                break
        return carried

    def _carries_on(self, node: ast.AST, carried: set[str]) -> set[str]:
        match node:
            case ast.Assign(targets=targets, value=value) if self._mentions(value, carried):
                return {name for target in targets for name in _bound(target)}
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.AugAssign(target=target, value=value)
            ):
                return _bound(target) if self._mentions(value, carried) else set()
            case ast.NamedExpr(target=target, value=value) if self._mentions(value, carried):
                return _bound(target)
            case (
                ast.For(target=target, iter=source)
                | ast.AsyncFor(target=target, iter=source)
                | ast.comprehension(target=target, iter=source)
            ):
                return _bound(target) if self._mentions(source, carried) else set()
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                within = any(
                    self._mentions(part, carried) for part in [*body, *(i.context_expr for i in items)]
                )
                return {n for i in items if i.optional_vars and within for n in _bound(i.optional_vars)}
            case ast.Try(body=body, handlers=handlers):
                return {
                    h.name for h in handlers if h.name and any(self._mentions(part, carried) for part in body)
                }
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if self._mentions(
                node, carried
            ):
                return {name} if not name.startswith("test") else set()
            case ast.Call():
                return self._handed_over(node, carried)
            case _:
                return set()

    def _handed_over(self, call: ast.Call, carried: set[str]) -> set[str]:
        """What a call of the entry point was given, and a list that its result is put into."""
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        if isinstance(call.func, ast.Attribute) and any(self._mentions(value, carried) for value in values):
            owner = call.func.value
            return (
                {owner.id}
                if isinstance(owner, ast.Name) and call.func.attr in {"append", "add", "extend"}
                else set()
            )
        if isinstance(call.func, ast.Name) and call.func.id in carried & (
            self._shared | set(self._definitions)
        ):
            return {
                part.id
                for value in values
                for part in ast.walk(value)
                if isinstance(part, ast.Name) and self._is_given(part)
            }
        return set()

    def _is_given(self, node: ast.Name) -> bool:
        # a text or a number that the test made itself is as it was; a container, path or fixture may not be
        for above in self._names.above(node):
            if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
                for part in ast.walk(above):
                    if isinstance(part, ast.Assign) and node.id in {
                        n for t in part.targets for n in _bound(t)
                    }:
                        return not isinstance(part.value, (ast.Constant, ast.JoinedStr))
        return not self._names.dotted(node).startswith("builtins.")

    def _is_assertion(self, node: ast.AST, carried: set[str], function: _Definition) -> bool:
        match node:
            case ast.Assert(test=test):
                return not _always_holds(test) and self._shows(test, carried, function)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                expects = any(_expects_error(item.context_expr) for item in items)
                return expects and any(self._mentions(part, carried) for part in body)
            case ast.If(test=test, body=body):
                return self._mentions(test, carried) and any(_fails(part) for part in body)
            case ast.Call():
                return self._call_asserts(node, carried)
            case _:
                return False

    def _shows(self, test: ast.expr, carried: set[str], function: _Definition) -> bool:
        if self._mentions(test, carried):
            return True
        # a file by its plain name, after a call that may have written it
        reads = any(
            isinstance(p, (ast.Attribute, ast.Name)) and _last_name(p) in _READS for p in ast.walk(test)
        )
        return reads and self._mentions(function, carried)

    def _call_asserts(self, call: ast.Call, carried: set[str]) -> bool:
        name = _last_name(call.func)
        if name.startswith("assert") or _expects_error(call):
            return self._mentions(call, carried) and (len(call.args) > 1 or name.startswith("assert"))
        definition = self._definitions.get(name)
        if definition is None or definition.name in self._fixtures:
            return False
        if not any(
            isinstance(node, (ast.Assert, ast.With, ast.If, ast.Call)) for node in ast.walk(definition)
        ):
            return False
        handed = {
            parameter.arg
            for parameter, value in zip(_parameters(definition), call.args, strict=False)
            if self._mentions(value, carried)
        }
        handed |= {k.arg for k in call.keywords if k.arg and self._mentions(k.value, carried)}
        self._definitions.pop(name)  # a helper that calls itself is read once
        try:
            return self._asserts(
                definition, self._shared | handed | (carried & self._closed_over(definition))
            )
        finally:
            self._definitions[name] = definition

    def _closed_over(self, definition: _Definition) -> set[str]:
        own = {parameter.arg for parameter in _parameters(definition)}
        return {part.id for part in ast.walk(definition) if isinstance(part, ast.Name)} - own


def _live(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What can be executed: nothing after a plain return, nothing under a constant condition."""
    for statement in body:
        match statement:
            case ast.If(test=ast.Constant(value=value)) if not value:
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                continue  # counts where it is called
            case _:
                yield from ast.walk(statement)
        if isinstance(statement, (ast.Return, ast.Raise)):
            return


def _bound(target: ast.expr) -> set[str]:
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, (ast.Subscript, ast.Starred)):
        return _bound(target.value)
    if isinstance(target, ast.Attribute):
        return {ast.unparse(target)}
    return {name for element in getattr(target, "elts", []) for name in _bound(element)}


def _parameters(definition: _Definition) -> list[ast.arg]:
    return [*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs]


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _expects_error(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _last_name(node.func) in {
        "raises",
        "assertRaises",
        "assertRaisesRegex",
        "warns",
        "RaisesGroup",
    }


def _fails(node: ast.stmt) -> bool:
    return isinstance(node, ast.Raise) or (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and _last_name(node.value.func) == "fail"
    )
