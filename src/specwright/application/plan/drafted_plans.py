"""Plans that were answered ahead of their tasks, drawn up as drafts without being stored; and what they rest on (design:
tasks-together)."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count

from specwright.application.criteria import CriterionRuling
from specwright.application.factory import Factory
from specwright.application.plan.rules import PlanRules
from specwright.application.tasks import Task
from specwright.canonical_json import JsonValue, digest
from specwright.domain.answers.plan_answers import PlanAnswer
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.plan.micro_plan import KnownModules


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
        """Draw up the contracts of one more plan; none if the rules of a plan refuse it."""
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
        self._contracts |= drafts
        return list(drafts.values())
