"""What comes of a bug report: the module is repaired, and must give the example for ever (D39)."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from specwright.bootstrap.project import Composition, Silent, open_project
from specwright.bootstrap.verify import verify_project
from specwright.bootstrap.views import reading_project
from specwright.domain.escalation import Action, HumanResolution
from specwright.ports import Place
from specwright.settings import Settings
from testkit.cli.commands import specwright
from testkit.loop.changed_products import criterion, tasks_of
from testkit.loop.products import NAMEPLATE_SPEC
from testkit.loop.reported_products import POINTER, example, faulty_product, report, source_of
from testkit.roles.overheard import RequestRecorder
from testkit.sampling import nightly, slow
from testkit.stores import answered
from testkit.wires_heard import logged

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
"""A product is built with a fault, and repaired, with all checks."""


@pytest.fixture
def released(faulty: Path, tmp_path: Path) -> Path:
    """The product with the fault."""
    return Path(shutil.copytree(faulty / "released", tmp_path / "released"))


@pytest.fixture
def repaired(faulty: Path) -> Path:
    """The fault is repaired and released; only looked at."""
    return faulty / "repaired"


def checks(project: Path, task: str) -> dict[str, str]:
    """What each stage of the gate said of a task's module, as its evidence has it."""
    ref = tasks_of(project)[task]["module_ref"]
    with reading_project(project) as view:
        return {check.name: check.result.value for check in view.modules.evidence(ref).gate}


def test_a_report_begins_the_next_attempt_of_the_task(faulty: Path, repaired: Path) -> None:
    """One batch: the report, its approval, the attempt; the debate of the implementation alone is asked (D-39-02,
    D-38-11)."""
    old, new = logged(faulty / "released"), logged(repaired)
    assert new[: len(old)] == old
    begun = [(w["type"], w["payload"].get("subject", "")) for w in new[len(old) :]][:4]
    reviewed = "review.recorded"
    assert begun[:2] == [(reviewed, "change.requested"), (reviewed, "change.approved")]
    assert [kind for kind, _ in begun[2:]] == ["task.created", "task.available"]
    assert [row["attempt"] for row in tasks_of(repaired).values()] == [2, 1]
    asked = {*answered(repaired)} - {*answered(faulty / "released")}
    assert asked == {f"TSK-001.2/initials/round-1/{role}" for role in ("proposer", "challenger", "arbiter")}


def test_a_repair_is_a_patch_under_the_same_contract(faulty: Path, repaired: Path) -> None:
    """The module and what calls it are patches with the interfaces of before; the consumer asks no model (D-39-04)."""
    before, after = tasks_of(faulty / "released"), tasks_of(repaired)
    modules = {
        row["module_ref"]: row for row in specwright("modules", repaired, "--json").document["modules"]
    }
    for task in ("TSK-001", "TSK-002"):
        old, new = before[task]["module_ref"], after[task]["module_ref"]
        assert new == old.replace("@1.0.0", "@1.0.1")
        assert modules[old]["interface_fingerprint"] == modules[new]["interface_fingerprint"]
        assert (modules[old]["status"], modules[new]["status"]) == ("SUPERSEDED", "SHIPPED")
    assert verify_project(repaired).findings == ()
    assert verify_project(repaired).unbound == ()


def test_the_example_is_sealed_with_the_version(repaired: Path) -> None:
    """The gate ran it, `ship.json` says so, and it lies beside the tests (D-39-03)."""
    assert checks(repaired, "TSK-001")["reported"] == "PASS"
    assert "reported" not in checks(repaired, "TSK-002")
    with reading_project(repaired) as view:
        sealed = view.modules.tree(tasks_of(repaired)["TSK-001"]["module_ref"])
    assert "A tab stands between two words." in sealed["reported.md"].decode()


ROLES = ("proposer", "challenger", "arbiter")


def test_the_roles_are_told_of_the_report(released: Path, faulty: Path, tmp_path: Path) -> None:
    """Requests of Proposer and Challenger, and a file of the Arbiter, have the example, what came out and what that breaks;
    the Proposer begins from the sealed files, of which no judge sees a line (D-39-03)."""
    heard = RequestRecorder(released, lambda place, project: None)
    settings, text = Settings(model=f"playbook:{faulty / 'playbook'}"), NAMEPLATE_SPEC.read_text()
    file = example(tmp_path / "example.md")
    with open_project(released, settings, Silent(), text, heard.composition) as project:
        project.report(project.try_report("initials", file.read_text(), str(file)), POINTER, text)
    asked = {role: heard.invoked[f"TSK-001.2/initials/round-1/{role}"] for role in ROLES}
    shown = {role: "\n".join(one.requests) for role, one in asked.items()}
    shown["arbiter"] = asked["arbiter"].directory["debate.md"].decode()
    for role, text in shown.items():
        assert "# A bug report" in text, role
        assert "A tab stands between two words." in text, role
        assert f"That breaks {POINTER}: letters: the first letter of each word" in text, role
        assert ('name.split(" ")' in text) == (role == "proposer"), role
    assert "is sealed with these files" in shown["proposer"]


class Stubborn:
    """A playbook whose every answer comes as often as a role is asked."""

    scripted = True

    def __init__(self, source: Any) -> None:
        self._source = source

    def model(self, place: Place) -> Any:
        """The model, with its turns once more for each repair."""
        model = self._source.model(place)
        return model.model_copy(update={"turns": model.turns * 4})


def test_a_report_against_the_contract_halts_with_the_statement_that_it_contradicts(
    released: Path, faulty: Path, tmp_path: Path
) -> None:
    """The page names the statement, the answer that changes the promise, and the command that withdraws the report. The
    answer has the task planned anew, no sealed contract carried on; the command leads back to the release (D-39-03,
    D-38-14)."""
    composition = Composition(wrap_models=lambda models: {role: Stubborn(m) for role, m in models.items()})
    settings, text = Settings(model=f"playbook:{faulty / 'playbook'}"), NAMEPLATE_SPEC.read_text()
    file = example(tmp_path / "example.md", '"42"', "'4'")
    with open_project(released, settings, Silent(), text, composition) as project:
        stop = project.report(project.try_report("initials", file.read_text(), str(file)), POINTER, text)
        assert stop.value == "halted"
        (name,) = [one for one in project.factory.store.names("escalations") if one.startswith("ESC-")]
    told = " ".join(specwright("escalations", name.removesuffix(".json"), released).out.split())
    for shown in (
        "Recommended AMEND_SPEC",
        "'Words that a tab parts' contradicts the sealed contract",
        "/error_surfaces/0: ValueError when name has no letter",
        "AMEND_SPEC changes what is promised",
        "`specwright change --abandon` withdraws the report",
    ):
        assert shown in told, told
    criteria = ["initials returns 'AL' for 'ada lovelace'.", "initials returns '4' for '42'."]
    payload = {"amended_acceptance_criteria": criteria, "amendment_rationale": "Digits count."}
    with open_project(released, settings, Silent(), text, composition) as project:
        project.resolve(HumanResolution(action=Action.AMEND_SPEC, payload=payload))
    asked = {*answered(released)}
    assert {"TSK-001.3/plan/round-1/planner", "TSK-001.3/contracts/round-1/challenger"} <= asked
    assert specwright("change", released, "--abandon").code == 0
    assert tasks_of(released)["TSK-001"]["module_ref"].endswith("@1.0.0")


def with_playbook(project: Path, playbook: Path) -> None:
    """Let another playbook answer from now on."""
    assert specwright("run", project, "--model", f"playbook:{playbook}").code == 0


def test_a_wrong_repair_is_refused(released: Path, tmp_path: Path) -> None:
    """The example fails in the preflight, for which the playbook has no second answer; nothing is sealed, and giving up
    leads back (D-39-03, D-38-14)."""
    playbook = faulty_product(tmp_path / "playbook")
    source = source_of(playbook / "TSK-001/attempt-2")
    source.write_text(source.read_text().replace("name.split()", 'name.split(" ")'))
    with_playbook(released, playbook)
    before = tasks_of(released)
    told = report(released, example(tmp_path / "example.md"), POINTER)
    told.refuses("reported.failed", code=1)
    with reading_project(released) as view:
        assert len(view.modules.refs()) == 2
    assert verify_project(released).findings == ()
    assert specwright("change", released, "--abandon").code == 0
    assert {t: row["module_ref"] for t, row in tasks_of(released).items()} == {
        t: row["module_ref"] for t, row in before.items()
    }
    assert verify_project(released).findings == ()


def hyphens(playbook: Path, *, tabs: bool) -> None:
    """The change after the repair; it parts words at tabs, or does not any more."""
    criterion(playbook, 2)
    if not tabs:
        source = source_of(playbook / "TSK-001/attempt-3")
        source.write_text(
            source.read_text().replace('.replace("-", " ").split()', '.replace("-", " ").split(" ")')
        )


@pytest.mark.parametrize(("tabs", "code"), [nightly(True, 0), slow(False, 1)])
def test_a_later_version_must_give_the_example(faulty: Path, tmp_path: Path, tabs: bool, code: int) -> None:
    """A change after the repair has it among what its gate runs; a version that fails it is not sealed (D-39-03)."""
    project = Path(shutil.copytree(faulty / "repaired", tmp_path / "project"))
    playbook = faulty_product(tmp_path / "playbook")
    hyphens(playbook, tabs=tabs)
    with_playbook(project, playbook)
    assert specwright("change", project, "--request", "A hyphen parts two words, too.").code == 3
    told = specwright("approve", project)
    assert told.code == code, told
    assert ("reported.failed" in told.err) is not tabs
    if tabs:
        assert tasks_of(project)["TSK-001"]["module_ref"].endswith("@1.1.0")
        assert checks(project, "TSK-001")["reported"] == "PASS"
    assert verify_project(project).findings == ()


def test_an_earlier_version_is_not_repaired(repaired: Path, tmp_path: Path, faulty: Path) -> None:
    """The version that the product has is named (D-39-06)."""
    project = Path(shutil.copytree(repaired, tmp_path / "project"))
    old = tasks_of(faulty / "released")["TSK-001"]["module_ref"]
    file = example(tmp_path / "example.md")
    specwright("report", old, project, "--example", file).refuses("is not the version of initials")


def test_a_second_report_waits_for_the_first(released: Path, tmp_path: Path) -> None:
    """The same report again goes on with it; another report and a change are refused; giving up leads back (D-39-06,
    D-38-16, D-38-14)."""
    playbook = faulty_product(tmp_path / "playbook")
    (playbook / "TSK-001/attempt-2/initials/round-1/challenger.json").unlink()
    with_playbook(released, playbook)
    file = example(tmp_path / "example.md")
    report(released, file, POINTER).refuses("challenger.json", code=1)
    begun = logged(released)
    assert json.loads(specwright("status", released, "--json").out)["where"] == "running"
    report(released, file, POINTER).refuses("challenger.json", code=1)
    other = example(tmp_path / "other.md", r'"ada\teve"', "'AE'")
    report(released, other, POINTER).refuses("another change is under way")
    specwright("change", released, "--request", "More.").refuses("another change is under way")
    assert logged(released) == begun
    assert specwright("change", released, "--abandon").code == 0
    assert tasks_of(released)["TSK-001"]["module_ref"].endswith("@1.0.0")
    assert verify_project(released).findings == ()
