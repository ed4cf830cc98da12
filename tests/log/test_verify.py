"""`verify` finds any flipped bit, dropped, swapped, inserted or cut-off entry, and names it (D36)."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from log.damage import TOPIC, open_log, stored, tamper, written
from specwright.errors import InputError
from specwright.log.running_hash import EntityId, running_hash
from specwright.log.verify import LogEnd, verify

AND_FIXTURES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


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


def test_every_altered_byte_of_a_body_is_found_at_its_entry(path: Path):
    """One altered byte in the log is found and its entry named (D-36-02)."""
    body = stored(path)[2][4]
    for place in range(0, len(body), 23):
        changed = body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]
        tamper(path, "UPDATE entry SET body = ? WHERE sequence_number = 3", parameters=(changed,))

        assert 3 in named(path, "log.changed"), place


@pytest.mark.parametrize(
    ("column", "code"),
    [
        ("consensus_seconds = consensus_seconds - 1", "log.time"),
        ("consensus_nanos = consensus_nanos + 1", "log.changed"),
        ("consensus_nanos = 1000000000000", "log.time"),
        ("running_hash = zeroblob(48)", "log.changed"),
    ],
)
def test_an_altered_column_is_found_at_its_entry(path: Path, column: str, code: str):
    """Not only the body is proven (D-36-02)."""
    tamper(path, f"UPDATE entry SET {column} WHERE sequence_number = 4")

    assert 4 in named(path, code)


def test_an_altered_payer_is_found(path: Path):
    """Who submitted is part of the hash (D-36-01)."""
    tamper(path, "PRAGMA foreign_keys = OFF", "UPDATE topic SET payer = '0.0.3'")

    assert 1 in named(path, "log.changed")


def test_a_dropped_entry_is_named(path: Path):
    """Dropped: the gap is named, and the chain breaks after it (D-36-02)."""
    tamper(path, "DELETE FROM entry WHERE sequence_number = 3")

    assert named(path, "log.gap") == {3}
    assert named(path, "log.changed") == {4}


def test_a_dropped_entry_whose_gap_was_closed_is_found(path: Path):
    """Renumbering hides the gap, not the broken chain (D-36-02)."""
    tamper(
        path,
        "DELETE FROM entry WHERE sequence_number = 3",
        "UPDATE entry SET sequence_number = 3 WHERE sequence_number = 4",
        "UPDATE entry SET sequence_number = 4 WHERE sequence_number = 5",
        "UPDATE entry SET sequence_number = 5 WHERE sequence_number = 6",
    )

    assert 3 in named(path, "log.changed")


def test_swapped_entries_are_named(path: Path):
    """Swapped: both are named (D-36-02)."""
    tamper(
        path,
        "UPDATE entry SET sequence_number = 99 WHERE sequence_number = 2",
        "UPDATE entry SET sequence_number = 2 WHERE sequence_number = 3",
        "UPDATE entry SET sequence_number = 3 WHERE sequence_number = 99",
    )

    assert {2, 3} <= named(path, "log.changed")


def test_an_inserted_entry_is_named(path: Path):
    """Inserted at the end, even with a hash that follows: the end is noted beside it (D-36-02)."""
    topic, number, seconds, nanos, body, before = stored(path)[-1]
    forged = running_hash(
        before,
        payer=EntityId.parse("0.0.2"),
        topic=EntityId.parse(topic),
        seconds=seconds + 1,
        nanos=nanos,
        sequence=number + 1,
        message=body,
    )
    tamper(
        path,
        "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)",
        parameters=(topic, number + 1, seconds + 1, nanos, body, forged),
    )

    assert named(path, "log.changed") == {7}
    assert named(path, "log.inadmissible") == {7}


def test_a_log_that_was_cut_off_is_named(path: Path):
    """Truncated: the first missing entry is named (D-36-02)."""
    tamper(path, "DELETE FROM entry WHERE sequence_number > 4")

    assert named(path, "log.cut_off") == {5}


def test_an_older_copy_is_found_by_an_end_that_was_noted_elsewhere(path: Path, tmp_path: Path):
    """What no chain shows by itself, a noted end does (D-36-02)."""
    older = tmp_path / "older.sqlite"
    written(older, "task.created", "task.available")
    last = stored(path)[-1]
    noted = {TOPIC: LogEnd(last[1], last[5])}

    assert verify(path, expected=noted) == []
    assert [finding.code for finding in verify(older, expected=noted)] == ["log.cut_off"]
    assert [finding.code for finding in verify(path, expected={TOPIC: LogEnd(2, bytes(48))})] == [
        "log.changed"
    ]
    assert [finding.code for finding in verify(path, expected={"0.0.7": LogEnd(1, bytes(48))})] == [
        "log.cut_off"
    ]


def rechained(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Rewrite the last body, and everything that a thorough forger would rewrite with it."""
    _, number, seconds, nanos, body, _ = stored(path)[-1]
    forged = change(body)
    chained = running_hash(
        stored(path)[-2][5],
        payer=EntityId.parse("0.0.2"),
        topic=EntityId.parse(TOPIC),
        seconds=seconds,
        nanos=nanos,
        sequence=number,
        message=forged,
    )
    tamper(path, "UPDATE entry SET body = ? WHERE sequence_number = 6", parameters=(forged,))
    tamper(path, "UPDATE entry SET running_hash = ? WHERE sequence_number = 6", parameters=(chained,))
    tamper(path, "UPDATE head SET running_hash = ?", parameters=(chained,))


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b'"mechanical":"pass"', b'"mechanical":"fail"', "log.inadmissible"),
        (b'"type":', b'"type": ', "log.not_canonical"),
        (b'"type":', b'"type":"x","type":', "log.not_canonical"),
    ],
)
def test_a_body_that_no_rule_would_admit_is_named_though_its_chain_is_whole(
    path: Path, old: bytes, new: bytes, code: str
):
    """The chain proves order, admission proves sense: both are checked (D-31-01)."""
    rechained(path, lambda body: body.replace(old, new))

    assert [(finding.sequence_number, finding.code) for finding in verify(path)] == [(6, code)]


def test_a_file_that_is_no_log_is_a_finding_and_a_missing_one_an_input_error(tmp_path: Path):
    """Verification never ends in a traceback (DESIGN §9)."""
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"SQLite format 3\0" + b"x" * 5000)

    assert [finding.code for finding in verify(broken)] == ["log.unreadable"]
    with pytest.raises(InputError):
        verify(tmp_path / "missing.sqlite")


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
