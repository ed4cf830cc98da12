"""Faults of an approved spec that only a run shows: it halts, and the person is told what to strike (DESIGN §13.2)."""

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_wire import canonical_json
from ship_gate.fuzz.check import FuzzBounds
from ship_gate.ship_gate import SandboxedShipGate
from specwright.application.escalation import offers
from specwright.application.stages.release import release_all, release_some
from specwright.documents.commands import next_command
from specwright.documents.needs import Escalation
from specwright.domain.escalation import Action, HumanResolution
from specwright.domain.spec.product_spec import ProductSpec
from specwright.errors import CorruptionError, InputError
from specwright.ports import BuiltWheel, ExerciseReport, ProductPackage
from specwright.wheels.wheel import build_wheel
from testkit.domain.product_specs import spec_of_graph
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.resolving import answer
from testkit.loop.role_answers import Turn, claimed, draft, plan, planned
from testkit.sampling import nightly

IMPORT = "from keeper import double\n\n"
CONTRADICTS = {"title": "Twice three", "criteria": [1], "code": f"{IMPORT}double(3)", "gives": "5"}
FALSE_AT_A_CORNER = {
    "title": "Always more",
    "criteria": [1],
    "variables": {"number": "int"},
    "code": f"{IMPORT}double(number) > number",
    "errors": ["ValueError"],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("acceptance", "title", "words"),
    [
        ({"examples": [CONTRADICTS]}, "Twice three", "it gives '6', the text block says '5'"),
        nightly({"properties": [FALSE_AT_A_CORNER]}, "Always more", "for number=0 its code gives False"),
    ],
    ids=["an example that contradicts its criterion", "a property that is false for a corner"],
)
def test_a_halt_over_what_was_approved_recommends_to_strike_it(
    directory: Path, acceptance: dict[str, Any], title: str, words: str
):
    """Three drafts that nothing else is wrong with: AMEND_SPEC is recommended, with the title; a change begins without what
    was struck (D-40-10, D-41-04, D-56-03)."""
    spec = spec_of_graph([[]]).to_json()
    (task,) = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"]
    task["acceptance"] = {"provides": ["double(number: int) -> int"], **acceptance}
    answers = {"double/round-1/proposer": [Turn(claimed(), draft("double"))] * 3}
    gate = SandboxedShipGate(30.0, strength=0.0, fuzz=FuzzBounds(examples=0))
    with DebateWorkbench(
        directory, script(answers, plan(planned("double"), task_facing="double")), gate
    ) as bench:
        bench.approve(ProductSpec.model_validate(spec))
        bench.run()
        escalation = bench.escalation
        struck = {
            "amended_acceptance_criteria": task["acceptance_criteria"],
            "amendment_rationale": "It was wrong itself.",
            "strike_examples": [title],
        }
        name = escalation.escalation_id
        assert (
            bench.run(answer={"action": "AMEND_SPEC", "payload": struck, "escalation_id": name}) == "COMPLETE"
        )
        approved, decided = bench.projection.spec, bench.projection.decided_spec
    assert escalation.recommended_resolution == "AMEND_SPEC"
    assert escalation.details["broken_titles"] == [title]
    assert (
        f"if what was approved as {title!r} is wrong itself, AMEND_SPEC strikes it"
        in escalation.resolution_context
    )
    assert any(words in one.evidence for one in escalation.failed_invariants)
    assert approved is not None
    assert decided is not None
    assert (title in str(approved.to_json()), title in str(decided.to_json())) == (True, False)


class Careless:
    """A packager whose wheels are changed after they were built, and which tries none.

    Args:
        change: Of the files in the wheel.
        exports: Whether it says what the package exports.
    """

    def __init__(self, change: Callable[[dict[str, bytes]], Any] = len, *, exports: bool = True) -> None:
        self.change, self.exports = change, exports
        self.tried: list[ProductPackage] = []

    def build(self, product: ProductPackage) -> BuiltWheel:
        """The wheel of the real packager, changed."""
        wheel, changed = build_wheel(product), io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(wheel.content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        self.change(files)
        with zipfile.ZipFile(changed, "w") as archive:
            for name, data in files.items():
                archive.writestr(zipfile.ZipInfo(name), data)
        content, exports = changed.getvalue(), wheel.exports if self.exports else ()
        return wheel._replace(content=content, sha256=canonical_json.sha256(content), exports=exports)

    def exercise(self, wheel: BuiltWheel, product: ProductPackage) -> ExerciseReport:
        """Nothing fails."""
        self.tried.append(product)
        return ExerciseReport("PASS", "", ())


CARELESS = {
    "does not export double": Careless(exports=False),
    "table_keeper/double/__init__.py": Careless(lambda files: files.pop("table_keeper/double/__init__.py")),
    "table_keeper/halve/__init__.py": Careless(
        lambda files: files.update({"table_keeper/halve/__init__.py": b"pass"})
    ),
    "table_keeper/__init__.py": Careless(lambda files: files.pop("table_keeper/__init__.py")),
}
"""By what is said of its wheel."""


def providing(*public: str, **acceptance: Any) -> ProductSpec:
    """A spec whose one task provides some names."""
    spec = spec_of_graph([[]]).to_json()
    task = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    task["acceptance"] = {"provides": [f"{name}(number: int) -> int" for name in public], **acceptance}
    return ProductSpec.model_validate(spec)


def test_a_wheel_that_is_not_what_was_sealed_is_a_fault_of_specwright(directory: Path):
    """The release says so, and asks nobody to change the spec (D-53-01, D-53-03)."""
    with DebateWorkbench(directory, script()) as bench:
        bench.approve(providing("double"))
        assert bench.run() == "COMPLETE"
        told: dict[str, str] = {}
        for words, packager in CARELESS.items():
            try:
                release_all(replace(bench.factory, packager=packager), again=len(told))
            except CorruptionError as error:
                told[words] = f"{error.what} {error.remedy}"
        assert [one for one in CARELESS if one not in told.get(one, "")] == []
        assert all("a defect of Specwright" in text for text in told.values())
        assert bench.projection.releases == []


def test_another_wheel_of_a_version_is_a_post_release(directory: Path):
    """An installer takes one version for one wheel, so other bytes get a name of their own, also in the changelog; the same
    bytes keep theirs, whatever was released in between."""
    first, other = Careless(), Careless(lambda files: files.update({"table_keeper/more.py": b""}))
    made: list[str | None] = []
    with DebateWorkbench(directory, script()) as bench:
        bench.approve(providing("double"))
        assert bench.run() == "COMPLETE"
        for again, packager in enumerate((first, other, other, first)):
            made.append(release_all(replace(bench.factory, packager=packager), again=again + 1).product.wheel)
    versions = ("1.0.0", "1.0.0.post1", "1.0.0.post1", "1.0.0")
    assert made == [f"table_keeper-{version}-py3-none-any.whl" for version in versions]
    assert other.tried[-1].notes.startswith("## 1.0.0.post1: 1.0.0 released again\n")


def test_a_part_of_a_task_is_tried_with_its_own_examples_only(directory: Path):
    """What was approved of a module that is not in the set cannot be called there (F-15-02)."""
    halved = {**CONTRADICTS, "title": "Half", "code": "from keeper import halve\n\nhalve(3)"}
    packager = Careless()
    with DebateWorkbench(directory, script()) as bench:
        bench.approve(providing("double", "halve", examples=[{**CONTRADICTS, "gives": "6"}, halved]))
        assert bench.run() == "COMPLETE"
        ref = next(
            ref
            for ref in bench.factory.modules.refs()
            if bench.factory.modules.contract(ref).name == "double"
        )
        manifest = release_some(replace(bench.factory, packager=packager), [ref], 1)
    assert manifest.succeeded
    (package,) = packager.tried
    assert [one.example.code.splitlines()[-1] for one in package.approved] == ["double(3)"]
    assert package.provided == ("double",)


EXTRA = {
    "provides": ["double(number: int) -> int"],
    "examples": [
        {**CONTRADICTS, "gives": "6"},
        {**CONTRADICTS, "title": "Minus one", "code": f"{IMPORT}double(-1)", "gives": "-2"},
    ],
    "properties": [
        {
            **FALSE_AT_A_CORNER,
            "title": "Late",
            "code": f"{IMPORT}double(number) >= number or number < 0",
            "errors": [],
        },
        {**FALSE_AT_A_CORNER, "title": "Open", "code": f"{IMPORT}double(number) >= number", "errors": []},
    ],
}
CORRECTED = {
    "Minus one": {"gives": "ValueError:"},
    "Late": {"errors": ["ValueError"]},
    "Open": {"errors": ["ValueError"]},
}
GATE = SandboxedShipGate(30.0, strength=0.0, fuzz=FuzzBounds(examples=0))


def wrong(title: str) -> Turn:
    """A draft whose Proposer says of something approved that it is wrong."""
    why = "2: a negative number is refused, so that no value comes out"
    return Turn({**claimed(), "spec_at_fault": {title: why}}, draft("double"))


def approved(bench: DebateWorkbench, acceptance: dict[str, Any]) -> str:
    """Run a task with such examples to its first stop; how it stands."""
    spec = spec_of_graph([[]]).to_json()
    spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]["acceptance"] = acceptance
    bench.approve(ProductSpec.model_validate(spec))
    bench.run()
    return bench.status()


@pytest.mark.slow
def test_a_wrong_example_stops_the_task_at_once_and_one_command_corrects_it(directory: Path):
    """Nobody is asked after the draft; the page has all of that kind, each corrected; the answer keeps plan, contract
    and draft; a change begins with what was corrected (D-52-02, D-52-03, D-56-01, D-56-03)."""
    answers = {"double/round-1/proposer": [wrong("Open")]}
    with DebateWorkbench(directory, script(answers), GATE) as bench:
        assert approved(bench, EXTRA) == "HALTED"
        assert bench.traced("double", "halve") == ["double/round-1/proposer"]
        escalation = bench.escalation
        page = Escalation.of(bench.factory, escalation, directory)
        assert page.need.steps == [next_command(f"resolve {escalation.escalation_id} RETRY", directory)]
        told = "\n".join(one.evidence for one in page.failures)
        for text in ("gives: ValueError:", "errors: ['ValueError']"):
            assert f"Corrected, {text}" in told
        assert page.actions["RETRY"] == {"module": "double", "corrections": CORRECTED}
        misspelt = {"module": "double", "corrections": {"Open": {"errors": "ValueError"}}}
        with pytest.raises(InputError, match="the corrected 'Open'"):
            offers.check(bench.factory, HumanResolution(action=Action.RETRY, payload=misspelt))
        assert answer(bench, "RETRY", page.actions["RETRY"]) == "SHIPPED"
        asked = ["double/round-1/challenger", "double/round-1/arbiter"]
        assert bench.traced() == [
            *asked,
            *(f"halve/round-1/{role}" for role in ("proposer", "challenger", "arbiter")),
        ]
        decided = str(bench.projection.decided_spec)
    assert ("gives='ValueError:'" in decided, "gives='-2'" in decided) == (True, False)


@pytest.mark.slow
def test_a_confirmed_fault_wins_over_all_else_of_the_same_answer(directory: Path):
    """Beside it stand an example that the draft breaks by itself, a false claim about that one, and a criterion shown by a
    test that is not there: still nobody is asked again. Once it is corrected, the rest is the Proposer's (D-52-02)."""
    said = wrong("Open")
    said.answer["spec_at_fault"]["Twice three"] = "1: twice three is six"
    said.answer["acceptance_checks"] = ["1: test_that_nobody_wrote shows it"]
    answers = {"double/round-1/proposer": [said]}
    both = {**EXTRA, "examples": [CONTRADICTS, *EXTRA["examples"][1:]]}
    with DebateWorkbench(directory, script(answers), GATE) as bench:
        assert approved(bench, both) == "HALTED"
        assert bench.traced("double", "halve") == ["double/round-1/proposer"]
        assert bench.roles.refusals == []
        page = Escalation.of(bench.factory, bench.escalation, directory)
        assert page.actions["RETRY"]["corrections"] == CORRECTED
        told = page.failed["double"]
        assert ("Open: 2: a negative" in told, "Twice three" in told) == (True, False), told
        answer(bench, "RETRY", page.actions["RETRY"])
        assert set(bench.traced("double")) == {"double/round-1/proposer"}


@pytest.mark.slow
def test_a_crash_between_the_answer_and_the_run_changes_nothing(directory: Path):
    """The answer is in the log, and the next run goes on with it; a lost checkpoint changes nothing (D-56-01, D-09-01)."""
    with DebateWorkbench(directory, script({"double/round-1/proposer": [wrong("Open")]}), GATE) as bench:
        assert approved(bench, EXTRA) == "HALTED"
        payload = offers.payload_draft(bench.factory, bench.escalation, Action.RETRY)
        offers.resolve(bench.factory, HumanResolution(action=Action.RETRY, payload=payload))
        (bench.runtime / "checkpoints.db").unlink()
    with DebateWorkbench(directory, script(), GATE) as bench:
        bench.run()
        assert bench.status() == "SHIPPED"
        assert bench.traced("plan", "contracts", "double") == [
            "double/round-1/challenger",
            "double/round-1/arbiter",
        ]


@pytest.mark.slow
def test_what_was_corrected_and_still_fails_is_the_proposers(directory: Path):
    """In the same attempt: no plan and no contract is made again (D-56-01)."""
    answers = {"double/round-1/proposer": [wrong("Open"), Turn(claimed(), draft("double"))]}
    with DebateWorkbench(directory, script(answers), GATE) as bench:
        assert approved(bench, EXTRA) == "HALTED"
        fewer = {**CORRECTED, "Minus one": {"gives": "-3"}}
        answer(bench, "RETRY", {"module": "double", "corrections": fewer})
        assert bench.traced("plan", "contracts") == []
        assert set(bench.traced("double")) == {"double/round-1/proposer"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Twice three", "double(3) raises no error that the contract declares"),
        nightly("Twice", "nothing of that title"),
    ],
)
def test_a_fault_that_code_does_not_confirm_is_refused(directory: Path, title: str, words: str):
    """With the call (D-52-04)."""
    answers = {"double/round-1/proposer": [wrong(title)]}
    with DebateWorkbench(directory, script(answers), GATE) as bench:
        assert approved(bench, EXTRA) == "HALTED"
        assert words in bench.roles.refusals[0]
        assert bench.escalation.corrections == {}
