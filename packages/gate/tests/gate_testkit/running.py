"""Runs tests and examples in a sandbox of a given kind, past everything that the gate refuses before it runs them."""

import os
import re
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gate_testkit.judging import candidate
from ship_gate.contract.examples import parse_examples
from ship_gate.findings import Finding
from ship_gate.runs import named_tests, run_examples, run_tests
from ship_gate.sandbox.kind import Sandbox, available_sandbox, fault_of
from ship_gate.sandbox.process import SandboxKind
from ship_gate.sandbox.staging import stage, workspace
from ship_gate.verdict import TestResult

__all__ = ["Seen", "broken_off", "need_sandbox", "run", "survivors"]


def need_sandbox(kind: Any):
    """Skip the test where a kind of sandbox does not work; SPECWRIGHT_REQUIRE_SERVICES=1 makes that a failure."""
    if fault := fault_of(SandboxKind(kind)):
        assert os.environ.get("SPECWRIGHT_REQUIRE_SERVICES") != "1", fault
        pytest.skip(fault)


class Seen(NamedTuple):
    """What tests and examples showed."""

    findings: tuple[Finding, ...]
    tests: tuple[TestResult, ...]
    seen: dict[str, Any]


def run(
    changes: Any,
    name: Any = "tally_words",
    kind: Any = None,
    timeout_seconds: Any = 20.0,
    packages: Any = frozenset(),
):
    """Run a changed module directory.

    Args:
        changes: Files to replace, as for `candidate`.
        name: The module.
        kind: Of sandbox; the best of this machine if not given.
        timeout_seconds: For the tests, and again for the examples.
        packages: That the module may import.
    """
    whole = candidate(name, changes)
    sandbox = Sandbox(SandboxKind(kind or available_sandbox().kind), packages)
    examples, _ = parse_examples(whole.files["examples.md"].decode())
    with workspace() as root:
        staged = stage(root, whole, whole.files, sandbox)
        tested = run_tests(staged, whole.contract, named_tests(whole.files), timeout_seconds)
        wrong = run_examples(staged, examples, timeout_seconds)
    return Seen((*tested.findings, *wrong), tested.tests, dict(tested.outcomes))


def broken_off(seen: Any):
    """The codes of the findings."""
    return {finding.code for finding in seen.findings}


def survivors(place: Path, seconds: float = 5.0):
    """Processes that were started for a directory and still run after so many seconds; one that was killed needs a moment of
    a busy machine to end."""
    until = time.monotonic() + seconds
    while (found := _running(place)) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def _running(place: Path):
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if re.fullmatch(r"\d+", entry.name):
            try:
                if str(place).encode() in (entry / "cmdline").read_bytes() and "Z" not in _state(entry):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def _state(entry: Any):
    return (entry / "stat").read_text().rpartition(")")[2].split()[0]
