"""What a contract states of an error class: its base, and what holds for all its surfaces (design: contracts)."""

import builtins
from typing import Any

from ship_gate.base.record import Record
from ship_gate.contract.contract import ErrorField, ErrorSurface, Input, MicroModuleContract, Modes, Output
from ship_gate.contract.docstring import imported_classes, render_docstring, render_stub
from ship_gate.contract.error_classes import ERROR_BASES, base_of
from ship_gate.contract.obligations import obligations
from ship_gate.contract.rules import normalise, problems
from ship_gate.contract.statements import contract_changes, contract_text, text_for_callers
from specwright.domain.interface_change import Bump, compare_contracts

SHARED = "its message ends with the place where reading stopped"
REASONS = [f"the text has reason {number} to be refused" for number in range(1, 10)]


def a_surface(number: int = 0, **changes: object) -> ErrorSurface:
    """One of nine surfaces of one class."""
    fields = {"name": "ReadError", "when": REASONS[number], "surface": "exception", **changes}
    return ErrorSurface.model_validate(fields)


def a_contract(*errors: ErrorSurface, name: str = "read_text") -> MicroModuleContract:
    """A contract with these error surfaces."""
    return MicroModuleContract(
        module_id="MM-00000001",
        name=name,
        purpose="Read a number from a text.",
        inputs=[Input(name="text", type="str")],
        outputs=[Output(name="number", type="int")],
        error_surfaces=list(errors),
        effects=[],
        modes=Modes(sync=True, async_=False),
    )


STATED = a_surface(base="ValueError", shared=SHARED)
BEFORE = "8bf9adadac6c8c9b4d0e7a176ac77c7e68b900dab4a53eab25672281fdd3e0e8"
"""The fingerprint of a contract of one bare surface, as it was before classes could be stated."""
NINE = a_contract(STATED, *(a_surface(number) for number in range(1, 9)))


def test_the_statement_of_a_class_with_nine_surfaces_stands_once():
    """D-43-02: in contract.json, docstring, the text that a person approves, and the text for callers."""
    assert problems(NINE) == []
    documents = [
        NINE.to_bytes().decode(),
        render_docstring(NINE),
        contract_text(NINE),
        text_for_callers(NINE),
    ]
    assert [text.count(SHARED) for text in documents] == [1, 1, 1, 1]
    assert [text.count("ValueError") for text in documents] == [1, 1, 1, 1]
    assert f"    - ReadError is a ValueError: {SHARED}" in render_docstring(NINE).split("\n")
    lines = contract_text(NINE).split("\n")
    assert lines[lines.index("/error_surfaces/0/base ValueError") + 1] == f"/error_surfaces/0/shared {SHARED}"
    assert render_stub(NINE).count("class ReadError(ValueError):") == 1
    assert MicroModuleContract.from_bytes(NINE.to_bytes(), "contract.json") == NINE


def test_a_base_outside_the_list_is_refused_at_the_lock():
    """D-43-02: whatever else Python has, what is no exception, and another class of the module; the message lists them."""
    others = {name for name in dir(builtins) if name not in ERROR_BASES}
    assert {"BaseException", "StopIteration", "UnicodeDecodeError", "SystemExit", "int"} < others
    odd = ["ReadError", "PairError", "value_error", " ValueError", "ValueError, OSError"]
    for base in [*sorted(others), *odd]:
        problem, *_ = problems(a_contract(a_surface(base=base)))
        assert problem.startswith(f"error_surfaces.0.base: {base!r} is no base")
        assert "ValueError" in problem


def test_each_base_of_the_list_can_be_the_base_of_a_class():
    """D-43-02: the stub's class is made from a message alone, and says it."""
    for base in ERROR_BASES:
        contract = a_contract(a_surface(base=base, fields=[ErrorField(name="place", type="int")]))
        assert problems(contract) == []
        namespace: dict[str, Any] = {}
        exec(render_stub(contract), namespace)
        error = namespace["ReadError"]("stopped at 3", place=3)
        assert namespace["ReadError"].__bases__ == (getattr(builtins, base),)
        assert (error.args, error.place) == (("stopped at 3",), 3)


def test_a_contract_that_states_nothing_of_its_errors_is_what_it_was():
    """D-43-02, F-11.1-04: the same bytes and the same fingerprint; each part of a statement makes another one."""
    bare = a_contract(a_surface())
    assert bare.dimensions()["error_surfaces"] == [
        {"name": "ReadError", "when": REASONS[0], "surface": "exception"}
    ]
    assert bare.interface_fingerprint == BEFORE
    assert "Error classes" not in render_docstring(bare)
    parts: list[dict[str, object]] = [{}, {"base": "ValueError"}, {"base": "Exception"}, {"shared": SHARED}]
    assert len({a_contract(a_surface(**part)).interface_fingerprint for part in parts}) == 4


def test_only_the_first_surface_of_a_class_of_the_module_states_it():
    """D-43-02, D-S8.1-03: two statements could differ, and Python's own classes are as they are; a statement is a text like
    any other."""
    for name, text in {"base": "ValueError", "shared": SHARED}.items():
        part: dict[str, object] = {name: text}
        (late,) = problems(a_contract(a_surface(), a_surface(1, **part)))
        assert late.startswith(f"error_surfaces.1.{name}: ReadError is stated once")
        for other in ({"name": "KeyError"}, {"name": "E_READ", "surface": "code"}):
            (problem,) = problems(a_contract(a_surface(**part, **other)))
            assert problem.startswith(f"error_surfaces.0.{name}: only an exception of the module's own")
    for text in ("TBD", "two\nlines", "``` code"):
        assert problems(a_contract(a_surface(shared=text)))[0].startswith("error_surfaces.0.shared")


def test_what_all_surfaces_repeat_is_said_once_in_normal_form():
    """D-43-02: nine times the same is one statement; what differs is left for the planner."""
    fields = [ErrorField(name="place", type="int")]
    repeated = a_contract(
        *(a_surface(n, base="ValueError", shared=f" {SHARED}", fields=fields) for n in range(9))
    )
    once = normalise(repeated)
    assert problems(once) == []
    assert once.error_surfaces == [STATED.model_copy(update={"fields": fields}), *NINE.error_surfaces[1:]]
    assert (
        normalise(a_contract(a_surface(), a_surface(1, base="ValueError"))).error_surfaces[0].base
        == "ValueError"
    )
    differing = a_contract(STATED, a_surface(1, base="LookupError"))
    assert normalise(differing) == differing
    builtin = a_contract(a_surface(name="KeyError"), a_surface(1, name="KeyError", shared=SHARED))
    assert normalise(builtin) == builtin


def test_what_holds_for_all_surfaces_is_an_obligation_once():
    """D-43-02: a test shows it; the base is read from the class, or from words where none is stated."""
    found = [one for one in obligations(NINE) if one.kind == "error class"]
    assert [(one.pointer, one.sentence) for one in found] == [
        ("/error_surfaces/0/shared", f"ReadError: {SHARED}")
    ]
    words = "ReadError is a LookupError: nothing is found"
    assert base_of(a_contract(a_surface(when=words)), "ReadError") == "LookupError"
    assert base_of(a_contract(a_surface(when=words, base="ValueError")), "ReadError") == "ValueError"


CHANGES: list[tuple[dict[str, str], dict[str, str], Bump]] = [
    ({}, {"base": "ValueError"}, Bump.MINOR),
    ({}, {"shared": SHARED}, Bump.MINOR),
    ({"base": "ValueError"}, {}, Bump.MAJOR),
    ({"base": "ValueError"}, {"base": "LookupError"}, Bump.MAJOR),
    ({"shared": SHARED}, {}, Bump.MAJOR),
    ({"shared": SHARED}, {"shared": "its message is empty"}, Bump.MAJOR),
]


def test_a_changed_statement_breaks_those_who_rely_on_it():
    """F-7-05, D-43-02: what is stated anew breaks nobody."""
    for before, after, bump in CHANGES:
        old, new = a_contract(a_surface(**before)), a_contract(a_surface(**after))
        assert compare_contracts(old, new).bump is bump
        assert contract_changes(old, new)


def test_a_class_with_another_base_is_another_class():
    """D-21-03: a module imports an error from a dependency unless it says something else of it."""
    theirs = a_contract(STATED, name="scan_text")
    for part, imported in (({}, True), ({"base": "ValueError"}, True), ({"base": "LookupError"}, False)):
        found = imported_classes(a_contract(a_surface(**part)), [theirs])
        assert found == ({"ReadError": "scan_text"} if imported else {})


def test_a_record_of_a_surface_has_no_empty_parts():
    """F-11.1-01: what is not stated stands nowhere."""
    assert isinstance(STATED, Record)
    assert [*STATED.to_json()] == ["name", "when", "surface", "base", "shared"]
    assert [*a_surface().to_json()] == ["name", "when", "surface"]
