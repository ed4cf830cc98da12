"""The keys of every `--json` are those that docs/command-line.md lists."""

import re
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import ROOT, specwright
from testkit.sampling import slow

PAGE = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
ROWS = {
    command: set(re.findall(r"`([a-z_]+)`", row[2]))
    for row in re.finditer(r"^\| (`[^|]+`) \| ([^|]+) \|$", PAGE, re.MULTILINE)
    for command in re.findall(r"`([^`]+)`", row[1])
}
LOOKS = {
    "tasks": ["tasks", "{}"],
    "modules": ["modules", "{}"],
    "module": ["module", "initials", "{}"],
    "module --trail": ["module", "initials", "{}", "--trail"],
    "module --debate": ["module", "initials", "{}", "--debate"],
    "verify": ["verify", "{}"],
    "doctor": ["doctor", "{}"],
    "gate": ["gate", "{module}"],
    "wire log": ["wire", "log", "{}"],
    "wire verify": ["wire", "verify", "{}"],
    "wire reduce": ["wire", "reduce", "{}"],
}


def first(document: Any) -> dict[str, Any]:
    """The document, or the first of a list."""
    if isinstance(document, dict) and "checks" in document:
        return {**document, **document["checks"][0]}
    return document[0] if isinstance(document, list) else document


@pytest.mark.parametrize("command", [slow(name) if name == "gate" else name for name in LOOKS])
def test_a_document_has_the_keys_that_are_listed(command: str, released_once: Path) -> None:
    """Neither more nor fewer, so that a program may rely on the page (D-S9-03)."""
    (module,) = (released_once / "state_store/modules").glob("*/1.0.0")
    words = [word.format(released_once, module=module) for word in LOOKS[command]]
    assert set(first(specwright(*words, "--json").document)) == ROWS[command]


def test_a_stop_has_the_keys_that_are_listed(released: Path, waiting: Path, halted_once: Path) -> None:
    """At the gate, halted and released; `status` beside `run` (D-S9-03)."""
    at_gate, at_end = {"spec", "warnings", "sha256", "changes", "change", "estimate"}, {"release"}
    listed = ROWS["run"] - at_gate - at_end
    assert set(specwright("run", waiting, "--json").document) == listed | at_gate
    assert set(specwright("run", released, "--json").document) == listed | at_end
    looked = listed - {"advice", "usage"} | ROWS["status"] - {"advice", "usage", "exit_code"}
    for project, more in ((waiting, at_gate), (released, at_end), (halted_once, set[str]())):
        assert set(specwright("status", project, "--json").document) == looked | more


def test_the_other_documents_have_the_keys_that_are_listed(
    tmp_path: Path, released: Path, halted_once: Path
) -> None:
    """init, release, escalations (D-S9-03)."""
    assert set(specwright("init", tmp_path / "p", "--json").document) == ROWS["init"]
    assert set(specwright("release", released, "--json").document) == ROWS["release"]
    (module,) = specwright("modules", released, "--json").document
    words = ("--reason", "It is slow.", "--migration-note", "Write it out.", "--json")
    told = specwright("deprecate", module["module_ref"], released, *words)
    assert set(told.document) == ROWS["deprecate"]
    (escalation,) = specwright("escalations", halted_once, "--json").document
    assert {"actions", "command"} <= set(escalation)
    assert ROWS["escalations"] == {"actions", "command"}
