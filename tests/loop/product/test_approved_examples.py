"""What a person approved by example is what the factory is held to, from the gate to the sealed module (DESIGN §13.2)."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specwright.bootstrap.project import Silent, open_project
from specwright.domain.escalation import RELEASE, Action, actions_for
from specwright.settings import Settings
from testkit.cli.commands import SMALL, everything, specwright
from testkit.loop.products import failing, rejecting, replace, rewrite
from testkit.roles.overheard import RequestRecorder
from testkit.sampling import nightly, slow

IMPORT = "from nameplate import initials\n"
PRODUCT = Path("state_store/product")
MINE = """
## A tab parts words
Shows criterion 1.

```python
from nameplate import initials
initials('ada\\tlovelace')
```

```text
'AL'
```
"""


def approved(*examples: dict[str, Any], provides: str = "initials(name: str) -> str") -> dict[str, Any]:
    """The acceptance of the one task."""
    refused = {
        "title": "No letter",
        "criteria": [2],
        "code": f"{IMPORT}initials('42')",
        "gives": "ValueError:",
    }
    return {"provides": [provides], "examples": [*examples, refused]}


def example(title: str, name: str, gives: str) -> dict[str, Any]:
    """An example of criterion 1."""
    return {"title": title, "criteria": [1], "code": f"{IMPORT}initials({name!r})", "gives": gives}


ADA = example("Two words", "ada lovelace", "'AL'")


def task_of(spec: dict[str, Any]) -> dict[str, Any]:
    """The one task."""
    task: dict[str, Any] = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    return task


def playbook_with(directory: Path, acceptance: dict[str, Any]) -> Path:
    """The small product whose researcher writes examples; a second draft strikes all of them."""
    playbook = Path(shutil.copytree(SMALL / "playbook", directory / "playbook"))
    file = playbook / "researcher/spec.json"
    spec = json.loads(file.read_text())
    amended = json.loads(file.read_text())
    amended["description"] += " Names come from a form."
    task_of(amended)["acceptance"] = approved()
    task_of(spec)["acceptance"] = acceptance
    file.write_text(json.dumps(spec))
    (playbook / "researcher/amended-1.json").write_text(json.dumps(amended))
    return playbook


def at_gate(directory: Path, acceptance: dict[str, Any]) -> Path:
    """A project whose spec waits."""
    project, model = directory / "project", f"playbook:{playbook_with(directory, acceptance)}"
    told = specwright("run", project, "--spec", SMALL / "SPEC.md", "--model", model)
    assert told.code == 3, told
    return project


def edited(project: Path, directory: Path, text: str) -> Path:
    """The examples of the spec that waits, with a text behind them."""
    file = directory / "mine.md"
    file.write_text((project / PRODUCT / "acceptance.md").read_text() + text)
    return file


def line_of(start: str, file: Path) -> int:
    """The number of the first line of a file that begins so."""
    lines = file.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.startswith(start))


def examples_in(project: Path) -> list[tuple[str, str]]:
    """Titles and authors in the spec that waits."""
    acceptance = task_of(json.loads((project / PRODUCT / "spec.json").read_text()))["acceptance"]
    return [(one["title"], one["author"]) for one in acceptance["examples"]]


def test_a_person_adds_an_example_at_the_gate(tmp_path: Path):
    """No model is asked, what was added is the person's, and no later draft strikes it (D-40-06, D-40-07, D-40-08)."""
    project = at_gate(tmp_path, approved(ADA))
    page = (project / PRODUCT / "spec.md").read_text()
    assert "2 criteria, 2 executable: " in page
    assert ">>> initials('ada lovelace')\n'AL'\n" in page
    mine = edited(project, tmp_path, MINE)
    told = specwright("amend", project, "--examples", mine)
    assert told.code == 3, told
    assert examples_in(project)[-1] == ("A tab parts words", "person")
    assert "A tab parts words. Shows criterion 1. Yours." in (project / PRODUCT / "spec.md").read_text()
    specwright("amend", project, "--examples", mine).refuses("those of the spec that waits")
    specwright("amend", project, "--feedback", "Say where names come from.").refuses(
        "'A tab parts words' was written by the person", code=1
    )


def test_examples_that_do_not_fit_change_nothing(tmp_path: Path):
    """One error that says which, and the spec that waits is as it was (D-40-05, D-40-07)."""
    project = at_gate(tmp_path, approved(ADA))
    before = everything(project / "state_store")
    for text, words in (
        (MINE.replace("'AL'", "'A'") + MINE.replace("A tab", "The tab"), "only one can be right"),
        (MINE.replace("initials(", "initial("), "nothing defines: initial"),
        (MINE.replace("criterion 1", "criterion 7"), "there is no criterion 7"),
        (MINE.replace("```text", "```"), "fenced blocks"),
        ("\n# TSK-009 Other\n\nProvides:\n\n- `other()`\n", "the spec has no such task"),
    ):
        file = edited(project, tmp_path, text)
        told = specwright("amend", project, "--examples", file)
        told.refuses(words)
        assert f"{file}:{line_of('# TSK-009' if 'TSK-009' in text else '## A tab', file)}" in told.err, told
        assert everything(project / "state_store") == before, words


def test_a_plan_that_does_not_serve_the_examples_goes_back(tmp_path: Path):
    """Names and parameters bind the plan, in its own conversation (D-40-09)."""
    ada = {**ADA, "code": ADA["code"].replace("'ada lovelace'", "text='ada lovelace'")}
    project = at_gate(tmp_path, approved(ada, provides="initials(text: str) -> str"))
    told = specwright("approve", project)
    told.refuses(
        "its inputs are name, not text; it is approved as `initials(text: str) -> str` and used by the example",
        code=1,
    )


def test_a_plan_that_makes_the_class_of_another_task_goes_back(tmp_path: Path):
    """A record or an error has one definition, of the task that provides it (D-40-09)."""
    playbook = playbook_with(tmp_path, approved(ADA))
    spec = json.loads((playbook / "researcher/spec.json").read_text())
    tasks = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"]
    other = {**tasks[0], "task_id": "TSK-002", "name": "Make a badge", "depends_on": ["TSK-001"]}
    tasks.append({**other, "acceptance": {"provides": ["badge(name: str) -> str", "BadgeError"]}})
    (playbook / "researcher/spec.json").write_text(json.dumps(spec))
    plan = json.loads((playbook / "TSK-001/planner.json").read_text())
    plan["plan"]["modules"][0]["error_surfaces"][0]["name"] = "BadgeError"
    (playbook / "TSK-001/planner.json").write_text(json.dumps(plan))
    project, model = tmp_path / "project", f"playbook:{playbook}"
    told = specwright("run", project, "--spec", SMALL / "SPEC.md", "--model", model, "--approve")
    told.refuses(
        "modules.initials: BadgeError is a class of TSK-002, on which this task does not depend", code=1
    )


PLAN: dict[str, Any] = json.loads((SMALL / "playbook/TSK-001/planner.json").read_text())["plan"]
OTHER_INPUT = {**PLAN, "modules": [{**PLAN["modules"][0], "inputs": [{"name": "text", "type": "str"}]}]}
OTHER_NAME = [{"module_id": "letters", "description": "Makes the initials of a name.", "depends_on": []}]


@pytest.mark.slow
def test_a_plan_of_a_person_serves_the_examples_too(tmp_path: Path):
    """In full or in short, it is refused as a planner's would be, and nothing is written (D-40-09)."""
    project = at_gate(tmp_path, approved(ADA))
    failing(tmp_path / "playbook/TSK-001/initials", 3)
    rejecting(tmp_path / "playbook/TSK-001/initials/round-3")
    assert specwright("approve", project).code == 3
    before = everything(project / "state_store")
    (escalation,) = (project / "state_store/escalations").iterdir()
    approved_as = "is approved as `initials(name: str) -> str` and used by the example 'Two words'"
    for plan, words in [
        (OTHER_INPUT, f"its inputs are text, not name; it {approved_as}"),
        (OTHER_NAME, f"no module is called initials, which {approved_as}"),
    ]:
        payload = tmp_path / "payload.json"
        payload.write_text(json.dumps({"revised_micro_plan": plan}))
        told = specwright("resolve", escalation.stem, "REVISE_PLAN", project, "--payload", payload)
        told.refuses("the plan cannot be followed", words)
        assert everything(project / "state_store") == before


@pytest.mark.slow
def test_a_module_gives_what_was_approved(tmp_path: Path):
    """Its gate runs the approved examples, a person's among them, as its evidence says; so does the release (D-40-10)."""
    project = at_gate(tmp_path, approved(ADA))
    told = specwright("amend", project, "--examples", edited(project, tmp_path, MINE), "--json")
    assert told.code == 3, told
    assert specwright("approve", project).code == 0
    (manifest,) = project.glob("state_store/releases/*/manifest.json")
    own = (SMALL / "playbook/TSK-001/initials/round-1/deliverable/examples.md").read_text().count("\n## ")
    assert (
        f"examples run: {own + 3}, 3 of them approved."
        in json.loads(manifest.read_text())["product"]["detail"]
    )
    (evidence,) = project.glob("state_store/modules/*/*/ship.json")
    checks = {check["name"]: check for check in json.loads(evidence.read_text())["gate"]}
    assert checks["acceptance"]["result"] == "PASS"
    assert checks["acceptance"]["observed"] == {"examples": 3}
    assert "Approved Examples" in next(project.glob("project/**/T-*.md")).read_text()
    assert specwright("verify", project).code == 0


@pytest.mark.slow
def test_a_module_that_fails_an_approved_example_is_not_sealed(tmp_path: Path):
    """The Proposer is told the criterion, the call and what came out (D-40-10)."""
    project = at_gate(tmp_path, approved(ADA, example("A hyphen", "ada-lovelace", "'AL'")))
    told = specwright("approve", project)
    told.refuses(
        "acceptance.failed",
        "criterion 1, A hyphen",
        "the text block says \"'AL'\"; correct the module",
        code=1,
    )
    assert not list(project.glob("state_store/modules/*/*/ship.json"))


PROPERTY: dict[str, Any] = {
    "title": "Capitals alone",
    "criteria": [1],
    "variables": {"name": "str"},
    "code": f"{IMPORT}initials(name) == initials(name).upper()",
    "errors": ["ValueError"],
}


@pytest.mark.parametrize("wrong", [nightly(False), slow(True)], ids=["holds", "fails"])
def test_a_module_is_held_to_what_is_true_for_all_values(tmp_path: Path, *, wrong: bool):
    """Beside its tests, in the preflight; a finding names the criterion, the values and what came out (D-40-10)."""
    length = {**PROPERTY, "title": "Two letters", "code": f"{IMPORT}len(initials(name)) <= 2"}
    project = at_gate(tmp_path, {**approved(ADA), "properties": [PROPERTY, *([length] if wrong else [])]})
    told = specwright("approve", project)
    if wrong:
        told.refuses(
            "acceptance.property at properties: criterion 1, Two letters: an approved property does not hold: for name=",
            "its code gives False; correct the module",
            code=1,
        )
        assert not list(project.glob("state_store/modules/*/*/ship.json"))
        return
    assert told.code == 0, told
    (evidence,) = project.glob("state_store/modules/*/*/ship.json")
    checks = {check["name"]: check for check in json.loads(evidence.read_text())["gate"]}
    assert checks["properties"]["result"] == "PASS"
    assert checks["properties"]["observed"]["properties"] == 1
    assert checks["properties"]["observed"]["values"] > 100


@pytest.mark.slow
def test_the_proposer_is_told_of_the_examples_from_the_start(tmp_path: Path):
    """Those that the gate will run on its module, as calls with their results; whoever judges the contracts sees them, too,
    and the Arbiter can read them (D-40-10, D-40-11)."""
    project = at_gate(tmp_path, {**approved(ADA), "properties": [PROPERTY]})
    heard = RequestRecorder(project, lambda place, directory: None)
    settings, text = Settings(model=f"playbook:{tmp_path / 'playbook'}"), (SMALL / "SPEC.md").read_text()
    with open_project(project, settings, Silent(), text, heard.composition) as opened:
        opened.approve()
    asked = heard.invoked["TSK-001.1/initials/round-1/proposer"].requests[0]
    shown = "## criterion 1, Two words\ninitials('ada lovelace')\ngives 'AL'"
    judged = {place: one.requests[0] for place, one in heard.invoked.items() if place.endswith("challenger")}
    assert [place for place, said in judged.items() if shown in said] == [
        "TSK-001.1/contracts/round-1/challenger"
    ]
    read = heard.invoked["TSK-001.1/initials/round-1/arbiter"].directory["task.md"].decode()
    assert "ada lovelace" in read.partition("Approved Examples")[2]
    assert "# Approved examples" in asked
    assert "## criterion 1, Two words\ninitials('ada lovelace')\ngives 'AL'" in asked
    property_ = "initials(name) == initials(name).upper()\nis true for all name: str, or gives ValueError"
    assert f"## criterion 1, Capitals alone\n{property_}" in asked


TOGETHER = {
    "title": "Where it is",
    "criteria": [1],
    "success_criteria": [1],
    "code": f"{IMPORT}initials.__module__",
    "gives": "'modules.initials'",
}
"""True at the gate of the module, false of the package."""


@pytest.mark.slow
def test_a_product_that_breaks_what_was_approved_is_an_escalation(tmp_path: Path):
    """One for the last release, which says criterion, call, what came out and who took part; struck, the release passes
    (D-41-02, D-41-03, D-41-04). Though all gates pass, each command that releases exits 1 (D-28-03)."""
    project = at_gate(tmp_path, approved(ADA, TOGETHER))
    told = specwright("approve", project)
    assert told.code == 1, told
    again = specwright("release", project, "--json")
    manifest = again.document["manifest"]
    assert (again.code, manifest["overall_result"], manifest["product"]["result"]) == (1, "PASS", "FAIL")
    listed = json.loads(specwright("escalations", project, "--json").out)["escalations"]
    (name,) = (one["escalation_id"] for one in listed)
    record = json.loads(specwright("escalations", name, project, "--json").out)
    assert record["details"]["broken"] == [
        {
            "task": "TSK-001",
            "criteria": [1],
            "success_criteria": [1],
            "title": "Where it is",
            "call": TOGETHER["code"],
            "outcome": "it gives \"'nameplate.initials'\", the text block says \"'modules.initials'\"",
            "modules": ["initials"],
        }
    ]
    broken = [one["invariant"].partition(": ")[0] for one in record["failed_invariants"]]
    assert broken == ["EPC-001, success criterion 1", "TSK-001, criterion 1"]
    page = specwright("escalations", name, project).out
    assert "specwright report" in page
    assert "specwright change" in page
    assert actions_for(RELEASE) == (Action.AMEND_SPEC,)
    for action in ("ABANDON_TASK", "APPROVE_OVERRIDE", "ACCEPT_UNSHOWN"):
        told = specwright("resolve", name, action, project, "--rationale", "why")
        told.refuses("AMEND_SPEC, or by `specwright report` or `specwright change ", code=1)
    payload, criteria = (
        tmp_path / "answer.json",
        task_of(json.loads((project / PRODUCT / "spec.json").read_text())),
    )
    answer = {
        "amended_acceptance_criteria": criteria["acceptance_criteria"],
        "amendment_rationale": "Nobody asked where it is.",
    }
    for struck, words in [([], "only approved examples can be struck"), (["Two word"], "did you mean")]:
        payload.write_text(json.dumps({**answer, "strike_examples": struck}))
        specwright("resolve", name, "AMEND_SPEC", project, "--payload", payload).refuses(words)
    payload.write_text(json.dumps({**answer, "strike_examples": ["Where it is"]}))
    told = specwright("resolve", name, "AMEND_SPEC", project, "--payload", payload)
    assert told.code == 1, told
    assert specwright("release", project).code == 0
    assert json.loads(specwright("escalations", project, "--json").out)["escalations"] == []
    assert specwright("verify", project).code == 0


DOTTED = "with dots, each letter has a dot behind it"


def dotted(directory: Path) -> Path:
    """A playbook of the small product whose function takes `dots` by keyword only, from the spec to the module."""
    shown = {"title": "Dots", "criteria": [1], "code": f"{IMPORT}initials('ada', dots=True)", "gives": "'A.'"}
    public = "initials(name: str, *, dots: bool = False) -> str"
    playbook = playbook_with(directory, approved(ADA, shown, provides=public))
    spec = json.loads((playbook / "researcher/spec.json").read_text())
    command = {"name": "nameplate", "calls": "initials"}
    rewrite(playbook / "researcher/spec.json", **{**spec, "interfaces": {"command": command}})
    plan = json.loads((playbook / "TSK-001/planner.json").read_text())
    (module,) = plan["plan"]["modules"]
    by_keyword = ["passed by keyword only", "defaults to False"]
    module["inputs"].append({"name": "dots", "type": "bool", "constraints": by_keyword})
    module["outputs"][0]["invariants"].append(DOTTED)
    rewrite(playbook / "TSK-001/planner.json", **plan)
    made = playbook / "TSK-001/initials/round-1/deliverable"
    source = made / "implementation/__init__.py"
    replace(source, "(name: str)", "(name: str, *, dots: bool = False)")
    replace(
        source,
        "at least one letter\n",
        "at least one letter\n        dots:\n            - defaults to False\n",
    )
    replace(source, "in order\n", f"in order\n            - {DOTTED}\n")
    replace(
        source,
        '"".join(letters).upper()',
        '"".join(one + "." * (dots and one != "") for one in letters).upper()',
    )
    (made / "tests/test_initials.py").write_text(
        (made / "tests/test_initials.py").read_text()
        + "\n\ndef test_dots_stand_behind_letters():\n    assert initials('ada 42 lovelace', dots=True) == 'A.L.'\n"
        "\n\ndef test_no_dots_are_the_default():\n    assert initials('ada', dots=False) == initials('ada') == 'A'\n"
    )
    named = json.loads((made / "tests/obligations.json").read_text())
    named["test_dots_stand_behind_letters"] = ["/outputs/0/invariants/1"]
    named["test_no_dots_are_the_default"] = ["/inputs/1/constraints/1"]
    rewrite(made / "tests/obligations.json", **named)
    return playbook


@pytest.mark.slow
def test_what_is_approved_by_keyword_only_is_released_so(tmp_path: Path):
    """From the spec over contract, module and gate to the wheel, whose command passes it as an option (D-40-09)."""
    project, model = tmp_path / "project", f"playbook:{dotted(tmp_path)}"
    told = specwright("run", project, "--spec", SMALL / "SPEC.md", "--model", model, "--approve")
    assert told.code == 0, told
    (manifest,) = project.glob("state_store/releases/*/manifest.json")
    assert "uses of the command: " in json.loads(manifest.read_text())["product"]["detail"]
    (wheel,) = project.glob("state_store/releases/*/*.whl")
    code = "import inspect, nameplate; print(inspect.signature(nameplate.initials))"
    told_there = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told_there.stdout == "(name: str, *, dots: bool = False) -> str\n"
