"""SARIF 2.1.0: findings of the gate as code scanners report theirs, each at its file and line."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ship_gate import __version__
from ship_gate.batch import JudgedModule
from ship_gate.errors import InputError
from ship_gate.findings import Finding, FindingCode, known_code

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BEGINS = '{\n  "$schema": "https://docs.oasis-open.org/sarif/'
"""How every report begins."""

_PLACE = re.compile(r"(?P<file>[^:]+)(:(?P<line>\d+))?")


def sarif_report(modules: Sequence[JudgedModule], root: Path) -> str:
    """The log of one run.

    Args:
        modules: All of the batch.
        root: What the paths of files are relative to.
    """
    codes = sorted({finding.code for module in modules for finding in module.findings})
    results = [
        sarif_result(finding, module.directory, root, codes.index(finding.code))
        for module in modules
        for finding in module.findings
    ]
    return sarif_log(codes, results, complete=FindingCode.MODULE_UNREADABLE not in codes)


def sarif_log(codes: Sequence[str], results: Sequence[dict[str, Any]], *, complete: bool) -> str:
    """The log of a run.

    Args:
        codes: Of its findings, in the order of `ruleIndex`.
        results: Of `sarif_result`.
        complete: Whether all could be judged.
    """
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "shipgate", "version": __version__, "rules": [_rule(c) for c in codes]}},
        "invocations": [{"executionSuccessful": complete}],
        "columnKind": "unicodeCodePoints",
        "results": [*results],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    try:
        found = known_code(code)
    except InputError:
        return {"id": code}
    text = " ".join([found.why, *found.steps])
    return {
        "id": code,
        "shortDescription": {"text": found.remedy},
        "fullDescription": {"text": found.means},
        "help": {"text": text},
    }


def sarif_result(
    finding: Finding, directory: Path, root: Path, rule: int, level: str = "error"
) -> dict[str, Any]:
    """A finding at its place.

    Args:
        finding: It.
        directory: What its place is relative to.
        root: What the paths of the log are relative to.
        rule: The index of its code.
        level: `error`, or `note` for what does not fail the run.
    """
    found = _PLACE.fullmatch(finding.where)
    file = directory / found["file"] if found and found["file"] else directory
    is_file = file.is_file()
    line = int(found["line"]) if found and found["line"] and is_file else 1
    place: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(file if is_file else directory / "contract.json", root)},
            "region": {"startLine": max(1, line)},
        }
    }
    if not is_file and finding.where:
        place["logicalLocations"] = [{"fullyQualifiedName": finding.where}]
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": level,
        "message": {"text": finding.message or finding.code},
        "locations": [place],
    }


def _uri(file: Path, root: Path) -> str:
    file, root = file.resolve(), root.resolve()
    return quote(file.relative_to(root).as_posix()) if file.is_relative_to(root) else file.as_uri()
