"""A contract as text for readers: a line for each statement, after the pointer that cites it (design: role-access)."""

from collections.abc import Iterator, Sequence

from ship_gate.contract.boundary.lazy_types import is_lazy
from ship_gate.contract.contract import MicroModuleContract


def contract_text(contract: MicroModuleContract) -> str:
    """What a contract says of its module; tags, budgets and other advice are left out."""
    return "\n".join([*_lines(contract), *_within(contract)])


def text_for_callers(contract: MicroModuleContract) -> str:
    """What a contract says to those who call its module: callers see neither its scenarios nor its wiring (F§11.1)."""
    return "\n".join(_lines(contract))


def _lines(contract: MicroModuleContract) -> Iterator[str]:
    yield f"`{contract.name}` {contract.ref}"
    yield f"/purpose {contract.purpose}"
    for i, parameter in enumerate(contract.inputs):
        yield f"/inputs/{i} {parameter.name}: {parameter.type}"
        yield from _numbered(f"/inputs/{i}/constraints", parameter.constraints)
    for i, output in enumerate(contract.outputs):
        yield f"/outputs/{i} {output.name}: {output.type}"
        yield from _numbered(f"/outputs/{i}/invariants", output.invariants)
    if not contract.outputs:
        yield "/outputs none"
    for i, error in enumerate(contract.error_surfaces):
        kind = "" if error.surface == "exception" else f" ({error.surface})"
        yield f"/error_surfaces/{i} {error.name}{kind}: {error.when}"
        parts = {"base": error.base, "shared": error.shared}
        yield from (f"/error_surfaces/{i}/{part} {text}" for part, text in parts.items() if text)
        fields = [f"{field.name}: {field.type}" for field in error.fields]
        yield from _numbered(f"/error_surfaces/{i}/fields", fields)
    if not contract.error_surfaces:
        passed = " and ".join(slot.name for slot in contract.inputs if is_lazy(slot.type))
        yield f"/error_surfaces none: it {f'raises only what {passed} raises' if passed else 'cannot fail'}"
    for i, effect in enumerate(contract.effects):
        yield f"/effects/{i} {effect.type} {effect.target}: {effect.description}"
    if not contract.effects:
        yield "/effects none: pure"
    yield f"/modes {_modes(contract)}"


def _within(contract: MicroModuleContract) -> Iterator[str]:
    """What concerns those alone who make the module and judge it."""
    yield from _numbered("/error_cases", contract.error_cases)
    for i, dependency in enumerate(contract.dependencies):
        yield f"/dependencies/{i} {dependency.ref}: {dependency.why}"
    if not contract.dependencies:
        yield "/dependencies none"


def _modes(contract: MicroModuleContract) -> str:
    modes = [name for name, on in (("sync", contract.modes.sync), ("async", contract.modes.async_)) if on]
    notes = f" ({contract.modes.notes})" if contract.modes.notes else ""
    return " and ".join(modes) + notes


def _numbered(pointer: str, texts: Sequence[str]) -> Iterator[str]:
    return (f"{pointer}/{i} {text}" for i, text in enumerate(texts))
