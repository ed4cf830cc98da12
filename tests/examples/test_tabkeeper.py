"""The example product's playbook is sound by itself, before any factory runs it.

Checked with the schemas of the domain, plain pytest and plain Python: answers, plans, deliverables after each
round, examples, and the product as its users meet it. What the gate observes, and that the factory asks the
roles in the order of `expected.json`, is shown elsewhere.
"""

import ast
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from ship_gate.contract import rules
from ship_gate.contract.contract import DIMENSIONS, MicroModuleContract
from ship_gate.contract.docstring import docstring_literal, render_docstring
from ship_gate.contract.normal_form import normalise
from specwright.domain.answers.answers import (
    AmendmentsAnswer,
    ArbiterAnswer,
    ChallengerAnswer,
    ProposerAnswer,
)
from specwright.domain.spec import completeness
from specwright.domain.spec.product_spec import ProductSpecDraft
from testkit.examples.tabkeeper_playbook import (
    CALLS,
    EXAMPLE,
    PLAYBOOK,
    SHIPPED,
    STAGES,
    TASKS,
    contracts,
    package,
    pointers,
    python,
    read,
    stage_of,
)
from testkit.sampling import spread

SCHEMAS = {"proposer": ProposerAnswer, "challenger": ChallengerAnswer, "arbiter": ArbiterAnswer}
CHALLENGES = [call for call in CALLS if call.role == "challenger"]
each_stage = pytest.mark.parametrize("stage", STAGES, ids=lambda stage: f"{stage.module} {stage.name}")


@pytest.fixture(scope="module")
def locked() -> dict[str, MicroModuleContract]:
    """The contracts of the seven modules by name."""
    return contracts()


def functions(file: Path) -> set[str]:
    """The test functions of a file."""
    defined = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)]
    return {node.name for node in defined if node.name.startswith("test_")}


def test_every_expected_call_has_its_answer_and_no_answer_is_left_over():
    """Answers are selected by place, and a miss is an error (DESIGN §6, D-S6-02)."""
    answers = {path.relative_to(PLAYBOOK).as_posix() for path in PLAYBOOK.rglob("*.json")}
    answers = {name for name in answers if "/deliverable/" not in name} - {"playbook.json"}
    assert answers == {call.answer for call in CALLS}
    assert set(read("playbook.json")) == {"name", "description"}


@pytest.mark.parametrize("call", [c for c in CALLS if c.role in SCHEMAS], ids=lambda call: call.answer)
def test_every_answer_validates_against_the_schema_of_its_role(call):
    """Scripted answers pass the same schemas as a model's (D-S6-02, F-9.4-01, F-9.4-02, D-11-03)."""
    schema = AmendmentsAnswer if call.stage == "amended" else SCHEMAS[call.role]
    assert schema.model_validate(read(call.answer)).to_json()


def test_the_product_spec_is_complete_without_a_single_warning():
    """The approval gate has nothing to warn of (F-3.2.3-01 to F-3.2.3-07)."""
    spec = read("researcher/spec.json")
    assert completeness.validate(spec) == completeness.ValidationReport()
    draft = ProductSpecDraft.model_validate(spec)
    assert (draft.spec_id, draft.spec_version, draft.title) == ("SPEC-001", "1.0.0", "Tabkeeper")
    assert sum(len(pillar.epics) for pillar in draft.pillars) >= 2


def test_the_tasks_form_a_graph_with_branches_that_join():
    """Every task waits for earlier ones only, two wait for none, one waits for two (F-3.2.3-04)."""
    draft = ProductSpecDraft.model_validate(read("researcher/spec.json"))
    waits_for = {task.task_id: task.depends_on for task in draft.tasks()}
    assert list(waits_for) == TASKS
    assert all(upstream < task for task, upstreams in waits_for.items() for upstream in upstreams)
    assert {len(upstreams) for upstreams in waits_for.values()} == {0, 1, 2}
    assert max(Counter(up for upstreams in waits_for.values() for up in upstreams).values()) > 1


def test_every_contract_can_be_locked_and_every_reuse_says_what_was_asked(locked):
    """Plans and contracts pass the checks of the lock (F-10-03, F-10-06, D-S8.1-04, D-S8.1-05)."""
    assert list(locked) == list(SHIPPED)
    for contract in locked.values():
        assert rules.problems(contract) == []
        assert normalise(contract) == contract
    for task in TASKS:
        script = read(f"{task}/planner.json")
        queries = {module["reuse"]["query"] for module in script["plan"]["modules"]}
        assert all(queries)
        assert queries <= set(
            script.get("searches", queries)
        )  # without any, the search is that of the request


@each_stage
def test_every_obligation_of_a_contract_has_a_test_that_exists(stage, locked, tmp_path):
    """The inventory is true after each round (D-12-01, D-12-03, D-S8-17)."""
    tests = stage.copy_to(tmp_path / "m") / "tests"
    inventory = json.loads((tests / "obligations.json").read_text())
    assert set(inventory) == functions(tests / f"test_{stage.module}.py")
    assert {pointer for shown in inventory.values() for pointer in shown} == pointers(locked[stage.module])


@each_stage
def test_the_docstring_is_the_contract(stage, locked, tmp_path):
    """What the factory would splice stands there already (D-S8-03, D-S8-15, D-S8-19)."""
    source = (stage.copy_to(tmp_path / "m") / "implementation/__init__.py").read_text()
    assert docstring_literal(render_docstring(locked[stage.module])) in source
    assert f'__all__ = ["{stage.module}"]' in source


@pytest.mark.parametrize("stage", spread(STAGES, fast=4), ids=lambda stage: f"{stage.module} {stage.name}")
def test_a_deliverable_passes_its_own_tests_in_each_round(stage, tmp_path):
    """Also what the Challenger refuses is a working module: code examines it before (D18, D-18-01)."""
    package(tmp_path, "modules", replaced=stage)
    own = tmp_path / "directories" / stage.module / "tests"
    options = ["-q", "-p", "no:cacheprovider", "--import-mode=importlib", f"--rootdir={tmp_path}"]
    said = python(["-m", "pytest", *options, f"--basetemp={tmp_path / 'scratch'}", str(own)], tmp_path)
    assert re.search(r"\d+ passed in", said)


RUN_EXAMPLES = """
import ast, json, os, sys, tempfile
said = []
for code in json.load(sys.stdin):
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value)
    os.chdir(tempfile.mkdtemp(dir=sys.argv[1]))
    names = {}
    try:
        exec(compile(tree, "example", "exec"), names)
        said.append(["", repr(eval(compile(last, "example", "eval"), names))])
    except Exception as error:
        said.append(["OSError" if isinstance(error, OSError) else type(error).__name__, str(error)])
print(json.dumps(said))
"""


@each_stage
def test_every_example_gives_what_it_says(stage, locked, tmp_path):
    """Each runs as it stands, in a fresh directory; none is missing (F-12-04, D-S8-21, D-S8.1-06)."""
    package(tmp_path, "modules", replaced=stage)
    text = (tmp_path / "directories" / stage.module / "examples.md").read_text(encoding="utf-8")
    examples = list(EXAMPLE.finditer(text))
    assert len(examples) == text.count("\n## ") == text.count("```python") == text.count("```text")
    codes = json.dumps([example["code"] for example in examples])
    outcomes = json.loads(python(["-c", RUN_EXAMPLES, str(tmp_path)], tmp_path, given=codes))
    for example, (error, said) in zip(examples, outcomes, strict=True):
        seen = f"{error}: {said}"[: len(example["said"])] if error else said
        assert seen == example["said"], example["heading"]
    shown = Counter(error for error, _ in outcomes)
    contract = locked[stage.module]
    assert shown >= Counter(surface.name for surface in contract.error_surfaces)
    assert shown[""] > len(contract.effects)


CITED = re.compile(r"(?:contract:(\w+)#)?(/(?:inputs|outputs|error_surfaces|effects|modes)[\w/]*)")


def cited_pointers(evidence: str, modules: list[str]) -> set[tuple[str, str]]:
    """The contract pointers in a text; one without a name may be of any module of the debate."""
    return {(name or " or ".join(modules), pointer) for name, pointer in CITED.findall(evidence)}


@pytest.mark.parametrize("call", CHALLENGES, ids=lambda call: call.answer)
def test_a_challenge_cites_tests_examples_and_clauses_that_exist(call, locked, tmp_path):
    """Evidence is specific, R1 names all five dimensions (F-9.4-04, F-9.4-06, F-9.5-01, F-9.5-02)."""
    modules, tests, headings = [call.subject], set[str](), set[str]()
    if call.subject == "contracts":
        modules = [module["name"] for module in read(f"{call.task}/planner.json")["plan"]["modules"]]
    else:
        built = stage_of(call.subject, call.stage).copy_to(tmp_path / "m")
        tests = functions(built / f"tests/test_{call.subject}.py")
        headings = set(re.findall(r"^## (.+)$", (built / "examples.md").read_text(), re.MULTILINE))
    there = {name: pointers(locked[name]) for name in modules}
    there[" or ".join(modules)] = set[str]().union(*there.values())
    assessments = ChallengerAnswer.model_validate(read(call.answer)).rubric_assessments
    for evidence in (assessment.evidence for assessment in assessments):
        named = set(re.findall(r"\btest_\w+", evidence))
        quoted = set(re.findall(r"example '([^']+)'", evidence))
        clauses = cited_pointers(evidence, modules)
        assert len(evidence.split()) >= 5
        assert named or quoted or clauses, evidence
        assert named <= tests
        assert quoted <= headings
        assert all(any(p.startswith(clause) for p in there[name]) for name, clause in clauses), evidence
    assert all(dimension in assessments[0].evidence for dimension in DIMENSIONS)


@pytest.mark.parametrize("call", CHALLENGES, ids=lambda call: call.answer)
def test_a_challenge_quotes_no_source(call):
    """The Challenger never sees an implementation, so its words hold no line of one (F-9.7-07)."""
    told = " ".join((PLAYBOOK / call.answer).read_text().split())
    for source in PLAYBOOK.rglob("implementation/*.py"):
        body = source.read_text().rpartition('"""')[2]
        assert [line for line in map(str.strip, body.splitlines()) if len(line) > 12 and line in told] == []


def test_one_module_fails_its_first_round_and_its_fault_is_real(tmp_path):
    """The counterexample that the Challenger argues is what the first proposal does (F-9.3-01, F-9.4-02)."""
    failed = [call for call in CHALLENGES if read(call.answer)["verdict"] == "FAIL"]
    assert [(call.subject, call.stage) for call in failed] == [("split_evenly", "round-1")]
    program = (
        "from decimal import Decimal\nfrom modules.split_evenly import split_evenly\n"
        "print(*split_evenly(Decimal(20), ['Ana', 'Ben', 'Cleo']).values())"
    )
    first = package(tmp_path / "1", "modules", replaced=stage_of("split_evenly", "round-1"))
    assert python(["-c", program], first).split() == ["6.68", "6.66", "6.66"]
    assert python(["-c", program], package(tmp_path / "2", "modules")).split() == ["6.67", "6.67", "6.66"]


def test_the_amendments_of_the_arbiter_were_applied_and_nothing_else(tmp_path):
    """ADD is there and was not before, MODIFY changed what was there (F-9.6-02, F-9.6-04, D-14-01)."""
    added, modified = ArbiterAnswer.model_validate(
        read("TSK-005/render_report/round-1/arbiter.json")
    ).amendments
    record = AmendmentsAnswer.model_validate(read("TSK-005/render_report/amended/proposer.json"))
    assert [(a.amendment_index, a.applied) for a in record.applied] == [(0, True), (1, True)]
    before = stage_of("render_report", "round-1").copy_to(tmp_path / "before")
    after = stage_of("render_report", "amended").copy_to(tmp_path / "after")
    old, new = (functions(m / "tests/test_render_report.py") for m in (before, after))
    assert {f"{added.action} test:{name}" for name in new - old} == {f"ADD {added.target}"}
    old, new = (set(EXAMPLE.findall((m / "examples.md").read_text())) for m in (before, after))
    assert {f"{modified.action} example:{heading}" for heading, *_ in new - old} == {
        f"MODIFY {modified.target}"
    }
    assert len(new) == len(old)


def test_a_tab_of_three_is_settled_from_text_to_file(tmp_path):
    """What the user came for, through the package as the wheel has it (D28)."""
    program = """
from pathlib import Path
from tabkeeper import compute_balances, parse_money, render_report, settle_up, write_report
three = ["Ana", "Ben", "Cleo"]
balances = compute_balances([("Ana", parse_money("$90"), three), ("Ben", parse_money("30.00"), three)])
transfers = settle_up(balances)
assert [(a, b, str(c)) for a, b, c in transfers] == [("Cleo", "Ana", "40.00"), ("Ben", "Ana", "10.00")]
size = write_report(render_report(balances, transfers, "Lisbon"), Path("tab.txt"))
assert size == Path("tab.txt").stat().st_size
print(Path("tab.txt").read_text(encoding="utf-8"), end="")
"""
    said = python(["-c", program], package(tmp_path, "tabkeeper"))
    assert said.splitlines()[-2:] == ["Cleo pays Ana 40.00", "Ben pays Ana 10.00"]
