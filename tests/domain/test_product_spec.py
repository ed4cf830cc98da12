"""The product spec and what the researcher answers (F§3.2.2, D4)."""

import copy
from typing import Any

import pytest
from pydantic import ValidationError

from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft
from specwright.errors import InputError
from testkit.domain.product_specs import NOW, draft_data, spec_data

_LEVELS = {
    "spec": (),
    "pillar": ("pillars", 0),
    "epic": ("pillars", 0, "epics", 0),
    "story": ("pillars", 0, "epics", 0, "stories", 0),
    "task": ("pillars", 0, "epics", 0, "stories", 0, "tasks", 1),
    "sketch": ("pillars", 0, "epics", 0, "stories", 0, "tasks", 1, "io_contract_sketch"),
}


def _at(data: Any, level: Any):
    for step in _LEVELS[level]:
        data = data[step]
    return data


def _changed(level: Any, **changes: Any):
    data = copy.deepcopy(spec_data())
    _at(data, level).update(changes)
    return data


_REQUIRED = [
    (level, field) for level in _LEVELS for field in _at(spec_data(), level) if field != "depends_on"
]


def test_a_complete_spec_is_accepted_and_written_as_it_was_read():
    """F-3.2.2-07, D4, F-3.3-05, F-3.2.4-02: the agent's own ids pass; the stored JSON has the fields of F§3.2.2 in order;
    tasks come depth first; what was approved does not change under anybody's hands."""
    spec = ProductSpec.model_validate(spec_data())
    assert spec.to_json() == spec_data()
    assert list(spec.to_json())[4:] == ["created_at", "updated_at", "pillars"]
    assert [task.task_id for task in spec.tasks()] == ["TSK-001", "TSK-002", "TSK-003"]
    with pytest.raises(ValidationError, match="frozen"):
        spec.title = "Other"


def test_a_draft_is_the_spec_without_its_times():
    """D-04-02: the researcher gives no times; the factory stamps them."""
    draft = ProductSpecDraft.model_validate(draft_data())
    assert draft.stamped(NOW, NOW) == ProductSpec.model_validate(spec_data())
    with pytest.raises(ValidationError, match="created_at"):
        ProductSpecDraft.model_validate(spec_data())


def test_every_required_field_is_required():
    """F-3.2.2-03, F-3.2.2-04, F-3.2.2-05, F-3.2.2-06: dropping a field at any level is refused at that field, all but one;
    extra fields are forbidden everywhere."""
    for level, field in _REQUIRED:
        data = copy.deepcopy(spec_data())
        del _at(data, level)[field]
        with pytest.raises(ValidationError) as caught:
            ProductSpec.model_validate(data)
        assert caught.value.errors()[0]["loc"] == (*_LEVELS[level], field)
    data = copy.deepcopy(spec_data())
    del _at(data, "task")["depends_on"]
    assert [task.depends_on for task in ProductSpec.model_validate(data).tasks()][1] == []
    for level in _LEVELS:
        with pytest.raises(ValidationError, match="extra_forbidden"):
            ProductSpec.model_validate(_changed(level, foo=1))


_ODD = {
    ("spec", "spec_id"): ["SPEC-1a2b3c4d", "SPEC-01", "SPEC-001\n", "SPEC-٠٠١"],
    ("spec", "spec_version"): ["1.0", "1.0.0\n", "01.0.0"],
    ("spec", "created_at"): ["yesterday", "2026-05-06T16:00:00+02:00"],
    ("pillar", "pillar_id"): ["PIL-1", "EPC-001"],
    ("epic", "epic_id"): ["epc-001"],
    ("story", "story_id"): ["STR-001 "],
    ("task", "task_id"): ["TSK-1x", "TSK-001\n"],
    ("task", "depends_on"): [["T-core-tables-import-001"], ["TSK-001\n"]],
}


def test_ids_versions_and_times_have_their_form():
    """F-3.2.2-01, F-3.2.2-02, F-3.2.2-03, F-3.2.2-04: the documented form, no trailing newline; ten thousand tasks fit, and
    what is accepted stays as it was given."""
    for (level, field), values in _ODD.items():
        for value in values:
            with pytest.raises(ValidationError):
                ProductSpec.model_validate(_changed(level, **{field: value}))
    large = _changed("task", task_id="TSK-10000", depends_on=["TSK-12345"])
    assert ProductSpec.model_validate(large).to_json() == large


OPEN = ["", " \n", "TBD", "tbd.", "N/A", "TODO", "TODO: think", "N/A: none", "TBD (soon)", "Not applicable"]
CONTENT = ["Todo title, non-empty", "title of the todo item", "none: pure", "N/Acetyl names as text"]


def test_no_dimension_is_left_open():
    """F-3.2.2-05, F-3.2.3-02, F-3.2.3-03, D-19-01: empty, a placeholder, or marked not applicable; but a to-do app may say
    todo."""
    for dimension in ("inputs", "outputs", "error_surfaces", "effects", "modes"):
        for text in OPEN:
            with pytest.raises(ValidationError):
                ProductSpec.model_validate(_changed("sketch", **{dimension: text}))
    for text in CONTENT:
        ProductSpec.model_validate(_changed("sketch", inputs=text))


def test_a_stored_spec_with_faults_is_refused_by_field_names():
    """F-4.1-13: a spec edited by hand gets a message, not a traceback."""
    data = ProductSpec.model_validate(spec_data()).to_bytes().replace(b'"Parse the rows"', b'""')
    with pytest.raises(InputError, match=r"tasks\.1\.name"):
        ProductSpec.from_bytes(data, "state_store/product/spec.json")
