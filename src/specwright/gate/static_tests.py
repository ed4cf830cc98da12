"""What a file of tests may not do, whatever it asserts (§8.1, D-S8-06, F-11.3-03).

    tests.trick        skips, expected failures, patches, stand-ins, hooks, names made at run time
    tests.internals    reads behind the public surface: private attributes, documentation, source
    tests.swallow      catches what a failing assertion or the module raises, and goes on
    tests.broad        `raises(Exception)`: any failure at all would do
    tests.sleep        waits

What a test asserts is for `static_assertions`, imports are for `imports`.
"""

import ast
from collections.abc import Iterator, Mapping

from specwright.gate.static_dynamic import DYNAMIC_ADVICE, dynamic_uses
from specwright.gate.static_effect_table import DUNDERS, Kind, kind_of
from specwright.gate.static_names import Names
from specwright.ports.gate import Finding

__all__ = ["trick_findings"]

_TRICKS = {
    "skip", "skipif", "xfail", "importorskip", "usefixtures", "exit", "skipTest", "skipUnless", "expectedFailure",
    "MonkeyPatch", "filterwarnings", "deprecated_call",
}  # fmt: skip
_FIXTURES = {
    "monkeypatch",
    "mocker",
    "pytestconfig",
    "pytester",
    "testdir",
    "recwarn",
    "record_property",
    "cache",
}
_HOOKS = {"pytest_plugins", "collect_ignore", "collect_ignore_glob", "pytestmark", "__test__"}
_BEHIND = {"__doc__", "__file__", "__annotations__", "__wrapped__", "__dict__"} | DUNDERS
_NAMED_TUPLE = {"_asdict", "_replace", "_fields", "_make"}
_DESCRIPTORS = {"os.write", "os.read", "os.open", "os.fdopen", "os.dup", "os.dup2", "os.pipe", "os.close"}
_BROAD = {"Exception", "BaseException"}
_REFUSED_MODULES = {
    "unittest.mock",
    "mock",
    "gc",
    "ctypes",
    "threading",
    "subprocess",
    "socket",
    "multiprocessing",
}


def trick_findings(tree: ast.Module, names: Names, path: str) -> Iterator[Finding]:
    """Everything in a file of tests that keeps them from showing something.

    Args:
        tree: The file.
        names: Of `read_names`.
        path: The file's place, for the findings.
    """
    for node in ast.walk(tree):
        for code, message in _faults(node, names):
            yield Finding(code, f"{path}:{getattr(node, 'lineno', 1)}", message)
        if what := _steers(node, names):
            message = f"`{what}` reaches for the process that runs the tests; call the module with values"
            yield Finding("tests.trick", f"{path}:{getattr(node, 'lineno', 1)}", message)
    for node, what in dynamic_uses(tree, names):
        if not what.startswith(("import unittest", "import pytest", "unittest", "pytest", ".")):
            yield Finding("tests.trick", f"{path}:{node.lineno}", f"`{what}`; {DYNAMIC_ADVICE}")


def _faults(node: ast.AST, names: Names) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Import() | ast.ImportFrom():
            yield from _refused_import(node)
        case ast.Attribute():
            yield from _attribute(node, names)
        case ast.Name():
            yield from _name(node, names)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _definition(node)
        case ast.Try() | ast.TryStar():
            yield from _swallowed(node)
        case ast.Call():
            yield from _call(node, names)
        case ast.Constant(value=str(text)) if "implementation/" in text or text.endswith("__init__.py"):
            yield "tests.internals", "a test does not read the implementation's files; call the entry point"
        case _:
            pass


def _steers(node: ast.AST, names: Names) -> str:
    """A way to the process itself, its descriptors included: a report could be forged there."""
    if isinstance(names.parents.get(id(node)), ast.Attribute):
        return ""
    dotted = names.dotted(node)
    steers = dotted in _DESCRIPTORS or (
        dotted.startswith(("os.", "sys.")) and kind_of(dotted) is Kind.PROCESS
    )
    return dotted if steers else ""


def _refused_import(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        name = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
        if any(name == refused or name.startswith(f"{refused}.") for refused in _REFUSED_MODULES):
            yield (
                "tests.trick",
                f"`import {name}`; tests call the module with values and look at what comes out",
            )
        elif kind_of(name) is Kind.NETWORK:
            yield "tests.trick", f"`import {name}` reaches the network; use values"


def _attribute(node: ast.Attribute, names: Names) -> Iterator[tuple[str, str]]:
    dotted = names.dotted(node)
    if isinstance(node.ctx, (ast.Store, ast.Del)) and dotted and not dotted.startswith("own."):
        yield "tests.trick", f"`{ast.unparse(node)}` is patched; test the module in the world as it is"
    if node.attr in _TRICKS and (dotted.startswith(("pytest.", "unittest.")) or node.attr == "skipTest"):
        advice = "a test that does not run as it stands shows nothing: write it so that it runs"
        yield "tests.trick", f"`{ast.unparse(node)}`; {advice}"
    elif node.attr in _BEHIND and not _of_type(node):
        advice = "assert what comes out of the entry point"
        yield "tests.internals", f"`.{node.attr}` looks behind the public surface; {advice}"
    elif _is_private(node):
        yield "tests.internals", f"`.{node.attr}` is private; assert what the contract promises"


def _is_private(node: ast.Attribute) -> bool:
    if not node.attr.startswith("_") or node.attr.startswith("__") or node.attr in _NAMED_TUPLE:
        return False
    return not (isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"})


def _of_type(node: ast.Attribute) -> bool:
    # `type(result).__module__` and the like say nothing of the source
    return (
        isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "type"
    )


def _name(node: ast.Name, names: Names) -> Iterator[tuple[str, str]]:
    dotted = names.dotted(node)
    if isinstance(node.ctx, ast.Store):
        if node.id in _HOOKS - {"pytestmark"} or node.id.startswith("pytest_"):
            yield "tests.trick", f"`{node.id}` changes how tests are found; leave that to the gate"
    elif dotted in {"builtins.__file__", "builtins.__doc__"}:
        yield "tests.internals", f"`{node.id}`; a test knows the entry point and nothing of where it stands"
    elif dotted.startswith(("pytest.", "unittest.")) and dotted.rpartition(".")[2] in _TRICKS:
        yield "tests.trick", f"`{node.id}`; a test that does not run as it stands shows nothing"


def _definition(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, str]]:
    if node.name.startswith("pytest_"):
        yield "tests.trick", f"`{node.name}` changes how tests are run; leave that to the gate"
    is_fixture = any("fixture" in ast.unparse(decorator) for decorator in node.decorator_list)
    for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
        if argument.arg in _FIXTURES or (
            argument.arg == "request" and not is_fixture and node.name.startswith("test")
        ):
            yield "tests.trick", f"the fixture `{argument.arg}` changes what is tested; pass values instead"


def _call(node: ast.Call, names: Names) -> Iterator[tuple[str, str]]:
    dotted = names.dotted(node.func)
    last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if dotted == "pytest.raises" or last in {"assertRaises", "assertRaisesRegex"}:
        given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "expected_exception")]
        broad = {part.id for kind in given for part in ast.walk(kind) if isinstance(part, ast.Name)} & _BROAD
        if broad:
            yield (
                "tests.broad",
                f"`raises({', '.join(sorted(broad))})` is content with any failure; name the declared error",
            )
    elif dotted == "contextlib.suppress":
        yield "tests.swallow", "`suppress` hides failures; use pytest.raises for a declared error"
    elif dotted == "time.sleep" or (dotted == "asyncio.sleep" and not _is_zero(node)):
        yield "tests.sleep", "a test does not wait; assert what the call left behind when it returned"
    elif dotted in {"builtins.setattr", "builtins.delattr"}:
        yield "tests.trick", f"`{dotted.removeprefix('builtins.')}` patches; test the module as it ships"


def _is_zero(node: ast.Call) -> bool:
    return bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0


def _swallowed(node: ast.Try | ast.TryStar) -> Iterator[tuple[str, str]]:
    """A handler that goes on, unless the way without an exception fails and this one asserts something."""
    without = _fails(node.orelse) or _fails(node.body)
    for handler in node.handlers:
        asserts = any(isinstance(part, ast.Assert) for part in ast.walk(handler))
        too_much = handler.type is None or bool(_names_in(handler.type) & (_BROAD | {"AssertionError"}))
        if not _fails(handler.body) and (too_much or not (without or asserts)):
            yield "tests.swallow", "a failure is caught and forgotten; use pytest.raises for a declared error"
            return
        if not _fails(handler.body) and not without:
            yield (
                "tests.swallow",
                "without an exception this asserts nothing; use pytest.raises for a declared error",
            )
            return


def _fails(body: list[ast.stmt]) -> bool:
    """Whether a block ends by failing."""
    match body[-1] if body else None:
        case ast.Raise():
            return True
        case ast.Assert(test=ast.Constant(value=value)):
            return not value
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="fail"))):
            return True
        case _:
            return False


def _names_in(node: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def fixtures(tree: ast.Module) -> Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The fixtures that a file defines, by name."""
    return {
        node.name: node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and any("fixture" in ast.unparse(decorator) for decorator in node.decorator_list)
    }
