"""Tests that do not run as they stand (design: module-directory, ship-gate).

    tests.trick        hooks, code made at run time, a test that returns before its end
    tests.internals    reads the implementation's files
    tests.broad        `raises(Exception)`: any failure at all would do
    tests.sleep        waits
    tests.constant     `assert True`, `assert (result == 1, "message")`, `assert 2 > 1`, `assert x == 1 or True`

`suite_reach` checks what a test may name, skips and stand-ins among it; `imports` what it imports.

Left out: what the observation sees, which is that a test shows nothing, by whatever means; and assertions that are constant
only because of what they are about, such as `result == result`. A test that asserts nothing else is vacuous, as the
observation sees; beside an assertion that shows something it does no harm.
"""

import ast
import builtins
from collections.abc import Iterator

from ship_gate.findings import Finding, FindingCode
from ship_gate.source.files import ParsedFiles
from ship_gate.source.names import BUILTIN, OWN, Names, binds
from ship_gate.static.effects import DYNAMIC_ADVICE, dynamic_uses

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
        case ast.Name(ctx=ast.Store()):
            yield from _bound_name(node.id)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield from _bound_name(node.name)
            yield from _early_return(node)
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                yield from _bound_name(alias.asname or alias.name)
        case ast.Call():
            yield from _call(node, names)
        case ast.Constant(value=str(text)) if "implementation/" in text or text.endswith("__init__.py"):
            yield (
                FindingCode.TESTS_INTERNALS,
                "a test does not read the implementation's files; call the entry point",
            )
        case _:
            pass


def _bound_name(name: str) -> Iterator[tuple[str, str]]:
    if name in _HOOKS or name.startswith("pytest_"):
        yield FindingCode.TESTS_TRICK, f"`{name}` changes how tests are found or run; leave that to the gate"


def _early_return(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Whether what follows may never be asserted, on a module that gives other answers."""
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
        waiting: list[ast.AST] = [*node.body]
        for part in waiting:
            if isinstance(part, ast.Return) and part is not node.body[-1]:
                yield FindingCode.TESTS_TRICK, f"`{node.name}` returns before its end; assert in either case"
            if not isinstance(part, _Function):
                waiting += ast.iter_child_nodes(part)


def _call(node: ast.Call, names: Names) -> Iterator[tuple[str, str]]:
    dotted = names.dotted(node.func)
    last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if dotted == "pytest.raises" or last in _RAISES:
        kinds = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "expected_exception")]
        if not kinds or not all(_is_named_error(kind, names) for kind in kinds):
            shown = ast.unparse(kinds[0]) if kinds else ""
            yield (
                FindingCode.TESTS_BROAD,
                f"`raises({shown})` may be content with any failure; name the declared error, or what a callable of the "
                "test raises: a plain `class Refused(Exception): pass`",
            )
    elif dotted == "time.sleep" or (dotted == "asyncio.sleep" and not _is_zero(node)):
        yield (
            FindingCode.TESTS_SLEEP,
            "a test does not wait; assert what the call left behind when it returned",
        )


def _is_own_error(node: ast.Name, names: Names) -> bool:
    """Whether it is a class of errors that the file defines, once, for what its own callables and iterables raise."""
    *_, module = names.above(node)
    bindings = [part for part in ast.walk(module) if binds(part, node.id)]
    match bindings:
        case [ast.ClassDef(bases=[ast.Name(id=base) as above], keywords=[], decorator_list=[])]:
            kind = getattr(builtins, base, None)
            is_error = isinstance(kind, type) and issubclass(kind, Exception)
            return is_error and names.dotted(above) == BUILTIN + base
        case _:
            return False


def _is_named_error(node: ast.expr, names: Names) -> bool:
    """Whether it is visibly a class of errors that a module declares, or a test's parameter that stands for one."""
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(_is_named_error(element, names) for element in node.elts)
    dotted = names.dotted(node)
    if isinstance(node, ast.Name):
        if _is_own_error(node, names):
            return True
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


def _is_zero(node: ast.Call) -> bool:
    return bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0


def assertion_findings(tree: ast.Module, path: str) -> Iterator[Finding]:
    """The constant assertions of a file of tests.

    Args:
        tree: The file.
        path: The file's place, for the findings.
    """
    for node in ast.walk(tree):
        # a bare `assert False` says that a line is not to be reached
        if isinstance(node, ast.Assert) and ast.unparse(node.test) != "False" and _is_constant(node.test):
            shown = ast.unparse(node.test)[:80]
            message = (
                f"`assert {shown}` does not depend on any call; assert what a call returned, raised or wrote"
            )
            yield Finding(FindingCode.TESTS_CONSTANT, f"{path}:{node.lineno}", message)


def _is_constant(test: ast.expr) -> bool:
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(map(_is_constant, values))
        case ast.NamedExpr(value=value):
            return _is_constant(value)
        case ast.IfExp(body=body, orelse=orelse):
            return _is_constant(body) and _is_constant(orelse)
        case ast.GeneratorExp() | ast.Lambda() | ast.Tuple() | ast.List() | ast.Set() | ast.Dict():
            return True
        case _:
            return not any(isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(test))


def without_repetition(findings: list[Finding], files: ParsedFiles) -> list[Finding]:
    """The findings, but none that says of a whole test what a constant assertion in it shows already.

    Args:
        findings: Of all stages.
        files: The candidate's.
    """
    constant = {
        (path, node.name)
        for path, _, line in (
            f.where.partition(":") for f in findings if FindingCode(f.code) is FindingCode.TESTS_CONSTANT
        )
        for node in ast.walk(files.tree(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.lineno <= int(line) <= (node.end_lineno or 0)
    }
    return [f for f in findings if f.code not in _OF_A_TEST or _test_of(f) not in constant]


_OF_A_TEST = {FindingCode.TESTS_VACUOUS, FindingCode.TESTS_UNCALLED}


def _test_of(finding: Finding) -> tuple[str, str]:
    path, _, name = finding.where.partition("[")[0].partition("::")
    return path, name.rpartition("::")[2]
