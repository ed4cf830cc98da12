"""What tests owe to a contract, and who claims to show it."""

import pytest

from ship_gate.contract.contract import Effect, ErrorSurface, Input, MicroModuleContract, Modes, Output
from ship_gate.contract.obligations import (
    claims_faults,
    matching_tests,
    obligations,
    read_claims,
    unseen_faults,
)

CONTRACT = MicroModuleContract(
    module_id="MM-00000001",
    name="save",
    purpose="Save a bill.",
    inputs=[
        Input(name="bill", type="Bill", constraints=["not empty", "Bill is a frozen dataclass: total: int"]),
        Input(name="mode", type="str", constraints=["defaults to 'w'"]),
    ],
    outputs=[Output(name="size", type="int", invariants=["positive"])],
    error_surfaces=[
        ErrorSurface(name="ValueError", when="bill is empty", surface="exception"),
        ErrorSurface(name="OSError", when="the disk is full", surface="exception"),
        ErrorSurface(name="E_CUT", when="it was cut", surface="code"),
    ],
    effects=[Effect(type="WRITE", target="bill.txt", description="the bill")],
    modes=Modes(sync=True, async_=False),
)
POINTERS = [
    "",
    "/inputs/0/constraints/0",
    "/inputs/1/constraints/0",
    "/outputs/0/invariants/0",
    "/error_surfaces/0",
    "/error_surfaces/1",
    "/error_surfaces/2",
    "/effects/0",
]
TESTS = ["test_a.py::test_all", "test_a.py::TestX::test_more", "test_b.py::test_all"]


def test_there_is_one_obligation_per_statement_and_the_happy_path():
    """D-12-01, F-5-08, D12: a default is one; what a class is made of is compared with the surface instead."""
    assert [obligation.pointer for obligation in obligations(CONTRACT)] == POINTERS


def test_how_many_items_there_are_is_no_obligation():
    """D-43-05: the gate counts them; the same words about a list are to be shown."""
    bound = "takes at most 9 items"
    inputs = [Input(name=name, type=f"{name}[int]", constraints=[bound]) for name in ("Iterable", "list")]
    output = Output(name="found", type="Iterator[int]", invariants=["yields at most 9 items", "in order"])
    due = obligations(CONTRACT.model_copy(update={"inputs": inputs, "outputs": [output]}))
    pointers = [one.pointer for one in due]
    assert pointers[1:3] == ["/inputs/1/constraints/0", "/outputs/0/invariants/1"]


def test_a_missing_obligation_is_told_with_its_category():
    """D-12-01, D-12-03, D-S8-17: each obligation by a test; F-5-08, F-5-10: drop each, and a finding names the category."""
    assert claims_faults({"TestX::test_more": tuple(POINTERS)}, TESTS, CONTRACT) == []
    for due in obligations(CONTRACT):
        claims = {"test_more": tuple(pointer for pointer in POINTERS if pointer != due.pointer)}
        (fault,) = claims_faults(claims, TESTS, CONTRACT)
        assert (fault.code, fault.pointer) == ("obligations.uncovered", due.pointer)
        assert f"no test for {due.kind}" in fault.message


def test_a_claim_of_no_single_test_or_no_obligation_is_refused():
    """D-12-03, D-S8-17: a claim names one collected test, and covers nothing otherwise; nor does a pointer to nothing."""
    for name, kind in (("test_other", "unknown"), ("test_all", "ambiguous"), ("more", "unknown")):
        faults = claims_faults({"test_more": tuple(POINTERS[1:]), name: ("",)}, TESTS, CONTRACT)
        assert [fault.code for fault in faults] == [f"obligations.{kind}_test", "obligations.uncovered"], name
    for pointer in ("/inputs/0/constraints/1", "/inputs/9", "/inputs/0", "happy", "/error_cases/0"):
        (fault,) = claims_faults({"test_more": (*POINTERS, pointer)}, TESTS, CONTRACT)
        assert fault.code == "obligations.unknown_pointer", pointer


def test_a_test_is_named_by_the_end_of_its_node_id():
    """D-S8-17: as short as it is unique."""
    everywhere, more, other = TESTS
    for name, found in (
        ("test_more", [more]),
        ("TestX::test_more", [more]),
        ("tests/test_b.py::test_all", [other]),
        ("test_b.py::test_all[x-1]", [other]),
        ("test_all", [everywhere, other]),
        ("all", []),
    ):
        assert matching_tests(name, TESTS) == found, name


def test_claims_that_cannot_be_read_are_refused():
    """D-S8-17: an object of lists of texts, each test once."""
    for data in (b"[]", b"{", b'{"t": ""}', b'{"t": [1]}', b'{"t": [], "t": []}', b"\xff"):
        with pytest.raises(ValueError, match=r"."):
            read_claims(data)


def test_an_error_must_have_come_out_of_the_module():
    """D-S8-17: a test that passes without the error shows nothing; a subclass of OSError is one (D-S8-18)."""
    claims = {"test_more": ("/error_surfaces/0", "/error_surfaces/1", "/error_surfaces/2")}
    test = "test_a.py::TestX::test_more"
    seen = {test: [("UnicodeError", "ValueError"), ("FileNotFoundError", "OSError"), ("E_CUT",)]}
    (fault,) = unseen_faults(claims, seen, CONTRACT)
    assert (fault.code, fault.pointer) == ("obligations.unseen", "/error_surfaces/0")
    assert unseen_faults(claims, {test: [*seen[test], ("ValueError", "Exception")]}, CONTRACT) == []
