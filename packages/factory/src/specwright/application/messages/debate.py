"""The requests of a debate, by the role table (design: role-access).

The Proposer gets the task's criteria, its contract and its dependencies' contracts. The Challenger gets the proposal, the
contracts and the acceptance criteria as an extract. The Arbiter gets what it decides, and can read the task and both sides.
Source goes to its own Proposer alone. What stays the same for a task comes first, then what stays the same for a module,
what is new in a round last: a provider caches requests by what they begin with.

None of it is source: what the gate quotes is left out for the roles that judge.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from textwrap import shorten
from types import MappingProxyType
from typing import NamedTuple

from ship_gate.base.allowed_packages import AllowedPackage
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.contract_text import contract_text
from ship_gate.contract.examples_file import examples_in_short, in_short
from ship_gate.contract.obligations import obligations
from specwright.application.criteria import CriterionRuling
from specwright.application.messages.parts import (
    about_modules,
    as_acceptance,
    as_amendments,
    as_block,
    as_contract,
    as_criteria,
    as_decided,
    as_dependency,
    as_description,
    as_fenced,
    as_files,
    as_left,
    as_list,
    as_offers,
    as_surface,
    clients_of_hosts,
    task_text,
    without_docstring,
)
from specwright.application.store.debates import Cause, DebateHistory
from specwright.application.store.modules import DependencyView
from specwright.domain.acceptance.calls import Acceptance, property_in_short
from specwright.domain.acceptance.records import TaskAcceptance
from specwright.domain.answers import MAX_FALSIFYING_TESTS, Amendment, Failure, FaultOf, Verdict
from specwright.domain.debate.amendments import OfferedChange
from specwright.domain.debate.debate import CONTRACTS, Adjudication, Challenge, Proposal
from specwright.domain.debate.falsifying import TriedTest, counterexample
from specwright.domain.debate.test_outline import test_outline
from specwright.domain.spec.change_request import BugReport
from specwright.domain.tasks.task_file import TaskDefinition, without_dependencies
from specwright.ports import Files

_ABOUT = {
    "R1": "contract",
    "R2": "tests",
    "R3": "errors",
    "R4": "dependencies",
    "R5": "acceptance criteria",
    "R6": "decomposition",
}
"""What each criterion of the rubric is about, for those who do not see the rubric."""


def as_proposal(proposal: Proposal) -> str:
    """The proposal that is judged, whole."""
    parts = [
        "# Proposal",
        f"Claim: {proposal.claim}",
        "Checks:\n" + "\n".join(f"- {check}" for check in proposal.acceptance_checks),
    ]
    if proposal.tests:
        shows = "what each shows, its values, what it asserts"
        parts.append(f"# Tests: {shows}\n\n{as_fenced(proposal.tests, 'text')}")
    if proposal.examples:
        parts.append(f"# Examples\n\n{as_fenced(examples_in_short(proposal.examples), 'markdown')}")
    return "\n\n".join([*parts, *_observed(proposal)])


def _observed(proposal: Proposal) -> list[str]:
    """What code says of a draft, if there is anything."""
    listed = "\n".join(f"- {line}" for line in proposal.preflight)
    return [f"# Observed by code\n\n{listed}"] if listed else []


def earlier_rounds(history: DebateHistory) -> list[str]:
    """The rounds before the one that is judged, oldest first, and what has changed since each.

    Args:
        history: With the proposal that is judged as its last.
    """
    last = history.proposals[-1] if history.proposals else None
    rounds = (_round(number, history, last) for number in range(1, len(history.proposals)))
    causes = {cause.round: cause for cause in history.causes}
    blocks: list[str] = []
    for number, block in enumerate(rounds, start=1):
        blocks.append(block)
        if cause := causes.get(number + 1):
            blocks.append(_why(cause))
    return blocks


def as_challenge(challenge: Challenge) -> str:
    """The challenge that is ruled on, whole; of falsifying tests those that failed with their source."""
    return "\n\n".join(["# The challenge", *_challenge(challenge, assessments=True)])


def without_source(failure: Failure) -> Failure:
    """What the gate found, for those who never see source: it quotes that in ticks, or from the second line on."""
    evidence, change = (
        _CODE.sub("...", text.partition("\n")[0]) for text in (failure.evidence, failure.required_change)
    )
    return failure.model_copy(update={"evidence": evidence, "required_change": change})


_CODE = re.compile(r"`[^`]*`")


def _round(number: int, history: DebateHistory, last: Proposal | None) -> str:
    """A round that is over: its verdicts in short, and what the next proposal changed."""
    proposal, following = history.proposals[number - 1], history.proposals[number]
    about = proposal.target_artifact_id  # a round without a ruling must not take the next one's
    parts = [f"# Round {number}"]
    for challenge in history.challenges:
        if challenge.target_artifact_id == about:
            parts += _challenge(challenge, assessments=False)
    parts += [_ruling(ruling) for ruling in history.adjudications if ruling.target_artifact_id == about]
    changes = list(_changes(proposal, following))
    parts.append(f"Changed in round {number + 1}:\n" + ("\n".join(changes) or "- nothing that is shown here"))
    return "\n\n".join(parts)


def _challenge(challenge: Challenge, *, assessments: bool) -> Iterator[str]:
    shown = [a for a in challenge.rubric_assessments if assessments or a.assessment != "MET"]
    met = ", ".join(a.criterion for a in challenge.rubric_assessments if a not in shown)
    lines = [f"- {a.criterion} ({_ABOUT[a.criterion]}) {a.assessment}: {a.evidence}" for a in shown]
    yield "\n".join([f"Verdict: {challenge.verdict}", *lines, *([f"- {met} MET"] if met else [])])
    if challenge.unshown_criteria:
        yield "\n".join(
            f"No test can show criterion {u.criterion}: {u.evidence}" for u in challenge.unshown_criteria
        )
    shown_below = [counterexample(tried) for tried in challenge.counterexamples]
    if failures := [failure for failure in challenge.failures if failure not in shown_below]:
        yield "Failures:\n" + as_list(failures)
    for tried in challenge.counterexamples:
        yield _counterexample(tried)
    if passed := [tried for tried in challenge.falsifying_tests if not tried.failed]:
        outlines = [
            test_outline({"tests/test.py": t.source.encode()}, {t.name: [t.obligation]}) for t in passed
        ]
        yield "Falsifying tests that the module passed:\n" + as_fenced("\n".join(outlines), "text")


def _counterexample(tried: TriedTest) -> str:
    title = f"Falsifying test {tried.name} of {tried.obligation or 'the purpose'} failed: {tried.message}"
    return f"{title}\n\n{as_fenced(tried.source, 'python')}"


def _ruling(ruling: Adjudication) -> str:
    lines = [f"Ruling: {ruling.decision}. {ruling.rationale}"]
    if ruling.confirmed_fault:
        lines.append(f"The fault lies in the {ruling.confirmed_fault}.")
    lines += [f"Struck: {one.test}, by {one.contract_pointer}: {one.reason}" for one in ruling.struck_tests]
    lines += [f"Criterion {one.criterion} is set aside: {one.reason}" for one in ruling.set_aside]
    if ruling.amendments:
        lines.append(f"Amendments:\n{as_amendments(ruling.amendments)}")
    return "\n".join(lines)


def _changes(before: Proposal, after: Proposal) -> Iterator[str]:
    """What a proposal changed, by field; what it left as it was is not told again."""
    yield from (f"- contract {_added_in_short(line)}" for line in after.contract_changes)
    for what, old, new in (
        ("checks", "\n".join(before.acceptance_checks), "\n".join(after.acceptance_checks)),
        ("tests", before.tests, after.tests),
        ("examples", before.examples, after.examples),
    ):
        if old != new:
            yield f"- {what}:\n{as_fenced(_difference(old, new), 'diff')}"


def _difference(before: str, after: str) -> str:
    lines: Iterable[str] = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join(_added_in_short(line) for line in lines if not line.startswith(("---", "+++", "@@")))


def _added_in_short(line: str) -> str:
    """A line of a difference: what was added stands whole below, or what became of it in a later round."""
    added = line.startswith("+") or line.partition(" ")[2].startswith("+")  # after a contract's name
    return shorten(line, 55, placeholder=" ...") if added else line


def _why(cause: Cause) -> str:
    """Why there is a round that no challenge and no ruling of this debate asked for."""
    return f"# Why there is a round {cause.round}\n\n{cause.reason}\n\n{as_list(cause.failures)}"


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
    approved: Acceptance = Acceptance()


class JudgedDebate(NamedTuple):
    """A debate that a role judges.

    Args:
        deliverable: What is debated.
        contracts: That are debated or implemented.
        history: What was said so far.
        revisions_left: Of the deliverable.
        task: Whose deliverable it is.
        plan_claim: What the planner says of the contracts.
        rulings: On the criteria of the task, by their numbers.
        unsound: What keeps the contracts from being locked with all exact changes of the last challenge (design:
            exact-changes).
    """

    deliverable: str
    contracts: Sequence[MicroModuleContract]
    history: DebateHistory
    revisions_left: int
    task: TaskDefinition
    plan_claim: str
    rulings: Mapping[int, CriterionRuling]
    unsound: Sequence[str]

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
    decisions: Sequence[str] = (),
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
        decisions: Of the task, where SPEC.md leaves a case open.
    """
    return "\n\n".join(
        [
            *_may_import(packages),
            as_criteria(criteria, rulings),
            *as_decided(decisions),
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
    yield from about_modules([contract])
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
    debate: JudgedDebate, dependencies: Sequence[DependencyView], asked: Sequence[int]
) -> str:
    """The Challenger's: never the task file, never source.

    Args:
        debate: That it judges.
        dependencies: What its modules call.
        asked: The criteria for which tests are asked, by their numbers (design: falsifying-tests).
    """
    task = debate.task
    return "\n\n".join(
        [
            *as_description(task.description if debate.deliverable == CONTRACTS else ""),
            as_criteria(task.acceptance_criteria, debate.rulings),
            *as_acceptance(task.acceptance if debate.deliverable == CONTRACTS else None),
            *as_decided(task.decisions),
            *_as_plan_claim(debate.plan_claim),
            *map(as_surface, dependencies),
            *map(as_contract, debate.contracts),
            *about_modules(debate.contracts, files=False),
            *earlier_rounds(debate.history._replace(adjudications=())),  # never shown to this role
            as_proposal(debate.history.proposals[-1]),
            *_tests_asked(asked, task.acceptance),
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


def arbiter_files(debate: JudgedDebate, task_file: str) -> dict[str, str]:
    """What the Arbiter can read beside its request, by path: the task without the contracts of its dependencies, the
    contracts, and the whole debate."""
    history = debate.history
    debated = [as_proposal(history.proposals[-1]), as_challenge(history.challenges[-1])]
    return {
        TASK: task_text(without_dependencies(task_file)),
        CONTRACTS_READ: "\n\n".join(map(as_contract, debate.contracts)),
        DEBATE: "\n\n".join([*_as_plan_claim(debate.plan_claim), *earlier_rounds(history), *debated]),
    }


def arbiter_message(debate: JudgedDebate, offers: Sequence[OfferedChange]) -> str:
    """The Arbiter's: what is decided; the rest can be read (`arbiter_files`).
    It holds no dependencies, rubrics and source."""
    said = _disputed(debate, offers) if offers or not debate.undisputed else _undisputed(debate)
    return "\n\n".join([*said, _READ, _which(debate), "Decide."])


def _undisputed(debate: JudgedDebate) -> list[str]:
    """What shows each criterion, and the review."""
    proposal, challenge = debate.history.proposals[-1], debate.history.challenges[-1]
    criteria = (shorten(one, _LONGEST, placeholder=" ...") for one in debate.task.acceptance_criteria)
    passed = ", ".join(tried.name for tried in challenge.falsifying_tests)
    return [
        as_criteria([*criteria], debate.rulings),
        "\n".join(
            ["# What shows them, says the proposal\n", *(f"- {one}" for one in proposal.acceptance_checks)]
        ),
        *_observed(proposal),
        as_challenge(challenge.model_copy(update={"falsifying_tests": []})),
        *([f"Falsifying tests that the module passed: {passed}"] if passed else []),
    ]


def _disputed(debate: JudgedDebate, offers: Sequence[OfferedChange]) -> list[str]:
    """The dispute, with the statements and tests that it names."""
    proposal, challenge = debate.history.proposals[-1], debate.history.challenges[-1]
    return [
        as_criteria(debate.task.acceptance_criteria, debate.rulings),
        *_named(debate),
        as_challenge(challenge),
        *([_DISCLAIMED] if proposal.contract_at_fault else []),
        *_asked(challenge, debate.revisions_left, debate.unsound),
        *as_offers(offers),
    ]


TASK, CONTRACTS_READ, DEBATE = "task.md", "contracts.md", "debate.md"
_READ = (
    f"`read_file` opens `/{TASK}`, `/{CONTRACTS_READ}` and `/{DEBATE}`: earlier rounds, claim, each test with its values, "
    "examples, challenge."
)
_LONGEST = 130
"""Characters of a criterion where nothing is disputed."""


def _named(debate: JudgedDebate) -> Iterator[str]:
    """The statements and tests that a dispute names; if it names no statement, the whole contracts."""
    proposal, challenge = debate.history.proposals[-1], debate.history.challenges[-1]
    words = " ".join(
        [
            *(f"{one.invariant} {one.evidence} {one.required_change}" for one in challenge.failures),
            *(f"{one.obligation} {one.message}" for one in challenge.counterexamples),
            *(one.evidence for one in challenge.unshown_criteria),
            *(one.pointer for one in proposal.contract_at_fault),
        ]
    )
    words = re.sub(rf"\b({'|'.join(one.name for one in debate.contracts)}) /", r"\1#/", words)
    texts = {one.name: contract_text(one).splitlines() for one in debate.contracts}
    named = {name: [one for one in lines if _is_cited(one, name, words)] for name, lines in texts.items()}
    told, about = (named, ", where the dispute names it") if any(named.values()) else (texts, "")
    for name, lines in told.items():
        if lines:
            yield as_block(f"Contract of `{name}`{about}", "\n".join(lines), "text")
    tests = re.split(r"\n(?=test_)", f"\n{proposal.tests}")
    if shown := [test for test in tests if _is_in(test.split(" ", 1)[0].strip(), words)]:
        yield f"# Tests that the dispute names\n\n{as_fenced(chr(10).join(shown), 'text')}"


def _is_cited(line: str, module: str, words: str) -> bool:
    """Whether a text cites a statement, alone or after its module's name."""
    pointer = line.partition(" ")[0]
    return _is_in(pointer, words) or _is_in(f"{module}#{pointer}", words)


def _is_in(name: str, words: str) -> bool:
    """Whether a name stands in a text, and not as a part of a longer one."""
    return bool(name) and re.search(rf"(?<![\w/#]){re.escape(name)}(?![\w/])", words) is not None


_DISCLAIMED = (
    "The proposal says under `contract_at_fault` that no test can show these statements, and code could not confirm it. "
    "REJECT: with `confirmed_fault` contract if it is right, without if it is not."
)


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


def _as_plan_claim(claim: str) -> list[str]:
    """What the planner says of the contracts, if anything; it stays as it was where they were amended."""
    amended = "A contract that says otherwise was amended since, and holds."
    return [f"# What the planner says of the contracts\n\n{claim}\n\n{amended}"] if claim else []
