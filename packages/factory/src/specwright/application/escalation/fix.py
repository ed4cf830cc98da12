"""The files that a person mends where modules failed: the last draft of each with its contract, and the answer that the
mended files make (design: escalation)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import imported_classes, render_stub
from ship_gate.verdict import ENTRY_FILE
from specwright.application.factory import ProjectView
from specwright.application.messages.parts import without_docstring
from specwright.application.plan.stored_plans import load_plan
from specwright.application.tasks import Task, task_at
from specwright.domain.base.graph import reachable
from specwright.domain.escalation import EscalationArtifact
from specwright.errors import RefusedError
from specwright.ports import Files, run_of

_LINE = re.compile(r"(?<=\.py):\d+")


class FailedDraft(NamedTuple):
    """The last draft of a failed module.

    Args:
        contract: Locked.
        base: The files that a fix is laid over: the version that was judged last, or the stub.
        files: The last files that were written: a draft that was refused before anybody judged it, or `base`.
    """

    contract: MicroModuleContract
    base: Files
    files: Files


def draft_names(task: Task, last_round: int) -> Iterator[str]:
    """Where the draft is stored by which a debate ended without a proposal, the newest run first."""
    entry = task.entry
    for resumed in range(len(task.answers), -1, -1):
        for stage in (f"round-{last_round + 1}", f"amended-{last_round}"):
            yield f"{run_of(entry.spec_task_id, entry.attempt, resumed)}-{stage}"


def failed_drafts(view: ProjectView, escalation: EscalationArtifact) -> dict[str, FailedDraft]:
    """The last draft of each module that failed, by its name.

    Raises:
        RefusedError: no module failed that is still planned.
    """
    halted = cast("dict[str, Any]", escalation.details.get("resume", {}))
    task = task_at(view, escalation.task_id)
    if "plan_id" not in halted:
        raise _nothing_to_fix(escalation)
    plan = load_plan(view.artifacts, task.folder, halted["plan_id"])
    failed = [name for name in halted["failed"] if name in plan.contracts]
    if not failed:
        raise _nothing_to_fix(escalation)
    found: dict[str, FailedDraft] = {}
    for name in failed:
        contract, judged = plan.contracts[name], halted["judged"].get(name, {})
        version = judged.get("version_id", "")
        base = view.artifacts.body(task.folder, version) if version else _stub(view, plan.contracts, contract)
        kept = (view.drafts.files(contract.ref, one) for one in draft_names(task, judged.get("round", 0)))
        refused = next((files for files in kept if files), base)
        found[name] = FailedDraft(contract, base, refused)
    return found


def fix_payload(
    drafts: Mapping[str, FailedDraft], module: str, files: Mapping[str, str], description: str
) -> dict[str, Any]:
    """The payload of PROVIDE_FIX for a module's mended files, all of them.

    Args:
        drafts: Of `failed_drafts`.
        module: Its name.
        files: Every file that the module is to have.
        description: What the fix does.
    """
    return {
        "fix_description": description,
        "fix_artifacts": dict(files),
        "removed_artifacts": sorted(drafts[module].base.keys() - files.keys()),
        "module": module,
    }


def reason_of_same_files(
    view: ProjectView, escalation: EscalationArtifact, module: str, files: Files
) -> str | None:
    """Why the last draft of a module failed, if these are its files; the docstring of the entry point, which is the
    contract's, may be written or left out. None for other files.

    Args:
        view: The project.
        escalation: Asks for the fix.
        module: Its name; empty if one failed.
        files: All that the module is to have.
    """
    drafts = failed_drafts(view, escalation)
    name = module or next(iter(drafts))
    if _without_docstring(drafts[name].files, name) != _without_docstring(files, name):
        return None
    return str(escalation.details["failed"].get(name, ""))


def is_same_verdict(problems: Sequence[str], reason: str) -> bool:
    """Whether a draft failed by what the gate finds now, wherever in its files that stands."""
    return all(_without_lines(problem) in _without_lines(reason) for problem in problems)


def _without_docstring(files: Files, name: str) -> dict[str, str | bytes]:
    return {
        path: without_docstring(data, name) if path == ENTRY_FILE else data for path, data in files.items()
    }


def _without_lines(text: str) -> str:
    return _LINE.sub("", text)


def called_modules(view: ProjectView, contract: MicroModuleContract) -> list[str]:
    """The sealed modules that a module calls, directly or not."""
    own = [dependency.ref.replace("@^", "@") for dependency in contract.dependencies]

    def called(ref: str) -> list[str]:
        return [d.ref.replace("@^", "@") for d in view.modules.contract(ref).dependencies]

    return [*dict.fromkeys([*own, *reachable(own, called)])]


def _nothing_to_fix(escalation: EscalationArtifact) -> RefusedError:
    return RefusedError(
        f"{escalation.escalation_id} has no module whose files could be mended",
        where=escalation.task_id,
        remedy=f"`specwright escalations {escalation.escalation_id}` shows the answers that it takes",
    )


def _stub(
    view: ProjectView, planned: Mapping[str, MicroModuleContract], contract: MicroModuleContract
) -> Files:
    known = {one.ref: one for one in planned.values()}
    refs = [dependency.ref.replace("@^", "@") for dependency in contract.dependencies]
    called = [known.get(ref) or view.modules.contract(ref) for ref in refs]
    return {ENTRY_FILE: render_stub(contract, imported_classes(contract, called)).encode()}
