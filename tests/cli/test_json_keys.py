"""The keys of every `--json` are those that docs/command-line.md lists."""

import re
from pathlib import Path
from typing import Any

import pytest

from specwright.domain.escalation import EscalationArtifact
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
    "index search": ["index", "search", "the first letters of a name", "{}"],
    "module": ["module", "initials", "{}"],
    "module --trail": ["module", "initials", "{}", "--trail"],
    "trace": ["trace", "initials", "{}"],
    "module --debate": ["module", "initials", "{}", "--debate"],
    'report --pointer "?"': ["report", "initials", "{}", "--pointer", "?"],
    "verify": ["verify", "{}"],
    "doctor": ["doctor", "{}"],
    "gate": ["gate", "{module}"],
    "gate DIR...": ["gate", "{module}", "{module}"],
    "explain": ["explain", "tests.failed"],
    "wire log": ["wire", "log", "{}"],
    "wire verify": ["wire", "verify", "{}"],
    "mirror": ["mirror", "{}", "--status"],
    "export-html": ["export-html", "{}", "{new}/pages"],
}


LISTS = ("tasks", "modules", "matches", "wires", "checks", "exceptions", "escalations")


def keys(document: dict[str, Any]) -> set[str]:
    """The keys of a document, and of the first in its list, beside its schema and version."""
    assert document["schema"]
    assert document["version"] == 1
    found = (document[name] for name in LISTS if isinstance(document.get(name), list))
    rows: list[dict[str, Any]] = next(found, list[dict[str, Any]]())
    own = set(document) - {"schema", "version"}
    is_listing = len(own) == 1 or "checks" in own
    return own | (set(rows[0]) if rows and is_listing else set())


@pytest.mark.parametrize("command", [slow(name) if name.startswith("gate") else name for name in LOOKS])
def test_a_document_has_the_keys_that_are_listed(command: str, released_once: Path, tmp_path: Path) -> None:
    """Neither more nor fewer, so that a program may rely on the page (D-S9-03)."""
    (module,) = (released_once / "state_store/modules").glob("*/1.0.0")
    words = [word.format(released_once, module=module, new=tmp_path) for word in LOOKS[command]]
    assert keys(specwright(*words, "--json").document) == ROWS[command]


def test_a_stop_has_the_keys_that_are_listed(released: Path, waiting: Path, halted_once: Path) -> None:
    """At the gate, halted and released; `status` beside `run` (D-S9-03)."""
    at_gate, at_end = {"spec", "warnings", "sha256", "outside", "spec_edited", "changes"}, {"release"}
    at_gate |= {"change", "estimate", "decisions", "in_words"}
    listed = ROWS["run"] - at_gate - at_end
    assert keys(specwright("run", waiting, "--json").document) == listed | at_gate
    assert keys(specwright("run", released, "--json").document) == listed | at_end
    looked = listed - {"advice", "usage"} | ROWS["status"] - {"advice", "usage", "exit_code"}
    for project, more in ((waiting, at_gate), (released, at_end), (halted_once, set[str]())):
        assert keys(specwright("status", project, "--json").document) == looked | more


def test_the_other_documents_have_the_keys_that_are_listed(
    tmp_path: Path, released: Path, halted_once: Path
) -> None:
    """init, release, escalations (D-S9-03)."""
    assert keys(specwright("init", tmp_path / "p", "--json").document) == ROWS["init"]
    assert keys(specwright("release", released, "--json").document) == ROWS["release"]
    (module,) = specwright("modules", released, "--json").document["modules"]
    words = ("--reason", "It is slow.", "--migration-note", "Write it out.", "--json")
    told = specwright("deprecate", module["module_ref"], released, *words)
    assert keys(told.document) == ROWS["deprecate"]
    (escalation,) = specwright("escalations", halted_once, "--json").document["escalations"]
    record, shown = set(EscalationArtifact.model_fields), set(escalation)
    assert ROWS["escalations"] == {"escalations"} | shown - record - {"sha256"}
