"""The tool that judges an ordinary source tree: `gate_package` (design: mcp-server, package)."""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from specwright.atomic_write import write_atomically
from specwright.bootstrap.gate.batch import BatchLimits
from specwright.bootstrap.gate.package import judge_package, package_places
from specwright.canonical_json import digest
from specwright.domain.adoption.package_verdict import FunctionResult, FunctionVerdict
from specwright.mcp_server.adopting import check_places
from specwright.mcp_server.judging import require_sandbox
from specwright.mcp_server.records import (
    CountedTests,
    GatePackageArguments,
    GatePackageResult,
    JudgedFunction,
    SourceFinding,
)
from specwright.mcp_server.work import Work

_MOST_FUNCTIONS = 60
_MOST_FINDINGS = 20
_LONGEST_MESSAGE = 2000
_WITH_TOOLS = "`read_files`, `edit_files`"
_WITHOUT_TOOLS = (
    "`read_files` reads them; for `edit_files` the server must be started as `specwright mcp --write`"
)


def gate_package(arguments: GatePackageArguments, work: Work) -> GatePackageResult:
    """Judge the public functions of a package below a root; what has not changed since the last call is not judged again.

    Raises:
        InputError: a path is outside, there is no package, or no function of a name.
        RefusedError: its settings turn the sandbox off.
    """
    directory = work.roots.resolve(arguments.directory)
    require_sandbox(directory)
    for place in package_places(directory):
        check_places(str(place), work.roots)
    ended = 0

    def done(function: FunctionVerdict) -> None:
        nonlocal ended
        ended += 1
        work.report(ended, ended, f"{function.result} {function.name}")

    seconds = min(arguments.seconds or work.seconds / 2, work.seconds)
    limits = BatchLimits(seconds=seconds, passed=work.scratch / f"package-{digest(str(directory))}.json")
    root = next(place for place in work.roots.places if directory.is_relative_to(place))
    verdict = judge_package(directory, limits, done, arguments.functions, root).verdict
    others = [one for one in verdict.functions if one.result is not FunctionResult.SHOWN]
    last = _LastResults(work.scratch / f"told-{digest(str(directory))}.json")
    judged = [_judged(one) for one in others]
    # who names a function wants to read of it
    unchanged = [] if arguments.functions else last.unchanged(judged)
    shown = [one.name for one in verdict.functions if one.result is FunctionResult.SHOWN]
    last.note(judged, shown)
    changed = [one for one in judged if one.name not in unchanged]
    return GatePackageResult(
        verdict=verdict.result(allows_unshown=False).value,
        counts={name: number for name, number in verdict.counts().items() if number},
        shown=shown,
        functions=changed[:_MOST_FUNCTIONS],
        functions_left_out=max(0, len(changed) - _MOST_FUNCTIONS),
        unchanged=f"unchanged since the last call: {', '.join(unchanged)}; name one in `functions` to read of it again"
        if unchanged
        else "",
        tests=_counted(verdict.functions),
        tests_not_used=_unused(verdict.functions),
        next=_next(others, work),
    )


def _counted(functions: Sequence[FunctionVerdict]) -> CountedTests:
    tests = [one.tests for one in functions]
    return CountedTests(
        found=sum(one.found for one in tests),
        used=sum(one.used for one in tests),
        run=sum(one.run for one in tests),
        passed=sum(one.passed for one in tests),
    )


def _unused(functions: Sequence[FunctionVerdict]) -> list[str]:
    return [
        f"{test.where} {test.name}, for {function.name}: {test.why}"
        for function in functions
        for test in function.tests.ignored
    ][:_MOST_FINDINGS]


class _LastResults:
    """What earlier calls told of the functions of a package: digests, so that the same is not told twice.

    Args:
        path: In the directory of the server.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._known = cast(dict[str, str], json.loads(path.read_bytes())) if path.exists() else {}
        except (OSError, ValueError):
            self._known = {}

    def unchanged(self, judged: Sequence[JudgedFunction]) -> list[str]:
        """The functions of which the same was told, word for word."""
        return [one.name for one in judged if self._known.get(one.name) == digest(one.to_json())]

    def note(self, judged: Sequence[JudgedFunction], shown: Sequence[str]) -> None:
        """Keep what is told now; what cannot be kept is told again, as is what was shown in between."""
        now = {one.name: digest(one.to_json()) for one in judged[:_MOST_FUNCTIONS]}
        known = {name: of for name, of in {**self._known, **now}.items() if name not in shown}
        with suppress(OSError):
            write_atomically(self._path, json.dumps(known).encode())


def _judged(function: FunctionVerdict) -> JudgedFunction:
    findings = [(one, True) for one in function.wrong] + [(one, False) for one in function.unshown]
    return JudgedFunction(
        name=function.name,
        where=function.where,
        result=function.result.value,
        findings=[
            SourceFinding(
                code=one.code,
                where=one.where,
                message=one.message[:_LONGEST_MESSAGE],
                is_wrong=is_wrong,
            )
            for one, is_wrong in findings[:_MOST_FINDINGS]
        ],
        cannot=[f"{one.what} ({one.where})" for one in function.obstacles[:_MOST_FINDINGS]],
        accepted=function.accepted,
    )


def _next(others: Sequence[FunctionVerdict], work: Work) -> str:
    late = sum(one.result is FunctionResult.UNJUDGED for one in others)
    unstated = sum(one.result is FunctionResult.UNSTATED for one in others)
    outside = sum(one.result is FunctionResult.INEXPRESSIBLE and not one.accepted for one in others)
    accepted = sum(bool(one.accepted) for one in others)
    to_do = len(others) - late - outside - unstated - accepted
    told = [
        f"{to_do} are not shown: mend what is wrong, write what is missing into the docstring or the tests of the tree "
        f"({_WITH_TOOLS if work.writes_tree else _WITHOUT_TOOLS}), then call `gate_package` again."
    ] * bool(to_do)
    told += [f"{late} were not judged in time: call `gate_package` again."] * bool(late)
    told += [
        f"{unstated} state nothing: write an example into the docstring, and what it refuses under `Raises`; "
        "`explain` of `docstring` shows one."
    ] * bool(unstated)
    told += [
        f"{outside} were not judged, and nothing is said of them; `cannot` says why. Change that; or, if a person agrees, "
        "accept them by name and reason in pyproject.toml, as `explain` of `inexpressible` shows."
    ] * bool(outside)
    told += [f"{accepted} were not judged, as pyproject.toml accepts."] * bool(accepted)
    done = not (to_do or late or unstated or outside)
    told += ["Everything that is judged is shown; nothing is left to do."] * done
    return " ".join(told)
