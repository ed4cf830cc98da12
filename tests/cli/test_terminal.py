"""Pages by the terminal's width and colours, projects found from below, names that are nearly right (DESIGN §9)."""

import io
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from ship_gate.base.text import did_you_mean
from ship_gate.terminal.output import UNLIMITED, shows_colours, width_of
from ship_gate.terminal.page import Page, brief, wrapped
from specwright.cli.main import main
from specwright.cli.progress import fitted
from testkit.cli.commands import PLAYBOOK, everything, specwright


@pytest.fixture
def halted(halted_once: Path, tmp_path: Path) -> Path:
    """A project in which a module was rejected."""
    return Path(shutil.copytree(halted_once, tmp_path / "halted"))


class Terminal(io.StringIO):
    """Standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


def page() -> Page:
    """A page with every kind of part."""
    made = Page()
    made.bar("Tasks:", 1, 3, "1 of 3 shipped, 1 halted", labels=10)
    made.prose("A paragraph of several words that a narrow terminal wraps between them.", 2)
    made.row("Invariant", "the shares together are the amount that was divided")
    made.table(
        ("TASK", "STATUS", "NAME"),
        [("TSK-001", "SHIPPED", "Divide amounts evenly among several people")],
        whole=("TASK", "STATUS"),
    )
    return made


def test_a_text_in_a_list_keeps_its_spaces() -> None:
    """A person approves a value as it is written; a terminal's commands are none."""
    assert brief("gives 1 for '  12.50 '\n and\x1b[0m more", 99) == "gives 1 for '  12.50 '  and [0m more"


def test_no_line_is_longer_than_the_terminal_and_no_word_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 20 columns to 200; paths and hashes, which are copied, stay whole; the lines of a pipe are not wrapped unless
    COLUMNS says so (D-S9-01)."""
    for width in (20, 80, 100, 120, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = page().render().splitlines()
        assert max(map(len, lines)) <= width
        words = set(" ".join(lines).split())
        for whole in ("TSK-001", "several", "paragraph", "between", "together", "Divide", "shipped,"):
            assert whole in words, lines
    path = "state_store/releases/REL-1"
    assert wrapped(f"it lies in {path} now", 12) == ["it lies in", path, "now"]
    monkeypatch.delenv("COLUMNS")
    assert width_of(io.StringIO()) == UNLIMITED
    made = Page()
    made.prose("word " * 100)
    assert len(made.render().splitlines()) == 1


def test_colours_are_for_terminals_unless_a_variable_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_COLOR is stronger than FORCE_COLOR (D-S9-01)."""
    for variables, terminal, pipe in (
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
    ):
        for name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm-256color", **variables}.items():
            monkeypatch.setenv(name, value)
        assert (shows_colours(Terminal()), shows_colours(io.StringIO())) == (terminal, pipe), variables
        made = page()
        made.patch(["@@ TSK-001 @@", " a", "-b", "+c"])
        with redirect_stdout(io.StringIO()) as printed:
            made.print()
        assert ("\x1b[" in printed.getvalue()) is pipe, variables
        lines = printed.getvalue().splitlines()[-4:]
        assert lines == (
            ["\x1b[36m@@ TSK-001 @@\x1b[0m", " a", "\x1b[31m-b\x1b[0m", "\x1b[32m+c\x1b[0m"]
            if pipe
            else ["@@ TSK-001 @@", " a", "-b", "+c"]
        )


def test_a_line_of_progress_fits_on_the_terminal() -> None:
    """Where its columns do not fit, it is wrapped between words."""
    line = "  12.0s · TSK-001  challenger split_evenly           1 call   2.0s  1,234 tokens $0.01 PASS"
    assert fitted(line, 200) == line
    for width in (20, 60, 80):
        assert max(map(len, fitted(line, width).splitlines())) <= width
        assert " ".join(fitted(line, width).split()) == " ".join(line.split())


def test_the_project_is_found_from_a_directory_below_it(
    released_once: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nearest one above, which is named on stderr; a directory that the command names is taken as it is."""
    monkeypatch.chdir(released_once / "state_store/modules")
    found = specwright("tasks")
    assert "TSK-001" in found.out
    assert f"The project is {released_once}" in found.err
    specwright("tasks", ".").refuses("no run has begun")


def test_a_spec_in_place_of_the_directory_is_offered_as_an_option(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`run SPEC.md` is a natural thing to type; nothing is written (D-S9-04)."""
    monkeypatch.chdir(project)
    before = everything(project)
    specwright("run", "SPEC.md", "--model", PLAYBOOK).refuses("specwright run --spec SPEC.md")
    assert everything(project) == before
    assert specwright("run", "--spec", "SPEC.md", "--model", PLAYBOOK).code == 3


def test_a_directory_in_place_of_a_module_is_recognised(
    released_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`module DIR` lacks the name; what is proposed is not to begin a run (D-S9-04)."""
    monkeypatch.chdir(tmp_path)
    told = specwright("module", released_once)
    told.refuses(
        "the module's name is missing", f"specwright modules {released_once}", "specwright module NAME"
    )
    assert "specwright run" not in told.err
    specwright("module", "initials").refuses("no run has begun here")


def test_names_that_are_nearly_right_are_recognised(released_once: Path) -> None:
    """Commands, options, modules (D-S9-04)."""
    specwright("statsu").refuses("Did you mean 'status'?")
    specwright("status", "--jsn").refuses("--json")
    specwright("module", "initals", released_once).refuses("did you mean `initials`?")
    specwright("module", "initals", released_once, "--debate").refuses("did you mean `initials`?")
    specwright("help", "wrie").refuses("did you mean `wire`?")
    assert did_you_mean("xyz", ["initials"]) == ""


def test_every_command_that_takes_a_name_suggests_the_one_that_is_meant(
    halted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids of escalations, answers, modules, roles, examples; nothing is changed (D-S9-04)."""
    (file,) = (halted / "state_store/escalations").glob("*.json")
    right = file.stem.removeprefix("ESC-")
    wrong = right[:3] + right[4:]
    monkeypatch.chdir(halted)
    before = everything(halted / "state_store")
    for words, meant in (
        (f"escalations ESC-{wrong}", f"ESC-{right}"),
        (f"escalations esc-{right}", f"ESC-{right}"),
        (f"escalations ESC-{right} --draft PROVIDEFIX", "PROVIDE_FIX"),
        (f"resolve ESC-{wrong} RETRY", f"ESC-{right}"),
        (f"resolve ESC-{right} RETRI", "RETRY"),
        ("deprecate initals --reason old --migration-note none", "initials"),
        ("run --retry propser", "proposer"),
        ("run --role-model propser=playbook:x", "proposer"),
        ("init new --example nameplat", "nameplate"),
        ("init new --example tab", "tabkeeper"),
    ):
        specwright(*words.split()).refuses("did you mean `", f"{meant}`? ")
        assert everything(halted / "state_store") == before, words


def test_escalations_are_found_from_a_directory_below_the_project(
    halted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an id and without one."""
    monkeypatch.chdir(halted / "state_store/escalations")
    waiting = specwright("escalations", "--json").document["escalations"]
    assert [one["escalation_id"] for one in waiting]
    name = waiting[0]["escalation_id"]
    found = specwright("escalations", name)
    assert name in found.out
    assert f"The project is {halted}" in found.err
    specwright("escalations", name, ".").refuses("no run has begun")


def test_a_file_that_is_there_is_never_overwritten(released_once: Path, tmp_path: Path) -> None:
    """By no command (D-S9-05)."""
    file = tmp_path / "project.tar"
    file.write_text("mine")
    specwright("export", released_once, file).refuses("exists already", "not overwritten")
    assert file.read_text() == "mine"


def test_help_is_a_command_too_and_the_package_a_program() -> None:
    """The same pages as `--help`; `python -m specwright`, where the script is not on PATH (D-S9-01)."""
    assert specwright("help").out == specwright("--help").out
    assert specwright("help", "wire", "log").out == specwright("wire", "log", "--help").out
    words = [sys.executable, "-m", "specwright", "--version"]
    said = subprocess.run(words, capture_output=True, text=True, check=True)
    assert said.stdout == specwright("--version").out


def test_the_shell_completes_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the script that `--install-completion` installs (D-S9-01)."""
    monkeypatch.setenv("_SPECWRIGHT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "specwright sta")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().out.split() == ["status"]


def test_an_answer_that_is_nearly_right_is_recognised(
    halted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forgotten action, a directory first: the remedy can be typed unchanged. An unknown action is answered with
    those that can help, as it was typed, and a payload is drafted for this project (D-S9-04)."""
    monkeypatch.chdir(tmp_path)
    name = specwright("escalations", halted, "--json").document["escalations"][0]["escalation_id"]
    specwright("resolve", name, halted.name).refuses(
        "no action is given: 'halted' is a directory", f"specwright resolve {name} ACTION halted"
    )
    specwright("resolve", halted.name, name, "RETRY").refuses(
        "the first word is the id of an escalation, which 'halted' is not", "ESC-ID ACTION DIR"
    )
    told = specwright("resolve", name, "give-up", halted)
    told.refuses("GIVE_UP is no answer to", "ABANDON_TASK", "RETRY")
    assert "REWORD_CRITERION" not in told.err
    incomplete = specwright("resolve", name, "AMEND_SPEC", halted, "--rationale", "x")
    incomplete.refuses(f"specwright escalations {name} {halted} --draft AMEND_SPEC` prints what to fill in")
