"""What a plan may name beside its own modules, and whether it may be drawn up as it stands (F§10.1, D10, D16)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from specwright.application.factory import Factory
from specwright.application.stores.stored_plans import Contracts
from specwright.canonical_json import JsonValue
from specwright.domain.code_index import IndexStatus
from specwright.domain.contract_rules import normalise, problems
from specwright.domain.given_plan import GivenModule, given_problems
from specwright.domain.micro_plan import KnownModules, assign, plan_problems, sealed_problems
from specwright.domain.plan_answers import PlanAnswer
from specwright.ports.journal import Scope

__all__ = ["Kept", "draft_contracts", "known_modules", "known_now", "plan_faults"]


class Kept(NamedTuple):
    """What a plan takes over: the contracts by whose names modules keep their ids, what is sealed, and ids that a person
    gave to modules."""

    contracts: Contracts
    sealed: Mapping[str, str]
    given: Mapping[str, str]

    @property
    def refs(self) -> dict[str, str]:
        """The reference that each of them has already, by name."""
        return {**self.given, **{name: contract.ref for name, contract in self.contracts.items()}}


def known_modules(factory: Factory, scope: Scope) -> KnownModules:
    """The sealed modules that a plan may name, as they were when it was first made."""
    return _known(scope.recall("tool", {"tool": "known_modules"}, lambda: _listed(factory)))


def known_now(factory: Factory) -> KnownModules:
    """The sealed modules at this moment."""
    return _known(_listed(factory))


def plan_faults(
    answer: PlanAnswer, known: KnownModules, kept: Kept, given: Sequence[GivenModule]
) -> tuple[list[str], Contracts | None]:
    """What is wrong with a plan beyond its schema, and its contracts, if they could be drawn up.

    Args:
        answer: The planner's, or a person's.
        known: Sealed modules.
        kept: What it takes over.
        given: The modules that a person fixed (D16); empty where nobody did.
    """
    if found := plan_problems(answer, known):
        return found, None  # names must be right before contracts can be drawn up
    if given and (left := given_problems(answer, given, known)):
        return left, None
    drafts = draft_contracts(answer, known, kept.refs)
    if changed := sealed_problems(drafts, {name: kept.contracts[name] for name in kept.sealed}):
        return changed, None
    return [f"modules.{name}: {problem}" for name, c in drafts.items() for problem in problems(c)], drafts


def draft_contracts(answer: PlanAnswer, known: KnownModules, refs: Mapping[str, str]) -> Contracts:
    """The contracts of a plan as they would be, before ids are drawn."""
    _, contracts = assign(answer, "MP-00000000", "", known, lambda: "MM-00000000", refs)
    return {name: normalise(contract) for name, contract in contracts.items()}


def _listed(factory: Factory) -> JsonValue:
    return [
        [entry.name, entry.ref, entry.status.value]
        for entry in factory.index.entries()
        if factory.store.exists(entry.ship_ref)
    ]


def _known(listed: JsonValue) -> KnownModules:
    found = cast(list[list[str]], listed)
    return KnownModules(
        {name: ref for name, ref, status in found if status == IndexStatus.SHIPPED},
        frozenset(ref for _, ref, _ in found),
        {ref: status for _, ref, status in found if status != IndexStatus.SHIPPED},
    )
