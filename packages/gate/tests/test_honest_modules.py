"""Every contract that locks can ship: an honest module for each drawn contract passes the gate (design: contracts).

The contracts are those of the round trip without dependencies and effects, without classes that run code, iterators and
callables: the corpus has modules with each of these.
"""

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

from gate_testkit.drawn_contracts import plain_contracts
from gate_testkit.honest_modules import NoCaseError, honest_module
from ship_gate.contract.contract import ErrorField, ErrorSurface, Input, MicroModuleContract, Modes, Output
from ship_gate.contract.examples import coverage_faults, parse_examples
from ship_gate.contract.obligations import claims_faults, read_claims
from ship_gate.contract.rules import normalise, problems
from ship_gate.public_surface import compare_surface
from ship_gate.runs import named_tests
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.source.files import ParsedFiles
from testkit.sampling import spread

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def _searched(examples, *, derandomize=False):
    """How long it is searched; a counterexample takes seconds to try, so none is made smaller."""
    return settings(
        max_examples=examples,
        derandomize=derandomize,
        deadline=None,
        suppress_health_check=_QUIET,
        phases=[Phase.generate],
    )


def _honest(contract):
    """A module for a contract that locks, with few enough errors for the arguments that are tried."""
    contract = normalise(contract)
    assume(not problems(contract))
    try:
        return honest_module(contract)
    except NoCaseError:
        assume(False)


def _ships(contract):
    candidate = _honest(contract)
    verdict = SandboxedShipGate(60).judge(candidate)
    assert verdict.findings == (), candidate.contract.to_bytes().decode()
    assert verdict.passed


def _a_contract(outputs, errors, modes=("sync",)):
    return MicroModuleContract(
        module_id="MM-00000001",
        name="entry",
        purpose="Look at a text.",
        inputs=[Input(name="text", type="str")],
        outputs=[
            Output(name=f"out_{n}", type=one, invariants=["it follows"]) for n, one in enumerate(outputs)
        ],
        error_surfaces=errors,
        effects=[],
        modes=Modes(sync="sync" in modes, async_="async" in modes),
    )


_FIELDS = [ErrorField(name="at", type="int | None")]
FOUND = {
    "nothing is returned": _a_contract([], [ErrorSurface(name="ValueError", when="no", surface="exception")]),
    "fields beside two outputs": _a_contract(
        ["int", "str"],
        [
            ErrorSurface(
                name="TextError", when="no", surface="exception", base="KeyError", shared="so", fields=_FIELDS
            ),
            ErrorSurface(name="TextError", when="never", surface="exception"),
            ErrorSurface(name="E_TEXT", when="seldom", surface="code"),
        ],
        ("sync", "async"),
    ),
}
"""Contracts that locked and could not ship."""


@pytest.mark.parametrize("what", spread(FOUND, fast=2))
def test_what_could_not_ship_ships(what):
    """D-43-09: each with what stood in its place: no value to look at, and a claim of a field beside parts of a result."""
    assert problems(FOUND[what]) == []
    verdict = SandboxedShipGate(60).judge(honest_module(FOUND[what]))
    assert verdict.findings == ()


@settings(max_examples=12, deadline=None, suppress_health_check=_QUIET)
@given(contract=plain_contracts())
def test_an_honest_module_for_a_drawn_contract_is_read_without_a_fault(contract):
    """D-43-09: surface, claims and examples; nothing is run, so that many can be tried."""
    candidate = _honest(contract)
    files = ParsedFiles.of(candidate.files)
    assert compare_surface(files, candidate.contract).findings == []
    claims = read_claims(files["tests/obligations.json"])
    assert claims_faults(claims, named_tests(files), candidate.contract) == []
    examples, faults = parse_examples(files["examples.md"].decode())
    assert [*faults, *coverage_faults(examples, candidate.contract)] == []


@pytest.mark.slow
@pytest.mark.timeout(300)
@_searched(2, derandomize=True)
@given(contract=plain_contracts())
def test_an_honest_module_for_a_drawn_contract_ships(contract):
    """D-43-09: what locks can ship, whatever its types, defaults, classes and errors are; a sample."""
    _ships(contract)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@_searched(400)
@given(contract=plain_contracts())
def test_honest_modules_for_hundreds_of_drawn_contracts_ship(contract):
    """D-43-09: the same property, searched for longer."""
    _ships(contract)
