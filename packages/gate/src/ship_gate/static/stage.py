"""The static stage: everything that the gate sees in a candidate's source without running it (design: ship-gate).

All is read from syntax trees: comments and configuration in the module are not.
"""

from ship_gate.findings import Finding
from ship_gate.source.files import ParsedFiles
from ship_gate.source.program import read_program
from ship_gate.static.assertions import assertion_findings
from ship_gate.static.effect_table import Kind
from ship_gate.static.effects import declared_kinds, effect_findings
from ship_gate.static.raises import raise_findings
from ship_gate.static.reading_limits import size_findings
from ship_gate.static.suite_reach import reach_findings
from ship_gate.static.suite_tricks import trick_findings
from ship_gate.verdict import Candidate


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
    findings += size_findings((source.path, source.tree) for source in program.files)
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
