"""The surface of a candidate held against its contract (F§11.2, DESIGN §8, D-S8-04).

surface.mismatch      the fingerprint differs (the message is F§11.2's, to the letter)
surface.diverged      one per dimension that differs
"""

from typing import Any, NamedTuple

from specwright import canonical_json
from specwright.domain.class_statement import ClassStatement, parse_statement
from specwright.domain.contract import DIMENSIONS, MicroModuleContract, fingerprint
from specwright.gate.staging import Staged
from specwright.gate.surface import SurfaceFault, extract_surface
from specwright.ports.gate import Finding

__all__ = ["Compared", "compared"]

_ENTRY = "implementation/__init__.py"
_TEXTS = {"inputs": "constraints", "outputs": "invariants"}


class Compared(NamedTuple):
    """What the surface stage saw.

    Args:
        actual: The fingerprint of what was extracted.
        diverged: The dimensions that differ, each with both sides.
        findings: What to change.
    """

    actual: str
    diverged: dict[str, str]
    findings: list[Finding]


def compared(staged: Staged, contract: MicroModuleContract) -> Compared:
    """Extract a staged candidate's surface and compare it with its contract's.

    Args:
        staged: Laid out by `stage`.
        contract: The locked one.
    """
    try:
        actual = extract_surface(staged.lib / "modules" / contract.name, contract.name)
    except SurfaceFault as fault:
        return Compared("", {}, [Finding(fault.code, fault.where, fault.message)])
    locked, seen = contract.interface_fingerprint, fingerprint(actual)
    if seen == locked:
        return Compared(seen, {}, [])
    dimensions = contract.dimensions()
    diverged = {name: name for name in DIMENSIONS if dimensions[name] != actual[name]}
    for name in diverged:
        diverged[name] = f"contract: {_shown(dimensions[name])}; source: {_shown(actual[name])}"
    # F§11.2: literally
    message = f"Interface fingerprint mismatch: expected {locked}, got {seen}"
    findings = [Finding("surface.mismatch", _ENTRY, message)]
    for name, difference in diverged.items():
        advice = f"{name} differ from the contract; {_advice(name, dimensions, actual)}. {difference}"
        findings.append(Finding("surface.diverged", f"{_ENTRY}#/{name}", advice))
    return Compared(seen, diverged, findings)


def _advice(name: str, locked: dict[str, Any], actual: dict[str, Any]) -> str:
    """What to change; where a contract names a class and does not say what it is made of, no code can match it."""
    stated, declared = _statements(name, locked), _statements(name, actual)
    if unstated := [declared[of].render() for of in declared if of not in stated]:
        return (
            f"the contract has to state what its classes are made of, as the last constraint of the slot that names "
            f"them first: {'; '.join(unstated)}"
        )
    return "change the code to match it"


def _statements(name: str, dimensions: dict[str, Any]) -> dict[str, ClassStatement]:
    texts = [text for slot in dimensions[name] for text in slot[_TEXTS[name]]] if name in _TEXTS else []
    return {found.name: found for text in texts if (found := parse_statement(text))}


def _shown(value: object) -> str:
    return canonical_json.canonical(value).decode()
