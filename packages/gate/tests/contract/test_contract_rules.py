"""What a contract may say when it is locked."""

import json

import pytest

from ship_gate.contract.contract import (
    Dependency,
    Effect,
    EffectType,
    ErrorField,
    ErrorSurface,
    Input,
    MicroModuleContract,
    Modes,
    Output,
    SurfaceKind,
)
from ship_gate.contract.rules import normalise, problems
from ship_gate.contract.types import literal_problem
from ship_gate.errors import InputError


def a_contract(**changes):
    """A contract without problems, with changes."""
    base = {
        "module_id": "MM-00000001",
        "name": "slugify",
        "purpose": "Turn a title into a URL slug.",
        "inputs": [Input(name="text", type="str", constraints=["non-empty"])],
        "outputs": [Output(name="slug", type="str", invariants=["matches [a-z0-9-]+"])],
        "error_surfaces": [
            ErrorSurface(name="ValueError", when="text is empty", surface=SurfaceKind.EXCEPTION)
        ],
        "effects": [],
        "modes": Modes(sync=True, async_=False),
    }
    return MicroModuleContract(**{**base, **changes})


def an_input(type_="str", *constraints, name="text"):
    """A contract with one input."""
    return a_contract(inputs=[Input(name=name, type=type_, constraints=list(constraints))])


def an_effect(kind, target):
    """A contract with one effect."""
    return a_contract(effects=[Effect(type=kind, target=target, description="as it says")])


def an_error(name, kind=SurfaceKind.EXCEPTION, when="it fails"):
    """A contract with one error surface."""
    return a_contract(error_surfaces=[ErrorSurface(name=name, when=when, surface=kind)])


TYPES = [
    "None | str",
    "bool",
    "dict",
    "list",
    "dict[str, list[int]]",
    "set[date]",
    "frozenset[UUID]",
    "tuple[int, str]",
    "tuple[int, ...]",
    "tuple[()]",
    "Literal['a', -1, None, True, b'x']",
    "Decimal | datetime | time | timedelta | Path | bytes | float",
    "Fraction | ZoneInfo | complex | bytearray",
    "IPv4Address | IPv6Address | IPv4Network | IPv6Network",
    "re.Pattern[str] | re.Pattern[bytes]",
    "Mapping[str, Sequence[int]]",
    "Collection[Collection[str]]",
    "Callable[[], None]",
    "Callable[[str, list[int]], Decimal | None] | None",
    "T",
    "dict[T, list[T | None]]",
    "Callable[[], T]",
]


DEFAULTS = ["Decimal('0.5')", "date(2024, 1, 31)", "Path('a/b')", "()", "frozenset()", "frozenset({'a'})",
            "timedelta(days=7)", "ZoneInfo('UTC')", "(Fraction(1, 2), None)", "Mode.OPEN", "UUID(int=1)"]  # fmt: skip
DEPENDENCY = Dependency(ref="MM-0000000a@1.0.0", why="It exports Mode.")
LITERALS = ["None", "True", "-1", "1.5", "'a  b'", "b'x'", "()", "(1, (2,))", "'\\n'"]
ODD_TEXTS = ["é€漢字", "👨\u200d👩\u200d👧", "- a: b", "Args:", '"""', "a \\ b", "```".join("ab")]
ERRORS = ["ValueError", "OSError", "TabError", "LedgerError", "NoSuchTab"]
EFFECTS = [
    (EffectType.WRITE, "target"),
    (EffectType.CALL, "the clock"),
    (EffectType.CALL, "os.environ['HOME']"),
    (EffectType.MUTATION, "os.environ['HOME']"),
    (EffectType.MUTATION, "the working directory"),
]
LOCKED = {
    "the example of §8.1": a_contract(),
    **{type_: an_input(type_).model_copy(update={"error_surfaces": []}) for type_ in TYPES},
    **{
        f"by default {default}": an_input("Mode", f"defaults to {default}", name="a").model_copy(
            update={"dependencies": [DEPENDENCY]}
        )
        for default in DEFAULTS
    },
    **{f"by default {text}": an_input("str", "non-empty", f"defaults to {text}") for text in LITERALS},
    "nothing by default": an_input("T | None", "defaults to None"),
    "no item by default": an_input("Sequence[T]", "defaults to ()"),
    **{text: an_input("str", text) for text in ODD_TEXTS},
    **{f"{kind} {target}": an_effect(kind, target) for kind, target in EFFECTS},
    **{name: an_error(name) for name in ERRORS},
    **{code: an_error(code, SurfaceKind.CODE) for code in ("E_EMPTY", "404")},
}


def test_a_sound_contract_can_be_locked():
    """D-S8.1-01, D-S8.1-02, D-S8.1-04, D-S8.1-05, D-43-04, D-23-03, D-S8-19, D-S8-20: JSON types, the listed ones, classes
    by CamelCase names; values that no caller can change as defaults; texts that a docstring can carry; effects that tests
    can show; exceptions that are Python's or the module's own, and codes of one plain word."""
    assert {name: found for name, contract in LOCKED.items() if (found := problems(contract))} == {}


REFUSED_TYPES = {
    "T[int]": "no type parameters",
    "Any": "says nothing",
    "object": "says nothing",
    "Callable": "lacks its types; write Callable",
    "Callable[..., int]": "names the types that it is called with",
    "Callable[[Any], int]": "says nothing",
    "Callable[[Iterator[int]], int]": "for a whole parameter or the whole result",
    "Callable[[int], Callable[[int], int]]": "for a whole parameter alone",
    "list[Callable[[int], int]]": "for a whole parameter alone",
    "list[Iterable[int]]": "for a whole parameter or the whole result; write list[...]",
    "Iterable[int] | int": "for a whole parameter or the whole result",
    "Iterator": "lacks its elements",
    "Iterator[int, str]": "takes 1",
    "AsyncIterator[int]": "does not cross",
    "Sequence": "lacks its elements",
    "Pattern[str]": "no type parameters",
    "re.Pattern": "write re.Pattern[str]",
    "re.Pattern[int]": "not a type of the boundary",
    "Fraction[int]": "no type parameters",
    "Optional[int]": "write 'int | None'",
    "Union[int, str]": "write 'int | str'",
    "Mapping": "lacks its elements",
    "Mapping[str]": "takes 2",
    "MutableMapping[str, int]": "does not cross",
    "ValueError": "does not cross",
    "my_type": "does not cross",
    "list[Any]": "says nothing",
    "decimal.Decimal": "write the bare name 'Decimal'",
    "tuple": "lacks its elements",
    "set": "lacks its elements",
    "dict[str]": "takes 2",
    "list[int, str]": "takes 1",
    "str[int]": "no type parameters",
    "Receipt[int]": "no type parameters",
    "Literal[1.5]": "no literal",
    "Literal[x]": "no literal",
    "[int]": "not a type of the boundary",
    "'int'": "not a type of the boundary",
    "int if x else str": "not a type of the boundary",
    "dict[str,int]": "write 'dict[str, int]'",
    "int |": "not a Python expression",
    "": "not a Python expression",
    "list[" * 90 + "int" + "]" * 90: "longer than 500",
    "-" * 400 + "x": "not a Python expression",
    "x" + ".a" * 400 + "[int]": "longer than 500",
}


NO_CONSTANTS = ["x", "[]", "{}", "f()", "1e999", "bytearray()", "list()", "set()", "date.today()", "Mode._x",
                "datetime.now", "open('a')", "Decimal(x)", "Decimal([1])", "UUID(**{})", "mode.OPEN",
                "re.compile('a')"]  # fmt: skip


@pytest.mark.timeout(20)
def test_a_default_that_would_take_for_ever_to_make_is_not_made():
    """D-43-09: who writes contracts may be hostile, and they are looked at outside the sandbox."""
    for value in ("'1e999999999'", "Decimal('1e999999999')"):
        assert literal_problem(f"Fraction({value})") == ""


REFUSED_DEFAULTS = {
    **{f"defaults to {value}": "is no immutable literal" for value in NO_CONSTANTS},
    **{
        f"defaults to {value}": "is no value: "
        for value in ("date(2026, 2, 30)", "Decimal('x')", "timedelta(days=10000000000)", "(1, UUID('x'))")
    },
    'defaults to "a"': "write \"'a'\"",
    "defaults to": "is no default",
    "Defaults to 3": "is no default",
}
OF_ONE_TYPE = "is of one type, where T is of the caller's; write `T | None`, defaults to None"
NAMED = "'T' stands for a type in the inputs and outputs of a function alone; name the type"
BOX = "Box is a frozen dataclass: inner: T"
OF_ANY = ErrorSurface(
    name="BoxError", when="no", surface="exception", fields=[ErrorField(name="at", type="T")]
)
REFUSED = {
    **{type_: (an_input(type_), "inputs.0.type", advice) for type_, advice in REFUSED_TYPES.items()},
    **{
        f"a result of {type_}": (
            a_contract(outputs=[Output(name="found", type=type_)]), "", "is for parameters alone; write"
        )
        for type_ in ("Sequence[int]", "list[Mapping[str, int]]")
    },
    "an output of nothing": (
        a_contract(outputs=[Output(name="nothing", type="None")]), "outputs.0.type", "None is no output"
    ),
    "a class that holds any type": (an_input("tuple[Box, T]", BOX), "", NAMED),
    "an error that holds any type": (
        an_input("T").model_copy(update={"error_surfaces": [OF_ANY]}),
        "error_surfaces.0.fields.0",
        "'T' stands for a type in the inputs",
    ),
    **{
        f"any type, by default {default}": (an_input("T | None", f"defaults to {default}"), "", OF_ONE_TYPE)
        for default in ("0", "'a'", "(1,)")
    },
    **{
        text: (an_input("str", text), "inputs.0.constraints.0", advice)
        for text, advice in REFUSED_DEFAULTS.items()
    },
    "a default that is not last": (
        an_input("str", "defaults to 'a'", "non-empty"), "inputs.0.constraints.0", ""
    ),
    "no default behind one with": (
        a_contract(
            inputs=[
                Input(name="a", type="int", constraints=["defaults to 1"]), Input(name="b", type="int")
            ]
        ),
        "inputs.1",
        "'b' has no default; move it before 'a', which has",
    ),
    **{
        f"{what} called {name!r}": (contract, place, "")
        for name in ("class", "1st", "a b", "ﬁ", "", "__x", "a-b")
        for what, contract, place in (
            ("a parameter", an_input(name=name), "inputs.0.name"),
            ("an output", a_contract(outputs=[Output(name=name, type="str")]), "outputs.0.name"),
        )
    },
    "a name that stands twice": (
        a_contract(inputs=[Input(name="x", type="str"), Input(name="x", type="int")]),
        "inputs.1.name",
        "'x' is there already; give each its own name",
    ),
    **{f"a module called {name}": (a_contract(name=name), "name", "") for name in ("date", "list", "print")},
    "a backtick in a target": (an_effect(EffectType.WRITE, "a`b"), "effects.0.target", ""),
    **{
        name: (an_error(name), "", "tells the caller nothing")
        for name in (
            *("Exception", "BaseException", "ExceptionGroup", "KeyboardInterrupt"),
            *("NotImplementedError", "AssertionError"),
        )
    },
    **{
        f"the exception {name}": (an_error(name), "error_surfaces.0.name", "")
        for name in ("not_found", "a.B", "Decimal", "str", "E-1")
    },
    **{
        f"the code {name!r}": (an_error(name, SurfaceKind.CODE), "", "")
        for name in ("a b", "[x]")
    },
}  # fmt: skip


def test_what_cannot_be_locked_is_refused_at_its_place_with_advice():
    """D-S8-22, D-S8.1-01 to D-S8.1-05, D-21-01, D-23-03, D-43-04, D-S8-18, D-S8-19: types outside the boundary, names that
    are no identifiers or hide Python's, defaults that are no literals in normal form or not last, and errors that no caller
    could tell from any other."""
    wrong = {}
    for fault, (contract, place, advice) in REFUSED.items():
        found = problems(contract)
        if (
            len(found) != 1
            or not found[0].startswith(f"{place}: " if place else "")
            or advice not in found[0]
        ):
            wrong[fault] = found
    assert wrong == {}


def test_a_changed_argument_is_refused_with_the_advice_to_return_a_copy():
    """D-23-03: MUTATION of a parameter."""
    (problem,) = problems(an_effect(EffectType.MUTATION, "text, in place"))
    assert "does not change its arguments (text)" in problem
    assert "inject it as a value" in problem


PLAIN_TYPES = {
    "Optional[int]": "int | None",
    "typing.Optional[str | bytes]": "str | bytes | None",
    "Union[int, None]": "int | None",
    "list[Union[int, Optional[str]]]": "list[int | str | None]",
    "Dict[str, List['Node']]": "dict[str, list[Node]]",
    "datetime.date": "date",
    "datetime.datetime | decimal.Decimal": "datetime | Decimal",
    "typing.Literal['Optional[int]', 'x']": "Literal['Optional[int]', 'x']",
    "Tuple[int,...]": "tuple[int, ...]",
    "int": "int",
    "typing.Sequence[int]": "Sequence[int]",
    "collections.abc.Mapping[str, fractions.Fraction]": "Mapping[str, Fraction]",
    "typing.Pattern[str]": "re.Pattern[str]",
    "re.Pattern[bytes]": "re.Pattern[bytes]",
    "Optional[Pattern]": "Pattern | None",
    "list[Pattern]": "list[Pattern]",
    "Pattern[str]": "re.Pattern[str]",
    "ipaddress.IPv4Address": "IPv4Address",
}


def test_a_type_that_has_a_plainer_form_is_written_so():
    """D-S8.1-05: what everyday Python writes is repaired before a contract is locked."""
    assert {type_: normalise(an_input(type_)).inputs[0].type for type_ in PLAIN_TYPES} == PLAIN_TYPES


PLACEHOLDERS = ["TBD", "TODO: say which", "todo", "...", "<description>", "{what happens}", "n/a", "FIXME later",
                "<the limit>"]  # fmt: skip


def with_text(text):
    """A contract for each place of a text, by the path of the place."""
    surface, effect = a_contract().error_surfaces[0], Effect(type="WRITE", target="x", description="y")
    return {
        "inputs.0.constraints.0": an_input("str", text),
        "outputs.0.invariants.0": a_contract(outputs=[Output(name="slug", type="str", invariants=[text])]),
        "error_surfaces.0.when": a_contract(error_surfaces=[surface.model_copy(update={"when": text})]),
        "effects.0.target": a_contract(effects=[effect.model_copy(update={"target": text})]),
        "effects.0.description": a_contract(effects=[effect.model_copy(update={"description": text})]),
        "error_cases.0": a_contract(error_cases=[text]),
        "modes.notes": a_contract(modes=Modes(sync=True, async_=False, notes=text)),
        "purpose": a_contract().model_copy(update={"purpose": text}),
    }


def test_a_placeholder_cannot_be_locked():
    """D-S8-01: wherever it stands; nothing could show it."""
    found = {(text, at): problems(one) for text in PLACEHOLDERS for at, one in with_text(text).items()}
    assert {at: said for at, said in found.items() if len(said) != 1 or "placeholder" not in said[0]} == {}


def test_modes_are_booleans():
    """D-S8-01: a text that looks like one is refused when it is read."""
    for value in ("true", "yes", 1, "false", 1.0):
        whole = {**a_contract().to_json(), "modes": {"sync": value, "async": False}}
        with pytest.raises(InputError, match="sync"):
            MicroModuleContract.from_bytes(json.dumps(whole).encode(), "contract.json")


ITEMS = "Iterable[str]", "Iterator[str]", "Iterable[tuple[str, int]] | None"


@pytest.mark.parametrize("type_", ITEMS)
def test_an_iterable_goes_in_with_a_stated_bound(type_):
    """D-43-05: without one it is not locked; with two, or with a larger one than can be tried, neither."""
    bound = "takes at most 100 items"
    assert problems(an_input(type_, bound)) == []
    for stated in ([], ["at most 100 items"], ["yields at most 100 items"], [bound, "takes at most 1 item"]):
        (problem,) = problems(an_input(type_, *stated))
        assert problem.startswith("inputs.0.constraints: how many items it takes at most is not stated, once")
    (problem,) = problems(an_input(type_, "takes at most 100001 items"))
    assert "state 100000 at most" in problem
    assert "is not stated" in problems(an_input(type_, "takes at most 0 items"))[0]
    (problem,) = problems(an_input(type_, bound, "any number of arguments"))
    assert "stands alone" in problem


def test_an_iterator_comes_out_with_a_stated_bound():
    """D-43-05: alone, since the parts of a tuple are there at once."""
    found = Output(name="found", type="Iterator[int]", invariants=["yields at most 1 item"])
    assert problems(a_contract(outputs=[found])) == []
    (problem,) = problems(a_contract(outputs=[found.model_copy(update={"invariants": ["in order"]})]))
    assert problem.startswith("outputs.0.invariants: how many items it yields at most is not stated, once")
    (problem,) = problems(a_contract(outputs=[found, Output(name="count", type="int")]))
    assert problem.startswith("outputs.0.type: 'Iterator[int]' stands alone")
    (problem,) = problems(a_contract(outputs=[Output(name="found", type="Iterator[int] | None")]))
    assert "for a whole parameter or the whole result" in problem
    (problem,) = problems(a_contract(outputs=[Output(name="found", type="Callable[[], int]")]))
    assert "for a whole parameter alone" in problem


GENERIC = {
    "Callable[[T], int]": ("inputs: no input gives a value of T", "take a `T` or a container of it"),
    "Callable[[T], T]": (),
    "T": (),
    "int": ("inputs: no input gives a value of T", "or name the type"),
}


@pytest.mark.parametrize("type_", GENERIC)
def test_a_type_of_the_caller_s_is_given_before_it_comes_back(type_):
    """D-S8.1-05: by an input that holds a value of it, or is called for one."""
    contract = an_input(type_).model_copy(update={"outputs": [Output(name="found", type="list[T]")]})
    found = problems(contract)
    assert bool(found) == bool(GENERIC[type_])
    assert all(part in found[0] for part in GENERIC[type_])


KEYWORD, MANY = "passed by keyword only", "any number of arguments"


def inputs_of(*slots):
    """A contract with inputs of texts, each with its constraints."""
    return a_contract(
        inputs=[Input(name=name, type="str", constraints=list(texts)) for name, *texts in slots]
    )


def test_how_a_parameter_is_passed_stands_last_before_a_default():
    """Issue 22: keyword-only parameters and any number of arguments are constraints that the signature declares."""
    sound = inputs_of(
        ("a",), ("b", MANY), ("c", "not empty", KEYWORD), ("d", KEYWORD, "defaults to ''"), ("e", KEYWORD)
    )
    assert problems(sound) == []
    odd = inputs_of(("c", KEYWORD, "not empty"))
    assert problems(odd) == [
        "inputs.0.constraints: 'passed by keyword only' stands once, as the last, before a default"
    ]
    assert normalise(odd).inputs[0].constraints == ["not empty", KEYWORD]
    swapped = inputs_of(("c", "defaults to ''", KEYWORD))
    assert normalise(swapped).inputs[0].constraints == [KEYWORD, "defaults to ''"]


UNDECLARABLE = [
    ([("a", KEYWORD), ("b",)], "those by keyword last; write b, a"),
    ([("a", KEYWORD), ("b", MANY)], "write b, a"),
    ([("a", MANY), ("b",)], "write b, a"),
    ([("a", MANY), ("b", MANY)], "a and b both stand for any number"),
    ([("a", MANY, "defaults to ()")], "have no default"),
    ([("a", KEYWORD, MANY)], "stands once"),
]


def test_parameters_that_python_could_not_declare_are_refused():
    """Issue 22: one problem for each."""
    found = [(problems(inputs_of(*slots)), advice) for slots, advice in UNDECLARABLE]
    assert [(said, advice) for said, advice in found if not any(advice in one for one in said)] == []


def test_a_default_that_is_no_member_of_its_enum_is_refused():
    """D-43-04: where the Enum is stated."""
    stated = "Mode is an Enum: OPEN='open', AJAR='ajar'"
    assert problems(an_input("Mode", stated, "defaults to Mode.OPEN")) == []
    (problem,) = problems(an_input("Mode", stated, "defaults to Mode.SHUT"))
    assert "'Mode.SHUT' is no member of Mode" in problem
    (problem,) = problems(an_input("Mode", stated, "defaults to Side.LEFT"))
    assert "nothing says what Side is" in problem
    of_field = "Bill is a frozen dataclass: total: int, mode: Mode = {}"
    for default, said in (
        ("Mode.OPEN", ""),
        ("Mode.SHUT", "no member"),
        ("Side.LEFT", "nothing says what Side"),
    ):
        found = problems(an_input("Bill", of_field.format(default), stated))
        assert [said in problem for problem in found] == [True] * bool(said)


REFUSED_TEXTS = {
    "two  spaces": "single spaces",
    " leading": "single spaces",
    "a\u00a0b": "single spaces",
    "a\nb": "U+000A",
    "a\tb": "U+0009",
    "a\x7fb": "U+007F",
    "a\u202eb": "U+202E",
    "a\u2066b": "U+2066",
    "a\u200fb": "U+200F",
    "a\u2028b": "U+2028",
    "a\ufeffb": "U+FEFF",
    "```python": "three backticks",
    "": "is empty",
}


def test_a_text_that_a_docstring_cannot_carry_is_refused_wherever_it_stands():
    """D-S8.1-04: constraints, invariants, conditions, effects, notes, error cases and the purpose."""
    for text, advice in REFUSED_TEXTS.items():
        for path, wrong in with_text(text).items():
            if text or path != "modes.notes":
                problem, *_ = problems(wrong)
                assert problem.startswith(f"{path}: ")
                assert advice in problem


def test_an_error_case_may_be_about_repeated_spaces():
    """A reader had to write a printed table's seven spaces as escapes: error cases stand in no docstring (D-S8.1-04)."""
    assert problems(a_contract(error_cases=["'  a' and \"b   c\" are refused"])) == []
    (problem,) = problems(a_contract(error_cases=["a  b is refused, 'c'"]))
    assert problem.endswith(r"or write spaces that are meant as \x20")


def test_exceptions_stand_before_codes():
    """D-S8.1-01: the docstring has a section for each, so their order must be that of the sections."""
    surfaces = [
        ErrorSurface(name="E_X", when="it is cut", surface=SurfaceKind.CODE),
        ErrorSurface(name="ValueError", when="it fails", surface=SurfaceKind.EXCEPTION),
    ]
    contract = a_contract(error_surfaces=surfaces)
    assert problems(contract) == [
        "error_surfaces.1: an exception comes after a code or variant; list exceptions first"
    ]
    assert problems(normalise(contract)) == []


ITEM = "Item is a frozen dataclass: name: str"
ORDER = "Order is a frozen dataclass: items: list[Item]"


def test_classes_are_put_where_they_belong():
    """D-S8.1-02: their order follows from the types, so code sorts them; an input comes before an output."""
    for constraints in (
        [ITEM, ORDER, "is not empty", "defaults to None"],
        ["is not empty", ITEM, ORDER, "defaults to None"],
        [ORDER, "is not empty", ITEM, "defaults to None"],
    ):
        contract = normalise(an_input("Order | None", *constraints))
        assert contract.inputs[0].constraints == ["is not empty", ORDER, ITEM, "defaults to None"]
        assert problems(contract) == []
    same = Output(name="same", type="Item", invariants=[ITEM])
    contract = normalise(a_contract(inputs=[Input(name="item", type="Item")], outputs=[same]))
    assert (contract.inputs[0].constraints, contract.outputs[0].invariants) == ([ITEM], [])
    assert problems(contract) == []


def test_classes_that_can_be_read_in_two_ways_stay():
    """D-S8.1-02: which was meant is the planner's to say."""
    in_two_ways, named_nowhere = [ITEM, "Item is a frozen dataclass: name: int"], [ITEM, ORDER]
    for constraints in (in_two_ways, named_nowhere, ["Item is a frozen dataclass: 1", "x"]):
        contract = normalise(an_input("Item", *constraints))
        assert contract.inputs[0].constraints == constraints
        assert problems(contract)


def test_spaces_are_made_single_and_within_quotes_escapes():
    """D-S8.1-02: a slip of the planner costs no attempt; one lost a turn of 7,000 tokens to the two spaces of an example."""
    for text, normal in (
        (" is  not   empty ", "is not empty"),
        ("the module's text  and the user's", "the module's text and the user's"),
        ("keeps 'a  b' as it is", r"keeps 'a \x20b' as it is"),
        ('gives  "a   b"', r'gives "a \x20\x20b"'),
        ("tab\tand", "tab\tand"),
    ):
        found = {at: normalise(one) for at, one in with_text(text).items()}
        assert found["purpose"].purpose == normal
        assert found["inputs.0.constraints.0"].inputs[0].constraints == [normal]
        assert found["error_surfaces.0.when"].error_surfaces[0].when == normal
        assert found["error_cases.0"].error_cases == [normal]


def test_normalising_repairs_types_and_defaults_and_nothing_else():
    """D-S8.1-02: types are stored as `ast.unparse(ast.parse(t))`; a broken one is reported, not hidden by an exception."""
    contract = normalise(an_input("dict[str,int]|None", "x", 'defaults to  "a"'))
    assert contract.inputs[0].type == "dict[str, int] | None"
    assert contract.inputs[0].constraints == ["x", "defaults to 'a'"]
    assert problems(contract) == []
    assert normalise(contract) == contract
    broken = normalise(an_input("int |"))
    assert broken.inputs[0].type == "int |"
    assert problems(broken)


FIELDS = [ErrorField(name="index", type="int | None"), ErrorField(name="reason", type="str")]


def surface_with_fields(name="PatchError", fields=FIELDS, surface=SurfaceKind.EXCEPTION):
    """An error surface with fields."""
    return ErrorSurface(name=name, when="the patch is refused", surface=surface, fields=fields)


def test_fields_of_an_error_belong_to_the_interface():
    """D-S8-04: they change the fingerprint, and a contract without them keeps its own."""
    with_fields, without = (
        a_contract(error_surfaces=[surface_with_fields()]),
        a_contract(error_surfaces=[surface_with_fields(fields=[])]),
    )
    assert problems(with_fields) == []
    assert with_fields.interface_fingerprint != without.interface_fingerprint
    assert without.dimensions()["error_surfaces"] == [
        {"name": "PatchError", "when": "the patch is refused", "surface": "exception"}
    ]
    assert MicroModuleContract.from_bytes(with_fields.to_bytes(), "contract.json") == with_fields


def one_field(name, type_="str"):
    """An error surface with a field."""
    return [surface_with_fields(fields=[ErrorField(name=name, type=type_)])]


NO_FIELDS = [
    ([surface_with_fields("ValueError")], "only an exception of the module's own"),
    ([surface_with_fields("E_PATCH", surface=SurfaceKind.CODE)], "only an exception of the module's own"),
    ([surface_with_fields(), surface_with_fields()], "stated once"),
    ([surface_with_fields(fields=[]), surface_with_fields()], "stated once"),
    (one_field("args"), "meaning for every exception"),
    (one_field("_index"), "private"),
    (one_field("class"), "keyword"),
    (one_field("at", "Any"), "says nothing"),
    (one_field("at", "Place"), "nothing says what Place is"),
    ([surface_with_fields(fields=[FIELDS[0], FIELDS[0]])], "there already"),
]


def test_what_cannot_be_a_field_of_an_error_is_refused():
    """D-S8-22: by its place, with what to write."""
    for errors, said in NO_FIELDS:
        (problem,) = problems(a_contract(error_surfaces=errors))
        assert problem.startswith("error_surfaces.")
        assert said in problem


def test_a_contract_is_as_large_as_one_reader_can_judge():
    """Issue 22: inputs, what is said of them, outputs, errors and effects count; the refusal says how to split."""
    whole = problems(a_contract(inputs=[Input(name="text", type="str", constraints=said(57))]))
    assert whole == []
    (problem,) = problems(a_contract(inputs=[Input(name="text", type="str", constraints=said(58))]))
    assert (
        "the contract makes 61 statements, and one reader judges 60 at most; split it: by its outputs"
        in problem
    )


def said(count):
    """So many constraints: with input, output, invariant and error four more statements make a contract."""
    return [f"does not hold the number {number}" for number in range(count - 1)]
