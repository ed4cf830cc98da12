"""Whether a test asserts something that flows from the module (design: module-directory, ship-gate).

What is asserted must depend on the entry point's result, on what it was given, or on the files it wrote. It may
get there through variables, loops, helpers, nested functions, fixtures, parameters and `pytest.raises`.

    tests.assertion    a test asserts nothing of the kind
    tests.constant     an assertion that holds whatever the module does
    tests.trick        `assume` of what the module returned

Left out: whether the assertion is strong; both stubs and the mutants tell that.
"""

import ast
from collections.abc import Iterator

from specwright.gate.findings import FindingCode
from specwright.gate.source.names import Names
from specwright.gate.static.suite_forms import never_runs, own_nodes
from specwright.gate.static.suite_tricks import fixtures
from specwright.gate.static.syntax import (
    Definition,
    always_holds,
    bound,
    expects_error,
    fails,
    last,
    last_name,
    live,
    parameters,
)
from specwright.ports.gate import Finding

_CONSTANT_ADVICE = "assert what the call returned, changed or wrote"


def assertion_findings(tree: ast.Module, names: Names, path: str, entries: set[str]) -> Iterator[Finding]:
    """Tests of a file that assert nothing about the module, and assertions that always hold.

    Args:
        tree: The file.
        names: Of `read_names`.
        path: The file's place, for the findings.
        entries: The names of the entry points.
    """
    flow = Flow(tree, names, entries)
    true = {name for name, node in _definitions(tree) if _is_always_true(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and (what := always_holds(node.test) or _calls(node.test, true)):
            yield Finding(
                FindingCode.TESTS_CONSTANT,
                f"{path}:{node.lineno}",
                f"`assert {what}` always holds; {_CONSTANT_ADVICE}",
            )
    for test in _tests(tree):
        for line in flow.assumed(test):
            message = (
                "what is assumed depends on the entry point: inputs for which it is wrong are passed over"
            )
            yield Finding(FindingCode.TESTS_TRICK, f"{path}:{line}", message)
        if not flow.asserts(test):
            message = f"{test.name} asserts nothing that depends on the entry point; {_CONSTANT_ADVICE}"
            yield Finding(FindingCode.TESTS_ASSERTION, f"{path}:{test.lineno}", message)


def _definitions(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node


def _is_always_true(helper: Definition) -> bool:
    """Whether a helper returns something true, and nothing else."""
    returned = [node.value for node in own_nodes(helper) if isinstance(node, ast.Return)]
    return bool(returned) and all(isinstance(value, ast.Constant) and value.value for value in returned)


def _calls(test: ast.expr, helpers: set[str]) -> str:
    match test:
        case ast.Call(func=ast.Name(id=name)) if name in helpers:
            return ast.unparse(test)[:80]
        case _:
            return ""


def _tests(tree: ast.Module) -> Iterator[Definition]:
    waiting: list[ast.AST] = [*tree.body]
    for node in waiting:
        if isinstance(node, ast.ClassDef):
            waiting += node.body
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            yield node


_READS = {
    "read_text", "read_bytes", "exists", "is_file", "is_dir", "is_symlink", "stat", "lstat", "iterdir", "glob",
    "rglob", "listdir", "isfile", "isdir", "getsize", "scandir", "readouterr", "open", "walk",
}  # fmt: skip
_ASSERTING = (ast.Assert, ast.With, ast.AsyncWith, ast.If, ast.Call)
_MOST_ROUNDS = 4


class Flow:
    """Follows the module's values through a file of tests."""

    def __init__(self, tree: ast.Module, names: Names, entries: set[str]) -> None:
        self._names = names
        self._entries = {
            name
            for name, origin in names.top.items()
            if origin.startswith("modules.") and last(origin) in entries
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
        self._shared = set(self._entries)
        self._shared = self._from_module(tree)

    def asserts(self, test: Definition) -> bool:
        """Whether a test asserts something of the module's."""
        return self._asserts(test, self._start_names(test))

    def assumed(self, test: Definition) -> Iterator[int]:
        """The lines at which a test assumes something of the module's."""
        carried = self._follow(test, self._start_names(test))
        for node in ast.walk(test):
            if not (isinstance(node, ast.Call) and self._names.dotted(node.func) == "hypothesis.assume"):
                continue
            before = carried if self._was_called(test, node) else self._start_names(test)
            if any(self._mentions(value, before) for value in node.args):
                yield node.lineno

    def _was_called(self, test: Definition, place: ast.Call) -> bool:
        """Whether the module may have been called before a place: above it, or in an earlier turn of a loop."""
        loops = (ast.For, ast.AsyncFor, ast.While)
        if any(isinstance(node, loops) for node in self._names.above(place)):
            return True
        return any(
            self._mentions(node, self._start_names(test))
            for node in ast.walk(test)
            if isinstance(node, ast.expr) and node.lineno < place.lineno and node not in test.decorator_list
        )

    def _from_module(self, tree: ast.Module) -> set[str]:
        """Names of the file that carry the entry point: itself, helpers, fixtures, values made by it."""
        carried = set(self._entries)
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        for _ in range(_MOST_ROUNDS):
            for name, node in [*self._definitions.items(), *self._lambdas.items()]:
                if self._mentions(node, carried) and self._passes_on(node, carried):
                    carried.add(name)
            for node in classes:  # `self.result = entry(...)` in a setup method
                for part in ast.walk(node):
                    if isinstance(part, ast.Assign) and self._mentions(part.value, carried):
                        carried |= {ast.unparse(t) for t in part.targets if isinstance(t, ast.Attribute)}
        return carried

    def _passes_on(self, node: ast.AST, carried: set[str]) -> bool:
        """Whether what a helper returns is the module's; one that returns nothing may assert it, or write files."""
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return True
        returned = [
            part.value
            for part in own_nodes(node)
            if isinstance(part, (ast.Return, ast.Yield, ast.YieldFrom)) and part.value
        ]
        if not returned:
            return True
        local = self._follow(node, carried)
        return any(self._mentions(value, local) for value in returned)

    def _start_names(self, test: Definition) -> set[str]:
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

    def _asserts(self, function: Definition, start: set[str]) -> bool:
        carried = self._follow(function, start)
        return any(
            self._is_assertion(node, carried - self._overwritten(function, carried, node), function)
            for node in live(function.body)
            if isinstance(node, _ASSERTING)
        )

    def _overwritten(self, function: Definition, carried: set[str], before: ast.AST) -> set[str]:
        """The names that carry nothing of the module's any more, or not yet, when a statement is reached."""
        gone: set[str] = set()
        for statement in function.body:
            if statement.lineno >= getattr(before, "lineno", 0):
                break
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if not self._mentions(
                    value, carried
                ):
                    gone.add(name)
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="clear"))):
                    gone.add(name)
                case _:
                    for node in ast.walk(statement):
                        gone -= self._carries_on(node, carried)
        return gone

    def _follow(self, function: Definition, start: set[str]) -> set[str]:
        """The names that carry the module's values, arguments or files within a function."""
        carried = set(start)
        for _ in range(_MOST_ROUNDS):
            before = len(carried)
            for node in ast.walk(function):
                if node is not function:
                    carried |= self._carries_on(node, carried)
            if len(carried) == before:
                break
        return carried

    def _carries_on(self, node: ast.AST, carried: set[str]) -> set[str]:
        match node:
            case ast.Assign(targets=targets, value=value) if self._mentions(value, carried):
                return {name for target in targets for name in bound(target)}
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.AugAssign(target=target, value=value)
            ):
                return bound(target) if self._mentions(value, carried) else set()
            case ast.NamedExpr(target=target, value=value) if self._mentions(value, carried):
                return bound(target)
            case (
                ast.For(target=target, iter=source)
                | ast.AsyncFor(target=target, iter=source)
                | ast.comprehension(target=target, iter=source)
            ):
                return bound(target) if self._mentions(source, carried) else set()
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                within = any(
                    self._mentions(part, carried) for part in [*body, *(i.context_expr for i in items)]
                )
                return {n for i in items if i.optional_vars and within for n in bound(i.optional_vars)}
            case ast.Try(body=body, handlers=handlers):
                return {
                    h.name for h in handlers if h.name and any(self._mentions(part, carried) for part in body)
                }
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                passes_on = self._mentions(node, carried) and self._passes_on(node, carried)
                return {name} if passes_on and not name.startswith("test") else set()
            case ast.Call():
                return self._names_of_call(node, carried)
            case _:
                return set()

    def _names_of_call(self, call: ast.Call, carried: set[str]) -> set[str]:
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
                if isinstance(part, ast.Name) and self._may_change(part)
            }
        return set()

    def _may_change(self, node: ast.Name) -> bool:
        # a text or a number that the test made itself is as it was; a container, path or fixture may not be
        for above in self._names.above(node):
            if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
                for part in ast.walk(above):
                    if isinstance(part, ast.Assign) and node.id in {
                        n for t in part.targets for n in bound(t)
                    }:
                        return not isinstance(part.value, (ast.Constant, ast.JoinedStr))
        return not self._names.dotted(node).startswith("builtins.")

    def _is_assertion(self, node: ast.AST, carried: set[str], function: Definition) -> bool:
        match node:
            case ast.Assert(test=test):
                return not always_holds(test) and self._shows(test, carried, function)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                expects = any(expects_error(item.context_expr) for item in items)
                return expects and any(self._mentions(part, carried) for part in body)
            case ast.If(test=test, body=body):
                return self._mentions(test, carried) and any(fails(part) for part in body)
            case ast.Call():
                return self._call_asserts(node, carried)
            case _:
                return False

    def _shows(self, test: ast.expr, carried: set[str], function: Definition) -> bool:
        if self._mentions(test, carried):
            return True
        # a file by its plain name, after a call that may have written it
        reads = any(
            isinstance(p, (ast.Attribute, ast.Name)) and last_name(p) in _READS for p in ast.walk(test)
        )
        return reads and self._mentions(function, carried)

    def _call_asserts(self, call: ast.Call, carried: set[str]) -> bool:
        name = last_name(call.func)
        if name.startswith("assert") or expects_error(call):
            return self._mentions(call, carried) and (len(call.args) > 1 or name.startswith("assert"))
        definition = self._definitions.get(name)
        if definition is None or definition.name in self._fixtures:
            return False
        if never_runs(call, self._names, definition):
            return False
        if not any(
            isinstance(node, (ast.Assert, ast.With, ast.If, ast.Call)) for node in ast.walk(definition)
        ):
            return False
        passed = {
            parameter.arg
            for parameter, value in zip(parameters(definition), call.args, strict=False)
            if self._mentions(value, carried)
        }
        passed |= {k.arg for k in call.keywords if k.arg and self._mentions(k.value, carried)}
        self._definitions.pop(name)  # a helper that calls itself is read once
        try:
            return self._asserts(
                definition, self._shared | passed | (carried & self._closed_over(definition))
            )
        finally:
            self._definitions[name] = definition

    def _closed_over(self, definition: Definition) -> set[str]:
        own = {parameter.arg for parameter in parameters(definition)}
        return {part.id for part in ast.walk(definition) if isinstance(part, ast.Name)} - own
