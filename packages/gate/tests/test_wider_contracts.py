"""Contracts that say what everyday Python says: each locks, ships with an honest module, and refuses a faulty one.

All of them, with a verdict a line: `.venv/bin/python -m pytest packages/gate/tests/test_wider_contracts.py -m "" -v -n 0`.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gate_testkit.corpus_reading import wider, wider_fault, wider_names
from ship_gate.contract.docstring import public_names, render_stub
from ship_gate.contract.rules import normalise, problems
from ship_gate.public_surface import extract_surface
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.source.files import ParsedFiles
from ship_gate.source.splice import splice

NAMES = wider_names()
FAST = ("as_fraction",)
SLOW = ("round_cash", "open_orders", "moving_sums")
NEW = re.compile(
    r"keyword only|any number of arguments|"
    r"defaults to (?:\w+\(|\w+\.|\(\))|= [A-Z]\w*[.(]|is a (?:type|NamedTuple|ValueError)|"
    r"properties: |raises: |Fraction|ZoneInfo|IPv\d|re\.Pattern|bytearray|complex|"
    r"Sequence|Collection|Iterable|Iterator|Callable|Mapping|\bT\b"
)
"""What no contract could say before issue 22."""


SAMPLED = [
    pytest.param(
        name, marks=[] if name in FAST else pytest.mark.slow if name in SLOW else pytest.mark.nightly
    )
    for name in NAMES
]


def test_forty_contracts_say_what_none_could_say_before():
    """D-43-11: each with one new thing at least."""
    assert len(NAMES) >= 40
    assert [name for name in NAMES if not NEW.search(json.dumps(wider(name).contract.to_json()))] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_wider_contract_locks_and_comes_back_from_its_stub(name: Any, tmp_path: Path):
    """D-43-11, D-S8-04, D-S8.1-01: in normal form, without problems, and the same after a round trip; the honest module
    says so too."""
    contract, files = wider(name).contract, wider(name).files
    assert problems(contract) == []
    assert normalise(contract) == contract
    source = render_stub(contract).encode()
    for text in (source, splice(files["implementation/__init__.py"], contract)):
        (tmp_path / "__init__.py").write_bytes(text)
        surface = extract_surface(ParsedFiles.of_implementation(tmp_path), contract.name)
        assert surface == contract.dimensions()
    compile(source, name, "exec")
    namespace = {"__name__": __name__}
    exec(source, namespace)
    assert set(namespace["__all__"]) == set(public_names(contract))


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLED)
def test_a_wider_contract_ships_with_an_honest_module(name: Any):
    """D-S8-01, D-43-03, D-43-04, D-43-07, D-43-11, F-11.3-03: issue 22's forty contracts."""
    verdict = SandboxedShipGate(20).judge(wider(name))
    assert verdict.findings == ()
    assert verdict.passed


@pytest.mark.parametrize("name", SAMPLED)
def test_a_wider_contract_refuses_a_faulty_module(name: Any):
    """D-S8-05, D-43-11, F-11.3-03: for the reason that the corpus names."""
    candidate, codes = wider_fault(name)
    verdict = SandboxedShipGate(20).judge(candidate)
    assert not verdict.passed
    assert {finding.code for finding in verdict.findings} & {*codes}
