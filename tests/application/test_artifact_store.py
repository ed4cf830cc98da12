"""The artifact store: valid or not there, versions that only rise, and a status that moves by five steps (F§8)."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ship_gate.base.ids import ArtifactType
from specwright.application.store.artifacts import ArtifactStore, Invocation
from specwright.domain.answers import Amendment, Decision, ShipDirective
from specwright.domain.artifacts import ArtifactStatus, Author, Contribution, ContributionType
from specwright.domain.debate.records import Adjudication
from specwright.domain.modules.evidence import ShipEvidence
from specwright.errors import RefusedError
from testkit.loop.role_answers import PASSING
from testkit.memory_tree import MemoryStore

FOLDER = "words"
FINGERPRINT = "a" * 64
PACK = "CP-00000001"
BY = Invocation("proposer", "TSK-001.1/shorten/round-1/proposer", "T-words-shorten-001", PACK, FOLDER)


class Counted:
    """Ids and times that count up."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def hex8(self) -> str:
        return f"{next(self._numbers):08x}"

    def now(self) -> str:
        return "2026-01-01T00:00:00Z"

    def record(self, files: object = None) -> None:
        """Kept nowhere."""


class Shelf:
    """A store with something in it."""

    def __init__(self) -> None:
        self.tree = MemoryStore()
        self.service = ArtifactStore(self.tree)
        self.draws: Any = Counted()

    def create(self, kind: ArtifactType = ArtifactType.IMPLEMENTATION, **given: Any) -> str:
        body = given.pop("body", {"notes.md": b"x"})
        by = BY._replace(pack_id=given.pop("pack", PACK))
        made = self.service.draft(self.draws, by, kind, body, **given)
        self.service.add(self.draws, made)
        return made.envelope.artifact_id

    def status(self, name: str) -> ArtifactStatus:
        return self.service.envelope(FOLDER, name).status

    def challenge(self, *about: str) -> str:
        refs = [(self.service.ref(FOLDER, name), "what it challenges") for name in about]
        record = {
            "challenge_id": f"CHAL-{self.draws.hex8()}",
            "target_artifact_id": about[0],
            "verdict": "PASS",
            "failures": [],
            "rubric_assessments": PASSING["rubric_assessments"],
        }
        body = {"challenge.json": json.dumps(record).encode()}
        return self.create(ArtifactType.CHALLENGE, inputs=refs, body=body, name=record["challenge_id"])

    def ruling(self, decision: Decision, *about: str) -> str:
        refs = [(self.service.ref(FOLDER, name), "what it decides on") for name in about]
        amendments = [Amendment(action="ADD", target="test:one", detail="add a test for the empty text here")]
        record = Adjudication(
            adjudication_id=f"ADJ-{self.draws.hex8()}",
            target_artifact_id="IMPL-00000000",
            decision=decision,
            amendments=amendments if decision is Decision.APPROVE_WITH_AMENDMENTS else [],
            rationale="as the contract has it",
            ship_directive=ShipDirective.NO_SHIP if decision is Decision.REJECT else ShipDirective.SHIP,
        )
        body, name = {"adjudication.json": record.to_bytes()}, record.adjudication_id
        return self.create(ArtifactType.ADJUDICATION, inputs=refs, body=body, name=name)

    def brought_to(self, status: ArtifactStatus, kind: ArtifactType = ArtifactType.IMPLEMENTATION) -> str:
        """An artifact that came to a status by the legal way."""
        name = self.create(kind)
        if status is ArtifactStatus.DRAFT:
            return name
        self.service.challenged(FOLDER, name, self.challenge(name))
        if status is ArtifactStatus.CHALLENGED:
            return name
        self.service.adjudicated(FOLDER, name, self.ruling(Decision.APPROVE, name))
        if status is ArtifactStatus.ADJUDICATED:
            return name
        self.ship(name)
        if status is ArtifactStatus.DEPRECATED:
            self.service.deprecated(FOLDER, name, "ICE-00000001@1.0.0")
        return name

    def ship(self, name: str, **given: Any) -> None:
        evidence = given.pop("evidence", shipped_with())
        self.service.shipped(FOLDER, name, evidence=evidence, locked_fingerprint=FINGERPRINT, **given)

    def move(self, name: str, to: ArtifactStatus) -> None:
        """Ask for a status with everything that the step may want."""
        match to:
            case ArtifactStatus.DRAFT:
                self.service.rejected(FOLDER, name, self.ruling(Decision.REJECT, name), revisions_left=2)
            case ArtifactStatus.CHALLENGED:
                self.service.challenged(FOLDER, name, self.challenge(name))
            case ArtifactStatus.ADJUDICATED:
                self.service.adjudicated(FOLDER, name, self.ruling(Decision.APPROVE, name))
            case ArtifactStatus.SHIPPED:
                self.ship(name, evidence=shipped_with(module="MM-00000009"))
            case ArtifactStatus.DEPRECATED:
                self.service.deprecated(FOLDER, name, "ICE-00000002@1.0.0")


def shipped_with(
    result: str = "PASS", fingerprint: str = FINGERPRINT, module: str = "MM-00000001"
) -> ShipEvidence:
    """Ship evidence as the gate writes it."""
    failed = int(result == "FAIL")
    return ShipEvidence.model_validate(
        {
            "module_id": module,
            "module_version": "1.0.0",
            "ship_id": "SHIP-00000001",
            "verified_at": "2026-01-01T00:00:00Z",
            "verification": {
                "result": result,
                "interface_fingerprint": fingerprint,
                "evidence_ref": f"modules/{module}/1.0.0/tests/execution_log.json",
            },
            "environment": {"repo_revision": "r", "dependency_lock_ref": "l", "runner_id": "p"},
            "dependency_fingerprints": {},
            "tree_sha256": {"implementation": "b" * 64, "tests": "c" * 64},
            "gate": [{"name": "tests", "result": result}],
            "struck_tests": [],
            "journal_ref": "journal.jsonl#x",
            "execution_log": {
                "summary": {"total": 1, "passed": 1 - failed, "failed": failed},
                "sha256": "d" * 64,
            },
        }
    )


@pytest.fixture
def shelf() -> Shelf:
    """An empty store."""
    return Shelf()


S = ArtifactStatus
LEGAL = {
    (S.DRAFT, S.CHALLENGED),
    (S.CHALLENGED, S.ADJUDICATED),
    (S.ADJUDICATED, S.SHIPPED),
    (S.ADJUDICATED, S.DRAFT),
    (S.SHIPPED, S.DEPRECATED),
}
"""The table of F§8.4."""

REASONS = {
    (S.DRAFT, S.SHIPPED): "the debate cannot be skipped",
    (S.DRAFT, S.ADJUDICATED): "the challenge cannot be skipped",
    (S.SHIPPED, S.DRAFT): "immutable",
    (S.SHIPPED, S.CHALLENGED): "immutable",
    (S.CHALLENGED, S.DRAFT): "only the Arbiter sends an artifact back",
    (S.CHALLENGED, S.SHIPPED): "the adjudication cannot be skipped",
}


def test_the_25_pairs_of_statuses():
    """Five are made, with their grounds; every other is refused and names both; DEPRECATED is terminal (F-8-08, F-8-09)."""
    for old, new in itertools.product(S, S):
        shelf = Shelf()
        if (old, new) == (S.ADJUDICATED, S.DRAFT):
            name = shelf.brought_to(S.CHALLENGED)
            ruling = shelf.ruling(Decision.REJECT, name)
            shelf.service.adjudicated(FOLDER, name, ruling)
            shelf.service.rejected(FOLDER, name, ruling, revisions_left=1)
            assert shelf.status(name) is S.DRAFT
            continue
        name = shelf.brought_to(old)
        if (old, new) in LEGAL:
            shelf.move(name, new)
            assert shelf.status(name) is new
            continue
        with pytest.raises(RefusedError, match=f"{name} cannot go from {old} to {new}") as refused:
            shelf.move(name, new)
        assert REASONS.get((old, new), "docs/design.md#artifact-lifecycle") in str(refused.value)
        assert "terminal" in str(refused.value) or old is not S.DEPRECATED
        assert shelf.status(name) is old


def test_a_shipped_artifact_keeps_its_id_through_every_status(shelf: Shelf):
    """The id is the one of its creation, and so is everything but status and outputs (F-8-05)."""
    name = shelf.create()
    first = shelf.service.envelope(FOLDER, name)
    shelf.service.challenged(FOLDER, name, shelf.challenge(name))
    shelf.service.adjudicated(FOLDER, name, shelf.ruling(Decision.APPROVE, name))
    shelf.ship(name)
    last = shelf.service.envelope(FOLDER, name)
    assert last.model_copy(update={"status": first.status, "outputs": first.outputs}) == first
    assert [output.ref.partition("-")[0] for output in last.outputs] == ["CHAL", "ADJ", "MM"]


def test_a_step_needs_the_record_that_references_the_artifact(shelf: Shelf):
    """Another kind, a challenge of something else, or a ruling on it, is refused (F-8-10, F-8-11)."""
    name, other = shelf.create(), shelf.create()
    with pytest.raises(RefusedError, match="is not of type CHALLENGE"):
        shelf.service.challenged(FOLDER, name, other)
    with pytest.raises(RefusedError, match=f"does not reference {name}@1.0.0"):
        shelf.service.challenged(FOLDER, name, shelf.challenge(other))
    assert shelf.status(name) is S.DRAFT
    shelf.service.challenged(FOLDER, name, shelf.challenge(name))
    with pytest.raises(RefusedError, match="is not of type ADJUDICATION"):
        shelf.service.adjudicated(FOLDER, name, shelf.challenge(name))
    with pytest.raises(RefusedError, match=f"does not reference {name}@1.0.0"):
        shelf.service.adjudicated(FOLDER, name, shelf.ruling(Decision.APPROVE, other))
    assert shelf.status(name) is S.CHALLENGED


def test_shipped_needs_an_approval_and_passing_evidence_of_the_locked_interface(shelf: Shelf):
    """Each of the three conditions alone keeps it from shipping (F-8-12)."""
    mismatch, approve = "Interface fingerprint mismatch: expected aaaa", Decision.APPROVE
    for decision, evidence, why in (
        (Decision.REJECT, shipped_with(), "it was rejected"),
        (Decision.APPROVE_WITH_AMENDMENTS, shipped_with(), "its amendments are not applied"),
        (approve, None, "has no ship evidence"),
        (approve, shipped_with("FAIL"), "the ship evidence says FAIL"),
        (approve, shipped_with(fingerprint="e" * 64), mismatch),
    ):
        name = shelf.brought_to(S.CHALLENGED)
        shelf.service.adjudicated(FOLDER, name, shelf.ruling(decision, name))
        with pytest.raises(RefusedError, match=why):
            shelf.ship(name, evidence=evidence)
        assert shelf.status(name) is S.ADJUDICATED


def test_what_is_no_code_ships_on_an_approval_and_valid_content(shelf: Shelf):
    """A contract is locked after its debate, when its validators found nothing (F-5-11)."""
    name = shelf.brought_to(S.ADJUDICATED, ArtifactType.CONTRACT)
    with pytest.raises(RefusedError, match="is not valid: no such type"):
        shelf.service.shipped(FOLDER, name, faults=["no such type"])
    shelf.service.shipped(FOLDER, name)
    assert shelf.status(name) is S.SHIPPED


def test_back_to_draft_only_on_a_rejection_inside_the_window(shelf: Shelf):
    """Once the revisions are spent the project halts instead (F-8-13)."""
    for decision, left, why in (
        (Decision.APPROVE, 2, "does not reject"),
        (Decision.REJECT, 0, "no revision is left"),
    ):
        name = shelf.brought_to(S.CHALLENGED)
        ruling = shelf.ruling(decision, name)
        shelf.service.adjudicated(FOLDER, name, ruling)
        with pytest.raises(RefusedError, match=why):
            shelf.service.rejected(FOLDER, name, ruling, revisions_left=left)
        assert shelf.status(name) is S.ADJUDICATED


def test_what_amendments_made_ships_by_the_ruling_that_asked_for_them(shelf: Shelf):
    """The amended version was made from the judged one, which itself never ships (F-8-12, D11)."""
    judged = shelf.create()
    challenge, ruling = shelf.challenge(judged), shelf.ruling(Decision.APPROVE_WITH_AMENDMENTS, judged)
    shelf.service.challenged(FOLDER, judged, challenge)
    shelf.service.adjudicated(FOLDER, judged, ruling)
    stranger, amended = shelf.create(), shelf.create(revises=judged)
    with pytest.raises(RefusedError, match="was not made from"):
        shelf.service.amended(FOLDER, stranger, judged, challenge, ruling)
    with pytest.raises(RefusedError, match="does not ask for amendments"):
        shelf.service.amended(FOLDER, amended, judged, challenge, shelf.ruling(Decision.APPROVE, judged))
    shelf.service.amended(FOLDER, amended, judged, challenge, ruling)
    shelf.ship(amended)
    assert (shelf.status(amended), shelf.status(judged)) == (S.SHIPPED, S.ADJUDICATED)


def test_an_old_challenge_does_not_serve_a_revision(shelf: Shelf):
    """After a FAIL the old artifact stays CHALLENGED, and the revision is judged anew (F-8-15)."""
    failed = shelf.create()
    challenge = shelf.challenge(failed)
    shelf.service.challenged(FOLDER, failed, challenge)
    revision = shelf.create(revises=failed)
    with pytest.raises(RefusedError, match="does not reference"):
        shelf.service.challenged(FOLDER, revision, challenge)
    assert (shelf.status(failed), shelf.status(revision)) == (S.CHALLENGED, S.DRAFT)


def test_a_deprecation_names_the_decision_or_the_successor(shelf: Shelf):
    """It is recorded among the outputs; without such a reference there is none, and it is the last step (F-8-14)."""
    for decided in ("ICE-00000001@1.0.0", "IMPL-00000009@1.1.0"):
        name = shelf.brought_to(S.SHIPPED)
        with pytest.raises(ValueError, match="ref"):
            shelf.service.deprecated(FOLDER, name, "because I say so")
        assert shelf.status(name) is S.SHIPPED
        shelf.service.deprecated(FOLDER, name, decided)
        last = shelf.service.envelope(FOLDER, name).outputs[-1]
        assert (last.ref, last.purpose) == (decided, "deprecated-for")
        shelf.service.deprecated(FOLDER, name, decided)
        with pytest.raises(RefusedError, match="terminal"):
            shelf.service.deprecated(FOLDER, name, "ICE-00000002@1.0.0")


def test_the_status_is_what_the_grounds_make_it(shelf: Shelf):
    """Every status that was come by legally can be told from the outputs alone; a rejection leads back to DRAFT, and the
    ruling that asked for a change on to ADJUDICATED (F-8-09, F-8-13, D-S9-11)."""
    reached = {shelf.brought_to(status): status for status in S}
    rejected, judged = shelf.brought_to(S.CHALLENGED), shelf.create()
    ruling = shelf.ruling(Decision.REJECT, rejected)
    shelf.service.adjudicated(FOLDER, rejected, ruling)
    shelf.service.rejected(FOLDER, rejected, ruling, revisions_left=1)
    told = shelf.challenge(judged), shelf.ruling(Decision.APPROVE_WITH_AMENDMENTS, judged)
    amended = shelf.create(revises=judged)
    shelf.service.amended(FOLDER, amended, judged, *told)
    for name, status in (reached | {rejected: S.DRAFT, amended: S.ADJUDICATED, judged: S.DRAFT}).items():
        envelope = shelf.service.envelope(FOLDER, name)
        assert envelope.status_by_grounds is envelope.status is status
        assert envelope.as_created.status_by_grounds is S.DRAFT


def test_a_step_that_is_made_again_after_a_crash_changes_nothing(shelf: Shelf):
    """The very same step is passed over from any later status; the store stays the same (F-8-09, DESIGN §4)."""
    name = shelf.create()
    challenge, ruling = shelf.challenge(name), shelf.ruling(Decision.APPROVE, name)
    for _ in range(2):
        shelf.service.challenged(FOLDER, name, challenge)
        shelf.service.adjudicated(FOLDER, name, ruling)
        shelf.ship(name)
    before = dict(shelf.tree.files)
    shelf.service.challenged(FOLDER, name, challenge)
    assert shelf.tree.files == before
    again = shelf.create(name=name)
    assert again == name
    assert shelf.tree.files == before


JUNK = {
    "nothing": {"notes.md": b"x"},
    "no JSON": {"challenge.json": b"it is fine", "adjudication.json": b"it is fine"},
    "another record": {
        "challenge.json": b'{"verdict": "PASS"}',
        "adjudication.json": b'{"decision": "APPROVE"}',
    },
}


@pytest.mark.parametrize("kind", [ArtifactType.CHALLENGE, ArtifactType.ADJUDICATION])
@pytest.mark.parametrize("body", JUNK.values(), ids=JUNK)
def test_a_challenge_or_a_ruling_that_is_none_is_refused(
    shelf: Shelf, kind: ArtifactType, body: dict[str, bytes]
):
    """As it is created, and nothing is written; nor does one move a status that was altered since (F-8-10, F-8-11)."""
    name = shelf.create()
    about, before = [(shelf.service.ref(FOLDER, name), "what it is about")], dict(shelf.tree.files)
    with pytest.raises(RefusedError, match=f"is not a valid {kind}"):
        shelf.create(kind, inputs=about, body=body)
    assert shelf.tree.files == before
    challenge = shelf.challenge(name)
    ruling = shelf.ruling(Decision.APPROVE, name)
    if kind is ArtifactType.ADJUDICATION:
        shelf.service.challenged(FOLDER, name, challenge)
    record = challenge if kind is ArtifactType.CHALLENGE else ruling
    shelf.tree.files[f"artifacts/{FOLDER}/{record}/1.0.0/body/{kind.lower()}.json"] = b"{}"
    move = shelf.service.challenged if kind is ArtifactType.CHALLENGE else shelf.service.adjudicated
    with pytest.raises(RefusedError, match=f"{record} is not a valid {kind}"):
        move(FOLDER, name, record)


def test_a_record_of_another_id_is_refused(shelf: Shelf):
    """The ruling of one artifact cannot be copied into another (F-8-11)."""
    ruling = shelf.ruling(Decision.APPROVE, shelf.create())
    copied = shelf.service.body(FOLDER, ruling)
    with pytest.raises(RefusedError, match=f"its record is that of {ruling}"):
        shelf.create(ArtifactType.ADJUDICATION, body=copied)


def test_what_a_kill_left_half_written_is_no_sealed_implementation(shelf: Shelf):
    """The envelope is written last: without it nothing is there, and a search passes over it (D-38-16)."""
    shelf.tree.publish(f"artifacts/{FOLDER}/IMPL-00000000/1.0.1/body/notes.md", b"x")
    assert shelf.service.sealed_as("MM-00000001@1.0.0") is None


def test_a_revision_exceeds_the_highest_version_of_its_lineage(shelf: Shelf):
    """1.0.0 first; each later one is the next of its lineage, also on a branch (F-8-07, F-7-03)."""
    first = shelf.create()
    second = shelf.create(revises=first)
    branch = shelf.create(revises=first)
    versions = [shelf.service.envelope(FOLDER, name).version for name in (first, second, branch)]
    assert versions == ["1.0.0", "1.0.1", "1.0.2"]
    assert len({first, second, branch}) == 3
    with pytest.raises(RefusedError, match="cannot be a version of"):
        shelf.create(ArtifactType.CONTRACT, revises=first)


def test_an_artifact_that_is_not_valid_leaves_nothing(shelf: Shelf):
    """The envelope is validated before anything is written (F-8-01, F-8-03)."""
    invalid: list[tuple[dict[str, Any], str]] = [
        ({"pack": "my own pack"}, "context_pack_ref"),
        ({"name": "IMPL-XYZ"}, "artifact_id"),
        ({"name": "IMPL-0000000A"}, "artifact_id"),
        ({"name": "IMPL-000000001"}, "artifact_id"),
        ({"name": "CTR-00000001"}, "starts with IMPL-"),
        ({"inputs": [("nothing", "why")]}, "inputs"),
        ({"inputs": [("CTR-00000001@1.0.0", "")]}, "purpose"),
        ({"body": {}}, "has no body"),
    ]
    for changes, why in invalid:
        with pytest.raises(RefusedError, match=why):
            shelf.create(**changes)
    assert shelf.tree.files == {}


TYPES = (
    "MICRO_PLAN", "CONTRACT", "IMPLEMENTATION", "PROPOSAL", "CHALLENGE", "ADJUDICATION", "SHIP_EVIDENCE", "ESCALATION",
    "CONTEXT_PACK", "INTERFACE_CHANGE_EXCEPTION", "REUSE_SEARCH_REPORT", "PRODUCT_SPEC", "EXAMPLES",
)  # fmt: skip
PREFIXES = ("MP", "CTR", "IMPL", "PROP", "CHAL", "ADJ", "SHIP", "ESC", "CP", "ICE", "RSR", "SPEC", "EX")


def test_there_are_thirteen_types_and_no_other(shelf: Shelf):
    """A closed enum, each with its prefix (F-8-02, F-8-03, F-8-08)."""
    assert [kind.prefix for kind in map(ArtifactType, TYPES)] == [*PREFIXES]
    assert {*ArtifactType} == {*TYPES}
    assert len(ArtifactStatus) == 5
    made = {
        ArtifactType.CHALLENGE: lambda: shelf.challenge(shelf.create()),
        ArtifactType.ADJUDICATION: lambda: shelf.ruling(Decision.APPROVE, shelf.create()),
    }
    for kind in ArtifactType:
        name = made[kind]() if kind in made else shelf.create(kind)
        assert name.startswith(f"{kind.prefix}-")
    with pytest.raises(RefusedError, match="artifact_type"):
        shelf.service.draft(shelf.draws, BY, "ESSAY", {"x": b""}, name="IMPL-00000001")  # pyright: ignore


@given(st.lists(st.sampled_from(list(S)), max_size=8))
def test_no_walk_of_wishes_leaves_the_table(wishes: list[ArtifactStatus]):
    """Whatever is asked for in whatever order, only the five steps are ever made (F-8-09)."""
    shelf = Shelf()
    name = shelf.create()
    for wish in wishes:
        before = shelf.status(name)
        try:
            shelf.move(name, wish)
        except RefusedError:
            assert shelf.status(name) is before
        else:
            after = shelf.status(name)  # the very step that was made may be asked for again
            assert after is before or (before, after) in LEGAL


def test_a_contribution_never_changes():
    """It is published once; the same bytes are passed over, others refused (F-5-01, F-5-02)."""
    tree = MemoryStore()
    contribution = Contribution(
        contribution_id="CONTRIB-00000001",
        type=ContributionType.CHALLENGE,
        produced_by=Author(role="challenger", run_id="TSK-001.1/shorten/round-1/challenger"),
        artifact_ref="CHAL-00000001@1.0.0",
        task_ref="T-words-shorten",
        created_at="2026-01-01T00:00:00Z",
        context_pack_ref=PACK,
    )
    path = f"contributions/{contribution.contribution_id}.json"
    tree.publish(path, contribution.to_bytes())
    tree.publish(path, contribution.to_bytes())
    with pytest.raises(RefusedError, match="never changes"):
        tree.publish(path, contribution.model_copy(update={"task_ref": "T-other"}).to_bytes())
