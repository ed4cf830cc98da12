"""A page hears of a change at the next look, and a look costs little (DESIGN §13.5)."""

import asyncio
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from specwright.bootstrap.views.positions import Positions
from specwright.bootstrap.views.reading import position
from specwright.studio.live import SECONDS_BETWEEN_LOOKS, changes

LONG_AGO = 1_700_000_000


class CountedPositions(Positions):
    """Positions that know how often one was worked out."""

    def __init__(self) -> None:
        self.count = 0
        super().__init__(self._counted)

    def _counted(self, directory: Path) -> str:
        self.count += 1
        return position(directory)


def settle(directory: Path) -> None:
    """Make every file as old as it can be."""
    for path in (*directory.rglob("*"), directory):
        os.utime(path, (LONG_AGO, LONG_AGO), follow_symlinks=False)


def test_a_project_whose_files_did_not_change_is_not_read(waiting_once: Path, tmp_path: Path) -> None:
    """Ten looks read the log once; a draft, SPEC.md or a note of what is at work has it read again (D48)."""
    directory = Path(shutil.copytree(waiting_once, tmp_path / "waits"))
    positions = CountedPositions()
    settle(directory)
    first = {positions.of(directory) for _ in range(10)}
    assert (len(first), positions.count) == (1, 1)
    drafts = [f"state_store/product/{name}" for name in ("spec.md", "spec.json", "acceptance.md")]
    others = ("SPEC.md", ".specwright/at_work.json", ".specwright/run.json")
    for age, name in enumerate((*drafts, *others), start=1):
        before, path = positions.of(directory), directory / name
        path.write_text(f"{path.read_text() if path.exists() else ''}\n")
        os.utime(path, (LONG_AGO + age, LONG_AGO + age))
        assert positions.of(directory) != before, name


def test_a_file_that_has_just_changed_is_read_at_every_look(waiting_once: Path, tmp_path: Path) -> None:
    """Two changes within what a file system can tell apart are both seen (D48)."""
    directory = Path(shutil.copytree(waiting_once, tmp_path / "waits"))
    positions = CountedPositions()
    for path in directory.rglob("*"):
        path.touch()
    for _ in range(3):
        positions.of(directory)
    assert positions.count == 3


def test_a_project_that_cannot_be_read_has_a_position(waiting_once: Path, tmp_path: Path) -> None:
    """Which changes once it can be read again (D48)."""
    directory = Path(shutil.copytree(waiting_once, tmp_path / "waits"))
    positions, log = Positions(), directory / ".specwright/wire.db"
    whole = log.read_bytes()
    log.write_bytes(b"no database at all")
    assert positions.of(directory) == "damaged"
    log.write_bytes(whole)
    assert positions.of(directory) != "damaged"


def test_a_change_is_told_at_the_next_look() -> None:
    """After one pause, which is an eighth of the second that a page has to follow (D48)."""
    with ThreadPoolExecutor() as thread:  # a browser of another test may have a loop in this one
        assert thread.submit(lambda: asyncio.run(_pauses_before_a_change())).result() == 1
    assert SECONDS_BETWEEN_LOOKS <= 1 / 8


async def _pauses_before_a_change() -> int:
    """How many pauses there are between a change, which comes while the first one lasts, and the event that tells it."""
    pauses = list[float]()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async for event in changes(lambda: "after" if pauses else "before", "before", pause):
        if b"event: change" in event:
            break
    return len(pauses)
