"""The answers to an escalation: what each does and costs, its payload to fill in, and the command that gives it (design:
escalation)."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specwright.application.escalation.actions import suited_actions
from specwright.application.escalation.fix import called_modules, failed_drafts
from specwright.application.factory import ProjectView
from specwright.application.plan.stored_plans import load_plan
from specwright.application.tasks import task_at
from specwright.cli.terminal.output import next_command
from specwright.domain.base.text import did_you_mean
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.escalation.escalation import EscalationArtifact
from specwright.domain.escalation.resolutions import RELEASE, Action
from specwright.errors import InputError

FILL = "..."
"""To be filled in; as it is, it is refused as a placeholder wherever a text is required (design: contracts)."""

FIX = "fix"
"""The directory of a fix in the commands that are shown."""

MEANING: Mapping[Action, str] = {
    Action.PROVIDE_FIX: "give the files yourself; costs a challenge and a ruling",
    Action.APPROVE_OVERRIDE: "overrule the debate; costs no call, the gate decides",
    Action.REVISE_PLAN: "say which modules there are; costs all their debates",
    Action.RETRY: "run the task again as it is; costs the whole task",
    Action.AMEND_SPEC: "change what it asks for; costs the whole task",
    Action.SPLIT_TASK: "put smaller tasks in its place; costs all of them",
    Action.ATTEST_SHIPPED: "name a sealed module that does it; costs no call",
    Action.ABANDON_TASK: "give it up for good, with what needs it; costs no call",
    Action.ACCEPT_UNSHOWN: "accept it although nothing shows it; costs no call",
    Action.DROP_CRITERION: "take the criterion back; costs no call",
    Action.REWORD_CRITERION: "reword it for the next version; costs no call",
}
"""What an answer does, and which model calls it costs."""

OTHER_SPEC = '--request "what is to change"'
"""The option of a change in the commands that are shown."""

DECISIONS = {
    "approve": "the changed contract is debated, made and sealed; what uses it follows, then the task runs again",
    "reject": "the contract stays; the task runs again without the change, or with --hold waits for another answer",
    "defer": "decide later; the task stays halted",
}
"""The decisions about an interface change exception (design: interface-changes)."""

_DECISION_OPTIONS = {"approve": "", "reject": '--reason "why" --requeue', "defer": ""}


def draft(view: ProjectView, escalation: EscalationArtifact, wanted: str) -> dict[str, Any]:
    """The payload of an answer, to fill in.

    Raises:
        InputError: the action is no answer to this escalation.
    """
    actions = suited_actions(view, escalation)
    wanted = wanted.upper().replace("-", "_")
    if wanted not in actions:
        raise InputError(
            f"{wanted} is no answer to {escalation.escalation_id}",
            where="--draft",
            remedy=f"{did_you_mean(wanted, actions)}choose one of {', '.join(actions)}",
        )
    return payload_draft(view, escalation, Action(wanted))


def recommended_command(view: ProjectView, escalation: EscalationArtifact, directory: Path) -> str:
    """The command of what is recommended: the approval of an exception, else the recommended answer."""
    if name := escalation.details.get("exception_id"):
        return decision_command(name, "approve", directory)
    return answer_command(view, escalation, Action(escalation.recommended_resolution), directory)


def decision_command(name: str, decision: str, directory: Path) -> str:
    """The command of a decision about an interface change exception."""
    return next_command(f"exceptions {decision} {name}", directory, _DECISION_OPTIONS[decision])


def answer_command(view: ProjectView, escalation: EscalationArtifact, action: Action, directory: Path) -> str:
    """The command that gives an answer; what needs a reason alone takes it in the command itself."""
    payload = list(payload_draft(view, escalation, action))
    fields = "--payload answer.json" if payload else ""
    if payload == ["rationale"]:
        fields = '--rationale "why"'
    if action is Action.PROVIDE_FIX:
        fields = f'--files {FIX} --rationale "what it does"'
    return next_command(f"resolve {escalation.escalation_id} {action}", directory, fields)


def steps(view: ProjectView, escalation: EscalationArtifact, action: Action, directory: Path) -> list[str]:
    """The commands that lead to an answer, one after the other."""
    name, command = escalation.escalation_id, answer_command(view, escalation, action, directory)
    if action is Action.PROVIDE_FIX:
        checkout = next_command(f"escalations {name}", directory, f"--checkout {FIX}")
        contract = next(iter(failed_drafts(view, escalation).values())).contract
        return [checkout, gate_command(view, contract, Path(FIX)), command]
    if "--payload" in command:
        return [next_command(f"escalations {name}", directory, f"--draft {action} > answer.json"), command]
    return [command]


def gate_command(view: ProjectView, contract: MicroModuleContract, place: Path) -> str:
    """The command that judges a mended module, with the sealed ones that it calls."""
    called = (
        view.modules.location(ref) for ref in called_modules(view, contract) if view.modules.is_sealed(ref)
    )
    return next_command("gate", place, " ".join(f"--dependency {shlex.quote(str(one))}" for one in called))


def broken_titles(escalation: EscalationArtifact) -> list[str]:
    """The approved examples and properties of its task that were seen to fail, by their titles."""
    return list(escalation.details.get("broken_titles", ()))


def meaning(escalation: EscalationArtifact, action: Action) -> str:
    """What an answer to an escalation does, and which model calls it costs."""
    if action is Action.AMEND_SPEC and escalation.details.get("cause") == RELEASE:
        return "strike an approved example that is wrong itself; costs no call"
    return MEANING[action]


def payload_draft(view: ProjectView, escalation: EscalationArtifact, action: Action) -> dict[str, Any]:
    """A payload to fill in, with what is known already."""
    definition = view.projection.definitions.get(escalation.task_id)
    criteria = list(definition.acceptance_criteria) if definition else [FILL]
    failed = list(escalation.details.get("failed", {}))
    judged = [name for name in failed if name in escalation.details.get("resume", {}).get("judged", {})]
    module = {"module": (judged or failed)[0]} if len(failed) > 1 else {}
    shipped = list(escalation.details.get("shipped", {}).values())
    enough = [*criteria, FILL, FILL][: max(2, len(criteria))]
    part = {"name": FILL, "description": FILL, "acceptance_criteria": enough, "depends_on": []}
    payloads: dict[Action, dict[str, Any]] = {
        Action.PROVIDE_FIX: {
            "fix_description": FILL,
            "fix_artifacts": {"implementation/__init__.py": FILL},
            **({"module": failed[0]} if failed else {}),
        },
        Action.APPROVE_OVERRIDE: {"rationale": FILL, **module},
        Action.REVISE_PLAN: {"revised_micro_plan": _planned(view, escalation)},
        Action.RETRY: {},
        Action.AMEND_SPEC: {
            "amended_acceptance_criteria": enough,
            "amendment_rationale": FILL,
            **({"strike_examples": broken} if (broken := broken_titles(escalation)) else {}),
            **(
                {"drop_depends_on": dropped}
                if (dropped := escalation.details.get("abandoned")) and not failed
                else {}
            ),
        },
        Action.SPLIT_TASK: {"new_tasks": [part]},
        Action.ATTEST_SHIPPED: {
            "module_ref": shipped[0] if shipped else "MM-00000000@1.0.0",
            "rationale": FILL,
        },
        Action.ABANDON_TASK: {"rationale": FILL},
        Action.ACCEPT_UNSHOWN: {"rationale": FILL},
        Action.DROP_CRITERION: {"rationale": FILL},
        Action.REWORD_CRITERION: {"reworded_criterion": FILL, "rationale": FILL},
    }
    return payloads[action]


def _planned(view: ProjectView, escalation: EscalationArtifact) -> list[dict[str, Any]]:
    """The modules of the plan that failed, in short form; without a plan, one to begin with (design: planning)."""
    plan_id = escalation.details.get("resume", {}).get("plan_id")
    if plan_id is None:
        return [{"module_id": "one_module", "description": FILL, "depends_on": []}]
    modules = load_plan(view.artifacts, task_at(view, escalation.task_id).folder, plan_id).plan.modules
    names = {module.module_id: module.name for module in modules}
    return [
        {
            "module_id": module.name,
            "description": FILL,
            "depends_on": [names.get(ref.partition("@")[0], ref) for ref in module.depends_on],
        }
        for module in modules
    ]
