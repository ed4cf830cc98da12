"""What the parties of a debate say, hand over and leave behind, in detail (F§9.1 to F§9.6, F§19.6, D11 to D15)."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from pydantic import BaseModel, ValidationError

from specwright.application.stored_plans import lock_plan, stored_plans
from specwright.application.tasks import task_at
from specwright.domain.answers import ArbiterAnswer, ChallengerAnswer
from specwright.domain.debate.records import Adjudication, Challenge, Proposal
from specwright.errors import RefusedError
from specwright.graphs.checkpoints import JsonSerializer
from specwright.graphs.graphs import project_graph
from specwright.ports import Place, Role
from specwright.roles.agent.tools import NoSearch
from specwright.roles.models.sources import model_sources
from specwright.roles.team import ModelRoles
from specwright.settings import Settings
from specwright.storage.context_pack import ContextPackBackend
from testkit.loop.debate_workbench import IN_MEMORY, DebateWorkbench, modelled, script
from testkit.loop.products import PLAYBOOK
from testkit.loop.role_answers import (
    MILD,
    PASSING,
    PROSE,
    Turn,
    amending,
    approving,
    claimed,
    draft,
    failing,
    plan,
    planned,
    rejecting,
    ruling,
)
from testkit.loop.scripted_gate import AT_THE_GATE
from testkit.model.fake_model import FakeSource, observed
from testkit.model.script import script_replies

ROUNDS: dict[str, list[Any]] = {
    "double/round-1/challenger": [failing("No listed test doubles 3.")],
    "double/round-2/arbiter": [rejecting()],
    **{
        f"double/round-{n}/proposer": [Turn(claimed(), draft("double", version=f"Draft {n}."))]
        for n in (1, 2, 3)
    },
}


@pytest.fixture(scope="module")
def debated() -> Iterator[DebateWorkbench]:
    """A project with a FAIL, a REJECT and an approval over `double`; only looked at."""
    with TemporaryDirectory(dir=IN_MEMORY) as made, DebateWorkbench(Path(made), script(ROUNDS)) as bench:
        assert bench.begin() == "SHIPPED"
        yield bench


def test_a_contract_that_the_rules_forbid_is_not_locked(debated: DebateWorkbench):
    """F-5-11: though its debate ended well; what is wrong is said of each contract."""
    task = task_at(debated.factory, *debated.state.tasks)
    (sound,) = stored_plans(debated.factory)
    forbidden = {name: one.model_copy(update={"purpose": "TBD"}) for name, one in sound.contracts.items()}
    locked = debated.notes.of("locked")
    found = lock_plan(debated.factory, task, sound._replace(contracts=forbidden))
    assert {problem.partition(": ")[0] for problem in found} == {"double", "halve"}
    assert debated.notes.of("locked") == locked


def test_a_mild_review_is_re_asked_with_what_is_missing_and_then_fails_of_its_own_kind(directory: Path):
    """F-9.5-01, F-9.5-02, F-9.5-03, F-9.5-04, F-9.4-04: two re-asks that name each criterion, then
    `mild_review_violation`."""
    with DebateWorkbench(directory, script({"double/round-1/challenger": [MILD]})) as bench:
        assert bench.begin() == "SHIPPED"
        assert len(bench.roles.refusals) == 3
        for told in bench.roles.refusals:
            assert "R1 (rubric_assessments.0.evidence): name each dimension; missing: inputs" in told
            assert all(f"R{n} (rubric_assessments.{n - 1}.evidence)" in told for n in range(1, 7))
        record = Challenge.model_validate(bench.record("double", 1, "challenge"))
        assert record.verdict == "FAIL"
        assert [failure.invariant for failure in record.failures] == ["mild_review_violation"]
        assert "name each dimension" in record.failures[0].evidence
        told = bench.roles.asked_at("double/round-2/proposer").message
        assert "mild_review_violation" in told
        assert "hand in the same work again" in told
        assert "rubric" not in told


def changed(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**base, **changes}


@pytest.mark.parametrize("form", ["five_criteria", "no_evidence", "not_met_and_pass", "a_pass_with_failures"])
def test_a_review_out_of_form_counts_as_a_mild_one(directory: Path, form: str):
    """F-9.5-01, F-9.5-04, D-S6-14: three times is a FAIL of its own kind, no halt, and each is told."""
    said = {"double/round-1/challenger": [INVALID_CHALLENGES[form]]}
    with DebateWorkbench(directory, script(said)) as bench:
        assert bench.begin() == "SHIPPED"
        assert len(bench.roles.refusals) == 3
        record = Challenge.model_validate(bench.record("double", 1, "challenge"))
        assert [failure.invariant for failure in record.failures] == ["mild_review_violation"]


INVALID_CHALLENGES = {
    "five_criteria": changed(PASSING, rubric_assessments=PASSING["rubric_assessments"][:5]),
    "no_evidence": changed(
        PASSING,
        rubric_assessments=[
            changed(PASSING["rubric_assessments"][0], evidence=" "),
            *PASSING["rubric_assessments"][1:],
        ],
    ),
    "seven_criteria": changed(
        PASSING, rubric_assessments=[*PASSING["rubric_assessments"], PASSING["rubric_assessments"][0]]
    ),
    "one_twice": changed(
        PASSING, rubric_assessments=[*PASSING["rubric_assessments"][:5], PASSING["rubric_assessments"][0]]
    ),
    "a_third_verdict": changed(PASSING, verdict="MOSTLY"),
    "a_failure_without_evidence": changed(failing(), failures=[{"invariant": "x", "required_change": "y"}]),
    "a_fail_without_failures": changed(failing(), failures=[]),
    "a_pass_with_failures": changed(PASSING, failures=failing()["failures"]),
    "not_met_and_pass": changed(failing(), verdict="PASS", failures=[]),
}
INVALID_RULINGS = {
    "rejected_and_shipped": ruling("REJECT", "SHIP", "It is rejected, but let it ship all the same."),
    "approved_and_kept": ruling("APPROVE", "NO_SHIP", "It is approved, but it must not ship today."),
    "amended_and_kept": changed(
        amending(("ADD", "test:test_x", "Add a test that doubles three.")), ship_directive="NO_SHIP"
    ),
    "amended_by_nothing": amending(),
    "approved_with_a_remark": changed(
        approving(), amendments=amending(("ADD", "test:test_x", "One that doubles three."))["amendments"]
    ),
    "a_fourth_decision": changed(approving(), decision="POSTPONE"),
    "no_reason": changed(approving(), rationale="fine"),
}


def test_an_inconsistent_challenge_or_ruling_is_none():
    """F-9.1-03, F-9.1-04, F-9.1-05, F-9.4-01, F-9.4-02, D-11-03: verdict and failures, decision, directive and amendments
    agree; the schema refuses all else."""
    schemas = ((ChallengerAnswer, INVALID_CHALLENGES), (ArbiterAnswer, INVALID_RULINGS))
    taken = [name for schema, answers in schemas for name, raw in answers.items() if _fits(schema, raw)]
    assert taken == []


def _fits(schema: type[BaseModel], raw: dict[str, Any]) -> bool:
    try:
        return bool(schema.model_validate(raw))
    except ValidationError:
        return False


FIELDS: dict[str, tuple[Any, str]] = {
    "proposal": (Proposal, "proposal_id target_artifact_id claim deliverable_ref acceptance_checks"),
    "challenge": (Challenge, "challenge_id target_artifact_id verdict failures optional_alternative_ref"),
    "adjudication": (
        Adjudication, "adjudication_id target_artifact_id decision amendments rationale ship_directive"
    ),
}  # fmt: skip


def test_the_records_of_a_debate_have_their_fields_and_places(debated: DebateWorkbench):
    """F-9.1-02, F-9.1-03, F-9.1-04, F-9.1-07, D-15-01: each is an artifact, and the newest of each kind
    is at F§7's path, under the first proposal's id; no artifact is ever rewritten."""
    base = debated.debate("double")
    first = debated.record("double", 1, "proposal")
    assert base.name == first["proposal_id"]
    for kind, (schema, fields) in FIELDS.items():
        last = base / f"{kind}.json"
        assert debated.read(last) == debated.record("double", 3, kind)
        assert {*fields.split()} <= debated.read(last).keys()
        assert schema.from_bytes(last.read_bytes(), kind).to_bytes() == last.read_bytes()
        for path in debated.base.glob(f"artifacts/*/*/*/body/{kind}.json"):
            with pytest.raises(RefusedError):
                debated.store.publish(path.relative_to(debated.base).as_posix(), b"{}")


def test_a_revision_is_a_new_artifact_and_is_challenged_again(debated: DebateWorkbench):
    """D-11-02, D-15-01, F-9.3-05, F-9.7-06: what failed stays CHALLENGED, what was rejected is a DRAFT again; the
    rationale, and not the ruling, reaches the Proposer."""
    targets = [debated.record("double", n, "proposal")["target_artifact_id"] for n in (1, 2, 3)]
    assert len(set(targets)) == 3
    assert [debated.envelope(name).status.value for name in targets] == ["CHALLENGED", "DRAFT", "SHIPPED"]
    assert [debated.envelope(name).version for name in targets] == ["1.0.0", "1.0.1", "1.0.2"]
    assert [debated.record("double", n, "challenge")["target_artifact_id"] for n in (1, 2, 3)] == targets
    told = debated.roles.asked_at("double/round-3/proposer").message
    assert rejecting()["rationale"] in told
    assert "NO_SHIP" not in told
    assert "ADJ-" not in told


def test_a_proposal_carries_what_its_judges_need_and_no_source(debated: DebateWorkbench):
    """D-12-01, D-12-02, F-9.7-07: inventory, examples, checks and the preflight's results."""
    proposal = debated.record("double", 3, "proposal")
    assert proposal["test_inventory"] == json.loads(draft("double")["tests/obligations.json"])
    assert proposal["examples"] == draft("double")["examples.md"]
    assert any("2 of 2 tests passed" in line for line in proposal["preflight"])
    for role in ("challenger", "arbiter"):
        given = debated.roles.asked_at(f"double/round-3/{role}")
        assert "number * 2" not in given.message + json.dumps({k: v.decode() for k, v in given.pack.items()})


def test_no_invalid_answer_ever_enters_the_store(directory: Path):
    """F-9.1-06: what was refused stands in the escalation alone."""
    why = "An invalid ruling that says so."
    invalid = [PROSE, *(changed(r, rationale=why) for r in list(INVALID_RULINGS.values())[:2])]
    with DebateWorkbench(directory, script({"double/round-1/arbiter": invalid})) as bench:
        assert bench.begin() == "HALTED"
        raw = bench.escalation.details["raw_answers"]
        assert [json.loads(one) if one[0] == "{" else one for one in raw] == invalid
        folders = [bench.base / name for name in ("debates", "artifacts", "modules")]
        records = [path for folder in folders for path in folder.rglob("*.json")]
        assert not any(b"An invalid ruling" in path.read_bytes() for path in records)
        assert bench.records()["double"] == ["challenge proposal"]
        assert len(bench.envelopes("ADJ")) == 2  # of the contracts and of the other module


def test_the_gate_tells_the_proposer_what_it_found(directory: Path):
    """F-11.2-04, D-11-01: a failure at the gate is a failure like any other, with its own evidence."""
    weak = Turn(claimed(), draft("double", AT_THE_GATE))
    with DebateWorkbench(directory, script({"double/round-1/proposer": [weak]})) as bench:
        assert bench.begin() == "SHIPPED"
        assert "7 of 12 mutants lived" in bench.roles.asked_at("double/round-2/proposer").message
        assert bench.record("double", 1, "gate")["failures"][0]["evidence"] == "7 of 12 mutants lived"
        assert bench.record("double", 2, "gate")["failures"] == []


def test_a_module_is_sealed_against_the_locked_versions_of_what_it_calls(directory: Path):
    """F-9.4-05, D-20-03: their fingerprints stand in its evidence."""
    with DebateWorkbench(
        directory, script(planning=plan(planned("second", "first"), planned("first")))
    ) as bench:
        assert bench.begin() == "SHIPPED"
        sealed = bench.sealed()
        first = bench.read(sealed["first"] / "ship.json")
        ref = f"{sealed['first'].parent.name}@1.0.0"
        assert bench.read(sealed["second"] / "ship.json")["dependency_fingerprints"] == {
            ref: first["verification"]["interface_fingerprint"]
        }


def test_models_are_asked_by_roles_and_by_nothing_else(directory: Path):
    """F-1-01: every journalled call belongs to one of the roles; routing, gates and sealing ask none."""
    with DebateWorkbench(directory, script(), roles=modelled(script(ROUNDS))) as bench:
        assert bench.begin() == "SHIPPED"
        scopes = [record.place.scope for record in bench.journal.records("model")]
    assert len(scopes) == len([call for call in bench.trace if "/round-" in call])
    assert {scope.rpartition("/")[2] for scope in scopes} <= set(Role)


def test_each_role_may_have_a_model_of_its_own(directory: Path):
    """F-9.1-01: a provider for the Arbiter alone, a playbook for the others; and each role asks its own model."""
    named = Settings(
        model=f"playbook:{PLAYBOOK}", role_models={"arbiter": "openai:some"}, base_url="http://127.0.0.1:9/v1"
    )
    sources = model_sources(named)
    assert {role: source.scripted for role, source in sources.items()} == {
        role: role is not Role.ARBITER for role in Role
    }
    asked: list[tuple[Role, Role]] = []

    def own(bench: DebateWorkbench) -> ModelRoles:
        def source(of: Role) -> FakeSource:
            def note(place: Place, messages: Any, tools: Any) -> None:
                asked.append((place.role, of))

            return FakeSource(observed(script_replies(script()), note))

        by_role = {role: source(role) for role in Role}
        work = bench.runtime / "work"
        return ModelRoles(
            by_role, bench.journal, bench.index, NoSearch(), work, bench.notes, ContextPackBackend
        )

    with DebateWorkbench(directory, script(), roles=own) as bench:
        assert bench.begin() == "SHIPPED"
    assert {role for role, _ in asked} == set(Role) - {Role.RESEARCHER}
    assert all(role is of for role, of in asked)


def test_nothing_of_a_debate_stands_in_the_state_of_the_project_loop(directory: Path):
    """F-1-03: the checkpoints hold where the run is, and never what was said."""
    with DebateWorkbench(directory, script(ROUNDS)) as bench:
        bench.begin()
        words = {"proposals", "challenges", "adjudications", "retry_count", "round", "verdict", "version_id"}
        assert not words & set(cast(Any, project_graph(bench.factory)).channels)
        with closing(
            sqlite3.connect(bench.runtime / "checkpoints.db", check_same_thread=False)
        ) as connection:
            found = [*SqliteSaver(connection, serde=JsonSerializer()).list(None)]
    assert {_depth(one) for one in found} == {0, 1, 2}  # above, in and below the engineering loop
    assert not any(words & one.checkpoint["channel_values"].keys() for one in found if _depth(one) == 0)
    assert not any("No listed test doubles three" in str(one.checkpoint) for one in found)


def _depth(found: Any) -> int:
    return found.config["configurable"]["checkpoint_ns"].count("|")
