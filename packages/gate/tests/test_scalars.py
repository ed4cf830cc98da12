"""Each row of the table of single values agrees with itself, with the codec and with the rules of contracts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ship_gate.base.scalars import CONSTRUCTORS, SCALARS, Drawing, Scalar, scalar_of
from ship_gate.contract.boundary.types import type_problem
from ship_gate.inside.codec import Codec
from ship_gate.inside.values.shapes import Classes, mismatch, shape_of
from ship_gate.inside.variants.values import WAYS, perturb


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
