"""The requests of a debate, by the role table (design: role-access).

The Proposer gets the task's criteria, its contract and its dependencies' contracts. The Challenger gets the proposal, the
contracts and the acceptance criteria as an extract. The Arbiter gets both sides and the task. Source goes to its own
Proposer alone. What stays the same for a module comes first, what is new in a round last.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from specwright.application.criteria import CriterionRuling
from specwright.application.messages.parts import (
    as_amendments,
    as_block,
    as_contract,
    as_criteria,
    as_dependency,
    as_files,
    as_list,
    as_task,
    without_docstring,
)
from specwright.application.messages.rounds import as_challenge, as_proposal, earlier_rounds
from specwright.application.store.debates import DebateHistory
from specwright.application.store.modules import DependencyView
from specwright.domain.answers.answers import Amendment, Failure, FaultOf, Verdict
from specwright.domain.base.allowed_packages import AllowedPackage
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.obligations import obligations
from specwright.domain.debate.debate import CONTRACTS, MAX_REVISIONS, Challenge, Proposal
from specwright.ports.roles import Files

_ENTRY = "implementation/__init__.py"


def proposer_message(
    contract: MicroModuleContract,
    files: Files,
    failures: Sequence[Failure],
    dependencies: Sequence[DependencyView],
    packages: Sequence[AllowedPackage] = (),
    criteria: Sequence[str] = (),
    changes: Sequence[str] = (),
    rulings: Mapping[int, CriterionRuling] = MappingProxyType({}),
    plan_claim: str = "",
) -> str:
    """The Proposer's; after a failed round it sees the failures and nothing else of the debate.

    Args:
        contract: Locked.
        files: As they lie in the directory: the stub, or the version that failed.
        failures: Of the last round.
        dependencies: That it may call.
        packages: That it may import.
        criteria: Of the task.
        changes: Of the contract since that version was made (design: debate).
        rulings: On criteria, by their numbers.
        plan_claim: What the planner says of the contracts.
    """
    parts = [
        f"Implement the module `{contract.name}`.",
        as_contract(contract),
        "# Obligations\n\nEach of these pointers is shown by a test: "
        + ", ".join(f'"{one.pointer}"' for one in obligations(contract))
        + '. `""` is the happy path.',
        *map(as_dependency, dependencies),
        *_planned(plan_claim),
        as_criteria(criteria, rulings),
    ]
    if packages:
        named = (f"{package.requirement} (`{'`, `'.join(package.imports)}`)" for package in packages)
        parts.append("Beside the standard library it may import: " + ", ".join(named) + ".")
    if changes:
        parts.append("# What has changed in the contract\n\n" + "\n".join(changes))
    if not failures:
        stub = without_docstring(files[_ENTRY], contract.name)
        return "\n\n".join([*parts, as_block(f"/{_ENTRY} as it is now", stub, "python")])
    own = {**files, _ENTRY: without_docstring(files[_ENTRY], contract.name).encode()}
    corrected = "# Failures\n\nThese were shown of your files; correct exactly them:\n\n" + as_list(failures)
    return "\n\n".join([*parts, as_files(own), corrected])


def amend_message(contract: MicroModuleContract, amendments: Sequence[Amendment], files: Files) -> str:
    """The amending Proposer's."""
    asked = f"# Amendments\n\nThe module `{contract.name}` was approved with these, by their index:"
    return "\n\n".join([as_contract(contract), as_files(files), f"{asked}\n\n{as_amendments(amendments)}"])


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
    return "\n\n".join(
        [
            *map(as_dependency, dependencies),
            as_criteria(criteria, rulings),
            *map(as_contract, contracts),
            *_planned(plan_claim),
            *earlier_rounds(history._replace(adjudications=())),  # rulings are not this role's business
            as_proposal(proposal),
            f"{_which_debate(deliverable, history)} Judge R1 to R6 and submit your verdict.",
        ]
    )


def arbiter_message(
    deliverable: str,
    task_file: str,
    contracts: Sequence[MicroModuleContract],
    history: DebateHistory,
    revisions_left: int,
    plan_claim: str = "",
) -> str:
    """The Arbiter's: task, contracts and the whole debate, without dependencies, rubrics and source."""
    return "\n\n".join(
        [
            as_task(task_file),
            *map(as_contract, contracts),
            *_planned(plan_claim),
            *earlier_rounds(history),
            as_proposal(history.proposals[-1]),
            as_challenge(history.challenges[-1]),
            f"{_which_debate(deliverable, history)} Revisions left: {revisions_left}.",
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


def _which_debate(deliverable: str, history: DebateHistory) -> str:
    if deliverable == CONTRACTS:
        kind = "This is the debate over the contracts of a plan; there is no implementation to judge."
    else:
        kind = f"This is the debate over the implementation of `{deliverable}`."
    return f"{kind} Round {len(history.proposals)} of at most {MAX_REVISIONS + 1}."


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


def with_rulings(message: str, criteria: Sequence[str], rulings: Mapping[int, CriterionRuling]) -> str:
    """A request that shows the criteria within the task file, with the rulings on them; without any as it is."""
    return f"{message}\n\n{as_criteria(criteria, rulings)}" if rulings else message


def _planned(claim: str) -> list[str]:
    return [f"# What the planner says of the contracts\n\n{claim}"] if claim else []
