"""How a contract says what the module's own classes are made of."""

from ship_gate.contract.class_statement import ClassStatement, Field, parse_statement
from ship_gate.contract.contract import Dependency, Input, MicroModuleContract, Modes, Output
from ship_gate.contract.rules import normalise, problems

RECEIPT = "Receipt is a frozen dataclass: total: Decimal, note: str = ''"
ROW = "Row is a TypedDict: receipt: Receipt"
MODE = "Mode is an Enum: OPEN='open', SHUT='shut'"


def a_contract(inputs=(), outputs=(("int",),), dependencies=()):
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


JSON = "JSON is a type: None | bool | int | float | str | list[JSON] | dict[str, JSON]"
SPAN = "Span is a NamedTuple: start: int, end: int = 0"
DAYS = "Days is a frozen dataclass: first: int, note: str = '; raises: X'; properties: last: int; raises: E, OddError"


def test_a_statement_is_read_and_written_without_loss():
    """D-S8-22: dataclasses, TypedDicts and Enums."""
    for text in (RECEIPT, ROW, MODE, "Level is an IntEnum: LOW=1", JSON, SPAN, DAYS):
        statement = parse_statement(text)
        assert statement is not None, text
        assert (statement.render(), statement.problems()) == (text, [])


def test_a_statement_tells_fields_with_types_and_defaults():
    """D-S8.1-05: the fields are part of the surface."""
    fields = (Field("total", "Decimal"), Field("note", "str", "''"))
    assert parse_statement(RECEIPT) == ClassStatement("Receipt", "frozen dataclass", fields)
    assert parse_statement(RECEIPT.replace("frozen ", "")) == parse_statement(RECEIPT)  # there is no other


UNREADABLE = [
    "Receipt is a frozen dataclass: total",
    "Receipt is a frozen dataclass: *total: int",
    "Receipt is a frozen dataclass: total: int): ...\nimport os\ndef g(",
    "Row is a TypedDict: a: int = 1",
    "Mode is an Enum: OPEN",
    "Mode is an Enum: **x",
    "JSON is a type: int |",
    "Span is a NamedTuple: start",
    "Days is a frozen dataclass: first: int; raises: ",
    "Days is a frozen dataclass: first: int; raises: OddError; properties: last: int",
    "Days is a frozen dataclass: first: int; properties: last: int = 1",
    "Days is a frozen dataclass: first: int; properties: last: int; properties: x: int",
    "Days is a frozen dataclass: first: int; checked",
    "Span is a NamedTuple: start: int; raises: OddError",
]


def test_a_statement_that_cannot_be_read_is_none():
    """D-S8-22: nothing is guessed."""
    assert [text for text in UNREADABLE if parse_statement(text) is not None] == []


def test_statements_stand_where_their_class_is_named_first():
    """D-S8-22: an input's before its default, those of a class's fields after it."""
    sound = a_contract(
        inputs=[("list[Mode]", "sorted", MODE, "defaults to ()")],
        outputs=[("Row", "complete", ROW, RECEIPT), ("Mode",)],
    )
    assert problems(sound) == []


def test_a_statement_in_another_place_is_refused():
    """D-S8-22: there is one place for each, or reading could not give it back."""
    for contract in (
        a_contract(outputs=[("Receipt", RECEIPT, "paid")]),
        a_contract(inputs=[("Receipt",)], outputs=[("Receipt", RECEIPT)]),
        a_contract(inputs=[("Receipt", RECEIPT)], outputs=[("Receipt", RECEIPT)]),
        a_contract(outputs=[("str", RECEIPT)]),
        a_contract(outputs=[("Row", RECEIPT, ROW)]),
    ):
        assert any("named first here" in problem for problem in problems(contract)), contract


def test_a_statement_that_does_not_cross_the_boundary_is_refused():
    """D-S8.1-05: fields are bound by the same rules as inputs."""
    for field in ("total: Any", "total: int = []", "_total: int", "total:int"):
        assert problems(a_contract(outputs=[("Receipt", f"Receipt is a frozen dataclass: {field}")])), field
    assert problems(a_contract(outputs=[("Receipt", "Receipt is a TypedDict: total: int = 1")]))


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
    "Node is a type: None | int | list[Node] | dict[str, Node]",
    "Node is a type: str | tuple[Node, Node]",
    "Node is a NamedTuple: value: int, rest: Node | None",
]
ENDLESS = [
    "Node is a frozen dataclass: inner: Node",
    "Node is a TypedDict: name: str, inner: tuple[int, Node]",
    "Node is a frozen dataclass: pair: tuple[Node, Node] | Node",
    "Node is a type: tuple[int, Node]",
    "Node is a type: Node",
]


def test_a_class_may_be_within_itself_if_its_values_end():
    """D-S8.1-05: trees, lists and outlines; nothing could be given of the others."""
    assert [problems(a_contract(inputs=[("Node", text)])) for text in ENDING] == [[]] * len(ENDING)
    for text in ENDLESS:
        (problem,) = problems(a_contract(inputs=[("Node", text)]))
        assert "none ever ends" in problem


def test_a_named_type_is_no_alternative_of_another_or_itself():
    """D-43-03: in a list it may be; of itself it would say nothing."""
    texts = ["Node is a type: int | Leaf", "Leaf is a type: str | list[Node]"]
    (problem,) = problems(a_contract(inputs=[("Node", *texts)]))
    assert problem == "Node: Leaf is a named type too; write what it stands for, or hold it in a list"
    texts[0] = "Node is a type: int | list[Leaf]"
    assert problems(a_contract(inputs=[("Node", *texts)])) == []
    for text in ("Node | list[Node]", "int | Node", "list[Node] | Node | None"):
        (problem,) = problems(a_contract(inputs=[("Node", f"Node is a type: {text}")]))
        assert problem == "Node: Node is one of its own alternatives, which says nothing; leave it out"


def test_fields_and_named_types_are_written_in_their_plainest_form():
    """D-43-03, D-S8.1-05: as the types of inputs are."""
    record = "Node is a frozen dataclass: value: {}, children: {} = ()"
    for name, text, plain in (
        (
            "JSON",
            "JSON is a type: Optional[Union[int, List['JSON']]]",
            "JSON is a type: int | list[JSON] | None",
        ),
        ("Node", record.format("Optional[int]", "List['Node']"), record.format("int | None", "list[Node]")),
    ):
        contract = normalise(a_contract(inputs=[(name, text)]))
        assert contract.inputs[0].constraints == [plain]
        assert problems(contract) == []


def test_a_check_and_properties_are_parts_of_a_statement_by_name():
    """D-43-07: in alphabetical order, whatever order they are written in; a default may hold the same words."""
    found = parse_statement(
        "Days is a frozen dataclass: first: int, note: str = '; raises: X'; properties: z: int, a: str; raises: OddError, E"
    )
    assert found is not None
    assert found.fields == (Field("first", "int"), Field("note", "str", "'; raises: X'"))
    assert (found.properties, found.raises) == ((Field("a", "str"), Field("z", "int")), ("E", "OddError"))


def test_a_check_says_when_it_refuses_and_properties_come_to_an_end():
    """D-43-07: what a class raises is an error surface; a property is plain."""
    for part, said in (
        ("raises: OddError", "no error surface says when"),
        ("properties: first: int", "is a field and a property"),
        ("properties: next: Days", "no end of them is in sight"),
        ("properties: last: object", "says nothing about the value"),
        ("properties: _last: int", "public fields only"),
    ):
        statement = f"Days is a frozen dataclass: first: int; {part}"
        (problem,) = problems(a_contract(inputs=[("Days", statement)]))
        assert said in problem
