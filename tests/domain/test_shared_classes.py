"""Records and errors that several tasks use have one definition, which the others import (DESIGN §13.2)."""

from gate_testkit.pair_contracts import ERROR, PAIR, a_contract
from ship_gate.contract.contract import ErrorField, Input
from specwright.domain.acceptance.calls import OwnedClass, copied_classes, unserved
from specwright.domain.acceptance.records import TaskAcceptance


def contract(name, invariants, depends_on=(), fields=()):
    """Of a function that gives a Pair and raises a PairError."""
    return a_contract(name, "Pair", invariants, depends_on, ERROR.model_copy(update={"fields": list(fields)}))


READ = contract("read_pair", [PAIR])
OWNED = [OwnedClass("Pair", "TSK-001", READ), OwnedClass("PairError", "TSK-001", READ)]


def test_a_class_that_is_imported_is_no_copy():
    """Its statement may be repeated as it is, and any version of its module will do; with other fields than its owner gave
    it, it is refused, also where its module is depended on."""
    later = READ.ref.replace("@1.0.0", "@1.2.0")
    for invariants in (["it is not empty"], [PAIR]):
        assert copied_classes({"swap": contract("swap", invariants, [later])}, OWNED) == []
    index = [ErrorField(name="index", type="int")]
    for said, fields, name in (
        (PAIR.replace("right", "rest"), [], "Pair"),
        ("it is not empty", index, "PairError"),
    ):
        assert copied_classes({"swap": contract("swap", [said], [READ.ref], fields)}, OWNED) == [
            f"modules.swap: {name} is exported by read_pair of TSK-001, with other fields or another base; leave out "
            f"what {name} is"
        ]


def test_a_class_that_is_made_again_is_refused_with_the_module_to_import_it_from():
    """For the record and for the error; the name of a class of an unrelated task is taken, since the package can export one
    class of a name."""
    swap = {"swap": contract("swap", [PAIR])}
    assert copied_classes(swap, OWNED) == [
        f"modules.swap: {name} is exported by read_pair of TSK-001; add {READ.ref} to its `depends_on`, and leave out "
        f"what {name} is"
        for name in ("PairError", "Pair")
    ]
    assert copied_classes(swap, [OwnedClass("Pair", "TSK-004", None)]) == [
        "modules.swap: Pair is a class of TSK-004, on which this task does not depend; choose another name"
    ]


def test_a_plan_whose_modules_do_not_export_what_a_task_provides_is_refused():
    """Functions, classes and errors, of new and reused modules alike (D-53-02)."""
    swap = "modules: none is called swap, which is approved as `swap(text: str) -> Pair`; plan a module of that name"
    for provides, told in (
        (["read_pair(text: str) -> Pair", "Pair", "PairError"], []),
        (["Token"], ["modules: none exports Token, which is approved; export it by that name"]),
        (["swap(text: str) -> Pair"], [swap]),
    ):
        assert unserved(TaskAcceptance(provides=provides), [READ]) == told


def test_a_plan_passes_parameters_as_they_were_approved():
    """By keyword only, any number of arguments, or plainly: where the contract or the signature alone says so, the plan is
    refused with both (D-40-09)."""
    by_keyword, any_number = "passed by keyword only", "any number of arguments"
    for approved, constraint, told in (
        ("text: str", "", ""),
        ("*, text: str", by_keyword, ""),
        ("*text: str", any_number, ""),
        ("*, text: str", "", f"lacks the constraint `{by_keyword}`, unlike the approved signature; add it"),
        (
            "text: str",
            by_keyword,
            f"has the constraint `{by_keyword}`, unlike the approved signature; leave it out",
        ),
        ("*text: str", "", f"lacks the constraint `{any_number}`, unlike the approved signature; add it"),
        (
            "text: str",
            any_number,
            f"has the constraint `{any_number}`, unlike the approved signature; leave it out",
        ),
    ):
        public = f"read_pair({approved}) -> Pair"
        slot = Input(name="text", type="str", constraints=[constraint] if constraint else [])
        problems = unserved(TaskAcceptance(provides=[public]), [READ.model_copy(update={"inputs": [slot]})])
        assert problems == (
            [f"modules.read_pair: its text {told}; it is approved as `{public}`"] if told else []
        )
