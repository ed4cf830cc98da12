"""The role table of F§9.7, cell by cell, seen from outside: what reached each role in a whole run of the factory."""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.obligations import read_claims
from ship_gate.contract.statements import contract_text, text_for_callers
from specwright.domain.artifacts import Contribution, Permission, shown
from specwright.ports import Role
from specwright.roles.team import prompt
from testkit.loop.debate_workbench import record_of
from testkit.roles.overheard import Invoked, Run

PROPOSER, CHALLENGER, ARBITER = Role.PROPOSER, Role.CHALLENGER, Role.ARBITER
ALWAYS, NEVER = "always", "never"
IN_REVISION, IN_AMENDMENTS, IN_REJECTION = "in a revision", "in amendments", "after a rejection"
EARLIER = "of earlier rounds"

Sees = Callable[[Run, Invoked], bool]


def round_of(one: Invoked) -> int:
    """The number of its round."""
    return int(one.place.stage.rpartition("-")[2])


def debate(run: Run, one: Invoked) -> str:
    """The debate that it belongs to, by the id of its first proposal."""
    return _debate(run.project / "state_store", one.place.subject)


@cache
def _debate(store: Path, subject: str) -> str:
    for path in store.glob("debates/*"):
        target = json.loads(record_of(store, path.name, 1, "proposal").read_text())["target_artifact_id"]
        bodies = store.glob(f"artifacts/*/{target}/*/body/implementation/__init__.py")
        if any(f"def {subject}(" in body.read_text() for body in bodies):
            return path.name
    raise LookupError(subject)


def recorded(run: Run, one: Invoked, kind: str, number: int) -> dict[str, Any]:
    """A record of a round; empty if there is none."""
    try:
        return json.loads(record_of(run.project / "state_store", debate(run, one), number, kind).read_text())
    except KeyError:
        return {}


def says(one: Invoked, record: dict[str, Any], field: str) -> bool:
    """Whether a record's own words reached it."""
    return reached(one, record.get(field) or "")


def reached(one: Invoked, text: str) -> bool:
    """Whether a text reached it, as it is or within JSON."""
    text = text.rstrip()
    inner = json.dumps(text, ensure_ascii=False)[1:-1]
    spellings = (text, inner, json.dumps(text)[1:-1], json.dumps(inner, ensure_ascii=False)[1:-1])
    return bool(text) and any(spelling in one.everything for spelling in spellings)


def task_file(run: Run, one: Invoked) -> bool:
    """The task's own words: its subtasks stand in the task file alone."""
    return "## Subtasks" in one.everything


def criteria(run: Run, one: Invoked) -> bool:
    """The acceptance criteria."""
    entries = json.loads((run.project / "state_store/product/spec.json").read_text())
    tasks = [t for p in entries["pillars"] for e in p["epics"] for s in e["stories"] for t in s["tasks"]]
    (task,) = (t for t in tasks if t["task_id"] == one.place.task)
    return all(criterion in one.given for criterion in task["acceptance_criteria"])


def contract(run: Run, one: Invoked) -> bool:
    """The module's contract, whole."""
    return contract_text(run.contract(one.place.subject)) in one.given


def dependency_contracts(run: Run, one: Invoked) -> bool:
    """Every contract of a module that it calls, as callers see it or whole; where it calls none there is nothing to see."""
    found = [any(form in one.given for form in forms) for forms in _dependency_forms(run, one)]
    return bool(found) and all(found)


def any_dependency(run: Run, one: Invoked) -> bool:
    """One of these contracts, or the section of the task file that sums them up."""
    forms = [form for forms in _dependency_forms(run, one) for form in forms]
    return any(text in one.everything for text in ("## Dependency Contracts", *forms))


def _dependency_forms(run: Run, one: Invoked) -> list[tuple[str, str]]:
    """Of each such contract what lies in a directory and what stands in a request."""
    refs = [dependency.ref for dependency in run.contract(one.place.subject).dependencies]
    sealed = [run.project / "state_store/modules" / ref.replace("@", "/") / "contract.json" for ref in refs]
    return [
        (data.decode().rstrip(), text_for_callers(MicroModuleContract.from_bytes(data, "")).rstrip())
        for data in (path.read_bytes() for path in sealed)
    ]


def index_search(run: Run, one: Invoked) -> bool:
    """The search of the Code Index."""
    return "search_code_index" in one.tools


def submission_tool(run: Run, one: Invoked) -> bool:
    """The tool by which a Proposer hands in its work, with its schema."""
    return bool({"submit_proposal", "submit_amendments"} & one.tools)


def workspace(run: Run, one: Invoked) -> bool:
    """Files to work on."""
    return {
        "write_file",
        "edit_file",
        "delete",
    } <= one.tools and "implementation/__init__.py" in one.directory


def proposal(run: Run, one: Invoked) -> bool:
    """The proposal of its round."""
    record = recorded(run, one, "proposal", round_of(one))
    return "# Proposal\n" in one.given and says(one, record, "claim")


def challenge(run: Run, one: Invoked) -> bool:
    """The challenge of its round, with its assessments."""
    record = recorded(run, one, "challenge", round_of(one))
    judged = record["rubric_assessments"]
    return "# The challenge\n" in one.given and all(
        says(one, assessment, "evidence") for assessment in judged
    )


def failures(run: Run, one: Invoked) -> bool:
    """The failures of the challenge before it."""
    found = recorded(run, one, "challenge", round_of(one) - 1).get("failures", [])
    return bool(found) and all(says(one, failure, "evidence") for failure in found)


def assessments(run: Run, one: Invoked) -> bool:
    """Anything of how the Challenger judged the criteria, in any round but its own."""
    rounds = range(1, 4)
    found = [a for n in rounds for a in recorded(run, one, "challenge", n).get("rubric_assessments", [])]
    return any(says(one, assessment, "evidence") for assessment in found)


def amendments(run: Run, one: Invoked) -> bool:
    """The amendments of a ruling."""
    found = recorded(run, one, "adjudication", round_of(one)).get("amendments", [])
    return bool(found) and all(says(one, amendment, "detail") for amendment in found)


def rationale(run: Run, one: Invoked) -> bool:
    """The rationale of any ruling."""
    return any(says(one, recorded(run, one, "adjudication", n), "rationale") for n in range(1, 4))


def own_source(run: Run, one: Invoked) -> bool:
    """The source of its own module: the file that its work begins with."""
    return "NotImplementedError" in one.given or bool(_lines(run, one.place.subject) & _of(one))


def other_source(run: Run, one: Invoked) -> bool:
    """A line of the source or of the tests of any other module."""
    names = {other.place.subject for other in run.by(PROPOSER)} - {one.place.subject}
    return any(_lines(run, name) & _of(one) for name in names)


def any_source(run: Run, one: Invoked) -> bool:
    """A line of source or tests of any module at all."""
    return other_source(run, one) or bool(_lines(run, one.place.subject) & _of(one))


def evaluation_rubric(run: Run, one: Invoked) -> bool:
    """The criteria R1 to R5 by which it is judged."""
    return "Contract conformance" in one.everything or "| R1 |" in one.everything


def decomposition_rubric(run: Run, one: Invoked) -> bool:
    """The criterion R6."""
    return "| R6 |" in one.everything


def earlier_proposals(run: Run, one: Invoked) -> bool:
    """Of the proposals of the rounds before, what each changed."""
    return _earlier(run, one, "proposal", lambda number, _: f"Changed in round {number + 1}:\n")


def earlier_challenges(run: Run, one: Invoked) -> bool:
    """All challenges of the rounds before."""
    return _earlier(run, one, "challenge", lambda _, record: f"Verdict: {record['verdict']}")


def earlier_adjudications(run: Run, one: Invoked) -> bool:
    """All rulings of the rounds before."""
    return _earlier(run, one, "adjudication", lambda _, r: f"Ruling: {r['decision']}. {r['rationale']}")


def _earlier(run: Run, one: Invoked, kind: str, text: Callable[[int, Any], str]) -> bool:
    records = {n: recorded(run, one, kind, n) for n in range(1, round_of(one))}
    texts = [text(n, record) for n, record in records.items() if record]
    return bool(texts) and all(text in one.given for text in texts)


def _of(one: Invoked) -> set[str]:
    if one.place.run_id not in _TEXTS:
        _TEXTS[one.place.run_id] = _split(one)
    return _TEXTS[one.place.run_id]


_TEXTS: dict[str, set[str]] = {}


def _split(one: Invoked) -> set[str]:
    return {line.strip() for line in re.split(r"\\n|\n", one.everything)}


def _lines(run: Run, name: str) -> set[str]:
    return _source_lines(run.project, run.playbook, name)


@cache
def _source_lines(project: Path, playbook: Path, name: str) -> set[str]:
    """The lines of a module's source that stand nowhere else: not in a contract, an example, the spec, nor in another
    module. What its tests assert is shown, as code extracts it."""
    found, others = set[str](), set[str]()
    for path in playbook.glob("TSK-*/*/*/deliverable/implementation/**/*.py"):
        lines = {line.strip() for line in path.read_text().splitlines() if len(line.strip()) > 24}
        (found if f"/{name}/" in path.as_posix() else others).update(lines)
    found -= others
    public = [path.read_text() for path in playbook.rglob("examples.md")]
    public += [path.read_text() for path in project.glob("state_store/modules/*/*/contract.json")]
    public += [path.read_text() for path in playbook.rglob("*.json")]
    public += [path.read_text() for path in playbook.rglob("tests/*.py")]
    text = "\n".join(public)
    return {
        line
        for line in found
        if line not in text and json.dumps(line)[1:-1] not in text and '"""' not in line
    }


#                                     Proposer        Challenger   Arbiter
TABLE: list[tuple[Sees, str, str, str]] = [
    (task_file,                       ALWAYS,         NEVER,       ALWAYS),
    (criteria,                        ALWAYS,         ALWAYS,      ALWAYS),  # D12: the Challenger's extract
    (contract,                        ALWAYS,         ALWAYS,      ALWAYS),
    (dependency_contracts,            ALWAYS,         ALWAYS,      NEVER),
    (any_dependency,                  "",             "",          NEVER),
    (index_search,                    ALWAYS,         NEVER,       NEVER),
    (submission_tool,                 ALWAYS,         NEVER,       NEVER),
    (workspace,                       ALWAYS,         NEVER,       NEVER),
    (proposal,                        NEVER,          ALWAYS,      ALWAYS),
    (challenge,                       NEVER,          NEVER,       ALWAYS),
    (failures,                        IN_REVISION,    EARLIER,     EARLIER),
    (assessments,                     NEVER,          EARLIER,     ALWAYS),
    (amendments,                      IN_AMENDMENTS,  NEVER,       NEVER),
    (rationale,                       IN_REJECTION,   NEVER,       EARLIER),
    (own_source,                      ALWAYS,         NEVER,       NEVER),
    (other_source,                    NEVER,          NEVER,       NEVER),
    (any_source,                      "",             NEVER,       NEVER),
    (evaluation_rubric,               NEVER,          ALWAYS,      NEVER),
    (decomposition_rubric,            NEVER,          ALWAYS,      NEVER),
    (earlier_proposals,               NEVER,          EARLIER,     EARLIER),
    (earlier_challenges,              NEVER,          EARLIER,     EARLIER),
    (earlier_adjudications,           NEVER,          NEVER,       EARLIER),
]  # fmt: skip


def expected(run: Run, one: Invoked, sees: Sees, when: str) -> bool:
    """Whether a role should see it in this invocation."""
    number, amending = round_of(one), one.place.stage.startswith("amended")
    match when:
        case "always":
            return sees is not dependency_contracts or bool(run.contract(one.place.subject).dependencies)
        case "in a revision":
            return bool(number > 1 and recorded(run, one, "challenge", number - 1)["failures"])
        case "in amendments":
            return amending
        case "after a rejection":
            return number > 1 and recorded(run, one, "adjudication", number - 1).get("decision") == "REJECT"
        case "of earlier rounds":
            kind = {failures: "challenge", rationale: "adjudication", earlier_adjudications: "adjudication"}
            if sees is failures:
                return number > 1 and bool(recorded(run, one, "challenge", number - 1)["failures"])
            if sees is assessments:  # of a round that is over those that were not met
                earlier = [recorded(run, one, "challenge", n)["rubric_assessments"] for n in range(1, number)]
                return any(a["assessment"] == "NOT_MET" for judged in earlier for a in judged)
            return number > 1 and bool(recorded(run, one, kind.get(sees, "challenge"), number - 1))
        case _:
            return False


def test_cells_of_the_role_table(run: Run):
    """What each cell says, in every implementation debate of the run (F-9.7-01, F-9.7-02, F-9.7-03, F-9.7-04, F-9.7-05,
    F-9.7-06, F-9.7-07, F-9.7-08, F-9.7-09, F-6-01, F-6-02, F-3.4-02)."""
    faults: list[object] = []
    for sees, *row in TABLE:
        for role, when in zip((PROPOSER, CHALLENGER, ARBITER), row, strict=True):
            found = {one.place.run_id: sees(run, one) for one in run.by(role) if when}
            wrong = [
                name
                for one in run.by(role)
                if (name := one.place.run_id) in found and found[name] != expected(run, one, sees, when)
            ]
            shown = any(found.values()) or when in {NEVER, ""}  # else nothing in this run shows the cell
            if wrong or not shown or (when and len(found) < 7):
                faults.append((sees.__name__, role, when, wrong))
    assert faults == []


def test_a_challenger_reads_the_criteria_of_a_task_and_not_its_description(run: Run):
    """In contract debates as well, where it has the approved examples beside them (F-9.7-01)."""
    spec = json.loads((run.project / "state_store/product/spec.json").read_text())
    stories = [one for p in spec["pillars"] for epic in p["epics"] for one in epic["stories"]]
    tasks = {task["task_id"]: task for story in stories for task in story["tasks"]}
    for one in run.invoked:
        if one.place.role is CHALLENGER:
            task = tasks[one.place.task]
            assert task["description"] not in one.given
            assert all(criterion in one.given for criterion in task["acceptance_criteria"])


def test_no_request_of_challenger_arbiter_or_planner_holds_a_line_of_source(run: Run):
    """Also in contract debates, and nowhere in a conversation, not only at its start (F-9.7-07, F-12-01)."""
    names = {one.place.subject for one in run.by(PROPOSER)}
    lines = {name: _lines(run, name) for name in names}
    assert all(len(found) > 5 for found in lines.values())
    for one in run.invoked:
        for name in names:
            if one.place.role is PROPOSER and name == one.place.subject:
                continue
            assert not lines[name] & _of(one), (one.place.run_id, name)


def test_a_proposal_carries_what_its_judges_need_and_no_source(run: Run):
    """The claim, the checks, which test is for which obligation, the examples as they were before the debate, what the
    preflight saw, and not a line of source (D-12-02, F-12-02)."""
    judged = run.by(CHALLENGER)
    for one in judged:
        record = recorded(run, one, "proposal", round_of(one))
        for field in ("claim", "acceptance_checks", "test_inventory", "tests", "examples", "preflight"):
            assert record[field], (one.place.run_id, field)
        (body,) = run.project.glob(f"state_store/artifacts/*/{record['target_artifact_id']}/*/body")
        assert record["examples"] == (body / "examples.md").read_text()
        assert set(record["test_inventory"]) == set(
            read_claims((body / "tests/obligations.json").read_bytes())
        )
        assert says(one, record, "tests")
        assert says(one, record, "examples")
        assert not _lines(run, one.place.subject) & {
            line.strip() for line in re.split(r"\\n|\n", json.dumps(record))
        }
    assert len(judged) >= 7


def test_one_pack_per_invocation_written_before_its_first_model_call(run: Run):
    """Every role that works for a task; the researcher works for none (F-5-03, F-5-04, F-5-05, D-S7-01)."""
    for one in run.invoked:
        if one.place.role is Role.RESEARCHER:
            assert one.packs == []
            continue
        assert one.pack.created_for.role == one.place.role
        assert one.pack.created_for.task_ref.startswith("T-")
        assert one.pack.default_permission is Permission.CONTRACT_ONLY
        assert all(row.reason for row in (*one.pack.included_refs, *one.pack.excluded_refs))
    packs = list((run.project / "state_store/context_packs").iterdir())
    assert len(packs) == len(run.invoked) - 1


def test_one_contribution_per_invocation_and_in_order_they_tell_the_story(run: Run):
    """Role, invocation, pack and artifact of each; the researcher makes none (F-5-01, F-5-02)."""
    paths = (run.project / "state_store/contributions").iterdir()
    made = [Contribution.from_bytes(path.read_bytes(), str(path)) for path in paths]
    told = sorted(made, key=lambda one: one.created_at)
    invoked = [one for one in run.invoked if one.place.role is not Role.RESEARCHER]
    assert [one.produced_by.run_id for one in told] == [one.place.run_id for one in invoked]
    packs = {one.place.run_id: one.pack.context_pack_id for one in invoked}
    for one in told:
        assert one.context_pack_ref == packs[one.produced_by.run_id]
        name, _, version = one.artifact_ref.partition("@")
        assert list((run.project / "state_store/artifacts").glob(f"*/{name}/{version}/envelope.json"))


def test_the_manifest_says_what_was_given_and_nothing_more(run: Run):
    """Every module in a Proposer's directory stands in its pack with the permission by which it is shown (F-5-06,
    F-6-01, D-S7-01, D-S7-02)."""
    for one in run.by(PROPOSER):
        rows = {(row.ref, row.permission) for row in one.pack.included_refs}
        refs = [dependency.ref for dependency in run.contract(one.place.subject).dependencies]
        assert {row for row in rows if row[0].startswith("MM-")} == {
            (ref, permission)
            for ref in refs
            for permission in (Permission.CONTRACT_ONLY, Permission.METADATA_ONLY)
        }
        for ref in refs:
            name = json.loads(
                (run.project / "state_store/modules" / ref.replace("@", "/") / "contract.json").read_text()
            )["name"]
            surface = {
                p.removeprefix(f"dependencies/{name}/") for p in one.directory if f"dependencies/{name}/" in p
            }
            assert surface == {"contract.json", "examples.md", "ship.json"}
            assert all(shown(Permission.CONTRACT_ONLY, path) for path in surface)
            metadata = json.loads(one.directory[f"index/{name}/metadata.json"])
            assert (metadata["name"], metadata["version"], metadata["status"]) == (name, "1.0.0", "SHIPPED")
        folders = {path.split("/")[1] for path in one.directory if path.startswith("dependencies/")}
        assert len(folders) == len(refs)
        full = {row[0].partition("-")[0] for row in rows if row[1] is Permission.FULL}
        own = {"T", "CTR", "SCHEMA"}
        assert full == (own if one.place.stage == "round-1" else own | {"IMPL"})


def test_what_a_role_is_not_given_is_excluded_with_a_reason(run: Run):
    """Siblings of the plan and modules of other tasks; for the judges the source, the dependencies, the rulings
    (F-5-06, F-6-01, F-9.7-09)."""
    (first,) = run.by(PROPOSER, "to_cents")
    assert run.contract("to_cents").ref not in {row.ref for row in first.pack.excluded_refs}
    last = run.by(PROPOSER, "write_report")[0]
    sealed = {run.contract(one.place.subject).ref for one in run.by(PROPOSER)}
    assert {row.ref for row in last.pack.excluded_refs} == sealed - {run.contract("write_report").ref}
    for one in [*run.by(CHALLENGER), *run.by(ARBITER)]:
        excluded = {row.ref.partition("-")[0] for row in one.pack.excluded_refs}
        assert "IMPL" in excluded
        included = {(row.ref.partition("-")[0], row.permission) for row in one.pack.included_refs}
        if one.place.role is ARBITER:
            assert ("T", Permission.FULL) in included
            assert not {row for row in included if row[1] is Permission.CONTRACT_ONLY}
            called = {dependency.ref for dependency in run.contract(one.place.subject).dependencies}
            assert ("MM" in excluded) is bool(called)
        else:
            assert ("T", Permission.SUMMARY_ONLY) in included
    (second,) = run.by(CHALLENGER, "settle_up", "round-2")
    assert any("ADJ" in row.ref for row in second.pack.excluded_refs)
    # of an earlier round it gets what changed and what failed, and the pack says so (F-9.7-09)
    earlier, whole = Permission.SUMMARY_ONLY, Permission.FULL
    debated = [(row.ref.partition("-")[0], row.permission) for row in second.pack.included_refs]
    debated = [row for row in debated if row[0] in ("PROP", "CHAL")]
    assert debated == [("PROP", earlier), ("PROP", whole), ("CHAL", earlier)]


def test_a_revision_names_in_its_pack_what_it_was_told_of_the_debate(run: Run):
    """A part of the challenge, of the rejection, or of the ruling with amendments, never the whole; and what the planner
    says of the contracts (F-9.7-05, F-9.7-06)."""
    for subject, stage, prefixes in (
        ("split_evenly", "round-2", ["CHAL", "MP"]),
        ("compute_balances", "round-3", ["CHAL", "MP"]),
        ("settle_up", "round-2", ["ADJ", "MP"]),
        ("render_report", "amended-1", ["ADJ"]),
    ):
        (one,) = run.by(PROPOSER, subject, stage)
        told = [row for row in one.pack.included_refs if row.permission is Permission.SUMMARY_ONLY]
        assert [row.ref.partition("-")[0] for row in told] == prefixes, (subject, stage)


def test_the_pack_of_a_planner_names_the_task_and_the_modules_that_it_may_call(run: Run):
    """FULL for the task and CONTRACT_ONLY for a module; other tasks are excluded (F-5-03)."""
    planners = [one for one in run.invoked if one.place.role is Role.PLANNER]
    assert len(planners) == 6
    for one in planners:
        for row in one.pack.included_refs:
            assert row.permission is (
                Permission.CONTRACT_ONLY if row.ref.startswith("MM-") else Permission.FULL
            )
        assert len(one.pack.excluded_refs) == 5


#                    search_code_index  query_artifacts  create_artifact  ship_artifact
STORE_TOOLS: list[tuple[Role, str, str, str, str]] = [
    (Role.RESEARCHER, ALWAYS,            NEVER,           NEVER,           NEVER),
    (Role.PLANNER,    ALWAYS,            ALWAYS,          NEVER,           NEVER),
    (PROPOSER,        ALWAYS,            ALWAYS,          ALWAYS,          NEVER),
    (CHALLENGER,      NEVER,             ALWAYS,          NEVER,           NEVER),
    (ARBITER,         NEVER,             NEVER,           NEVER,           NEVER),
]  # fmt: skip


def test_which_role_reaches_the_store_by_which_tool(run: Run):
    """The sentence of D17, in every invocation of the run, revisions and amendments included (F-8-17, D-17-01, F-3.4-02,
    F-9.7-03)."""
    tools = ("search_code_index", "query_artifacts", "create_artifact", "ship_artifact")
    for role, *row in STORE_TOOLS:
        offered = [
            {tool: ALWAYS if tool in one.tools else NEVER for tool in tools}
            for one in run.invoked
            if one.place.role is role
        ]
        assert offered
        assert all(one == dict(zip(tools, row, strict=True)) for one in offered), role


def test_every_role_hands_in_by_a_tool_of_its_own(run: Run):
    """It has one in each invocation, and none of another role (D-17-01, F-18-01)."""
    terminal = {
        Role.RESEARCHER: {"emit_structured_spec"},
        Role.PLANNER: {"submit_plan"},
        PROPOSER: {"submit_proposal", "submit_amendments"},
        CHALLENGER: {"submit_challenge"},
        ARBITER: {"submit_ruling"},
    }
    for one in run.invoked:
        handing_in = {tool for tool in one.tools if tool.startswith(("submit_", "emit_"))}
        assert len(handing_in) == 1
        assert handing_in <= terminal[one.place.role]


def test_no_role_can_ship_create_packs_or_leave_its_directory(run: Run):
    """The tools of every role: none ships, none writes a pack, none executes (F-8-17, F-5-04, F-11.3-01)."""
    offered = {tool for one in run.invoked for tool in one.tools}
    assert not {tool for tool in offered if re.search("ship|execute|context_pack|task$", tool)}


def test_the_prompts_remind_that_other_code_is_closed_source():
    """Enforced by storage; the prompts only say so (F-19-03)."""
    for role in ("researcher", "planner", "proposer", "amender", "challenger", "arbiter"):
        assert "closed-source service" in prompt(role)
