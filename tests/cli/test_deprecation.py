"""`specwright deprecate`: a module version is retired, and what follows from that."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from specwright.bootstrap.project import Composition, open_project
from specwright.bootstrap.verify import verify_project
from specwright.domain.modules.code_index import DeprecationRequest
from testkit.cli.commands import everything, specwright
from testkit.cli.terminal import on_a_terminal
from testkit.power_cut import Cut, PowerCutError

WORDS = ("--reason", "It drops middle names.", "--migration-note", "Use monograms instead.")


def sealed(project: Path) -> str:
    """The one sealed version."""
    (found,) = project.glob("state_store/modules/*/*")
    return f"{found.parent.name}@{found.name}"


def test_a_deprecated_module_is_told_wherever_it_is_shown(released: Path) -> None:
    """`modules` and `module` say so, search leaves it out, its files stay readable (F-16-02 to F-16-04, D-S9-03)."""
    ref = sealed(released)
    decided = specwright("deprecate", ref, released, *WORDS, "--json").document["deprecation"]
    assert (decided["consumers"], decided["replacement"]) == ([], None)
    assert decided["decided_by"] == "human:operator"
    assert "DEPRECATED." in specwright("modules", released).out
    page = specwright("module", ref, released).out
    assert "It drops middle names." in page
    assert "Use monograms instead." in page
    assert specwright("module", ref, released, "--json").document["deprecation"]["module_ref"] == ref


def test_a_person_is_asked_whether_it_is_meant(released: Path) -> None:
    """F-16-02: without a yes nothing changes (exit 3)."""
    painted = on_a_terminal("deprecate", sealed(released), released, *WORDS, typed=(("Type yes: ", "no\n"),))
    assert (painted.code, "Nothing was retired" in painted.screen) == (3, True)
    assert "DEPRECATED." not in specwright("modules", released).out


def test_the_next_release_fails_and_says_why(released: Path) -> None:
    """The old release stays as it is; a product with a retired module is not released again (F-15-06, D-28-03); its
    artifact is DEPRECATED (F-8-14)."""
    before = everything(released / "state_store/releases")
    specwright("deprecate", sealed(released), released, *WORDS)
    envelopes = released.glob("state_store/artifacts/*/IMPL-*/*/envelope.json")
    assert [json.loads(path.read_text())["status"] for path in envelopes] == ["DEPRECATED"]
    failed = specwright("release", released, "--json")
    assert failed.code == 1
    assert failed.document["manifest"]["integration_gates"]["code_index_check"] == "FAIL"
    after = everything(released / "state_store/releases")
    assert before.items() <= after.items()


@pytest.mark.nightly
def test_status_follows_a_deprecation_and_its_way_back(released: Path) -> None:
    """F-15-06, D-S9-14: what is retired with the command that leads back; the release that still is the product; what was
    sealed since. An undo that has nothing to undo is refused."""
    ref, again = sealed(released), f"specwright release {released}"
    undo = f"specwright deprecate {ref} {released} --undo --reason "
    before = str(*released.glob("state_store/releases/*/*.whl"))
    specwright("deprecate", ref, released, *WORDS)
    assert f"Undo:     {undo}" in specwright("status", released).out
    failed = specwright("release", released)
    assert (failed.code, f"Undo:     {undo}" in failed.out) == (1, True), failed
    said = specwright("status", released).out
    for line in (
        f"Then:   {undo}",
        f"Then:   {again}",
        "is still the product, version 1.0.0.",
        f"pip install {before}",
    ):
        assert line in said
    assert specwright("deprecate", ref, released, "--undo", "--reason", "It was a mistake.").code == 0
    said = specwright("status", released).out
    assert ("What was sealed since is not in it." in said, f"Then:   {again}" in said, undo in said) == (
        True,
        True,
        False,
    )
    specwright("deprecate", ref, released, "--undo", "--reason", "Again.").refuses(
        "was undone already", code=1
    )
    assert specwright("release", released).code == 0
    assert "Newer:" not in specwright("status", released).out


def test_a_deprecation_is_proven_and_a_changed_one_is_found(released: Path) -> None:
    """`verify` accepts the status as the log has it, and no other (D-S9-11, D-29-01)."""
    specwright("deprecate", sealed(released), released, *WORDS)
    assert verify_project(released).findings == ()
    with closing(sqlite3.connect(released / "state_store/code_index/index.db")) as database:
        database.execute("DROP TRIGGER IF EXISTS entries_one_way")
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {name}")
        database.execute("UPDATE entries SET notes = 'It is quite good.'")
        database.commit()
    assert "index.changed" in {finding.code for finding in verify_project(released).findings}


def test_a_crash_between_log_and_index_is_corrected_by_the_next_command(released: Path) -> None:
    """The log has the decision, so whatever drives the project next retires the entry (D-29-01, D-27-01)."""
    cut = Composition(wrap_adapters=lambda adapters: replace(adapters, index=Cut(adapters.index, "retire")))
    asked = DeprecationRequest(
        module_ref=sealed(released), reason="It drops names.", migration_note="Use monograms instead."
    )
    with pytest.raises(PowerCutError), open_project(released, spec_text="", composition=cut) as project:
        project.deprecate(asked)
    assert verify_project(released).findings == ()
    assert "already DEPRECATED" in specwright("deprecate", sealed(released), released, *WORDS).err
    assert specwright("release", released).code == 1


@pytest.mark.slow
def test_an_index_that_lost_the_entry_stops_nobody(released: Path) -> None:
    """`verify` reports it; other commands go on (D-S9-11)."""
    specwright("deprecate", sealed(released), released, *WORDS)
    for name in (released / "state_store/code_index").iterdir():
        name.unlink()
    assert "itself broke" not in specwright("release", released).err
    assert "index.changed" in {finding.code for finding in verify_project(released).findings}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("MM-1@1", *WORDS), "no sealed module 'MM-1@1'"),
        (("MM-00000000@1.0.0", *WORDS), "no sealed module"),
        (("{}", "--migration-note", "Use monograms."), "--reason"),
        (("{}", "--reason", "It drops names."), "--migration-note"),
        (("{}", "--reason", "TBD", "--migration-note", "Use monograms."), "placeholder"),
        (("{}", "--reason", "x" * 2_001, "--migration-note", "Use monograms."), "2000"),
        (("{}", *WORDS, "--replacement", "{}"), "cannot replace itself"),
        (("{}", *WORDS, "--replacement", "MM-00000000@1.0.0"), "no sealed module"),
        (("{}", *WORDS, "--replacement", "monograms"), "no sealed module 'monograms'"),
        (("{}", "--undo", "--reason", "It was meant."), "there is nothing to undo"),
        (("{}", "--undo", "--reason", "TBD"), "placeholder"),
    ],
)
def test_an_unusable_request_gets_one_message(released: Path, words: tuple[str, ...], why: str) -> None:
    """What, where, what to do; the log and the index stay as they are (D-27-01)."""
    ref = sealed(released)
    before = specwright("wire", "log", released, "--json").document["wires"]
    first, *rest = (word.format(ref) for word in words)
    told = specwright("deprecate", first, released, *rest)
    told.refuses(why, code=told.code)
    assert told.code in (1, 2)
    assert before == specwright("wire", "log", released, "--json").document["wires"]
