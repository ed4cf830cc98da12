"""What a contract says, statement by statement, and the pointers that cite it."""

import pytest

from ship_gate import MicroModuleContract, Statement, statements
from ship_gate.contract.contract import (
    MISSING,
    Dependency,
    Effect,
    ErrorField,
    ErrorSurface,
    Input,
    Modes,
    Output,
)
from ship_gate.contract.statements import StatementKind

READ_ERROR = ErrorSurface(
    name="ReadError",
    when="text holds no number",
    surface="exception",
    base="ValueError",
    shared="its message ends with the place",
    fields=[ErrorField(name="place", type="int")],
)
CONTRACT = MicroModuleContract(
    module_id="MM-00000001",
    name="save",
    purpose="Save a number.",
    inputs=[
        Input(name="target", type="Path"),
        Input(name="text", type="str", constraints=["holds a digit", "defaults to '0'"]),
    ],
    outputs=[Output(name="size", type="int", invariants=["positive"])],
    error_surfaces=[READ_ERROR, ErrorSurface(name="E_CUT", when="it was cut", surface="code")],
    effects=[Effect(type="WRITE", target="target", description="the number")],
    modes=Modes(sync=True, async_=True, notes="the same result"),
    error_cases=["an empty text"],
    dependencies=[Dependency(ref="MM-00000002@1.0.0", why="It reads.")],
)
NOTHING = CONTRACT.model_copy(
    update={"outputs": [], "error_surfaces": [], "effects": [], "error_cases": [], "dependencies": []}
)
TABLE = """
/purpose | purpose | Save a number.
/inputs/0 | input | target: Path
/inputs/1 | input | text: str
/inputs/1/constraints/0 | input constraint | text: holds a digit
/inputs/1/constraints/1 | input constraint | text: defaults to '0'
/outputs/0 | output | size: int
/outputs/0/invariants/0 | output invariant | size: positive
/error_surfaces/0 | error surface | ReadError: text holds no number
/error_surfaces/0/base | error base | ReadError: ValueError
/error_surfaces/0/shared | error class | ReadError: its message ends with the place
/error_surfaces/0/fields/0 | error field | ReadError.place: int
/error_surfaces/1 | error surface | E_CUT: it was cut
/effects/0 | effect | WRITE target: the number
/modes | modes | sync and async (the same result)
/error_cases/0 | error case | an empty text
/dependencies/0 | dependency | MM-00000002@1.0.0: It reads.
"""


def test_each_statement_has_its_pointer_its_kind_and_its_words():
    """F-5-08, D-43-02: in the order of the contract, and nothing twice."""
    rows = [tuple(line.split(" | ")) for line in TABLE.strip().splitlines()]
    assert [(one.pointer, one.kind, one.sentence) for one in statements(CONTRACT)] == rows
    told = {one.kind for contract in (CONTRACT, NOTHING) for one in statements(contract)}
    assert told | {StatementKind.HAPPY_PATH} == {*StatementKind}


@pytest.mark.parametrize("one", [*statements(CONTRACT), *statements(NOTHING)], ids=lambda one: one.pointer)
def test_each_pointer_leads_to_what_is_stated(one: Statement):
    """F-5-08: a claim, an amendment or a finding that names it is about something that is there."""
    contract = NOTHING if one.kind is StatementKind.NOTHING else CONTRACT
    value = contract.at(one.pointer)
    assert value is not MISSING
    if isinstance(value, str):
        assert value == one.text
    elif one.kind is StatementKind.NOTHING:
        assert value == []
    elif one.kind is not StatementKind.MODES:
        assert {one.name, *one.text.split(": ")} & {*map(str, value.values())}


def test_an_iterable_or_a_callable_may_raise_what_it_likes():
    """D-43-05: a contract without error surfaces says of which inputs this holds."""
    inputs = [Input(name="items", type="Iterable[int]"), Input(name="fold", type="Callable[[int], int]")]
    (said,) = (
        one
        for one in statements(NOTHING.model_copy(update={"inputs": inputs}))
        if one.pointer == "/error_surfaces"
    )
    assert said.text == "none: it raises only what items and fold raises"
