"""Plans that were answered ahead of their tasks, drawn up as drafts without being stored; and what they rest on (design:
tasks-together)."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import NamedTuple, cast

from specwright.application.criteria import CriterionRuling
from specwright.application.factory import Factory
from specwright.application.plan.advance_answers import AdvanceAnswer, AdvanceStep, advance_answer
from specwright.application.plan.rules import PlanRules
from specwright.application.tasks import Task, task_at, task_board
from specwright.canonical_json import JsonValue, digest
from specwright.domain.answers.answers import Failure
from specwright.domain.answers.plan_answers import PlanAnswer
from specwright.domain.base.graph import reachable
from specwright.domain.contract.contract import MicroModuleContract, contract_changes
from specwright.domain.debate.amendments import target_problems, unreachable_targets
from specwright.domain.debate.applied_by_code import applied_by_code
from specwright.domain.debate.exact_changes import changes_of
from specwright.domain.interface_change.comparison import same_call
from specwright.domain.plan.micro_plan import KnownModules, drafted_contract
from specwright.ports.roles import Place, Role


def shown_of(task: Task, rulings: Mapping[int, CriterionRuling]) -> dict[str, JsonValue]:
    """What a role is shown of a task that may be otherwise later: its definition, and the rulings on its criteria."""
    return {
        "task": digest(task.definition.to_json()),
        "rulings": [f"{number}: {ruling.text}" for number, ruling in sorted(rulings.items())],
    }


def plan_basis(
    shown: Mapping[str, JsonValue], answer: PlanAnswer | None, fingerprint: Callable[[str], str]
) -> dict[str, JsonValue]:
    """What a plan rests on: what was shown of its task, and the contracts of other tasks that it calls by name.

    Args:
        shown: As `shown_of` tells it.
        answer: The plan, if it could be read.
        fingerprint: Of a contract by the name of its module; empty if there is none.
    """
    modules = answer.modules if answer else []
    own = {module.name for module in modules}
    called = {one.module for module in modules for one in module.depends_on} - own
    return {**shown, "calls": {name: fingerprint(name) for name in sorted(called) if name.isidentifier()}}


def sealed_fingerprint(factory: Factory, known: KnownModules, name: str) -> str:
    """The interface fingerprint of a sealed module by its name; empty if there is none."""
    ref = known.by_name.get(name)
    return factory.modules.contract(ref).interface_fingerprint if ref else ""


class ChangedContract(NamedTuple):
    """A contract that a plan calls by name: as it was drafted when the plan was given, and as it was locked."""

    before: MicroModuleContract
    after: MicroModuleContract

    @property
    def same_call(self) -> bool:
        """Whether only the words of its statements are others."""
        return same_call(self.before, self.after)

    @property
    def lines(self) -> list[str]:
        """What is another, a line for each statement, under its name."""
        return [f"`{self.after.name}`, {self.after.ref}:", *contract_changes(self.before, self.after)]


def changed_contracts(
    factory: Factory, task: Task, known: KnownModules, early: AdvanceAnswer, basis: Mapping[str, JsonValue]
) -> list[ChangedContract]:
    """The contracts that have changed since a plan was given in advance, where nothing else that it rests on has; none if
    something else has, or if it is not known how one of them was drafted (design: tasks-together).

    Args:
        factory: The ports.
        task: Whose plan it is.
        known: The sealed modules.
        early: The plan.
        basis: What it would rest on now.
    """
    was = cast(dict[str, JsonValue], early.basis or {})
    if {**was, "calls": None} != {**basis, "calls": None}:
        return []
    calls, found = cast(dict[str, str], basis["calls"]), list[ChangedContract]()
    for name, fingerprint in cast(dict[str, str], was["calls"]).items():
        if calls.get(name) == fingerprint:
            continue
        ref = known.by_name.get(name)
        after = factory.modules.contract(ref) if ref else None
        before = _as_drafted(factory, task, after) if after else None
        if before is None or after is None or before.interface_fingerprint != fingerprint:
            return []
        found.append(ChangedContract(before, after))
    return found


def plan_holds(
    factory: Factory, task: Task, known: KnownModules, early: AdvanceAnswer, basis: Mapping[str, JsonValue]
) -> bool:
    """Whether a plan that was given in advance still holds: what it rests on is the same, or differs in the words of called
    contracts alone, and the planner was not asked again (design: tasks-together); it takes what `changed_contracts` takes.
    """
    if early.basis == basis:
        return True
    changed = changed_contracts(factory, task, known, early, basis)
    only_words = bool(changed) and all(one.same_call for one in changed)
    return only_words and not was_asked(factory, task.place("plan", "round-1", Role.PLANNER))


def was_asked(factory: Factory, place: Place) -> bool:
    """Whether a role was asked here already, by an earlier run or the one that was recorded."""
    return factory.roles.is_recorded(place) or factory.journal.recorded(place.run_id, "model") is not None


def _as_drafted(factory: Factory, task: Task, locked: MicroModuleContract) -> MicroModuleContract | None:
    """A contract as the plan that was given in advance for a task before this one has it."""
    for other in reachable([task.task_id], task_board(factory).dependencies_of):
        early = advance_answer(factory, task_at(factory, other), AdvanceStep.PLAN)
        plan = early.read(PlanAnswer) if early else None
        for module in plan.modules if plan else ():
            if module.name == locked.name and module.reuse.reuse_ref is None:
                return drafted_contract(module, locked)
    return None


def contracts_as_changed(
    answer: PlanAnswer, contracts: Sequence[MicroModuleContract], failures: Sequence[Failure]
) -> list[MicroModuleContract]:
    """The contracts of a plan as the exact changes of failures make them; as they are if code cannot apply these (design:
    exact-changes, tasks-together)."""
    changes, by_name = changes_of(failures), {contract.name: contract for contract in contracts}
    wrong = target_problems(changes, contracts=True) + unreachable_targets(changes, {}, by_name)
    changed = applied_by_code(changes, answer, by_name) if changes and not wrong else None
    modules = changed.modules if changed else ()
    by_name |= {one.name: drafted_contract(one, by_name[one.name]) for one in modules if one.name in by_name}
    return list(by_name.values())


def contracts_basis(
    shown: Mapping[str, JsonValue], answer: PlanAnswer, fingerprint: Callable[[str], str]
) -> dict[str, JsonValue]:
    """What is said of the contracts of a plan, or made of them, rests on: what the plan rests on, and the plan.

    Args:
        shown: As `shown_of` tells it.
        answer: The plan.
        fingerprint: Of a contract by the name of its module; empty if there is none.
    """
    return {**plan_basis(shown, answer, fingerprint), "plan": digest(answer.to_json())}


class PlanDrafts:
    """The contracts of plans that are not sealed, by name. Each plan may call those of the plans before it.

    Args:
        factory: The ports.
        known: The sealed modules.
        contracts: Of plans that are stored.
    """

    def __init__(
        self, factory: Factory, known: KnownModules, contracts: Sequence[MicroModuleContract] = ()
    ) -> None:
        self._factory = factory
        self._known = known
        self._numbers = count(1)
        self._contracts: dict[str, MicroModuleContract] = {one.name: one for one in contracts}

    def fingerprint(self, name: str) -> str:
        """The interface fingerprint of a module that a plan may call; empty if there is none of this name."""
        if name in self._contracts:
            return self._contracts[name].interface_fingerprint
        return sealed_fingerprint(self._factory, self._known, name)

    def add(self, answer: PlanAnswer | None) -> list[MicroModuleContract]:
        """Draw up the contracts of one more plan, which the next may call; none if the rules of a plan refuse it."""
        drafts = self.drawn_up(answer)
        self._contracts |= {contract.name: contract for contract in drafts}
        return drafts

    def drawn_up(self, answer: PlanAnswer | None) -> list[MicroModuleContract]:
        """The contracts of one more plan, which nothing may call yet; none if the rules of a plan refuse it."""
        if answer is None:
            return []
        refs = {name: contract.ref for name, contract in self._contracts.items()}
        known = self._known._replace(
            by_name={**self._known.by_name, **refs}, refs=self._known.refs | set(refs.values())
        )
        rules = PlanRules(known)
        problems, drafts = rules.check(answer)
        if problems or drafts is None:
            return []
        _, drafts = rules.draw_up(answer, "MP-00000000", "", lambda: f"MM-{next(self._numbers):08x}")
        return list(drafts.values())
