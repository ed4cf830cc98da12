"""The playbook of the example product with two changes of it: a criterion more, then an interface that breaks.

Both are of `split_evenly`, which `compute_balances` calls. What is answered about them is made from the example's own
answers: the first change adds an invariant with its test, the second has the function return pairs instead of a dict.
"""

import ast
import json
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

from testkit.examples.tabkeeper_playbook import EXAMPLE, PLAYBOOK
from testkit.loop.changed_products import spec_of_change, write_json

__all__ = ["changed_tabkeeper"]

ZERO = "an amount of zero gives everybody zero"
PAIRS = "list[tuple[str, Decimal]]"


def changed_tabkeeper(directory: Path) -> Path:
    """The playbook of the product and of its two changes."""
    shutil.copytree(PLAYBOOK, directory, ignore=shutil.ignore_patterns("change-1", "attempt-2"))
    spec = spec_of_change(directory, "1.1.0")
    _task(spec)["acceptance_criteria"].append(
        "split_evenly returns zero for everybody for an amount of zero."
    )
    write_json(directory / "change-1/spec.json", spec)
    plan = _attempt(directory, 2)
    plan["outputs"][0]["invariants"].append(ZERO)
    _planned(directory / "TSK-002/attempt-2", plan)
    tests = directory / "TSK-002/attempt-2/split_evenly/round-1/deliverable/tests"
    source = tests / "test_split_evenly.py"
    source.write_text(
        source.read_text()
        + '\n\ndef test_zero_is_zero_for_everybody():\n    zero = Decimal("0.00")\n'
        + '    assert split_evenly(Decimal("0"), ["Ana", "Ben"]) == {"Ana": zero, "Ben": zero}\n'
    )
    claims = json.loads((tests / "obligations.json").read_text())
    claims["test_zero_is_zero_for_everybody"] = ["/outputs/0/invariants/3"]
    write_json(tests / "obligations.json", claims)
    _pairs(directory)
    return directory


def _pairs(directory: Path) -> None:
    """The second change: pairs of name and share."""
    spec = spec_of_change(directory, "2.0.0", 1)
    _task(spec)["io_contract_sketch"]["outputs"] = (
        "A list of pairs of a name and its share as a Decimal with two places; the shares add up to the amount and "
        "differ by at most one cent."
    )
    acceptance = _task(spec)["acceptance"]
    acceptance["provides"] = [acceptance["provides"][0].replace("dict[str, Decimal]", PAIRS)]
    shown = acceptance["examples"][0]
    shown["gives"] = repr(list(eval(shown["gives"], {"Decimal": Decimal}).items()))
    (adds_up,) = acceptance["properties"]
    adds_up["code"] = adds_up["code"].replace(
        'split_evenly(bill, ["Ana", "Ben", "Cleo"]).values()',
        'share for _, share in split_evenly(bill, ["Ana", "Ben", "Cleo"])',
    )
    write_json(directory / "change-2/spec.json", spec)
    plan = _attempt(directory, 3)
    plan["outputs"][0]["type"] = PAIRS
    _planned(directory / "TSK-002/attempt-3", plan)
    deliverable = directory / "TSK-002/attempt-3/split_evenly/round-1/deliverable"
    source = deliverable / "implementation/__init__.py"
    text = source.read_text().replace("-> dict[str, Decimal]:", f"-> {PAIRS}:")
    head, body, tail = text.partition("    return {\n        name: ")
    share, _, places = body and tail.partition(" for ")
    source.write_text(f"{head}    return [\n        (name, {share}) for {places.replace('    }', '    ]')}")
    tests = deliverable / "tests/test_split_evenly.py"
    tests.write_text(ast.unparse(_InDict().visit(ast.parse(tests.read_text()))) + "\n")
    examples = deliverable / "examples.md"
    for found in EXAMPLE.finditer(text := examples.read_text()):
        if (said := found["said"]).startswith("{"):
            pairs = list(eval(said, {"Decimal": Decimal}).items())
            text = text.replace(said, repr(pairs))
    examples.write_text(text)
    shutil.copytree(directory / "TSK-003", directory / "TSK-007")
    source = directory / "TSK-007/compute_balances/round-1/deliverable/implementation/__init__.py"
    source.write_text(
        source.read_text().replace("split_evenly(amount, people).items()", "split_evenly(amount, people)")
    )


class _InDict(ast.NodeTransformer):
    """Makes a dict of what the function returns, for tests that were written for one."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        named = isinstance(node.func, ast.Name) and node.func.id == "split_evenly"
        return ast.Call(ast.Name("dict", ast.Load()), [node], []) if named else node


def _attempt(directory: Path, attempt: int) -> dict[str, Any]:
    """The answers of an attempt at the task, those of the one before to begin with, in one round; its module."""
    task = directory / "TSK-002"
    before = task / f"attempt-{attempt - 1}"
    target = task / f"attempt-{attempt}"
    if before.is_dir():
        shutil.copytree(before, target)
    else:
        shutil.copytree(task, target, ignore=shutil.ignore_patterns("attempt-*", "round-2", "TSK-*"))
        shutil.copytree(task / "split_evenly/round-2", target / "split_evenly/round-1", dirs_exist_ok=True)
    return json.loads((target / "planner.json").read_text())["plan"]["modules"][0]


def _planned(place: Path, module: dict[str, Any]) -> None:
    script = json.loads((place / "planner.json").read_text())
    script["plan"]["modules"] = [module]
    write_json(place / "planner.json", script)


def _task(spec: dict[str, Any]) -> dict[str, Any]:
    every = (t for p in spec["pillars"] for e in p["epics"] for s in e["stories"] for t in s["tasks"])
    return next(task for task in every if task["task_id"] == "TSK-002")
