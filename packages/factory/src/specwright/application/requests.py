"""What the roles are asked: the planner's requests and those of a debate (design: role-access, engineering).

The Proposer gets the task's criteria, its contract and its dependencies' contracts. The Challenger gets the proposal, the
contracts and the criteria. The Arbiter gets what it decides, and can read the task and both sides. Only a module's own
Proposer sees its source: what the gate quotes from it is left out for the roles that judge.

A provider caches requests by their beginning. So what stays the same for a task comes first, then what stays the same for
a module, and what is new in a round last.
"""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from textwrap import shorten
from types import MappingProxyType
from typing import Any, NamedTuple

from ship_gate.base.text import printable
from ship_gate.contract.contract import EffectType, MicroModuleContract, network_effects
from ship_gate.contract.examples import examples_in_short, in_short
from ship_gate.contract.obligations import obligations
from ship_gate.contract.rules import is_vocabulary
from ship_gate.contract.statements import contract_text, text_for_callers
from ship_gate.contract.types import is_callable, is_iterable
from ship_gate.sandbox.packages import AllowedPackage
from specwright.application.criteria import CriterionRuling
from specwright.application.rendering import as_amendments, as_fenced, as_list, rendered
from specwright.application.store.modules import DependencyView
from specwright.application.store.records import Cause, DebateHistory
from specwright.domain.acceptance.calls import Acceptance, for_all, property_in_short
from specwright.domain.acceptance.records import AcceptanceExample, AcceptanceProperty
from specwright.domain.answers import MAX_FALSIFYING_TESTS, Amendment, Failure, FaultOf, Verdict
from specwright.domain.debate.amendments import OfferedChange, changes_of
from specwright.domain.debate.answer_rules import checked_criteria
from specwright.domain.debate.records import CONTRACTS, Challenge, Proposal, counterexample
from specwright.domain.debate.test_outline import test_outline
from specwright.domain.interfaces.records import CLOCK_TYPES, VALUES, Interfaces
from specwright.domain.interfaces.rules import uses_of
from specwright.domain.spec.change_request import BugReport
from specwright.domain.tasks.task_file import TaskDefinition, without_dependencies, without_examples
from specwright.ports import Files

LONGEST_FILE = 12_000
"""Of a file that stands in a request; a longer one is read with the file tools."""


def as_contract(contract: MicroModuleContract) -> str:
    """A contract, each statement after its pointer."""
    return as_block(f"Contract of `{contract.name}`", contract_text(contract), "text")


def as_dependency(view: DependencyView) -> str:
    """A sealed module that may be called: what its contract says to callers, its status, its examples."""
    return f"{as_surface(view)}\n\n{as_fenced(examples_in_short(view.examples), 'markdown')}"


def as_surface(view: DependencyView) -> str:
    """A sealed module for those who judge what calls it: what its contract says to callers, and its status. Its examples
    show what the contract says already, and are there to be queried."""
    title = f"Dependency `{view.contract.name}` ({view.contract.ref}, {view.status})"
    return as_block(title, text_for_callers(view.contract), "text")


def as_criteria(
    criteria: Sequence[str],
    rulings: Mapping[int, CriterionRuling] = MappingProxyType({}),
    own: Collection[int] = (),
) -> str:
    """The acceptance criteria of the task by their numbers, with the rulings on them; if `own` names some, the others by
    their numbers alone."""
    return rendered("criteria.md", criteria=criteria, rulings=rulings, own=own)


def as_approved(item: AcceptanceExample | AcceptanceProperty) -> str:
    """An approved example or property for those who judge, without its imports (design: executable-spec)."""
    code = [line for line in item.code.splitlines() if line and not PLAIN_IMPORT.match(line)]
    is_example = isinstance(item, AcceptanceExample)
    shows = f"gives {item.gives}" if is_example else for_all(item.variables, item.errors)
    return "\n".join((f"## {item.heading}", *code, shows))


PLAIN_IMPORT = re.compile(r"(from|import) (?!.*( as |\())")

_PLACE_IN_PRODUCT = re.compile(r"\A(# [^\n]*\n)## Task ID: [^\n]*\n(?:\n## Context\n(?:- [^\n]*\n)+)?")
"""The lines of a task file below its title that tell nothing of what the task is to do."""


def task_text(task_file: str) -> str:
    """A task file as a request holds it: criteria by their numbers, without its place in the product, and without the
    section Error Cases where it only repeats the error surfaces of the sketch."""
    task_file = _PLACE_IN_PRODUCT.sub(r"\1", task_file)
    head, found, cases = task_file.partition("\n## Error Cases\n")
    listed, more, tail = cases.partition("\n\n## ")
    repeated = all(line.removeprefix("- ") in head for line in listed.splitlines())
    return with_numbers(f"{head.rstrip()}\n{more and more[1:]}{tail}" if found and repeated else task_file)


def with_numbers(task_file: str) -> str:
    """A task file whose acceptance criteria have the numbers by which they are cited."""
    head, found, rest = task_file.partition("\n## Acceptance Criteria\n")
    listed, end, tail = rest.partition("\n\n## ")
    lines = [f"{n}. {line.removeprefix('- ')}" for n, line in enumerate(listed.splitlines(), start=1)]
    return "".join([head, found, "\n".join(lines), end, tail]) if found else task_file


def as_left(revisions: int | None) -> str:
    """How many revisions are left after the one that is asked for; nothing of a first version."""
    return "" if revisions is None else f" Revisions left after this one: {revisions}."


def as_files(files: Mapping[str, bytes]) -> str:
    """The files of a module as they are; a long one is only named."""
    parts = [
        as_block(f"/{path}", data.decode(errors="replace"), "text")
        if len(data) <= LONGEST_FILE
        else f"# /{path}\n\n{len(data):,} bytes; read it."
        for path, data in sorted(files.items())
    ]
    return "\n\n".join(parts)


def without_docstring(source: bytes, name: str) -> str:
    """Source without the docstring of a function, which is the contract once more."""
    text = source.decode(errors="replace")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    lines = text.splitlines()
    for node in reversed(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(name):
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None:
                lines[first.lineno - 1 : first.end_lineno] = []
    return "\n".join(lines)


def as_block(title: str, text: str, language: str) -> str:
    """A titled text, fenced."""
    return f"# {title}\n\n{as_fenced(text, language)}"


def clients_of_hosts(packages: Iterable[AllowedPackage]) -> list[str]:
    """How hosts are asked by a client that is allowed; nothing without one."""
    named = {name for package in packages for name in package.imports}
    return [rendered("client.md", name=name) for name in ("httpx", "httpx2") if name in named]


def about_modules(contracts: Sequence[MicroModuleContract], *, files: bool = True) -> list[str]:
    """What follows contracts that ask hosts, write or read files, or take and give iterables and callables; nothing for
    others.

    Args:
        contracts: Of the modules.
        files: Whether the reader writes tests of files.
    """
    inputs = [slot.type for contract in contracts for slot in contract.inputs]
    outputs = [slot.type for contract in contracts for slot in contract.outputs]
    told = rendered(
        "module.md",
        hosts=any(map(network_effects, contracts)),
        files=files and any(map(_uses_file, contracts)),
        takes=any(map(is_iterable, inputs)),
        yields=any(map(is_iterable, outputs)),
        calls=any(map(is_callable, inputs)),
    )
    return [told] if told else []


def _uses_file(contract: MicroModuleContract) -> bool:
    names = {one.name for one in contract.inputs}
    return any(
        one.type is EffectType.WRITE
        or (one.type is EffectType.CALL and names.intersection(re.findall(r"\w+", one.target)))
        for one in contract.effects
    )


_ABOUT = {
    "R1": "contract",
    "R2": "tests",
    "R3": "errors",
    "R4": "dependencies",
    "R5": "acceptance criteria",
    "R6": "decomposition",
}
"""What each criterion of the rubric is about, for those who do not see the rubric."""


def as_proposal(history: DebateHistory) -> str:
    """The proposal that is judged, whole; a first one with what has changed since its modules were sealed."""
    proposal = history.proposals[-1]
    changes = proposal.contract_changes if len(history.proposals) == 1 else ()
    examples = examples_in_short(proposal.examples)
    return rendered("proposal.md", proposal=proposal, changes=changes, examples=examples)


def earlier_rounds(history: DebateHistory) -> list[str]:
    """The rounds before the one that is judged, oldest first, and what has changed since each.

    Args:
        history: With the proposal that is judged as its last.
    """
    rounds = (_round(number, history) for number in range(1, len(history.proposals)))
    causes = {cause.round: cause for cause in history.causes}
    blocks: list[str] = []
    for number, block in enumerate(rounds, start=1):
        blocks.append(block)
        if cause := causes.get(number + 1):
            blocks.append(_why(cause))
    return blocks


def without_source(failure: Failure) -> Failure:
    """What the gate found, for those who never see source: it quotes that in ticks, or from the second line on."""
    evidence, change = (
        _CODE.sub("...", text.partition("\n")[0]) for text in (failure.evidence, failure.required_change)
    )
    return failure.model_copy(update={"evidence": evidence, "required_change": change})


_CODE = re.compile(r"`[^`]*`")


def _round(number: int, history: DebateHistory) -> str:
    """A round that is over: its verdicts in short, and what the next proposal changed."""
    proposal, following = history.proposals[number - 1], history.proposals[number]
    about = proposal.target_artifact_id  # a round without a ruling must not take the next one's
    challenges = [one for one in history.challenges if one.target_artifact_id == about]
    return rendered(
        "round.md",
        number=number,
        challenges=[as_challenge(one, assessments=False) for one in challenges],
        rulings=[one for one in history.adjudications if one.target_artifact_id == about],
        changes="\n".join(_changes(proposal, following)),
    )


def as_challenge(challenge: Challenge, *, assessments: bool = True) -> str:
    """A challenge: with all assessments under a title of its own, or what it found; of falsifying tests those that failed
    with their source."""
    shown = [a for a in challenge.rubric_assessments if assessments or a.assessment != "MET"]
    shown_below = [counterexample(tried) for tried in challenge.counterexamples]
    passed = [one for one in challenge.falsifying_tests if not one.failed]
    return rendered(
        "challenge.md",
        challenge=challenge,
        assessments=assessments,
        shown=shown,
        met=[a.criterion for a in challenge.rubric_assessments if a not in shown],
        about=_ABOUT,
        failures=[failure for failure in challenge.failures if failure not in shown_below],
        passed=[
            test_outline({"tests/test.py": one.source.encode()}, {one.name: [one.obligation]})
            for one in passed
        ],
    )


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
        reports: Of bugs, whose examples every version must give (design: change).
        approved: Examples and properties of the approved spec, to which the gate holds it (design: executable-spec).
        sealed: Whether the files are those of its last sealed version.
    """

    contract: MicroModuleContract
    files: Files
    failures: Sequence[Failure] = ()
    changes: Sequence[str] = ()
    reports: Sequence[BugReport] = ()
    approved: Acceptance = Acceptance()
    sealed: bool = False


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
            amendments).
        reports: Of bugs, whose examples the module must give.
    """

    deliverable: str
    contracts: Sequence[MicroModuleContract]
    history: DebateHistory
    revisions_left: int
    task: TaskDefinition
    plan_claim: str
    rulings: Mapping[int, CriterionRuling]
    unsound: Sequence[str]
    reports: Sequence[BugReport]

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
    contract, (examples, properties) = module.contract, module.approved
    stub = without_docstring(module.files[_ENTRY], contract.name)
    stated = () if is_vocabulary(contract) else obligations(contract)
    shown = module.files.get("tests/obligations.json", b"").decode() if module.sealed else ""
    return rendered(
        "proposer.md",
        module=module,
        reports=module.reports,
        packages=[f"{one.requirement} (`{'`, `'.join(one.imports)}`)" for one in packages],
        clients=clients_of_hosts(packages),
        criteria=as_criteria(criteria, rulings),
        decisions=decisions,
        plan_claim=plan_claim,
        described=[
            *map(as_surface if module.sealed else as_dependency, dependencies),
            as_contract(contract),
            *about_modules([contract]),
        ],
        pointers=[one.pointer for one in stated if f'"{one.pointer}"' not in shown],
        approved=[*map(in_short, examples), *map(property_in_short, properties)],
        files=as_block(f"/{_ENTRY} as it is now", stub, "python")
        if set(module.files) == {_ENTRY}
        else as_files({**module.files, _ENTRY: stub.encode()}),
        left=as_left(revisions_left),
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
    task, acceptance = debate.task, debate.task.acceptance
    seen = debate.history._replace(adjudications=())  # never shown to this role
    return rendered(
        "challenger.md",
        criteria=as_criteria(task.acceptance_criteria, debate.rulings),
        approved=[*map(as_approved, acceptance.items)]
        if acceptance and debate.deliverable == CONTRACTS
        else [],
        decisions=task.decisions,
        plan_claim=debate.plan_claim,
        reports=debate.reports,
        described=[
            *map(as_surface, dependencies),
            *map(as_contract, debate.contracts),
            *about_modules(debate.contracts, files=False),
            *earlier_rounds(seen),
            as_proposal(debate.history),
        ],
        asked=asked,
        most_tests=MAX_FALSIFYING_TESTS,
        whys={one.criterion: one.why for one in acceptance.unexecutable} if acceptance else {},
        which=_which(debate),
    )


def arbiter_files(debate: JudgedDebate, task_file: str) -> dict[str, str]:
    """What the Arbiter can read beside its request, by path: the task without the contracts of its dependencies, the
    contracts, and the whole debate."""
    history = debate.history
    claim = rendered("plan_claim.md", plan_claim=debate.plan_claim)
    reported = rendered("reports.md", reports=debate.reports)
    debated = [as_proposal(history), as_challenge(history.challenges[-1])]
    return {
        TASK: task_text(without_dependencies(task_file)),
        CONTRACTS_READ: "\n\n".join(map(as_contract, debate.contracts)),
        DEBATE: "\n\n".join(filter(None, [claim, reported, *earlier_rounds(history), *debated])),
    }


def arbiter_message(debate: JudgedDebate, offers: Sequence[OfferedChange], files: Mapping[str, str]) -> str:
    """The Arbiter's: what is decided, of contracts all that shows the criteria; the rest can be read (`arbiter_files`).
    It holds no dependencies, rubrics and source."""
    proposal, challenge = debate.history.proposals[-1], debate.history.challenges[-1]
    disputed, of_plan = bool(offers) or not debate.undisputed, debate.deliverable == CONTRACTS
    own = () if disputed or of_plan else checked_criteria(proposal.acceptance_checks)
    shown = challenge if disputed else challenge.model_copy(update={"falsifying_tests": []})
    return rendered(
        "arbiter.md",
        debate=debate,
        disputed=disputed,
        criteria=as_criteria(debate.task.acceptance_criteria, debate.rulings, own),
        named=[*_named(debate)] if disputed or of_plan else [],
        proposal=proposal,
        challenge=challenge,
        challenge_text=as_challenge(shown),
        above=[kind for kind in (FaultOf.CONTRACT, FaultOf.PLAN) if challenge.faults(kind)],
        offers=offers,
        passed=[tried.name for tried in challenge.falsifying_tests],
        files=files,
        which=_which(debate),
    )


TASK, CONTRACTS_READ, DEBATE = "task.md", "contracts.md", "debate.md"


def _named(debate: JudgedDebate) -> Iterator[str]:
    """The statements and tests that a dispute names, or the checks where there is none; if they name no statement, the whole
    contracts."""
    proposal, challenge = debate.history.proposals[-1], debate.history.challenges[-1]
    words = " ".join(
        [
            *(f"{one.invariant} {one.evidence} {one.required_change}" for one in challenge.failures),
            *(f"{one.obligation} {one.message}" for one in challenge.counterexamples),
            *(one.evidence for one in challenge.unshown_criteria),
            *(one.pointer for one in proposal.contract_at_fault),
        ]
    )
    if named := [report for report in debate.reports if report.heading in words]:
        yield rendered("reports.md", reports=named)
    words = words or " ".join(proposal.acceptance_checks)
    words = re.sub(rf"\b({'|'.join(one.name for one in debate.contracts)}) /", r"\1#/", words)
    texts = {one.name: contract_text(one).splitlines() for one in debate.contracts}
    cited = {name: [one for one in lines if _is_cited(one, name, words)] for name, lines in texts.items()}
    told, about = (cited, ", as far as it is cited") if any(cited.values()) else (texts, "")
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


def _which(debate: JudgedDebate) -> str:
    kind = (
        "This is the debate over the contracts of a plan; there is no implementation to judge."
        if debate.deliverable == CONTRACTS
        else f"This is the debate over the implementation of `{debate.deliverable}`."
    )
    return f"{kind} Round {len(debate.history.proposals)}. Revisions left: {debate.revisions_left}."


def plan_message(
    task_file: str,
    packages: Sequence[AllowedPackage] = (),
    nearest: Sequence[str] = (),
    wanted: Sequence[str] = (),
    shipped: str = "",
    changes: Sequence[str] = (),
    callers: Sequence[str] = (),
) -> str:
    """The request for a first plan: the task file, and what a module may use (design: contracts).

    Args:
        task_file: The task.
        packages: Third-party packages that modules may import.
        nearest: The shipped modules that the Code Index finds nearest to the task, a line each.
        wanted: The modules that a person fixed, a line each (design: planning).
        shipped: The plan to which the task was built before, with its modules as they are sealed, as JSON text; empty for a
            new one (design: change). Then the task file is sent without its examples.
        changes: Of the task since, a line each.
        callers: What its functions use, and what calls them.
    """
    return _asked(
        "plan.md",
        *(without_examples(task_file) if shipped else task_file, packages, callers),
        others=[line for line in nearest if line.partition(" ")[0] not in task_file],
        nearest=nearest,
        wanted=wanted,
        shipped=shipped,
        changes=changes,
    )


def replan_message(
    task_file: str,
    challenged: str,
    failures: Sequence[Failure],
    sealed: Sequence[str] = (),
    packages: Sequence[AllowedPackage] = (),
    revisions_left: int | None = None,
    callers: Sequence[str] = (),
    amendments: Sequence[Amendment] = (),
) -> str:
    """The request for a corrected plan, after a failed round, or with the amendments of a ruling applied.

    Args:
        task_file: The task.
        challenged: Its answer, as JSON text.
        failures: To be corrected.
        sealed: Names of modules that have shipped under this plan by now (design: debate).
        packages: Third-party packages that modules may import.
        revisions_left: After this one.
        callers: What its functions use, and what calls them.
        amendments: That are applied, and nothing else.
    """
    return _asked(
        "replan.md",
        *(without_examples(task_file), packages, callers),
        plan=challenged,
        failures=failures,
        changes=changes_of(failures),
        sealed=sealed,
        amendments=amendments,
        left=as_left(revisions_left),
    )


def _asked(
    template: str, task_file: str, packages: Sequence[AllowedPackage], callers: Sequence[str], **values: Any
) -> str:
    allowed = [printable(one.requirement) for one in packages]
    return rendered(template, task=task_text(task_file), packages=allowed, callers=callers, **values)


def callers_of(interfaces: Interfaces | None, functions: Mapping[str, Collection[str]]) -> list[str]:
    """What calls these functions, and what it passes for the clock; nothing if nothing does.

    Args:
        interfaces: Of the product.
        functions: That are planned, each with the names of its parameters.
    """
    lines: list[str] = []
    for one in uses_of(interfaces) if interfaces else ():
        if one.calls in functions:
            known = functions[one.calls]
            passed = [
                f"`{name}` is `{word}`"
                for name, word in one.defaults.items()
                if word in CLOCK_TYPES and name in known
            ]
            unless = f"; unless it is given, {', '.join(passed)}" if passed else ""
            lines.append(f"- {one.shown} calls `{one.calls}`{unless}")
    if not lines:
        return []
    return ["\n\n".join(["# What calls it", "Code makes this, no module:", "\n".join(lines), VALUES])]
