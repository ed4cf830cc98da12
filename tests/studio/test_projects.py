"""Which projects a studio finds in the folders that it was given (DESIGN §13.5)."""

from pathlib import Path

import pytest

from specwright.studio import projects
from specwright.studio.projects import Projects


def project(place: Path) -> Path:
    """A directory with a SPEC.md."""
    place.mkdir(parents=True)
    (place / "SPEC.md").write_text("# It\n")
    return place


def test_projects_are_found_three_levels_below_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in projects, hidden directories, packages, and behind links; a new one appears by itself (D48)."""
    monkeypatch.setattr(projects, "_SECONDS_BETWEEN_LOOKS", 0.0)
    found = [project(tmp_path / place) for place in ("b", "team/a", "team/of/c")]
    for place in ("b/state_store/x", "team/of/four/d", ".hidden/e", "team/node_modules/f"):
        project(tmp_path / place)
    (tmp_path / "link").symlink_to(project(tmp_path.parent / f"{tmp_path.name}-outside/deep").parent)
    studio = Projects([tmp_path])
    assert {one.directory for one in studio.all()} == {*found}
    later = project(tmp_path / "team/of/later")
    assert {one.directory for one in studio.all()} == {*found, later}


def test_a_large_folder_is_searched_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home directory keeps no page waiting; what lies in the folder itself is found in any case (D48)."""
    monkeypatch.setattr(projects, "_MOST_DIRECTORIES", 5)
    for number in range(20):
        (tmp_path / f"{number:02}/x").mkdir(parents=True)
    last, direct = project(tmp_path / "19/x/y"), project(tmp_path / "z")
    assert [one.directory for one in Projects([tmp_path]).all()] == [direct]
    monkeypatch.setattr(projects, "_MOST_DIRECTORIES", 500)
    assert [one.directory for one in Projects([tmp_path]).all()] == [direct, last]
