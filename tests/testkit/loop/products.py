"""The small products that the factory makes in these tests, and scripts that go wrong.

`nameplate` is one task with one module. `pair` is laid over it: two modules that do not know each other, and a second
task that waits for the first.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from testkit.paths import EXAMPLES, PRODUCTS

__all__ = [
    "NAMEPLATE",
    "NAMEPLATE_SPEC",
    "PLAYBOOK",
    "failing",
    "pair",
    "rejecting",
    "replace",
    "rewrite",
    "untested",
]

NAMEPLATE_SPEC = EXAMPLES / "nameplate" / "SPEC.md"
PLAYBOOK = EXAMPLES / "nameplate" / "playbook"
NAMEPLATE = f"playbook:{PLAYBOOK}"


def pair(directory: Path) -> Path:
    """The playbook of the pair, to be spoilt."""
    shutil.copytree(PLAYBOOK, directory)
    shutil.copytree(PRODUCTS / "pair" / "playbook", directory, dirs_exist_ok=True)
    return directory


def rewrite(path: Path, **changes: Any) -> None:
    """Change keys of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def replace(path: Path, old: str, new: str) -> None:
    """Change a text of a file, which is there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def failing(debate: Path, rounds: int) -> None:
    """Let the Challenger say FAIL in the first rounds of a debate, each time for another reason."""
    first = debate / "round-1"
    for number in range(1, rounds + 1):
        place = debate / f"round-{number}"
        if number > 1:
            shutil.copytree(first, place)
        said = json.loads((first / "challenger.json").read_text())
        said["rubric_assessments"][5]["assessment"] = "NOT_MET"
        failure = {
            "invariant": "/outputs/0/invariants/0: as the contract has it",
            "evidence": f"In round {number} the name of {number} words is not shown by any listed test.",
            "required_change": f"Show a name of {number} words by a test of its own.",
        }
        if number > 1 and debate.name != "contracts":
            said["untested_criteria"] = _untested(debate)
        rewrite(place / "challenger.json", **{**said, "verdict": "FAIL", "failures": [failure]})


def untested(place: Path) -> None:
    """Let the Challenger of a round say of each criterion why it hands in no test."""
    rewrite(place / "challenger.json", untested_criteria=_untested(place.parent))


def _untested(debate: Path) -> list[dict[str, Any]]:
    why = "The listed tests try it with every value that matters."
    return [{"criterion": number, "reason": why} for number in range(1, _criteria(debate) + 1)]


def _criteria(debate: Path) -> int:
    """How many criteria the task of a debate has."""
    spec = json.loads((debate.parents[1] / "researcher/spec.json").read_text())
    stories = (story for pillar in spec["pillars"] for epic in pillar["epics"] for story in epic["stories"])
    counts = {
        task["task_id"]: len(task["acceptance_criteria"]) for story in stories for task in story["tasks"]
    }
    return counts[debate.parent.name]


def rejecting(round_directory: Path, why: str = "Nothing of what was asked for was shown.") -> None:
    """Let the Arbiter say REJECT in a round."""
    ruling: dict[str, Any] = {
        "decision": "REJECT",
        "ship_directive": "NO_SHIP",
        "rationale": why,
        "amendments": [],
    }
    (round_directory / "arbiter.json").write_text(json.dumps(ruling))
