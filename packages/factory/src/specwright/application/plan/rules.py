"""What a plan may name and what it must keep: the checks of a plan beyond its schema (design: planning, debate)."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, cast

from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ModuleRef
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.error_classes import own_exceptions
from ship_gate.contract.normal_form import normalise
from ship_gate.contract.rules import own_statements, problems
from specwright.application.factory import Factory
from specwright.application.plan.baseline import sealed_by_task
from specwright.application.plan.stored_plans import Contracts
from specwright.application.tasks import Task, task_board
from specwright.domain.acceptance.calls import unserved
from specwright.domain.acceptance.records import TaskAcceptance, name_of, signature_of
from specwright.domain.acceptance.shared_classes import OwnedClass, copied_classes, twice_defined
from specwright.domain.answers.plan_answers import PlanAnswer
from specwright.domain.base.graph import reachable
from specwright.domain.interface_change.comparison import Bump, compare_contracts, next_version
from specwright.domain.interfaces.records import Interfaces
from specwright.domain.interfaces.rules import unfit_contracts
from specwright.domain.modules.code_index import IndexStatus
from specwright.domain.plan.human_plan import HumanModule, deviations
from specwright.domain.plan.micro_plan import KnownModules, MicroPlan, assign, plan_problems, sealed_problems
from specwright.domain.tasks.task_board import TaskBoard
from specwright.ports.journal import Scope

_NO_ID = "00000000"


class OwnModule(NamedTuple):
    """A module that an earlier attempt at a task sealed.

    Args:
        contract: Of the version that the task has now.
        versions: All versions that are taken.
    """

    contract: MicroModuleContract
    versions: frozenset[str]

    def next_ref(self, draft: MicroModuleContract) -> str:
        """The reference of the version with another contract: as the difference asks for, the first that is free."""
        bump = compare_contracts(self.contract, draft).bump
        version = self.contract.module_version
        while version in self.versions:
            version = next_version(version, Bump.PATCH if bump is Bump.NONE else bump)
        return f"{self.contract.module_id}@{version}"


class PlanRules(NamedTuple):
    """The rules for one plan.

    Args:
        known: The sealed modules that it may name.
        fixed: The modules that a person fixed, by names and edges.
        refs: The references that modules have already, by name: of the locked plan, or given by a person.
        sealed: The contracts of modules that are sealed under the locked plan; they cannot change.
        own: The modules that earlier attempts sealed, by name: they may be planned again, as their next versions.
        acceptance: The approved examples of the task, which bind names and parameters.
        owned: The classes that other tasks provide.
        interfaces: Of the product, which call functions that the plan may have.
    """

    known: KnownModules
    fixed: Sequence[HumanModule] = ()
    refs: Mapping[str, str] = MappingProxyType({})
    sealed: Contracts = MappingProxyType({})
    own: Mapping[str, OwnModule] = MappingProxyType({})
    acceptance: TaskAcceptance | None = None
    owned: Sequence[OwnedClass] = ()
    interfaces: Interfaces | None = None

    def check(self, answer: PlanAnswer) -> tuple[list[str], Contracts | None]:
        """The problems of an answer, and its contracts as drafts, if they can be drawn up."""
        others = {name: ref for name, ref in self.known.by_name.items() if name not in self.own}
        if names := plan_problems(answer, self.known._replace(by_name=others)):
            return names, None  # names must be right before contracts can be drawn up
        if self.fixed and (departures := deviations(answer, self.fixed, self.known)):
            return departures, None
        _, drafts = self.draw_up(answer, f"MP-{_NO_ID}", "", lambda: f"MM-{_NO_ID}")
        if changed := sealed_problems(drafts, self.sealed):
            return changed, None
        broken = [f"modules.{name}: {problem}" for name, c in drafts.items() for problem in problems(c)]
        reused = {module.name for module in answer.modules} - set(drafts)
        missing = unserved(self.acceptance, list(drafts.values()), reused)
        unfit = unfit_contracts(self.interfaces, drafts, [one.module for one in self.owned if one.module])
        depends_on = {module.name: [one.module for one in module.depends_on] for module in answer.modules}
        copied = [*copied_classes(drafts, self.owned), *twice_defined(drafts, depends_on)]
        return [*broken, *missing, *copied, *unfit], drafts

    def draw_up(
        self, answer: PlanAnswer, plan_id: str, task_ref: str, new_module_id: Callable[[], str]
    ) -> tuple[MicroPlan, dict[str, MicroModuleContract]]:
        """The plan and the contracts of its new modules, with their ids."""
        refs = {**self.refs, **self._next_versions(answer)}
        plan, contracts = assign(answer, plan_id, task_ref, self.known, new_module_id, refs)
        return plan, {name: normalise(contract) for name, contract in contracts.items()}

    def _next_versions(self, answer: PlanAnswer) -> dict[str, str]:
        """The references of own modules that are planned again: what their contracts' differences ask for (design:
        change)."""
        again = {name: own for name, own in self.own.items() if name not in self.sealed}
        if not again:
            return {}
        refs = {**self.refs, **{name: own.contract.ref for name, own in again.items()}}
        _, drafts = assign(answer, f"MP-{_NO_ID}", "", self.known, lambda: f"MM-{_NO_ID}", refs)
        return {
            name: again[name].next_ref(normalise(draft)) for name, draft in drafts.items() if name in again
        }


def known_modules(factory: Factory, scope: Scope) -> KnownModules:
    """The sealed modules that a plan may name, as they were when the plan was first made."""
    return _known(scope.recall("tool", {"tool": "known_modules"}, lambda: _index_rows(factory)))


def own_modules(factory: Factory, task: Task, scope: Scope) -> dict[str, OwnModule]:
    """The modules that earlier attempts at a task sealed, by name, as they were when the plan was first made (design:
    change)."""
    refs = sealed_by_task(factory, task)
    if not refs:
        return {}

    def live() -> JsonValue:
        ids = {ref: ModuleRef.parse(ref).module_id for ref in refs}
        return {ref: cast(JsonValue, factory.modules.versions(name)) for ref, name in ids.items()}

    asked: JsonValue = {"tool": "own_modules", "refs": list(refs)}
    rows = cast(dict[str, list[str]], scope.recall("tool", asked, live))
    contracts = {ref: factory.modules.contract(ref) for ref in rows}
    return {c.name: OwnModule(c, frozenset(rows[ref])) for ref, c in contracts.items()}


def owned_classes(factory: Factory, task: Task, scope: Scope) -> list[OwnedClass]:
    """The classes that other tasks provide, with the modules that exported them when the plan was first made (design:
    executable-spec)."""
    owners = _class_owners(factory, task)
    if not owners:
        return []
    board = task_board(factory)

    def live() -> JsonValue:
        before = list(reachable([task.task_id], board.dependencies_of))
        return {
            owner: [ref for name in before if _is_of(board, name, owner) for ref in board.modules_of(name)]
            for owner in sorted(set(owners.values()))
        }

    asked: JsonValue = {"tool": "owned_classes", "names": list[JsonValue](sorted(owners))}
    rows = cast(dict[str, list[str]], scope.recall("tool", asked, live))
    return [OwnedClass(name, owner, _exporting(factory, name, rows[owner])) for name, owner in owners.items()]


def interfaces_of(factory: Factory) -> Interfaces | None:
    """The approved interfaces, which bind plans."""
    return factory.projection.spec.interfaces if factory.projection.spec else None


def _class_owners(factory: Factory, task: Task) -> dict[str, str]:
    """The tasks that provide classes, but the one at hand, as the spec names them."""
    spec, own = factory.projection.spec, task.entry.spec_task_id
    return {
        name_of(public): other.task_id
        for other in (spec.tasks() if spec else ())
        if other.acceptance and own != other.task_id and not own.startswith(f"{other.task_id}.")
        for public in other.acceptance.provides
        if signature_of(public) is None
    }


def _is_of(board: TaskBoard, task_id: str, owner: str) -> bool:
    """Whether a task is one of the spec, or a part of it."""
    name = board.entry(task_id).spec_task_id
    return name == owner or name.startswith(f"{owner}.")


def _exporting(factory: Factory, name: str, refs: Sequence[str]) -> MicroModuleContract | None:
    contracts = [factory.modules.contract(ref) for ref in refs]
    return next((one for one in contracts if name in {*own_statements(one), *own_exceptions(one)}), None)


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
        frozenset(row[1] for row in modules),
        {ref: status for _, ref, status in modules if status != IndexStatus.SHIPPED},
    )
