"""The example product's playbook is sound by itself, before any factory runs it.

Checked with the schemas of the domain, plain pytest and plain Python: answers, plans, deliverables after each
round, examples, and the product as its users meet it. What the gate observes, and that the factory asks the
roles in the order of `expected.json`, is shown elsewhere.
"""

import ast
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ship_gate.contract.contract import MicroModuleContract
from testkit.examples.tabkeeper_playbook import (
    CALLS,
    EXAMPLE,
    PLAYBOOK,
    STAGES,
    contracts,
    package,
    pointers,
    python,
    read,
    stage_of,
)
from testkit.sampling import spread

CHALLENGES = [call for call in CALLS if call.role == "challenger"]
each_stage = pytest.mark.parametrize("stage", STAGES, ids=lambda stage: f"{stage.module} {stage.name}")


@pytest.fixture(scope="module")
def locked() -> dict[str, MicroModuleContract]:
    """The contracts of the seven modules by name."""
    return contracts()


def functions(file: Path) -> set[str]:
    """The test functions of a file."""
    defined = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)]
    return {node.name for node in defined if node.name.startswith("test_")}


def test_every_expected_call_has_its_answer_and_no_answer_is_left_over():
    """Answers are selected by place, and a miss is an error (DESIGN §6, D-S6-02)."""
    answers = {path.relative_to(PLAYBOOK).as_posix() for path in PLAYBOOK.rglob("*.json")}
    answers = {name for name in answers if "/deliverable/" not in name} - {
        "playbook.json",
        "change-1/spec.json",
    }
    answers = {name for name in answers if "/attempt-2/" not in name}  # of the change
    assert answers == {call.answer for call in CALLS}
    assert set(read("playbook.json")) == {"name", "description", "written"}


@each_stage
def test_every_obligation_of_a_contract_has_a_test_that_exists(stage: Any, locked: Any, tmp_path: Path):
    """The inventory is true after each round (D-12-01, D-12-03, D-S8-17)."""
    tests = stage.copy_to(tmp_path / "m") / "tests"
    inventory = json.loads((tests / "obligations.json").read_text())
    assert set(inventory) == functions(tests / f"test_{stage.module}.py")
    assert {pointer for shown in inventory.values() for pointer in shown} == pointers(locked[stage.module])


@pytest.mark.parametrize("stage", spread(STAGES, fast=4), ids=lambda stage: f"{stage.module} {stage.name}")
def test_a_deliverable_passes_its_own_tests_in_each_round(stage: Any, tmp_path: Path):
    """Also what the Challenger refuses is a working module: code examines it before (D18, D-18-01)."""
    package(tmp_path, "modules", replaced=stage)
    own = tmp_path / "directories" / stage.module / "tests"
    options = ["-q", "-p", "no:cacheprovider", "--import-mode=importlib", f"--rootdir={tmp_path}"]
    said = python(["-m", "pytest", *options, f"--basetemp={tmp_path / 'scratch'}", str(own)], tmp_path)
    assert re.search(r"\d+ passed in", said)


RUN_EXAMPLES = """
import ast, json, os, sys, tempfile
said = []
for code in json.load(sys.stdin):
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value)
    os.chdir(tempfile.mkdtemp(dir=sys.argv[1]))
    names = {}
    try:
        exec(compile(tree, "example", "exec"), names)
        said.append(["", repr(eval(compile(last, "example", "eval"), names))])
    except Exception as error:
        said.append(["OSError" if isinstance(error, OSError) else type(error).__name__, str(error)])
print(json.dumps(said))
"""


@each_stage
def test_every_example_gives_what_it_says(stage: Any, locked: Any, tmp_path: Path):
    """Each runs as it stands, in a fresh directory; none is missing (F-12-04, D-S8-21, D-S8.1-06)."""
    package(tmp_path, "modules", replaced=stage)
    text = (tmp_path / "directories" / stage.module / "examples.md").read_text(encoding="utf-8")
    examples = list(EXAMPLE.finditer(text))
    assert len(examples) == text.count("\n## ") == text.count("```python") == text.count("```text")
    codes = json.dumps([example["code"] for example in examples])
    outcomes = json.loads(python(["-c", RUN_EXAMPLES, str(tmp_path)], tmp_path, given=codes))
    for example, (error, said) in zip(examples, outcomes, strict=True):
        seen = f"{error}: {said}"[: len(example["said"])] if error else said
        assert seen == example["said"], example["heading"]
    shown = Counter(error for error, _ in outcomes)
    contract = locked[stage.module]
    assert shown >= Counter(surface.name for surface in contract.error_surfaces)
    assert shown[""] > len(contract.effects)


def test_one_module_fails_its_first_round_and_its_fault_is_real(tmp_path: Path):
    """The counterexample that the Challenger argues is what the first proposal does (F-9.3-01, F-9.4-02)."""
    failed = [call for call in CHALLENGES if read(call.answer)["verdict"] == "FAIL"]
    assert [(call.subject, call.stage) for call in failed] == [("split_evenly", "round-1")]
    program = (
        "from decimal import Decimal\nfrom modules.split_evenly import split_evenly\n"
        "print(*split_evenly(Decimal(20), ['Ana', 'Ben', 'Cleo']).values())"
    )
    first = package(tmp_path / "1", "modules", replaced=stage_of("split_evenly", "round-1"))
    assert python(["-c", program], first).split() == ["6.68", "6.66", "6.66"]
    assert python(["-c", program], package(tmp_path / "2", "modules")).split() == ["6.67", "6.67", "6.66"]


def test_a_tab_of_three_is_settled_from_text_to_file(tmp_path: Path):
    """What the user came for, through the package as the wheel has it (D28)."""
    program = """
from pathlib import Path
from tabkeeper import compute_balances, parse_money, render_report, settle_up, write_report
three = ["Ana", "Ben", "Cleo"]
balances = compute_balances([("Ana", parse_money("$90"), three), ("Ben", parse_money("30.00"), three)])
transfers = settle_up(balances)
assert [(a, b, str(c)) for a, b, c in transfers] == [("Cleo", "Ana", "40.00"), ("Ben", "Ana", "10.00")]
size = write_report(render_report(balances, transfers, "Lisbon"), Path("tab.txt"))
assert size == Path("tab.txt").stat().st_size
print(Path("tab.txt").read_text(encoding="utf-8"), end="")
"""
    said = python(["-c", program], package(tmp_path, "tabkeeper"))
    assert said.splitlines()[-2:] == ["Cleo pays Ana 40.00", "Ben pays Ana 10.00"]
