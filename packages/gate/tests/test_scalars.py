"""Each row of the table of single values agrees with itself, with the codec and with the rules of contracts."""

import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ship_gate.base.boundary_values import CONSTRUCTORS, SCALARS, Drawing, Scalar, scalar_of
from ship_gate.contract.types import type_problem
from ship_gate.inside.codec import Codec
from ship_gate.inside.example_runner import outcome_of
from ship_gate.inside.fuzz.inputs import leaves_of
from ship_gate.inside.values import Classes, DrawnFunction, measure, mismatch, shape_of, shown
from ship_gate.inside.variants.changes import WAYS, perturb


@pytest.mark.parametrize("row", SCALARS, ids=lambda row: row.name)
def test_values_of_a_scalar_are_accepted_and_come_back(row: Scalar):
    """D-S8.1-05: edge cases and drawn values are of their type, cross as they are, and are altered within the type."""
    codec, shape = Codec({}), shape_of(row.name, Classes({}, {}))
    values = [row.plain(), *row.edge_cases()]
    drawn = given(st.one_of(*row.drawn(Drawing(st, st.none(), ordinary=False))))
    settings(database=None, derandomize=True, max_examples=20)(drawn(lambda value: values.append(value)))()
    assert scalar_of(row.plain()) is row
    assert eval(row.shown(row.plain()), dict(CONSTRUCTORS)) == row.plain()
    assert type_problem(row.name) == ""
    for value in values:
        back = codec.decode(codec.encode(value))
        assert (type(back), repr(back)) == (type(value), repr(value))
        assert mismatch(value, shape) == ""
        assert [way for way in WAYS if mismatch(perturb(value, way), shape)] == [], value


@pytest.mark.parametrize("value", [10**5000, Fraction(-(10**5000), 3), {Fraction(1, 10**5000)}], ids=type)
def test_a_number_of_more_digits_than_python_writes_is_a_value(value: object):
    """It crosses, is shown in a line, and counts as large; the limit of Python is the same afterwards (D-S8.1-05)."""
    codec, most = Codec({}), sys.get_int_max_str_digits()
    assert codec.decode(codec.encode(value)) == value
    assert len(shown(value)) < 200
    assert len(str(measure(value))) < 20
    assert list(leaves_of([value]).values())
    assert DrawnFunction([1])(value) == 1
    assert len(outcome_of("n = 10**5000\n[n]")["value"]) == 5003
    assert sys.get_int_max_str_digits() == most
