"""What a plan may name and what it must keep: the checks of a plan beyond its schema (design: planning, debate)."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, cast

from specwright.application.factory import Factory
from specwright.application.plan.stored_plans import Contracts
from specwright.canonical_json import JsonValue
from specwright.domain.answers.plan_answers import PlanAnswer
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.normal_form import normalise
from specwright.domain.contract.rules import problems
from specwright.domain.modules.code_index import IndexStatus
from specwright.domain.plan.human_plan import HumanModule, deviations
from specwright.domain.plan.micro_plan import KnownModules, MicroPlan, assign, plan_problems, sealed_problems
from specwright.ports.journal import Scope

_NO_ID = "00000000"


class PlanRules(NamedTuple):
    """The rules for one plan.

    Args:
        known: The sealed modules that it may name.
        fixed: The modules that a person fixed, by names and edges.
        refs: The references that modules have already, by name: of the locked plan, or given by a person.
        sealed: The contracts of modules that are sealed under the locked plan; they cannot change.
    """

    known: KnownModules
    fixed: Sequence[HumanModule] = ()
    refs: Mapping[str, str] = MappingProxyType({})
    sealed: Contracts = MappingProxyType({})

    def check(self, answer: PlanAnswer) -> tuple[list[str], Contracts | None]:
        """The problems of an answer, and its contracts as drafts, if they can be drawn up."""
        if names := plan_problems(answer, self.known):
            return names, None  # names must be right before contracts can be drawn up
        if self.fixed and (departures := deviations(answer, self.fixed, self.known)):
            return departures, None
        _, drafts = self.draw_up(answer, f"MP-{_NO_ID}", "", lambda: f"MM-{_NO_ID}")
        if changed := sealed_problems(drafts, self.sealed):
            return changed, None
        return [f"modules.{name}: {problem}" for name, c in drafts.items() for problem in problems(c)], drafts

    def draw_up(
        self, answer: PlanAnswer, plan_id: str, task_ref: str, new_module_id: Callable[[], str]
    ) -> tuple[MicroPlan, dict[str, MicroModuleContract]]:
        """The plan and the contracts of its new modules, with their ids."""
        plan, contracts = assign(answer, plan_id, task_ref, self.known, new_module_id, self.refs)
        return plan, {name: normalise(contract) for name, contract in contracts.items()}


def known_modules(factory: Factory, scope: Scope) -> KnownModules:
    """The sealed modules that a plan may name, as they were when the plan was first made."""
    return _known(scope.recall("tool", {"tool": "known_modules"}, lambda: _index_rows(factory)))


def known_now(factory: Factory) -> KnownModules:
    """The sealed modules at this moment."""
    return _known(_index_rows(factory))


def _index_rows(factory: Factory) -> JsonValue:
    return [
        [entry.name, entry.ref, entry.status.value]
        for entry in factory.index.entries()
        if factory.store.exists(entry.ship_ref)
    ]


def _known(rows: JsonValue) -> KnownModules:
    modules = cast(list[list[str]], rows)
    return KnownModules(
        {name: ref for name, ref, status in modules if status == IndexStatus.SHIPPED},
        frozenset(ref for _, ref, _ in modules),
        {ref: status for _, ref, status in modules if status != IndexStatus.SHIPPED},
    )
