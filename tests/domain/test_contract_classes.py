"""How a contract says what the module's own classes are made of."""

import pytest

from specwright.domain.contract.class_statement import ClassStatement, Field, parse_statement
from specwright.domain.contract.contract import Dependency, Input, MicroModuleContract, Modes, Output
from specwright.domain.contract.normal_form import normalise
from specwright.domain.contract.rules import problems

RECEIPT = "Receipt is a frozen dataclass: total: Decimal, note: str = ''"
ROW = "Row is a TypedDict: receipt: Receipt"
MODE = "Mode is an Enum: OPEN='open', SHUT='shut'"


def a_contract(inputs=(), outputs=(), dependencies=()):
    """A contract for these tests."""
    return MicroModuleContract(
        module_id="MM-00000001",
        name="bill",
        purpose="Write a bill.",
        inputs=[Input(name=f"i{n}", type=t, constraints=list(c)) for n, (t, *c) in enumerate(inputs)],
        outputs=[Output(name=f"o{n}", type=t, invariants=list(c)) for n, (t, *c) in enumerate(outputs)],
        error_surfaces=[],
        effects=[],
        modes=Modes(sync=True, async_=False),
        dependencies=[Dependency(ref=ref, why="Its records are billed.") for ref in dependencies],
    )


@pytest.mark.parametrize("text", [RECEIPT, ROW, MODE, "Level is an IntEnum: LOW=1"])
def test_a_statement_is_read_and_written_without_loss(text):
    """D-S8-22: dataclasses, TypedDicts and Enums."""
    statement = parse_statement(text)
    assert statement is not None
    assert statement.render() == text
    assert statement.problems() == []


def test_a_statement_tells_fields_with_types_and_defaults():
    """D-S8.1-05: the fields are part of the surface."""
    fields = (Field("total", "Decimal"), Field("note", "str", "''"))
    assert parse_statement(RECEIPT) == ClassStatement("Receipt", "frozen dataclass", fields)


@pytest.mark.parametrize(
    "text",
    [
        "Receipt is a frozen dataclass: total",
        "Receipt is a frozen dataclass: *total: int",
        "Receipt is a frozen dataclass: total: int): ...\nimport os\ndef g(",
        "Row is a TypedDict: a: int = 1",
        "Mode is an Enum: OPEN",
        "Mode is an Enum: **x",
    ],
)
def test_a_statement_that_cannot_be_read_is_none(text):
    """D-S8-22: nothing is guessed."""
    assert parse_statement(text) is None


def test_statements_stand_where_their_class_is_named_first():
    """D-S8-22: an input's before its default, those of a class's fields after it."""
    sound = a_contract(
        inputs=[("list[Mode]", "sorted", MODE, "defaults to ()")],
        outputs=[("Row", "complete", ROW, RECEIPT), ("Mode",)],
    )
    assert problems(sound) == []


@pytest.mark.parametrize(
    "contract",
    [
        a_contract(outputs=[("Receipt", RECEIPT, "paid")]),
        a_contract(inputs=[("Receipt",)], outputs=[("Receipt", RECEIPT)]),
        a_contract(inputs=[("Receipt", RECEIPT)], outputs=[("Receipt", RECEIPT)]),
        a_contract(outputs=[("str", RECEIPT)]),
        a_contract(outputs=[("Row", RECEIPT, ROW)]),
    ],
)
def test_a_statement_in_another_place_is_refused(contract):
    """D-S8-22: there is one place for each, or reading could not give it back."""
    assert any("named first here" in problem for problem in problems(contract))


@pytest.mark.parametrize(
    "text",
    [
        "Receipt is a frozen dataclass: total: Any",
        "Receipt is a frozen dataclass: total: int = []",
        "Receipt is a frozen dataclass: _total: int",
        "Receipt is a frozen dataclass: total:int",
        "Receipt is a TypedDict: total: int = 1",
    ],
)
def test_a_statement_that_does_not_cross_the_boundary_is_refused(text):
    """D-S8.1-05: fields are bound by the same rules as inputs."""
    assert problems(a_contract(outputs=[("Receipt", text)]))


def test_a_class_without_a_statement_is_a_dependency_s():
    """D-S8-22: its fields belong to the surface of the module that exports it; without one nobody says what it is."""
    assert problems(a_contract(outputs=[("Receipt",)], dependencies=["MM-00000002@1.0.0"])) == []
    (problem,) = problems(a_contract(outputs=[("Receipt",)]))
    assert problem.startswith("outputs.0.invariants: nothing says what Receipt is; state it")
    (problem,) = problems(a_contract(outputs=[("Row", ROW)]))
    assert problem.startswith("Row: nothing says what its Receipt is")


ENDING = [
    "Node is a frozen dataclass: value: int, children: list[Node]",
    "Node is a frozen dataclass: value: int, next: Node | None",
    "Node is a frozen dataclass: parts: tuple[Node, ...]",
    "Node is a TypedDict: name: str, inner: dict[str, Node]",
    "Node is a frozen dataclass: either: int | tuple[Node, Node]",
]
ENDLESS = [
    "Node is a frozen dataclass: inner: Node",
    "Node is a TypedDict: name: str, inner: tuple[int, Node]",
    "Node is a frozen dataclass: pair: tuple[Node, Node] | Node",
]


@pytest.mark.parametrize("text", ENDING)
def test_a_class_may_be_within_itself(text):
    """D-S8.1-05: trees, lists and outlines."""
    assert problems(a_contract(inputs=[("Node", text)])) == []


@pytest.mark.parametrize("text", ENDLESS)
def test_a_class_of_which_no_value_ends_is_refused(text):
    """D-S8.1-05: nothing could be given."""
    (problem,) = problems(a_contract(inputs=[("Node", text)]))
    assert "none ever ends" in problem


def test_fields_are_written_in_their_plainest_form():
    """D-S8.1-05: as the types of inputs are."""
    text = "Node is a frozen dataclass: value: Optional[int], children: List['Node'] = ()"
    contract = normalise(a_contract(inputs=[("Node", text)]))
    plain = "Node is a frozen dataclass: value: int | None, children: list[Node] = ()"
    assert contract.inputs[0].constraints == [plain]
    assert problems(contract) == []
