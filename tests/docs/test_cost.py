"""What the README says a run costs is what the recorded runs took."""

import re
from collections import Counter, defaultdict
from decimal import Decimal

import pytest

from specwright.domain.costs.cost import Usage
from specwright.domain.costs.estimate import (
    HIGHEST,
    LOWEST,
    MODULE,
    MODULES_PER_TASK,
    TASK,
    research_estimate,
)
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
    """Of a task and a module, by role, to the token; its range holds every recorded task (D-S9-14)."""
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
    for name, figures in {"task": TASK, "module": MODULE}.items():
        for role, usage in figures.items():
            mean = [round(parts[name][f"{role} {way}"] / count[name]) for way in ("in", "out")]
            assert mean == list(usage[:2]), (name, role)
    for task, tokens in took.items():
        usages = [*TASK.values(), *[usage for usage in MODULE.values() for _ in modules[task]]]
        assert LOWEST <= tokens / sum(map(sum, usages)) <= HIGHEST, task


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_range_before_the_research_holds_every_recorded_run(row: tuple[str, ...]) -> None:
    """By the words of its SPEC.md, also where a draft was refused twice (D-S9-14)."""
    directory = ROOT / row[0]
    records = read_records(directory / "recorded.journal", "model")
    took = sum(
        sum(tokens_of(record.answer)) for record in records if record.place.scope == "product.1/researcher"
    )
    estimate = research_estimate((directory / "SPEC.md").read_text(encoding="utf-8"), lambda _, __: None)
    low, high = estimate.range_of_tokens
    assert low - 500 <= took <= high
    assert low < estimate.tokens < high


@pytest.mark.parametrize(
    ("words", "took"), [(60, 5_000), (206, 6_000), (206, 36_000), (206, 82_000), (418, 33_000)]
)
def test_the_range_before_the_research_holds_what_first_users_met(words: int, took: int) -> None:
    """The least, the mean and the most of their SPEC.md, with what the cheapest and the dearest took (D-S9-14)."""
    low, high = research_estimate("words " * words, lambda _, __: None).range_of_tokens
    assert low - 500 <= took <= high


def test_the_estimate_before_the_research_goes_by_spec_md() -> None:
    """A longer one costs more, an approved spec that is shown besides is counted, and money follows the price (D-S9-14)."""

    def price(role: str, usage: Usage) -> Decimal:
        assert role == "researcher"
        return Decimal(usage.input_tokens + 10 * usage.output_tokens) / 1_000_000

    short, long = (research_estimate("one word " * number, price) for number in (30, 300))
    assert short.tokens < long.tokens
    assert short.range_of_tokens < long.range_of_tokens
    assert research_estimate("one word " * 30, price, 40_000).tokens - short.tokens == 1.6 * 10_000
    assert short.range_of_usd is not None
    assert short.usd is not None
    cheap, dear = short.range_of_usd
    assert cheap < short.usd < dear
    assert cheap == price("researcher", Usage(2_300 + 9 * 30 // 4 + 1, 1_500 + 7 * 60))
