"""The verdicts as Markdown, for the summary of a build or a comment on a pull request."""

from collections.abc import Sequence

from ship_gate.batch import JudgedModule

BEGINS = "<!-- shipgate -->"
"""How every report begins."""

_MOST_FINDINGS = 50
_LONGEST = 500


def markdown_report(modules: Sequence[JudgedModule]) -> str:
    """A table of the modules, and below it the findings of those that failed."""
    passed = sum(module.passed for module in modules)
    lines = [BEGINS, f"### Ship gate: {passed} of {len(modules)} modules pass", ""]
    lines += ["| result | module | findings | seconds |", "|---|---|---|---|"]
    lines += [
        f"| {module.result} | {cell(module.title)} | {len(module.findings)} | {module.seconds:.1f} |"
        for module in modules
    ]
    failed = [module for module in modules if module.findings]
    for module in failed:
        lines += ["", f"**{cell(module.title)}**", ""]
        lines += [
            f"- `{finding.code}` {cell(finding.where)}: {cell(finding.message)} "
            f"*{finding.remedy or 'do what the message says'}*"
            for finding in module.findings[:_MOST_FINDINGS]
        ]
        left = len(module.findings) - _MOST_FINDINGS
        lines += [f"- and {left} more"] if left > 0 else []
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """A text in one line in which nothing is markup; it may be of a module that nobody has read."""
    short = " ".join(text.split())
    short = short if len(short) <= _LONGEST else f"{short[:_LONGEST]} ..."
    for character in "\\`*_[]<>|~#!@":
        short = short.replace(character, f"\\{character}" if character not in "<>@" else _HTML[character])
    return short


_HTML = {"<": "&lt;", ">": "&gt;", "@": "&#64;"}
