"""What the researcher decided of open cases, as a person reads it at the gate (F§3.2.4)."""

from specwright.application.pages import render_at_init, spec_page, spec_patch
from specwright.domain.spec.completeness import validate
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft, decisions_of, spec_difference
from specwright.domain.tasks.task_file import lay_out
from testkit.domain.product_specs import NOW, draft_data, epic_data, pillar_data, story_data, task_data

ROUNDING = "Half a cent is rounded up."


def spec_with(*decisions: list[str]) -> ProductSpecDraft:
    """A spec of two tasks, with the decisions of each."""
    tasks = [
        task_data(number, name, **({"decisions": list(own)} if own else {}))
        for number, name, own in zip((1, 2), ("Split a bill", "Settle up"), decisions, strict=True)
    ]
    return ProductSpecDraft.model_validate(draft_data([pillar_data([epic_data([story_data(tasks)])])]))


def test_each_decision_is_listed_once_with_its_tasks():
    """F-3.2.4-01: in another case or over two lines, a decision is one."""
    spec = spec_with(
        [ROUNDING, "An empty list gives no payments.", "A bill of nought is refused."],
        ["half a cent is\nrounded up", "Names are compared as they are written."],
    )
    assert [(one.number, one.text, one.place) for one in decisions_of(spec)] == [
        (1, ROUNDING, "TSK-001, TSK-002"),
        (2, "An empty list gives no payments.", "TSK-001 Split a bill"),
        (3, "A bill of nought is refused.", "TSK-001 Split a bill"),
        (4, "Names are compared as they are written.", "TSK-002 Settle up"),
    ]


def test_decisions_stand_before_the_tasks():
    """F-3.2.4-01: numbered, after what is not built and what the product does, before any task."""
    data = spec_with([ROUNDING], ["Two of a name are one."]).to_json()
    data["outside"] = [{"quote": "It has a window.", "why": "No graphical interface."}]
    page = spec_page(ProductSpecDraft.model_validate(data))
    chapters = [line for line in page.splitlines() if line.startswith("## ")]
    assert chapters[:3] == ["## Not built", "## Decisions", "## Split a bill (TSK-001)"]
    assert page.index("## Not built") < page.index(data["description"]) < page.index("## Decisions")
    assert (
        "SPEC.md left 2 cases open. They will work like this. `specwright amend --decision N TEXT` changes one.\n\n"
        f"1. {ROUNDING} (TSK-001 Split a bill)\n2. Two of a name are one. (TSK-002 Settle up)\n"
    ) in page
    assert "## Decisions" not in spec_page(spec_with([], []))


def test_a_decision_belongs_to_its_task():
    """F-4.1-08, F-3.2.4-01: whoever plans it reads it in its task file, and a changed one changes the task alone; a spec
    without decisions is stored as before."""
    before, after = (
        ProductSpec.model_validate(spec_with(own, []).stamped(NOW, NOW).to_json()) for own in ([], [ROUNDING])
    )
    assert "decisions" not in str(before.to_json())
    assert spec_difference(before, after).changed == {"TSK-001": (f"decisions: + {ROUNDING}",)}
    assert f"+- {ROUNDING} (TSK-001 Split a bill)" in spec_patch(before, after)
    first, second = lay_out(after)
    definitions = {one.task_id: one for one in (first, second)}
    assert f"## Decisions\n- {ROUNDING}\n\n## Micro Module Contract" in render_at_init(first, definitions)
    assert "## Decisions" not in render_at_init(second, definitions)
    assert (first.decisions, second.decisions) == ([ROUNDING], [])


def test_a_decision_that_says_nothing_is_refused():
    """F-3.2.3-05: as any placeholder is."""
    data = spec_with([ROUNDING], []).to_json()
    data["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]["decisions"] = ["TBD"]
    (error,) = validate(data).errors
    assert (error.field, "is a placeholder" in error.message) == ("decisions", True)


def test_a_new_decision_shows_as_one_line_however_many_come_after_it():
    """The difference that a person reads leaves out the numbers of lists (D-56-04)."""
    before, after = (
        ProductSpec.model_validate(spec_with(own, ["Two of a name are one."]).stamped(NOW, NOW).to_json())
        for own in ([ROUNDING], ["Nobody owes a negative sum.", ROUNDING])
    )
    changed = [line for line in spec_patch(before, after) if "(TSK-" in line and line[0] in "+-"]
    assert changed == ["+- Nobody owes a negative sum. (TSK-001 Split a bill)"]
