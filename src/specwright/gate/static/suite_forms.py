"""How a file of tests may be built: what looks like a test runs as it is written (design: module-directory, ship-gate).

    tests.trick        names of tests and of the module bound anew, decorators that may run something else, classes
                       that redefine what Python does with a value (`__eq__`, `__exit__`)
    tests.assertion    a test that returns before its end, or calls a helper that does not run
    tests.constant     a loop over nothing

`suite_reach` checks what a test may name, `assertions` what it asserts.
"""

import ast
from collections.abc import Iterator

from specwright.gate.findings import FindingCode
from specwright.gate.source.names import Names
from specwright.gate.source.standard import canonical
from specwright.ports.gate import Finding

_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_DECORATORS = {
    "pytest.mark.parametrize", "pytest.fixture", "hypothesis.given", "hypothesis.example", "hypothesis.settings",
    "hypothesis.seed", "functools.cache", "functools.lru_cache", "contextlib.contextmanager",
    "contextlib.asynccontextmanager", "dataclasses.dataclass", "builtins.staticmethod", "builtins.classmethod",
    "builtins.property",
}  # fmt: skip
_BASES = {
    "typing.NamedTuple",
    "typing.TypedDict",
    "typing.Protocol",
    "enum.Enum",
    "enum.IntEnum",
    "enum.StrEnum",
}

_Fault = tuple[ast.AST, str, str]


def form_findings(tree: ast.Module, names: Names, path: str) -> Iterator[Finding]:
    """What in a file of tests does not run as it reads.

    Args:
        tree: The file.
        names: Of `read_names`.
        path: The file's place, for the findings.
    """
    from_module = {name for name, origin in names.top.items() if origin.startswith("modules.")}
    definitions = {
        n.name: n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    for node in ast.walk(tree):
        faults = [*_rebound(node, names, from_module), *_decorated(node, names), *_classes(node, names)]
        faults += [*_idle(node, names, definitions), *_loops(node, names, tree)]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            faults += _returns(node)
        for place, code, message in faults:
            yield Finding(code, f"{path}:{getattr(place, 'lineno', 1)}", message)


def own_nodes(function: _Definition) -> Iterator[ast.AST]:
    """A function's body without what is defined within it."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)


def never_runs(call: ast.Call, names: Names, definition: _Definition) -> bool:
    """Whether a call of a coroutine or a generator stands alone: then nothing of it is executed."""
    lazy = isinstance(definition, ast.AsyncFunctionDef) or any(
        isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(definition)
    )
    return lazy and isinstance(names.parents.get(id(call)), ast.Expr)


def _rebound(node: ast.AST, names: Names, from_module: set[str]) -> Iterator[_Fault]:
    """Names of the module, and names of tests, that come to mean something else."""
    for name, is_definition in _binds(node):
        if name in from_module:
            advice = "the entry point is called as it is imported, under a name of its own"
            yield node, FindingCode.TESTS_TRICK, f"`{name}` is bound anew; {advice}"
        elif name.startswith("test") and not is_definition and _outside_functions(node, names):
            yield (
                node,
                FindingCode.TESTS_TRICK,
                f"`{name}` is bound anew; a test is a function that is defined",
            )


def _binds(node: ast.AST) -> Iterator[tuple[str, bool]]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name, False
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
            yield name, False
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name, True
        case ast.ClassDef(name=name):
            yield name, False
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            source = getattr(node, "module", "") or ""
            yield from ((a.asname or a.name, False) for a in aliases if not source.startswith("modules."))
        case _:
            pass


def _outside_functions(node: ast.AST, names: Names) -> bool:
    return not any(
        isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) for above in names.above(node)
    )


def _decorated(node: ast.AST, names: Names) -> Iterator[_Fault]:
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    for decorator in node.decorator_list:
        plain = decorator.func if isinstance(decorator, ast.Call) else decorator
        if canonical(names.dotted(plain)) not in _DECORATORS:
            shown = ast.unparse(decorator)[:60]
            yield (
                decorator,
                FindingCode.TESTS_TRICK,
                f"`@{shown}` may run something else than what is written; leave it out",
            )


def _classes(node: ast.AST, names: Names) -> Iterator[_Fault]:
    if not isinstance(node, ast.ClassDef):
        return
    if node.keywords or any(names.dotted(base) not in _BASES for base in node.bases):
        advice = "write plain test functions, and values of the types that the contract names"
        yield node, FindingCode.TESTS_TRICK, f"the class `{node.name}` is made of another; {advice}"
    for part in node.body:
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) or part.name == "__init__":
            continue
        if part.name.startswith("__"):
            message = f"`{part.name}` changes what Python does with a value; compare with plain values"
            yield part, FindingCode.TESTS_TRICK, message


def _idle(node: ast.AST, names: Names, definitions: dict[str, _Definition]) -> Iterator[_Fault]:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name)) as call) if name in definitions:
            if never_runs(call, names, definitions[name]):
                yield (
                    node,
                    FindingCode.TESTS_ASSERTION,
                    f"`{name}` is called and not run; await it, or go through it",
                )
        case ast.Expr(value=ast.GeneratorExp()):
            yield (
                node,
                FindingCode.TESTS_ASSERTION,
                "a generator that nobody goes through is not run; write a loop",
            )
        case _:
            pass


def _loops(node: ast.AST, names: Names, tree: ast.Module) -> Iterator[_Fault]:
    match node:
        case ast.For(iter=source) | ast.AsyncFor(iter=source) | ast.comprehension(iter=source):
            if _is_empty(source, names, tree):
                yield (
                    source,
                    FindingCode.TESTS_CONSTANT,
                    f"`{ast.unparse(source)}` is empty: the loop never runs",
                )
        case _:
            pass


def _is_empty(source: ast.expr, names: Names, tree: ast.Module) -> bool:
    match source:
        case ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[]) | ast.Constant(value="" | b""):
            return True
        case ast.Call(func=ast.Name(id="range" | "list" | "tuple" | "set" | "dict" | "iter"), args=[]):
            return True
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(most))]):
            return most <= 0
        case ast.Name(id=name) if names.dotted(source).startswith("own."):
            from_module = [n.value for n in tree.body if isinstance(n, ast.Assign) and _targets(n) == [name]]
            from_module += [
                n.value
                for n in tree.body
                if isinstance(n, ast.AnnAssign) and n.value and _targets(n) == [name]
            ]
            uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name and n is not source]
            return len(from_module) == 1 and len(uses) == 1 and _is_empty(from_module[0], names, tree)
        case _:
            return False


def _targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _returns(test: _Definition) -> Iterator[_Fault]:
    for node in own_nodes(test):
        if isinstance(node, ast.Return) and node is not test.body[-1]:
            yield (
                node,
                FindingCode.TESTS_ASSERTION,
                "the test returns before its end, so what follows may never be asserted",
            )
