"""The interface change exception: its record, and the contract that its delta makes (F§13.3, D26)."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate_testkit.drawn_contracts import contracts
from ship_gate.contract.contract import ErrorSurface, MicroModuleContract
from ship_gate.contract.rules import is_any_number, normalise, problems
from specwright.domain.interface_change import (
    CompatibilityExpectation,
    InterfaceChangeException,
    ProposedContractDelta,
    RaisedBy,
    candidate_contract,
    checked_request,
)
from testkit.domain.doubling import DOUBLE

STEP = {"name": "step", "type": "int", "constraints": ["is not zero", "defaults to 1"]}
NUMBER, RESULT = DOUBLE.inputs[0].to_json(), DOUBLE.outputs[0].to_json()
NEGATIVE = DOUBLE.error_surfaces[0].to_json()
LARGE = {"name": "OverflowError", "when": "number is over 10", "surface": "exception"}
CLOCK = {"type": "CALL", "target": "the clock", "description": "reads the time"}
CALLS = MicroModuleContract.model_validate(
    {
        **DOUBLE.to_json(),
        "effects": [CLOCK],
        "error_surfaces": [NEGATIVE, {**NEGATIVE, "when": "number is odd"}],
    }
)

REQUEST = {
    "type": "CANNOT_SUPPORT",
    "target_module": DOUBLE.ref,
    "reason": "A step other than one cannot be asked for.",
    "evidence": ["Criterion 2 asks for every third number."],
    "proposed_delta": {"added_inputs": [STEP]},
    "compatibility": "BACKWARD_COMPATIBLE",
    "urgency": "BLOCKING",
}


def made(
    delta: dict[str, Any], of: MicroModuleContract = DOUBLE, expected: str = "UNKNOWN"
) -> MicroModuleContract:
    """The candidate that a delta makes."""
    return candidate_contract(
        of, ProposedContractDelta.model_validate(delta), CompatibilityExpectation(expected)
    )


def test_a_record_has_the_fields_of_the_request_and_who_raised_it():
    """F-13-04: the names of F§13.3; it is read back as it was written."""
    by = RaisedBy(artifact_ref="", role="proposer", run_id="TSK-002.1/triple/round-1/proposer")
    record = InterfaceChangeException.of("ICE-0000000a", checked_request(REQUEST, {DOUBLE.ref: DOUBLE}), by)
    assert list(record.to_json()) == [
        *("exception_id", "type", "raised_by", "target_module", "reason", "evidence"),
        *("proposed_contract_delta", "compatibility_expectation", "urgency"),
    ]
    assert InterfaceChangeException.from_bytes(record.to_bytes(), "here") == record
    assert (
        checked_request({**REQUEST, "target_module": "double"}, {DOUBLE.ref: DOUBLE}).target_module
        == DOUBLE.ref
    )


DELTAS = {
    "added input": ({"added_inputs": [STEP]}, DOUBLE, "MINOR"),
    "input that must be passed": ({"added_inputs": [{**STEP, "constraints": []}]}, DOUBLE, "MAJOR"),
    "removed input": ({"removed_inputs": ["number"], "added_inputs": [STEP]}, DOUBLE, "MAJOR"),
    "modified input": ({"modified_inputs": [{**NUMBER, "type": "float"}]}, DOUBLE, "MAJOR"),
    "added output": ({"added_outputs": [{**RESULT, "name": "rest"}]}, DOUBLE, "MAJOR"),
    "removed output": ({"removed_outputs": ["result"]}, DOUBLE, "MAJOR"),
    "stronger output": ({"modified_outputs": [{**RESULT, "invariants": ["is the number twice", "is even"]}]}, DOUBLE,
                        "MINOR"),
    "modified output": ({"modified_outputs": [{**RESULT, "type": "float"}]}, DOUBLE, "MAJOR"),
    "added error": ({"added_error_surfaces": [LARGE]}, DOUBLE, "MINOR"),
    "removed error": ({"removed_error_surfaces": [{"name": "ValueError"}]}, DOUBLE, "MAJOR"),
    "one of two errors": ({"removed_error_surfaces": [{"name": "ValueError", "when": "number is odd"}]}, CALLS, "MAJOR"),
    "modified error": ({"modified_error_surfaces": [{**NEGATIVE, "when": "number is below -1"}]}, DOUBLE, "MAJOR"),
    "added effect": ({"added_effects": [CLOCK]}, DOUBLE, "MAJOR"),
    "removed effect": ({"removed_effects": [{"type": "CALL", "target": "the clock"}]}, CALLS, "MAJOR"),
    "modified effect": ({"modified_effects": [{**CLOCK, "description": "reads it twice"}]}, CALLS, "MAJOR"),
    "modes": ({"mode_changes": {"sync": True, "async": True}}, DOUBLE, "MAJOR"),
}  # fmt: skip


def test_every_part_of_a_delta_is_applied_and_the_bump_computed():
    """D-26-02, D-26-03, F-13-15, F-7-06, F-7-07: the label UNKNOWN takes what code computes; another label than that is
    refused, and the message names who breaks."""
    labels = ["BACKWARD_COMPATIBLE", "BREAKING"]
    for what, (delta, of, bump) in DELTAS.items():
        candidate = made(delta, of)
        assert candidate.module_version == {"MINOR": "1.1.0", "MAJOR": "2.0.0"}[bump], what
        assert candidate.interface_fingerprint != of.interface_fingerprint, what
        assert problems(candidate) == [], what
        right, wrong = labels if bump == "MINOR" else labels[::-1]
        assert made(delta, of, right) == candidate
        said = f"this change is {right}, not {wrong}; code computes a {bump} bump"
        with pytest.raises(ValueError, match=said):
            made(delta, of, wrong)
    with pytest.raises(ValueError, match=r"computes a MAJOR bump\. What is returned has another shape"):
        made({"added_outputs": [{**RESULT, "name": "rest"}]}, expected="BACKWARD_COMPATIBLE")


def test_what_a_delta_does_not_name_stays():
    """F-13-04: the candidate is the contract with the delta applied, and nothing else."""
    candidate = made(
        {"modified_error_surfaces": [{**LARGE, "name": "ValueError", "replaces": "number is odd"}]}, CALLS
    )
    assert [error.when for error in candidate.error_surfaces] == ["number is negative", "number is over 10"]
    same = {"module_version": CALLS.module_version, "error_surfaces": CALLS.error_surfaces}
    assert candidate.model_copy(update=same) == CALLS


@given(contracts(), st.sampled_from(["added_error_surfaces", "added_inputs"]))  # pyright: ignore
def test_an_addition_to_any_contract_is_the_next_minor_version(contract: MicroModuleContract, where: str):
    """F-7-05: whatever else the contract says."""
    added = STEP if where == "added_inputs" else LARGE
    if any(one.name == "step" or is_any_number(one) for one in contract.inputs):
        return  # a plain input before any number of arguments moves these
    failing = [*contract.error_surfaces, ErrorSurface.model_validate(LARGE)]
    if any(
        problems(normalise(contract.model_copy(update={"error_surfaces": errors})))
        for errors in ([], failing)
    ):
        return  # nothing comes of a call, or there are too few different arguments for one more error
    candidate = made({where: [added]}, contract, "BACKWARD_COMPATIBLE")
    assert candidate.module_version == "1.1.0"


def without(*names: str) -> dict[str, Any]:
    """The request without some fields."""
    return {name: value for name, value in REQUEST.items() if name not in names}


def delta(label: str = "UNKNOWN", **parts: Any) -> dict[str, Any]:
    """The request with another delta."""
    return {**REQUEST, "proposed_delta": parts, "compatibility": label}


MALFORMED: list[tuple[Any, str]] = [
    *((without(name), f"{name}: Field required") for name in REQUEST),
    ({**REQUEST, "type": "WRONG"}, "type: Input should be 'CANNOT_SUPPORT'"),
    ({**REQUEST, "type": None}, "type: "),
    ({**REQUEST, "urgency": "NOW"}, "urgency: Input should be 'BLOCKING'"),
    ({**REQUEST, "compatibility": "MINOR"}, "compatibility: Input should be 'BACKWARD_COMPATIBLE'"),
    ({**REQUEST, "target_module": "trouble"}, "target_module: String should match pattern"),
    ({**REQUEST, "target_module": "MM-00000001"}, "target_module: String should match pattern"),
    ({**REQUEST, "target_module": "MM-0000000f@1.0.0"}, "is no shipped dependency of what you work on; those are MM-"),
    ({**REQUEST, "target_module": "MM-00000001@2.0.0"}, "is no shipped dependency"),
    ({**REQUEST, "reason": ""}, "reason: String should have at least 1 character"),
    ({**REQUEST, "reason": "TBD"}, "reason: Value error, 'TBD' is a placeholder"),
    ({**REQUEST, "reason": "x" * 4_001}, "reason: Value should have at most 4000"),
    ({**REQUEST, "reason": 7}, "reason: Input should be a valid string"),
    ({**REQUEST, "evidence": []}, "evidence: List should have at least 1 item"),
    ({**REQUEST, "evidence": [" "]}, "evidence.0: String should have at least 1 character"),
    ({**REQUEST, "evidence": "Criterion 2."}, "evidence: Input should be a valid list"),
    ({**REQUEST, "raised_by": {"role": "arbiter"}}, "raised_by: Extra inputs are not permitted"),
    ({**REQUEST, "exception_id": "ICE-00000000"}, "exception_id: Extra inputs are not permitted"),
    ({**REQUEST, "proposed_delta": {}}, "proposed_delta: Value error, it is empty; name at least one change"),
    ({**REQUEST, "proposed_delta": [STEP]}, "proposed_delta: Input should be a valid dictionary"),
    (delta(renamed_inputs=[]), "proposed_delta.renamed_inputs: Extra inputs are not permitted"),
    (delta(added_inputs=[{"name": "step"}]), "proposed_delta.added_inputs.0.type: Field required"),
    (delta(added_inputs=[NUMBER]), "proposed_delta.added_inputs: the contract has 'number' already"),
    (delta(added_inputs=[STEP, STEP]), "proposed_delta.added_inputs: 'step' is named twice"),
    (delta(added_inputs=[{**STEP, "type": "Any"}]), "the contract that it makes: inputs.1.type: 'Any' says nothing"),
    (delta(added_inputs=[{**STEP, "name": "class"}]), "the contract that it makes: inputs.1.name: 'class' is a Python"),
    (delta(removed_inputs=["step"]), "proposed_delta.removed_inputs: there is no 'step'; the contract has 'number'"),
    (delta(removed_inputs=["number"], modified_inputs=[NUMBER]), "proposed_delta.modified_inputs: there is no 'number'"),
    (delta(modified_inputs=[NUMBER]), "the contract says all of this already; nothing would change"),
    (delta(modified_inputs=[STEP]), "proposed_delta.modified_inputs: there is no 'step'"),
    (delta(removed_outputs=["rest"]), "proposed_delta.removed_outputs: there is no 'rest'; the contract has 'result'"),
    (delta(added_outputs=[RESULT]), "proposed_delta.added_outputs: the contract has 'result' already"),
    (delta(modified_outputs=[RESULT, RESULT]), "proposed_delta.modified_outputs: 'result' is named twice"),
    (delta(removed_error_surfaces=[{"name": "OSError"}]), "there is no 'OSError'; the contract has 'ValueError: number"),
    (delta(removed_error_surfaces=[{"name": "ValueError", "when": "it is odd"}]), "there is no 'ValueError: it is odd'"),
    (delta(modified_error_surfaces=[LARGE]), "proposed_delta.modified_error_surfaces: there is no 'OverflowError'"),
    *((delta(modified_error_surfaces=[{**NEGATIVE, "when": "it is odd", "replaces": "number is negative"},
                                      {**NEGATIVE, "when": "it is even", "replaces": replaces}]), says)
      for replaces, says in (("", "'ValueError' is named twice"), ("it is odd", "'ValueError: it is odd' is named twice"),
                             ("number is negative", "'ValueError: number is negative' is named twice"))),
    (delta(added_error_surfaces=[{**LARGE, "name": "Exception"}]), "the contract that it makes: error_surfaces.1"),
    (delta(added_error_surfaces=[{**LARGE, "surface": "shout"}]), "added_error_surfaces.0.surface: Input should be"),
    (delta(removed_effects=[{"type": "CALL", "target": "x"}]), "removed_effects: there is no 'CALL x'; the contract has"),
    (delta(modified_effects=[CLOCK]), "proposed_delta.modified_effects: there is no 'CALL the clock'"),
    (delta(added_effects=[{**CLOCK, "type": "POST"}]), "the contract that it makes: effects.0"),
    (delta(mode_changes={"sync": False, "async": False}), "a module is sync, async or both"),
    (delta(mode_changes={"sync": True, "async": False}), "nothing would change"),
    (delta("BREAKING", added_inputs=[STEP]), "compatibility: this change is BACKWARD_COMPATIBLE, not BREAKING"),
    (delta("BACKWARD_COMPATIBLE", removed_inputs=["number"], added_inputs=[STEP]), "Callers cannot pass `number` any more."),
    ("raise it", "Input should be a valid dictionary"),
    (None, "Input should be a valid dictionary"),
]  # fmt: skip


def test_a_malformed_request_gets_one_clear_message():
    """F-13-04, D-26-03: what is wrong, at which field, and what would be right."""
    for raw, says in MALFORMED:
        with pytest.raises(ValueError, match=re.escape(says)) as refused:
            checked_request(raw, {DOUBLE.ref: DOUBLE})
        assert len(str(refused.value)) < 600
    with pytest.raises(ValueError, match="it is empty"):
        ProposedContractDelta()
