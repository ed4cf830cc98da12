"""A product of two tasks and the changes of it: `initials` of a name, and the `banner` that calls it.

The playbook is that of the nameplate with the second task of the doors. `criterion` adds a criterion to the first task,
which is an invariant more; `broken` gives its function another argument, so that the second task is migrated.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import specwright
from testkit.loop.doors import DOORS
from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK, replace
from testkit.shared_fixtures import made_once

__all__ = [
    "NEW_CRITERION",
    "REQUEST",
    "banner_product",
    "broken",
    "criterion",
    "shop",
    "spec_of_change",
    "tasks_of",
    "write_json",
]

INITIALS = "TSK-001/initials/round-1/deliverable"
HYPHEN = "a hyphen parts two words"
REQUEST = "A hyphen parts two words, too."
NEW_CRITERION = "initials returns 'AML' for 'ada-maria lovelace'."


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A playbook, the product that was built from it, the change of it at the gate, and as it is built; only copied."""
    # outside of what is copied: the project remembers where its playbook is
    playbook = banner_product(tmp_path_factory.mktemp("changes") / "playbook")
    criterion(playbook)

    def make(base: Path) -> None:
        shutil.copytree(playbook, base / "playbook")
        options = ("--spec", NAMEPLATE_SPEC, "--model", f"playbook:{playbook}", "--approve")
        built = specwright("run", base / "released", *options)
        assert built.code == 0, built
        shutil.copytree(base / "released", base / "waiting")
        waiting = specwright("change", base / "waiting", "--request", REQUEST, "--json")
        assert waiting.code == 3, waiting
        (base / "gate.json").write_text(waiting.out)
        shutil.copytree(base / "waiting", base / "changed")
        changed = specwright("approve", base / "changed")
        assert changed.code == 0, changed

    return made_once(tmp_path_factory, worker_id, "changes", make)


def banner_product(directory: Path) -> Path:
    """The playbook of the product as it is first built."""
    shutil.copytree(PLAYBOOK, directory)
    spec = json.loads((DOORS / "researcher/spec.json").read_text())
    del _tasks(spec)[2:]
    write_json(directory / "researcher/spec.json", spec)
    _banner(directory / "TSK-002")
    return directory


def criterion(playbook: Path, number: int = 1) -> None:
    """The first change, or a later one: a hyphen parts words, too."""
    attempt = f"attempt-{number + 1}"
    spec = spec_of_change(playbook, "1.1.0")
    _tasks(spec)[0]["acceptance_criteria"].append(NEW_CRITERION)
    write_json(playbook / f"change-{number}/spec.json", spec)
    plan = _next_attempt(playbook, number + 1)
    plan["outputs"][0]["invariants"].append(HYPHEN)
    _write_plan(playbook / "TSK-001" / attempt, plan)
    deliverable = playbook / "TSK-001" / attempt / "initials/round-1/deliverable"
    replace(deliverable / "implementation/__init__.py", "name.split()", 'name.replace("-", " ").split()')
    replace(deliverable / "implementation/__init__.py", "in order\n", f"in order\n            - {HYPHEN}\n")
    _add_test(
        deliverable, "test_a_hyphen_parts_words", '"ada-maria lovelace"', "AML", "/outputs/0/invariants/1"
    )


def broken(playbook: Path, number: int = 2) -> None:
    """A later change: what stands between the letters is said by the caller, so that `banner` has to be migrated."""
    spec = spec_of_change(playbook, "2.0.0", number - 1)
    _tasks(spec)[0]["acceptance_criteria"][0] = "initials returns 'A.L' for 'ada lovelace' and '.'."
    _tasks(spec)[0]["io_contract_sketch"]["inputs"] = "A name, and the text that stands between its letters."
    write_json(playbook / f"change-{number}/spec.json", spec)
    plan = _next_attempt(playbook, number + 1)
    plan["inputs"].append({"name": "between", "type": "str", "constraints": []})
    plan["outputs"][0]["invariants"][0] = (
        "the first letter of each word that has one, as a capital, in order, with between between them"
    )
    place = playbook / f"TSK-001/attempt-{number + 1}"
    _write_plan(place, plan)
    deliverable = place / "initials/round-1/deliverable"
    for path in sorted(deliverable.rglob("*")):
        if path.suffix in (".py", ".md"):
            text = path.read_text().replace('")', '", "")').replace("initials(name)", 'initials(name, "")')
            path.write_text(text.replace('match="name has no letter", "")', 'match="name has no letter")'))
    source = deliverable / "implementation/__init__.py"
    words = 'name.replace("-", " ").split()' if number > 1 else "name.split()"
    source.write_text(
        '__all__ = ["initials"]\n\n\ndef initials(name: str, between: str) -> str:\n    """Make."""\n'
        '    letters = [next((letter for letter in word if letter.isalpha()), "") for word in WORDS]\n'
        '    if not any(letters):\n        raise ValueError("name has no letter")\n'
        "    return between.join(letter.upper() for letter in letters if letter)\n".replace("WORDS", words)
    )
    _add_test(
        deliverable,
        "test_the_caller_says_what_is_between",
        '"ada lovelace", "."',
        "A.L",
        "/outputs/0/invariants/0",
    )
    _banner(playbook / "TSK-003", "initials(name, '')")


def spec_of_change(playbook: Path, version: str, after: int = 0) -> dict[str, Any]:
    """The spec that a change of a number made, under the next version; of none, the first one."""
    path = playbook / (f"change-{after}/spec.json" if after else "researcher/spec.json")
    return {**json.loads(path.read_text()), "spec_version": version}


def tasks_of(project: Path) -> dict[str, Any]:
    """The tasks of a project by their ids in the spec."""
    return {row["spec_task_id"]: row for row in specwright("tasks", project, "--json").document["tasks"]}


def _tasks(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return spec["pillars"][0]["epics"][0]["stories"][0]["tasks"]


def _next_attempt(playbook: Path, attempt: int) -> dict[str, Any]:
    """The answers of an attempt at the first task, those of the one before to begin with; its module as it is planned."""
    task = playbook / "TSK-001"
    before = task / f"attempt-{attempt - 1}"
    source = before if before.is_dir() else task
    shutil.copytree(source, task / f"attempt-{attempt}", ignore=shutil.ignore_patterns("attempt-*"))
    return json.loads((source / "planner.json").read_text())["plan"]["modules"][0]


def _write_plan(place: Path, module: dict[str, Any]) -> None:
    script = json.loads((place / "planner.json").read_text())
    script["plan"]["modules"] = [module]
    write_json(place / "planner.json", script)


def _banner(task: Path, call: str = "initials(name)") -> None:
    """The answers about the banner, which calls the first module like this."""
    shutil.copytree(DOORS / "TSK-002", task)
    source = task / "banner/round-1/deliverable/implementation/__init__.py"
    replace(source, "{initials(name)}", f"{{{call}}}")


def _add_test(deliverable: Path, name: str, given: str, letters: str, pointer: str) -> None:
    tests = deliverable / "tests/test_initials.py"
    tests.write_text(tests.read_text() + f'\n\ndef {name}():\n    assert initials({given}) == "{letters}"\n')
    claims = json.loads((deliverable / "tests/obligations.json").read_text())
    write_json(deliverable / "tests/obligations.json", {**claims, name: [pointer]})


def write_json(path: Path, value: Any) -> None:
    """A JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
