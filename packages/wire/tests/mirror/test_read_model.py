"""The read model says what the log says, on SQLite and on Postgres (W Read model, D47, design: mirrors)."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from agent_wire.canonical_json import canonical
from agent_wire.entries import StoredEntry, hcs_metadata
from agent_wire.errors import CorruptionError, InputError, RefusedError
from agent_wire.log import SqliteWireLog
from agent_wire.mirror.model import ReadModel, open_engine, read_url, upgrade
from agent_wire.reducer import reduce_wires
from wire_testkit.damage import TOPIC, open_log, tamper
from wire_testkit.project_story import project
from wire_testkit.story import CONTEXT, HAPPY_PATH, MODULE, Story, artifact
from wire_testkit.tables import expected_rows, reduced_rows, rows, tables

OTHER = "project:other-0a1b2c3d"
LATER = "task:TSK-005:attempt:1"


def execute(url: str, *statements: str) -> None:
    """Do to the database what somebody else might."""
    with sa.create_engine(read_url(url), poolclass=NullPool).begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))


@contextmanager
def refusing(url: str) -> Iterator[None]:
    """The database, which takes no decision during the block, so that no batch with one can be written."""
    engine = open_engine(read_url(url))
    upgrade(engine)
    engine.dispose()
    execute(url, "ALTER TABLE project_decisions RENAME TO away")
    yield
    execute(url, "ALTER TABLE away RENAME TO project_decisions")


def test_the_tables_say_what_the_reducer_says(url, log, make_mirror):
    """Tasks, artifacts with every version, lineage and decisions, each value (D-47-01, D-47-08)."""
    log.append(project())

    status = make_mirror().catch_up()

    found = reduced_rows(url)
    assert found == expected_rows(reduce_wires(project()))
    assert [len(found[name]) for name in found] == [3, 1, 2, 2, 2]
    assert (status.position.sequence_number, status.lag) == (len(project()), 0)


def test_an_event_has_its_canonical_bytes_and_its_proof_beside_them(url, log, make_mirror):
    """The body is not changed, nanoseconds are whole, the running hash is the log's (D-47-01, W-3-08)."""
    log.append(project())
    make_mirror().catch_up()

    for row, entry, wire in zip(rows(url, "wire_events"), log.stored(), project(), strict=True):
        proof = hcs_metadata(TOPIC, entry)["hcs"]
        assert row["body"].encode() == canonical(wire) == entry.body
        assert (row["consensus_seconds"], row["consensus_nanos"]) == entry[1:3]
        assert base64.b64encode(bytes.fromhex(row["running_hash"])).decode() == proof["running_hash"]
        assert (row["wire_id"], row["type"], row["stream_seq"]) == (
            wire["wire_id"],
            wire["type"],
            wire["stream"]["stream_seq"],
        )


@pytest.mark.parametrize("size", [1, 1000])
def test_the_size_of_a_transaction_does_not_show(url, log, make_mirror, size):
    """Mirrored as it grows or in one piece: the same rows (D-47-02)."""
    wires = project()
    mirror = make_mirror(batch=size)
    for start in range(0, len(wires), 4):
        log.append(wires[start : start + 4])
        mirror.catch_up()

    live = tables(url)
    assert make_mirror().rebuild().lag == 0
    assert tables(url) == live
    assert reduced_rows(url) == expected_rows(reduce_wires(wires))


def test_nothing_is_applied_twice(url, log, make_mirror):
    """Two mirrors of one log, and a third that starts anew, with other sizes of transactions (D-47-02)."""
    wires = project()
    first, second = make_mirror(batch=3), make_mirror(batch=2)
    log.append(wires[:7])
    first.catch_up()
    second.catch_up()
    log.append(wires[7:])
    second.catch_up()
    first.catch_up()

    assert make_mirror().catch_up().position.sequence_number == len(wires)
    assert len(rows(url, "wire_events")) == len(wires)
    assert reduced_rows(url) == expected_rows(reduce_wires(wires))


class FirstEntries:
    """A log as it was when it had fewer entries."""

    def __init__(self, log: SqliteWireLog, number: int) -> None:
        self._log = log
        self._number = number

    def stored(self, after: int = 0) -> Iterator[StoredEntry]:
        """The entries that it had."""
        return (entry for entry in self._log.stored(after) if entry.sequence_number <= self._number)


@pytest.mark.parametrize("number", [7, len(project())])
def test_a_rival_that_mirrors_another_continuation_meanwhile_is_noticed(
    url, log, tmp_path, make_mirror, number
):
    """In the middle of a batch, and at its end (D-47-02)."""
    log.append(project()[:1])
    other = open_log(tmp_path / "other.db")
    other.append(project()[:1])
    log.append(project()[1:])
    other.append([Story(100).wire("review.recorded", stream_seq=2, stream_id=CONTEXT)])
    other.append(project()[1:12])
    other.append(Story(200).wires(*HAPPY_PATH[:4], stream_id=LATER))
    mirror = make_mirror()
    with refusing(url), pytest.raises(RefusedError):
        mirror.catch_up()
    assert make_mirror(FirstEntries(other, number)).catch_up().position.sequence_number == number

    with pytest.raises(CorruptionError, match="not the beginning of this log"):
        mirror.catch_up()


def test_of_a_batch_that_a_rival_wrote_in_part_the_rest_is_written(url, log, make_mirror):
    """Its first try failed; meanwhile another mirror came into the middle of it (D-47-02)."""
    log.append(project())
    mirror, rival = make_mirror(), make_mirror(FirstEntries(log, 7))
    with refusing(url), pytest.raises(RefusedError):
        mirror.catch_up()
    assert rival.catch_up().position.sequence_number == 7

    assert mirror.catch_up().position.sequence_number == len(project())
    assert len(rows(url, "wire_events")) == len(project())
    assert reduced_rows(url) == expected_rows(reduce_wires(project()))


def test_a_version_that_is_announced_again_has_its_last_lineage(url, log, make_mirror):
    """No input of the first announcement stays (D-47-08)."""
    story = Story()
    wires = story.wires("task.created", "task.available", "task.claimed", "task.started")
    lineage: dict[str, Any] = {"task": "TSK-001", "attempt": 1}
    for inputs in (["MM-0000000a@1.0.0", "MM-0000000b@1.0.0"], ["MM-0000000b@1.0.0"]):
        body = artifact(MODULE, lineage=lineage | {"inputs": inputs})
        wires.append(story.wire("artifact.ready", body=body))
    mirror = make_mirror(batch=5)
    log.append(wires)
    mirror.catch_up()

    assert [row["input"] for row in rows(url, "artifact_lineage")] == ["MM-0000000b@1.0.0"]


def test_a_batch_that_fails_leaves_nothing(url, log, make_mirror):
    """Rows and position are one transaction; the next try goes on where it was (D-47-02)."""
    mirror = make_mirror()
    log.append(project()[:2])
    mirror.catch_up()
    before = tables(url)
    execute(url, "ALTER TABLE project_decisions RENAME TO away")
    log.append(project()[2:])

    with pytest.raises(RefusedError, match="project_decisions"):
        mirror.catch_up()

    execute(url, "ALTER TABLE away RENAME TO project_decisions")
    assert tables(url) == before
    mirror.catch_up()
    assert reduced_rows(url) == expected_rows(reduce_wires(project()))


def test_what_somebody_removed_is_mirrored_again(url, log, make_mirror):
    """A running mirror notices that its position is gone (D-47-02)."""
    mirror = make_mirror()
    log.append(project()[:5])
    mirror.catch_up()
    execute(url, *(f"DELETE FROM {name}" for name in tables(url)))
    log.append(project()[5:])
    mirror.catch_up()

    assert len(rows(url, "wire_events")) == len(project())
    assert reduced_rows(url) == expected_rows(reduce_wires(project()))


def test_what_somebody_changed_is_made_good_by_a_rebuild(url, log, make_mirror):
    """The tables are no source of truth (D-47-02)."""
    log.append(project())
    make_mirror().catch_up()
    live = tables(url)
    execute(
        url, "UPDATE agent_tasks SET task_state = 'completed'", "DELETE FROM wire_events WHERE stream_seq = 2"
    )
    assert tables(url) != live

    make_mirror().rebuild()

    assert tables(url) == live


def test_a_rebuild_that_fails_leaves_what_was_there(url, log, tmp_path, make_mirror):
    """It is one transaction: readers see the old until the new is whole (D-47-02)."""
    log.append(project())
    mirror = make_mirror(batch=4)
    mirror.catch_up()
    live = tables(url)
    tamper(tmp_path / "wire.db", "UPDATE entry SET body = CAST('{}' AS BLOB) WHERE sequence_number = 9")

    with pytest.raises(CorruptionError, match="entry 9"):
        mirror.rebuild()

    assert tables(url) == live


def test_several_projects_are_apart(url, log, tmp_path, make_mirror):
    """One database, two logs: each has its rows, and a rebuild of one leaves the other (D-47-01)."""
    log.append(project())
    other = open_log(tmp_path / "other.db")
    other.append(project(OTHER, first_id=5000))
    make_mirror().catch_up()
    make_mirror(other).catch_up()
    both = tables(url)

    make_mirror().rebuild()

    assert tables(url) == both
    assert {row["context_id"] for row in both["wire_logs"]} == {OTHER, project()[0]["stream"]["context_id"]}
    assert [len(both[name]) for name in ("agent_tasks", "artifacts")] == [6, 4]


@pytest.mark.parametrize("kept", [6, 0])
def test_a_log_that_was_replaced_is_not_mirrored_on(url, log, tmp_path, make_mirror, kept):
    """Another continuation, or one that was cut off, is named; `--rebuild` takes it (D-47-02)."""
    log.append(project()[:6])
    make_mirror().catch_up()
    before = tables(url)
    other = open_log(tmp_path / "replaced.db")
    other.append(project()[:1])
    other.append(
        [Story(100).wire("review.recorded", stream_seq=2, stream_id=project()[0]["stream"]["stream_id"])]
    )
    other.append(project()[1 : kept + 1])

    for look in (make_mirror(other).catch_up, make_mirror(other).status):
        with pytest.raises(CorruptionError, match="not the beginning of this log"):
            look()
    assert tables(url) == before
    assert make_mirror(other).rebuild().position.sequence_number == kept + 2
    assert len(rows(url, "wire_events")) == kept + 2


def test_position_and_lag_are_seen_without_writing(log, tmp_path, make_mirror):
    """Before the first mirror, behind, and up to date; an empty log has nothing to mirror (D-47-04)."""
    assert make_mirror().status() == make_mirror().catch_up() == make_mirror().rebuild()
    log.append(project()[:4])
    mirror = make_mirror()
    seen = [mirror.status()]
    assert not (tmp_path / "model.db").exists()
    mirror.catch_up()
    seen.append(mirror.status())
    log.append(project()[4:9])
    seen.append(mirror.status())
    assert make_mirror().status() == seen[-1]

    assert [(status.position.sequence_number, status.lag) for status in seen] == [(0, 4), (4, 0), (4, 5)]
    assert [status.behind for status in seen] == [0.0, 0.0, 5.0]  # the clock of this log ticks a second


def test_a_later_schema_is_left_alone(url, log, make_mirror):
    """What a later version of the program made is not written by this one (D-47-01)."""
    log.append(project()[:4])
    make_mirror().catch_up()
    execute(url, "UPDATE alembic_version SET version_num = '9999'")
    log.append(project()[4:])

    with pytest.raises(RefusedError, match="later version"):
        make_mirror().catch_up()


def test_an_altered_entry_is_not_mirrored(url, log, tmp_path, make_mirror):
    """A mirror only follows: what no log would have admitted ends it with the entry's number (D-47-02)."""
    log.append(Story().wires(*HAPPY_PATH))
    tamper(tmp_path / "wire.db", "UPDATE entry SET body = CAST('{}' AS BLOB) WHERE sequence_number = 4")

    with pytest.raises(CorruptionError, match="entry 4"):
        make_mirror(batch=2).catch_up()
    assert len(rows(url, "wire_events")) == 2


def test_another_database_is_refused_without_its_password():
    """One message, and no secret in it (D-S9-04)."""
    secret = "me:s3cret@host/model"
    for url_ in (f"mysql://{secret}", "sqlite://", "no url", f"postgresql+asyncpg://{secret}", ""):
        with pytest.raises(InputError) as caught:
            ReadModel(url_)
        assert "s3cret" not in str(caught.value)
        assert "sqlite:///" in caught.value.remedy


def test_a_log_is_only_read(url, log: SqliteWireLog, make_mirror):
    """A mirror neither changes nor stops what it mirrors (D-47-04)."""
    log.append(project()[:5])
    before = list(log.stored())
    mirror = make_mirror()
    mirror.catch_up()
    mirror.rebuild()

    assert list(log.stored()) == before
    log.append(project()[5:])
