"""What a debate over one contract takes in tokens when a Challenger follows ever finer cases (DESIGN §11, exact changes).

    python benchmarks/contract_debate.py

The contract of a finder of links meets 11, then 5, then 4 failures, as a run at a desk did. The failures are the same
texts each time; what differs is what they carry:

- nothing: each round costs a revision
- exact changes in the first round, which the Arbiter takes over (target: 0.4 of the tokens)

The roles answer from a script through the real requests, tools, store and graphs. Four characters count as a token: every
message that a model is sent, the tools beside it, and what it answers. Ends with 1 if the debate takes more rounds than it
should, or no fewer tokens.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from langchain_core.messages import BaseMessage

from specwright.ports import Place
from testkit.loop.debate_workbench import DebateWorkbench, modelled, script
from testkit.loop.role_answers import amending, failing, plan, planned

MODULE = "find_links"
FOUND = (11, 5, 4)
"""Failures by round."""

CONSTRAINTS = [
    f"a text whose line {n} begins with a fence of {n} marks is read as code" for n in range(3, 12)
]


BEYOND = "out of scope: fences, tabs and quotes within quotes or list items"
ALL = [1, 2, 3, 4, 5]
"""Changes that the first round proposes, each once: four texts and a scope limit."""


class Spent(NamedTuple):
    """What a debate took.

    Args:
        requests: Of planner and judges.
        tokens: Of requests and answers.
        rounds: Of the debate.
    """

    requests: int
    tokens: int
    rounds: int


def contract(revision: int) -> dict[str, Any]:
    """The plan as it is in a round: each adds what was asked for."""
    texts = [f"case {n} of round {r} gives no link" for r in range(1, revision) for n in range(FOUND[r - 1])]
    parameter = {"name": "text", "type": "str", "constraints": [*CONSTRAINTS, *texts]}
    return plan(planned(MODULE, inputs=[parameter]))


def found(number: int, *, exact: bool = False) -> dict[str, Any]:
    """The FAIL of a round: most of its cases lie beyond what the page asks for."""
    said = failing()
    (one,) = said["failures"]
    failures: list[dict[str, Any]] = []
    for n in range(FOUND[number - 1]):
        case = (
            f"The text `- > ~~~` of case {n} in round {number} opens a fence within a quote within a list item, and nothing "
            "says which of its links come out."
        )
        told = {
            "invariant": "The contract is total.",
            "evidence": case,
            "required_change": f"Say what case {n} gives, as a constraint of the text.",
        }
        detail = BEYOND if n % 3 else f"a link within a heading of level {n} is found as any other"
        change = {"action": "ADD", "target": f"contract:{MODULE}#/inputs/0/constraints/-", "detail": detail}
        failures.append({**one, **told, **({"exact_changes": [change]} if exact else {})})
    return {**said, "failures": failures}


def debated(answers: dict[str, Any]) -> Spent:
    """Run a debate, and count."""
    sizes: list[int] = []
    said = script(answers, contract(1))

    def observe(place: Place, messages: list[BaseMessage], tools: Any) -> None:
        if place.subject in ("plan", "contracts"):
            sizes.append(sum(len(str(one.content)) for one in messages) + len(json.dumps(tools, default=str)))
            sizes.append(len(json.dumps(said.answer(place, 0).answer)))

    with (
        tempfile.TemporaryDirectory() as folder,
        DebateWorkbench(Path(folder), said, roles=modelled(said, observe)) as bench,
    ):
        bench.begin()
        rounds = len(
            [one for one in bench.trace if one.startswith("contracts/") and one.endswith("challenger")]
        )
    return Spent(len(sizes) // 2, sum(sizes) // 4, rounds)


def main() -> None:
    """Measure and print."""
    challenger, arbiter, planner = (
        "contracts/round-{}/challenger",
        "contracts/round-{}/arbiter",
        "plan/round-{}/planner",
    )
    revised = {planner.format(number): [contract(number)] for number in (2, 3)}
    mended = {
        "action": "MODIFY",
        "target": f"contract:{MODULE}#/purpose",
        "detail": "Find the links of a text, no others.",
    }
    last = amending((mended["action"], mended["target"], mended["detail"]))
    every = {challenger.format(n): [found(n)] for n in (1, 2, 3)}
    variants = {
        "each failure costs a revision": (3, {**revised, **every, arbiter.format(3): [last]}),
        "with exact changes": (
            1,
            {
                challenger.format(1): [found(1, exact=True)],
                arbiter.format(1): [{**amending(), "accepted_changes": ALL}],
            },
        ),
    }
    first, sound = 0, True
    for name, (rounds, answers) in variants.items():
        spent = debated(answers)
        first = first or spent.tokens
        sound = sound and spent.rounds == rounds and spent.tokens <= first
        print(
            f"{name:30} {spent.rounds} rounds, {spent.requests} requests, {spent.tokens:>7,} tokens: "
            f"{spent.tokens / first:.2f}"
        )
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
