"""The answers to an escalation: what each does and costs, and its payload to fill in (design: escalation)."""

from collections.abc import Mapping
from typing import Any

from specwright.application.escalation.retries import unusable_roles
from specwright.application.factory import ProjectView
from specwright.application.plan.stored_plans import load_plan
from specwright.application.tasks import task_at
from specwright.domain.escalation import RELEASE, Action, EscalationArtifact

FILL = "..."
"""To be filled in; as it is, it is refused as a placeholder wherever a text is required (design: contracts)."""

MEANING: Mapping[Action, str] = {
    Action.PROVIDE_FIX: "give the files yourself; costs a challenge and a ruling",
    Action.APPROVE_OVERRIDE: "overrule the debate; costs no call, the gate decides",
    Action.REVISE_PLAN: "say which modules there are; costs all their debates",
    Action.RETRY: "the same inputs again, if answers vary; costs the whole task",
    Action.AMEND_SPEC: "change what it asks for; costs the whole task",
    Action.SPLIT_TASK: "put smaller tasks in its place; costs all of them",
    Action.ATTEST_SHIPPED: "name a sealed module that does it; costs no call",
    Action.ABANDON_TASK: "give it up for good, with what needs it; costs no call",
    Action.ACCEPT_UNSHOWN: "accept it although nothing shows it; costs no call",
    Action.DROP_CRITERION: "take the criterion back; costs no call",
    Action.REWORD_CRITERION: "reword it for the next version; costs no call",
}
"""What an answer does, and which model calls it costs."""

DECISIONS = {
    "approve": "the changed contract is debated, made and sealed; what uses it follows, then the task runs again",
    "reject": "the contract stays; the task runs again without the change, or with --hold waits for another answer",
    "defer": "decide later; the task stays halted",
}
"""The decisions about an interface change exception (design: interface-changes)."""


def broken_titles(escalation: EscalationArtifact) -> list[str]:
    """The approved examples and properties of its task that were seen to fail, by their titles."""
    return list(escalation.details.get("broken_titles", ()))


def meaning(escalation: EscalationArtifact, action: Action) -> str:
    """What an answer to an escalation does, and which model calls it costs."""
    if action is Action.RETRY and (roles := unusable_roles(escalation)):
        return (
            f"no answer of the {' and the '.join(roles)} could be used: try another model; the same one gets the same "
            "inputs, which helps only where its answers vary; costs the whole task"
        )
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
