"""An escalation for a person: what to decide, the recommended answer, and the command that gives it (design:
escalation, command-line)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specwright.application.factory import ProjectView
from specwright.application.history.rounds import debates_over
from specwright.application.plan.stored_plans import load_plan
from specwright.application.tasks import task_at
from specwright.cli.pages.debate import add_debate
from specwright.cli.pages.page import Page, brief
from specwright.cli.terminal.output import next_command
from specwright.domain.escalation.escalation import EscalationArtifact
from specwright.domain.escalation.resolutions import Action, actions_of
from specwright.errors import InputError

_CAUSES = {
    "planning": "no sound plan was made",
    "contracts": "the contracts were not settled",
    "plan": "the plan itself is at fault",
    "modules": "modules could not be shipped",
    "exception": "a role found the contract of a dependency wrong",
    "journal": "the run cannot be repeated",
    "stalled": "it waits for a task that was abandoned",
    "criterion": "no test can show an acceptance criterion; nothing waits for the answer",
}

_MEANING: Mapping[Action, str] = {
    Action.PROVIDE_FIX: "give the files yourself; they are challenged and pass the ship gate like any others",
    Action.APPROVE_OVERRIDE: "overrule the debate; the ship gate still decides",
    Action.REVISE_PLAN: "say which modules there shall be; the planner fills in their contracts",
    Action.AMEND_SPEC: "change what the task asks for; it runs again from the start",
    Action.SPLIT_TASK: "replace it by smaller tasks",
    Action.ATTEST_SHIPPED: "name a sealed module that does it already",
    Action.ABANDON_TASK: "give it up; what depends on it waits for an answer of its own",
    Action.ACCEPT_UNSHOWN: "accept the criterion although nothing shows it",
    Action.DROP_CRITERION: "take the criterion back",
    Action.REWORD_CRITERION: "say what it ought to ask for in the next version",
}

_DECISIONS = {
    "approve": "the changed contract is debated, made and sealed; what uses it follows, then the task runs again",
    "reject": "the contract stays; the task runs again without the change, or with --hold waits for another answer",
    "defer": "decide later; the task stays halted",
}
_DECISION_OPTIONS = {"approve": "", "reject": '--reason "why" --requeue', "defer": ""}

_FILL = "..."
"""To be filled in; as it is, it is refused as a placeholder wherever a text is required (design: contracts)."""

_OBSERVED = 400
"""Characters of what the gate saw of a module; the file has the rest."""

_LINES_SHOWN = 40
"""Of a raw answer; the file has the rest."""


def add_short_page(
    page: Page, view: ProjectView, escalation: EscalationArtifact, directory: Path, mark: str = ""
) -> None:
    """What waits, since when and why, and what to type."""
    page.line(f"{mark}{_headline(view, escalation)}")
    page.row("since", escalation.created_at)
    page.row("cause", _cause(escalation))
    page.row("decide", escalation.minimal_decision_required)
    if name := escalation.details.get("exception_id"):
        page.row("recommended", f"decide about {name}: approve, reject or defer the change that it proposes")
    else:
        recommended = Action(escalation.recommended_resolution)
        page.row("recommended", f"{recommended}: {_MEANING[recommended]}")
    page.copy("type", _recommended_command(view, escalation, directory))
    page.copy("whole page", next_command(f"escalations {escalation.escalation_id}", directory))


def escalation_page(view: ProjectView, escalation: EscalationArtifact, directory: Path) -> Page:
    """Everything that helps to decide: the decision first, then failures, modules, answers, debates, raw answers."""
    page = Page()
    page.heading(_headline(view, escalation))
    page.row("since", escalation.created_at)
    page.copy("task file", str(directory / escalation.task_ref))
    page.copy("record", str(_file(escalation, directory)))
    page.heading("To decide")
    page.row("", escalation.minimal_decision_required)
    page.row("context", escalation.resolution_context)
    page.heading("What failed")
    for failure in escalation.failed_invariants:
        page.row("invariant", failure.invariant)
        page.row("evidence", failure.evidence)
    if not escalation.failed_invariants:
        page.prose("nothing was tried", 2)
    _add_modules(page, escalation, directory)
    page.heading("Recommended")
    recommended = None if "exception_id" in escalation.details else Action(escalation.recommended_resolution)
    if recommended is None:
        _add_decisions(page, escalation.details["exception_id"], directory)
    else:
        _add_answer(page, view, escalation, recommended, directory, recommended=True)
    page.heading("Other answers")
    for action in actions_of(escalation.details):
        if action is not recommended:
            _add_answer(page, view, escalation, action, directory)
    for debate in debates_over(view, escalation.debate_trail.proposals):
        add_debate(
            page, "Contracts" if debate.over == "contracts" else f"Implementation of {debate.over}", debate
        )
    _add_raw_answers(page, escalation, directory)
    return page


def escalation_document(view: ProjectView, escalation: EscalationArtifact, directory: Path) -> dict[str, Any]:
    """The record, with the actions that suit it, a payload for each, and the command of the recommended one."""
    actions = actions_of(escalation.details)
    return {
        **escalation.to_json(),
        "actions": {action.value: _payload(view, escalation, action) for action in actions},
        "command": _recommended_command(view, escalation, directory),
    }


def draft(view: ProjectView, escalation: EscalationArtifact, wanted: str) -> dict[str, Any]:
    """The payload of an answer, to fill in.

    Raises:
        InputError: the action is no answer to this escalation.
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


def _headline(view: ProjectView, escalation: EscalationArtifact) -> str:
    state = view.projection.state
    entry = state.tasks.get(escalation.task_id) if state else None
    task = f"{entry.spec_task_id}  {brief(entry.task)}" if entry else escalation.task_id
    return f"{escalation.escalation_id}  {task}"


def _cause(escalation: EscalationArtifact) -> str:
    kind = str(escalation.details.get("cause", ""))
    names = ", ".join(escalation.details.get("failed", {}))
    return f"{_CAUSES.get(kind, kind)}: {names}" if names else _CAUSES.get(kind, kind)


def _recommended_command(view: ProjectView, escalation: EscalationArtifact, directory: Path) -> str:
    """The command of what is recommended: the approval of an exception, else the recommended answer."""
    if name := escalation.details.get("exception_id"):
        return _decision(name, "approve", directory)
    return _command(view, escalation, Action(escalation.recommended_resolution), directory)


def _decision(name: str, decision: str, directory: Path) -> str:
    return next_command(f"exceptions {decision} {name}", directory, _DECISION_OPTIONS[decision])


def _add_decisions(page: Page, name: str, directory: Path) -> None:
    """The decisions about an interface change exception (design: interface-changes)."""
    for decision, meaning in _DECISIONS.items():
        page.row(decision, meaning)
        page.copy("type", _decision(name, decision, directory))


def _command(view: ProjectView, escalation: EscalationArtifact, action: Action, directory: Path) -> str:
    """The command that gives an answer; what needs a reason alone takes it in the command itself."""
    reason_alone = list(_payload(view, escalation, action)) == ["rationale"]
    fields = '--rationale "why"' if reason_alone else "--payload answer.json"
    return next_command(f"resolve {escalation.escalation_id} {action}", directory, fields)


def _file(escalation: EscalationArtifact, directory: Path) -> Path:
    return directory / "state_store/escalations" / f"{escalation.escalation_id}.json"


def _add_modules(page: Page, escalation: EscalationArtifact, directory: Path) -> None:
    """The three groups of docs/design.md#engineering, if the plan got as far as modules."""
    details = escalation.details
    if "failed" not in details:
        return
    observed = (
        f"{name}: {json.dumps(findings, ensure_ascii=False)}"
        for name, findings in details.get("gate", {}).items()
    )
    page.heading("Modules")
    page.rows("failed", (f"{name}: {reason}" for name, reason in details["failed"].items()))
    page.rows("abandoned", details.get("abandoned") or ["none"])
    page.rows("shipped", [f"{name}  {ref}" for name, ref in details.get("shipped", {}).items()] or ["none"])
    page.rows("gate saw", (brief(line, _OBSERVED) for line in observed))
    page.copy("drafts", str(directory / "state_store/drafts"))


def _add_answer(
    page: Page,
    view: ProjectView,
    escalation: EscalationArtifact,
    action: Action,
    directory: Path,
    *,
    recommended: bool = False,
) -> None:
    """An answer: what it means, its payload, the command; the payload in full of the recommended one."""
    page.row("answer" if recommended else "or", f"{action}: {_MEANING[action]}")
    command = _command(view, escalation, action, directory)
    if "--payload" in command and not recommended:
        draft_it = f"escalations {escalation.escalation_id}"
        page.copy("write", next_command(draft_it, directory, f"--draft {action} > answer.json"))
    elif "--payload" in command:
        page.row("write", "answer.json, with your words in place of each `...`:")
        for line in json.dumps(_payload(view, escalation, action), indent=2, ensure_ascii=False).splitlines():
            page.line(f"    {line}")
    page.copy("type", command)


def _add_raw_answers(page: Page, escalation: EscalationArtifact, directory: Path) -> None:
    answers: list[str] = escalation.details.get("raw_answers", [])
    for number, answer in enumerate(answers, start=1):
        lines = answer.splitlines()
        page.heading(f"Raw answer {number} of {len(answers)}")
        page.rows("", lines[:_LINES_SHOWN])
        if len(lines) > _LINES_SHOWN:
            rest = len(lines) - _LINES_SHOWN
            page.row("", f"... {rest} more lines in {_file(escalation, directory)}")


def _payload(view: ProjectView, escalation: EscalationArtifact, action: Action) -> dict[str, Any]:
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
        Action.ACCEPT_UNSHOWN: {"rationale": _FILL},
        Action.DROP_CRITERION: {"rationale": _FILL},
        Action.REWORD_CRITERION: {"reworded_criterion": _FILL, "rationale": _FILL},
    }
    return payloads[action]


def _planned(view: ProjectView, escalation: EscalationArtifact) -> list[dict[str, Any]]:
    """The modules of the plan that failed, in short form; without a plan, one to begin with (design: planning)."""
    plan_id = escalation.details.get("resume", {}).get("plan_id")
    if plan_id is None:
        return [{"module_id": "one_module", "description": _FILL, "depends_on": []}]
    modules = load_plan(view.artifacts, task_at(view, escalation.task_id).folder, plan_id).plan.modules
    names = {module.module_id: module.name for module in modules}
    return [
        {
            "module_id": module.name,
            "description": _FILL,
            "depends_on": [names.get(ref.partition("@")[0], ref) for ref in module.depends_on],
        }
        for module in modules
    ]
