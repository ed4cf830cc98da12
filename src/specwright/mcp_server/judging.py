"""The tools that judge: `gate`, `fix_docstring`, `explain` (design: mcp-server)."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from specwright.bootstrap.gate.adoption import RECORD
from specwright.bootstrap.gate.batch import (
    BatchLimits,
    BatchResult,
    JudgedModule,
    judge_all,
    modules_in,
    remedy_of,
)
from specwright.bootstrap.gate.explain import explain_finding
from specwright.bootstrap.verify import judge_directory, outside_dependencies
from specwright.canonical_json import digest
from specwright.errors import InputError, RefusedError
from specwright.mcp_server.records import (
    ExplainArguments,
    ExplainResult,
    FixArguments,
    FixResult,
    FoundProblem,
    GateArguments,
    GateResult,
    JudgedDirectory,
)
from specwright.mcp_server.roots import Roots
from specwright.mcp_server.work import Work
from specwright.ports.gate import Finding
from specwright.settings import ENVIRONMENT_PREFIX, load_settings

_MOST_FINDINGS = 60
_RESULTS: Mapping[BatchResult, Literal["PASS", "FAIL", "UNCHANGED", "UNJUDGED"]] = {
    BatchResult.PASS: "PASS",
    BatchResult.FAIL: "FAIL",
    BatchResult.UNCHANGED: "UNCHANGED",
    BatchResult.UNJUDGED: "UNJUDGED",
}
"""Those that a module directory may come to."""
_LONGEST_MESSAGE = 3000
_PLACE = re.compile(r"(?P<file>[^:#]+)(:(?P<line>\d+))?.*", re.DOTALL)
_COMMAND = re.compile(r"run `specwright gate DIR --fix`")


def gate(arguments: GateArguments, work: Work) -> GateResult:
    """Judge module directories.

    Raises:
        InputError: a path is outside, holds no module, or a module turns the sandbox off.
    """
    places = [work.roots.resolve(text) for text in arguments.directories]
    found = [path for path in modules_in(places) if work.roots.holds(Path(os.path.realpath(path)))]
    for directory in found:
        _check(directory, work.roots)
    ended = 0

    def done(module: JudgedModule) -> None:
        nonlocal ended
        ended += 1
        work.report(ended, len(found), f"{module.result} {module.name}")

    seconds = min(arguments.seconds or work.seconds / 2, work.seconds)
    passed = work.scratch / f"passed-{digest(sorted(map(str, found)))}.json"
    modules = judge_all(found, BatchLimits(seconds=seconds, passed=passed), done)
    return GateResult(
        verdict="PASS" if all(module.passed for module in modules) else "FAIL",
        modules=[_judged(module) for module in modules],
        next=_next(modules),
    )


def fix_docstring(arguments: FixArguments, work: Work) -> FixResult:
    """Write the contract's docstring into the entry file, and judge the module.

    Raises:
        InputError: as `gate`.
        RefusedError: it is a sealed version.
    """
    directory = work.roots.resolve(arguments.directory)
    _check(directory, work.roots)
    judged = judge_directory(directory, fix=True)
    result = BatchResult.FAIL if judged.findings else BatchResult.PASS
    return FixResult(written=judged.fixed, module=_judged(JudgedModule(directory, result, judged)))


def explain(arguments: ExplainArguments, work: Work) -> ExplainResult:
    """Explain a finding by its code.

    Raises:
        InputError: there is no such code.
    """
    code, severity, means, why, steps = explain_finding(arguments.code)
    return ExplainResult(code=code, severity=severity, means=means, why=why, steps=list(steps))


def require_sandbox(directory: Path) -> None:
    """Refuse settings that turn the sandbox off, unless whoever started the server did.

    Raises:
        RefusedError: they do.
        InputError: they cannot be read.
    """
    here = f"{ENVIRONMENT_PREFIX}SANDBOX"
    if load_settings(directory).sandbox == "none" and os.environ.get(here) != "none":
        raise RefusedError(
            "the settings there turn the sandbox off, and over MCP no file may do that",
            where=str(directory / "specwright.toml"),
            remedy=f"remove `sandbox` there; {here}=none where the server is started turns it off",
        )


def _check(directory: Path, roots: Roots) -> None:
    """Refuse what the files of a module could make the gate do outside its roots or its sandbox."""
    try:
        require_sandbox(directory)
        outside = outside_dependencies(directory, roots.holds)
    except InputError:
        return  # the gate reports it as a finding of that module
    for path in outside:
        raise InputError(
            "the module calls one that is not below a directory that this server works in",
            where=str(path),
            remedy="have the server started with the directory that holds both",
        )


def _judged(module: JudgedModule) -> JudgedDirectory:
    tests = module.judged.verdict.tests if module.judged and module.judged.verdict else None
    return JudgedDirectory(
        directory=str(module.directory),
        name=module.name if module.judged else module.directory.name,
        result=_RESULTS[module.result],
        seconds=round(module.seconds, 3),
        tests_passed=None if tests is None else sum(test.result == "PASS" for test in tests),
        tests=None if tests is None else len(tests),
        findings=[_problem(finding, module.directory) for finding in module.findings[:_MOST_FINDINGS]],
        findings_left_out=max(0, len(module.findings) - _MOST_FINDINGS),
    )


def _problem(finding: Finding, directory: Path) -> FoundProblem:
    place = _PLACE.fullmatch(finding.where)
    file = place["file"] if place and (directory / place["file"]).is_file() else ""
    return FoundProblem(
        code=str(finding.code),
        where=finding.where,
        file=file,
        line=int(place["line"]) if place and place["line"] and file else None,
        message=finding.message.replace("`--fix`", "the tool `fix_docstring`")[:_LONGEST_MESSAGE],
        do=_COMMAND.sub("call the tool `fix_docstring`", remedy_of(finding.code))
        or "do what the message says",
    )


def _next(modules: Sequence[JudgedModule]) -> str:
    failed = [module for module in modules if module.result is BatchResult.FAIL]
    if failed:
        codes = sorted({str(finding.code) for module in failed for finding in module.findings})
        return (
            f"{len(failed)} of {len(modules)} fail. Correct what each finding names, at its place, then call `gate` again; "
            f"`explain` says more of a code: {', '.join(codes)}."
        )
    late = sum(module.result is BatchResult.UNJUDGED for module in modules)
    if late:
        return f"{late} of {len(modules)} were not judged in time. Call `gate` again: what passed is not judged again."
    drafts = [module.directory.name for module in modules if (module.directory / RECORD).is_file()]
    if drafts:
        return (
            f"Every module passes. {len(drafts)} of them are copies that `adopt` made ({', '.join(drafts[:20])}): the "
            "source is as it was. Make the same changes there and in its tests, then call `gate_package` on the source tree."
        )
    return "Every module passes; nothing is left to do."
