"""Every document of `--json` holds to its schema, and docs/command-line.md says which command prints it (D-S9-03)."""

import json
import re
import shutil
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from specwright.documents.stops import Status, Stop
from testkit.cli.commands import PLAYBOOK, ROOT, Told, specwright
from testkit.sampling import slow

SCHEMAS = ROOT / "schemas/command-line/v1"
MAKER = run_path(str(ROOT / "docs/make_document_schemas.py"))
PAGE = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
ROWS = {
    name: set(re.findall(r"`([^`]+)`", row[2]))
    for row in re.finditer(r"^\| (`[^|]+`) \| ([^|]+) \|$", PAGE.partition("| schema |")[2], re.MULTILINE)
    for name in re.findall(r"`([^`]+)`", row[1])
}
"""The commands that the page lists for each schema."""

LOOKS: dict[str, tuple[str, list[str]]] = {
    "status": ("status", ["status", "{released}"]),
    "status at the gate": ("status", ["status", "{waiting}"]),
    "status halted": ("status", ["status", "{halted}"]),
    "status of nothing": ("error", ["status", "{empty}/none"]),
    "init": ("init", ["init", "{empty}/new"]),
    "tasks": ("tasks", ["tasks", "{halted}"]),
    "modules": ("modules", ["modules", "{released}"]),
    "index search": ("matches", ["index", "search", "initials of a name", "{released}"]),
    "module": ("module", ["module", "initials", "{released}"]),
    "module --trail": ("trail", ["module", "initials", "{released}", "--trail"]),
    "trace": ("trace", ["trace", "initials", "{released}"]),
    "module --debate": ("debates", ["module", "shout", "{halted}", "--debate"]),
    "escalations": ("escalations", ["escalations", "{halted}"]),
    "escalations ESC": ("escalation", ["escalations", "{escalation}", "{halted}"]),
    "escalations --checkout": (
        "checkout",
        ["escalations", "{escalation}", "{halted}", "--checkout", "{empty}/fix"],
    ),
    'report --pointer "?"': ("statements", ["report", "initials", "{released}", "--pointer", "?"]),
    "exceptions list": ("exceptions", ["exceptions", "list", "{released}"]),
    "costs": ("costs", ["costs", "{released}"]),
    "verify": ("verified", ["verify", "{released}"]),
    "gate": ("gate", ["gate", "{module}"]),
    "gate DIR...": ("gates", ["gate", "{module}", "{module}"]),
    "explain": ("explanation", ["explain", "tests.failed"]),
    "doctor": ("doctor", ["doctor", "{released}"]),
    "wire log": ("wire-log", ["wire", "log", "{released}"]),
    "wire verify": ("log-verified", ["wire", "verify", "{released}"]),
    "mirror": ("mirror", ["mirror", "{released}", "--status"]),
    "export": ("moved", ["export", "{released}", "{empty}/export"]),
    "export-html": ("export-html", ["export-html", "{released}", "{empty}/pages"]),
    "trust": ("trusted", ["trust", "{released}"]),
    "bad usage": ("error", ["status", "--no-such-option"]),
}


def document_of(told: Told, name: str) -> dict[str, Any]:
    """The document, which is of this name and holds to its schema."""
    document = told.document
    assert (document["schema"], document["version"]) == (name, 1)
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(document)
    return document


@pytest.mark.parametrize("command", [slow(name) if name.startswith("gate") else name for name in LOOKS])
def test_a_document_holds_to_the_schema_that_it_names(
    command: str, released_once: Path, waiting_once: Path, halted_once: Path, tmp_path: Path
) -> None:
    """Of every command that looks (D-S9-03)."""
    (tmp_path / "SPEC.md").write_text("# Nameplate\n")
    (module,) = (released_once / "state_store/modules").glob("*/1.0.0")
    (escalation,) = (halted_once / "state_store/escalations").iterdir()
    places = {"released": released_once, "waiting": waiting_once, "halted": halted_once, "empty": tmp_path}
    more = {"module": module, "escalation": escalation.stem}
    name, words = LOOKS[command]
    document_of(specwright(*(word.format(**places, **more) for word in words), "--json"), name)


def test_the_page_says_which_command_prints_a_document() -> None:
    """Each schema once, and the commands that print it (D-S9-03)."""
    assert ROWS.keys() >= MAKER["DOCUMENTS"].keys()
    known = {command for commands in ROWS.values() for command in commands}
    wrong = {name: found for name, (found, _) in LOOKS.items() if name in known and name not in ROWS[found]}
    assert wrong == {}


def test_the_document_of_a_stop_has_its_schema_and_its_keys(waiting: Path, released: Path) -> None:
    """At the gate and released; of a release and of a deprecation (D-S9-03)."""
    shown = PAGE.partition("What else a script needs")[2].partition("\n## ")[0]
    listed = {
        name
        for row in re.findall(r"^\| (`[^|]+`) \|", shown, re.MULTILINE)
        for name in row[1:-1].split("`, `")
    }
    assert listed <= Status.model_fields.keys() | Stop.model_fields.keys()
    for project, where in ((waiting, "approval"), (released, "released")):
        stop = document_of(specwright("run", project, "--json"), "stop")
        assert stop["where"] == where
    document_of(specwright("release", released, "--json"), "release")
    (module,) = specwright("modules", released, "--json").document["modules"]
    words = ("--reason", "It is slow.", "--migration-note", "Write it out.")
    document_of(specwright("deprecate", module["module_ref"], released, *words, "--json"), "module")


def test_a_report_that_holds_and_a_first_run_hold_to_their_schemas(released: Path, project: Path) -> None:
    """An example that gives what it says; a run to the gate (D-S9-03)."""
    example = released / "bug.md"
    (module,) = (released / "state_store/modules").glob("*/1.0.0")
    shutil.copy(module / "examples.md", example)
    text = example.read_text()
    example.write_text(text[: text.index("## ", text.index("## ") + 3)])
    document_of(specwright("report", "initials", released, "--example", example, "--json"), "report")
    stop = document_of(specwright("run", project, "--model", PLAYBOOK, "--json"), "stop")
    assert stop["where"] == "approval"


def test_every_schema_is_written_and_is_one() -> None:
    """`make pages` writes them; each is valid and refuses a document that lacks a key (D-S9-03)."""
    written = {
        path.name.removesuffix(".schema.json"): json.loads(path.read_text()) for path in SCHEMAS.iterdir()
    }
    assert written.keys() == MAKER["DOCUMENTS"].keys()
    for name, schema in written.items():
        Draft202012Validator.check_schema(schema)
        assert not Draft202012Validator(schema).is_valid({"schema": name, "version": 1})


def test_the_schemas_that_are_written_are_those_of_the_types() -> None:
    """Nobody edits them by hand (D-S9-03)."""
    assert {path.name: path.read_text(encoding="utf-8") for path in SCHEMAS.iterdir()} == MAKER[
        "schema_files"
    ]()
