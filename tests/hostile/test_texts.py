"""Texts of a received project never steer the terminal of whoever looks at it."""

import json
from pathlib import Path

import pytest

from ship_gate.terminal.output import say, show, write_report

HOSTILE = "\x1b]0;title\x07\x1b[31m\u202e\x9b2J\r\x08\u2066\x7f"
"""Escape sequences of both alphabets, marks that reorder, and characters that overwrite."""


@pytest.mark.parametrize("way", ["a line", "JSON", "a report"])
def test_no_control_character_reaches_standard_output(way: str, capsys: pytest.CaptureFixture[str]):
    """Lines, documents and reports on standard output (hostile-projects, weaknesses) (D-62-03)."""
    if way == "a line":
        say(f"before{HOSTILE}after")
    elif way == "JSON":
        show({"text": f"before{HOSTILE}after"}, "status")
    else:
        write_report(Path("-"), f"before{HOSTILE}after")
    out = capsys.readouterr().out
    assert [
        hex(ord(one))
        for one in out
        if (one in HOSTILE and not one.isascii()) or (ord(one) < 32 and one != "\n")
    ] == []
    assert "before" in out
    if way == "JSON":
        assert json.loads(out)["text"] == f"before{HOSTILE}after"
