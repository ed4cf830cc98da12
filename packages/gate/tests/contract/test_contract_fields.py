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


def test_a_contract_has_the_fields_of_the_schema_and_no_others():
    """F-11.1-01: what is written is what was read, and an unknown field is refused."""
    assert contract().to_json() == DOCUMENT
    with pytest.raises(ValidationError, match="Extra inputs"):
        contract(author="somebody")


def test_no_dimension_and_no_identity_may_be_left_out():
    """F-11.1-01, F-11.1-02: required fields; POST, PUT, PATCH, WRITE, CALL, MUTATION; exception, code, variant."""
    for field in ("module_id", "name", "purpose", *DIMENSIONS):
        with pytest.raises(ValidationError, match=f"{field}\n  Field required"):
            MicroModuleContract.model_validate({name: DOCUMENT[name] for name in DOCUMENT if name != field})
    for field, wrong in (("effects", {"type": "GET"}), ("error_surfaces", {"surface": "signal"})):
        with pytest.raises(ValidationError, match="Input should be"):
            contract(**{field: [{**DOCUMENT[field][0], **wrong}]})


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


def test_a_field_beside_the_dimensions_does_not_change_the_fingerprint():
    """F-11.1-05: renaming, retagging and documentation are no change of the interface; F-11.1-06: others and dimensions are
    the whole schema."""
    assert {*OTHERS, *DIMENSIONS} == {*DOCUMENT}
    for field, value in OTHERS.items():
        changed = contract(**{field: value})
        assert changed.to_json() != contract().to_json(), field
        assert changed.interface_fingerprint == contract().interface_fingerprint, field


CHANGES = {
    "inputs": {"name": "title", "type": "bytes", "constraints": []},
    "outputs": {"name": "title", "type": "bytes", "invariants": ["upper case"]},
    "error_surfaces": {"name": "KeyError", "when": "text is too long", "surface": "code"},
    "effects": {"type": "CALL", "target": "a file", "description": "two lines are added"},
    "modes": {"async": True, "notes": ""},
}


def test_whatever_changes_in_a_dimension_changes_the_fingerprint():
    """F-11.1-06: every key of every dimension, an entry less or more, and the order of two."""
    whole = contract().interface_fingerprint
    for dimension, changes in CHANGES.items():
        before = DOCUMENT[dimension]
        for key, value in changes.items():
            one = {key: value}
            after = [{**before[0], **one}] if isinstance(before, list) else {**before, **one}
            assert contract(**{dimension: after}).interface_fingerprint != whole, (dimension, key)
        if isinstance(before, list):
            first, other = (
                before[0],
                {**before[0], "description" if dimension == "effects" else "name": "another"},
            )
            lists = [[], [first], [first, other], [other, first]]
            assert len({contract(**{dimension: entries}).interface_fingerprint for entries in lists}) == 4
