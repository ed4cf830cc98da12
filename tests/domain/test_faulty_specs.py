"""Twenty-four faults of a spec, each found before a person approves it (D52; `testkit/domain/faulty_specs.toml`)."""

import tomllib
from typing import Any

from specwright.domain.spec.completeness import validate
from testkit.domain.product_specs import draft_data, epic_data, pillar_data, story_data, task_data
from testkit.paths import ROOT

SPECS: list[dict[str, Any]] = tomllib.loads((ROOT / "tests/testkit/domain/faulty_specs.toml").read_text())[
    "spec"
]
IMPORT = "from table_keeper import parse\n"


def spec_of(one: dict[str, Any]) -> dict[str, Any]:
    """The spec of a row."""
    count, shows = one.get("behaviours", 1), [one.get("criteria", 1)]
    items = [
        {"title": f"Example {n}", "criteria": shows, "code": IMPORT + code, "gives": gives}
        for n, (code, gives) in enumerate(one.get("examples", []), 1)
    ]
    properties = [
        {
            "title": f"Property {n}",
            "criteria": shows,
            "code": IMPORT + code,
            "errors": errors,
            "variables": {"text": kind[0] if kind else "str"},
        }
        for n, (code, errors, *kind) in enumerate(one.get("properties", []), 1)
    ]
    acceptance = {
        "provides": one.get("provides", ["parse(text: str) -> int"]),
        "examples": items,
        "properties": properties,
        "unexecutable": [] if count > 1 else [{"criterion": 2, "why": "It is about the manual."}],
    }
    criteria = [f"Returns the number of text {n}" for n in range(max(2, count))]
    task = task_data(1, acceptance=acceptance, acceptance_criteria=criteria)
    return draft_data([pillar_data([epic_data([story_data([task])])])])


def test_faulty_specs_are_found_before_anybody_approves_them():
    """All faults at once, each once, with the corrected text where code knows it (D-52-01, D-40-05)."""
    assert len(SPECS) == 24
    wrong = {}
    for one in SPECS:
        report = validate(spec_of(one))
        found = [str(found) for found in (*report.errors, *report.warnings)]
        told = [text for text in found if one["says"] in text]
        known = one["says"], *one.get("others", [])
        unexpected = [error for error in report.errors if all(words not in str(error) for words in known)]
        if len(told) != 1 or unexpected:
            wrong[one["fault"]] = found
    assert not wrong


def test_the_table_of_faults_in_the_docs_is_that_of_the_checks():
    """Each fault that the page shows, with what is said of it (D-52-01)."""
    page = (ROOT / "docs/costs.md").read_text().partition("| fault | what is said of it |\n|---|---|\n")[2]
    shown = page.splitlines()
    assert shown
    assert set(shown) <= {f"| {one['fault']} | {one['says']} |" for one in SPECS}
