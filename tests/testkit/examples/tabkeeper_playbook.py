"""The example product's playbook as tests see it: role calls, contracts, deliverables after each round.

Left out: what the factory does with them. Nothing here imports it beyond the domain's schemas.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ship_gate.contract.contract import MicroModuleContract
from specwright.domain.answers import PlanAnswer
from specwright.domain.plan import KnownModules, assign, plan_problems
from testkit.paths import TABKEEPER, TESTS

__all__ = [
    "CALLS",
    "EXAMPLE",
    "PLAYBOOK",
    "SHIPPED",
    "STAGES",
    "TASKS",
    "Call",
    "Stage",
    "contracts",
    "package",
    "pointers",
    "python",
    "read",
    "stage_of",
]

PLAYBOOK = TABKEEPER / "playbook"

EXAMPLE = re.compile(
    r"^## (?P<heading>.+)\n\n(?P<prose>.+)\n\n"
    r"```python\n(?P<code>[\s\S]*?)```\n\n```text\n(?P<said>.*)\n```$",
    re.MULTILINE,
)
"""A section of examples.md (DESIGN §8.1)."""


class Call(NamedTuple):
    """A role call that a run of the playbook makes."""

    role: str
    task: str
    subject: str
    stage: str

    @property
    def answer(self) -> str:
        """Where the playbook keeps its answer."""
        match self.role:
            case "researcher":
                return "researcher/spec.json"
            case "planner":
                return f"{self.task}/planner.json"
            case role:
                return f"{self.task}/{self.subject}/{self.stage}/{role}.json"


def read(name: str) -> Any:
    """A JSON file of the playbook."""
    return json.loads((PLAYBOOK / name).read_text(encoding="utf-8"))


CALLS = [Call(**call) for call in json.loads((TESTS / "examples/expected.json").read_text())["calls"]]
"""The calls in the order of the run."""

TASKS = sorted({call.task for call in CALLS} - {""})


class Stage(NamedTuple):
    """A deliverable as it stands after one call of its Proposer."""

    module: str
    name: str
    folders: tuple[Path, ...]

    def copy_to(self, target: Path) -> Path:
        """The module directory: each round lays what it changes over what was there."""
        for folder in self.folders:
            shutil.copytree(folder, target, dirs_exist_ok=True)
        return target


def _stages() -> Iterator[Stage]:
    folders: dict[str, tuple[Path, ...]] = {}
    for call in CALLS:
        if call.role == "proposer":
            folder = PLAYBOOK / call.task / call.subject / call.stage / "deliverable"
            folders[call.subject] = (*folders.get(call.subject, ()), folder)
            yield Stage(call.subject, call.stage, folders[call.subject])


STAGES = list(_stages())
SHIPPED = {stage.module: stage for stage in STAGES}
"""The last state of each module, in the order in which they ship."""


def stage_of(module: str, name: str) -> Stage:
    """A module's deliverable after a round."""
    return next(stage for stage in STAGES if (stage.module, stage.name) == (module, name))


def contracts() -> dict[str, MicroModuleContract]:
    """The contracts of all plans by name, with made-up ids; fails on a plan that has problems."""
    found: dict[str, MicroModuleContract] = {}
    for task in TASKS:
        plan = PlanAnswer.model_validate(read(f"{task}/planner.json")["plan"])
        refs = {contract.name: contract.ref for contract in found.values()}
        known = KnownModules(refs, frozenset(refs.values()))
        assert plan_problems(plan, known) == []
        ids = iter(f"MM-{number:08x}" for number in range(len(found) + 1, 100))
        found |= assign(plan, "MP-00000001", "T-tabkeeper@1.0.0", known, ids.__next__)[1]
    return found


def pointers(contract: MicroModuleContract) -> set[str]:
    """The obligations that follow from a contract (D12)."""
    data = contract.to_json()
    slots = [("inputs", "constraints"), ("outputs", "invariants")]
    inner = {
        f"/{field}/{i}/{texts}/{j}"
        for field, texts in slots
        for i, slot in enumerate(data[field])
        for j in range(len(slot[texts]))
    }
    return {""} | inner | {f"/{f}/{i}" for f in ("error_surfaces", "effects") for i in range(len(data[f]))}


def package(directory: Path, name: str, replaced: Stage | None = None) -> Path:
    """The shipped modules as one package, and their directories beside it.

    Args:
        directory: Where `<name>/` and `directories/<module>/` are made.
        name: `modules`, as the tests import it, or what the wheel calls it.
        replaced: A state of one module that takes the place of its last one.

    Returns:
        `directory`, to be put on the path.
    """
    for module, shipped in SHIPPED.items():
        stage = replaced if replaced and replaced.module == module else shipped
        built = stage.copy_to(directory / "directories" / module)
        shutil.copytree(built / "implementation", directory / name / module)
    exported = "".join(f"from .{module} import {module}\n" for module in SHIPPED if name != "modules")
    (directory / name / "__init__.py").write_text(exported)
    return directory


def python(arguments: list[str], path: Path, given: str = "") -> str:
    """What a Python of its own prints that sees a package and nothing of this checkout."""
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": str(path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        input=given,
        cwd=path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
