"""Examples as a person reads them at the gate (F§3.2.4)."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specwright.domain.acceptance.readable import WIDTH, hard_to_read, readable_code, readable_value
from specwright.domain.acceptance.records import AcceptanceExample
from specwright.domain.spec.completeness import validate
from specwright.domain.spec.product_spec import ProductSpecDraft
from specwright.domain.spec.spec_markdown import render
from testkit.domain.product_specs import draft_data, epic_data, pillar_data, story_data, task_data

LONG = (
    "from bakery import Recipe, scale\nfrom decimal import Decimal\n"
    "scale(Recipe('Rye bread', [Part('flour', Decimal('500'), 'g'), Part('water', Decimal('350'), 'g')]), tin=2)"
)


def example(code: str, gives: str = "3", author: str = "researcher") -> AcceptanceExample:
    return AcceptanceExample(title="Bread", criteria=[1], code=code, gives=gives, author=author)


def test_a_long_call_is_broken_at_its_parts():
    """F-3.2.4-01, D-40-06: without imports, each argument on a line of its own, as deep as needed."""
    assert readable_code(LONG) == [
        "scale(",
        "    Recipe(",
        "        'Rye bread',",
        "        [",
        "            Part('flour', Decimal('500'), 'g'),",
        "            Part('water', Decimal('350'), 'g'),",
        "        ],",
        "    ),",
        "    tin=2,",
        ")",
    ]
    assert readable_code("from bakery import scale\nscale(1)") == ["scale(1)"]


@pytest.mark.parametrize(
    "code",
    [
        "f(" + ", ".join(f"'word {n}'" for n in range(12)) + ")",
        f"names = sorted({[f'name {n}' for n in range(20)]!r}, key=str.lower, reverse=True)\nf(names, **options)",
        f"f(({'x' * 80!r},), {{'a': [1, 2], **rest}}).field[0] == {list(range(40))!r}",
        f"{{'first': f({'y' * 70!r}), 'second': {{1, 2}}}}['first']",
        f"[g(one, {'z' * 70!r}) for one in many if one for other in one]",
        f"f(lambda x: {' + '.join(['x'] * 40)})",
        "with open('a') as file:\n    text = file.read()\nf(text)",
    ],
)
def test_what_is_broken_means_the_same(code: str):
    """D-40-06: the lines are Python that reads as the example does."""
    shown = ast.parse("\n".join(readable_code(code)))
    assert ast.dump(shown) == ast.dump(ast.parse(code))


@given(
    st.recursive(
        st.integers() | st.text() | st.none() | st.booleans(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner),
    )
)
def test_a_result_means_the_same_over_any_lines(value: object):
    """D-40-06: whatever value it is."""
    lines = readable_value(repr(value))
    assert ast.literal_eval("\n".join(lines)) == value
    assert (
        len(lines) > 1 or len(repr(value)) <= WIDTH or not isinstance(value, list | dict | tuple) or not value
    )


def test_a_result_that_is_no_value_stays_as_it_is():
    """An error with the beginning of its message, a `repr` that is no Python (D-40-06)."""
    for text in (f"ValueError: {'no ' * 40}", f"<object {'x' * 90}>", "("):
        assert readable_value(text) == [text]


@pytest.mark.parametrize(
    ("code", "gives", "problem"),
    [
        ("f(1) == [2]", "True", "compares, and gives True"),
        ("f(1) < 2 and g(3) > 4", "False", "compares, and gives False"),
        ("all(f(n) for n in [1, 2])", "True", "compares, and gives True"),
        ("is_prime(7)", "True", ""),
        ("f(1)", "[2]", ""),
        ("f([n for n in [1, 2]])", "3", ""),
        ("f([[m for m in range(n)] for n in [1, 2]])", "3", "a comprehension within another"),
    ],
)
def test_an_example_for_machines_is_a_warning(code: str, gives: str, problem: str):
    """It goes back to the researcher and to the gate, and holds nothing up (F-3.2.3-07)."""
    found = hard_to_read(example(code, gives))
    assert problem in found
    assert bool(found) is bool(problem)


def spec(*examples: AcceptanceExample):
    acceptance = {"provides": ["scale(recipe: str) -> str"], "examples": [one.to_json() for one in examples]}
    tasks = [task_data(1, "Scale", acceptance=acceptance)]
    return {**draft_data([pillar_data([epic_data([story_data(tasks)])])]), "title": "Bakery"}


def test_the_page_shows_a_long_call_with_its_result_below():
    """F-3.2.4-01: a short one stays in the table; what a person wrote is never warned of."""
    call = (
        "from bakery import scale\nscale('rye', 'wheat', 'spelt', 'a much longer name of a flour') == 'dough'"
    )
    data = spec(
        example("from bakery import scale\nscale('rye')", "'dough'"),
        AcceptanceExample(title="Flours", criteria=[2], code=call, gives="True"),
        AcceptanceExample(title="Mine", criteria=[2], code=call + " ", gives="True", author="person"),
    )
    page = render(ProductSpecDraft.model_validate(data))
    assert "   | Bread | `scale('rye')` | `'dough'` |" in page
    assert (
        "\n\n   Flours:\n\n   ```python\n   scale(\n       'rye',\n       'wheat',\n       'spelt',\n"
        "       'a much longer name of a flour',\n   ) == 'dough'\n   ```\n\n   gives\n\n   ```python\n   True\n   ```\n"
    ) in page
    warned = [one.message for one in validate(data).warnings if one.field == "acceptance.examples"]
    assert [one.partition(":")[0] for one in warned] == ["'Flours' compares, and gives True"]
