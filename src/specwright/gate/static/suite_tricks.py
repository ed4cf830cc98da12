"""Tests that do not run as they stand, or that forget what they saw (design: module-directory, ship-gate).

    tests.trick        skips, expected failures, stand-ins, hooks
    tests.internals    reads the implementation's files
    tests.swallow      catches what a failing assertion or the module raises, and goes on
    tests.broad        `raises(Exception)`: any failure at all would do
    tests.sleep        waits

`suite_reach` checks what a test may name, `suite_forms` how it is built, `assertions` what it asserts, `imports` what
it imports.
"""

import ast
import builtins
from collections.abc import Iterator, Mapping

from specwright.gate.findings import FindingCode
from specwright.gate.source.names import BUILTIN, OWN, Names
from specwright.gate.static.dynamic import DYNAMIC_ADVICE, dynamic_uses
from specwright.ports.gate import Finding

_TRICKS = {
    "skip", "skipif", "xfail", "importorskip", "usefixtures", "exit", "skipTest", "skipUnless", "expectedFailure",
    "MonkeyPatch", "filterwarnings", "deprecated_call",
}  # fmt: skip
_HOOKS = {"pytest_plugins", "collect_ignore", "collect_ignore_glob", "__test__"}
_BROAD = {
    "Exception",
    "BaseException",
    "AssertionError",
    "KeyboardInterrupt",
    "SystemExit",
    "GeneratorExit",
    "BaseExceptionGroup",
    "ExceptionGroup",
}
_RAISES = {"assertRaises", "assertRaisesRegex"}
_Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


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
    for node, what in dynamic_uses(tree, names):
        if not what.startswith(("import unittest", "import pytest", "unittest", "pytest", ".")):
            yield Finding(FindingCode.TESTS_TRICK, f"{path}:{node.lineno}", f"`{what}`; {DYNAMIC_ADVICE}")


def _faults(node: ast.AST, names: Names) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Attribute():
            yield from _attribute(node, names)
        case ast.Name():
            yield from _name(node, names)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield from _bound_name(node.name)
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                yield from _bound_name(alias.asname or alias.name)
        case ast.Try() | ast.TryStar():
            yield from _swallowed(node, names)
        case ast.Call():
            yield from _call(node, names)
        case ast.Constant(value=str(text)) if "implementation/" in text or text.endswith("__init__.py"):
            yield (
                FindingCode.TESTS_INTERNALS,
                "a test does not read the implementation's files; call the entry point",
            )
        case _:
            pass


def _attribute(node: ast.Attribute, names: Names) -> Iterator[tuple[str, str]]:
    dotted = names.dotted(node)
    if node.attr in _TRICKS and (dotted.startswith(("pytest.", "unittest.")) or node.attr == "skipTest"):
        advice = "a test that does not run as it stands shows nothing: write it so that it runs"
        yield FindingCode.TESTS_TRICK, f"`{ast.unparse(node)}`; {advice}"


def _name(node: ast.Name, names: Names) -> Iterator[tuple[str, str]]:
    dotted = names.dotted(node)
    if isinstance(node.ctx, ast.Store):
        yield from _bound_name(node.id)
    elif dotted.startswith(("pytest.", "unittest.")) and dotted.rpartition(".")[2] in _TRICKS:
        yield FindingCode.TESTS_TRICK, f"`{node.id}`; a test that does not run as it stands shows nothing"


def _bound_name(name: str) -> Iterator[tuple[str, str]]:
    if name in _HOOKS or name.startswith("pytest_"):
        yield FindingCode.TESTS_TRICK, f"`{name}` changes how tests are found or run; leave that to the gate"


def _call(node: ast.Call, names: Names) -> Iterator[tuple[str, str]]:
    dotted = names.dotted(node.func)
    last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if dotted == "pytest.raises" or last in _RAISES:
        kinds = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "expected_exception")]
        if not kinds or not all(_is_named_error(kind, names) for kind in kinds):
            shown = ast.unparse(kinds[0]) if kinds else ""
            yield (
                FindingCode.TESTS_BROAD,
                f"`raises({shown})` may be content with any failure; name the declared error",
            )
    elif dotted == "pytest.approx" and not all(map(_is_tolerance, node.keywords)):
        yield (
            FindingCode.TESTS_BROAD,
            "`approx` with this tolerance is content with any number; write a small one",
        )
    elif dotted == "contextlib.suppress":
        yield FindingCode.TESTS_SWALLOW, "`suppress` hides failures; use pytest.raises for a declared error"
    elif dotted == "time.sleep" or (dotted == "asyncio.sleep" and not _is_zero(node)):
        yield (
            FindingCode.TESTS_SLEEP,
            "a test does not wait; assert what the call left behind when it returned",
        )


def _is_named_error(node: ast.expr, names: Names) -> bool:
    """Whether it is visibly a class of errors that a module declares, or a test's parameter that stands for one."""
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(_is_named_error(element, names) for element in node.elts)
    dotted = names.dotted(node)
    if isinstance(node, ast.Name):
        if dotted.startswith(BUILTIN):
            kind = getattr(builtins, node.id, None)
            return isinstance(kind, type) and issubclass(kind, BaseException) and node.id not in _BROAD
        return not dotted.startswith((OWN, "pytest.")) and (bool(dotted) or _is_parameter(node, names))
    return (
        isinstance(node, ast.Attribute) and bool(dotted) and not dotted.startswith((OWN, BUILTIN, "pytest."))
    )


def _is_parameter(node: ast.Name, names: Names) -> bool:
    return any(
        argument.arg == node.id
        for above in names.above(node)
        if isinstance(above, _Function)
        for argument in ast.walk(above.args)
        if isinstance(argument, ast.arg)
    ) or any(
        isinstance(part, ast.Name) and part.id == node.id
        for above in names.above(node)
        if isinstance(above, ast.For)
        for part in ast.walk(above.target)
    )


def _is_tolerance(keyword: ast.keyword) -> bool:
    """Whether it is no number, or one that leaves something to show."""
    infinite = any(
        (isinstance(part, ast.Constant) and "inf" in str(part.value).lower())
        or (isinstance(part, ast.Attribute) and part.attr in {"inf", "max"})
        for part in ast.walk(keyword.value)
    )
    most = {"rel": 0.5, "abs": 1e6}.get(keyword.arg or "", 0)
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else 0
    return not infinite and not (most and isinstance(value, (int, float)) and value > most)


def _is_zero(node: ast.Call) -> bool:
    return bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0


def _swallowed(node: ast.Try | ast.TryStar, names: Names) -> Iterator[tuple[str, str]]:
    """A handler that goes on, unless the way without an exception fails and this one asserts something."""
    for part in node.finalbody:
        if any(isinstance(inner, (ast.Return, ast.Break, ast.Continue)) for inner in ast.walk(part)):
            yield FindingCode.TESTS_SWALLOW, "leaving a `finally` forgets the failure; let it pass"
    # what is asserted where nothing is raised is not caught: only a named error is
    without = _fails(node.body) or _asserts(node.orelse) or _asserts(node.body)
    for handler in node.handlers:
        asserts = _asserts(handler.body)
        too_much = handler.type is None or not _is_named_error(handler.type, names)
        if not _fails(handler.body) and (too_much or not (without or asserts)):
            yield (
                FindingCode.TESTS_SWALLOW,
                "a failure is caught and forgotten; use pytest.raises for a declared error",
            )
            return
        if not _fails(handler.body) and not without:
            yield (
                FindingCode.TESTS_SWALLOW,
                "without an exception this asserts nothing; use pytest.raises for a declared error",
            )
            return


def _asserts(body: list[ast.stmt]) -> bool:
    """Whether a block asserts something, or fails by itself."""
    return _fails(body) or any(
        isinstance(part, ast.Assert) for statement in body for part in ast.walk(statement)
    )


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


def fixtures(tree: ast.Module) -> Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The fixtures that a file defines, by name."""
    return {
        node.name: node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and any("fixture" in ast.unparse(decorator) for decorator in node.decorator_list)
    }
