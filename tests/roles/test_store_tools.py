"""The artifact store through its tools: an agent that tries everything, over a real store, sync and async (F§8, D17)."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from langchain_core.tools import BaseTool

from ship_gate.base.ids import ArtifactType, ModuleRef
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.context import MAX_LISTED, RoleStore
from specwright.application.factory import ProjectView
from specwright.application.store.artifacts import Invocation
from specwright.domain.answers import ProposerAnswer
from specwright.domain.artifacts import (
    NOT_IN_PACK,
    ArtifactEnvelope,
    ArtifactStatus,
    ContextPack,
    IncludedRef,
    Permission,
)
from specwright.domain.modules.code_index import summarise
from specwright.errors import CorruptionError
from specwright.index.sqlite_index import SqliteCodeIndex
from specwright.journal import FileJournal, read_records
from specwright.ports import Assignment, Role
from specwright.roles.agent.tools import MAX_DRAFTS, create_tool, query_tool
from specwright.roles.agent.workspace import Workspace
from specwright.roles.models.sources import ModelSource
from specwright.roles.team import ModelRoles
from specwright.storage import DiskStateStore, DiskTree
from specwright.storage.context_pack import ContextPackBackend
from testkit.index_entries import retirement
from testkit.model.fake_model import FakeModel
from testkit.roles.overheard import Invoked, Run, Silent
from testkit.storage.agents import Attempt, attempted, determined
from testkit.word_embedder import WordEmbedder

PLAN = "plan"
SUBJECTS = {
    Role.PLANNER: (PLAN, "TSK-004"),
    Role.PROPOSER: ("compute_balances", ""),
    Role.CHALLENGER: ("compute_balances", ""),
}
"""Whose pack is taken: each holds modules of other tasks."""

IMPLEMENTATION_ARTIFACT = "implementation/__init__.py"


class Desk(NamedTuple):
    """One invocation at a copy of the store of a finished run."""

    store: DiskStateStore
    index: SqliteCodeIndex  # pyright: ignore[reportIncompatibleMethodOverride]
    pack: ContextPack
    folder: str
    access: RoleStore
    journal: FileJournal
    workspace: Workspace

    @property
    def tools(self) -> list[BaseTool]:
        """What the role has."""
        run_id = self.pack.created_for.run_id
        return [
            query_tool(self.access, self.journal, run_id),
            create_tool(self.access, self.journal, run_id, self.workspace.files),
        ]

    def told(self, attempts: list[Attempt], *, asynchronous: bool = False) -> list[str]:
        """What an agent is answered, one after the other."""
        told = attempted(self.workspace.backend(), attempts, asynchronous=asynchronous, tools=self.tools)
        return [answer for _, answer in told]

    def envelopes(self, *kinds: ArtifactType) -> list[ArtifactEnvelope]:
        """The artifacts of the store."""
        paths = sorted(self.store.root.glob("artifacts/*/*/*/envelope.json"))
        found = [ArtifactEnvelope.from_bytes(path.read_bytes(), str(path)) for path in paths]
        return [one for one in found if not kinds or one.artifact_type in kinds]

    def sealed(self) -> list[MicroModuleContract]:
        """The contracts of the sealed modules."""
        paths = sorted(self.store.root.glob("modules/*/*/contract.json"))
        return [MicroModuleContract.from_bytes(path.read_bytes(), str(path)) for path in paths]


def desk_of(run: Run, directory: Path, one: Invoked) -> Desk:
    """The store as one invocation of a run meets it."""
    store = DiskStateStore(Path(shutil.copytree(run.project / "state_store", directory / "state_store")))
    pack = one.pack
    by = one.place.run_id
    made = [p for p in store.root.glob("artifacts/*/*/*/envelope.json") if f'"{by}"' in p.read_text()]
    folder = made[0].relative_to(store.root).parts[1]
    invocation = Invocation(one.place.role, by, pack.created_for.task_ref, pack.context_pack_id, folder)
    index = SqliteCodeIndex(directory / "code_index", WordEmbedder())
    view = ProjectView(store=store, projection=cast("Any", None))
    judged = [run.contract(one.place.subject)] if one.place.role is Role.CHALLENGER else []
    access = RoleStore(
        view, index, invocation, judged=judged, contracts_only=one.place.role is Role.CHALLENGER
    )
    writable = ("implementation/", "examples.md")
    assignment = Assignment(one.place, ProposerAnswer, "", dict(one.directory), writable, access)
    journal = FileJournal(directory / "journal.jsonl")
    desk = Desk(
        store,
        index,
        pack,
        folder,
        access,
        journal,
        Workspace(directory / "work", assignment, ContextPackBackend),
    )
    for contract in desk.sealed():
        index.add(summarise(contract))
    return desk


@pytest.fixture
def place(request: pytest.FixtureRequest) -> Role:
    """Whose desk it is."""
    return getattr(request, "param", Role.PROPOSER)


@pytest.fixture
def desk(run: Run, tmp_path: Path, place: Role) -> Iterator[Desk]:
    """The desk of a Proposer, or of the role that a test names."""
    subject, task = SUBJECTS[place]
    one = next(o for o in run.by(place, subject, "round-1") if o.place.task.startswith(task))
    made = desk_of(run, tmp_path, one)
    yield made
    made.journal.close()


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["sync", "async"])
def asynchronous(request: pytest.FixtureRequest) -> bool:
    """How the agent is invoked."""
    return request.param


def query(ref: str) -> Attempt:
    """A look at the store."""
    return Attempt("query_artifacts", {"ref": ref})


def draft(kind: str = "EXAMPLES", **more: Any) -> Attempt:
    """A registration."""
    return Attempt("create_artifact", {"artifact_type": kind, **more})


def write(text: str, path: str = "/examples.md") -> Attempt:
    """A file of the role's own."""
    return Attempt("write_file", {"file_path": path, "content": text})


def edit(old: str, new: str) -> Attempt:
    """A change to it."""
    return Attempt("edit_file", {"file_path": "/examples.md", "old_string": old, "new_string": new})


ROLES = pytest.mark.parametrize("place", list(SUBJECTS), indirect=True)


@ROLES
def test_a_query_shows_what_the_pack_shows_and_refuses_the_rest(desk: Desk, place: Role, asynchronous: bool):
    """Of every reference in the store only those of its pack, as contracts; of the rest one sentence, no source, no real
    path. What a search leaves out of a module is here (F-8-17, F-5-07, F-19-03, D-17-01, D-S12-09)."""
    rows = {row.ref: row for row in desk.pack.included_refs}
    refs = sorted({*(e.ref for e in desk.envelopes()), *(c.ref for c in desk.sealed()), *rows})
    told = dict(zip(refs, desk.told([query(ref) for ref in refs], asynchronous=asynchronous), strict=True))
    contracts = {ref for ref in rows if ref.startswith(("MM-", "CTR-"))}
    what = "contracts" if place is Role.CHALLENGER else "contracts and artifacts"
    for ref, answer in told.items():
        if ref not in rows:
            assert answer == NOT_IN_PACK.replace("{path}", ref)
        elif ref in contracts:
            shown = json.loads(answer)
            assert set(shown["files"]) <= {"contract.json", "examples.md", "ship.json"}
            assert json.loads(shown["files"]["contract.json"])
        elif ref.startswith(("T-", "SCHEMA-")) or place is Role.CHALLENGER:
            assert answer == f"you may query {what} only; '{ref}' is none."
        else:
            assert set(json.loads(answer)) == {"ref", "artifact_type", "version", "status"}
        assert str(desk.store.root.parent) not in answer
        assert "def " not in answer or ref in contracts  # where an example may define something
    assert contracts
    assert len(told) > 3 * len(rows)


@ROLES
def test_the_listing_is_the_pack(desk: Desk, place: Role, asynchronous: bool):
    """Every contract and artifact that it names, with the permission and the reason; for the Challenger contracts alone
    (F-8-17, D-17-01)."""
    (answer,) = desk.told([query("")], asynchronous=asynchronous)
    listed = json.loads(answer)["your_context_pack"]
    prefixes = ("MM-", "CTR-") if place is Role.CHALLENGER else ("MM-", "CTR-", "IMPL-", "MP-", "CHAL-")
    wanted = [row.to_json() for row in desk.pack.included_refs if row.ref.startswith(prefixes)]
    assert listed == wanted
    assert listed


@ROLES
def test_no_spelling_of_a_reference_leads_out_of_the_pack(desk: Desk, place: Role, asynchronous: bool):
    """Paths, patterns, other versions, packs of others: each is named as it was and refused (F-8-17, F-19-03)."""
    other = next(c.ref for c in desk.sealed() if c.ref not in {r.ref for r in desk.pack.included_refs})
    module, version = ModuleRef.parse(other)
    spellings = [
        f"{module}@9.9.9", f"{module}", f"modules/{module}/{version}/implementation/__init__.py", f"../{module}",
        f"{other}/../implementation", f"{other} ", other.lower(), "*", "/", "..", "~", "\x00", "IMPL-*@1.0.0",
        "context_packs/CP-00000000.json", desk.pack.context_pack_id, str(desk.store.root), "x" * 5000,
    ]  # fmt: skip
    for spelling, answer in zip(
        spellings, desk.told(list(map(query, spellings)), asynchronous=asynchronous), strict=True
    ):
        assert answer == NOT_IN_PACK.replace("{path}", spelling)


def test_a_draft_is_the_roles_own_work_under_an_id_of_the_factory(desk: Desk, asynchronous: bool):
    """DRAFT, of its type, by this invocation, from its workspace, and nothing else changes (F-8-04, F-8-16, F-8-17)."""
    before = {e.artifact_id: e for e in desk.envelopes()}
    _, answer = desk.told([write("## Balance\n"), draft()], asynchronous=asynchronous)
    (made,) = [e for e in desk.envelopes() if e.artifact_id not in before]
    assert json.loads(answer) == {"artifact_id": made.artifact_id, "status": "DRAFT"}
    assert (made.artifact_type, made.status, made.version) == (
        ArtifactType.EXAMPLES,
        ArtifactStatus.DRAFT,
        "1.0.0",
    )
    assert made.created_by.run_id == desk.pack.created_for.run_id
    assert made.context_pack_ref == desk.pack.context_pack_id
    body = desk.store.tree(f"artifacts/{desk.folder}/{made.artifact_id}/1.0.0/body")
    assert body == {"examples.md": b"## Balance\n"}
    assert {e.artifact_id: e for e in desk.envelopes() if e.artifact_id in before} == before


def test_a_changed_draft_is_the_next_version_and_the_same_one_is_the_same(desk: Desk):
    """A lineage of this invocation's own, with another id each; what was registered is not registered twice (F-8-06,
    F-8-07). A draft of the implementation is all that the role may write, and nothing that lies beside it (F-8-17)."""
    told = desk.told([write("one"), draft(), draft(), edit("one", "two"), draft()])
    names = [json.loads(told[n])["artifact_id"] for n in (1, 2, 4)]
    assert names[0] == names[1] != names[2]
    found = {e.artifact_id: e for e in desk.envelopes(ArtifactType.EXAMPLES)}
    assert {name: found[name].version for name in names} == {names[0]: "1.0.0", names[2]: "1.0.1"}
    assert found[names[2]].revised == names[0]
    told = desk.told([write("x = 1\n", "/implementation/_rules.py"), draft("IMPLEMENTATION")])
    body = desk.store.tree(f"artifacts/{desk.folder}/{json.loads(told[1])['artifact_id']}/1.0.0/body")
    assert set(body) == {IMPLEMENTATION_ARTIFACT, "implementation/_rules.py", "examples.md"}


MAY = "Input should be 'IMPLEMENTATION' or 'EXAMPLES'"
REFUSED = [
    *(
        (draft(kind), f"artifact_type: {MAY}")
        for kind in sorted({*ArtifactType, "ESSAY", ""} - {"IMPLEMENTATION", "EXAMPLES"})
    ),
    (draft(artifact_id="EX-deadbeef"), "artifact_id: Extra inputs are not permitted"),
    (draft(status="SHIPPED"), "status: Extra inputs are not permitted"),
    (draft(version="9.0.0"), "version: Extra inputs are not permitted"),
    (draft(revises="IMPL-00000000"), "revises: Extra inputs are not permitted"),
    (draft(path="/task.md"), "path: Extra inputs are not permitted"),
    (Attempt("create_artifact", {}), "artifact_type: Field required"),
    (Attempt("query_artifacts", {"ref": 1}), "ref: Input should be a valid string"),
]


def test_an_agent_mints_no_id_and_names_no_version_status_or_path(desk: Desk, asynchronous: bool):
    """The factory's function draws the id; whatever else is asked for is refused in one message, and nothing is stored
    (F-8-04, F-8-16, F-8-17)."""
    before = desk.envelopes()
    tried = [write("## Balance\n"), *(attempt for attempt, _ in REFUSED)]
    _, *answers = desk.told(tried, asynchronous=asynchronous)
    assert answers == [
        f"Error invoking tool '{attempt.tool}' with kwargs {attempt.arguments} with error:\n {why}\n "
        "Please fix the error and try again."
        for attempt, why in REFUSED
    ]
    assert desk.envelopes() == before


def test_there_is_no_tool_that_ships(desk: Desk, asynchronous: bool):
    """Only the ship node ships (F-8-17, D-17-01)."""
    before = desk.envelopes()
    tools = ("ship_artifact", "delete_artifact", "set_status")
    tried = [Attempt(tool, {"artifact_id": before[0].artifact_id}) for tool in tools]
    offered = (
        "ls, read_file, write_file, edit_file, delete, glob, grep, execute, query_artifacts, create_artifact"
    )
    assert desk.told(tried, asynchronous=asynchronous) == [
        f"Error: {tool} is not a valid tool, try one of [{offered}]." for tool in tools
    ]
    assert desk.envelopes() == before


def test_what_an_agent_gets_and_registers_is_bounded(desk: Desk):
    """At most ten drafts, a hundred references and how many more there are; an artifact has a body (F-8-17, F-8-01)."""
    calls = [write("0")]
    for n in range(MAX_DRAFTS + 1):
        calls += [draft(), edit(str(n), str(n + 1))]
    told = [
        answer for call, answer in zip(calls, desk.told(calls), strict=True) if call.tool == "create_artifact"
    ]
    assert told[-1] == "10 drafts are registered already; submit your work instead."
    assert len({json.loads(answer)["artifact_id"] for answer in told[:-1]}) == MAX_DRAFTS
    rows = [
        IncludedRef(ref=f"MM-{n:08x}@1.0.0", permission=Permission.CONTRACT_ONLY, reason="it may be called")
        for n in range(MAX_LISTED + 7)
    ]
    path = f"context_packs/{desk.pack.context_pack_id}.json"
    DiskTree(desk.store.root).replace(path, desk.pack.model_copy(update={"included_refs": rows}).to_bytes())
    answer = json.loads(desk.told([query("")])[0])
    assert (len(answer["your_context_pack"]), answer["not_listed"]) == (MAX_LISTED, 7)
    desk.told([Attempt("delete", {"file_path": "/examples.md"})])
    assert desk.told([draft()]) == ["there is nothing to register as EXAMPLES yet; write it first."]


def test_a_conversation_that_is_repeated_meets_the_same_answers(desk: Desk, tmp_path: Path):
    """What was read of the store is journalled, what was registered is registered once (D-S4-01, F-8-16)."""
    ref = next(row.ref for row in desk.pack.included_refs if row.permission is Permission.METADATA_ONLY)
    calls = [
        query(ref),
        query(""),
        query("MM-00000000@1.0.0"),
        write("one"),
        draft(),
        edit("one", "two"),
        draft(),
    ]
    first = desk.told(calls)
    desk.index.retire(retirement(ref, why="use another"))
    stored = desk.store.tree("artifacts")
    again = desk._replace(journal=FileJournal(tmp_path / "journal.jsonl"))
    (desk.workspace.root / "examples.md").unlink()
    assert again.told(calls) == first
    assert again.store.tree("artifacts") == stored
    again.journal.close()
    kinds = [record.place.kind for record in read_records(tmp_path / "journal.jsonl")]
    assert (kinds.count("tool"), kinds.count("step")) == (3, 2)
    fresh = desk._replace(journal=FileJournal(tmp_path / "other.jsonl"))
    assert json.loads(fresh.told([query(ref)])[0])["index"]["status"] == "DEPRECATED"
    fresh.journal.close()


def test_a_fault_of_the_store_stops_the_run_and_is_told_to_no_role(desk: Desk, asynchronous: bool):
    """What the pack shows is not there: that is no answer to an agent (D-S7-03)."""
    ref = next(row.ref for row in desk.pack.included_refs if row.permission is Permission.METADATA_ONLY)
    for lost in ("contract.json", "examples.md", "ship.json"):
        path = desk.store.root / "modules" / "/".join(ModuleRef.parse(ref)) / lost
        kept = path.read_bytes()
        path.unlink()
        with pytest.raises(CorruptionError, match=f"a context pack is incomplete: {ref} has no {lost}"):
            desk.told([query(ref)], asynchronous=asynchronous)
        path.write_bytes(kept)


def test_each_permission_shows_its_files_and_no_more(desk: Desk) -> None:
    """A row of the pack gives what its permission names: the surface, or only that the module is there (F-5-07)."""
    ref = next(row.ref for row in desk.pack.included_refs if row.ref.startswith("MM-"))
    contract = next(row.ref for row in desk.pack.included_refs if row.ref.startswith("CTR-"))
    (path,) = desk.store.root.rglob(f"{desk.pack.context_pack_id}.json")
    told: dict[str, tuple[list[str], list[str], bool]] = {}
    for permission in Permission:
        rows = [IncludedRef(ref=one, permission=permission, reason="a test") for one in (ref, contract)]
        path.write_bytes(desk.pack.model_copy(update={"included_refs": rows}).to_bytes())
        module, other = (cast("dict[str, Any]", desk.access.query(one)) for one in (ref, contract))
        files = [sorted(one.get("files", ())) for one in (module, other)]
        told[permission] = (*files, "index" in module)
    surface, own = ["contract.json", "examples.md", "ship.json"], ["contract.json"]
    assert told == {
        Permission.FULL: (surface, own, True),
        Permission.CONTRACT_ONLY: (surface, own, True),
        Permission.SUMMARY_ONLY: ([], [], True),
        Permission.METADATA_ONLY: ([], [], True),
    }


class Plays(NamedTuple):
    """A source of one model."""

    attempts: list[Attempt]
    name: str = "determined"
    scripted: bool = True

    def model(self, place: Any) -> FakeModel:
        """The model."""
        return determined(self.attempts)


def test_a_proposer_at_work_registers_what_lies_in_its_workspace(desk: Desk, run: Run, tmp_path: Path):
    """The production roles: file tools, store tools and submission in one conversation (F-8-17, D-17-01)."""
    (one,) = run.by(Role.PROPOSER, "compute_balances", "round-1")
    answer = {
        "claim": "It gives each person what is theirs, to the cent.",
        "acceptance_checks": ["it adds up"],
    }
    source: Any = Plays([write("## Balance\n"), draft(), query(""), Attempt("submit_proposal", answer)])
    sources: dict[Role, ModelSource] = {Role.PROPOSER: source}
    web: Any = None
    roles = ModelRoles(
        sources, desk.journal, desk.index, web, tmp_path / "roles", Silent(), ContextPackBackend
    )
    assignment = Assignment(
        one.place, ProposerAnswer, "Go.", dict(one.directory), ("examples.md",), desk.access
    )
    made = roles.ask(assignment, lambda given, files: [])
    assert made.files["examples.md"] == b"## Balance\n"
    (registered,) = [e for e in desk.envelopes(ArtifactType.EXAMPLES) if e.status is ArtifactStatus.DRAFT]
    assert registered.created_by.run_id == one.place.run_id
