"""The types that a search filters by are those of the contract (F§14.3, DESIGN §8.1)."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ship_gate.contract.contract import Input, MicroModuleContract, Modes, Output
from specwright.domain.modules.code_index import declared_types, searched_types, summarise, type_key

TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=12
)
LITERALS = st.lists(TEXTS.map(repr) | st.integers().map(repr), min_size=1, max_size=3).map(
    lambda values: f"Literal[{', '.join(values)}]"
)
TYPES = st.recursive(
    st.sampled_from(["int", "str", "None", "Decimal", "tuple[()]", "Literal['a (b', ') (c)']"]) | LITERALS,
    lambda inner: (
        inner.map(lambda t: f"list[{t}]")
        | st.tuples(inner, inner).map(lambda ts: f"dict[{ts[0]}, {ts[1]}]")
        | st.tuples(inner, inner).map(lambda ts: f"{ts[0]} | ({ts[1]} | None)")
    ),
    max_leaves=6,
).map(lambda text: ast.unparse(ast.parse(text, mode="eval")))
FIELDS = st.lists(
    st.tuples(TYPES, st.lists(TEXTS | st.sampled_from(["(x)", "a: b (c)"]), max_size=3)), max_size=4
)


@given(fields=FIELDS)
def test_the_types_of_a_contract_are_read_back_from_its_summary(fields: list[tuple[str, list[str]]]):
    """`declared_types` undoes `summarise` for every type and any constraints (F-14.3-02)."""
    entry = summarise(
        MicroModuleContract(
            module_id="MM-00000001",
            name="module",
            purpose="purpose",
            inputs=[Input(name=f"x{n}", type=t, constraints=c) for n, (t, c) in enumerate(fields)],
            outputs=[Output(name=f"y{n}", type=t, invariants=c) for n, (t, c) in enumerate(fields)],
            error_surfaces=[],
            effects=[],
            modes=Modes(sync=True, async_=False),
        )
    )
    assert declared_types(entry.io_summary.inputs) == [declared for declared, _ in fields]
    assert declared_types(entry.io_summary.outputs) == [declared for declared, _ in fields]


@pytest.mark.parametrize(
    ("written", "key"),
    [
        (" dict[ str,list[int] ]", "dict[str, list[int]]"),
        ('Literal["a"]', "Literal['a']"),
        ("int|None", "int | None"),
        ("a non-empty   string", "a non-empty string"),
        ("list[", "list["),
        ("", ""),
        ("\x00", "\x00"),
        ("(" * 10_000, "(" * 10_000),
        ("\ud800", "\ud800"),
    ],
)
def test_a_type_has_one_spelling(written: str, key: str):
    """Types are compared as `ast.unparse(ast.parse(t))`; what is no type is compared as it is (F-14.3-02)."""
    assert type_key(written) == key


def test_lines_that_hold_no_type_break_nothing():
    """An io_summary is text: a line that `summarise` did not write is taken whole (F-14.3-02)."""
    assert declared_types(["text: any string (short)", "nothing", "x:", "a: b: c"]) == [
        "any string (short)",
        "",
        "",
        "b: c",
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [("decimal.Decimal", "Decimal"), ("list[datetime.date]", "list[date]"), ("Optional[int]", "int | None")],
)
def test_a_type_is_searched_as_everyday_python_writes_it(written: str, meant: str):
    """A contract has the bare name; what a role writes by the full one finds it all the same (F-14.3-02)."""
    assert meant in searched_types([written])
    assert searched_types([meant]) == [meant]
