"""What a context pack says it leaves out is bounded, whatever the size of the project (F§5.3)."""

from pathlib import Path

from specwright.application import tasks
from specwright.application.tasks import MAX_NEIGHBOURS, neighbours, task_at
from testkit.domain.product_specs import spec_of_graph
from testkit.loop.project_workbench import ProjectWorkbench


def test_the_tasks_that_it_waits_for_come_first_and_few_others_follow(tmp_path: Path):
    """Nearest first, then as they were declared, never itself, fifty in all (F-5-06)."""
    count = 3 * MAX_NEIGHBOURS
    graph = [[n - 1] if n > count - 5 else [] for n in range(count)]
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(spec_of_graph(graph))
        tasks.initialise(bench.factory)
        ids = list(bench.factory.projection.definitions)
        found = neighbours(bench.factory, task_at(bench.factory, ids[-1]))
        first = neighbours(bench.factory, task_at(bench.factory, ids[0]))
    assert found[:4] == [ids[-2], ids[-3], ids[-4], ids[-5]]
    assert found[4:] == ids[: MAX_NEIGHBOURS - 4]
    assert first == ids[1 : MAX_NEIGHBOURS + 1]
