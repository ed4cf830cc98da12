"""Who writes does not look first: the file refuses what does not follow on its last entry (D32, D36, DESIGN §11)."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from log.damage import open_log, stored, tamper
from specwright.log.sqlite_log import SqliteWireLog
from specwright.log.verify import verify
from specwright.wire.rejection import WireRefusedError
from wire.story import CONTEXT, HAPPY_PATH, TASK, Story

VERSION_1 = (
    "CREATE TRIGGER entry_is_next BEFORE INSERT ON entry WHEN NEW.sequence_number <>"
    " (SELECT COALESCE(MAX(sequence_number), 0) + 1 FROM entry WHERE topic_id = NEW.topic_id)"
    " BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END",
    "CREATE TRIGGER head_moves_forward BEFORE UPDATE ON head"
    " WHEN NEW.sequence_number <= OLD.sequence_number BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END",
    "PRAGMA user_version = 1",
)
"""What a file of the first version had instead; its heads came with the first append."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a log may be made."""
    return tmp_path / "log.sqlite"


def asked(log: SqliteWireLog, act: Callable[[], None]) -> list[str]:
    """The first words of the statements that SQLite is given meanwhile; it tells one again for every trigger."""
    told: list[str] = []
    connection = log._connection  # it has no other face
    connection.set_trace_callback(told.append)
    act()
    connection.set_trace_callback(None)
    return [" ".join(statement.split()[:2]) for statement, _ in groupby(told)]


def test_an_append_of_one_wire_is_one_statement(path: Path):
    """Raw SQLite could do with no less: the head, the number and the commit come with the row (D-S11-05)."""
    log = open_log(path)
    wires = Story().wires(*HAPPY_PATH)

    assert [asked(log, lambda wire=wire: log.append([wire])) for wire in wires] == [["INSERT INTO"]] * 6


def test_several_wires_are_one_transaction_of_their_rows(path: Path):
    """A group costs its rows, one begin and one commit (D-S11-05, D-36-01)."""
    log = open_log(path)
    wires = Story().wires(*HAPPY_PATH)

    assert asked(log, lambda: log.append(wires)) == ["BEGIN IMMEDIATE", *["INSERT INTO"] * 6, "COMMIT"]


@pytest.mark.parametrize("number", [1, 3], ids=["one", "several"])
def test_who_comes_second_reads_what_came_before_and_goes_on_from_there(path: Path, number: int):
    """A handle that knows nothing of three Wires appends those that follow on them (D-32-02, D-29-03)."""
    wires = Story().wires(*HAPPY_PATH)
    first, second = open_log(path), open_log(path)
    first.append(wires[:3])

    second.append(wires[3 : 3 + number])
    first.append(wires[3 + number :])

    assert [entry.wire for entry in second.entries()] == wires
    assert second.head(TASK) == 6
    assert verify(path) == []


def test_a_wire_that_fitted_what_was_known_is_refused_by_what_is_there(path: Path):
    """Planned on an empty log, each would be admitted; the place is taken (D-32-02)."""
    first, second = open_log(path), open_log(path)
    first.append([Story().wire("task.created")])

    for rest in ([], [Story(100).wire("task.created", "task:TSK-002:attempt:1")]):
        with pytest.raises(WireRefusedError) as refused:
            second.append([Story(50).wire("task.created"), *rest])
        assert refused.value.rejection.code == "stream.sequence"

    assert len(stored(path)) == 1
    assert second.head(TASK) == 1


def test_what_another_has_appended_already_is_passed_over(path: Path):
    """The same Wire by two handles stands once, alone and with one that follows (D-32-01)."""
    wires = Story().wires(*HAPPY_PATH)
    first, second = open_log(path), open_log(path)
    first.append(wires[:1])

    second.append(wires[:1])
    first.append(wires[1:2])
    second.append(wires[:3])

    assert [entry.wire for entry in first.entries()] == wires[:3]
    assert verify(path) == []


@pytest.mark.parametrize(
    "row",
    [
        "('0.0.1001', 8, 9, 9, x'7b7d', x'00')",
        "('0.0.1001', 6, 9, 9, x'7b7d', x'00')",
        "('0.0.1001', 0, 9, 9, x'7b7d', x'00')",
        "('0.0.1002', 7, 9, 9, x'7b7d', x'00')",
    ],
    ids=["a gap", "a taken place", "before the first", "an unknown topic"],
)
def test_a_row_that_is_not_the_next_is_refused_whoever_writes(path: Path, row: str):
    """Numbers are dense by the file itself (D-32-02, W-5-02)."""
    open_log(path).append(Story().wires(*HAPPY_PATH))
    before = stored(path)

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        for insert in ("INSERT", "INSERT OR REPLACE"):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(f"{insert} INTO entry VALUES {row}")

    assert stored(path) == before


@pytest.mark.parametrize("entries", [0, 6])
def test_a_file_of_the_first_version_is_written_on(path: Path, entries: int):
    """A log that an earlier program made keeps its entries and is moved on to these rules (DESIGN §9, D-29-03)."""
    wires: list[dict[str, Any]] = Story().wires(*HAPPY_PATH)
    log = open_log(path)
    log.append(wires[:entries])
    log.close()
    tamper(path, *VERSION_1, "DELETE FROM head WHERE sequence_number = 0")

    later = open_log(path)
    later.append([*wires, Story(100).wire("review.recorded", CONTEXT)])

    assert len(stored(path)) == 7
    assert verify(path) == []
    assert asked(
        later, lambda: later.append([Story(200).wire("task.created", "task:TSK-002:attempt:1")])
    ) == ["INSERT INTO"]
