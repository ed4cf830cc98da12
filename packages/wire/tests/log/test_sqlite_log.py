"""The embedded log: order, durability, idempotency (D29, D32, D36)."""

import base64
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from agent_wire import envelope
from agent_wire.admission import default_schemas
from agent_wire.database import check_files_beside
from agent_wire.entries import WireLog, hcs_metadata
from agent_wire.errors import CorruptionError, InputError, RefusedError, WireRefusedError
from agent_wire.log import SqliteWireLog
from agent_wire.reducer import reduce_wires
from agent_wire.verify import verify
from wire_testkit.damage import START, TOPIC, open_log, stored, tamper, written
from wire_testkit.story import HAPPY_PATH, TASK, Story


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a log may be made."""
    return tmp_path / ".specwright" / "log.sqlite"


def code_of(log: WireLog, *wires: dict) -> str:
    """The code with which an append is refused."""
    with pytest.raises(WireRefusedError) as refused:
        log.append(wires)
    return refused.value.rejection.code


def test_entries_come_back_in_order_with_dense_numbers_and_rising_time(path: Path):
    """Topics, dense sequence numbers, consensus time as seconds and nanoseconds; what is hashed is what is stored, and
    replay of a stream gives its state (D-30-02, D-36-01, W-3-08, W-5-03)."""
    wires = written(path)
    log: WireLog = open_log(path)

    entries = list(log.entries())

    assert [entry.wire for entry in entries] == wires
    assert [entry.sequence_number for entry in entries] == [1, 2, 3, 4, 5, 6]
    assert {entry.topic_id for entry in entries} == {TOPIC}
    assert [(entry.consensus_seconds, entry.consensus_nanos) for entry in entries] == [
        (START // 10**9 + second, 0) for second in range(6)
    ]
    assert [entry.sequence_number for entry in log.entries(after=4)] == [5, 6]
    assert [entry.body for entry in open_log(path).stored()] == [envelope.encode(wire) for wire in wires]
    view = reduce_wires(entry.wire for entry in entries).tasks()[TASK]
    assert view["task_state"] == "completed"


def test_consensus_time_rises_even_if_the_clock_stands_still_or_goes_back(path: Path):
    """Consensus time is strictly increasing, also across a restart (D-36-01)."""
    readings = iter([START, START, START - 5, START - 10**12])
    wires = Story().wires(*HAPPY_PATH[:4])
    first = SqliteWireLog(path, TOPIC, lambda: next(readings))
    first.append(wires[:2])
    first.close()
    second = SqliteWireLog(path, TOPIC, lambda: next(readings))
    second.append(wires[2:])

    assert [entry.consensus_nanos for entry in second.entries()] == [0, 1, 2, 3]
    assert second.stream_end(TASK).stream_seq == 4
    second.close()


def test_a_repeated_append_does_nothing(path: Path):
    """The same Wire with the same bytes is skipped, alone or among new ones; another one with its id is a conflict, since
    `wire_id` is globally unique; nothing to say leaves no trace (D-32-01, W-3-03)."""
    wires = Story().wires(*HAPPY_PATH)
    log = open_log(path)
    log.append([])
    assert list(log.entries()) == []
    log.append(wires[:3])
    log.append(wires[:3])
    log.append(wires)
    assert [entry.wire for entry in log.entries()] == wires
    assert code_of(log, wires[0] | {"sender": "human:owner"}) == "wire.id_conflict"


def test_an_append_is_all_or_none(path: Path):
    """One bad Wire and nothing of its append is there, nor remembered (D-31-01, D-32-02)."""
    story = Story()
    good, bad = story.wire("task.created"), story.wire("task.started")
    log = open_log(path)

    assert code_of(log, good, bad) == "task.transition"
    assert list(log.entries()) == []
    assert log.stream_end(TASK).stream_seq == 0
    log.append([good])
    assert log.stream_end(TASK).stream_seq == 1


def test_heads_know_their_stream_only(path: Path):
    """`stream_seq` is dense per stream, the sequence number per topic (W-5-03)."""
    story = Story()
    log = open_log(path)
    review = story.wire("review.recorded", "project:notes-1f0c9a2e")
    log.append([story.wire("task.created"), review, story.wire("task.available")])

    task, project, phase = map(log.stream_end, (TASK, "project:notes-1f0c9a2e", "phase:x"))
    assert (task.stream_seq, project.stream_seq, phase.stream_seq) == (2, 1, 0)
    assert (project.wire_id, phase.wire_id) == (review["wire_id"], None)


def test_opening_catches_up_with_what_is_stored(path: Path):
    """A log that is opened again refuses what it would have refused before (D-29-03, W-6-07)."""
    wires = written(path)
    log = open_log(path)

    assert log.stream_end(TASK).stream_seq == 6
    story = Story()
    late = story.wire("task.started", stream_seq=7) | {"wire_id": "wire_01JZ9999999999999999999999"}
    assert code_of(log, late) == "stream.terminal"
    log.append(wires)
    assert len(list(log.entries())) == 6


def test_a_reader_sees_each_append_and_does_not_hold_up_the_writer(path: Path):
    """A reader in the middle of the log never blocks an append (D36: tail from a position)."""
    wires = Story().wires(*HAPPY_PATH)
    writer, reader = open_log(path), open_log(path)
    writer.append(wires[:2])
    tail = reader.entries()
    assert next(tail).wire == wires[0]

    writer.append(wires[2:])

    assert [entry.wire for entry in reader.entries(after=2)] == wires[2:]


def test_a_reader_takes_no_lock(path: Path):
    """A log that is being written can be opened and read meanwhile (D-29-04)."""
    wires = written(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        reader = open_log(path)

        assert [entry.wire for entry in reader.entries()] == wires
        assert reader.stream_end(TASK).stream_seq == 6


def test_a_topic_keeps_the_payer_it_began_with(path: Path):
    """The chain names one account, whoever opens the log later (D-36-01)."""
    wires = Story().wires(*HAPPY_PATH)
    for half, payer in ((wires[:3], "0.0.1005"), (wires[3:], "0.0.2")):
        log = SqliteWireLog(path, TOPIC, lambda: START, payer=payer)
        log.append(half)
        log.close()

    assert verify(path) == []


def test_topics_of_one_file_do_not_see_each_other(path: Path):
    """Each topic has its own numbers and its own chain (D-36-01)."""
    wires = written(path)
    other = open_log(path, "0.0.1002")
    other.append(wires)

    assert [entry.sequence_number for entry in other.entries()] == [1, 2, 3, 4, 5, 6]
    assert len(stored(path)) == 12


def test_the_file_itself_is_append_only(path: Path):
    """Update, delete and replace are refused by the database, whoever asks (W-5-02)."""
    written(path)
    before = stored(path)
    for statement in (
        "UPDATE entry SET body = x'7b7d'",
        "DELETE FROM entry",
        "INSERT OR REPLACE INTO entry SELECT * FROM entry WHERE sequence_number = 6",
        "INSERT INTO entry SELECT topic_id, 9, 1, 1, body, running_hash FROM entry",
        "UPDATE topic SET payer = '0.0.9'",
        "DELETE FROM topic",
        "UPDATE head SET sequence_number = 3",
        "UPDATE head SET running_hash = x'00'",
        "DELETE FROM head",
        "INSERT OR REPLACE INTO topic SELECT topic_id, '0.0.9' FROM topic",
        "INSERT OR REPLACE INTO head SELECT topic_id, 5, running_hash FROM head",
    ):
        with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.Error, match="append-only"):
            connection.execute(statement)
    assert stored(path) == before


NO_DATABASE = b"not a database, but long enough to be taken for one" * 30


def test_a_damaged_file_is_not_opened_and_told_in_one_sentence(tmp_path: Path):
    """What, where and what to do; records that contradict each other stop the factory; what the disk refuses is an error of
    its own, and a topic that is none is refused before a file is made (DESIGN §1, §9, D-36-01)."""
    damages: list[tuple[str, Callable[[Path], object]]] = [
        ("its version is 9", lambda path: tamper(path, "PRAGMA user_version = 9")),
        ("entry 3", lambda path: tamper(path, "UPDATE entry SET body = x'7b7d' WHERE sequence_number = 3")),
        ("cannot be read", lambda path: path.write_bytes(NO_DATABASE)),
    ]
    for number, (words, damage) in enumerate(damages):
        written(path := tmp_path / f"{number}.sqlite")
        damage(path)
        with pytest.raises(CorruptionError, match=words) as refused:
            open_log(path)
        assert str(path) in str(refused.value)
    with pytest.raises(RefusedError, match="cannot be created"):
        open_log(tmp_path / "0.sqlite" / "log.sqlite")
    with pytest.raises(InputError):
        open_log(tmp_path / "new.sqlite", "project:notes")
    assert not (tmp_path / "new.sqlite").exists()


def test_the_proof_is_shown_beside_the_body_in_the_documents_form(path: Path):
    """HCS metadata is stored as integers and shown as ISO with nine digits (W-3-08, D-36-01)."""
    log = SqliteWireLog(path, TOPIC, lambda: 1_778_083_201_123_456_789)
    log.append([Story().wire("task.created")])
    (entry,) = log.stored()
    log.close()

    shown = hcs_metadata(TOPIC, entry)

    assert default_schemas().check_document("hcs-metadata.schema.json", shown) is None
    assert shown["hcs"]["consensus_timestamp"] == "2026-05-06T16:00:01.123456789Z"
    assert base64.b64decode(shown["hcs"]["running_hash"]) == entry.running_hash
    assert b"hcs" not in entry.body


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
def test_only_a_file_may_lie_beside_the_log(tmp_path: Path, suffix: str):
    """A pipe would be waited for, and a link, also one to itself, leads where SQLite would write (hostile-projects)."""
    path, beside = tmp_path / "wire.db", tmp_path / f"wire.db{suffix}"
    for lay in (os.mkfifo, lambda it: it.symlink_to(it.name), lambda it: it.symlink_to(tmp_path / "mine")):
        lay(beside)
        with pytest.raises(CorruptionError, match="did not write a file beside"):
            check_files_beside("the Wire log", path)
        beside.unlink()
