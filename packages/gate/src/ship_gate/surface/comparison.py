"""Compares the surface of a candidate with its contract (design: sealing, ship-gate)."""

import builtins
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ship_gate import canonical_json
from ship_gate.contract.class_statement import ClassStatement, parse_statement
from ship_gate.contract.contract import DIMENSIONS, MicroModuleContract, fingerprint
from ship_gate.contract.docstring import error_fields
from ship_gate.contract.error_classes import base_of, error_classes, own_exceptions
from ship_gate.contract.rules import own_statements
from ship_gate.findings import Finding, FindingCode
from ship_gate.source.classes import builtin_bases, find_class
from ship_gate.source.files import ParsedFiles, SourceError
from ship_gate.surface.surface import Imported, extract_surface
from ship_gate.verdict import ENTRY_FILE, SealedModule

_MOST_SHOWN = 5
_TEXTS = {"inputs": "constraints", "outputs": "invariants"}


class SurfaceComparison(NamedTuple):
    """What the surface stage observed.

    Args:
        actual: The fingerprint of the extracted surface; empty if there is none.
        diverged: The dimensions that differ, each with both sides.
        findings: What to change.
    """

    actual: str
    diverged: dict[str, str]
    findings: list[Finding]


def compare_surface(
    files: ParsedFiles, contract: MicroModuleContract, dependencies: Sequence[SealedModule] = ()
) -> SurfaceComparison:
    """Extract a candidate's surface and compare it with its locked contract's.

    Args:
        files: The candidate's.
        contract: Its locked one.
        dependencies: The modules whose classes it may import.
    """
    try:
        actual = extract_surface(files, contract.name, imported_classes(contract, dependencies))
    except SourceError as error:
        return SurfaceComparison("", {}, [error.finding])
    locked, extracted = contract.interface_fingerprint, fingerprint(actual)
    if extracted == locked:
        return SurfaceComparison(extracted, {}, list(_other_bases(files, contract, dependencies)))
    dimensions = contract.dimensions()
    diverged = {
        name: f"contract: {_shown(dimensions[name])}; source: {_shown(actual[name])}"
        for name in DIMENSIONS
        if dimensions[name] != actual[name]
    }
    # docs/design.md#sealing: literally
    message = f"Interface fingerprint mismatch: expected {locked}, got {extracted}"
    findings = [Finding(FindingCode.SURFACE_MISMATCH, ENTRY_FILE, message)]
    for name in diverged:
        found = [*_differences(name, dimensions[name], actual[name])]
        more = f" (and {len(found) - _MOST_SHOWN} more)" if len(found) > _MOST_SHOWN else ""
        advice = f"{'; '.join(found[:_MOST_SHOWN])}{more}; {_advice(name, dimensions, actual)}"
        findings.append(Finding(FindingCode.SURFACE_DIVERGED, f"{ENTRY_FILE}#/{name}", advice))
    return SurfaceComparison(extracted, diverged, findings)


def _other_bases(
    files: ParsedFiles, contract: MicroModuleContract, dependencies: Sequence[SealedModule]
) -> Iterator[Finding]:
    """Exceptions that do not derive from the exception of Python that the contract states, or that the words of their
    surfaces name; a stated base is the only one, and holds of a class that is imported as well."""
    own = {contract.name: files}
    for name in own_exceptions(contract):
        is_stated = name in error_classes(contract) and bool(error_classes(contract)[name].base)
        stated = base_of(contract, name)
        modules = {**own, **_sources(dependencies)} if is_stated else own
        source = find_class(name, contract.name, modules)
        if (stated == "Exception" and not is_stated) or source is None or source.node is None:
            continue
        found = builtin_bases(source, modules)
        kinds = [getattr(builtins, base) for base in found]
        fits = any(issubclass(kind, getattr(builtins, stated)) for kind in kinds)
        if found != {stated} if is_stated else not fits:
            bases = " and ".join(sorted(found))
            message = (
                f"by the contract {name} is a {stated}, here it derives from {bases}; derive it from {stated}"
            )
            yield Finding(FindingCode.SURFACE_CLASS, source.location, message)


def imported_classes(contract: MicroModuleContract, dependencies: Sequence[SealedModule]) -> Imported:
    """The sources of dependencies, where the contract describes a class that may be theirs."""
    described = {*own_statements(contract), *error_fields(contract)}
    return Imported(_sources(dependencies), described) if described else Imported()


def _sources(dependencies: Sequence[SealedModule]) -> dict[str, ParsedFiles]:
    return {
        d.contract.name: ParsedFiles.of_implementation(d.directory / "implementation") for d in dependencies
    }


def _differences(place: str, locked: Any, actual: Any) -> Iterator[str]:
    """Where two sides differ, each place with what both say."""
    kinds: set[type] = {type(locked), type(actual)}
    if kinds == {dict}:
        for key in {**locked, **actual}:
            yield from _differences(f"{place}.{key}", locked.get(key), actual.get(key))
    elif kinds == {list}:
        yield from _list_differences(place, locked, actual)
    elif locked != actual:
        yield f"{place}: the contract says {_label(locked)}, the source says {_label(actual)}"


def _list_differences(place: str, locked: list[Any], actual: list[Any]) -> Iterator[str]:
    if len(locked) == len(actual):
        for index, both in enumerate(zip(locked, actual, strict=True)):
            yield from _differences(f"{place}.{index}", *both)
        return
    for said, others, who in ((locked, actual, "the contract"), (actual, locked, "the source")):
        if alone := [_label(item) for item in said if item not in others]:
            yield f"{place}: only {who} has {', '.join(alone)}"


def _label(value: Any) -> str:
    """A part of a dimension: a slot by its name and type, anything else as JSON."""
    if hasattr(value, "keys") and {"name", "type"} <= value.keys():
        return f"`{value['name']}: {value['type']}`"
    return "nothing" if value is None else _shown(value)


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
    return {statement.name: statement for text in texts if (statement := parse_statement(text))}


def _shown(value: object) -> str:
    return canonical_json.canonical(value).decode()
