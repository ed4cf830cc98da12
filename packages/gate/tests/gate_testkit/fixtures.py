"""Fixtures of tests that run code in the sandbox."""

import tempfile

import pytest

from gate_testkit.running import need_sandbox

__all__ = ["kind", "place", "secret"]


@pytest.fixture(params=["bubblewrap", "landlock"])
def kind(request):
    """Each kind of sandbox that this machine offers."""
    need_sandbox(request.param)
    return request.param


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where the gate puts its directories, so that what it leaves can be told from what others do."""
    folder = tmp_path / "gate"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def secret(tmp_path, monkeypatch):
    """Something of the factory's: a file, and a variable."""
    path = tmp_path / "state.db"
    path.write_text("secret")
    path.chmod(0o644)
    monkeypatch.setenv("SPECWRIGHT_SECRET", "secret")
    return path
