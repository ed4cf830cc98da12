"""Appends that wait together share one transaction; each gets its own verdict, after the commit (D36)."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from log.damage import START, TOPIC, open_log
from specwright.errors import HeldError, RefusedError
from specwright.log.group_commit import GroupCommit, Pending
from specwright.log.sqlite_log import SqliteWireLog
from specwright.log.verify import verify
from specwright.wire.rejection import WireRefusedError
from wire.story import Story

PATIENCE = 30.0


class Table:
    """Where groups are written; the first waits until it may go on."""

    def __init__(self, fault: Callable[[Sequence[str]], BaseException | None] = lambda _: None) -> None:
        self.groups: list[list[str]] = []
        self.began = threading.Event()
        self.may_go_on = threading.Event()
        self._fault = fault

    def write(self, group: Sequence[Pending[str]]) -> None:
        """Note the group, or fail as told."""
        names = [name for pending in group for name in pending.items]
        self.began.set()
        assert self.may_go_on.wait(PATIENCE)
        if fault := self._fault(names):
            raise fault
        self.groups.append(names)
        for pending in group:
            pending.refusal = RefusedError("no") if pending.items[0] == "refused" else None


def until(condition: Callable[[], bool]) -> None:
    """Wait for other threads."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def submitted(table: Table, *appends: Sequence[str]) -> list[BaseException | None]:
    """What becomes of appends of which the first is being written while the others come, one by one."""
    queue = GroupCommit(table.write)
    pending: list[Future[None]] = []
    with ThreadPoolExecutor(len(appends)) as pool:
        for place, items in enumerate(appends):
            pending.append(pool.submit(queue.submit, items))
            assert table.began.wait(PATIENCE)
            until(lambda: len(queue._waiting) == place)  # noqa: B023  # the queue has no other face
        table.may_go_on.set()
    return [future.exception() for future in pending]


def test_who_waits_together_is_written_together():
    """Several appends, one transaction (D-36-01)."""
    table = Table()

    assert submitted(table, ["a"], ["b"], ["c", "d"], ["e"]) == [None] * 4
    assert table.groups == [["a"], ["b", "c", "d", "e"]]


def test_a_group_is_bounded():
    """Nobody waits for the work of all others (D-36-01, DESIGN §1)."""
    table = Table()
    submitted(table, ["a"], *([f"{name}{number}" for number in range(100)] for name in "bcdef"))

    assert sorted(map(len, table.groups)) == [1, 100, 200, 200]


def test_a_refusal_is_told_to_the_one_that_caused_it():
    """One failing append does not fail its neighbours (D-32-02)."""
    outcomes = submitted(Table(), ["a"], ["b"], ["refused"], ["c"])

    assert [type(outcome) for outcome in outcomes] == [type(None), type(None), RefusedError, type(None)]


def test_a_group_that_cannot_be_written_is_tried_again_one_by_one():
    """What fails for one append alone is that append's failure, and nobody else's (D-32-02)."""
    table = Table(lambda names: ValueError("bad") if "bad" in names else None)
    outcomes = submitted(table, ["a"], ["b"], ["bad"], ["c"])

    assert [type(outcome) for outcome in outcomes] == [type(None), type(None), ValueError, type(None)]
    assert sorted(name for group in table.groups for name in group) == ["a", "b", "c"]


def test_what_cannot_be_written_at_all_is_acknowledged_to_nobody():
    """No acknowledgement without a commit (D-32-02, DESIGN §4)."""
    outcomes = submitted(Table(lambda _: OSError("full")), ["a"], ["b"], ["c"])

    assert [type(outcome) for outcome in outcomes] == [OSError] * 3


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), HeldError("held")])
def test_a_leader_that_is_stopped_takes_nobody_with_it(fault: BaseException):
    """Who waits behind an interrupted append leads in its turn (DESIGN §4)."""
    faults: Iterator[BaseException | None] = iter([None, fault])
    table = Table(lambda _: next(faults, None))
    outcomes = submitted(table, ["a"], ["b"], ["c"], ["d"])

    assert outcomes == [None, fault, None, None]
    assert table.groups == [["a"], ["c", "d"]]


@contextmanager
def kept_waiting(path: Path) -> Iterator[None]:
    """Another writer holds the file, so that appends queue up."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("COMMIT")


class Witness:
    """A clock that looks from outside how much is on the disk whenever a Wire is written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.seen: list[int] = []

    def __call__(self) -> int:
        """The time."""
        self.seen.append(self.on_disk())
        return START

    def on_disk(self) -> int:
        """How many entries another process would find."""
        with closing(sqlite3.connect(self._path)) as connection:
            return connection.execute("SELECT count(*) FROM entry").fetchone()[0]


def verdict(log: SqliteWireLog, wires: list[dict[str, Any]]) -> str:
    """What an append comes to."""
    try:
        log.append(wires)
    except WireRefusedError as error:
        return error.rejection.code
    return "ok"


def all_at_once(log: SqliteWireLog, path: Path, appends: Sequence[list[dict[str, Any]]]) -> list[str]:
    """What appends of as many threads come to, which one by one find the file held by somebody else."""
    futures: list[Future[str]] = []
    queue = log._group  # it has no other face
    with ThreadPoolExecutor(len(appends)) as pool:
        with kept_waiting(path):
            for place, wires in enumerate(appends):
                futures.append(pool.submit(verdict, log, wires))
                until(lambda: queue._leader is not None and len(queue._waiting) == place)  # noqa: B023
        return [future.result() for future in futures]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the log is."""
    return tmp_path / "log.sqlite"


@pytest.fixture
def witness(path: Path) -> Witness:
    """Looks at it from outside."""
    return Witness(path)


@pytest.fixture
def log(path: Path, witness: Witness) -> Iterator[SqliteWireLog]:
    """A log that threads share."""
    log = SqliteWireLog(path, TOPIC, witness)
    yield log
    log.close()


def test_threads_that_wait_share_one_transaction(log: SqliteWireLog, path: Path, witness: Witness):
    """Eight appends find the file held: the first goes alone, the others in one commit (D-36-01, D-32-02)."""
    appends = [[Story(1000 * n + 1).wire("task.created", f"task:TSK-{n:03d}:attempt:1")] for n in range(8)]

    assert all_at_once(log, path, appends) == ["ok"] * 8
    assert witness.seen == [0] + [1] * 7
    assert verify(path) == []


def test_in_a_shared_transaction_each_append_gets_its_own_verdict(
    log: SqliteWireLog, path: Path, witness: Witness
):
    """Repeated, conflicting and inadmissible appends among good ones: each is told, none disturbs (D-32-02)."""
    story = Story()
    first = story.wire("task.created")
    appends = [
        [first],
        [first],
        [first | {"sender": "human:owner"}],
        [Story(100).wire("task.started", "task:TSK-002:attempt:1")],
        [Story(200).wire("task.created", "task:TSK-003:attempt:1")],
        [Story(300).wire("task.created", "task:TSK-004:attempt:1"), Story(301).wire("task.created")],
    ]

    assert all_at_once(log, path, appends) == [
        "ok", "ok", "wire.id_conflict", "task.transition", "ok", "stream.sequence"
    ]  # fmt: skip
    assert [entry.wire["stream"]["stream_id"].split(":")[1] for entry in log.entries()].count("TSK-004") == 0
    assert (log.head("task:TSK-001:attempt:1"), witness.on_disk()) == (1, 2)
    assert verify(path) == []


def test_of_many_threads_that_want_one_place_in_a_stream_one_wins(log: SqliteWireLog, path: Path):
    """Two writers on one stream: one wins, the other gets a conflict, also within one commit (D-32-02)."""
    appends = [[Story(number * 100).wire("task.created")] for number in range(1, 9)]

    assert sorted(all_at_once(log, path, appends)) == ["ok"] + ["stream.sequence"] * 7
    assert len(list(log.entries())) == 1


def test_an_acknowledged_append_is_on_the_disk(log: SqliteWireLog, witness: Witness):
    """What `append` returned from is found by another connection, whoever led (D-32-02, D-29-01)."""

    def write(number: int) -> list[int]:
        story = Story(1000 * number + 1)
        visible: list[int] = []
        for event in ("task.created", "task.available", "task.claimed", "task.started"):
            log.append([story.wire(event, f"task:TSK-{number:03d}:attempt:1")])
            with closing(sqlite3.connect(witness._path)) as connection:
                mine = f'%"task:TSK-{number:03d}:attempt:1"%'
                query = "SELECT count(*) FROM entry WHERE CAST(body AS TEXT) LIKE ?"
                visible.append(connection.execute(query, (mine,)).fetchone()[0])
        return visible

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(write, range(6))) == [[1, 2, 3, 4]] * 6


def test_a_group_that_the_disk_refuses_leaves_no_trace_and_the_log_goes_on(path: Path):
    """A failed transaction is forgotten in memory too (D-32-02)."""
    story = Story()
    wires = story.wires("task.created", "task.available")
    log = open_log(path)
    log.append(wires[:1])
    with closing(sqlite3.connect(path)) as other:
        other.execute(
            "CREATE TRIGGER full BEFORE INSERT ON entry BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        )
    with pytest.raises(Exception, match="disk is full"):
        log.append(wires[1:])
    assert log.head("task:TSK-001:attempt:1") == 1
    with closing(sqlite3.connect(path)) as other:
        other.execute("DROP TRIGGER full")

    log.append(wires[1:])

    assert [entry.wire for entry in log.entries()] == wires
    assert verify(path) == []
