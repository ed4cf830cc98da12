"""Task files: every field of the template, from the spec or not at all (F§4.1, D2)."""

import re
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ship_gate.base.text import fenced, inline, printable
from ship_gate.contract.contract import (
    Dependency,
    ErrorSurface,
    Input,
    MicroModuleContract,
    Modes,
    Output,
    SurfaceKind,
)
from ship_gate.contract.statements import text_for_callers
from specwright.application.pages import render_at_dispatch, render_at_init
from specwright.domain.spec.product_spec import IoContractSketch, ProductSpec, TaskSpec
from specwright.domain.tasks.task_file import (
    ShippedDependency,
    TaskAmendment,
    TaskDefinition,
    amended,
    lay_out,
    parts_among,
)
from specwright.errors import InputError
from testkit.domain.product_specs import NOW, epic_data, pillar_data, spec_data, story_data, task_data

_HEADINGS = [
    "# Task: Parse the rows",
    "## Task ID: T-core-tables-import-002",
    "## Context",
    "## Description",
    "## Subtasks",
    "## Acceptance Criteria",
    "## Micro Module Contract",
    "## Dependency Contracts",
    "## Error Cases",
]
_HOSTILE = st.one_of(
    st.text(min_size=1),
    st.sampled_from(
        [
            "## Error Cases",
            "x\n## Acceptance Criteria\n- nothing",
            "x\r\n# Task: other",
            "x\u2028## Description",
            "x\x0b## Description\x85## Subtasks",
            "```\n## Context",
            "~~~",
            "- [ ] item",
            "1. first",
            "> quote",
            "<!-- hidden",
            "---",
            "===",
            "[a]: http://b",
            "\u202egnihtemos",
            "    indented",
            "# C #",
        ]
    ),
)


def _definitions(*tasks):
    spec = spec_data([pillar_data([epic_data([story_data(list(tasks))])])])
    return {task.task_id: task for task in lay_out(ProductSpec.model_validate(spec))}


def _pair():
    definitions = _definitions(task_data(1), task_data(2, "Parse the rows", ["TSK-001"]))
    return definitions, definitions["T-core-tables-import-002"]


def _headings(text):
    return [line for line in text.splitlines() if re.match(r"#{1,6} ", line)]


def _section(text, heading):
    return text.split(f"\n## {heading}\n")[1].split("\n\n## ")[0].strip()


def _contract(name="parse_header"):
    return MicroModuleContract(
        module_id="MM-1a2b3c4d",
        name=name,
        purpose="Read the column names of a table.",
        inputs=[Input(name="text", type="str")],
        outputs=[Output(name="names", type="list[str]")],
        error_surfaces=[ErrorSurface(name="ValueError", when="text is empty", surface=SurfaceKind.EXCEPTION)],
        effects=[],
        modes=Modes(sync=True, async_=False),
    )


_EXAMPLES = """# parse_header

## Reads the names

```python
parse_header("a,b")
```

```text
['a', 'b']
```
"""


def test_a_task_file_carries_the_fields_of_the_spec_under_the_headings_of_the_template():
    """F-4.1-08, F-4.1-09, F-4.1-12: context, description, subtasks, criteria, the five dimensions, the error cases."""
    definitions, task = _pair()
    text = render_at_init(task, definitions)
    assert _headings(text) == _HEADINGS
    assert _section(text, "Context").splitlines() == [
        "- **Pillar:** Core — What every other part builds on.",
        "- **Epic:** Tables — Everything that is done with one table.",
        "- **Story:** Import — The user brings a file of their own.",
    ]
    assert _section(text, "Description") == "Reads the first row of the file into column names."
    assert _section(text, "Subtasks") == "1. Read the first row\n2. Refuse a file without one"
    assert _section(text, "Acceptance Criteria").splitlines()[1] == "- Raises ValueError for an empty file"
    assert _section(text, "Micro Module Contract").splitlines() == [
        "- **Inputs:** text: str, the whole file",
        "- **Outputs:** names: list[str], in the order of the file",
        "- **Error surfaces:** ValueError if the file is empty; KeyError if a name stands twice",
        "- **Effects:** none: pure",
        "- **Modes:** sync, because nothing waits",
    ]
    errors = "- ValueError if the file is empty\n- KeyError if a name stands twice"
    assert _section(text, "Error Cases") == errors


def test_a_task_without_dependencies_says_none():
    """F-4.1-11: the section stands, with `None`, at init and at dispatch."""
    definitions = _definitions(task_data(1))
    (task,) = definitions.values()
    assert _section(render_at_init(task, definitions), "Dependency Contracts") == "None"
    assert render_at_dispatch(task, []) == render_at_init(task, definitions)


def test_at_init_the_dependencies_are_told_from_their_sketches():
    """F-4.1-10, D-02: nothing has shipped yet, and the file says so."""
    definitions, task = _pair()
    section = _section(render_at_init(task, definitions), "Dependency Contracts")
    assert section.splitlines()[0] == "References to upstream modules (CONTRACT_ONLY — no source code):"
    assert "- T-core-tables-import-001 (Parse the header): sketch, nothing shipped yet" in section
    assert "  - Outputs: names: list[str], in the order of the file" in section


def test_at_dispatch_the_dependencies_are_told_from_what_they_shipped():
    """F-4.1-10, D-02: module reference, contract, examples; headings of examples are not the file's."""
    _, task = _pair()
    shipped = ShippedDependency("T-core-tables-import-001", _contract(), _EXAMPLES)
    text = render_at_dispatch(task, [shipped])
    section = text.split("## Dependency Contracts\n")[1].split("\n\n## Error Cases")[0]
    assert "- MM-1a2b3c4d@1.0.0: `parse_header`, Read the column names of a table." in section
    contract = section.split("  ```text\n")[1].split("  ```\n")[0]
    assert textwrap.dedent(contract).rstrip() == text_for_callers(_contract())
    assert '  parse_header("a,b")' in section
    assert _headings(text) == _HEADINGS


def _called(number: int, name: str, *calls: MicroModuleContract, of_names: str = "") -> MicroModuleContract:
    """A contract that depends on others; with a text, its output has that invariant."""
    outputs = [Output(name="names", type="list[str]", invariants=[of_names] if of_names else [])]
    dependencies = [Dependency(ref=one.ref, why="It reads.") for one in calls]
    changes = {"module_id": f"MM-{number:08x}", "outputs": outputs, "dependencies": dependencies}
    return _contract(name).model_copy(update=changes)


def test_of_a_dependency_s_parts_a_reader_meets_name_and_purpose():
    """What only modules of the same task call is a line, unless it is provided or a caller meets its class (D-54-02)."""
    _, task = _pair()
    scan = _called(1, "scan")
    token = _called(2, "token", of_names="Token is a frozen dataclass: text: str")
    count = _called(3, "count")
    face = _called(4, "parse_header", scan, token, count, of_names="each is the text of a Token")
    shown = {"scan": False, "token": True, "count": True, "parse_header": True}
    parts = parts_among([scan, token, count, face], ["count"])
    shipped = [
        ShippedDependency("T-core-tables-import-001", one, _EXAMPLES, part=one.ref in parts)
        for one in (scan, token, count, face)
    ]
    section = render_at_dispatch(task, shipped).split("## Dependency Contracts\n")[1]
    for one in (scan, token, count, face):
        assert f"- {one.ref}: `{one.name}`, Read the column names of a table." in section
    whole = {
        one.name: textwrap.indent(text_for_callers(one), "  ") in section
        for one in (scan, token, count, face)
    }
    assert whole == shown


def test_a_missing_contract_or_example_stops_the_dispatch():
    """F-4.1-10, D2: the error names the task and the dependency."""
    _, task = _pair()
    for shipped in ([], [ShippedDependency("T-core-tables-import-001", _contract(), " \n")]):
        with pytest.raises(
            InputError, match=r"import-002 \(Parse the rows\) lacks .* T-core-tables-import-001"
        ):
            render_at_dispatch(task, shipped)


def test_the_same_definition_gives_the_same_bytes():
    """F-3.3-01: rendering is deterministic, also after the definition was stored."""
    definitions, task = _pair()
    again = TaskDefinition.from_bytes(task.to_bytes(), "definition")
    assert again == task
    assert render_at_init(again, definitions) == render_at_init(task, definitions)


def test_an_amended_task_keeps_the_criteria_that_it_had():
    """F-17.2-05: `## Amendment History`, at init and at dispatch."""
    _, task = _pair()
    amendment = TaskAmendment(
        replaced_criteria=task.acceptance_criteria,
        rationale="Rows may\n## be ragged.",
        escalation_ref="ESC-00000001",
        amended_at=NOW,
    )
    text = render_at_dispatch(amended(task, ["Returns ragged rows"], amendment, []), [])
    assert _section(text, "Acceptance Criteria") == "- Returns ragged rows"
    assert _section(text, "Dependency Contracts") == "None"
    assert _headings(text) == [*_HEADINGS, "## Amendment History", f"### ESC-00000001, {NOW}"]
    history = text.split("## Amendment History")[1]
    assert "Why: Rows may ## be ragged." in history
    assert "- Raises ValueError for an empty file" in history


_SKETCH = IoContractSketch.model_construct(inputs="a", outputs="b", modes="c", effects="")


def test_a_task_that_cannot_be_written_down_is_refused_by_its_gaps():
    """F-4.1-13: for a spec that got past its validation: the fields, the task id and the name; also those above."""
    for field, value, named in (
        ("description", "", "description"),
        ("description", "\u200b\u202e\x00", "description"),
        ("name", "TBD", "name"),
        ("subtasks", [], "subtasks"),
        ("subtasks", ["Read it", " "], "subtasks.1"),
        ("acceptance_criteria", [], "acceptance_criteria"),
        ("io_contract_sketch", None, "io_contract_sketch"),
        ("io_contract_sketch", _SKETCH, "io_contract_sketch.error_surfaces, io_contract_sketch.effects"),
    ):
        spec, _, story = _spec_of_one()
        task = TaskSpec.model_construct(**{**dict(story.tasks[0]), field: value})
        story.tasks[0] = task
        with pytest.raises(InputError) as caught:
            lay_out(spec)
        assert f"missing: {named}" in caught.value.what
        assert f"'{task.name}' (TSK-001, " in caught.value.what
    spec, epic, story = _spec_of_one()
    spec.pillars[0].epics[0] = epic.model_copy(update={"description": ""})
    epic.stories[0] = story.model_copy(update={"description": ""})
    with pytest.raises(InputError, match=r"missing: epic\.description, story\.description"):
        lay_out(spec)


def _spec_of_one():
    spec = ProductSpec.model_validate(spec_data([pillar_data([epic_data([story_data([task_data(1)])])])]))
    epic = spec.pillars[0].epics[0]
    return spec, epic, epic.stories[0]


@given(_HOSTILE, _HOSTILE, _HOSTILE)
def test_no_text_of_a_spec_can_forge_the_structure_of_its_file(name, description, criterion):
    """F-4.1-08: names and descriptions with newlines, headings, fences or comments stay what they are."""
    try:
        spec = spec_data([pillar_data([epic_data([story_data([task_data(1)])])])])
        story = spec["pillars"][0]["epics"][0]["stories"][0]
        story["description"] = description
        story["tasks"][0].update(
            name=name,
            description=description,
            acceptance_criteria=[criterion, criterion],
            subtasks=[criterion, name],
        )
        (task,) = lay_out(ProductSpec.model_validate(spec))
        text = render_at_init(task, {})
    except (ValueError, InputError):  # a text that says nothing is refused before
        return
    headings = [heading.split(":")[0] for heading in _headings(text)]
    assert headings == [heading.split(":")[0] for heading in _HEADINGS]
    assert len(_section(text, "Acceptance Criteria").splitlines()) == 2
    assert len(_section(text, "Subtasks").splitlines()) == 2
    assert len(_section(text, "Description").splitlines()) == 1


_SHOWN = {
    "a  b \n\tc": "a  b c",
    "## Heading": "\\## Heading",
    "#hashtag": "#hashtag",
    "- item": "\\- item",
    "-x flag": "-x flag",
    "*bold* text": "*bold* text",
    "12. item": "12\\. item",
    "3.5 seconds": "3.5 seconds",
    "```python": "\\```python",
    "`code` first": "`code` first",
    "<!-- gone": "\\<!-- gone",
    "* * *": "\\* * *",
    "[x]: y": "\\[x]: y",
    "[x](y)": "[x](y)",
    "a\u202eb\x00c": "abc",
    "👨\u200d👩 emoji": "👨\u200d👩 emoji",
}


def test_only_what_starts_a_block_is_escaped():
    """F-4.1-08: ordinary text is shown as it was written."""
    assert {text: inline(text) for text in _SHOWN} == _SHOWN


@given(st.text())
def test_a_plain_text_is_one_line_and_stays_it(text):
    """F-4.1-08: no line break, no control character, nothing at the edges."""
    line = printable(text)
    assert line.splitlines() in ([], [line])
    assert line == line.strip() == printable(line)


@given(st.text(st.sampled_from("`~ \nx"), max_size=40))
def test_nothing_in_a_fenced_text_closes_its_fence(text):
    """F-4.1-10: examples hold fences of their own."""
    opening, *body, closing = fenced(text, "markdown", indent="  ").splitlines()
    fence = closing.strip()
    assert opening.strip() == f"{fence}markdown"
    assert not any(re.fullmatch(rf"\s*{fence}`*\s*", line) for line in body)
