"""What a command leaves for a worker, and what a worker notes (D46)."""

import json
from pathlib import Path

import pytest

from specwright.bootstrap.drive import (
    MOST_ATTEMPTS,
    STORED_SETTINGS,
    DriveError,
    DriveRecord,
    approved_in_advance,
    drive_record,
    leave_approval,
    note_drive,
    store_settings,
    worker_settings,
)
from specwright.bootstrap.stores import opened_store
from specwright.errors import CorruptionError, InputError, UntrustedError
from specwright.settings import Settings
from testkit.memory_tree import MemoryTree


def test_a_worker_takes_the_settings_of_the_command_and_the_sandbox_of_its_machine(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Whoever queues a project does not choose what runs unconfined on another machine (D-46-03)."""
    monkeypatch.chdir(tmp_path)
    chosen = Settings.model_validate(
        {
            "model": "playbook:answers",
            "gate_strength": 0.9,
            "sandbox": "none",
            "store": "postgresql://user:secret@host/d",
            "drive": "workers",
            "role_models": {"challenger": "openai:other"},
        }
    )
    with opened_store(tmp_path, postgres_url) as store:
        store_settings(store, chosen)
        kept = json.loads(store.folder.read(STORED_SETTINGS))
        assert kept.keys() == {"model", "gate_strength", "role_models"}
        store.folder.replace(STORED_SETTINGS, json.dumps({**kept, "sandbox": "none"}).encode())
        monkeypatch.setenv("SPECWRIGHT_SANDBOX", "landlock")
        taken = worker_settings(store, postgres_url, tmp_path)
    assert taken.model == f"playbook:{tmp_path}/answers"
    assert (taken.gate_strength, taken.sandbox, taken.store, taken.drive) == (
        0.9,
        "landlock",
        postgres_url,
        "here",
    )
    assert taken.role_models == {"challenger": "openai:other"}


def test_whoever_can_write_to_the_store_does_not_choose_where_keys_go(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A decisive setting counts if the user's own command queued it on this machine, or the worker's environment says the
    same; otherwise the project is refused by name."""
    monkeypatch.chdir(tmp_path)
    own, foreign = "http://127.0.0.1:9/v1", "http://127.0.0.1:8/v1"
    with opened_store(tmp_path, postgres_url) as store:
        store_settings(store, Settings(model="openai:x", base_url=own))
        assert worker_settings(store, postgres_url, tmp_path).base_url == own
        stored = {"model": "openai:x", "base_url": foreign}
        store.folder.replace(STORED_SETTINGS, json.dumps(stored).encode())
        with pytest.raises(UntrustedError, match=foreign) as refused:
            worker_settings(store, postgres_url, tmp_path)
        assert "SPECWRIGHT_BASE_URL" in refused.value.remedy
        monkeypatch.setenv("SPECWRIGHT_BASE_URL", foreign)
        assert worker_settings(store, postgres_url, tmp_path).base_url == foreign


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (None, InputError, "no settings"),
        (b"\xff", CorruptionError, "not JSON"),
        (b"[" * 100_000, CorruptionError, "not JSON"),
        (b'{"of_tomorrow": 1}', InputError, "of_tomorrow"),
        (b'{"gate_strength": "much"}', InputError, "gate_strength"),
    ],
    ids=["missing", "no text", "deep", "unknown", "wrong"],
)
def test_settings_that_a_worker_cannot_use_are_one_error(
    postgres_url: str, tmp_path: Path, content: bytes | None, error: type[Exception], words: str
):
    """Each says what and where (D-46-03)."""
    with opened_store(tmp_path, postgres_url) as store:
        if content is not None:
            store.folder.replace(STORED_SETTINGS, content)
        with pytest.raises(error, match=words):
            worker_settings(store, postgres_url, tmp_path)


def test_an_approval_in_advance_is_for_one_change_and_until_the_next_command():
    """The draft of another change is not approved by it (D-46-03)."""
    folder = MemoryTree()
    assert not approved_in_advance(folder, 0)
    leave_approval(folder, 1)
    assert approved_in_advance(folder, 1)
    assert not approved_in_advance(folder, 0)
    assert not approved_in_advance(folder, 11)
    leave_approval(folder, None)
    assert not approved_in_advance(folder, 1)


def test_attempts_count_until_the_project_moves_or_a_person_asks():
    """A project that ends its driver again and again is given up; one that moves is not (D-46-03)."""
    record = DriveRecord().next("one", "now", 0)
    for number in range(2, MOST_ATTEMPTS + 2):  # whoever drove it is gone without a word
        record = record.next("other", "later", 0)
        assert record.attempts == number
    assert record.attempts > MOST_ATTEMPTS
    assert record.asked().next("one", "now", 0).attempts == 1
    assert record.next("one", "now", 1).attempts == 1
    for clean in ("stopped", "interrupted", "paused"):
        assert record.model_copy(update={"ended": clean}).next("one", "now", 0).attempts == 1
    assert (
        record.model_copy(update={"ended": "waiting"}).next("one", "now", 0).attempts == record.attempts + 1
    )


def test_a_failing_project_is_tried_again_later_each_time():
    """The waits grow, and have a limit (D-46-03)."""
    waits = [DriveRecord(attempts=number).wait for number in range(1, MOST_ATTEMPTS + 1)]
    assert waits == sorted(waits)
    assert waits[0] == 5.0
    assert waits[-1] == 900.0


def test_a_record_is_read_as_it_was_written_and_a_damaged_one_counts_for_nothing():
    """It only counts attempts (D-46-03)."""
    folder = MemoryTree()
    assert drive_record(folder) == DriveRecord()
    record = DriveRecord(
        worker="w",
        began="now",
        attempts=3,
        journal=7,
        ended="failed",
        error=DriveError(what="no \udcff", where="where", remedy="do"),
    )
    note_drive(folder, record)
    assert drive_record(folder) == record
    assert str(record.error).startswith("no \\udcff")
    for content in (b"", b"[]", b'{"error": {"what": 1}}', b'{"attempts": "many"}'):
        folder.replace(".specwright/drive.json", content)
        assert drive_record(folder) == DriveRecord()
