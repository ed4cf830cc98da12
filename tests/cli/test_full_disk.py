"""A disk that fills up in the middle of a run (D-S9-04)."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from testkit.cli.commands import PLAYBOOK, SMALL, specwright
from testkit.sampling import spread
from testkit.small_disk import mounted


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, two megabytes."""
    with mounted(tmp_path / "disk", "2m") as place:
        yield place


@pytest.mark.parametrize("left", spread([0, 120_000, 40_000, 200_000, 300_000], slow=5))
def test_a_full_disk_is_told_and_the_run_goes_on_once_there_is_room(left: int, small_disk: Path) -> None:
    """D-S9-04: one message wherever it happens, no half-written file, and the same run ends well afterwards."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"\0" * (os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize - left))
    given = ("run", small_disk / "p", "--spec", SMALL / "SPEC.md", "--model", PLAYBOOK, "--approve")
    told = specwright(*given)
    assert told.code in (1, 2), told
    assert "Traceback" not in told.err
    assert "itself broke" not in told.err, told.err
    assert "  where: " in told.err
    assert any(word in told.err for word in ("No space left", "full")), told.err
    assert not [p for p in small_disk.rglob("*") if p.name.startswith(".tmp-")]
    ballast.unlink()
    again = specwright(*given)
    assert again.code == 0, again


def test_init_on_a_full_disk_leaves_no_half_file(small_disk: Path) -> None:
    """D-S9-04: SPEC.md is whole or not there."""
    (small_disk / "ballast").write_bytes(
        b"\0" * (os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize)
    )
    told = specwright("init", small_disk)
    told.refuses("No space left", str(small_disk))
    assert sorted(p.name for p in small_disk.iterdir()) == ["ballast"]
