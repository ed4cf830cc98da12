"""Files of a project that something else has damaged: said, never built upon, never a traceback (D-S9-04)."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from specwright.bootstrap import project
from testkit.cli.commands import Told, everything, specwright
from testkit.cli.projects import sent_back
from testkit.sampling import spread

RUNTIME = ".specwright"


def truncate(path: Path) -> None:
    """The first half of a file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def replace(path: Path) -> None:
    """Text where a database was."""
    path.write_text("this is no database, only a text that is long enough to be taken for a header\n" * 20)


def scribble(path: Path) -> None:
    """Nonsense in the middle of a file."""
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 2048] = b"\xa5" * 2048
    path.write_bytes(data)


def sound_words(told: Told) -> None:
    """One message: not a traceback, not a confession, something to do or somewhere to look."""
    assert told.code in (1, 2), told
    assert "Traceback" not in told.err
    assert "itself broke" not in told.err, told.err
    assert "  where: " in told.err


@pytest.mark.parametrize("damage", [truncate, replace, scribble])
def test_a_damaged_log_is_said_by_whoever_reads_it(damage: Callable[[Path], None], released: Path) -> None:
    """D-S9-04: those who look and those who drive name the file, and leave it as it is."""
    log = released / RUNTIME / "wire.db"
    for beside in (*log.parent.glob("wire.db-*"),):
        beside.unlink()
    damage(log)
    for name in ("status", "tasks", "modules", "run", "release"):
        told = specwright(name, released)
        if told.code:
            sound_words(told)
            assert "wire.db" in told.err or "Wire" in told.err
        else:
            assert damage is scribble  # what is damaged is not what is read


def test_an_emptied_log_is_not_taken_for_a_new_project(released: Path) -> None:
    """D-S9-04: nothing that is on disk is redone or overwritten because the log forgot it."""
    for path in released.glob(".specwright/wire.db*"):
        path.unlink()
    (released / RUNTIME / "wire.db").write_bytes(b"")
    told = specwright("run", released)
    assert "Traceback" not in told.err
    assert "itself broke" not in told.err
    modules = list((released / "state_store/modules").glob("*/*/ship.json"))
    assert len(modules) == 1


def test_a_damaged_line_of_the_journal_is_named(waiting: Path) -> None:
    """D-S9-04: file and line, and what to do."""
    journal = waiting / RUNTIME / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([lines[0], b"{nonsense}\n", *lines[2:]]))
    specwright("approve", waiting).refuses("damaged line", f"{journal}, line 2", "restore", code=1)


def test_a_torn_last_line_of_the_journal_is_no_damage(waiting: Path) -> None:
    """D-S9-04: it was never answered, so the run simply goes on."""
    with (waiting / RUNTIME / "journal.jsonl").open("ab") as stream:
        stream.write(b'{"scope": "x", "ki')
    assert specwright("run", waiting).code == 3


JOURNALS: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "emptied": lambda lines: [],
    "cut off": lambda lines: lines[:3],
    "changed": lambda lines: [lines[1], lines[0], *lines[2:]],
}


@pytest.mark.parametrize("damage", JOURNALS.values(), ids=JOURNALS)
def test_a_journal_that_the_log_contradicts_is_never_gone_on_with(
    damage: Callable[[list[bytes]], list[bytes]], released: Path
) -> None:
    """Who drives refuses, so that the log does not bind it for good; `verify` does not advise to. With the copy back all is
    as it was; records that a kill left behind those are none of it (D-S9-04, D-29-01)."""
    journal = released / RUNTIME / "journal.jsonl"
    sound = journal.read_bytes()
    journal.write_bytes(b"".join(damage(sound.splitlines(keepends=True))))
    state = everything(released)
    told = specwright("verify", released)
    assert (told.code, "journal.changed" in told.out, "from a copy" in told.out) == (1, True, True)
    assert "specwright run" not in told.err
    assert ("not proven" in told.err) == ("as long as the journal is not restored" in told.err)
    (module,) = specwright("modules", released, "--json").document["modules"]
    reason = ("--reason", "It is too slow.", "--migration-note", "Nobody calls it.")
    for command in (("run",), ("release",), ("deprecate", module["module_ref"])):
        told = specwright(*command, released, *(reason if command[1:] else ()))
        told.refuses("does not begin with", f"{journal}: ", "from a copy", code=1)
    after = everything(released)
    assert {path for path in state if state[path] != after[path]} <= {f"{RUNTIME}/at_work.json"}
    journal.write_bytes(sound + b'{"scope":"x","kind":"model","ordinal":0,"request":"","answer":{}}\n')
    assert specwright("run", released).code == 0
    assert specwright("verify", released).code == 0


@pytest.mark.parametrize("left", [0, 3])
def test_a_log_that_names_a_damaged_journal_is_whole_with_the_copy(
    left: int, released: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier versions went on with what was left, and named it in the log: it is where the journal begins (D-29-01)."""
    journal = released / RUNTIME / "journal.jsonl"
    sound = journal.read_bytes()
    journal.write_bytes(b"".join(sound.splitlines(keepends=True)[:left]))
    with monkeypatch.context() as earlier:
        earlier.setattr(project, "check_journal", lambda *_: None)
        assert specwright("run", released).code == 0
    specwright("run", released).refuses("does not begin with", code=1)
    journal.write_bytes(sound)
    assert specwright("run", released).code == 0
    assert specwright("verify", released).code == 0


@pytest.mark.parametrize("damage", [replace, *spread([truncate, scribble], slow=2)])
def test_damaged_checkpoints_are_named_with_the_way_out(
    damage: Callable[[Path], None], waiting: Path
) -> None:
    """D-S9-04, D9: the journal and the log hold everything, so the file may be put aside."""
    checkpoints = waiting / RUNTIME / "checkpoints.db"
    for beside in (*checkpoints.parent.glob("checkpoints.db-*"),):
        beside.unlink()
    damage(checkpoints)
    told = specwright("approve", waiting)
    if told.code != 0:
        sound_words(told)
        assert str(checkpoints) in told.err
        checkpoints.unlink()
    assert specwright("run", waiting, "--approve").code == 0


def test_damaged_product_files_and_options_of_the_last_run_are_named(waiting: Path) -> None:
    """D-S9-04: the spec that waits is read, not trusted; who drives must name the model again, who looks need not."""
    for name in ("spec.json", "validation.json"):
        path = waiting / "state_store/product" / name
        sound = path.read_bytes()
        path.write_bytes(b"{")
        specwright("status", waiting).refuses("JSON", name)
        path.write_bytes(sound)
    path = waiting / RUNTIME / "run.json"
    for text in ("{", "[]", '{"options": {"model": 1}}', '{"options": {"store": ""}}', "\xff\xfe"):
        path.write_text(text)
        specwright("approve", waiting).refuses("options of the last run", str(path), "--model")
        specwright("run", waiting).refuses("options of the last run", str(path), "--model")
        assert specwright("status", waiting).code == 0


def test_damaged_module_files_and_a_damaged_or_lost_wheel_are_named(released: Path) -> None:
    """D-S9-04: contract, evidence and examples are looked at with care; the summary never names a wheel that is not the one
    that was tried."""
    (module,) = (released / "state_store/modules").glob("*/*")
    for path in (module / "contract.json", module / "ship.json"):
        sound = path.read_bytes()
        path.write_text(json.dumps({"module_id": 1}))
        told = specwright("modules", released)
        sound_words(told)
        assert path.name in told.err
        path.write_bytes(sound)
    (wheel,) = (released / "state_store/releases").glob("*/*.whl")
    wheel.write_bytes(b"nothing")
    specwright("status", released).refuses("wheel is damaged", wheel.name, code=1)
    wheel.unlink()
    specwright("status", released).refuses("missing", wheel.name, code=1)


def test_an_altered_definition_is_named(released: Path) -> None:
    """D-S9-04, D29: what Wires refer to by hash is checked by hash."""
    definitions = sorted((released / "state_store/definitions").iterdir())
    for path in definitions:
        path.write_bytes(path.read_bytes() + b" ")
    told = specwright("status", released)
    told.refuses("altered", "definitions", code=1)


def test_a_doubled_line_of_the_journal_is_found_before_it_stops_a_run(released: Path) -> None:
    """D-S9-04: `verify` finds what `run` would stop at, and both name the line."""
    journal = released / RUNTIME / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines, lines[0]]))
    told = specwright("verify", released)
    assert told.code == 1
    assert "two answers for one place" in told.out + told.err
    specwright("run", released).refuses("two answers for one place", f"line {len(lines) + 1}", code=1)


def test_an_altered_answer_of_a_model_is_named(waiting: Path) -> None:
    """D-S9-04: one message with the place of the answer, when the run comes to it again."""
    journal = waiting / RUNTIME / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    first = next(line for line in lines if line["kind"] == "model")
    first["answer"] = {"message": {"type": "poem"}}
    journal.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    sent_back(waiting, "Say more.")
    told = specwright("run", waiting)
    told.refuses("the journal has an answer that is not a model's", "product.1/researcher", code=1)
