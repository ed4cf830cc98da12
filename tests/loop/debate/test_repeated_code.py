"""A draft that repeats twelve lines of a sealed module of the product, names apart (D-54-03).

The roles are scripted. What a sealed module holds reaches none of them: only places in the draft, and the module's name.
"""

from pathlib import Path
from typing import Any

from specwright.domain.escalation import Action
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.resolving import answer
from testkit.loop.role_answers import Turn, claimed, draft, plan, planned

SCANNER = '''
def _tokens(text: str) -> list[str]:
    """Words and brackets."""
    found: list[str] = []
    position = 0
    while position < len(text):
        first = text[position]
        if first in "()":
            found.append(first)
            position += 1
        elif first.isspace():
            position += 1
        else:
            start = position
            while position < len(text) and text[position].isalnum():
                position += 1
            found.append(text[start:position])
    return found
'''
RENAMED = (
    SCANNER.replace("_tokens", "_split")
    .replace("found", "words")
    .replace("position", "at")
    .replace("text", "line")
    .replace('    """Words and brackets."""', "    # what it is made of")
)
PLACE = "implementation/__init__.py, lines"


def drafted(name: str, code: str = "") -> Turn:
    """A sound draft with code of its own beside its function."""
    files = draft(name)
    entry = "implementation/__init__.py"
    return Turn(claimed(), {**files, entry: f"{files[entry]}\n{code}"})


def planning(name: str, *depends_on: str) -> dict[str, Any]:
    """A plan with a module that has a scanner, and another one."""
    return plan(planned("scan"), planned(name, *depends_on), task_facing=name)


def run(directory: Path, planned_first: dict[str, Any], **answers: list[Any]) -> DebateWorkbench:
    """A task to its end; `scan` has the scanner. The answers are by place, `read_1` for `read/round-1/proposer`."""
    places = {
        f"{name.replace('_', '/round-')}/{'planner' if name.startswith('plan') else 'proposer'}": said
        for name, said in answers.items()
    }
    given = {"scan/round-1/proposer": [drafted("scan", SCANNER)], **places}
    bench = DebateWorkbench(directory, script(given, planned_first))
    bench.begin()
    return bench


def everything_told(bench: DebateWorkbench, subject: str) -> str:
    """All that the roles were told of a subject, answers to what they handed in among it."""
    told = [one.message for one in bench.roles.asked if one.place.subject == subject]
    return "\n".join([*told, *bench.roles.refusals])


def test_lines_of_a_dependency_come_back_once_with_its_function(directory: Path):
    """The Proposer sees its own lines and what to call (D-54-03)."""
    turns = [drafted("read", RENAMED), drafted("read")]
    bench = run(directory, planning("read", "scan"), read_1=turns)
    assert bench.status() == "SHIPPED"
    (told,) = bench.roles.refusals
    assert f"source.repeated at {PLACE} 6-29" in told
    assert "repeat the dependency `scan`, names apart; call `scan` in their place" in told
    assert "found" not in everything_told(bench, "read")


def test_lines_that_no_call_replaces_are_taken_and_the_judges_know(directory: Path):
    """Handed in again they go to the judges, as an observation without source (D-54-03)."""
    bench = run(directory, planning("read", "scan"), read_1=[drafted("read", RENAMED)] * 2)
    assert bench.status() == "SHIPPED"
    assert len(bench.roles.refusals) == 1
    challenger = bench.roles.told_at("read/round-1/challenger")
    assert f"{PLACE} 6-29: these lines repeat the dependency `scan`, names apart" in challenger
    assert "words" not in challenger


def test_lines_of_a_module_that_is_no_dependency_go_back_to_the_planner(directory: Path):
    """A fault of the plan: the contract debate is reopened at once, with the lines; then the module calls what it repeated,
    and nobody has lost a revision (D-54-03)."""
    turns = [drafted("read", RENAMED)]
    bench = run(
        directory,
        planning("read"),
        read_1=turns,
        plan_2=[planning("read", "scan")],
        read_2=[drafted("read")],
    )
    assert bench.status() == "SHIPPED"
    assert bench.roles.refusals == []
    assert [one for one in bench.trace if one.startswith("read/") and "round-1" in one] == [
        "read/round-1/proposer"
    ]
    planner = bench.roles.told_at("plan/round-2/planner")
    ref = f"{bench.sealed()['scan'].parent.name}@1.0.0"
    assert f"{PLACE} 6-29: these lines repeat the sealed module `scan`, {ref}, names apart" in planner
    assert "Fault: plan" in planner
    assert f"{PLACE} 6-29" in bench.roles.told_at("read/round-2/proposer")
    assert "words" not in planner


def test_lines_that_are_repeated_again_halt_the_task_for_a_person(directory: Path):
    """The plan came back as it was: a person plans (F-10-14). Their plan stands, whatever the draft repeats (D-54-03)."""
    turns = [drafted("read", RENAMED)]
    bench = run(directory, planning("read"), read_1=turns, plan_2=[planning("read")], read_2=turns)
    assert bench.status() == "HALTED"
    raised = bench.escalation
    assert raised.recommended_resolution is Action.REVISE_PLAN
    assert raised.details["cause"] == "plan"
    assert raised.details["module"] == "read"
    assert f"{PLACE} 6-29" in raised.details["evidence"][0]["evidence"]
    answer(bench, "REVISE_PLAN", {"revised_micro_plan": plan(planned("read"))})
    assert bench.status() == "SHIPPED"


def test_a_module_that_another_task_shipped_counts(directory: Path):
    """Of a task that nothing depends on (D-54-03)."""
    turns = [drafted("read", RENAMED)]
    given = {
        "scan/round-1/proposer": [drafted("scan", SCANNER)],
        "TSK-002/plan/round-1/planner": [plan(planned("read"))],
        "TSK-002/plan/round-2/planner": [plan(planned("read"))],
        "read/round-1/proposer": turns,
        "read/round-2/proposer": turns,
    }
    bench = DebateWorkbench(directory, script(given, plan(planned("scan"))))
    assert bench.begin(([], [])) == "SHIPPED"
    assert bench.status(1) == "HALTED"
    assert "repeat the sealed module `scan`" in bench.escalation.details["confirmed"]
