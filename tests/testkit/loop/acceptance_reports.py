"""Reads acceptance reports, follows their references, and compares them with the approved spec."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from testkit.paths import ROOT

__all__ = ["holds_against_the_spec", "report_of", "resolved"]


def report_of(project: Path) -> dict[str, Any]:
    """The newest report, which holds to its schema."""
    files = sorted(
        (project / "state_store/releases").glob("*/acceptance.json"), key=lambda f: f.stat().st_mtime
    )
    document: dict[str, Any] = json.loads(files[-1].read_text())
    schema = json.loads((ROOT / "schemas/command-line/v1/acceptance.schema.json").read_text())
    Draft202012Validator(schema).validate(document)
    return document


def references(value: Any, key: str = "") -> Iterator[str]:
    """Every reference of a document, wherever it stands."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from references(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from references(part, key)
    elif key in REFERENCES and value is not None:
        yield value


REFERENCES = (
    *("spec", "manifest", "stated_in", "named_in", "ran_in", "ruling", "question", "answered_in"),
    *("contract", "source", "execution_log", "judged_in"),
)


def resolved(project: Path, reference: str) -> Any:
    """What stands at a reference."""
    path, _, pointer = reference.partition("#")
    data = (project / "state_store" / path).read_bytes()
    if not pointer:
        return data
    value = json.loads(data)
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def holds_against_the_spec(project: Path, document: dict[str, Any]) -> None:
    """No criterion of spec.json is missing or different, none is made up, and every reference resolves."""
    spec = json.loads((project / "state_store/product/spec.json").read_text())
    stories = (s for pillar in spec["pillars"] for epic in pillar["epics"] for s in epic["stories"])
    tasks = [task for story in stories for task in story["tasks"]]
    wanted = {
        (task["task_id"], number): text
        for task in tasks
        for number, text in enumerate(task["acceptance_criteria"], 1)
    }
    criteria = {(t["task_id"], c["criterion"]): c for t in document["tasks"] for c in t["criteria"]}
    assert {place: one["text"] for place, one in criteria.items()} == wanted
    assert document["counts"]["criteria"] == len(wanted)
    every = list(references(document))
    assert len(every) > 2 * len(wanted)
    assert all(resolved(project, reference) for reference in every)
    assert all(resolved(project, one["stated_in"]) == one["text"] for one in criteria.values())
