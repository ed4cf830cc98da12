"""What is rendered from a contract is read back as exactly that contract."""

import pytest
from hypothesis import HealthCheck, assume, given, settings

from gate_testkit.drawn_contracts import contracts, dependency_classes
from ship_gate.contract.docstring import render_stub
from ship_gate.contract.rules import normalise, problems
from ship_gate.public_surface import extract_surface
from ship_gate.source.files import ParsedFiles
from ship_gate.source.splice import splice

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture]


def _shows_the_round_trip(contract, folder):
    contract = normalise(contract)
    assume(not problems(contract))
    source = render_stub(contract, dependency_classes(contract)).encode()
    (folder / "__init__.py").write_bytes(source)
    assert extract_surface(ParsedFiles.of_implementation(folder), contract.name) == contract.dimensions()
    assert splice(source, contract) == source


@settings(max_examples=15, deadline=None, suppress_health_check=_QUIET)
@given(contract=contracts())
def test_the_surface_of_a_rendered_stub_is_the_contract(contract, tmp_path):
    """D-S8-04, D-S8.1-01, D-S8.1-02, D-S8.1-03: rendering and reading lose nothing."""
    _shows_the_round_trip(contract, tmp_path)


@pytest.mark.nightly
@pytest.mark.timeout(600)
@settings(max_examples=2000, deadline=None, suppress_health_check=_QUIET)
@given(contract=contracts())
def test_the_surface_of_thousands_of_rendered_stubs_is_the_contract(contract, tmp_path):
    """D-S8-04: the same property, searched for longer."""
    _shows_the_round_trip(contract, tmp_path)
