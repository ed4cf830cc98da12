"""The requests of a debate, by the role table (design: role-access).

The Proposer gets the task's criteria, its contract and its dependencies' contracts. The Challenger gets the proposal, the
contracts and the acceptance criteria as an extract. The Arbiter gets both sides and the task. Source goes to its own
Proposer alone. What stays the same for a task comes first, then what stays the same for a module, what is new in a
round last: a provider caches requests by what they begin with.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ship_gate.base.allowed_packages import AllowedPackage
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.examples_file import in_short
from ship_gate.contract.obligations import obligations
from specwright.application.criteria import CriterionRuling
from specwright.application.messages.databases import databases_of
from specwright.application.messages.hosts import clients_of_hosts, hosts_of
from specwright.application.messages.lazy_slots import lazy_slots_of
from specwright.application.messages.parts import (
    as_acceptance,
    as_amendments,
    as_block,
    as_contract,
    as_criteria,
    as_decided,
    as_dependency,
    as_description,
    as_files,
    as_left,
    as_list,
    as_offers,
    as_surface,
    as_task,
    without_docstring,
)
from specwright.application.messages.rounds import (
    as_challenge,
    as_claim,
    as_proposal,
    as_review,
    earlier_rounds,
)
from specwright.application.store.debates import DebateHistory
from specwright.application.store.modules import DependencyView
from specwright.domain.acceptance.calls import ModuleAcceptance, property_in_short
from specwright.domain.acceptance.records import TaskAcceptance
from specwright.domain.answers.answers import (
    MAX_FALSIFYING_TESTS,
    Amendment,
    Failure,
    FaultOf,
    Verdict,
)
from specwright.domain.debate.debate import CONTRACTS, MAX_REVISIONS, Challenge, Proposal
from specwright.domain.debate.exact_changes import OfferedChange
from specwright.domain.spec.change_request import BugReport
from specwright.ports.roles import Files

_ENTRY = "implementation/__init__.py"


class ModuleRequest(NamedTuple):
    """A module that a Proposer is asked for.

    Args:
        contract: Locked.
        files: As they lie in the directory: the stub, or the version that failed.
        failures: Of the last round.
        changes: Of the contract since that version was made (design: debate).
        reports: Of bugs, whose examples every version must give (design: bug-reports).
        approved: Examples and properties of the approved spec, to which the gate holds it (design: executable-spec).
    """

    contract: MicroModuleContract
    files: Files
    failures: Sequence[Failure] = ()
    changes: Sequence[str] = ()
    reports: Sequence[BugReport] = ()
    approved: ModuleAcceptance = ModuleAcceptance()


class JudgedDebate(NamedTuple):
    """A debate that a role judges: its deliverable, the contracts, and what was said so far. `unsound` is what keeps the
    contracts from being locked with all exact changes of the last challenge (design: exact-changes), `revisions_left` those
    of the deliverable."""

    deliverable: str
    contracts: Sequence[MicroModuleContract]
    history: DebateHistory
    unsound: Sequence[str] = ()
    revisions_left: int = MAX_REVISIONS

    @property
    def undisputed(self) -> bool:
        """Whether the last challenge found nothing and nobody asks for a ruling on a statement or a criterion."""
        challenge, proposal = self.history.challenges[-1], self.history.proposals[-1]
        disputed = challenge.unshown_criteria or challenge.counterexamples or proposal.contract_at_fault
        return challenge.verdict is Verdict.PASS and not disputed


def proposer_message(
    module: ModuleRequest,
    dependencies: Sequence[DependencyView],
    packages: Sequence[AllowedPackage] = (),
    criteria: Sequence[str] = (),
    rulings: Mapping[int, CriterionRuling] = MappingProxyType({}),
    plan_claim: str = "",
    revisions_left: int | None = None,
) -> str:
    """The Proposer's; after a failed round it sees the failures and nothing else of the debate.

    Args:
        module: What it is asked for.
        dependencies: That it may call.
        packages: That it may import.
        criteria: Of the task.
        rulings: On criteria, by their numbers.
        plan_claim: What the planner says of the contracts.
        revisions_left: After the one that is asked for.
    """
    return "\n\n".join(
        [
            *_may_import(packages),
            as_criteria(criteria, rulings),
            *_as_plan_claim(plan_claim),
            *map(as_dependency, dependencies),
            *_to_implement(module),
            f"Implement the module `{module.contract.name}`.{as_left(revisions_left)}",
        ]
    )


def _may_import(packages: Sequence[AllowedPackage]) -> list[str]:
    """The packages that a module may import, if there are any."""
    named = (f"{package.requirement} (`{'`, `'.join(package.imports)}`)" for package in packages)
    said = ["Beside the standard library it may import: " + ", ".join(named) + "."] if packages else []
    return [*said, *clients_of_hosts(packages)]


def _to_implement(module: ModuleRequest) -> Iterator[str]:
    """What is said of one module: contract, obligations, files, and what is to be corrected in them."""
    contract, files = module.contract, module.files
    yield as_contract(contract)
    yield from hosts_of([contract])
    yield from databases_of([contract])
    yield from lazy_slots_of([contract])
    yield (
        "# Obligations\n\nEach of these pointers is shown by a test: "
        + ", ".join(f'"{one.pointer}"' for one in obligations(contract))
        + '. `""` is the happy path.'
    )
    yield from map(_reported, module.reports)
    examples, properties = module.approved
    if approved := [*map(in_short, examples), *map(property_in_short, properties)]:
        yield "\n\n".join([f"{_APPROVED}{_FOR_ALL if properties else ''}", *approved])
    if module.changes:
        yield "# What has changed in the contract\n\n" + "\n".join(module.changes)
    stub = without_docstring(files[_ENTRY], contract.name)
    if set(files) == {_ENTRY}:
        yield as_block(f"/{_ENTRY} as it is now", stub, "python")
    else:
        yield as_files({**files, _ENTRY: stub.encode()})
    if module.failures:
        yield (
            "# Failures\n\nThese were shown of your files; correct exactly them:\n\n"
            + as_list(module.failures)
        )


_APPROVED = (
    "# Approved examples\n\nA person approved them with the spec. The gate runs them beside your tests, and nobody can "
    "strike them."
)
_FOR_ALL = (
    " Of what is true for all values it tries hundreds, the empty, largest and oddest among them, but finite numbers and "
    "texts that can be written as UTF-8."
)


def _reported(report: BugReport) -> str:
    """A bug report, whose example the gate runs on every version (design: bug-reports)."""
    return (
        f"# A bug report\n\nThe sealed version {report.module_ref} failed the example below: {report.observed}. That breaks "
        f"{report.broken_statement}. The gate runs this example on every version, and nobody can strike it.\n\n"
        f"{report.text}"
    )


def amend_message(contract: MicroModuleContract, amendments: Sequence[Amendment], files: Files) -> str:
    """The amending Proposer's."""
    asked = f"# Amendments\n\nThe module `{contract.name}` was approved with these, by their index:"
    return "\n\n".join([as_contract(contract), as_files(files), f"{asked}\n\n{as_amendments(amendments)}"])


def challenge_message(
    debate: JudgedDebate,
    dependencies: Sequence[DependencyView],
    criteria: Sequence[str],
    rulings: Mapping[int, CriterionRuling] = MappingProxyType({}),
    plan_claim: str = "",
    decided: Sequence[str] = (),
    acceptance: TaskAcceptance | None = None,
    asked: Sequence[int] = (),
    description: str = "",
) -> str:
    """The Challenger's: never the task file, never source.

    Args:
        debate: That it judges.
        dependencies: What its modules call.
        criteria: Of the task.
        rulings: On criteria, by their numbers.
        plan_claim: What the planner says of the contracts.
        decided: The decisions of the task.
        acceptance: The approved examples and properties of the task.
        asked: The criteria for which tests are asked, by their numbers (design: falsifying-tests).
        description: Of the task, where contracts are judged.
    """
    return "\n\n".join(
        [
            *as_description(description),
            as_criteria(criteria, rulings),
            *as_acceptance(acceptance),
            *as_decided(decided),
            *_as_plan_claim(plan_claim),
            *map(as_surface, dependencies),
            *_challenged(debate),
            *_tests_asked(asked, acceptance),
            f"{_which(debate)} Judge R1 to R6 and submit your verdict.",
        ]
    )


def _tests_asked(asked: Sequence[int], acceptance: TaskAcceptance | None) -> list[str]:
    """What a Challenger who looks again is asked to test (design: falsifying-tests)."""
    if not asked:
        return []
    whys = {one.criterion: one.why for one in acceptance.unexecutable} if acceptance else {}
    listed = "\n".join(
        f"- criterion {number}" + (f" (the spec says of it: {whys[number]})" if number in whys else "")
        for number in asked
    )
    return [
        "# Tests that you are asked for\n\nNo approved example or property shows these criteria, and no falsifying test of "
        "this debate tries them. Hand in at least one falsifying test for each, with the criterion's number in the test's "
        f"`criteria`; one test may try several, and {MAX_FALSIFYING_TESTS} are the most. A criterion that is another "
        "module's business, or that no test of this module can show, you name in `untested_criteria` with the reason.\n\n"
        + listed
    ]


def _challenged(debate: JudgedDebate) -> list[str]:
    """What a Challenger is told of the debate."""
    history = debate.history._replace(adjudications=())  # rulings are not this role's business
    contracts, proposal = map(as_contract, debate.contracts), history.proposals[-1]
    return [
        *contracts,
        *hosts_of(debate.contracts),
        *lazy_slots_of(debate.contracts),
        *earlier_rounds(history),
        as_proposal(proposal),
    ]


def arbiter_message(
    debate: JudgedDebate,
    task_file: str,
    plan_claim: str = "",
    rulings: Mapping[int, CriterionRuling] = MappingProxyType({}),
    criteria: Sequence[str] = (),
    offers: Sequence[OfferedChange] = (),
) -> str:
    """The Arbiter's: task, contracts and the debate, without dependencies, rubrics and source.

    The criteria stand in the task file; they are told again only with rulings on them. If nothing is disputed or offered,
    tests and examples are told by name, the approved ones too (design: debate, exact-changes).
    """
    short = not offers and debate.undisputed
    return "\n\n".join(
        [
            as_task(task_file, short=short),
            *([as_criteria(criteria, rulings)] if rulings else []),
            *_as_plan_claim(plan_claim),
            *_adjudicated(debate, short=short),
            *as_offers(offers),
            _which(debate),
            "Decide.",
        ]
    )


def _adjudicated(debate: JudgedDebate, *, short: bool) -> list[str]:
    """What an Arbiter is told of the debate.

    Args:
        short: Whether tests and examples are told by name.
    """
    history = debate.history
    tell_proposal, tell_challenge = (as_claim, as_review) if short else (as_proposal, as_challenge)
    return [
        *map(as_contract, debate.contracts),
        *earlier_rounds(history),
        tell_proposal(history.proposals[-1]),
        tell_challenge(history.challenges[-1]),
        *_disclaimed(history.proposals[-1]),
        *_asked(history.challenges[-1], debate.revisions_left, debate.unsound),
    ]


def _disclaimed(proposal: Proposal) -> list[str]:
    """What the Arbiter is asked of a contract that its Proposer says is at fault (design: contract-at-fault)."""
    asked = (
        "The proposal says under `contract_at_fault` that no test can show these statements, and code could not confirm "
        "it. REJECT: with `confirmed_fault` contract if it is right, without if it is not."
    )
    return [asked] if proposal.contract_at_fault else []


def _which(debate: JudgedDebate) -> str:
    kind = (
        "This is the debate over the contracts of a plan; there is no implementation to judge."
        if debate.deliverable == CONTRACTS
        else f"This is the debate over the implementation of `{debate.deliverable}`."
    )
    return f"{kind} Round {len(debate.history.proposals)}. Revisions left: {debate.revisions_left}."


def _asked(challenge: Challenge, revisions_left: int, unsound: Sequence[str] = ()) -> list[str]:
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
    if challenge.mendable and revisions_left:
        return [*asked, _UNSOUND.format("; ".join(unsound)) if unsound else _MENDABLE]
    if revisions_left:
        sent = "A FAIL that stands is ruled REJECT: the module goes back to its Proposer."
        return [*asked, sent] if asked else asked
    stands = "A challenge that is FAIL" if not challenge.rests_on_tests else "A falsifying test that stands"
    return [*asked, f"No revision is left. {stands} leaves APPROVE_WITH_AMENDMENTS or REJECT."]


_MENDABLE = (
    "Each failure has exact changes, which code has tried: with all of them the contracts are sound. If they are right, "
    "rule APPROVE_WITH_AMENDMENTS with their numbers in `accepted_changes`, or with texts of your own at the same targets. "
    "Otherwise REJECT: the plan goes back to the planner."
)
_UNSOUND = (
    "Each failure has exact changes; with all of them the contracts cannot be locked: {}. If they are right, rule "
    "APPROVE_WITH_AMENDMENTS with the numbers of those that fit in `accepted_changes`, and with texts of your own at the "
    "targets of the others. Otherwise REJECT: the plan goes back to the planner."
)


def with_rulings(message: str, criteria: Sequence[str], rulings: Mapping[int, CriterionRuling]) -> str:
    """A request that shows the criteria within the task file, with the rulings on them; without any as it is."""
    return f"{message}\n\n{as_criteria(criteria, rulings)}" if rulings else message


def _as_plan_claim(claim: str) -> list[str]:
    """What the planner says of the contracts, if anything; it stays as it was where they were amended."""
    amended = "A contract that says otherwise was amended since, and holds."
    return [f"# What the planner says of the contracts\n\n{claim}\n\n{amended}"] if claim else []
