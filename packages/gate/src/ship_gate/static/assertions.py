"""Assertions that are constant by themselves: nothing in them is called or named, or they are about a display that is
true whatever is in it (design: ship-gate).

    tests.constant     `assert True`, `assert (result == 1, "message")`, `assert 2 > 1`, `assert x == 1 or True`

Left out: what is constant only because of what it is about, such as `result == result`. A test that asserts nothing
else is vacuous, as the observation sees; beside an assertion that shows something it does no harm.
"""

import ast
from collections.abc import Iterator

from ship_gate.findings import Finding, FindingCode
from ship_gate.source.files import ParsedFiles


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
