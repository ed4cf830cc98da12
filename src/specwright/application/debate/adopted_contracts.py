"""The debate over the contract of an adopted module: held once, with the contracts of the first plan that uses it (design:
adopted-modules).

Nobody can change such a contract. A failure of it refuses the module for reuse, and the plan goes back to its planner; once
a plan is locked with it, no later debate judges it again.
"""

from collections.abc import Iterable, Sequence
from typing import cast

from specwright.application import scopes
from specwright.application.announce import announce, review
from specwright.application.debate.case import Case
from specwright.application.deprecation import finish_deprecations, retirement
from specwright.application.factory import Factory, ProjectView
from specwright.application.plan.stored_plans import StoredPlan
from specwright.application.tasks import Task
from specwright.canonical_json import JsonValue
from specwright.domain.answers.answers import Failure, Verdict
from specwright.domain.base.graph import reachable
from specwright.domain.base.ids import ModuleRef
from specwright.domain.base.text import shortened
from specwright.domain.debate.debate import Challenge
from specwright.domain.modules.adopted import AdoptedRuling, AdoptedVerdict
from specwright.domain.modules.code_index import IndexStatus
from specwright.ports.progress import Step

_LONGEST_REASON = 1500
"""Characters of a failure in the reason of a refusal."""


def adopted_in(view: ProjectView, plan: StoredPlan) -> list[str]:
    """The adopted modules that a plan uses: itself, or by what it uses."""
    adopted = view.projection.adopted
    if not adopted:
        return []
    called = sorted(plan.called)
    used = [*called, *reachable(called, lambda ref: [d.ref for d in view.modules.contract(ref).dependencies])]
    return sorted({ref for ref in map(view.projection.debated_as, used) if ref in adopted})


def debated_with(factory: Factory, task: Task, plan: StoredPlan) -> list[str]:
    """The adopted modules whose contracts are debated with a plan: those that no debate has ruled on when it is first
    looked at."""
    used = adopted_in(factory, plan)
    if not used:
        return []
    scope = factory.journal.scope(scopes.adopted_contracts(task.run, plan.plan_id))

    def live() -> JsonValue:
        return [ref for ref in used if ref not in factory.projection.adopted_rulings]

    asked: JsonValue = {"tool": "adopted_contracts", "refs": cast(JsonValue, used)}
    return cast(list[str], scope.recall("tool", asked, live))


def refuse_adopted(factory: Factory, case: Case, challenge: Challenge) -> None:
    """Refuse the adopted modules that a challenge finds at fault: no plan may use them from now on."""
    if challenge.verdict is not Verdict.FAIL:
        return
    for view in case.adopted:
        failures = [one for one in challenge.failures if one.adopted_contract == view.contract.name]
        if failures:
            _rule(factory, case, view.contract.ref, _reason(failures))


def accept_adopted(factory: Factory, task: Task, plan_id: str, refs: Iterable[str]) -> None:
    """Note that a plan was locked with adopted modules, whose contracts its debate did not fault."""
    for ref in refs:
        reason = f"the plan of {task.entry.spec_task_id} was locked with it"
        _announce(factory, task, plan_id, ref, AdoptedVerdict.ACCEPTED, reason)


def refused_in(view: ProjectView, plan: StoredPlan) -> list[Failure]:
    """A failure for each adopted module of a plan that was refused for reuse."""
    rulings = view.projection.adopted_rulings
    refused = [rulings[ref] for ref in adopted_in(view, plan) if ref in rulings]
    return [
        Failure(
            invariant="No plan uses an adopted module that was refused for reuse.",
            evidence=f"{one.module_ref} was refused: {one.reason}",
            required_change=f"Plan without {one.module_ref}.",
        )
        for one in refused
        if one.verdict is AdoptedVerdict.REFUSED
    ]


def for_planner(failures: Sequence[Failure]) -> list[Failure]:
    """Failures as a planner is told of them: what is wrong with an adopted contract cannot be put right there."""
    return [one if not one.adopted_contract else _without(one) for one in failures]


def _without(failure: Failure) -> Failure:
    name = failure.adopted_contract
    required = (
        f"`{name}` was adopted and cannot be changed; it was refused for reuse. Plan without it, and make a module of "
        "your own if one is needed, by another name."
    )
    return failure.model_copy(update={"required_change": required})


def _reason(failures: Sequence[Failure]) -> str:
    return "; ".join(
        shortened(f"{one.invariant} {one.evidence}", _LONGEST_REASON // len(failures)) for one in failures
    )


def _rule(factory: Factory, case: Case, ref: str, reason: str) -> None:
    _announce(factory, case.deliverable.task, case.version_id, ref, AdoptedVerdict.REFUSED, reason)
    finish_deprecations(factory)


def _announce(
    factory: Factory, task: Task, plan_id: str, ref: str, verdict: AdoptedVerdict, reason: str
) -> None:
    if ref in factory.projection.adopted_rulings:
        return  # this step runs again after a crash
    scope = factory.journal.scope(scopes.adopted_ruling(task.run, ref))
    ruling = AdoptedRuling(
        module_ref=ref,
        verdict=verdict,
        reason=reason,
        plan_id=plan_id,
        task=task.entry.spec_task_id,
        decided_at=scope.now(),
    )
    project_id = factory.projection.project_id
    sha256 = factory.store.define(ruling.to_bytes())
    events = [review(project_id, "adopted.ruled", sha256, ref, caused_by=task.stream)]
    entry = factory.index.get(*ModuleRef.parse(ref))
    if verdict is AdoptedVerdict.REFUSED and entry is not None and entry.status is IndexStatus.SHIPPED:
        events.append(retirement(factory, scope, entry, f"refused for reuse: {reason}"))
    announce(factory, scope, project_id, events)
    name = factory.modules.contract(ref).name
    factory.progress.note(Step("adopted", ruling.task, f"{name} {ref} {verdict.lower()}: {reason}"))
