"""A contract that asks for what no module can do is refused when it is locked (design: contracts)."""

import pytest

from ship_gate.contract.contract import ErrorSurface, Input, MicroModuleContract, Modes, Output
from ship_gate.contract.rules import DEFINITIONS, normalise, problems

ERRORS = [
    ErrorSurface(name=name, when=f"{name} is due", surface="exception") for name in ("KeyError", "OSError")
]
CODE = ErrorSurface(name="NO_ROW", when="no row is there", surface="code")


def a_contract(
    taken: str, given: str = "str", *said: str, errors: int = 0, **changes: object
) -> MicroModuleContract:
    """A contract of an input and an output, with statements of the input."""
    contract = MicroModuleContract(
        module_id="MM-00000001",
        name="read_rows",
        purpose="Read rows from what is given.",
        inputs=[Input(name="taken", type=taken, constraints=list(said))] if taken else [],
        outputs=[Output(name="given", type=given)] if given else [],
        error_surfaces=ERRORS[:errors],
        effects=[],
        modes=Modes(sync=True, async_=False),
    )
    return contract.model_copy(update=changes)


POINT = "Point is a frozen dataclass: x: int, y: int | None"
PATH = "Route is a frozen dataclass: points: list[int]"
SIDE = "Side is an Enum: LEFT='left', RIGHT='right'"
TREE = "Tree is a type: int | list[Tree]"


@pytest.mark.parametrize(
    ("hashed", "said"),
    [("list[int]", ()), ("dict[str, int]", ()), ("set[int]", ()), ("bytearray", ()), ("list", ()),
     ("tuple[int, list[int]]", ()), ("Route", (PATH,)), ("Row", ("Row is a TypedDict: x: int",)),
     ("Cell", ("Cell is a NamedTuple: x: int, y: list[int]",)),
     ("Items", ("Items is a type: list[Items] | dict[str, int]",)), ("list[int] | dict[str, int]", ())],
)  # fmt: skip
@pytest.mark.parametrize(
    "container", ["set[{}]", "list[frozenset[{}]]", "dict[{}, int] | None", "tuple[set[{}], ...]"]
)
def test_a_set_of_what_cannot_be_hashed_is_refused(hashed: str, said: tuple[str, ...], container: str):
    """D-43-09: it holds nothing, whatever is put in; wherever it stands."""
    (problem,) = problems(a_contract(container.format(hashed), "str", *said))
    assert problem.startswith("inputs.0.type: ")
    assert "cannot be hashed, so that a " in problem


@pytest.mark.parametrize(
    ("hashed", "said"),
    [("int", ()), ("tuple[int, str]", ()), ("tuple[list[int], ...]", ()), ("frozenset[int]", ()), ("int | list[int]", ()),
     ("Point", (POINT,)), ("Side", (SIDE,)), ("Tree", (TREE,)), ("Path", ()), ("re.Pattern[str]", ())],
)  # fmt: skip
def test_a_set_of_what_can_be_hashed_is_sound(hashed: str, said: tuple[str, ...]):
    """D-43-09: also where some of its values can."""
    assert problems(a_contract(f"dict[{hashed}, list[int]] | set[{hashed}]", "str", *said)) == []


def test_what_is_hashed_within_a_class_and_an_error_is_looked_at():
    """D-43-09: by the place where it is stated."""
    (problem,) = problems(a_contract("Bag", "str", "Bag is a frozen dataclass: items: set[list[int]]"))
    assert problem.startswith("Bag.items: list[int] cannot be hashed")
    error = ErrorSurface(
        name="RowError",
        when="a row is lost",
        surface="exception",
        fields=[{"name": "rows", "type": "set[dict]"}],
    )
    (problem,) = problems(a_contract("str", error_surfaces=[error]))
    assert problem.startswith("error_surfaces.0.fields.0: dict cannot be hashed")


@pytest.mark.parametrize(
    ("statement", "said"),
    [("Side is an IntEnum: LEFT='left'", "Side.LEFT: 'left' is no member of an IntEnum; write a whole number"),
     ("Side is an IntEnum: LEFT=True", "Side.LEFT: True is no member of an IntEnum"),
     ("Side is a StrEnum: LEFT=1", "Side.LEFT: 1 is no member of a"), ("Side is an Enum: mro='x'", "Side.mro: Python"),
     ("Side is an Enum: LEFT=1, RIGHT='x'", ""), ("Side is an IntEnum: LEFT=-1", ""), ("Side is a StrEnum: LEFT=''", "")],
)  # fmt: skip
def test_a_member_is_of_the_kind_of_its_enum(statement: str, said: str):
    """D-43-09: Python cannot make the class otherwise."""
    found = problems(a_contract("Side", "str", statement.replace("is an StrEnum", "is a StrEnum")))
    assert [problem[: len(said)] for problem in found] == ([said] if said else [])


def test_a_function_has_an_input_on_which_its_errors_depend():
    """D-43-09: without effects its arguments alone decide."""
    for taken, errors in (("", 1), ("", 2), ("", 0), ("bool", 2)):
        found = problems(a_contract(taken, "str", errors=errors))
        assert [problem.split(":")[0] for problem in found] == ["error_surfaces"] * bool(errors and not taken)
    effect = {"type": "CALL", "target": "the clock", "description": "the time is read"}
    told = a_contract("", "str", errors=2).to_json() | {"effects": [effect]}
    assert problems(MicroModuleContract.model_validate(told)) == []


def test_definitions_need_no_input():
    """D-43-09: they are not called."""
    modes = Modes(sync=True, async_=False, notes=DEFINITIONS)
    assert problems(a_contract("", "", errors=2, modes=modes)) == []


def giving(given: str, said: str, **changes: object) -> MicroModuleContract:
    """A contract of this output, with a statement of it."""
    contract = a_contract("int", given, **changes)
    stated = [Output(name="given", type=given, invariants=[said])] if said else contract.outputs
    return contract.model_copy(update={"outputs": stated})


def test_an_output_can_say_each_code():
    """D-43-09: else it never comes back, and no test could show it; `404` is one."""
    for given, said, can in (
        ("str", "", True), ("dict", "", True), ("list[Path]", "", True), ("Literal['NO_ROW', 'ROW']", "", True),
        ("Side", "Side is an Enum: A='NO_ROW', B='b'", True), ("Row", "Row is a TypedDict: x: str", True),
        ("dict[str, int]", "", True), ("int", "", False), ("list[int]", "", False), ("dict[int, bool]", "", False),
        ("Literal['ROW', 'LINE']", "", False), ("", "", False),
        ("Side", "Side is an Enum: A='a', B='b'", False), ("Row", "Row is a TypedDict: x: list[bytes]", False),
    ):  # fmt: skip
        found = problems(giving(given, said, error_surfaces=[CODE]))
        assert found == [] if can else "say 'NO_ROW'; add it to an output" in found[-1], (given, said)
    code = CODE.model_copy(update={"name": "404"})
    assert problems(a_contract("int", "int", error_surfaces=[code])) == []
    assert problems(a_contract("int", "bool", error_surfaces=[code])) != []


def test_something_comes_of_a_call():
    """D-43-09: no test could show it otherwise; an error, or an effect, is something to show."""
    for given, said, differs in (("", "", False), ("bool", "", True), ("str", "", True)):
        contract = giving(given, said)
        found = problems(normalise(contract))
        assert found == [] if differs else found[0].startswith("outputs: nothing comes of a call"), given
        assert problems(normalise(contract.model_copy(update={"error_surfaces": ERRORS}))) == []
