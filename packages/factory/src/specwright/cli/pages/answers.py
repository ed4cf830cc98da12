"""The commands that answer an escalation, and the payload of an answer that a command prints (design: escalation,
command-line)."""

import os
import shlex
from pathlib import Path
from typing import Any

from ship_gate.base.text import did_you_mean
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.escalation.actions import suited_actions
from specwright.application.escalation.fix import called_modules, failed_drafts
from specwright.application.escalation.payloads import payload_draft
from specwright.application.escalation.retries import recommended_action, unusable_roles
from specwright.application.factory import ProjectView
from specwright.cli.terminal.output import next_command
from specwright.domain.escalation import Action, EscalationArtifact
from specwright.errors import InputError

FIX = "fix"
"""The directory of a fix in the commands that are shown."""

OTHER_SPEC = '--request "what is to change"'
"""The option of a change in the commands that are shown."""

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
    return steps(view, escalation, recommended_action(escalation), directory)[-1]


def decision_command(name: str, decision: str, directory: Path) -> str:
    """The command of a decision about an interface change exception."""
    return next_command(f"exceptions {decision} {name}", directory, _DECISION_OPTIONS[decision])


def answer_command(
    view: ProjectView, escalation: EscalationArtifact, action: Action, directory: Path, place: str = FIX
) -> str:
    """The command that gives an answer; what needs a reason alone takes it in the command itself.

    Args:
        view: The project.
        escalation: The question.
        action: The answer.
        directory: Of the project.
        place: Where the mended files of a fix lie.
    """
    payload = list(payload_draft(view, escalation, action))
    fields = "--payload answer.json" if payload else ""
    if payload == ["rationale"]:
        fields = '--rationale "why"'
    if action is Action.PROVIDE_FIX:
        fields = f'--files {place} --rationale "what it does"'
    return next_command(f"resolve {escalation.escalation_id} {action}", directory, fields)


def steps(view: ProjectView, escalation: EscalationArtifact, action: Action, directory: Path) -> list[str]:
    """The commands that lead to an answer, one after the other."""
    name, place = escalation.escalation_id, _free_place()
    command = answer_command(view, escalation, action, directory, place)
    if action is Action.PROVIDE_FIX:
        checkout = next_command(f"escalations {name}", directory, f"--checkout {place}")
        contract = next(iter(failed_drafts(view, escalation).values())).contract
        return [checkout, gate_command(view, contract, Path(place)), command]
    if "--payload" in command:
        return [next_command(f"escalations {name}", directory, f"--draft {action} > answer.json"), command]
    if action is Action.RETRY and (roles := unusable_roles(escalation)):
        models = " ".join(f"--role-model {role}=PROVIDER:MODEL" for role in roles)
        return [next_command("run", directory, models)]
    return [command]


def command_for_same_model(escalation: EscalationArtifact, action: Action, directory: Path) -> str:
    """Another command that gives the same answer: the same model is asked anew; empty if there is none."""
    roles = unusable_roles(escalation) if action is Action.RETRY else []
    return next_command("run", directory, f"--retry {roles[0]}") if roles else ""


def _free_place() -> str:
    """The directory that a command lays a draft out in: one that is not there yet."""
    names = (FIX, *(f"{FIX}-{number}" for number in range(2, 100)))
    return next((name for name in names if not os.path.lexists(name)), FIX)


def gate_command(view: ProjectView, contract: MicroModuleContract, place: Path) -> str:
    """The command that judges a mended module, with the sealed ones that it calls."""
    called = (
        view.modules.location(ref) for ref in called_modules(view, contract) if view.modules.is_sealed(ref)
    )
    return next_command("gate", place, " ".join(f"--dependency {shlex.quote(str(one))}" for one in called))
