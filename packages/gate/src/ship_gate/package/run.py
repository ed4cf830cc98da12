"""Runs a package in the sandbox, with the faults of each function, and keeps what was reported (design: package-gate).

The faults are made by the gate's mutations, as sources that take the function's place in memory. A file or module that ends
the process, or hangs, is left out, and the run begins again.
"""

import ast
import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ship_gate.package.functions import (
    FunctionNode,
    PublicApi,
    PublicFunction,
    function_node,
    parsed,
    public_api,
)
from ship_gate.package.tree import PackageTree, copy_tree, installed_folders
from ship_gate.sandbox.kind import Sandbox
from ship_gate.sandbox.packages import TEST_TOOLS, link_packages
from ship_gate.sandbox.pair import ProgramRun, run_program
from ship_gate.sandbox.process import Plan
from ship_gate.sandbox.staging import workspace
from ship_gate.strength.mutants import Mutant, Mutations, sampled

_MOST_FAULTS = 40
"""Of a function; more would take longer and say the same."""


def _faults_of(function: PublicFunction, most: int = _MOST_FAULTS) -> list[Mutant]:
    """The faults that are tried, in the order of the source; each has the function and the future imports of its file.

    Left out are those of defaults and decorators, which are no part of the function's code.
    """
    node = function_node(function.file, function.qualname.rpartition(".")[2], function.line)
    if node is None:
        return []
    decorators, node.decorator_list = node.decorator_list, []
    try:
        return sampled([*_faults(node, function)], most)
    finally:
        node.decorator_list = decorators


def _faults(node: FunctionNode, function: PublicFunction) -> Iterator[Mutant]:
    future = [
        one
        for one in parsed(function.file).body
        if isinstance(one, ast.ImportFrom) and one.module == "__future__"
    ]
    body = {id(part) for statement in node.body for part in ast.walk(statement)}
    for mutation in Mutations(ast.Module([node], [])).found():
        if id(mutation.node) in body:
            undo = mutation.apply()
            source = ast.unparse(ast.fix_missing_locations(ast.Module([*future, node], [])))
            undo()
            line = getattr(mutation.node, "lineno", node.lineno)
            yield Mutant(str(function.file), line, "", mutation.change, source, boundary=mutation.boundary)


_INSIDE = Path(__file__).parent / "inside"
_MIB = 1024 * 1024
_MORE_SECONDS = 30.0
_MOST_RESTARTS = 5
_IMPORT_MODE = re.compile(rb"--import-mode[ =](prepend|append|importlib)")
_SETTINGS = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", ".pytest.ini")

Event = dict[str, Any]


class PackageRun(NamedTuple):
    """What was seen of a package.

    Args:
        api: What it publishes.
        faults: Of each function, by its place in `api.functions`.
        events: What the program reported, in order.
        left_out: Modules and files that ended or held up the process, and how.
        place: The copy, whose name no message shows.
        unfinished: Why the run broke off; empty if it did not.
        published: The names of all public functions.
    """

    api: PublicApi
    faults: list[list[Mutant]]
    events: list[Event]
    left_out: dict[str, str]
    place: str
    unfinished: str
    published: tuple[str, ...]


def run_package(
    tree: PackageTree, sandbox: Sandbox, seconds: float, only: str, tell: Callable[[str], None]
) -> PackageRun:
    """Judge the public functions of a tree.

    Args:
        tree: Of `find_tree`.
        sandbox: In what it runs.
        seconds: For all of it.
        only: The name of the one function that is judged; empty for all.
        tell: Takes what is being done, in a line.

    Raises:
        InputError: the tree cannot be copied.
        ShipGateError: the process could not be started.
    """
    with workspace() as root:
        place = root.resolve()
        copied = copy_tree(tree, place / "tree")
        tell("reading the package")
        api = public_api(copied.source, tree.names)
        published = tuple(one.name for one in api.functions)
        if only:
            chosen = [one for one in api.functions if only in {one.name, one.qualname}]
            api = api._replace(functions=tuple(chosen), findings=() if chosen else api.findings)
        if not api.functions:
            return PackageRun(api, [], [], {}, str(place), "", published)
        faults = [_faults_of(one) for one in api.functions]
        # of what lies elsewhere Hypothesis reads every constant
        site = place / "tools" / "site-packages"
        reads = [place, *link_packages(TEST_TOOLS, site)]
        installed = installed_folders(tree.root)
        job = _job(copied, api.functions, faults, installed, import_mode=_import_mode(copied.root))
        job |= {"seconds": seconds, "sandbox": sandbox.kind.value}
        limits = sandbox.limits._replace(
            memory=4096 * _MIB, file_size=64 * _MIB, scratch_size=256 * _MIB, open_files=512
        )
        left_out: dict[str, str] = {}
        package = ("ship_gate.package.inside", _INSIDE)
        plan = Plan("runner", place, (*reads, *installed), site, package=package)
        ran = _run(plan, job, left_out, sandbox._replace(limits=limits), seconds, tell)
        return PackageRun(api, faults, ran.events, left_out, str(place), _unfinished(ran), published)


def _run(
    plan: Plan,
    job: dict[str, Any],
    left_out: dict[str, str],
    sandbox: Sandbox,
    seconds: float,
    tell: Callable[[str], None],
) -> ProgramRun:
    until = time.monotonic() + seconds
    while True:
        job["seconds"] = seconds = max(1.0, until - time.monotonic())
        tell("running its tests and examples")
        scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=plan.scratch))
        file = plan.scratch / "job.json"
        file.write_text(json.dumps(job), encoding="utf-8")
        one = plan._replace(scratch=scratch, more={"job": str(file), "forks": True})
        ran = run_program(one, {}, sandbox, seconds + _MORE_SECONDS)
        blamed = "" if ran.ended.how == "finished" else _blamed(ran.events)
        if not blamed:
            return ran
        hung = ran.ended.how in {"timeout", "processor"}
        left_out[blamed] = "it did not come to its end" if hung else "it ended the process"
        if len(left_out) > _MOST_RESTARTS:
            return ran
        job["modules"] = [name for name in job["modules"] if name != blamed]
        job["ignored"] = [*job["ignored"], blamed]


def _unfinished(ran: ProgramRun) -> str:
    """Why a run broke off."""
    match ran.ended.how:
        case "finished":
            return ""
        case "timeout" | "processor":
            return "the time was over before all was run; --seconds gives more"
        case "forged":
            return "the run was stopped: what was reported did not come from the gate's program"
        case how:
            lines = ran.ended.output.strip().splitlines()
            printed = f": {lines[-1][:200]}" if lines else ""
            return f"the run broke off ({ran.ended.message or how}){printed}"


def _blamed(events: Sequence[Event]) -> str:
    """What was loaded when the process ended, if it ended while it loaded something."""
    last = events[-1] if events else {}
    return str(last.get("name", "")) if last.get("event") in {"importing", "collecting"} else ""


def _import_mode(root: Path) -> str:
    for name in _SETTINGS:
        if (root / name).is_file() and (found := _IMPORT_MODE.search((root / name).read_bytes())):
            return found[1].decode()
    return ""


def _job(
    tree: PackageTree,
    functions: Sequence[PublicFunction],
    faults: Sequence[Sequence[Mutant]],
    installed: Sequence[Path],
    *,
    import_mode: str,
) -> dict[str, Any]:
    return {
        "root": str(tree.root),
        "source": str(tree.source),
        "site": [str(folder) for folder in installed],
        "modules": list(dict.fromkeys([*tree.names, *(one.module for one in functions)])),
        "ignored": [],
        "import_mode": import_mode,
        "functions": [
            {
                **one._asdict(),
                "file": str(one.file),
                "key": key,
                "faults": [fault.source for fault in faults[key]],
                "boundaries": [number for number, fault in enumerate(faults[key]) if fault.boundary],
            }
            for key, one in enumerate(functions)
        ],
    }
