"""`specwright costs`: what a project asked of models, divided as asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import specwright

JOURNAL = Path(".specwright/journal.jsonl")


def test_every_division_has_the_same_total(released: Path) -> None:
    """Each request belongs to one part, so the parts add up to the total, in tokens and money as well (D-S9-13)."""
    records = [json.loads(line) for line in (released / JOURNAL).read_text().splitlines()]
    bought = [record["answer"] for record in records if record["kind"] == "model"]
    for number, answer in enumerate(bought):
        usage = {"input_tokens": 10 << number, "output_tokens": 1 << number}
        answer["message"]["data"]["usage_metadata"] = usage
        answer.update(model="openai:gpt-4o", usd=str(1 << number))
    (released / JOURNAL).write_text(
        "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    )
    spent = (1 << len(bought)) - 1
    whole = {
        "requests": len(bought),
        "characters": sum(sum(answer["asked"].values()) for answer in bought),
        "input_tokens": 10 * spent,
        "output_tokens": spent,
        "usd": spent,
    }
    wrong: dict[str, Any] = {}
    for by in ("role", "task", "module", "round", "version"):
        document = specwright("costs", released, "--by", by, "--json").document
        summed = {name: sum(part[name] for part in document["parts"].values()) for name in whole}
        if (summed, {name: document["total"][name] for name in whole}) != (whole, whole):
            wrong[by] = document
    assert wrong == {}


def test_the_share_of_refused_answers_is_said(released: Path) -> None:
    """An answer after which the role answered again at the same place was not accepted (D-S9-13)."""
    lines = (released / JOURNAL).read_text().splitlines()
    assert specwright("costs", released, "--json").document["refused"]["requests"] == 0
    assert "Refused" not in specwright("costs", released).out
    place = next(number for number, line in enumerate(lines) if '"submit_proposal"' in line)
    record = json.loads(lines[place])
    record["ordinal"] += 1
    lines.insert(place + 1, json.dumps(record, separators=(",", ":")))
    (released / JOURNAL).write_text("".join(f"{line}\n" for line in lines))
    document = specwright("costs", released, "--json").document
    assert document["refused"]["requests"] == 1
    requests = document["total"]["requests"]
    assert f"asked for again: 1 of {requests}" in specwright("costs", released).out


def test_each_change_has_its_own_costs(released: Path) -> None:
    """What was asked from the first step of a change on is its own, by `--by version` (D-S9-13)."""
    with (released / JOURNAL).open("r+") as journal:
        lines = [one for one in journal if '"kind":"model"' in one]
        marks = (
            f'{{"scope":"change-{n}/files","kind":"step","ordinal":0,"request":"","answer":null}}\n'
            for n in (1, 2)
        )
        again = [
            one.replace('"scope":"', '"scope":"TSK-090.1/x/').replace("product.1/", "y/z/") for one in lines
        ]
        journal.writelines([next(marks), *again[:2], next(marks), again[-1]])
    parts = specwright("costs", released, "--by", "version", "--json").document["parts"]
    assert {name: part["requests"] for name, part in parts.items()} == {
        "first version": len(lines),
        "change-1": 2,
        "change-2": 1,
    }


def test_by_content_the_parts_are_the_whole(released: Path) -> None:
    """What a request has of each kind of content, and its answer, add up to what it is, tokens that do not divide evenly
    and requests of which an older journal says nothing among them (D-S9-13)."""
    with (released / JOURNAL).open("r+") as journal:
        lines = journal.readlines()
        journal.seek(0)
        journal.truncate()
        for number, line in enumerate(lines):
            record = json.loads(line)
            if record["kind"] == "model":
                counts = {"input_tokens": 1_001 + number, "output_tokens": 7, "total_tokens": 1_008 + number}
                record["answer"]["message"]["data"]["usage_metadata"] = counts
                record["answer"] |= {"asked": {}} if number % 3 else {}
            journal.write(json.dumps(record, separators=(",", ":")) + "\n")
    document = specwright("costs", released, "--by", "content", "--json").document
    sums = {key: sum(part[key] for part in document["parts"].values()) for key in SUMMED}
    assert sums == {key: document["total"][key] for key in SUMMED}
    assert sums["input_tokens"] > 1_001
    assert {"system prompt", "answers", "request"} < set(document["parts"])


SUMMED = ("requests", "characters", "input_tokens", "output_tokens", "unpriced")


def test_scripted_answers_are_said_to_cost_nothing(released_once: Path) -> None:
    """A column of zeros is explained (D-S9-01)."""
    assert (
        "The answers are scripted: they have no tokens and cost nothing."
        in specwright("costs", released_once).out
    )


def test_a_released_product_is_changed_and_not_amended(released_once: Path) -> None:
    """Who looks for the way to the next version is shown it (D-S9-04)."""
    for command in (["approve"], ["amend", "--feedback", "x"], ["reject", "--reasons", "x"]):
        told, asked = specwright(command[0], released_once, *command[1:]), "x" if command[1:] else "TEXT"
        told.refuses(
            "the project is released", f"specwright change {released_once} --request {asked}", code=1
        )


def test_a_directory_without_a_project_is_refused(project: Path) -> None:
    """D-S9-04: as by the other commands that look."""
    told = specwright("costs", project)
    assert (told.code, "no run has begun" in told.err) == (2, True), told


def test_an_unknown_division_is_refused_in_plain_words(released_once: Path) -> None:
    """D-S9-04: what, where, what to do; no words of a library."""
    told = specwright("costs", released_once, "--by", "money")
    assert told.code == 2
    assert told.err.startswith("specwright: invalid value for '--by': 'money' is not one of 'role', 'task'")


@pytest.mark.parametrize(
    "line", ["{}", '{"scope":"TSK-001/x/y/z","kind":"model","ordinal":0,"request":"","answer":[]}']
)
def test_a_damaged_journal_has_no_costs(line: str, released: Path) -> None:
    """D-S9-04: sums of a part of the journal would be taken for sums of the whole."""
    with (released / JOURNAL).open("a") as journal:
        journal.write(line.replace("{}", '{"kind":"model"}') + "\n")
    told = specwright("costs", released)
    assert (told.code, told.out) == (1, ""), told
    assert str(JOURNAL) in told.err
    status = specwright("status", released)
    assert status.code == 0
    assert f"the journal is damaged; `specwright verify {released}` says where" in " ".join(
        status.out.split()
    )
    assert json.loads(specwright("status", released, "--json").out)["asked"] is None
