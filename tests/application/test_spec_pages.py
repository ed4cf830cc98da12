"""The spec as the person who approves it reads it (F§3.2.4)."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from specwright.application.pages import full_spec_page, spec_page, spec_patch
from specwright.domain.spec.completeness import Deficiency, Severity, validate
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft
from specwright.ports import ResearchSource
from testkit.domain.product_specs import draft_data, epic_data, pillar_data, spec_data, story_data, task_data

_SPEC = ProductSpec.model_validate(spec_data())


def _texts(value):
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _headings(text):
    return [line for line in text.splitlines() if re.match(r"#{1,6}(\s|$)", line)]  # `#tag` is text


def test_everything_that_the_spec_says_is_shown():
    """F-3.2.4-01: the full spec, every text of it, on a page beside the short one, which fits a screen or two."""
    shown, whole = spec_page(_SPEC), full_spec_page(_SPEC)
    assert not [text for text in _texts(draft_data()) if text not in whole]
    assert "SPEC-001, version 1.0.0: 3 tasks. 6 criteria, 0 executable: 0 examples." in shown
    assert "`spec_in_full.md`" in shown
    assert "PIL-001" not in shown
    assert len(shown.splitlines()) < 60


def test_the_headings_are_the_tasks():
    """F-3.2.4-01: readable as an outline."""
    assert _headings(spec_page(_SPEC)) == [
        "# Table keeper",
        "## Parse the header (TSK-001)",
        "## Parse the rows (TSK-002)",
        "## Sort the rows (TSK-003)",
        "## Warnings",
    ]


def test_the_page_of_a_change_begins_with_what_is_different():
    """A patch: criteria and examples by task, then public names, all else, then what the change touches; no markup, and a
    field that only the full page has is in it too (F-3.2.4-01)."""
    example = {
        "title": "A name",
        "criteria": [1],
        "code": "from tables import head\nhead('a')",
        "gives": "'a'",
    }
    task = draft_data()["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    data = draft_data()
    changed = data["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    changed["acceptance_criteria"] = [*task["acceptance_criteria"], "head returns its first name."]
    changed["acceptance"] = {"provides": ["head(text: str) -> str"], "examples": [example]}
    changed["subtasks"] = [*task["subtasks"], "Find the first name"]
    after = ProductSpecDraft.model_validate(data).stamped(_SPEC.created_at, "2026-11-30T00:00:00Z")
    patch = spec_patch(_SPEC, after)
    assert [line for line in patch if line.startswith("@@")] == [
        "@@ TSK-001 Parse the header @@",
        "@@ TSK-001 Parse the header: A name @@",
        "@@ Public names @@",
        "@@ TSK-001 Parse the header, its other fields @@",
    ]
    assert not [line for line in patch if "<" in line]
    assert {"+'a'", "+def head(text: str) -> str", "+  - Find the first name"} <= {*patch}
    page = spec_page(after, changes=patch, affected=["changed: TSK-001"])
    assert _headings(page)[1] == "## Changes since the last version"
    assert page.index("+'a'\n") < page.index("- changed: TSK-001\n") < page.index("`spec_in_full.md`")


def test_warnings_are_shown_at_their_place():
    """F-3.2.3-08, F-3.2.4-01: the task, field and message; no number that a person cannot look up."""
    data = draft_data(
        [
            pillar_data(
                [epic_data([story_data([task_data(1, description="Short", subtasks=["Do it", "Do it"])])])]
            )
        ]
    )
    shown = spec_page(ProductSpecDraft.model_validate(data), validate(data).warnings)
    section = shown.split("## Warnings\n\n")[1].split("\n\n<details>")[0]
    assert section.splitlines() == [
        "- TSK-001 description: has fewer than 20 characters",
        "- TSK-001 subtasks: 'Do it' says nearly the same as 'Do it'",
    ]


def test_a_warning_of_the_spec_itself_has_a_place_too():
    """F-3.2.3-08."""
    warning = Deficiency(path="", field="description", severity=Severity.WARNING, message="is thin")
    assert "- description: is thin" in spec_page(_SPEC, [warning])


def test_research_is_shown_with_queries_and_addresses():
    """F-3.2.4-01: a summary of the sources consulted."""
    sources = [
        ResearchSource("csv dialects", ("https://a.example/1", "https://b.example/2")),
        ResearchSource("empty", ()),
    ]
    section = (
        spec_page(_SPEC, sources=sources)
        .split("<summary>Research sources</summary>\n\n")[1]
        .split("\n\n</details>")[0]
    )
    assert (
        section
        == "- csv dialects\n  - https://a.example/1\n  - https://b.example/2\n- empty\n  - nothing came back"
    )


def test_nothing_to_warn_of_and_no_research_are_said():
    """F-3.2.4-01: an empty section would look like a fault."""
    assert "## Warnings\n\nNone." in spec_page(_SPEC)
    assert "Research sources</summary>\n\nNo web search was made: " in spec_page(_SPEC)


@pytest.mark.parametrize(
    "told",
    ["files", "SQLite files", "standard library", "requests over HTTP", "pass such things in as values"],
)
def test_the_scope_of_a_module_is_said(told):
    """D-23-01: before a person approves what version 1 cannot build."""
    assert told in spec_page(_SPEC).partition("<summary>What a module can be</summary>")[2]


def test_allowed_packages_are_part_of_the_scope():
    """D-23-02: those of the project's settings."""
    assert "the standard library, other modules of this product, rich and attrs." in spec_page(
        _SPEC, allowed_packages=["rich", "attrs"]
    )
    assert "the standard library and other modules of this product." in spec_page(_SPEC)


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.text(min_size=1), st.sampled_from(["x\n## Warnings\n\nNone.", "## Scope", "<!--", "```", "x\r# y"])
    ),
    st.text(),
)
def test_no_text_can_forge_a_section(text, query):
    """F-3.2.4-01: a description or a search cannot hide the warnings from the person who approves."""
    data = spec_data()
    data.update(title=text, description=text)
    task = data["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    task.update(name=text, description=text, subtasks=[text, text])
    try:
        spec = ProductSpec.model_validate(data)
    except ValidationError:
        return
    headings = _headings(spec_page(spec, sources=[ResearchSource(query, (query,))]))
    assert [re.match("#+", heading)[0] for heading in headings] == ["#", "##", "##", "##", "##"]
    assert headings[-1] == "## Warnings"
