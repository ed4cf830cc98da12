"""What a Proposer says of its contract: a statement that no test can show (design: contract-at-fault).

Code knows what happened in the Proposer's own preflights. It refuses what they contradict, and confirms what they show: a
test that claims the statement met a limit of the boundary, and none that claims it passed. The Arbiter rules on the rest.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ship_gate.base.text import MIN_WORDS, is_vague
from ship_gate.contract.contract import MISSING, MicroModuleContract
from specwright.domain.answers.answers import ContractFault, Failure, FaultOf

BOUNDARY_CODES = frozenset({"tests.boundary"})
"""Findings that say that something does not cross between a test and the module."""

_UNSHOWN_CODES = ("obligations.unseen", "obligations.uncovered", "examples.uncovered")


class PreflightFinding(NamedTuple):
    """Something that a preflight found: its code, its place, and what was said."""

    code: str
    where: str
    message: str


class PreflightLedger:
    """What the preflights of one invocation showed, one submission after the other."""

    def __init__(self) -> None:
        self._findings: dict[tuple[str, str], set[str]] = {}
        self._shown: dict[str, str] = {}

    def add(
        self,
        findings: Iterable[PreflightFinding],
        passed: Iterable[str],
        claims: Mapping[str, Sequence[str]],
    ) -> None:
        """Take in a preflight.

        Args:
            findings: What it found.
            passed: The ids of the tests that passed, with their parameters.
            claims: The pointers that each test shows, as the submission says.
        """
        for finding in findings:
            pointers = _claimed(finding.where, claims)
            self._findings.setdefault((finding.code, _test_id(finding.where)), set()).update(pointers)
        for test in passed:
            self._shown.update(dict.fromkeys(_claimed(test, claims), test))

    def problems(self, faults: Sequence[ContractFault], contract: MicroModuleContract) -> Iterator[str]:
        """What is false of such faults, or says nothing."""
        for i, fault in enumerate(faults):
            if contract.at(fault.pointer) is MISSING:
                yield f"contract_at_fault.{i}.pointer: the contract has no {fault.pointer}"
            if is_vague(fault.reason):
                yield f"contract_at_fault.{i}.reason: say why no test can show it, in {MIN_WORDS} words or more"
            if (fault.finding, _test_id(fault.where)) not in self._findings:
                known = ", ".join(f"{code} at {where}" for code, where in self._findings) or "none"
                yield (
                    f"contract_at_fault.{i}: there was no {fault.finding} at {fault.where} in your submissions; "
                    f"these findings were: {known}"
                )
            if shown := self._shown.get(fault.pointer):
                yield f"contract_at_fault.{i}: {shown} shows {fault.pointer} and passed, so that it can be shown"

    def confirms(self, faults: Sequence[ContractFault]) -> bool:
        """Whether code has seen of each fault, which has no problems, that it is one."""
        return bool(faults) and all(
            fault.finding in BOUNDARY_CODES
            and fault.pointer in self._findings.get((fault.finding, _test_id(fault.where)), ())
            for fault in faults
        )


def still_due(
    findings: Iterable[PreflightFinding], faults: Sequence[ContractFault]
) -> tuple[PreflightFinding, ...]:
    """The findings without those that ask for what the faults say cannot be shown; the Arbiter rules on these faults."""
    return tuple(found for found in findings if not any(_asks_for(found, fault) for fault in faults))


def as_failure(fault: ContractFault) -> Failure:
    """A fault as the planner has to correct it."""
    return Failure(
        invariant=f"{fault.pointer}: a test can show it",
        evidence=f"{fault.finding} at {fault.where}: {fault.reason}",
        required_change=f"State at {fault.pointer} only what values of the declared types can show, or leave it out.",
        fault=FaultOf.CONTRACT,
    )


def _asks_for(found: PreflightFinding, fault: ContractFault) -> bool:
    if found.code == "examples.uncovered":
        return fault.pointer.startswith(("/error_surfaces/", "/effects/"))
    return found.code in _UNSHOWN_CODES and f"{fault.pointer} " in f"{found.message} ".replace(")", " ")


def _claimed(test: str, claims: Mapping[str, Sequence[str]]) -> set[str]:
    plain = _test_id(test)
    named = (pointers for name, pointers in claims.items() if plain == name or plain.endswith(f"::{name}"))
    return {pointer for pointers in named for pointer in pointers}


def _test_id(where: str) -> str:
    """A place without its folder and without parameters."""
    return where.strip("`").removeprefix("tests/").partition("[")[0]
