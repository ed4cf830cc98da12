"""Records and errors that several tasks use have one definition, which the others import (DESIGN §13.2)."""

import pytest

from gate_testkit.pair_contracts import ERROR, PAIR, a_contract
from ship_gate.contract.contract import ErrorField
from specwright.domain.acceptance.calls import OwnedClass, copied_classes, unserved
from specwright.domain.acceptance.records import TaskAcceptance


def contract(name, invariants, depends_on=(), fields=()):
    """Of a function that gives a Pair and raises a PairError."""
    return a_contract(name, "Pair", invariants, depends_on, ERROR.model_copy(update={"fields": list(fields)}))


READ = contract("read_pair", [PAIR])
OWNED = [OwnedClass("Pair", "TSK-001", READ), OwnedClass("PairError", "TSK-001", READ)]


@pytest.mark.parametrize("invariants", [["it is not empty"], [PAIR]], ids=["named", "described again"])
def test_a_class_that_is_imported_is_no_copy(invariants):
    """Its statement may be repeated as it is; any version of its module will do."""
    later = READ.ref.replace("@1.0.0", "@1.2.0")
    assert copied_classes({"swap": contract("swap", invariants, [later])}, OWNED) == []


def test_a_class_that_is_made_again_is_refused_with_the_module_to_import_it_from():
    """For the record and for the error."""
    assert copied_classes({"swap": contract("swap", [PAIR])}, OWNED) == [
        f"modules.swap: {name} is exported by read_pair of TSK-001; add {READ.ref} to its `depends_on`, and leave out "
        f"what {name} is"
        for name in ("PairError", "Pair")
    ]


@pytest.mark.parametrize(
    ("invariants", "fields", "name"),
    [
        ([PAIR.replace("right", "rest")], [], "Pair"),
        (["it is not empty"], [ErrorField(name="index", type="int")], "PairError"),
    ],
)
def test_a_class_with_other_fields_than_its_owner_gave_it_is_refused(invariants, fields, name):
    """Also where its module is depended on."""
    draft = contract("swap", invariants, [READ.ref], fields)
    assert copied_classes({"swap": draft}, OWNED) == [
        f"modules.swap: {name} is exported by read_pair of TSK-001, with other fields or another base; leave out what "
        f"{name} is"
    ]


def test_the_name_of_a_class_of_an_unrelated_task_is_taken():
    """The package can export one class of a name."""
    owned = [OwnedClass("Pair", "TSK-004", None)]
    assert copied_classes({"swap": contract("swap", [PAIR])}, owned) == [
        "modules.swap: Pair is a class of TSK-004, on which this task does not depend; choose another name"
    ]


@pytest.mark.parametrize(
    ("provides", "told"),
    [
        (["read_pair(text: str) -> Pair", "Pair", "PairError"], []),
        (["Token"], ["modules: none exports Token, which is approved; export it by that name"]),
        (
            ["swap(text: str) -> Pair"],
            [
                "modules: none is called swap, which is approved as `swap(text: str) -> Pair`; plan a module of that name"
            ],
        ),
    ],
)
def test_a_plan_whose_modules_do_not_export_what_a_task_provides_is_refused(provides, told):
    """Functions, classes and errors, of new and reused modules alike (D-53-02)."""
    assert unserved(TaskAcceptance(provides=provides), [READ]) == told
