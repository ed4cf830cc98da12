"""An escalation for a person: what to decide, the recommended answer, and the command that gives it (F§17, DESIGN §9)."""

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specwright.application.debate.rounds import debates_over
from specwright.application.factory import Reading
from specwright.application.project_stage import task_at
from specwright.application.stores.stored_plans import load_plan
from specwright.cli.columns import brief, bullets, row, uncut
from specwright.cli.debate_page import held_page
from specwright.cli.output import next_command
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.resolutions import Action, actions_of
from specwright.errors import InputError

__all__ = ["draft", "escalation_document", "escalation_page", "short_page"]

_CAUSES = {
    "planning": "no sound plan was made",
    "contracts": "the contracts were not settled",
    "plan": "the plan itself is at fault",
    "modules": "modules could not be shipped",
    "journal": "the run cannot be repeated",
    "stalled": "it waits for a task that was abandoned",
}

_MEANING: Mapping[Action, str] = {
    Action.PROVIDE_FIX: "give the files yourself; they are challenged and pass the ship gate like any others",
    Action.APPROVE_OVERRIDE: "overrule the debate; the ship gate still decides",
    Action.REVISE_PLAN: "say which modules there shall be; their contracts are filled in",
    Action.AMEND_SPEC: "change what the task asks for; it runs again from the start",
    Action.SPLIT_TASK: "replace it by smaller tasks",
    Action.ATTEST_SHIPPED: "name a sealed module that does it already",
    Action.ABANDON_TASK: "give it up; what depends on it waits for an answer of its own",
}

_FILL = "..."
"""Refused as a placeholder wherever a text is required (D19), so that an answer that nobody wrote is no answer."""

_OBSERVED = 400
"""Characters of what the gate saw of a module; the file has the rest."""

_LINES_SHOWN = 40
"""Of a raw answer; the file has the rest."""


def short_page(view: Reading, escalation: EscalationArtifact, directory: Path) -> list[str]:
    """What waits, since when and why, and what to type."""
    return [
        _headline(view, escalation),
        *row("since", escalation.created_at),
        *row("cause", _cause(escalation)),
        *row("decide", escalation.minimal_decision_required),
        *row("recommended", _recommended(escalation)),
        *uncut("type", _command(view, escalation, Action(escalation.recommended_resolution), directory)),
        *uncut("whole page", next_command(f"escalations {escalation.escalation_id}", directory)),
    ]


def escalation_page(view: Reading, escalation: EscalationArtifact, directory: Path) -> list[str]:
    """Everything that helps to decide: the decision first, then faults, modules, answers, debates, raw answers."""
    recommended = Action(escalation.recommended_resolution)
    return [
        _headline(view, escalation),
        *row("since", escalation.created_at),
        *uncut("task file", str(directory / escalation.task_ref)),
        *uncut("record", str(_file(escalation, directory))),
        "",
        "To decide",
        *row("", escalation.minimal_decision_required),
        *row("context", escalation.resolution_context),
        "",
        "What failed",
        *_failed(escalation),
        *_modules(escalation, directory),
        "",
        *row("recommended", _recommended(escalation), 0),
        *_answer(view, escalation, recommended, directory),
        "",
        "Other answers",
        *(
            line
            for action in actions_of(escalation.details)
            if action is not recommended
            for line in _other_answer(view, escalation, action, directory)
        ),
        *_debates(view, escalation),
        *_raw(escalation, directory),
    ]


def escalation_document(view: Reading, escalation: EscalationArtifact, directory: Path) -> dict[str, Any]:
    """The record, with the actions that suit it, a payload for each, and the command of the recommended one."""
    actions = actions_of(escalation.details)
    return {
        **escalation.to_json(),
        "actions": {action.value: _payload(view, escalation, action) for action in actions},
        "command": _command(view, escalation, Action(escalation.recommended_resolution), directory),
    }


def draft(view: Reading, escalation: EscalationArtifact, wanted: str) -> dict[str, Any]:
    """The payload of an answer, to fill in.

    Raises:
        InputError: it is no answer to this escalation.
    """
    actions = actions_of(escalation.details)
    wanted = wanted.upper().replace("-", "_")
    if wanted not in actions:
        raise InputError(
            f"{wanted} is no answer to {escalation.escalation_id}",
            where="--draft",
            remedy=f"choose one of {', '.join(actions)}",
        )
    return _payload(view, escalation, Action(wanted))


def _headline(view: Reading, escalation: EscalationArtifact) -> str:
    state = view.projection.state
    entry = state.tasks.get(escalation.task_id) if state else None
    named = f"{entry.spec_task_id}  {brief(entry.task)}" if entry else escalation.task_id
    return f"{escalation.escalation_id}  {named}"


def _kind(escalation: EscalationArtifact) -> str:
    return str(escalation.details.get("cause", ""))


def _cause(escalation: EscalationArtifact) -> str:
    kind = _kind(escalation)
    names = ", ".join(escalation.details.get("failed", {}))
    return f"{_CAUSES.get(kind, kind)}: {names}" if names else _CAUSES.get(kind, kind)


def _recommended(escalation: EscalationArtifact) -> str:
    action = Action(escalation.recommended_resolution)
    return f"{action}: {_MEANING[action]}"


def _command(view: Reading, escalation: EscalationArtifact, action: Action, directory: Path) -> str:
    """The command that gives an answer; what needs a reason alone takes it in the command itself."""
    reason_alone = list(_payload(view, escalation, action)) == ["rationale"]
    given = '--rationale "why"' if reason_alone else "--payload answer.json"
    return next_command(f"resolve {escalation.escalation_id} {action}", directory, given)


def _file(escalation: EscalationArtifact, directory: Path) -> Path:
    return directory / "state_store/escalations" / f"{escalation.escalation_id}.json"


def _failed(escalation: EscalationArtifact) -> list[str]:
    lines: list[str] = []
    for one in escalation.failed_invariants:
        lines += [*row("invariant", one.invariant), *row("evidence", one.evidence)]
    return lines or ["  nothing was tried"]


def _modules(escalation: EscalationArtifact, directory: Path) -> list[str]:
    """The three groups of F§3.4, where the plan got as far as modules."""
    told = escalation.details
    if "failed" not in told:
        return []
    seen = (f"{name}: {json.dumps(what, ensure_ascii=False)}" for name, what in told.get("gate", {}).items())
    return [
        "",
        "Modules",
        *bullets("failed", (f"{name}: {reason}" for name, reason in told.get("failed", {}).items())),
        *bullets("abandoned", told.get("abandoned") or ["none"]),
        *bullets("shipped", [f"{name}  {ref}" for name, ref in told.get("shipped", {}).items()] or ["none"]),
        *bullets("gate saw", (textwrap.shorten(line, _OBSERVED, placeholder=" ...") for line in seen)),
        *uncut("drafts", str(directory / "state_store/drafts")),
    ]


def _answer(view: Reading, escalation: EscalationArtifact, action: Action, directory: Path) -> list[str]:
    command = _command(view, escalation, action, directory)
    if "--payload" not in command:
        return uncut("type", command)
    payload = json.dumps(_payload(view, escalation, action), indent=2, ensure_ascii=False)
    return [
        *row("write", "answer.json, with your words in place of each `...`:"),
        *(f"    {line}" for line in payload.splitlines()),
        *uncut("type", command),
    ]


def _other_answer(
    view: Reading, escalation: EscalationArtifact, action: Action, directory: Path
) -> list[str]:
    command = _command(view, escalation, action, directory)
    told = row("or", f"{action}: {_MEANING[action]}")
    if "--payload" not in command:
        return [*told, *uncut("type", command)]
    page = f"escalations {escalation.escalation_id}"
    return [
        *told,
        *uncut("write", next_command(page, directory, f"--draft {action} > answer.json")),
        *uncut("type", command),
    ]


def _debates(view: Reading, escalation: EscalationArtifact) -> list[str]:
    lines: list[str] = []
    for debate in debates_over(view, escalation.debate_trail.proposals):
        title = "Contracts" if debate.over == "contracts" else f"Implementation of {debate.over}"
        lines += ["", *held_page(title, debate)]
    return lines


def _raw(escalation: EscalationArtifact, directory: Path) -> list[str]:
    answers: list[str] = escalation.details.get("raw_answers", [])
    lines: list[str] = []
    for number, answer in enumerate(answers, start=1):
        shown = answer.splitlines()
        lines += ["", f"Raw answer {number} of {len(answers)}"]
        lines += [line for one in shown[:_LINES_SHOWN] for line in row("", one)]
        if len(shown) > _LINES_SHOWN:
            lines += row("", f"... {len(shown) - _LINES_SHOWN} more lines in {_file(escalation, directory)}")
    return lines


def _payload(view: Reading, escalation: EscalationArtifact, action: Action) -> dict[str, Any]:
    """A payload to fill in, with what is known already."""
    definition = view.projection.definitions.get(escalation.task_id)
    criteria = list(definition.acceptance_criteria) if definition else [_FILL]
    failed = list(escalation.details.get("failed", {}))
    judged = [name for name in failed if name in escalation.details.get("resume", {}).get("judged", {})]
    module = {"module": (judged or failed)[0]} if len(failed) > 1 else {}
    shipped = list(escalation.details.get("shipped", {}).values())
    enough = [*criteria, _FILL, _FILL][: max(2, len(criteria))]
    part = {"name": _FILL, "description": _FILL, "acceptance_criteria": enough, "depends_on": []}
    payloads: dict[Action, dict[str, Any]] = {
        Action.PROVIDE_FIX: {
            "fix_description": _FILL,
            "fix_artifacts": {"implementation/__init__.py": _FILL},
            **({"module": failed[0]} if failed else {}),
        },
        Action.APPROVE_OVERRIDE: {"rationale": _FILL, **module},
        Action.REVISE_PLAN: {"revised_micro_plan": _planned(view, escalation)},
        Action.AMEND_SPEC: {
            "amended_acceptance_criteria": criteria,
            "amendment_rationale": _FILL,
            **(
                {"drop_depends_on": dropped}
                if (dropped := escalation.details.get("abandoned")) and not failed
                else {}
            ),
        },
        Action.SPLIT_TASK: {"new_tasks": [part]},
        Action.ATTEST_SHIPPED: {
            "module_ref": shipped[0] if shipped else "MM-00000000@1.0.0",
            "rationale": _FILL,
        },
        Action.ABANDON_TASK: {"rationale": _FILL},
    }
    return payloads[action]


def _planned(view: Reading, escalation: EscalationArtifact) -> list[dict[str, Any]]:
    """The modules of the plan that failed, in short form; where there is none, one to begin with (D16)."""
    plan_id = escalation.details.get("resume", {}).get("plan_id")
    if plan_id is None:
        return [{"module_id": "one_module", "description": _FILL, "depends_on": []}]
    modules = load_plan(view, task_at(view, escalation.task_id), plan_id).plan.modules
    names = {module.module_id: module.name for module in modules}
    return [
        {
            "module_id": module.name,
            "description": _FILL,
            "depends_on": [names.get(ref.partition("@")[0], ref) for ref in module.depends_on],
        }
        for module in modules
    ]
