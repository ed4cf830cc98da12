"""A SPEC.md, or a place for a project, that cannot be used: one message, exit 2, nothing written (D-S9-04)."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from testkit.cli.commands import PLAYBOOK, SMALL, SPEC, Told, each_in_one_process, everything, specwright

NOBODY = 65534

BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: None, "there is no SPEC.md"),
    "empty": (lambda path: path.write_bytes(b""), "is empty"),
    "blank": (lambda path: path.write_text(" \n\t\n"), "is empty"),
    "a byte order mark and nothing else": (lambda path: path.write_bytes(b"\xef\xbb\xbf\n"), "is empty"),
    "binary": (lambda path: path.write_bytes(bytes(range(1, 256)) * 8), "not UTF-8 text"),
    "with a NUL": (lambda path: path.write_bytes(b"# A\n\nb\0c\n"), "NUL"),
    "UTF-16": (lambda path: path.write_text("# A product\n", encoding="utf-16"), "is UTF-16"),
    "UTF-16 without a mark": (lambda path: path.write_text("# A\n", encoding="utf-16-le"), "NUL"),
    "Latin-1": (lambda path: path.write_text("# Caf\xe9\n", encoding="latin-1"), "not UTF-8 text"),
    "5 MB": (lambda path: path.write_text("word " * 1_000_000), "5,000,000 bytes"),
    "a directory": (lambda path: path.mkdir(), "a directory"),
    "a pipe": (lambda path: os.mkfifo(path), "a pipe"),
    "a device without end": (lambda path: path.symlink_to("/dev/zero"), "a pipe, socket or device"),
    "a loop of links": (lambda path: path.symlink_to(path), "symbolic links"),
    "a link to nowhere": (lambda path: path.symlink_to(path.with_name("gone")), "there is no SPEC.md"),
}


@pytest.mark.timeout(60)
def test_a_bad_spec_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """D-S9-04: it says what is wrong with which file, does not hang, and leaves no trace; `--spec` is read with the same
    care, and the project's directory is not even made."""
    for number, (make, words) in enumerate(BAD.values()):
        place = tmp_path / str(number)
        place.mkdir()
        make(place / "SPEC.md")
        specwright("run", place, "--model", PLAYBOOK).refuses(words, str(place / "SPEC.md"))
        make(place / "mine.md")
        named = (words.replace("no SPEC.md", "no such file"), str(place / "mine.md"))
        for command in (("run", "--model", PLAYBOOK), ("init",)):
            specwright(*command, place / "project", "--spec", place / "mine.md").refuses(*named)
        assert {*place.iterdir()} <= {place / "SPEC.md", place / "mine.md"}


def test_init_copies_a_spec_and_overwrites_none(tmp_path: Path) -> None:
    """D-S9-01, D-S9-05: the project begins with the person's text; another SPEC.md that is there stays."""
    (tmp_path / "mine.md").write_text(SPEC, encoding="utf-8-sig")
    project = tmp_path / "project"
    told = specwright("init", project, "--spec", tmp_path / "mine.md")
    assert told.code == 0
    assert (project / "SPEC.md").read_text(encoding="utf-8") == SPEC
    assert "fill in" not in told.out
    assert f"choose a model in {project / 'specwright.toml'}" in told.out
    again = specwright("init", project, "--spec", tmp_path / "mine.md", "--json").document
    assert (again["made"], again["kept"]) == ([], ["SPEC.md", "specwright.toml"])
    (project / "SPEC.md").write_text("# Another one\n")
    before = everything(project)
    specwright("init", project, "--spec", tmp_path / "mine.md").refuses("the directory has another SPEC.md")
    specwright("init", project, "--spec", SMALL / "SPEC.md", "--example", "nameplate").refuses("one of them")
    for command in (("init", project, "--example", "nameplate"), ("demo", project)):
        specwright(*command).refuses("the directory has another SPEC.md", "name a new directory")
    assert everything(project) == before


def test_of_spec_and_task_one_is_given(tmp_path: Path) -> None:
    """D-S9-04, D-S9-06: two ways to say one thing; a sentence of blanks is none."""
    told = specwright("run", tmp_path / "p", "--spec", SMALL / "SPEC.md", "--task", "x", "--model", PLAYBOOK)
    told.refuses("--spec and --task", "use one of them")
    specwright("run", tmp_path / "p", "--task", "  ", "--model", PLAYBOOK).refuses("--task is empty")
    assert not (tmp_path / "p").exists()


def test_the_remedy_names_the_command_that_helps(waiting: Path, tmp_path: Path) -> None:
    """D-S9-04: the directory to begin in, the file to edit, and every word that a command lacks."""
    specwright("run", tmp_path / "a b").refuses("there is no SPEC.md", f"init '{tmp_path}/a b'` makes one")
    (tmp_path / "empty.md").touch()
    specwright("amend", waiting, "--examples", tmp_path / "empty.md").refuses(
        "is empty", "status", "acceptance.md"
    )
    specwright("resolve", "ESC-1").refuses("missing argument 'ACTION'", "resolve {ESC-ID} {ACTION}`; `")
    specwright("deprecate", "MM-1").refuses(
        "missing option '--reason'", "deprecate {MODULE} --reason TEXT`; `"
    )
    specwright("export", waiting).refuses("missing argument 'FILE'", "export {DIR-OR-URL} {FILE}`; `")
    specwright("run", waiting, "x").refuses("unexpected extra argument", "--help` shows how")


def test_another_spec_than_the_run_began_with_is_refused(
    project: Path, waiting: Path, released: Path, tmp_path: Path
) -> None:
    """D-S9-04: `--spec` never overwrites a SPEC.md; neither by it nor by `--task` does a run change its subject; what is
    built is what was approved, and `change` builds the next version."""
    told = specwright("run", project, "--spec", SMALL / "SPEC.md", "--model", PLAYBOOK)
    told.refuses("has another SPEC.md")
    assert (project / "SPEC.md").read_text() == SPEC
    (tmp_path / "other.md").write_text("# Other\n")
    specwright("run", waiting, "--spec", tmp_path / "other.md").refuses("begun with another SPEC.md")
    specwright("run", waiting, "--task", "Other").refuses("begun with another SPEC.md")
    (released / "SPEC.md").write_text("# Other\n")
    specwright("run", released).refuses("not the one that this run began with", "specwright change")


def test_a_spec_may_be_corrected_until_a_model_has_answered(project: Path) -> None:
    """D-S9-04: an endpoint that was never reached does not bind the person to a first draft."""
    dead = ("--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1")
    assert specwright("run", project, *dead).code == 5
    (project / "SPEC.md").write_text("# Better\n")
    assert specwright("run", project, *dead).code == 5
    assert (project / "state_store/product/SPEC.md").read_text() == "# Better\n"


def test_windows_line_ends_are_no_other_spec(tmp_path: Path) -> None:
    """D-S9-04: what is kept is what was read."""
    (tmp_path / "SPEC.md").write_bytes(b"\xef\xbb\xbf# A\r\n\r\nText.\r\n")
    assert specwright("run", tmp_path, "--model", PLAYBOOK).code == 3
    assert specwright("run", tmp_path).code == 3


def test_a_project_whose_place_is_a_file_is_refused(tmp_path: Path) -> None:
    """D-S9-04: for the commands that make a project, and for those that look at one."""
    place = tmp_path / "file"
    place.write_text("x")
    specwright("init", place).refuses(str(place))
    given = ("--spec", SMALL / "SPEC.md", "--model", PLAYBOOK)
    specwright("run", place, *given).refuses("not a directory", str(place))
    specwright("run", place / "below", *given).refuses("not a directory", str(place))
    for name in ("status", "tasks", "modules"):
        specwright(name, place).refuses("no run has begun here")


def test_commands_that_look_say_where_no_project_is(tmp_path: Path) -> None:
    """D-S9-02, D-S9-04, F-13-19, F-17.2-01: or where no run has begun: exit 2, with what to do; and make none."""
    nowhere = tmp_path / "nowhere"
    for name in ("status", "tasks", "modules", "release", "module MM-00000000"):
        specwright(*name.split(), nowhere).refuses("there is no such directory", str(nowhere))
    for words in ON_A_PROJECT:
        specwright(*words.format(tmp_path).split()).refuses("no run has begun here")
    assert list(tmp_path.iterdir()) == []


ON_A_PROJECT = [
    *("verify {}", "wire log {}", "wire verify {}", "index search initials {}", "mirror {} --once"),
    *("exceptions defer ICE-00000000 {}", "resolve ESC-00000000 ABANDON_TASK {} --rationale unneeded"),
    "deprecate MM-00000000@1.0.0 {} --reason Slow. --migration-note Unneeded.",
]


def test_answers_to_a_gate_that_does_not_wait_are_refused(tmp_path: Path, released: Path) -> None:
    """D-S9-02: exit 1, a rule refuses them, or 2 where no run has begun; nothing changes."""
    answers = (("approve",), ("reject", "--reasons", "x"), ("amend", "--feedback", "x"))
    for name, *rest in answers:
        specwright(name, tmp_path / "nowhere", *rest).refuses("no run has begun here")
        specwright(name, released, *rest).refuses("no spec waits", "released", code=1)
    assert not (tmp_path / "nowhere").exists()


def test_a_rejection_without_reasons_changes_nothing(waiting: Path) -> None:
    """F-3.2.4-03, F-3.2.4-05: neither reasons nor feedback may be empty; exit 2."""
    before = everything(waiting)
    for text in ("", "  \n"):
        specwright("reject", waiting, "--reasons", text).refuses("needs its reasons", "--reasons")
        specwright("amend", waiting, "--feedback", text).refuses("needs its feedback", "--feedback")
    specwright("reject", waiting).refuses("needs its reasons")
    assert everything(waiting) == before


def test_a_module_that_is_not_there_is_refused(released: Path) -> None:
    """D-S9-04: an unknown id names the command that lists the known ones; it is bad input (D-S9-02)."""
    for wanted in ("MM-00000000", "MM-00000000@1.0.0", "nothing", "../../etc/passwd"):
        specwright("module", wanted, released).refuses(wanted, "specwright modules")
    told = specwright("release", released, "--module", "MM-00000000@1.0.0")
    told.refuses("MM-00000000@1.0.0", "specwright modules")


def test_a_module_is_released_by_name_only_if_its_task_shipped(halted_once: Path, tmp_path: Path) -> None:
    """F-15-01, D-S9-04: a sealed module of a halted task is refused with what it waits for; one named twice is one."""
    halted_pair = Path(shutil.copytree(halted_once, tmp_path / "halted"))
    (sealed,) = specwright("modules", halted_pair, "--json").document["modules"]
    told = specwright(
        *("release", halted_pair, "--module", sealed["module_ref"], "--module", sealed["module_ref"])
    )
    told.refuses("a task that has not shipped", sealed["module_ref"], "ATTEST_SHIPPED", code=1)
    assert told.err.count(sealed["module_ref"]) == 1
    by_name = specwright("release", halted_pair, "--module", sealed["name"])
    by_name.refuses("unknown: " + sealed["name"], "MM-ID@VERSION")


AS_NOBODY = f"""
import os
import encodings.utf_8_sig, specwright.cli.runner  # while the interpreter can still be read
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
"""


def _as_nobody(*commands: tuple[object, ...]) -> list[Told]:
    """Commands as an unprivileged user."""
    return each_in_one_process(*commands, before=AS_NOBODY, cwd="/")


@pytest.fixture
def seen_by_nobody(tmp_path: Path) -> Path:
    """A directory that an unprivileged user reaches and cannot write, with a SPEC.md."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    for directory in (tmp_path, *tmp_path.parents):
        if directory.stat().st_mode & 0o005 != 0o005:
            if directory.parent == Path("/"):
                pytest.skip("an unprivileged user does not reach the place of these tests")
            directory.chmod(directory.stat().st_mode | 0o055)
    (tmp_path / "SPEC.md").write_text(SPEC)
    return tmp_path


@pytest.mark.slow
def test_a_directory_that_cannot_be_written_is_refused(seen_by_nobody: Path) -> None:
    """D-S9-04: as an unprivileged user, for `run`, `init` and a run in a new directory below."""
    before = everything(seen_by_nobody)
    for told in _as_nobody(
        ("run", seen_by_nobody, "--model", PLAYBOOK),
        ("run", seen_by_nobody / "new", "--task", "x", "--model", PLAYBOOK),
        ("init", seen_by_nobody / "new"),
    ):
        told.refuses(str(seen_by_nobody))
    assert everything(seen_by_nobody) == before


@pytest.mark.slow
def test_a_project_of_somebody_else_is_refused(waiting: Path, seen_by_nobody: Path) -> None:
    """D-S9-04: a project that may be read and not written is not driven, and keeps its bytes."""
    subprocess.run(["chmod", "-R", "a+rX", str(seen_by_nobody)], check=True)
    before = everything(waiting)
    (told,) = _as_nobody(("approve", waiting))
    told.refuses(str(waiting))
    assert everything(waiting) == before


@pytest.mark.slow
def test_a_spec_that_may_not_be_read_makes_no_project(seen_by_nobody: Path) -> None:
    """D-S9-04: one error with the file's name, for `run` and `init`."""
    secret, project = seen_by_nobody / "mine.md", seen_by_nobody / "open/project"
    secret.write_text(SPEC)
    secret.chmod(0)
    project.parent.mkdir()
    project.parent.chmod(0o777)
    given = (("init", project, "--spec", secret), ("run", project, "--spec", secret, "--model", PLAYBOOK))
    for told in _as_nobody(*given):
        told.refuses("is not readable", str(secret))
    assert not project.exists()
