"""What every store does, the directory and Postgres: log, journal, one driver, and what a kill leaves (D46, D9, D29)."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

import pytest

from agent_wire import envelope
from agent_wire.entries import LogEnd
from agent_wire.errors import WireRefusedError
from specwright.bootstrap.stores import ProjectStore, opened_store
from specwright.errors import BusyError, CorruptionError, NonDeterminismError
from testkit.processes import process
from wire_testkit.story import HAPPY_PATH, TASK, Story

Opened = Callable[[], ProjectStore]


@pytest.fixture(params=["directory", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """The setting `store` of each kind of store."""
    return "" if request.param == "directory" else request.getfixturevalue("postgres_url")


@pytest.fixture
def opened(url: str, tmp_path: Path) -> Iterator[Opened]:
    """Opens the project, as another process would each time."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(opened_store(tmp_path, url))


@pytest.fixture
def store(opened: Opened) -> Iterator[ProjectStore]:
    """A store that is driven."""
    store = opened()
    with store.driving():
        yield store


def never() -> NoReturn:
    """A live answer that nobody may ask for."""
    raise AssertionError("asked live")


def code_of(log: Any, *wires: dict[str, Any]) -> str:
    """The code with which an append is refused."""
    with pytest.raises(WireRefusedError) as refused:
        log.append(wires)
    return refused.value.rejection.code


def test_a_project_that_was_never_driven_has_nothing_and_gets_nothing_by_being_looked_at(opened: Opened):
    """Looking makes no project (D46)."""
    store = opened()
    assert not store.has_log()
    assert not store.has_answers()
    assert store.driver() == ""
    assert [*store.records()] == []
    assert not store.files.exists("product/spec.json")
    assert store.files.names("definitions") == []
    assert store.files.tree("definitions") == {}
    with pytest.raises(CorruptionError, match="missing"):
        store.files.read("product/spec.json")
    assert not opened().has_log()


def test_the_log_keeps_what_it_accepted_in_order_with_dense_numbers(store: ProjectStore, opened: Opened):
    """Topics, dense numbers, rising time; another process reads the same and the stored bytes are canonical
    (D-36-01, D-30-02, D46)."""
    wires = Story().wires(*HAPPY_PATH)
    store.log().append(wires[:4])
    log = store.log()
    log.append(wires)  # the first four are repeated

    read = opened().log(reading=True)
    entries = list(read.entries())
    assert [entry.wire for entry in entries] == wires
    assert [entry.sequence_number for entry in entries] == [1, 2, 3, 4, 5, 6]
    times = [(entry.consensus_seconds, entry.consensus_nanos) for entry in entries]
    assert times == sorted(set(times))
    assert [entry.body for entry in read.stored(after=4)] == [envelope.encode(wire) for wire in wires[4:]]
    assert opened().has_log()
    assert read.stream_end(TASK).stream_seq == 6
    end = log.end()
    assert end is not None
    assert read.holds(end)
    assert not read.holds(LogEnd(topic_id=end.topic_id, sequence_number=6, running_hash="0" * 96))


def test_an_append_is_all_or_none_and_a_repeated_id_is_a_conflict(store: ProjectStore):
    """One bad Wire and nothing of its append is there (D-31-01, D-32-01, D-32-02)."""
    story = Story()
    good, bad = story.wire("task.created"), story.wire("task.started")
    log = store.log()
    assert code_of(log, good, bad) == "task.transition"
    assert list(log.entries()) == []
    log.append([good])
    assert code_of(log, good | {"sender": "human:owner"}) == "wire.id_conflict"
    assert log.stream_end(TASK).stream_seq == 1


def test_of_two_who_write_to_one_stream_one_is_refused(store: ProjectStore, opened: Opened):
    """An append with another expected place is refused, whoever was first (D-32-02)."""
    one, other = store.log(), opened().log()
    one.append([Story().wire("task.created")])
    late = Story().wire("task.created") | {"wire_id": "wire_01JZ9999999999999999999999"}
    assert code_of(other, late).startswith("stream.")
    assert len(list(other.entries())) == 1


def test_what_was_answered_is_never_asked_again(store: ProjectStore, opened: Opened):
    """A later process gets the answers of the first, by their places (D-S4-01, D-S4-03)."""
    answers: list[Any] = [{"text": "\ud800 \0 ?%s"}, 10**400, None]
    first = store.journal().scope("TSK-001.1/x/round-1/proposer")
    assert [first.recall("model", n, lambda n=n: answers[n]) for n in range(3)] == answers
    first.recall("tool", "looked", lambda: "seen")

    again = opened()
    scope = again.journal().scope("TSK-001.1/x/round-1/proposer")
    assert [scope.recall("model", n, never) for n in range(3)] == answers
    assert [record.answer for record in again.records("tool")] == ["seen"]
    assert len([*again.records()]) == 4
    assert again.has_answers()


def test_a_request_that_differs_is_refused_and_an_error_is_no_answer(store: ProjectStore, opened: Opened):
    """Never served silently, never asked live (D-S4-02, D-S4-03)."""
    scope = store.journal().scope("TSK-001.1/x")
    with pytest.raises(ZeroDivisionError):
        scope.recall("model", "old", lambda: 1 // 0)
    scope.recall("model", "old", lambda: "answer")
    with pytest.raises(NonDeterminismError) as refused:
        opened().journal().scope("TSK-001.1/x").recall("model", "new", never)
    assert "TSK-001.1/x, model 0" in refused.value.where


_HOLDER = """
import sys, time
from pathlib import Path
from specwright.bootstrap.stores import opened_store
with opened_store(Path(sys.argv[1]), sys.argv[2]) as store, store.driving():
    print("holding", flush=True)
    time.sleep(100)
"""


def test_a_second_driver_is_told_who_holds_the_project_and_a_kill_lets_go(
    opened: Opened, url: str, tmp_path: Path
):
    """One driver per project; its lock ends with its process, however that ends (D-S4-08, D9, D46)."""
    holder = process(_HOLDER, tmp_path, url)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "holding\n"
    store = opened()
    try:
        assert store.driver().startswith(f"process {holder.pid} on ")
        with pytest.raises(BusyError, match=f"process {holder.pid} on") as refused, store.driving():
            pass
        assert refused.value.exit_code == 1
        assert refused.value.remedy
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.communicate()
    with store.driving():
        assert opened().driver().startswith(f"process {os.getpid()} on ")
    assert opened().driver() == ""


_TREE = {"contract.json": b"{}", "tests/test_a.py": b"assert True\n"}


def test_published_files_can_be_read_by_programs_on_this_machine(store: ProjectStore, opened: Opened):
    """A directory with what is published, up to date with each call (D46)."""
    store.files.publish_tree("artifacts/T-a/IMPL-1/1.0.0", _TREE)
    store.files.replace("artifacts/T-a/IMPL-1/1.0.0/envelope.json", b"old")
    place = opened().files.directory("artifacts/T-a/IMPL-1/1.0.0")
    assert (place / "envelope.json").read_bytes() == b"old"
    store.files.replace("artifacts/T-a/IMPL-1/1.0.0/envelope.json", b"new")
    place = opened().files.directory("artifacts/T-a/IMPL-1/1.0.0")
    files = {
        path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()
    }
    assert files == {**_TREE, "envelope.json": b"new"}
    assert store.folder.read("state_store/artifacts/T-a/IMPL-1/1.0.0/contract.json") == b"{}"


def test_names_that_look_alike_are_not_mixed_up(store: ProjectStore):
    """A directory is a whole name: `a` has nothing of `a-b` or `a0` (D46)."""
    for name in ("a/x", "a-b/x", "a0/x", "a/y/z", "ab", "a%/x", "a_/x", "ä/x"):
        store.files.publish(name, name.encode())
    assert store.files.names("a") == ["x", "y"]
    assert store.files.tree("a") == {"x": b"a/x", "y/z": b"a/y/z"}
    assert store.files.names("") == sorted(["a", "a-b", "a0", "ab", "a%", "a_", "ä"])
    assert store.files.names("a_") == ["x"]


_WRITER = """
import os, signal, sys
from pathlib import Path
from specwright.bootstrap.stores import opened_store
with opened_store(Path(sys.argv[1]), sys.argv[2]) as store, store.driving():
    scope = store.journal().scope("x")
    for number in range(int(sys.argv[3])):
        scope.recall("model", number, lambda: number)
        store.files.publish(f"definitions/{number}", b"%d" % number)
    print("written", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_written_before_a_kill_is_there(opened: Opened, url: str, tmp_path: Path):
    """What a call returned from is durable; the next driver finds it (D-S4-03, D46)."""
    writer = process(_WRITER, tmp_path, url, "5")
    assert writer.communicate()[0] == "written\n"
    store = opened()
    with store.driving():
        assert [record.answer for record in store.records()] == [0, 1, 2, 3, 4]
        assert store.files.names("definitions") == ["0", "1", "2", "3", "4"]
