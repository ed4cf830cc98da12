"""What was read of a log stays, so that a large project is not read anew for each page (DESIGN §13.5)."""

import shutil
from pathlib import Path

from specwright.bootstrap.views import ProjectViews
from testkit.studio import cut_after


def statuses(views: ProjectViews, directory: Path) -> list[str]:
    """The statuses of the tasks as the views have them."""
    with views.reading(directory) as view:
        state = view.projection.state
        return [entry.status.value for entry in state.tasks.values()] if state else []


def test_what_is_new_in_a_log_is_taken_in(released_once: Path, tmp_path: Path) -> None:
    """The same views after the first entry and after the last one; nothing is read twice (D48)."""
    directory, views = Path(shutil.copytree(released_once, tmp_path / "project")), ProjectViews()
    log = directory / ".specwright/wire.db"
    whole = log.read_bytes()
    cut_after(1, log)
    assert statuses(views, directory) == []
    log.write_bytes(whole)
    assert statuses(views, directory) == ["SHIPPED"]
    with views.reading(directory) as first, views.reading(directory) as second:
        assert first.projection is second.projection


def test_another_log_in_the_same_place_is_read_anew(
    released_once: Path, halted_once: Path, tmp_path: Path
) -> None:
    """Restored from a copy, cut off at its end, or gone (D48)."""
    directory, views = Path(shutil.copytree(released_once, tmp_path / "project")), ProjectViews()
    assert statuses(views, directory) == ["SHIPPED"]
    shutil.rmtree(directory)
    shutil.copytree(halted_once, directory)
    assert "HALTED" in statuses(views, directory)
    cut_after(1, directory / ".specwright/wire.db")
    assert statuses(views, directory) == []
