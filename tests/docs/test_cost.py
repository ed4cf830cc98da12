"""What the README says a run costs is what the recorded runs took."""

import re
from collections import Counter, defaultdict

import pytest

from specwright.domain.costs.estimate import HIGHEST, LOWEST, MODULE, MODULES_PER_TASK, RESEARCH, TASK
from specwright.journal import read_records
from specwright.ports.journal import tokens_of
from testkit.paths import ROOT

ROWS = re.findall(
    r"^\| `(examples/[a-z]+)` \([^|]+\) \| (\d+) \| (\d+) \| ([\d,]+) \| ([\d,]+) \|$",
    (ROOT / "README.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


PARTS = {"product": "product", "plan": "task", "contracts": "task"}
"""By the subject of a request, what takes it; any other is a module."""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_of_the_costs_is_what_the_recording_holds(row: tuple[str, ...]) -> None:
    """Tasks and calls exactly, tokens to the thousand (D-S6-05)."""
    records = list(read_records(ROOT / row[0] / "recorded.journal"))
    asked = [tokens_of(record.answer) for record in records if record.place.kind == "model"]
    tasks = {
        re.split("[./]", record.place.scope)[0] for record in records if record.place.scope.startswith("TSK-")
    }
    assert (len(tasks), len(asked)) == (int(row[1]), int(row[2]))
    for column, told in enumerate(row[3:]):
        assert round(sum(tokens[column] for tokens in asked), -3) == int(told.replace(",", ""))


def test_every_recorded_run_is_in_the_table() -> None:
    """Also one that took much (D-S6-05)."""
    recorded = {str(path.parent.relative_to(ROOT)) for path in ROOT.glob("examples/*/recorded.journal")}
    assert {row[0] for row in ROWS} == recorded


def test_the_estimate_is_the_mean_of_the_recorded_runs() -> None:
    """Of a SPEC.md, a task and a module, by role, to the token; its range holds every recorded task (D-S9-14)."""
    parts: dict[str, Counter[str]] = {"product": Counter(), "task": Counter(), "module": Counter()}
    modules, took = defaultdict[tuple[str, str], set[str]](set), Counter[tuple[str, str]]()
    for row in ROWS:
        for record in read_records(ROOT / row[0] / "recorded.journal", "model"):
            run, *middle, role = record.place.scope.split("/")
            tokens = tokens_of(record.answer)
            subjects = middle[0].split("+") if middle else ["product"]
            planned = "task" if subjects[0].startswith("TSK-") else PARTS.get(subjects[0], "module")
            parts[planned].update({f"{role} in": tokens[0], f"{role} out": tokens[1]})
            # a request about several tasks is shared out among them
            tasks = subjects if subjects[0].startswith("TSK-") else [run.partition(".")[0]]
            for task in tasks if planned != "product" else ():
                took[row[0], task] += sum(tokens) // len(tasks)
            if planned == "module":
                modules[row[0], tasks[0]] |= set(subjects)
    count = {"product": len(ROWS), "task": len(modules), "module": sum(map(len, modules.values()))}
    assert count["module"] / count["task"] == MODULES_PER_TASK
    for name, figures in {"product": RESEARCH, "task": TASK, "module": MODULE}.items():
        for role, usage in figures.items():
            mean = [round(parts[name][f"{role} {way}"] / count[name]) for way in ("in", "out")]
            assert mean == list(usage[:2]), (name, role)
    for task, tokens in took.items():
        usages = [*TASK.values(), *[usage for usage in MODULE.values() for _ in modules[task]]]
        assert LOWEST <= tokens / sum(map(sum, usages)) <= HIGHEST, task
