"""The package's README: its commands and its program do what it shows."""

import re
import shlex
from pathlib import Path

import pytest

from agent_wire import cli
from testkit.paths import ROOT

README = (ROOT / "packages/wire/README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The code blocks of a language, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_the_first_screen_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The fixture is valid; the program writes a log; the commands read it (W-7-07)."""
    (program,), (shown,) = blocks("python"), blocks("text")
    commands = [shlex.split(line, comments=True) for block in blocks("sh") for line in block.splitlines()]
    calls = [words[1:] for words in commands if words[0] == "agent-wire"]
    assert len(calls) == 5

    monkeypatch.chdir(ROOT)
    assert cli.main(calls[0]) == 0
    assert capsys.readouterr().out == shown
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "README.md", "exec"), {})
    assert capsys.readouterr().out == "created\n"
    assert [cli.main(call) for call in calls[1:]] == [0, 0, 0, 0]
