"""The interface change exception: what a consumer finds wrong with the contract of a dependency, and the change that it
proposes (design: interface-changes).

`checked_request` reads what a role hands in, `candidate_contract` applies the change by code. Nothing here knows who may
raise an exception: the caller says which modules are dependencies.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, TypeVar, cast

from pydantic import Field, StringConstraints, ValidationError

from ship_gate.base.ids import ModuleRefText
from ship_gate.base.record import Record, Text, validation_messages
from ship_gate.contract.contract import (
    Effect,
    EffectType,
    ErrorSurface,
    Input,
    MicroModuleContract,
    Modes,
    Output,
)
from ship_gate.contract.normal_form import normalise
from ship_gate.contract.rules import in_signature_order, problems
from specwright.domain.interface_change.comparison import Bump, compare_contracts, next_version

LONGEST_REASON = 4_000
"""Characters of a reason or of one piece of evidence."""

ExceptionId = Annotated[str, Field(pattern=r"^ICE-[0-9a-f]{8}$")]
_Words = Annotated[Text, StringConstraints(max_length=LONGEST_REASON)]
_Slot = TypeVar("_Slot", Input, Output)


class ExceptionType(StrEnum):
    """What is wrong with the contract."""

    CANNOT_SUPPORT = "CANNOT_SUPPORT"
    AMBIGUOUS = "AMBIGUOUS"
    INCOMPLETE = "INCOMPLETE"
    MISSING_DIMENSION = "MISSING_DIMENSION"


class CompatibilityExpectation(StrEnum):
    """What the change is to those who use the module now."""

    BACKWARD_COMPATIBLE = "BACKWARD_COMPATIBLE"
    BREAKING = "BREAKING"
    UNKNOWN = "UNKNOWN"


class Urgency(StrEnum):
    """How much waits for it; for the person who decides."""

    BLOCKING = "BLOCKING"
    HIGH = "HIGH"
    NORMAL = "NORMAL"
    LOW = "LOW"


class NamedError(Record):
    """An error surface of the contract as it is; `when` tells several of one name apart."""

    name: str
    when: str = ""


class ModifiedError(ErrorSurface):
    """An error surface as it shall be; `replaces` is the `when` of the one of this name that it replaces, needed where
    there are several."""

    replaces: str = ""


class NamedEffect(Record):
    """An effect of the contract as it is."""

    type: EffectType
    target: str


class ProposedContractDelta(Record):
    """The change, by dimension. What is modified is given as it shall be, whole; inputs and outputs are found by their
    names, effects by type and target."""

    added_inputs: list[Input] = Field(default_factory=list)
    removed_inputs: list[str] = Field(default_factory=list)
    modified_inputs: list[Input] = Field(default_factory=list)
    added_outputs: list[Output] = Field(default_factory=list)
    removed_outputs: list[str] = Field(default_factory=list)
    modified_outputs: list[Output] = Field(default_factory=list)
    added_error_surfaces: list[ErrorSurface] = Field(default_factory=list)
    removed_error_surfaces: list[NamedError] = Field(default_factory=list)
    modified_error_surfaces: list[ModifiedError] = Field(default_factory=list)
    added_effects: list[Effect] = Field(default_factory=list)
    removed_effects: list[NamedEffect] = Field(default_factory=list)
    modified_effects: list[Effect] = Field(default_factory=list)
    mode_changes: Modes | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return self == ProposedContractDelta()


class InterfaceChangeRequest(Record):
    """What a role says when it raises an exception; the factory adds who it is."""

    type: ExceptionType
    target_module: ModuleRefText
    reason: _Words
    evidence: Annotated[list[_Words], Field(min_length=1)]
    proposed_delta: ProposedContractDelta
    compatibility: CompatibilityExpectation
    urgency: Urgency


class RaisedBy(Record):
    """Who raised an exception: what it makes or judges (before a first version the contract), its role, its invocation."""

    artifact_ref: str
    role: str
    run_id: str


class InterfaceChangeException(Record):
    """The record; it never changes."""

    exception_id: ExceptionId
    type: ExceptionType
    raised_by: RaisedBy
    target_module: ModuleRefText
    reason: _Words
    evidence: Annotated[list[_Words], Field(min_length=1)]
    proposed_contract_delta: ProposedContractDelta
    compatibility_expectation: CompatibilityExpectation
    urgency: Urgency

    @classmethod
    def of(
        cls, exception_id: str, request: InterfaceChangeRequest, by: RaisedBy
    ) -> "InterfaceChangeException":
        """The record of a request."""
        return cls(
            exception_id=exception_id,
            type=request.type,
            raised_by=by,
            target_module=request.target_module,
            reason=request.reason,
            evidence=request.evidence,
            proposed_contract_delta=request.proposed_delta,
            compatibility_expectation=request.compatibility,
            urgency=request.urgency,
        )


def checked_request(raw: Any, upstream: Mapping[str, MicroModuleContract]) -> InterfaceChangeRequest:
    """Read what a role hands in, and check it against the contracts that it is about.

    Args:
        raw: The arguments of its call; it may name the module.
        upstream: The contracts of the shipped dependencies of what the role works on, by reference.

    Raises:
        ValueError: one line for each problem.
    """
    names = {contract.name: ref for ref, contract in upstream.items()}
    if isinstance(raw, dict):
        given = cast(dict[str, Any], raw)
        target = given.get("target_module")
        raw = {**given, "target_module": names[target]} if target in names else given
    try:
        request = InterfaceChangeRequest.model_validate(raw)
    except ValidationError as error:
        raise ValueError("\n".join(validation_messages(error))) from error
    contract = upstream.get(request.target_module)
    if contract is None:
        raise ValueError(
            f"target_module: {request.target_module} is no shipped dependency of what you work on; those are "
            f"{', '.join(upstream) or 'none'}. What is wrong with your own contract is said in your answer"
        )
    candidate_contract(contract, request.proposed_delta, request.compatibility)
    return request


_LABELS = {
    Bump.MINOR: CompatibilityExpectation.BACKWARD_COMPATIBLE,
    Bump.MAJOR: CompatibilityExpectation.BREAKING,
}


def candidate_contract(
    contract: MicroModuleContract,
    delta: ProposedContractDelta,
    expected: CompatibilityExpectation = CompatibilityExpectation.UNKNOWN,
) -> MicroModuleContract:
    """The contract that a delta makes of another, in normal form, with the version that its difference asks for.

    Args:
        contract: Of the sealed version.
        delta: What is to change.
        expected: The label that was put on the change; UNKNOWN takes what code computes.

    Raises:
        ValueError: the delta is empty or changes nothing, names what is not there or is there already, makes a contract
            that could not be locked, or its label is not what code computes; one line for each problem.
    """
    if delta.is_empty:
        raise ValueError("proposed_delta: it is empty; name at least one change")
    if faults := list(_faults(contract, delta)):
        raise ValueError("\n".join(faults))
    after = normalise(_applied(contract, delta))
    difference = compare_contracts(contract, after)
    if difference.bump in {Bump.NONE, Bump.PATCH}:
        raise ValueError("proposed_delta: the contract says all of this already; nothing would change")
    if faults := [f"proposed_delta: the contract that it makes: {problem}" for problem in problems(after)]:
        raise ValueError("\n".join(faults))
    computed = _LABELS[difference.bump]
    if expected not in {computed, CompatibilityExpectation.UNKNOWN}:
        why = " ".join(difference.breaks) or "It only adds."
        raise ValueError(
            f"compatibility: this change is {computed}, not {expected}; code computes a {difference.bump} bump. {why}"
        )
    return after.model_copy(update={"module_version": next_version(contract.module_version, difference.bump)})


def _applied(contract: MicroModuleContract, delta: ProposedContractDelta) -> MicroModuleContract:
    errors = _without(
        contract.error_surfaces, [_place(contract, named) for named in delta.removed_error_surfaces]
    )
    for error in delta.modified_error_surfaces:
        was = contract.error_surfaces[_place(contract, NamedError(name=error.name, when=error.replaces))]
        errors[errors.index(was)] = ErrorSurface(**error.model_dump(exclude={"replaces"}))
    gone = {(effect.type, effect.target) for effect in delta.removed_effects}
    modified = {(effect.type, effect.target): effect for effect in delta.modified_effects}
    effects = [
        modified.get((effect.type, effect.target), effect)
        for effect in contract.effects
        if (effect.type, effect.target) not in gone
    ]
    return contract.model_copy(
        update={
            "inputs": _in_order(
                _slots(contract.inputs, delta.removed_inputs, delta.modified_inputs, delta.added_inputs)
            ),
            "outputs": _slots(
                contract.outputs, delta.removed_outputs, delta.modified_outputs, delta.added_outputs
            ),
            "error_surfaces": [*errors, *delta.added_error_surfaces],
            "effects": [*effects, *delta.added_effects],
            "modes": delta.mode_changes or contract.modes,
        }
    )


def _in_order(inputs: list[Input]) -> list[Input]:
    """Inputs with those that must be given first, as Python asks for."""
    return in_signature_order(inputs)


def _slots(
    slots: Sequence[_Slot], removed: Sequence[str], modified: Sequence[_Slot], added: Sequence[_Slot]
) -> list[_Slot]:
    now = {slot.name: slot for slot in modified}
    return [*(now.get(slot.name, slot) for slot in slots if slot.name not in removed), *added]


def _without(errors: Sequence[ErrorSurface], removed: Sequence[int]) -> list[ErrorSurface]:
    return [error for place, error in enumerate(errors) if place not in removed]


def _place(contract: MicroModuleContract, named: NamedError) -> int:
    """Where the error surface of a name stands; -1 if there is none, or none that it names alone."""
    places = [
        place
        for place, error in enumerate(contract.error_surfaces)
        if error.name == named.name and named.when in {"", error.when}
    ]
    return places[0] if len(places) == 1 else -1


def _faults(contract: MicroModuleContract, delta: ProposedContractDelta) -> Iterator[str]:
    """What a delta names that is not there, or is there already."""
    for kind in ("inputs", "outputs"):
        there = [slot.name for slot in getattr(contract, kind)]
        removed = getattr(delta, f"removed_{kind}")
        modified = [slot.name for slot in getattr(delta, f"modified_{kind}")]
        added = [slot.name for slot in getattr(delta, f"added_{kind}")]
        yield from _unknown(f"removed_{kind}", removed, there)
        yield from _unknown(f"modified_{kind}", modified, [name for name in there if name not in removed])
        yield from _known(f"added_{kind}", added, [name for name in there if name not in removed])
        yield from _repeated(f"removed_{kind}", removed)
        yield from _repeated(f"modified_{kind}", modified)
        yield from _repeated(f"added_{kind}", added)
    yield from _error_faults(contract, delta)
    effects = [f"{effect.type} {effect.target}" for effect in contract.effects]
    gone = [f"{effect.type} {effect.target}" for effect in delta.removed_effects]
    left = [name for name in effects if name not in gone]
    modified = [f"{effect.type} {effect.target}" for effect in delta.modified_effects]
    yield from _unknown("removed_effects", gone, effects)
    yield from _unknown("modified_effects", modified, left)
    yield from _known(
        "added_effects", [f"{effect.type} {effect.target}" for effect in delta.added_effects], left
    )


def _error_faults(contract: MicroModuleContract, delta: ProposedContractDelta) -> Iterator[str]:
    named = [("removed_error_surfaces", one) for one in delta.removed_error_surfaces]
    named += [
        ("modified_error_surfaces", NamedError(name=one.name, when=one.replaces))
        for one in delta.modified_error_surfaces
    ]
    there = [f"{error.name}: {error.when}" for error in contract.error_surfaces]
    places = list[int]()
    for field, one in named:
        place = _place(contract, one)
        text = f"{one.name}: {one.when}" if one.when else one.name
        if place < 0:
            several = sum(error.name == one.name for error in contract.error_surfaces) > 1 and not one.when
            what = (
                f"several error surfaces are named {text!r}; say which by its `when`"
                if several
                else _not(text)
            )
            yield f"proposed_delta.{field}: {what}; the contract has {_list(there)}"
        elif place in places:
            yield f"proposed_delta.{field}: {text!r} is named twice"
        places.append(place)


def _unknown(field: str, names: Sequence[str], there: Sequence[str]) -> Iterator[str]:
    for name in names:
        if name not in there:
            yield f"proposed_delta.{field}: {_not(name)}; the contract has {_list(there)}"


def _known(field: str, names: Sequence[str], there: Sequence[str]) -> Iterator[str]:
    for name in names:
        if name in there:
            yield f"proposed_delta.{field}: the contract has {name!r} already; give it as modified"


def _repeated(field: str, names: Sequence[str]) -> Iterator[str]:
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield f"proposed_delta.{field}: {name!r} is named twice"


def _not(name: str) -> str:
    return f"there is no {name!r}"


def _list(names: Sequence[Any]) -> str:
    return ", ".join(map(repr, names)) or "none"
