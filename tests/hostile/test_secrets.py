"""Keys and passwords of the person reach no process that does not need them, and no message, however they are spelt (case
secrets)."""

import base64
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast
from urllib.parse import quote, quote_plus

import pytest

from specwright.bootstrap import drive, worker
from specwright.bootstrap.drive import Outcome
from specwright.cli.questions import edited
from specwright.secret_values import without_secrets
from specwright.studio.actions import Command, Jobs
from specwright.wheels.environment import CleanEnvironment

NEEDED = {
    "OPENAI_API_KEY": "canary/1+of openai",
    "PGPASSWORD": "canary-2-of-postgres",
    "AWS_SECRET_ACCESS_KEY": "canary-3",
}
"""What models and stores take."""
OTHERS = {
    "HEDERA_OPERATOR_KEY": "canary-4-of-hedera",
    "HEDERA_SUBMIT_KEY": "canary-5-of-hedera",
    "GITHUB_TOKEN": "canary-6-of-github",
    "SPECWRIGHT_STUDIO_TOKEN": "canary-7-of-the-studio",
    "DATABASE_URL": "postgresql://person:canary-8@host/d",
}
_WRITES_ITS_ENVIRONMENT = (
    "import json, os, sys; json.dump(dict(os.environ), open(sys.argv[1], 'w')); print('{}')"
)


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**NEEDED, **OTHERS}.items():
        monkeypatch.setenv(name, value)


def secrets_in(file: Path) -> set[str]:
    """The names of the variables with a secret that a process had."""
    found = cast("dict[str, str]", json.loads(file.read_text()))
    return {name for name, value in found.items() if "canary" in value}


def test_a_command_of_the_studio_has_the_keys_that_it_needs(tmp_path: Path):
    """It asks models and opens stores, and signs nothing for Hedera."""
    job = Jobs((sys.executable, "-c", _WRITES_ITS_ENVIRONMENT)).start("p", Command((str(tmp_path / "seen"),)))
    assert job.wait(60)
    assert secrets_in(tmp_path / "seen") == {*NEEDED}


def test_the_process_of_a_worker_has_the_keys_that_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The same."""

    def drive_project(*_: object) -> Outcome:
        (tmp_path / "seen").write_text(json.dumps(dict(os.environ)))
        return Outcome(ended="interrupted")

    monkeypatch.setattr(drive, "drive_project", drive_project)
    receiver, sender = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            worker._drive(worker.Connection(sender), "", str(tmp_path))  # pyright: ignore[reportPrivateUsage]
        finally:
            os._exit(1)
    os.waitpid(pid, 0)
    os.close(receiver)
    os.close(sender)
    assert secrets_in(tmp_path / "seen") == {*NEEDED}


def test_pip_has_no_keys(tmp_path: Path):
    """Of the wheel it needs nothing, and of packages what leads to their index."""
    files = iter((tmp_path / "wheel", tmp_path / "packages"))
    for requires in ([], ["attrs"]):
        pip = (sys.executable, "-c", _WRITES_ITS_ENVIRONMENT, str(next(files)))
        CleanEnvironment(tmp_path, Path(sys.executable), tmp_path, pip, 60).install(
            tmp_path / "p.whl", requires
        )
    assert secrets_in(tmp_path / "wheel") == secrets_in(tmp_path / "packages") == set()


def test_an_editor_has_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It may load what lies beside the file, and plugins."""
    monkeypatch.setenv("VISUAL", f'{sys.executable} -c "{_WRITES_ITS_ENVIRONMENT}" {tmp_path / "seen"}')
    edited({}, lambda answer: answer)
    assert secrets_in(tmp_path / "seen") == set()


SPELLINGS: list[Callable[[str], str]] = [
    lambda key: key,
    lambda key: quote(key, ""),
    quote,
    quote_plus,
    lambda key: key.encode().hex(),
    lambda key: key.encode().hex().upper(),
    *(
        lambda key, before=before: base64.b64encode(f"{before}{key}:x".encode()).decode()
        for before in ("", "u:", "me:", "a:")
    ),
    lambda key: base64.urlsafe_b64encode(key.encode()).decode(),
]


@pytest.mark.parametrize("said", SPELLINGS)
def test_a_key_that_an_endpoint_repeats_in_another_form_is_not_shown(said: Callable[[str], str]):
    """In base64, in hexadecimal, and as an address has it (hostile-projects, weaknesses)."""
    key = NEEDED["OPENAI_API_KEY"]
    text = without_secrets(f"wrong key: {said(key)}!")
    assert text.startswith("wrong key: ")
    assert "***" in text
    for form in (key, quote(key), key.encode().hex(), base64.b64encode(key.encode()).decode()[4:-4]):
        assert form.casefold() not in text.casefold()
