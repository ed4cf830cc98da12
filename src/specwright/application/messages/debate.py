"""The requests of a debate, by the role table (design: role-access).

The Proposer gets the task, its contract and its dependencies' contracts. The Challenger gets the proposal, the contracts
and the acceptance criteria as an extract. The Arbiter gets both sides and the task. Source goes to its own Proposer alone.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from specwright.application.criteria import CriterionRuling
from specwright.application.messages.rounds import as_amendments, as_block, as_json, as_list, rounds_of
from specwright.application.store.debates import DebateHistory
from specwright.application.store.modules import DependencyView
from specwright.domain.answers.answers import Amendment, Failure, FaultOf, Verdict
from specwright.domain.base.allowed_packages import AllowedPackage
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.obligations import obligations
from specwright.domain.debate.debate import CONTRACTS, Challenge, Proposal


def proposer_message(
    contract: MicroModuleContract,
    entry: bytes,
    failures: Sequence[Failure],
    dependencies: Sequence[str],
    packages: Sequence[AllowedPackage] = (),
    criteria: Sequence[str] = (),
    changes: Sequence[str] = (),
    rulings: Mapping[int, CriterionRuling] = MappingProxyType({}),
    plan_claim: str = "",
) -> str:
    """The Proposer's; after a failed round it sees the failures and nothing else of the debate.

    Args:
        contract: Locked.
        entry: `implementation/__init__.py` as it lies in the directory: the stub, or the version that failed.
        failures: Of the last round.
        dependencies: Names.
        packages: That it may import.
        criteria: Of the task.
        changes: Of the contract since that version was made (design: debate).
        rulings: On criteria, by their numbers.
        plan_claim: What the planner says of the contracts.
    """
    lines = [f"Implement the module `{contract.name}`: {contract.purpose}"]
    if dependencies:
        lines.append("It may call: " + ", ".join(f"`{name}`" for name in dependencies) + ".")
    if packages:
        told = (f"{package.requirement} (`{'`, `'.join(package.imports)}`)" for package in packages)
        lines.append("Beside the standard library it may import: " + ", ".join(told) + ".")
    if failures:
        lines.append(
            "Your files are in your directory. These failures were shown; correct exactly them:\n\n"
            + as_list(failures)
        )
    lines.append(as_block("Contract", as_json(contract), "json"))
    if changes:
        lines.append("# What has changed in the contract\n\n" + "\n".join(changes))
    lines += _planned(plan_claim)
    lines.append(_criteria(criteria, rulings))
    owed = "\n".join(f'- `"{o.pointer}"` {o.category}: {o.text}' for o in obligations(contract))
    lines.append(f"# Obligations: each is shown by a test\n\n{owed}")
    lines.append(
        as_block("/implementation/__init__.py as it is now", entry.decode(errors="replace"), "python")
    )
    return "\n\n".join(lines)


def amend_message(contract: MicroModuleContract, amendments: Sequence[Amendment]) -> str:
    """The amending Proposer's."""
    told = f"The module `{contract.name}` was approved with these amendments, by their index:"
    return "\n\n".join(
        [
            f"{told}\n\n{as_amendments(amendments)}",
            as_block("Contract", as_json(contract), "json"),
        ]
    )


def challenge_message(
    deliverable: str,
    proposal: Proposal,
    contracts: Sequence[MicroModuleContract],
    dependencies: Sequence[DependencyView],
    criteria: Sequence[str],
    history: DebateHistory,
    rulings: Mapping[int, CriterionRuling] = MappingProxyType({}),
    plan_claim: str = "",
) -> str:
    """The Challenger's: never the task file, never source."""
    kind = (
        "a contract debate: no implementation exists yet"
        if deliverable == CONTRACTS
        else "an implementation debate"
    )
    parts = [
        f"This is {kind}. Round {len(history.proposals)}.",
        as_block("Proposal", as_json(proposal), "json"),
        *(as_block(f"Contract of `{c.name}`", as_json(c), "json") for c in contracts),
        *(_dependency(view) for view in dependencies),
        *_planned(plan_claim),
        _criteria(criteria, rulings),
    ]
    earlier = rounds_of(DebateHistory(history.proposals[:-1], history.challenges, causes=history.causes))
    return "\n\n".join([*parts, *earlier, "Judge R1 to R6 and submit your verdict."])


def arbiter_message(
    task_file: str,
    contracts: Sequence[MicroModuleContract],
    history: DebateHistory,
    revisions_left: int,
    plan_claim: str = "",
) -> str:
    """The Arbiter's: task, contracts and the whole debate, without dependencies, rubrics and source."""
    parts = [
        as_block("Task file", _without_dependencies(task_file), "markdown"),
        *(as_block(f"Contract of `{c.name}`", as_json(c), "json") for c in contracts),
        *_planned(plan_claim),
        *rounds_of(history),
        f"Revisions left: {revisions_left}.",
    ]
    return "\n\n".join(
        [
            *parts,
            *_disclaimed(history.proposals[-1]),
            *_asked(history.challenges[-1], revisions_left),
            "Decide.",
        ]
    )


def _disclaimed(proposal: Proposal) -> list[str]:
    """What the Arbiter is asked of a contract that its Proposer says is at fault (design: contract-at-fault)."""
    asked = (
        "The proposal says under `contract_at_fault` that no test can show these statements, and code could not confirm "
        "it. REJECT: with `confirmed_fault` contract if it is right, without if it is not."
    )
    return [asked] if proposal.contract_at_fault else []


def _asked(challenge: Challenge, revisions_left: int) -> list[str]:
    """What the Arbiter is asked besides (design: debate, falsifying-tests, unshown-criteria)."""
    numbers = ", ".join(str(one.criterion) for one in challenge.unshown_criteria)
    asked = [
        f"The challenge says that no test can show these criteria: {numbers}. Set each aside, or REJECT."
    ]
    asked = asked if numbers else []
    if challenge.verdict is not Verdict.FAIL:
        return asked
    if failed := [tried.name for tried in challenge.counterexamples]:
        alone = (
            " It rests on them alone: if you strike all, the round counts as PASS and you decide on the rest."
        )
        asked.append(
            f"These falsifying tests failed: {', '.join(failed)}. Strike those that the contract does not ask for."
            + (alone if challenge.rests_on_tests else "")
        )
    above = [kind.value for kind in (FaultOf.CONTRACT, FaultOf.PLAN) if challenge.faults(kind)]
    if above:
        asked.append(
            f"Failures marked {' and '.join(above)} say that the fault lies above this module. If one is right, set "
            "`confirmed_fault`; it is then put right there. Otherwise it counts as any other failure."
        )
    if revisions_left:
        sent = "A FAIL that stands is ruled REJECT: the module goes back to its Proposer."
        return [*asked, sent] if asked else asked
    stands = "A challenge that is FAIL" if not challenge.rests_on_tests else "A falsifying test that stands"
    return [*asked, f"No revision is left. {stands} leaves APPROVE_WITH_AMENDMENTS or REJECT."]


def _criteria(criteria: Sequence[str], rulings: Mapping[int, CriterionRuling] = MappingProxyType({})) -> str:
    told = (f"{n}. {c}{_ruling(n, rulings)}" for n, c in enumerate(criteria, start=1))
    return "# Acceptance criteria of the task (extract)\n\n" + "\n".join(told)


def _ruling(number: int, rulings: Mapping[int, CriterionRuling]) -> str:
    return f"\n   criterion {number}: {rulings[number].text}" if number in rulings else ""


def with_rulings(message: str, criteria: Sequence[str], rulings: Mapping[int, CriterionRuling]) -> str:
    """A request that shows the criteria within the task file, with the rulings on them; without any as it is."""
    return f"{message}\n\n{_criteria(criteria, rulings)}" if rulings else message


def _planned(claim: str) -> list[str]:
    return [f"# What the planner says of the contracts\n\n{claim}"] if claim else []


def _without_dependencies(task_file: str) -> str:
    """The task file as the Arbiter gets it: dependency contracts are not its business (design: role-access)."""
    head, found, rest = task_file.partition("\n## Dependency Contracts\n")
    _, cases, tail = rest.partition("\n## Error Cases\n")
    return f"{head}{cases}{tail}" if found else task_file


def _dependency(view: DependencyView) -> str:
    title = f"Dependency `{view.contract.name}` ({view.contract.ref}, {view.status})"
    return as_block(title, as_json(view.contract), "json")
