"""A project that somebody sends holds data: its checkpoints run no code (case checkpoint-rce)."""

import json
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import ormsgpack
import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Interrupt

from specwright.graphs.checkpoints import JsonSerializer
from testkit.cli.commands import PLAYBOOK, SMALL, in_own_process, specwright
from testkit.postgres_projects import connected
from testkit.workers import queued, tell

RUN = ("--spec", SMALL / "SPEC.md", "--model", PLAYBOOK)


def extension(code: int, *parts: object) -> tuple[str, bytes]:
    """A value of msgpack whose extension names what is called."""
    return "msgpack", ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(parts)))


def crafted(marker: Path) -> dict[str, tuple[str, bytes]]:
    """Checkpoints that LangGraph's own serializer answers by a shell command; the last three it refuses by now."""
    command = f"touch {marker}"
    in_json = {"lc": 2, "type": "constructor", "id": ["os", "system"], "args": [command]}
    return {
        "a call": extension(0, "os", "system", command),
        "a call with a tuple": extension(1, "os", "system", (command,)),
        "a call by name": extension(2, "subprocess", "run", {"args": command, "shell": True}),
        "a call within a snapshot": (
            "msgpack",
            ormsgpack.packb(ormsgpack.Ext(7, extension(0, "os", "system", command)[1])),
        ),
        "a pickle": ("pickle", f"cos\nsystem\n(S'{command}'\ntR.".encode()),
        "a method": extension(3, "posixpath", "os", command, "system"),
        "a model": extension(5, "posixpath", "os", command, "system"),
        "a constructor in JSON": ("json", json.dumps(in_json).encode()),
    }


@pytest.fixture
def sent(waiting_once: Path, tmp_path: Path) -> Path:
    """A project that waits for approval, with crafted checkpoints."""
    project = shutil.copytree(waiting_once, tmp_path / "sent")
    with closing(sqlite3.connect(project / ".specwright/checkpoints.db")) as database, database:
        form, value = crafted(tmp_path / "marker")["a call"]
        assert database.execute("UPDATE checkpoints SET type = ?, checkpoint = ?", (form, value)).rowcount
        database.execute("UPDATE writes SET type = ?, value = ?", (form, value))
    return project


@pytest.mark.parametrize(("command", "code"), [("run", 3), ("approve", 0)])
def test_a_crafted_checkpoint_is_discarded(sent: Path, tmp_path: Path, command: str, code: int):
    """The run says so once, and continues from the journal and the log (case checkpoint-rce)."""
    told = specwright(command, sent)
    assert not (tmp_path / "marker").exists()
    assert told.code == code, told
    assert told.err.count("a checkpoint was discarded") == 1


SET = "UPDATE checkpoints SET checkpoint = CAST(json_set(checkpoint, ?, json(?)) AS BLOB)"
SHAPES: dict[str, tuple[str, ...]] = {
    "versions": ("$.channel_versions", '"x"'),
    "no versions": ("$.channel_versions", "null"),
    "what was updated": ("$.updated_channels", "[{}]"),
    "values": ("$.channel_values", "[1]"),
    "an id": ("$.id", "{}"),
}
"""A place in a checkpoint, and what somebody writes there."""

LATER: dict[str, tuple[str, ...]] = {
    "a version": ("$.channel_versions.schema_version", "[[]]"),
    "what was seen": ("$.versions_seen.product_loop", "null"),
}
"""The same, read only when the graph goes on."""

QUESTIONS = (
    '[["i", []]]',
    '[["i", {}]]',
    '[["i", {"kind": "escalation", "escalations": 5}]]',
    '[["i"]]',
    "[5]",
)


def damaged(waiting: Path, tmp_path: Path, statement: str, values: tuple[object, ...]) -> Path:
    """A copy whose checkpoints a statement has changed."""
    project = shutil.copytree(waiting, tmp_path / "sent")
    with closing(sqlite3.connect(project / ".specwright/checkpoints.db")) as database, database:
        assert database.execute(statement, values).rowcount
    return project


def test_a_checkpoint_of_another_shape_is_discarded(waiting_once: Path, tmp_path: Path):
    """JSON that is no checkpoint counts as none, and so does each part that is read (hostile-projects, checkpoint-rce)."""
    whole = "UPDATE checkpoints SET checkpoint = ?"
    wrong = [(whole, (text.encode(),)) for text in ("[]", '"x"', "{", "[" * 100_000, '{"v":4}')]
    for number, (statement, values) in enumerate([*wrong, *((SET, shape) for shape in SHAPES.values())]):
        project = damaged(waiting_once, tmp_path / str(number), statement, values)
        if statement == SET:
            with closing(sqlite3.connect(project / ".specwright/checkpoints.db")) as database, database:
                database.execute("DELETE FROM writes")
        told = specwright("run", project)
        assert told.code == 3, (values, told)
        assert told.err.count("a checkpoint was discarded") == 1, values


@pytest.mark.slow
def test_a_checkpoint_that_breaks_the_graph_on_its_way_is_discarded(waiting_once: Path, tmp_path: Path):
    """The step is done once more without it, or the person is asked again."""
    for shape, values in LATER.items():
        told = specwright("approve", damaged(waiting_once, tmp_path / shape, SET, values))
        assert told.code == (3 if shape == "a version" else 0), told
        assert told.err.count("a checkpoint was discarded") == 1


def test_a_question_of_another_shape_is_discarded(waiting_once: Path, tmp_path: Path):
    """What the graph waits for is read from the checkpoint, too."""
    statement = "UPDATE writes SET value = ? WHERE channel = '__interrupt__'"
    for number, question in enumerate(QUESTIONS):
        told = specwright(
            "run", damaged(waiting_once, tmp_path / str(number), statement, (question.encode(),))
        )
        assert told.code == 3, (question, told)
        assert told.err.count("a checkpoint was discarded") == 1, question


def test_a_checkpoint_of_another_shape_in_a_store_is_discarded(postgres_url: str, tmp_path: Path):
    """The columns of Postgres hold JSON as well."""
    waiting = tmp_path / "waiting"
    assert specwright("run", waiting, *RUN, "--store", postgres_url).code == 3
    with connected(postgres_url) as store:
        for column, shape in (("channel_versions", "[1]"), ("versions_seen", '"x"')):
            place = [column]
            changed = store.execute(
                "UPDATE checkpoints SET checkpoint = jsonb_set(checkpoint, %s, %s::jsonb)", (place, shape)
            )
            assert changed.rowcount
            told = specwright("run", waiting)
            assert told.code == 3, told
            assert told.err.count("a checkpoint was discarded") == 1


def poison(url: str, form: str, value: bytes) -> None:
    """Write a value into every place of a store that has one of a checkpoint."""
    with connected(url) as store:
        for table in ("checkpoint_blobs", "checkpoint_writes"):
            assert store.execute(f"UPDATE {table} SET type = %s, blob = %s", (form, value)).rowcount


def test_langgraphs_own_serializer_calls_what_a_checkpoint_names(tmp_path: Path):
    """Otherwise the tests beside this one would show nothing."""
    own, called = JsonPlusSerializer(pickle_fallback=True), set[str]()
    for name, value in crafted(tmp_path / "marker").items():
        own.loads_typed(value)
        if (tmp_path / "marker").exists():
            called.add(name)
            (tmp_path / "marker").unlink()
    assert called >= {
        "a call",
        "a call with a tuple",
        "a call by name",
        "a call within a snapshot",
        "a pickle",
    }


def test_a_crafted_checkpoint_in_a_store_is_discarded(postgres_url: str, tmp_path: Path):
    """The command that drives a stored project reads checkpoints by the same saver (case worker-checkpoint-rce)."""
    waiting = tmp_path / "waiting"
    assert specwright("run", waiting, *RUN, "--store", postgres_url).code == 3
    poison(postgres_url, *crafted(tmp_path / "marker")["a call"])
    told = specwright("approve", waiting)
    assert not (tmp_path / "marker").exists()
    assert told.code == 0, told
    assert told.err.count("a checkpoint was discarded") == 1


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_worker_calls_nothing_that_a_checkpoint_of_a_shared_store_names(postgres_url: str, tmp_path: Path):
    """`specwright worker` says that it discards each, and drives the project to its release (case worker-checkpoint-rce)."""
    project, marker = queued(tmp_path / "p", postgres_url, *RUN), tmp_path / "marker"

    def worked() -> str:
        ended = in_own_process("worker", "--once", "--store", postgres_url, timeout=400)
        assert (ended.code, marker.exists()) == (0, False), ended
        return ended.out

    worked()
    for name in ("a call", "a call within a snapshot", "a pickle", "a constructor in JSON"):
        poison(postgres_url, *crafted(marker)[name])
        tell(project, "run")
        assert worked().count("a checkpoint was discarded") == 1, name
        assert project.status()["where"] == "approval"
    poison(postgres_url, *crafted(marker)["a call by name"])
    tell(project, "approve")
    worked()
    assert project.status()["where"] == "released"


def test_the_serializer_admits_json_and_interrupts(tmp_path: Path):
    """Whatever else a graph holds is an error when it is written, and another form when it is read."""
    serializer = JsonSerializer()
    stopped = (Interrupt(value={"kind": "approval"}, id="i1"),)
    for value in (None, {"a": [1, "x", True, None]}, stopped):
        assert serializer.loads_typed(serializer.dumps_typed(value)) == value
    with pytest.raises(TypeError):
        serializer.dumps_typed({"path": Path("x")})
    for form, value in [*crafted(tmp_path / "marker").values(), ("bytes", b"1")]:
        with suppress(ValueError):
            assert (form, serializer.loads_typed((form, value))) == ("json", json.loads(value))
    assert not (tmp_path / "marker").exists()
