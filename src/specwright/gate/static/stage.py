"""The static stage: everything that the gate sees in a candidate's source without running it (DESIGN §8,
D-S8-01, D-S8-05, D-S8-06, D-S8-20).

Codes: `static.*` and `tests.trick`, `.internals`, `.swallow`, `.broad`, `.sleep`, `.assertion`, `.constant`; each is
explained where it is found. All is read from syntax trees: comments and configuration in the module are not.
"""

from specwright.domain.docstring import entry_points
from specwright.gate.layout import TEST_FILE
from specwright.gate.static.assertions import assertion_findings
from specwright.gate.static.effects import effect_findings
from specwright.gate.static.names import read_names
from specwright.gate.static.program import read_program
from specwright.gate.static.raises import raise_findings
from specwright.gate.static.state import state_findings
from specwright.gate.static.test_forms import form_findings
from specwright.gate.static.test_reach import reach_findings
from specwright.gate.static.tests import trick_findings
from specwright.gate.top_level import parse_source
from specwright.ports.gate import Candidate, Finding

__all__ = ["NOT_EXECUTED", "static_findings", "test_findings"]

NOT_EXECUTED = {"static.refused", "static.dynamic"}
"""Codes of findings after which nothing of a candidate is run."""


def static_findings(candidate: Candidate) -> list[Finding]:
    """The findings of the static stage, by file and line.

    Args:
        candidate: Its Python files are readable.
    """
    entries = [entry.name for entry in entry_points(candidate.contract)]
    program = read_program(candidate.files)
    findings: list[Finding] = []
    for source in program.files:
        findings += effect_findings(
            source.tree, source.names, source.path, candidate.contract, program.methods()
        )
    findings += raise_findings(program, candidate.contract)
    findings += state_findings(program, entries)
    findings += test_findings(candidate)
    return sorted(dict.fromkeys(findings), key=_place)


def test_findings(candidate: Candidate) -> list[Finding]:
    """What is wrong with the tests alone, whoever wrote them.

    Args:
        candidate: Its Python files are readable; an implementation is not needed.
    """
    entries = {entry.name for entry in entry_points(candidate.contract)}
    findings: list[Finding] = []
    for path in sorted(filter(TEST_FILE.fullmatch, candidate.files)):
        tree = parse_source(candidate.files[path], path)
        names = read_names(tree)
        findings += trick_findings(tree, names, path)
        findings += reach_findings(tree, names, path)
        findings += form_findings(tree, names, path)
        findings += assertion_findings(tree, names, path, entries)
    return findings


def _place(finding: Finding) -> tuple[str, int, str]:
    path, _, line = finding.where.partition(":")
    return path, int(line or 0), finding.code
