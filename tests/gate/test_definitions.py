"""Modules of definitions alone: their contract, their surface, and what the gate makes of them (design: contracts)."""

import pytest

from gate_testkit.corpus_reading import sound
from ship_gate.contract.contract import Effect, Input, Modes, Output
from ship_gate.contract.docstring import entry_points, public_names, render_stub
from ship_gate.contract.obligations import obligations
from ship_gate.contract.rules import DEFINITIONS, is_vocabulary, output_name, problems
from ship_gate.public_surface import extract_surface
from ship_gate.source.files import ParsedFiles
from ship_gate.source.splice import splice
from ship_gate.verdict import ENTRY_FILE
from specwright.domain.acceptance.calls import twice_defined
from specwright.domain.answers import PlannedModule

TERMS = sound("ledger_terms")
NAMES = ["Expense", "Side", "Share", "UnbalancedError", "UnknownPersonError"]


def changed(**fields):
    """The contract of definitions with other fields."""
    return TERMS.contract.model_copy(update=fields)


def test_the_stub_of_definitions_is_read_back_as_their_contract():
    """D-43-10: no function, the contract in the docstring of the module, every class in `__all__`."""
    contract = TERMS.contract
    assert (problems(contract), entry_points(contract), obligations(contract)) == ([], (), ())
    assert sorted(public_names(contract)) == sorted(NAMES)
    files = ParsedFiles({ENTRY_FILE: render_stub(contract).encode()})
    assert extract_surface(files, contract.name) == contract.dimensions()


@pytest.mark.parametrize("head", ["", "# a comment\n", '"""Another text."""\n', '"""Two\n\nlines."""\n\n'])
def test_the_contract_becomes_the_docstring_of_the_module(head):
    """D-43-10: whatever stood there."""
    source = head.encode() + TERMS.files[ENTRY_FILE]
    spliced = splice(source, TERMS.contract)
    assert extract_surface(ParsedFiles({ENTRY_FILE: spliced}), "ledger_terms") == TERMS.contract.dimensions()
    assert splice(spliced, TERMS.contract) == spliced
    assert b"Another" not in spliced


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"inputs": [Input(name="a", type="int")]}, "there is no function"),
        ({"effects": [Effect(type="WRITE", target="x", description="y")]}, "there is no function"),
        ({"error_cases": ["an expense of nobody"]}, "there is no function"),
        ({"outputs": [], "error_surfaces": []}, "there is no definition"),
        ({"modes": Modes(sync=True, async_=True, notes=DEFINITIONS)}, "nothing is awaited"),
        ({"outputs": [Output(name="count", type="int")]}, "is no definition"),
        ({"outputs": [o.model_copy(update={"name": f"{o.name}s"}) for o in TERMS.contract.outputs]}, "call it 'expense'"),
        ({"outputs": [TERMS.contract.outputs[0].model_copy(
            update={"invariants": ["adds up", *TERMS.contract.outputs[0].invariants]}
        )]}, "nothing that a definition shows"),
    ],
)  # fmt: skip
def test_a_contract_of_definitions_says_nothing_else(fields, said):
    """D-43-10: no dimension is missing, and none is untrue."""
    assert any(said in problem for problem in problems(changed(**fields)))


def test_classes_are_named_as_outputs_are():
    """D-43-10: so that the surface can be read from the classes."""
    assert [*map(output_name, ["Expense", "PaidBill", "HTTPAnswer", "A1B"])] == [
        "expense",
        "paid_bill",
        "http_answer",
        "a1_b",
    ]
    assert not is_vocabulary(changed(modes=Modes(sync=True, async_=False)))


def test_a_function_takes_something_and_definitions_do_not():
    """D-43-10: the plan says why a dimension is empty."""
    reuse = {"query": "q", "conclusion": "CREATE_NEW", "justification": "Nothing like it is there."}
    planned = PlannedModule.of_contract(
        TERMS.contract.model_copy(update={"tags": ["money"]}), reuse
    ).to_json()
    assert planned["inputs"].startswith("none: ")
    with pytest.raises(ValueError, match="a function takes at least one input"):
        PlannedModule.model_validate({**planned, "modes": {"sync": True, "async": False}})


def test_a_class_of_a_plan_has_one_owner():
    """D-43-10: a product has one Expense, not four."""
    one, other = changed(name="split"), changed(name="settle")
    drafts = {"terms": TERMS.contract, "split": one, "settle": other}
    wrong = twice_defined(drafts, {"terms": [], "split": ["terms"], "settle": []})
    assert len(wrong) == len(NAMES)
    assert wrong[0].startswith("modules.settle: Expense is defined by terms and settle")
    assert twice_defined(drafts, {"terms": [], "split": ["terms"], "settle": ["terms"]}) == []
    assert twice_defined(drafts, {"terms": [], "split": ["terms"], "settle": ["MM-00000001@1.0.0"]}) == []
