"""Sentences that words alone link to a task (D41)."""

from pathlib import Path

from specwright.application.stages.trace import ProjectTrace
from specwright.application.tasks import initialise
from specwright.cli.pages.module import trace_page
from specwright.domain.spec.product_spec import ProductSpec
from testkit.domain.product_specs import epic_data, pillar_data, spec_data, story_data, task_data
from testkit.loop.project_workbench import ProjectWorkbench

SPEC_MD = """# Tables

## Import

The header is `a,b`. Every column keeps its place in the order.

## Sorting

Rows are `sorted` by number. Every column keeps its place in the order.

## Limits

A missing column stops the order of the rows.
"""


def spec() -> ProductSpec:
    """Two tasks, of which the second has more words in common with a sentence of the first one's section."""
    tasks = [
        task_data(
            1,
            "Read",
            acceptance_criteria=["Returns the names of `a,b`", "Keeps every column"],
            description="Reads what the file says of itself.",
        ),
        task_data(
            2,
            "Sort",
            acceptance_criteria=["Returns the rows `sorted`", "Keeps every column, its place and the order"],
            description="Brings rows into their sequence.",
        ),
    ]
    return ProductSpec.model_validate(spec_data([pillar_data([epic_data([story_data(tasks)])])]))


def test_words_alone_stay_within_the_tasks_of_their_section(tmp_path: Path):
    """The same sentence under two headings leads to two tasks; what words alone link is marked, and comes last (D-41-07)."""
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(spec())
        bench.factory.store.replace("product/SPEC.md", SPEC_MD.encode())
        initialise(bench.factory)
        trace = ProjectTrace(bench.factory)

        found = trace.of("Every column keeps its place in the order.")
        assert found is not None
        first, second = sorted(found.sentences, key=lambda one: one.line)
        assert [link.task_id for link in first.links] == ["TSK-001"]
        assert [(link.task_id, link.criterion) for link in second.links] == [("TSK-002", 2)]
        assert all(link.by.startswith("words alone: ") for one in found.sentences for link in one.links)
        page = trace_page(found).render()
        assert page.count("(by words alone)") == 2

        far = trace.of("A missing column stops the order of the rows.")
        assert far is not None
        assert {link.task_id for one in far.sentences for link in one.links} <= {"TSK-001", "TSK-002"}
        back = trace.of("TSK-002")
        assert back is not None
        weak = [all(link.is_weak for link in one.links) for one in back.sentences]
        assert weak == sorted(weak)
        assert not back.by_words_alone("TSK-002")
