"""A person mends what failed in files of their own, from the halt to the wheel (F§17.2, DESIGN §9)."""

import shlex
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ship_gate.module_directory import read_module
from specwright.bootstrap.views import reading_project
from specwright.documents.needs import answer_steps
from specwright.domain.escalation import Action
from testkit.cli.commands import everything, specwright
from testkit.cli.projects import with_playbook_of
from testkit.loop.weak_product import BRANCH, halted_weak
from testkit.shared_fixtures import made_once

ENTRY = "implementation/__init__.py"
WHY = ("--rationale", "Each word counts once.")


@pytest.fixture(scope="session")
def weak_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A project that halted for weak tests, its playbook beside it; only copied."""
    return made_once(tmp_path_factory, worker_id, "weak", halted_weak)


@pytest.fixture
def weak(weak_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That project, with the playbook of which the Challenger answers, as the working directory."""
    copy = Path(shutil.copytree(weak_once, tmp_path / "weak"))
    with_playbook_of(copy)
    project = copy / "project"
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def halted(halted_once: Path, tmp_path: Path) -> tuple[Path, str]:
    """A project whose module `shout` was rejected, and its escalation."""
    project = Path(shutil.copytree(halted_once, tmp_path / "project"))
    (path,) = (project / "state_store/escalations").iterdir()
    return project, path.stem


@pytest.mark.slow
def test_five_survivors_fit_a_screen_and_the_corrected_files_are_released(
    weak: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-17.1-02, F-17.2-11, D-S9-01: 80 columns, 40 lines, each survivor once; checkout, gate, resolve, wheel."""
    monkeypatch.setenv("COLUMNS", "80")
    (path,) = (weak / "state_store/escalations").iterdir()
    page = specwright("escalations", path.stem).out
    lines = page.splitlines()
    assert len(lines) <= 40
    assert max(len(line) for line in lines if "specwright" not in line) <= 80
    assert [page.count(f"  {one}") for one in ("`>` to `>=`", "`40` to `41`", "`return letters[:40]`")] == [
        1,
        2,
        1,
    ]
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("    specwright ")]
    checkout, gate, answer = commands[:3]
    assert specwright(*checkout).code == 0
    assert specwright(*gate).code == 1
    specwright(*answer).refuses("the gate refuses these files", "strength.function", code=1)
    entry = Path("fix") / ENTRY
    corrected = entry.read_text().replace(BRANCH, "\n").replace("_shortened(", "(")
    entry.write_text(corrected)
    assert specwright(*gate).code == 0
    told = specwright(*answer)
    assert told.code == 0, told
    (sealed,) = weak.glob(f"state_store/modules/*/*/{ENTRY}")
    assert sealed.read_text() == corrected
    assert specwright("verify").code == 0


def test_a_draft_is_laid_out_as_the_gate_reads_it(halted: tuple[Path, str], tmp_path: Path) -> None:
    """F-17.2-11, D-20-02: contract, code, tests and examples; nothing there that it would call unexpected."""
    project, escalation = halted
    told = specwright("escalations", escalation, project, "--checkout", tmp_path / "fix")
    assert told.code == 0, told
    assert f"gate {tmp_path / 'fix'}" in told.out
    assert f"resolve {escalation} PROVIDE_FIX {project} --files {tmp_path / 'fix'}" in told.out
    found = read_module(tmp_path / "fix")
    assert found.candidate
    assert found.candidate.contract.name == "shout"
    assert found.findings == ()
    (draft,) = project.glob("state_store/drafts/*/*/IMPL-*")
    kept = {path: data for path, data in everything(draft).items() if not path.startswith("escalation")}
    assert everything(tmp_path / "fix").keys() == kept.keys()


def test_notes_of_a_halt_are_no_fault_of_a_module_directory(halted: tuple[Path, str]) -> None:
    """D-20-02, D-S8-15: a kept draft is read as it lies in the store."""
    (draft,) = halted[0].glob("state_store/drafts/*/*/IMPL-*")
    assert (draft / "escalation.json").is_file()
    found = read_module(draft)
    assert found.candidate
    assert not [path for path in found.candidate.files if path.endswith("escalation.json")]


def test_what_lies_there_is_not_overwritten(halted: tuple[Path, str], tmp_path: Path) -> None:
    """D-S9-04: a directory that is in use is refused, and nothing is written."""
    project, escalation = halted
    (tmp_path / "fix").mkdir()
    (tmp_path / "fix/mine.txt").write_text("mine")
    before = everything(tmp_path)
    specwright("escalations", escalation, project, "--checkout", tmp_path / "fix").refuses(
        "the directory is not empty", "new or empty"
    )
    assert everything(tmp_path) == before


def _drop_contract(fix: Path) -> None:
    (fix / "contract.json").unlink()


def _change_contract(fix: Path) -> None:
    (fix / "contract.json").write_text("{}")


def _write_bytes(fix: Path) -> None:
    (fix / ENTRY).write_bytes(b"\xff")


def _link(place: Path) -> None:
    place.rename(elsewhere := place.parent.parent / f"elsewhere-{place.name}")
    place.symlink_to(elsewhere)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_drop_contract, ["contract.json is missing", "shout"]),
        (_change_contract, ["not the locked contract", "REVISE_PLAN"]),
        (_write_bytes, ["not UTF-8", ENTRY]),
        (shutil.rmtree, ["no such directory", "--checkout"]),
        (lambda fix: _link(fix / "tests"), ["cannot contain links", "/tests", "replace it with the file"]),
        (lambda fix: _link(fix / "implementation/__init__.py"), ["cannot contain links", "__init__.py"]),
    ],
    ids=["no contract", "another contract", "no text", "nothing", "linked folder", "linked file"],
)
def test_files_that_are_no_fix_are_refused(
    halted: tuple[Path, str], tmp_path: Path, spoil: Callable[[Path], object], words: list[str]
) -> None:
    """F-17.2-01: what is wrong and where, and no link is passed over; the escalation still waits."""
    project, escalation = halted
    specwright("escalations", escalation, project, "--checkout", tmp_path / "fix")
    spoil(tmp_path / "fix")
    told = specwright("resolve", escalation, "PROVIDE_FIX", project, "--files", tmp_path / "fix", *WHY)
    told.refuses(*words)
    assert (
        specwright("escalations", project, "--json").document["escalations"][0]["escalation_id"] == escalation
    )


def test_a_fix_says_what_it_does_and_files_belong_to_it_alone(halted: tuple[Path, str]) -> None:
    """F-17.2-01: what to type."""
    project, escalation = halted
    specwright("resolve", escalation, "PROVIDE_FIX", project, "--files", "fix").refuses("--rationale")
    specwright("resolve", escalation, "RETRY", project, "--files", "fix").refuses("belongs to PROVIDE_FIX")
    specwright("escalations", project, "--checkout", "fix").refuses("--checkout needs an ESC-ID")


def test_the_commands_name_a_place_that_is_free(
    halted: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Typed as told they work, also where an earlier fix lies (D-S9-01)."""
    project, name = halted
    monkeypatch.chdir(project)
    with reading_project(Path()) as view:
        told = partial(answer_steps, view, view.escalations.escalation(name), Action.PROVIDE_FIX, Path())
        assert told()[0].endswith("--checkout fix")
        Path("fix").mkdir()
        checkout, judge, answer = told()
    assert checkout.endswith("--checkout fix-2")
    assert judge.endswith("gate fix-2")
    assert "--files fix-2 " in answer


def test_an_approval_while_halted_names_the_question(halted: tuple[Path, str]) -> None:
    """`run` would not go on: a person has to answer (D-S9-01)."""
    told = specwright("approve", halted[0])
    told.refuses("halted: a question waits", f"escalations {halted[0]}", code=1)
    assert "goes on" not in told.err
