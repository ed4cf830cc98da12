"""The contract's fields, and which of them its fingerprint is made of (F§11.1)."""

import hashlib

import pytest
import rfc8785
from pydantic import ValidationError

from ship_gate.contract.contract import MicroModuleContract

DOCUMENT = {
    "module_id": "MM-0a1b2c3d",
    "module_version": "1.2.3",
    "name": "slugify",
    "purpose": "Turn a title into a URL slug.",
    "tags": ["text"],
    "inputs": [{"name": "text", "type": "str", "constraints": ["non-empty"]}],
    "outputs": [{"name": "slug", "type": "str", "invariants": ["lower case"]}],
    "error_surfaces": [{"name": "ValueError", "when": "text is empty", "surface": "exception"}],
    "effects": [{"type": "WRITE", "target": "the log", "description": "one line is added"}],
    "modes": {"sync": True, "async": False, "notes": "pure"},
    "error_cases": ["an empty text"],
    "dependencies": [{"ref": "MM-00000001@^1.0.0", "why": "it splits words"}],
    "compatibility": {"backward_compatible_with": ["MM-0a1b2c3d@^1.0.0"], "breaking_change_policy": "none"},
    "runtime_budgets": {"latency_ms_p95": 5.0, "memory_mb_max": 64.0},
}
"""Every field of the document's schema."""

DIMENSIONS = ("inputs", "outputs", "error_surfaces", "effects", "modes")


def contract(**changes):
    """The contract, with fields replaced."""
    return MicroModuleContract.model_validate({**DOCUMENT, **changes})


def without(field):
    """The document with a field left out."""
    return {name: value for name, value in DOCUMENT.items() if name != field}


def test_a_contract_has_the_fields_of_the_schema_and_no_others():
    """F-11.1-01: what is written is what was read, and an unknown field is refused."""
    assert contract().to_json() == DOCUMENT
    with pytest.raises(ValidationError, match="Extra inputs"):
        contract(author="somebody")


@pytest.mark.parametrize("field", ["module_id", "name", "purpose", *DIMENSIONS])
def test_no_dimension_and_no_identity_may_be_left_out(field):
    """F-11.1-01: the schema's required fields."""
    with pytest.raises(ValidationError, match=f"{field}\n  Field required"):
        MicroModuleContract.model_validate(without(field))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("effects", [{"type": "GET", "target": "x", "description": "y"}]),
        ("error_surfaces", [{"name": "ValueError", "when": "x", "surface": "signal"}]),
    ],
)
def test_another_kind_of_effect_or_surface_is_refused(field, value):
    """F-11.1-02: POST, PUT, PATCH, WRITE, CALL, MUTATION; exception, code, variant."""
    with pytest.raises(ValidationError, match="Input should be"):
        contract(**{field: value})


def test_a_module_is_called_or_awaited_or_both():
    """F-11.1-03: both modes false is no mode."""
    for sync, awaited in ((True, False), (False, True), (True, True)):
        modes = contract(modes={"sync": sync, "async": awaited}).modes
        assert (modes.sync, modes.async_, modes.notes) == (sync, awaited, "")
    with pytest.raises(ValidationError, match="sync, async or both"):
        contract(modes={"sync": False, "async": False})


def test_the_fingerprint_is_the_hash_of_the_canonical_dimensions():
    """F-11.1-04: recomputed here from the document, by RFC 8785 and SHA-256."""
    whole = rfc8785.dumps({name: DOCUMENT[name] for name in DIMENSIONS})
    assert contract().interface_fingerprint == hashlib.sha256(whole).hexdigest()


OTHERS = {
    "module_id": "MM-ffffffff",
    "module_version": "9.0.0",
    "name": "slug",
    "purpose": "Something else.",
    "tags": [],
    "error_cases": [],
    "dependencies": [],
    "compatibility": {},
    "runtime_budgets": {},
}


def test_every_field_is_in_the_fingerprint_or_not():
    """F-11.1-05, F-11.1-06: the two lists below are the whole schema."""
    assert {*OTHERS, *DIMENSIONS} == {*DOCUMENT}


@pytest.mark.parametrize("field", OTHERS)
def test_a_field_beside_the_dimensions_does_not_change_the_fingerprint(field):
    """F-11.1-05: renaming, retagging and documentation are no change of the interface."""
    changed = contract(**{field: OTHERS[field]})
    assert changed.to_json() != contract().to_json()
    assert changed.interface_fingerprint == contract().interface_fingerprint


CHANGES = [
    ("inputs", {"name": "title"}),
    ("inputs", {"type": "bytes"}),
    ("inputs", {"constraints": []}),
    ("outputs", {"name": "title"}),
    ("outputs", {"type": "bytes"}),
    ("outputs", {"invariants": ["upper case"]}),
    ("error_surfaces", {"name": "KeyError"}),
    ("error_surfaces", {"when": "text is too long"}),
    ("error_surfaces", {"surface": "code"}),
    ("effects", {"type": "CALL"}),
    ("effects", {"target": "a file"}),
    ("effects", {"description": "two lines are added"}),
    ("modes", {"async": True}),
    ("modes", {"notes": ""}),
]


@pytest.mark.parametrize(("dimension", "change"), CHANGES)
def test_whatever_changes_in_a_dimension_changes_the_fingerprint(dimension, change):
    """F-11.1-06: every key of every dimension."""
    before = DOCUMENT[dimension]
    after = [{**before[0], **change}] if isinstance(before, list) else {**before, **change}
    assert contract(**{dimension: after}).interface_fingerprint != contract().interface_fingerprint


@pytest.mark.parametrize("dimension", ["inputs", "outputs", "error_surfaces", "effects"])
def test_an_entry_less_or_more_changes_the_fingerprint(dimension):
    """F-11.1-06: and so does the order of two."""
    (one,) = DOCUMENT[dimension]
    other = {**one, "description" if dimension == "effects" else "name": "another"}
    lists = [[], [one], [one, other], [other, one]]
    assert len({contract(**{dimension: entries}).interface_fingerprint for entries in lists}) == 4
