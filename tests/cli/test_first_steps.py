"""The command line as a newcomer meets it (DESIGN §9)."""

import ast
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from specwright.bootstrap.examples import example_names
from specwright.cli.main import app
from specwright.installation import install_command, packages_of
from testkit.cli.commands import PLAYBOOK, SMALL, everything, in_own_process, specwright

COMMANDS = (
    "init", "run", "approve", "reject", "amend", "release", "status", "tasks", "modules", "module", "doctor",
)  # fmt: skip
OPTIONS = {
    "run": ("--spec", "--task", "--model", "--role-model", "--base-url", "--approve", "--json"),
    "reject": ("--reasons", "--json"),
    "amend": ("--feedback", "--json"),
    "release": ("--module", "--json"),
}


def test_the_command_line_begins_without_the_models() -> None:
    """`--help` is there at once: what validates documents is imported by the commands that need it (D-S11-09)."""
    code = (
        "import sys; import specwright.cli.main; print({'pydantic', 'specwright.ports'} & sys.modules.keys())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"


def test_help_lists_every_command_with_its_purpose_in_one_line() -> None:
    """D-S9-01: each command stands in `--help`, and none of the purposes is cut off."""
    told = specwright("--help")
    assert told.code == 0
    for name in COMMANDS:
        (line,) = (line for line in told.out.splitlines() if line.startswith(f"  {name} "))
        assert not line.endswith("...")
    assert "Exit codes: 0 done" in told.out
    assert max(map(len, told.out.splitlines())) <= 100


def test_each_command_names_its_options() -> None:
    """D-S9-01: the options are those of DESIGN §9; every command can speak JSON, and every registered one is known here. No
    command at all is bad usage, with what there is to choose from."""
    for name in COMMANDS:
        told = specwright(name, "--help")
        assert told.code == 0
        assert [option for option in OPTIONS.get(name, ("--json",)) if option not in told.out] == []
    registered = {command.callback.__name__ for command in app.registered_commands if command.callback}
    assert registered >= set(COMMANDS)
    told = specwright()
    assert told.code == 2
    assert "init" in told.err


def test_help_and_version_answer_without_the_factory() -> None:
    """DESIGN §11: neither imports a model's client, a graph, the settings or the terminal's painter."""
    program = (
        "import sys; from specwright.cli.main import main; main(sys.argv[1:]); "
        "print([m for m in ('pydantic_settings','specwright.application.projection','yaml',"
        "'langchain','langgraph','rich','numpy','sqlite3') if m in sys.modules])"
    )
    for argument in ("--help", "--version"):
        ended = subprocess.run(
            [sys.executable, "-c", program, argument], capture_output=True, text=True, check=True
        )
        assert ended.stdout.splitlines()[-1] == "[]"


def test_init_makes_a_spec_and_settings_and_says_what_comes_next(tmp_path: Path) -> None:
    """D-S9-05: SPEC.md and specwright.toml, and the command that goes on; of the two files only those that are still
    templates are to be filled in; what is there is left alone, and said."""
    told = specwright("init", tmp_path / "new")
    assert told.code == 0
    assert sorted(everything(tmp_path / "new")) == ["SPEC.md", "specwright.toml"]
    assert f"specwright run {tmp_path / 'new'}" in told.out
    assert "fill in" in told.out
    (tmp_path / "new/SPEC.md").write_text("# Mine\n")
    told = specwright("init", tmp_path / "new")
    assert ("fill in" in told.out, "choose a model" in told.out) == (False, True)
    assert (told.code, told.out.count("it was there")) == (0, 2)
    assert (tmp_path / "new/SPEC.md").read_text() == "# Mine\n"
    assert specwright("init", tmp_path / "new", "--json").document["kept"] == ["SPEC.md", "specwright.toml"]
    (tmp_path / "new/specwright.toml").write_text('model = "openai:gpt-5"\n')
    assert f"Next:   specwright run {tmp_path / 'new'}\n" in specwright("init", tmp_path / "new").out


def test_a_path_that_is_empty_or_full_of_other_things_is_refused(tmp_path: Path, released_once: Path) -> None:
    """D-S9-04: an unset variable in a script must not fill the working directory, nor a demo somebody's folder; a file in
    the place of a directory is called one, and rights have nothing to do with it."""
    (tmp_path / "mine.txt").write_text("")
    specwright("init", "").refuses("the path is empty", "`.` is the working directory")
    specwright("demo", tmp_path).refuses("there are other files", "new directory")
    specwright("index", "search", " ", released_once).refuses("the query is empty")
    for place, why in (
        (tmp_path / "mine.txt", "File exists"),
        (tmp_path / "mine.txt/below", "Not a directory"),
    ):
        specwright("init", place).refuses(f"the project cannot be made: {why}", "name another place")
    assert sorted(everything(tmp_path)) == ["mine.txt"]


def test_what_is_missing_is_installed_as_specwright_was(tmp_path: Path) -> None:
    """D-S9-04: pip, uv or pipx; an extra is named by its packages, since none of ours is on an index."""
    pip, uv, pipx = (tmp_path / name for name in ("pip", "uv", "pipx"))
    for place, mark in ((pip, "pyvenv.cfg"), (uv, "uv-receipt.toml"), (pipx, "pipx_metadata.json")):
        place.mkdir()
        (place / mark).write_text("")
    commands = [install_command("a>=1", prefix=str(place)) for place in (pip, uv, pipx)]
    python = sys.executable
    assert commands[1:] == [f"uv pip install --python {python} 'a>=1'", "pipx inject pipx 'a>=1'"]
    assert commands[0] in (f"{python} -m pip install 'a>=1'", f"uv pip install --python {python} 'a>=1'")
    assert any(one.startswith("alembic") for one in packages_of("mirror"))
    assert not any(
        one.startswith("specwright") for extra in ("mirror", "workers") for one in packages_of(extra)
    )


def test_the_template_itself_is_not_built(tmp_path: Path) -> None:
    """D-S6-03, D-S9-04: the settings are comments only, so that a run still asks for a model; an unfilled SPEC.md costs no
    model call."""
    specwright("init", tmp_path)
    specwright("run", tmp_path).refuses("no model is configured")
    told = specwright("run", tmp_path, "--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1")
    told.refuses("still the template")


def test_a_run_without_a_model_says_what_to_configure_and_writes_nothing(project: Path) -> None:
    """D-S6-03: settings and variables for two providers and a local server; exit 2; it never takes a playbook."""
    before = everything(project)
    specwright("run", project).refuses(
        "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "--base-url http://127.0.0.1", "specwright.toml",
        "SPECWRIGHT_MODEL", "SPECWRIGHT_BASE_URL", f"specwright run {project} --model openai:",
    )  # fmt: skip
    assert everything(project) == before


def test_a_run_stops_at_the_gate_and_says_what_to_type(waiting: Path) -> None:
    """D-S9-02, F-3.2.4-01: exit 3; `status` says the same again, and what was asked of models so far."""
    told = specwright("run", waiting)
    assert told.code == 3
    for command in ("approve", "amend", "reject"):
        assert f"specwright {command} {shlex.quote(str(waiting))}" in told.out
    assert str(waiting / "state_store/product/spec.md") in told.out
    status = specwright("status", waiting)
    assert (status.code, status.out) == (0, f"{told.out}Asked:    1 model call in all; scripted\n")


@pytest.mark.nightly
def test_approve_in_a_new_process_drives_on_with_the_same_model(waiting: Path) -> None:
    """D-S9-02, F-3.2.4-02: the options of the last run are kept, and the run ends with a release."""
    told = in_own_process("approve", waiting)
    assert told.code == 0, told
    assert told.out.startswith("Shipped:  Nameplate 1.0.0, 1 task, 1 module")


def test_a_release_is_told_in_six_lines(released: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-3.2.4-02, D28: what shipped and where, the proof, pip, import, and that the answers were scripted."""
    monkeypatch.delenv("COLUMNS")
    told = specwright("run", released)
    assert told.code == 0
    shipped, proof, source, install, use, note = told.out.splitlines()
    assert (Path(source.split()[1]) / "pyproject.toml").is_file()
    assert str(released / "state_store/releases/REL-") in shipped
    manifest = json.loads(next(released.glob("state_store/releases/*/manifest.json")).read_text())
    assert manifest["product"]["detail"].endswith("examples run: 2.")
    assert proof.endswith(
        f"7 module tests passed, 1 interface as contracted; {manifest['product']['detail']}"
    )
    assert Path(shlex.split(install)[-1]).is_file()
    assert shlex.split(install)[1:3] == ["pip", "install"]
    assert use.split(maxsplit=1)[1] == "from nameplate import initials"
    assert ast.parse(use.split(maxsplit=1)[1])
    assert "SCRIPTED" in note
    shown = specwright("status", released).out
    assert "Proof:" not in shown
    assert "Recorded: 7 module tests passed" in shown
    assert f"Not checked here: `specwright verify {released}`" in shown


def test_the_installed_release_is_what_the_summary_says(released: Path, tmp_path: Path) -> None:
    """D28: the pasted import works on the pasted wheel."""
    document = specwright("status", released, "--json").document["release"]
    target = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*pip, document["wheel"]], check=True, capture_output=True)
    code = f"from {document['import_name']} import {', '.join(document['exports'])}; print(initials('Ada L'))"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "AL\n"


def test_tasks_modules_and_a_module_can_be_looked_at(released: Path) -> None:
    """D-S9-08: from the task to its module to the contract with its evidence."""
    assert "TSK-001  SHIPPED" in specwright("tasks", released).out
    assert " initials " in specwright("modules", released).out
    page = specwright("module", "initials", released).out
    for word in ("Inputs ", "ValueError", "Effects ", "Evidence        PASS, 7 of 7 tests", "Interface "):
        assert word in page


def test_before_the_approval_there_are_no_tasks_and_no_modules(waiting: Path) -> None:
    """D-S9-02: nothing is wrong, so it is said beside an empty result."""
    for command in ("tasks", "modules"):
        told = specwright(command, waiting)
        assert (told.code, told.out) == (0, "")
        assert "specwright status" in told.err
        assert specwright(command, waiting, "--json").document[command] == []


def test_a_release_can_be_made_again(released: Path) -> None:
    """D28: a second release has its own id, asks no model and passes too."""
    (released / ".specwright/run.json").write_text('{"options": {"model": "openai:x"}}')
    told = specwright("release", released, "--json")
    assert told.code == 0, told
    assert len(list((released / "state_store/releases").glob("REL-*"))) == 2
    assert (
        specwright("status", released, "--json").document["release"]["release_id"]
        == told.document["release_id"]
    )


def test_a_product_can_be_given_in_one_sentence(tmp_path: Path) -> None:
    """D-S9-06, D-S9-04: the text stands in for SPEC.md and is kept as such; what to do next is quoted for a shell."""
    directory = tmp_path / "my first project"
    told = specwright("run", directory, "--task", "Make the initials of a name.", "--model", PLAYBOOK)
    assert told.code == 3, told
    assert (directory / "SPEC.md").read_text() == "Make the initials of a name.\n"
    line = next(line for line in told.out.splitlines() if line.startswith("Then:"))
    assert shlex.split(line)[1:] == ["specwright", "approve", str(directory)]


def test_a_playbook_in_a_directory_with_spaces_is_found_again_from_anywhere(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-S6-01, D-S6-02: a relative path holds for the later commands too, wherever they are typed; one in specwright.toml is
    looked for beside it."""
    place = tmp_path / "play books"
    place.mkdir()
    (place / "one").symlink_to(SMALL / "playbook")
    monkeypatch.chdir(place)
    assert specwright("run", "p", "--spec", SMALL / "SPEC.md", "--model", "playbook:one").code == 3
    monkeypatch.chdir(tmp_path)
    assert specwright("reject", place / "p", "--reasons", "again").code == 3
    (project / "answers").symlink_to(SMALL / "playbook")
    (project / "specwright.toml").write_text('model = "playbook:answers"\n')
    assert specwright("run", project).code == 3


def test_an_example_is_a_project_that_runs(tmp_path: Path) -> None:
    """D-S9-05: SPEC.md, settings and scripted answers; what is there is kept; a wrong name names the right ones, and so does
    the help."""
    told = " ".join(specwright("init", "--help").out.split())
    assert f"Begin with an example: {', '.join(example_names())}." in told
    specwright("init", tmp_path / "none", "--example", "tabkeper").refuses("tabkeeper", "fieldtext")
    assert not (tmp_path / "none").exists()
    told = specwright("init", tmp_path / "tab", "--example", "tabkeeper", "--json").document
    assert {"SPEC.md", "specwright.toml", "playbook/playbook.json"} <= set(told["made"])
    assert specwright("init", tmp_path / "tab", "--example", "tabkeeper", "--json").document["made"] == []
    assert specwright("run", tmp_path / "tab").code == 3
    assert 'model = "playbook:playbook"' in (tmp_path / "tab/specwright.toml").read_text()


def test_scripted_answers_say_of_which_playbook_and_day_they_are(released: Path) -> None:
    """In the log and under the release, which are of today (D-59-03)."""
    written = "playbook:nameplate@2026-11-24"
    wires = [
        one["wire"]["payload"] for one in specwright("wire", "log", released, "--json").document["wires"]
    ]
    debated = [one for one in wires if one.get("subject", "").startswith("debate.")]
    assert debated
    assert {one.get("model") for one in debated} == {written}
    assert f"SCRIPTED answers ({written})" in specwright("status", released).out
