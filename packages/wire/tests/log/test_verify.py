"""`verify` finds any flipped bit, dropped, swapped, inserted or cut-off entry, and names it (D36)."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from agent_wire import envelope
from agent_wire.entries import GENESIS, EntityId, LogEnd, StoredEntry, running_hash
from agent_wire.errors import InputError
from agent_wire.log import SqliteWireLog
from agent_wire.verify import verify
from wire_testkit.damage import START, TOPIC, open_log, stored, tamper, written
from wire_testkit.story import Story

AND_FIXTURES = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log of six entries."""
    written(tmp_path / "log.sqlite")
    return tmp_path / "log.sqlite"


def named(path: Path, code: str) -> set[int]:
    """The entries that are named with a code."""
    return {finding.sequence_number for finding in verify(path) if finding.code == code}


def test_a_log_that_nobody_touched_is_intact(path: Path):
    """No finding on an intact log, nor after it was opened and read (D-36-02)."""
    open_log(path).close()

    assert verify(path) == []


def chained(before: bytes, seconds: int, nanos: int, number: int, body: bytes) -> bytes:
    """The running hash of an entry as the log computes it."""
    payer, topic = EntityId.parse("0.0.2"), EntityId.parse(TOPIC)
    return running_hash(before, StoredEntry(number, seconds, nanos, body, b""), payer=payer, topic=topic)


ALTERED = {
    "consensus_seconds = consensus_seconds - 1": "log.time",
    "consensus_nanos = consensus_nanos + 1": "log.changed",
    "consensus_nanos = 1000000000000": "log.time",
    "running_hash = zeroblob(48)": "log.changed",
    "body = CAST(body || ' ' AS BLOB)": "log.changed",
}


def test_an_altered_column_is_found_at_its_entry(path: Path):
    """The body and what stands beside it; who submitted is part of the hash (D-36-01, D-36-02)."""
    for column, code in ALTERED.items():
        copy = copied(path)
        tamper(copy, f"UPDATE entry SET {column} WHERE sequence_number = 4")
        assert 4 in named(copy, code), column
    tamper(path, "PRAGMA foreign_keys = OFF", "UPDATE topic SET payer = '0.0.3'")
    assert 1 in named(path, "log.changed")


def test_an_inserted_entry_is_named(path: Path):
    """Inserted at the end, even with a hash that follows: the end is noted beside it; nothing is wrong with an admissible
    one but that the log did not take it (D-36-02)."""
    topic, number, seconds, nanos, body, before = stored(path)[-1]
    forged = chained(before, seconds + 1, nanos, number + 1, body)
    row = (topic, number + 1, seconds + 1, nanos, body, forged)
    tamper(copy := copied(path), "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", parameters=row)
    assert [(found.sequence_number, found.code) for found in verify(copy)] == [(7, "log.inadmissible")]
    log = open_log(path)
    log.append([Story(90).wire("review.recorded", "project:notes-1f0c9a2e")])
    log.close()
    tamper(path, "UPDATE head SET sequence_number = 6, running_hash = ?", parameters=(stored(path)[5][5],))
    assert [(found.sequence_number, found.code) for found in verify(path)] == [(7, "log.changed")]


def noted(path: Path) -> LogEnd:
    """Where a log ends, as somebody notes it elsewhere."""
    end = open_log(path).end()
    assert end is not None
    return end


def test_an_older_copy_is_found_by_an_end_that_was_noted_elsewhere(path: Path, tmp_path: Path):
    """What no chain shows by itself, a noted end does (D-36-02)."""
    older = tmp_path / "older.sqlite"
    written(older, "task.created", "task.available")
    end, early = noted(path), noted(older)

    assert verify(path, expected=[end, early, end]) == []
    assert [(found.sequence_number, found.code) for found in verify(older, expected=[early, end])] == [
        (6, "log.cut_off")
    ]
    elsewhere = end._replace(topic_id="0.0.7")
    assert [found.code for found in verify(path, expected=[elsewhere])] == ["log.cut_off"]


def test_a_log_that_was_rewritten_as_a_whole_is_found_by_a_noted_end(path: Path, tmp_path: Path):
    """Consistent in itself, with every hash computed anew, and yet not the log that was noted (D-36-02)."""
    early, end = noted(path)._replace(sequence_number=2), noted(path)
    forged = tmp_path / "forged.sqlite"
    log = SqliteWireLog(forged, TOPIC, lambda: START + 1)
    log.append([entry.wire for entry in open_log(path).entries()])
    log.close()

    assert verify(forged) == []
    assert [(found.sequence_number, found.code) for found in verify(forged, expected=[end])] == [
        (6, "log.changed")
    ]
    assert [found.sequence_number for found in verify(path, expected=[early, end])] == [2]


def test_a_log_knows_its_end_and_what_it_holds(path: Path, tmp_path: Path):
    """The end that is noted outside is the last entry with its running hash (D-36-02)."""
    log, empty = open_log(path), open_log(tmp_path / "empty.sqlite")
    end = noted(path)

    assert end == LogEnd(topic_id=TOPIC, sequence_number=6, running_hash=stored(path)[-1][5].hex())
    assert (log.holds(end), empty.holds(end), empty.end()) == (True, False, None)
    assert not log.holds(end._replace(sequence_number=5))
    assert not log.holds(end._replace(topic_id="0.0.7"))


def rechained(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Rewrite the last body, and everything that a thorough forger would rewrite with it."""
    _, number, seconds, nanos, body, _ = stored(path)[-1]
    forged = change(body)
    digest = chained(stored(path)[-2][5], seconds, nanos, number, forged)
    tamper(path, "UPDATE entry SET body = ? WHERE sequence_number = 6", parameters=(forged,))
    tamper(path, "UPDATE entry SET running_hash = ? WHERE sequence_number = 6", parameters=(digest,))
    tamper(path, "UPDATE head SET running_hash = ?", parameters=(digest,))


def test_a_body_that_no_rule_would_admit_is_named_though_its_chain_is_whole(path: Path):
    """The chain proves order, admission proves sense: both are checked (D-31-01)."""
    for old, new, code in (
        (b'"mechanical":"pass"', b'"mechanical":"fail"', "log.inadmissible"),
        (b'"type":', b'"type": ', "log.not_canonical"),
        (b'"type":', b'"type":"x","type":', "log.not_canonical"),
    ):
        rechained(copy := copied(path), lambda body, old=old, new=new: body.replace(old, new))
        assert [(finding.sequence_number, finding.code) for finding in verify(copy)] == [(6, code)]


def test_a_trigger_that_is_gone_or_added_is_named(path: Path):
    """The file is append-only by its triggers: `verify` looks whether they are there (W-5-02)."""
    for statement in (
        "DROP TRIGGER entry_is_not_changed",
        "DROP TRIGGER head_moves_by_one",
        "CREATE TRIGGER quiet BEFORE INSERT ON entry BEGIN SELECT 1; END",
        "CREATE TABLE notes (text TEXT)",
    ):
        with closing(sqlite3.connect(copy := copied(path))) as connection:
            connection.execute(statement)
            connection.commit()
        (finding,) = verify(copy)
        assert finding.code == "log.unprotected"
        assert statement.split()[2] in finding.message


def test_triggers_that_are_gone_are_put_back_when_the_log_is_opened_to_append(path: Path):
    """A reader leaves them, a writer restores them, and the log is append-only again (W-5-02)."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TRIGGER entry_is_not_deleted; DROP TRIGGER topic_has_head;")
    SqliteWireLog(path, TOPIC, lambda: START, reading=True).close()
    assert [found.code for found in verify(path)] == ["log.unprotected"]

    open_log(path).close()

    assert verify(path) == []
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute("DELETE FROM entry")


def test_a_file_that_is_no_log_is_a_finding_and_a_missing_one_an_input_error(tmp_path: Path):
    """Verification never ends in a traceback (DESIGN §9)."""
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"SQLite format 3\0" + b"x" * 5000)

    assert [finding.code for finding in verify(broken)] == ["log.unreadable"]
    with pytest.raises(InputError):
        verify(tmp_path / "missing.sqlite")


ANY_ENTRY = st.integers(1, 6)


def names(path: Path) -> set[int]:
    """Every entry that is named, whatever for."""
    return {finding.sequence_number for finding in verify(path)}


def copied(path: Path) -> Path:
    """A fresh copy to damage."""
    copy = path.with_name("copy.sqlite")
    copy.write_bytes(path.read_bytes())
    return copy


def flipped(value: int | str | bytes, at: float, bit: int) -> int | str | bytes:
    """A value of a column with one bit flipped somewhere."""
    if isinstance(value, int):
        return value ^ 1 << (8 * int(at * 7) + bit)
    data = bytearray(value.encode() if isinstance(value, str) else value)
    data[int(at * len(data))] ^= 1 << (bit % 7 if isinstance(value, str) else bit)
    return data.decode() if isinstance(value, str) else bytes(data)


@AND_FIXTURES
@example(number=2, column="sequence_number", at=0.0, bit=1)
@given(
    number=ANY_ENTRY,
    column=st.sampled_from(
        ["topic_id", "sequence_number", "consensus_seconds", "consensus_nanos", "body", "running_hash"]
    ),
    at=st.floats(0, 1, exclude_max=True),
    bit=st.integers(0, 7),
)
def test_any_flipped_bit_of_any_column_names_its_entry(
    path: Path, number: int, column: str, at: float, bit: int
):
    """Whatever bit of whatever column of whatever entry: that entry is named (D-36-02)."""
    columns = ["topic_id", "sequence_number", "consensus_seconds", "consensus_nanos", "body", "running_hash"]
    altered = flipped(stored(path)[number - 1][columns.index(column)], at, bit)
    assume(column != "sequence_number" or altered not in range(1, 7))  # that place is taken
    copy = copied(path)
    tamper(copy, f"UPDATE entry SET {column} = ? WHERE sequence_number = {number}", parameters=(altered,))

    assert number in names(copy)
    # an entry with another number or topic is gone from one place and stands at another
    assert len(verify(copy)) <= (2 if column in ("sequence_number", "topic_id") else 1)


@AND_FIXTURES
@given(
    place=st.sampled_from(
        ["topic.topic_id", "topic.payer", "head.topic_id", "head.sequence_number", "head.running_hash"]
    ),
    at=st.floats(0, 1, exclude_max=True),
    bit=st.integers(0, 7),
)
def test_any_flipped_bit_beside_the_entries_is_found(path: Path, place: str, at: float, bit: int):
    """The topic, its payer and the noted end are proven as well (D-36-02)."""
    table, column = place.split(".")
    with closing(sqlite3.connect(path)) as connection:
        (value,) = connection.execute(f"SELECT {column} FROM {table}").fetchone()
    copy = copied(path)
    tamper(copy, f"UPDATE {table} SET {column} = ?", parameters=(flipped(value, at, bit),))

    assert 1 <= len(verify(copy)) <= (2 if place == "head.topic_id" else 1)


@AND_FIXTURES
@given(number=ANY_ENTRY, renumbered=st.booleans())
def test_any_dropped_entry_is_named(path: Path, number: int, renumbered: bool):
    """Dropped anywhere, also where the numbers were closed up after it: the gap, the broken chain or the end, and not each
    entry after it (D-36-02)."""
    rows = [row for row in stored(path) if row[1] != number]
    if renumbered:
        rows = [(row[0], place, *row[2:]) for place, row in enumerate(rows, start=1)]
    copy = copied(path)
    tamper(copy, "DELETE FROM entry", rows=rows)

    code = "log.cut_off" if number == 6 else "log.changed" if renumbered else "log.gap"
    assert number in named(copy, code)
    assert renumbered or len(verify(copy)) == 1


@AND_FIXTURES
@given(pair=st.lists(ANY_ENTRY, min_size=2, max_size=2, unique=True))
def test_any_two_swapped_entries_are_named(path: Path, pair: list[int]):
    """Swapped, wherever they stood: both are named (D-36-02)."""
    one, other = sorted(pair)
    rows = stored(path)
    rows[one - 1], rows[other - 1] = rows[other - 1], rows[one - 1]
    copy = copied(path)
    tamper(
        copy, "DELETE FROM entry", rows=[(row[0], place, *row[2:]) for place, row in enumerate(rows, start=1)]
    )

    assert {one, other} <= names(copy)


@AND_FIXTURES
@given(number=st.integers(1, 7), follows=st.booleans())
def test_any_inserted_entry_is_named(path: Path, number: int, follows: bool):
    """Inserted anywhere, also with a hash that follows from the entry before it (D-36-02)."""
    rows = stored(path)
    before = rows[number - 2] if number > 1 else (TOPIC, 0, START // 10**9, -1, b"", GENESIS)
    seconds, nanos = before[2], before[3] + 1
    body = envelope.encode(Story(90).wire("review.recorded", "project:notes-1f0c9a2e"))
    digest = chained(before[5], seconds, nanos, number, body)
    forged = (TOPIC, number, seconds, nanos, body, digest if follows else bytes(48))
    moved = [(row[0], row[1] + 1, *row[2:]) for row in rows[number - 1 :]]
    copy = copied(path)
    tamper(copy, "DELETE FROM entry", rows=[*rows[: number - 1], forged, *moved])

    # Where its own hash follows, the first entry that does not follow from it is the one after it.
    assert names(copy) & ({number, number + 1} if follows else {number})


def test_an_entry_of_a_topic_that_is_none_of_the_log_is_named(path: Path):
    """Nothing hides in the file beside its topics (D-36-02)."""
    tamper(path, rows=[("0.0.1002", 1, *stored(path)[0][2:])])

    assert [(found.topic_id, found.sequence_number) for found in verify(path)] == [("0.0.1002", 1)]


@AND_FIXTURES
@given(length=st.integers(0, 5), agreeing=st.booleans())
def test_a_log_cut_off_anywhere_is_named(path: Path, length: int, agreeing: bool):
    """Cut off anywhere: the first missing entry; one that agrees with itself, by the noted end (D-36-02)."""
    end, rows = noted(path), stored(path)
    copy = copied(path)
    tamper(copy, f"DELETE FROM entry WHERE sequence_number > {length}")
    if agreeing:
        tamper(copy, "DELETE FROM head")
        if length:
            last = (TOPIC, length, rows[length - 1][5])
            tamper(copy, "INSERT INTO head VALUES (?, ?, ?)", parameters=last)

    assert named(copy, "log.cut_off") == (set() if agreeing else {length + 1})
    assert bool(verify(copy)) is not agreeing
    assert 6 in {finding.sequence_number for finding in verify(copy, expected=[end])}


@AND_FIXTURES
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_any_flipped_bit_of_the_file_is_harmless_or_reported(path: Path, place: float, bit: int):
    """Wherever a bit flips: what the entries hold is unchanged, or `verify` says so (D-36-02)."""
    clean = path.read_bytes()
    before = stored(path)
    damaged = bytearray(clean)
    damaged[int(place * len(clean))] ^= 1 << bit
    copy = path.with_name("damaged.sqlite")
    copy.write_bytes(damaged)

    findings = verify(copy)

    assert findings or stored(copy) == before
    assert len(findings) <= 2


@AND_FIXTURES
@given(order=st.lists(st.integers(0, 5), max_size=8))
def test_any_rearrangement_of_the_entries_is_harmless_or_reported(path: Path, order: list[int]):
    """Entries dropped, doubled or in another order: the log is the same, or `verify` says so (D-36-02)."""
    rows = stored(path)
    copy = path.with_name("rearranged.sqlite")
    copy.write_bytes(path.read_bytes())
    moved = [(rows[place][0], number, *rows[place][2:]) for number, place in enumerate(order, start=1)]
    tamper(copy, "DELETE FROM entry", rows=moved)

    assert bool(verify(copy)) == (stored(copy) != rows)
