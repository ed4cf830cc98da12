"""The static stage: everything that the gate sees in a candidate's source without running it (design: ship-gate).

All is read from syntax trees: comments and configuration in the module are not.

source.size     an implementation of more statements than one reader can judge (design: contracts)
"""

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ship_gate.contract.rules import ReadingLimit
from ship_gate.findings import Finding, FindingCode
from ship_gate.source.files import ParsedFiles
from ship_gate.source.program import read_program
from ship_gate.static.effects import Kind, declared_kinds, effect_findings
from ship_gate.static.raises import raise_findings
from ship_gate.static.suite_reach import reach_findings
from ship_gate.static.suite_tricks import assertion_findings, trick_findings
from ship_gate.verdict import ENTRY_FILE, Candidate

_SHOWN = 3


class _Part(NamedTuple):
    """A function or class at the top of a file, with its statements."""

    statements: int
    name: str
    where: str


def _size_findings(files: Iterable[tuple[str, ast.Module]]) -> Iterator[Finding]:
    """A finding for an implementation that is too large.

    Args:
        files: Its files by path.
    """
    parts = [part for path, tree in files for part in _parts(path, tree)]
    total = sum(part.statements for part in parts)
    if total <= ReadingLimit.MODULE.most:
        return
    largest = sorted((part for part in parts if part.name), key=lambda part: -part.statements)[:_SHOWN]
    named = ", ".join(f"`{part.name}` at {part.where} ({part.statements})" for part in largest)
    yield Finding(
        FindingCode.SOURCE_SIZE,
        ENTRY_FILE,
        f"the implementation has {total} statements, and one reader judges {ReadingLimit.MODULE.most} at most; its largest "
        f"parts are {named}. Make a module of a part that takes values and gives a value, with a contract of its own, and "
        "have this one depend on it; a contract that leaves no such part asks for too much: split it by its outputs, or by "
        "what it reads and what it does with it",
    )


def _parts(path: str, tree: ast.Module) -> Iterator[_Part]:
    for node in tree.body:
        named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        count = sum(isinstance(one, ast.stmt) and not _is_docstring(one) for one in ast.walk(node))
        yield _Part(count, node.name if named else "", f"{path}:{node.lineno}")


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def static_findings(candidate: Candidate) -> list[Finding]:
    """The findings of the static stage, by file and line.

    Args:
        candidate: Its Python files are readable.
    """
    program = read_program(ParsedFiles.of(candidate.files))
    findings: list[Finding] = []
    for source in program.files:
        findings += effect_findings(
            source.tree, source.names, source.path, candidate.contract, program.methods()
        )
    findings += raise_findings(program, candidate.contract)
    findings += _size_findings((source.path, source.tree) for source in program.files)
    findings += test_findings(candidate)
    return sorted(dict.fromkeys(findings), key=_place)


def test_findings(candidate: Candidate) -> list[Finding]:
    """What is wrong with the tests alone, whoever wrote them.

    Args:
        candidate: Its Python files are readable; an implementation is not needed.
    """
    environment = Kind.ENVIRONMENT in declared_kinds(candidate.contract)
    files = ParsedFiles.of(candidate.files)
    findings: list[Finding] = []
    for path in files.tests():
        tree, names = files.tree(path), files.names(path)
        findings += trick_findings(tree, names, path)
        findings += reach_findings(tree, names, path, environment=environment)
        findings += assertion_findings(tree, path)
    return findings


def _place(finding: Finding) -> tuple[str, int, str]:
    path, _, line = finding.where.partition(":")
    return path, int(line or 0), finding.code
