"""Several writers: their appends are serialised, and each gets its own result (D32, D36, DESIGN §11)."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import groupby
from pathlib import Path

import pytest

from agent_wire.entries import StreamEnd
from agent_wire.errors import BusyError, WireRefusedError
from agent_wire.log import SqliteWireLog
from agent_wire.verify import verify
from wire_testkit.damage import open_log, stored
from wire_testkit.story import HAPPY_PATH, TASK, Story


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a log may be made."""
    return tmp_path / "log.sqlite"


@pytest.fixture
def log(path: Path) -> SqliteWireLog:
    """A log that threads share."""
    return open_log(path)


def result(log: SqliteWireLog, wires: list[dict]) -> str:
    """The result of an append: the code of its refusal, or `ok`."""
    try:
        log.append(wires)
    except WireRefusedError as error:
        return error.rejection.code
    return "ok"


def statements(log: SqliteWireLog, append: Callable[[], object]) -> list[str]:
    """The first words of the SQL statements that an append executes; SQLite repeats one for every trigger."""
    executed: list[str] = []
    connection = log.connection  # the log offers no other way to see them
    connection.set_trace_callback(executed.append)
    append()
    connection.set_trace_callback(None)
    return [" ".join(statement.split()[:2]) for statement, _ in groupby(executed)]


@pytest.mark.parametrize("number", [1, 6])
def test_an_append_is_one_transaction_that_reads_the_end_of_the_topic_and_inserts(path: Path, number: int):
    """One flush of the disk for each append, however many Wires it has (D-S11-05, D-36-01)."""
    log = open_log(path)
    wires = Story().wires(*HAPPY_PATH[:number])

    executed = statements(log, lambda: log.append(wires))

    assert executed == ["BEGIN IMMEDIATE", "SELECT sequence_number,", *["INSERT INTO"] * number, "COMMIT"]


def test_an_append_returns_the_new_entries(path: Path):
    """The entries are those that a reader finds; a repeated Wire makes none (D-32-01, D-36-01)."""
    wires = Story().wires(*HAPPY_PATH)
    log = open_log(path)

    first, second = log.append(wires[:2]), log.append(wires)

    assert [*first, *second] == list(log.entries())
    assert [len(first), len(second)] == [2, 4]
    assert log.append(wires) == []


@pytest.mark.parametrize("number", [1, 3], ids=["one", "several"])
def test_a_second_writer_continues_after_the_entries_of_the_first(path: Path, number: int):
    """A handle that has not read three Wires appends those that follow on them (D-32-02, D-29-03)."""
    wires = Story().wires(*HAPPY_PATH)
    first, second = open_log(path), open_log(path)
    first.append(wires[:3])

    second.append(wires[3 : 3 + number])
    first.append(wires[3 + number :])

    assert [entry.wire for entry in second.entries()] == wires
    assert second.stream_end(TASK) == StreamEnd(6, wires[-1]["wire_id"])
    assert verify(path) == []


def test_a_wire_whose_place_another_writer_has_taken_is_refused(path: Path):
    """On the log as the second handle last read it, each would be admitted (D-32-02)."""
    first, second = open_log(path), open_log(path)
    first.append([Story().wire("task.created")])

    for rest in ([], [Story(100).wire("task.created", "task:TSK-002:attempt:1")]):
        assert result(second, [Story(50).wire("task.created"), *rest]) == "stream.sequence"

    assert len(stored(path)) == 1
    assert second.stream_end(TASK).stream_seq == 1


def test_a_wire_that_another_writer_has_appended_already_is_skipped(path: Path):
    """The same Wire by two handles is one entry, alone and with one that follows (D-32-01)."""
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


def test_each_of_several_threads_gets_its_own_result(log: SqliteWireLog, path: Path):
    """A refused append does not disturb the others, and leaves nothing of itself (D-32-02)."""
    first = Story().wire("task.created")
    log.append([first])
    appends = [
        [first],
        [first | {"sender": "human:owner"}],
        [Story(100).wire("task.started", "task:TSK-002:attempt:1")],
        [Story(200).wire("task.created", "task:TSK-003:attempt:1")],
        [Story(300).wire("task.created", "task:TSK-004:attempt:1"), Story(301).wire("task.created")],
    ]

    with ThreadPoolExecutor(len(appends)) as pool:
        results = list(pool.map(lambda wires: result(log, wires), appends))

    assert results == ["ok", "wire.id_conflict", "task.transition", "ok", "stream.sequence"]
    tasks = [entry.wire["stream"]["stream_id"] for entry in log.entries()]  # pyright: ignore
    assert tasks == ["task:TSK-001:attempt:1", "task:TSK-003:attempt:1"]
    assert verify(path) == []


def test_of_many_threads_that_want_one_place_in_a_stream_one_wins(log: SqliteWireLog):
    """Two writers on one stream: one wins, the others get a conflict (D-32-02)."""
    appends = [[Story(number * 100).wire("task.created")] for number in range(1, 9)]

    with ThreadPoolExecutor(len(appends)) as pool:
        results = list(pool.map(lambda wires: result(log, wires), appends))

    assert sorted(results) == ["ok"] + ["stream.sequence"] * 7
    assert len(list(log.entries())) == 1


def test_an_acknowledged_append_is_on_the_disk(log: SqliteWireLog, path: Path):
    """Another connection finds every Wire whose `append` has returned (D-32-02, D-29-01)."""

    def write(number: int) -> list[int]:
        story = Story(1000 * number + 1)
        visible: list[int] = []
        for event in ("task.created", "task.available", "task.claimed", "task.started"):
            log.append([story.wire(event, f"task:TSK-{number:03d}:attempt:1")])
            with closing(sqlite3.connect(path)) as connection:
                mine = f'%"task:TSK-{number:03d}:attempt:1"%'
                query = "SELECT count(*) FROM entry WHERE CAST(body AS TEXT) LIKE ?"
                visible.append(connection.execute(query, (mine,)).fetchone()[0])
        return visible

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(write, range(6))) == [[1, 2, 3, 4]] * 6
    assert verify(path) == []


def test_an_append_waits_for_another_process_and_gives_up_with_a_clear_error(log: SqliteWireLog, path: Path):
    """A file that somebody else keeps locked is an error of its own, and nothing is appended (D-32-02, DESIGN §9)."""
    log.connection.execute("PRAGMA busy_timeout = 50")  # instead of half a minute
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError, match="another process"):
            log.append([Story().wire("task.created")])
        other.execute("COMMIT")

    assert list(log.entries()) == []
    assert result(log, [Story().wire("task.created")]) == "ok"


def test_an_append_that_the_disk_refuses_leaves_no_trace_and_the_log_goes_on(path: Path):
    """A failed transaction is forgotten in memory too (D-32-02)."""
    wires = Story().wires("task.created", "task.available")
    log = open_log(path)
    log.append(wires[:1])
    with closing(sqlite3.connect(path)) as other:
        other.execute(
            "CREATE TRIGGER full BEFORE INSERT ON entry BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        )
    with pytest.raises(Exception, match="disk is full"):
        log.append(wires[1:])
    assert log.stream_end("task:TSK-001:attempt:1").stream_seq == 1
    with closing(sqlite3.connect(path)) as other:
        other.execute("DROP TRIGGER full")

    log.append(wires[1:])

    assert [entry.wire for entry in log.entries()] == wires
    assert verify(path) == []
