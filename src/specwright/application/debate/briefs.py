"""What each role is told: the role table F§9.7 as text and files. Nothing reaches a role but by here.

The Proposer gets the task, its contract and its dependencies' contracts; the Challenger gets the proposal, the
contracts and the acceptance criteria as an extract (D12); the Arbiter both sides and the task. Source goes to its
own Proposer alone.
"""

from collections.abc import Sequence
from typing import NamedTuple

from specwright.application.debate.trail import Trail, as_block, as_json, as_list, rounds_of
from specwright.canonical_json import JsonValue
from specwright.domain.allowed_packages import AllowedPackage
from specwright.domain.answers import Amendment, Failure, FaultOf, Verdict
from specwright.domain.contract import MicroModuleContract
from specwright.domain.debate import CONTRACTS, Challenge, Proposal
from specwright.domain.obligations import obligations
from specwright.domain.spec_markdown import scope_note

__all__ = [
    "DependencyView",
    "amend_message",
    "amend_plan_message",
    "arbiter_message",
    "challenge_message",
    "plan_message",
    "proposer_message",
    "replan_message",
]


class DependencyView(NamedTuple):
    """A shipped dependency as the closed-source service that it is: contract and examples."""

    contract: MicroModuleContract
    examples: str
    status: str = "SHIPPED"

    def known_as(self, entry: JsonValue) -> "DependencyView":
        """With what the Code Index says of it (F§16)."""
        if not isinstance(entry, dict):
            return self
        replacement = f", superseded by {entry['superseded_by']}" if entry["superseded_by"] else ""
        return self._replace(status=f"{entry['status']}{replacement}")


def plan_message(task_file: str, packages: Sequence[AllowedPackage] = (), wanted: Sequence[str] = ()) -> str:
    """The planner's: the task file and the scope of modules with the packages that they may use (D23).

    Args:
        task_file: The task.
        packages: That modules may use.
        wanted: The modules that a person fixed, a line each (D16).
    """
    asked = "Plan the modules of this task and submit the plan."
    if wanted:
        asked = (
            "A person has decided which modules there shall be, and which of them calls which. Take exactly these modules "
            "by exactly these names, with exactly these `depends_on`; fill in their contracts, and submit the plan. One "
            "that is shipped already is taken as it is, with REUSE_EXISTING.\n\n" + "\n".join(wanted)
        )
    return "\n\n".join([*_planning(task_file, packages), asked])


def replan_message(
    task_file: str,
    challenged: str,
    failures: Sequence[Failure],
    sealed: Sequence[str] = (),
    packages: Sequence[AllowedPackage] = (),
) -> str:
    """The planner's after a failed round: what was wrong with its plan.

    Args:
        task_file: The task.
        challenged: Its answer, as JSON text.
        failures: To be corrected.
        sealed: Names of modules that have shipped under this plan by now (D10).
        packages: That modules may use.
    """
    names = ", ".join(f"`{name}`" for name in sealed)
    shipped = (
        f"These modules have shipped; leave them in the plan exactly as they stand, as CREATE_NEW: {names}."
    )
    return "\n\n".join(
        [
            *_planning(task_file, packages),
            as_block("Your plan that was challenged", challenged, "json"),
            "# Failures to correct\n\n" + as_list(failures),
            *([shipped] if sealed else []),
            "Correct exactly these failures, leave the rest as it is, and submit the whole plan.",
        ]
    )


def amend_plan_message(
    task_file: str, approved: str, amendments: Sequence[Amendment], packages: Sequence[AllowedPackage] = ()
) -> str:
    """The planner's after an approval with amendments."""
    return "\n\n".join(
        [
            *_planning(task_file, packages),
            as_block("Your plan, which was approved with amendments", approved, "json"),
            f"# Amendments\n\n{_amendments(amendments)}",
            "Apply every amendment exactly, leave the rest as it is, and submit the whole plan. In a pointer that ends "
            "in `/-` the last part is the end of the list.",
        ]
    )


def _planning(task_file: str, packages: Sequence[AllowedPackage]) -> list[str]:
    scope = scope_note([package.requirement for package in packages])
    return [as_block("Task file", task_file, "markdown"), f"# What a module may be\n\n{scope}"]


def proposer_message(
    contract: MicroModuleContract,
    entry: bytes,
    failures: Sequence[Failure],
    dependencies: Sequence[str],
    packages: Sequence[AllowedPackage] = (),
    criteria: Sequence[str] = (),
    changes: Sequence[str] = (),
) -> str:
    """The Proposer's; after a failed round it sees the failures and nothing else of the debate.

    Args:
        contract: Locked.
        entry: `implementation/__init__.py` as it lies in the directory: the stub, or the version that failed.
        failures: Of the last round.
        dependencies: Names.
        packages: That it may import.
        criteria: Of the task.
        changes: Of the contract since that version was made (D10).
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
    lines.append(_criteria(criteria))
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
            f"{told}\n\n{_amendments(amendments)}",
            as_block("Contract", as_json(contract), "json"),
        ]
    )


def challenge_message(
    subject: str,
    proposal: Proposal,
    contracts: Sequence[MicroModuleContract],
    dependencies: Sequence[DependencyView],
    criteria: Sequence[str],
    trail: Trail,
) -> str:
    """The Challenger's: never the task file, never source."""
    kind = (
        "a contract debate: no implementation exists yet"
        if subject == CONTRACTS
        else "an implementation debate"
    )
    parts = [
        f"This is {kind}. Round {len(trail.proposals)}.",
        as_block("Proposal", as_json(proposal), "json"),
        *(as_block(f"Contract of `{c.name}`", as_json(c), "json") for c in contracts),
        *(_dependency(view) for view in dependencies),
        _criteria(criteria),
    ]
    earlier = rounds_of(Trail(trail.proposals[:-1], trail.challenges, causes=trail.causes))
    return "\n\n".join([*parts, *earlier, "Judge R1 to R6 and submit your verdict."])


def arbiter_message(
    task_file: str,
    contracts: Sequence[MicroModuleContract],
    trail: Trail,
    revisions_left: int,
) -> str:
    """The Arbiter's: task, contracts and the whole debate, without dependencies, rubrics and source."""
    parts = [
        as_block("Task file", _without_dependencies(task_file), "markdown"),
        *(as_block(f"Contract of `{c.name}`", as_json(c), "json") for c in contracts),
        *rounds_of(trail),
        f"Revisions left: {revisions_left}.",
    ]
    return "\n\n".join([*parts, *_asked(trail.challenges[-1], revisions_left), "Decide."])


def _asked(challenge: Challenge, revisions_left: int) -> list[str]:
    """What the Arbiter is asked besides, when the challenge is FAIL (D10, D11, D13)."""
    if challenge.verdict is not Verdict.FAIL:
        return []
    asked: list[str] = []
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


def _criteria(criteria: Sequence[str]) -> str:
    return "# Acceptance criteria of the task (extract)\n\n" + "\n".join(f"- {c}" for c in criteria)


def _without_dependencies(task_file: str) -> str:
    """The task file as the Arbiter gets it: dependency contracts are not its business (F§9.7)."""
    head, found, rest = task_file.partition("\n## Dependency Contracts\n")
    _, cases, tail = rest.partition("\n## Error Cases\n")
    return f"{head}{cases}{tail}" if found else task_file


def _dependency(view: DependencyView) -> str:
    title = f"Dependency `{view.contract.name}` ({view.contract.ref}, {view.status})"
    return as_block(title, as_json(view.contract), "json")


def _amendments(amendments: Sequence[Amendment]) -> str:
    return "\n".join(f"{i}. {a.action} {a.target}: {a.detail}" for i, a in enumerate(amendments))
