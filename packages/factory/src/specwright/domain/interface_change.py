"""Interface change exceptions: a consumer's objection to the contract of a dependency, with a proposed change, and a
person's decision about it (design: interface-changes).

`checked_request` reads a role's request, `candidate_contract` applies the change, and `compare_contracts` computes the
difference of two contracts, statement by statement, with the version bump (design: contracts).

A change is compatible if it only adds something that existing callers do not notice: an input with a default at the end, a
default, an error surface, a field of an error, an invariant, a class. Everything else is breaking, because code cannot
tell whether a new wording promises less. If an addition breaks a consumer after all, the gate finds it when it judges the
consumer again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from typing import Annotated, Any, NamedTuple, Self, TypeAlias, TypeVar, cast

from packaging.version import Version
from pydantic import Field, StrictBool, StringConstraints, ValidationError, model_validator

from agent_wire import canonical_json
from ship_gate.base.ids import ModuleRefText
from ship_gate.base.record import Record, Sha256, Text, Timestamp, validation_messages
from ship_gate.contract.class_statement import looks_like_statement
from ship_gate.contract.contract import (
    Effect,
    EffectType,
    ErrorSurface,
    Input,
    MicroModuleContract,
    Modes,
    Output,
)
from ship_gate.contract.error_classes import ErrorClass, error_classes
from ship_gate.contract.rules import (
    ANY_NUMBER,
    DEFAULT,
    KEYWORD_ONLY,
    default_of,
    in_signature_order,
    is_any_number,
    is_keyword_only,
    is_scope_limit,
    normalise,
    own_statements,
    problems,
)

_Item = TypeVar("_Item")

_UNSEEN = ("purpose", "error_cases", "tags", "dependencies", "compatibility", "runtime_budgets")
"""The fields outside the five dimensions, which callers do not see (design: contracts)."""


class Bump(StrEnum):
    """The part of a version that increases."""

    NONE = "NONE"
    PATCH = "PATCH"
    MINOR = "MINOR"
    MAJOR = "MAJOR"


class StatementChange(NamedTuple):
    """A changed statement of a contract.

    Args:
        kind: `added`, `removed` or `modified`.
        place: Its place, such as `inputs.sep`, `error_surfaces.ValueError`, `modes`.
        before: The old text; empty if it was added.
        after: The new text; empty if it was removed.
        breaks: How it breaks callers, in one sentence; empty if it is compatible.
    """

    kind: str
    place: str
    before: str
    after: str
    breaks: str = ""

    @property
    def line(self) -> str:
        """The change in one line."""
        what = " -> ".join(text for text in (self.before, self.after) if text)
        return f"{self.kind} {self.place}: {what}" + (f" ({self.breaks})" if self.breaks else "")


class ContractDifference(NamedTuple):
    """The changes of a contract and the version bump that they require."""

    changes: tuple[StatementChange, ...]
    bump: Bump

    @property
    def breaks(self) -> list[str]:
        """A sentence for each breaking change; empty if the difference is compatible."""
        return [change.breaks for change in self.changes if change.breaks]


def compare_contracts(before: MicroModuleContract, after: MicroModuleContract) -> ContractDifference:
    """Return the difference of two contracts of one module.

    The bump is NONE if nothing changed, PATCH if only fields outside the five dimensions changed (the fingerprint is the
    same), MINOR if every change is a compatible addition, MAJOR otherwise. Versions are not compared.

    Raises:
        ValueError: the contracts are of two modules, or of one that was renamed.
    """
    if (before.module_id, before.name) != (after.module_id, after.name):
        raise ValueError(
            f"{before.name} ({before.module_id}) and {after.name} ({after.module_id}) are two modules; the name of a "
            "module is the same in all versions"
        )
    was, now = before.to_json(), after.to_json()
    unseen = (_change(name, _shown(was[name]), _shown(now[name])) for name in _UNSEEN)
    changes = (*_interface_changes(before, after), *chain.from_iterable(unseen))
    if before.interface_fingerprint == after.interface_fingerprint:
        bump = Bump.PATCH if changes else Bump.NONE
    else:
        bump = Bump.MAJOR if any(change.breaks for change in changes) else Bump.MINOR
    return ContractDifference(changes, bump)


def next_version(version: str, bump: Bump) -> str:
    """Return the version after a bump; NONE leaves it unchanged."""
    major, minor, patch = Version(version).release
    return {
        Bump.NONE: version,
        Bump.PATCH: f"{major}.{minor}.{patch + 1}",
        Bump.MINOR: f"{major}.{minor + 1}.0",
        Bump.MAJOR: f"{major + 1}.0.0",
    }[bump]


def _interface_changes(before: MicroModuleContract, after: MicroModuleContract) -> Iterator[StatementChange]:
    """Yield the changes in the five dimensions."""
    found = {
        "inputs": [*_input_changes(before.inputs, after.inputs)],
        "outputs": [*_output_changes(before.outputs, after.outputs)],
        "error_surfaces": [*_error_changes(before, after)],
        "effects": [*_effect_changes(before.effects, after.effects)],
        "modes": [*_mode_changes(before, after)],
    }
    was, now = before.dimensions(), after.dimensions()
    for dimension, changes in found.items():
        yield from changes
        if not changes and was[dimension] != now[dimension]:
            yield StatementChange("modified", dimension, "", "the same in another order")
    yield from _class_changes(before, after)


_BY_POSITION = "Arguments that callers pass by position reach other inputs."


def _input_changes(before: Sequence[Input], after: Sequence[Input]) -> Iterator[StatementChange]:
    old, new = {i.name: i for i in before}, {i.name: i for i in after}
    for name in old:
        if name not in new:
            yield from _change(
                f"inputs.{name}", _slot(old[name]), "", f"Callers cannot pass `{name}` any more."
            )
    for place, name in enumerate(new):
        if name in old:
            yield from _changes_of_input(old[name], new[name])
            continue
        followed = any(later in old and not is_keyword_only(new[later]) for later in list(new)[place:])
        breaks = _BY_POSITION if followed and not is_keyword_only(new[name]) else ""
        if default_of(new[name]) is None and not is_any_number(new[name]):
            breaks = f"Every caller has to pass `{name}`."
        yield from _change(f"inputs.{name}", "", _slot(new[name]), breaks)
    was, now = (
        [n for n in them if n in old and n in new and not is_keyword_only(them[n])] for them in (old, new)
    )
    if [name for name in was if name in now] != [name for name in now if name in was]:
        yield from _change("inputs", ", ".join(old), ", ".join(new), _BY_POSITION)


def _changes_of_input(old: Input, new: Input) -> Iterator[StatementChange]:
    place, name = f"inputs.{old.name}", old.name
    yield from _change(place, old.type, new.type, f"Callers pass `{name}` as {old.type}.")
    was, now = (next((t for t in one.constraints if t.startswith(DEFAULT)), "") for one in (old, new))
    yield from _change(
        place, was, now, f"Callers that leave `{name}` out get another value or none." if was else ""
    )
    was, now = (" and ".join(text for text in one.constraints if text in _PASSING) for one in (old, new))
    # allowing the argument by position too breaks nobody
    breaks = "" if was == KEYWORD_ONLY and not now else f"Callers pass `{name}` in another way."
    yield from _change(place, was, now, breaks)
    limits, values = (
        [[text for text in one.constraints if is_kind(text)] for one in (old, new)]
        for is_kind in (is_scope_limit, _limits_values)
    )
    relied_on = f"Callers may rely on what the module does with such a `{name}`."
    yield from _text_changes(place, *limits, added=relied_on, removed="", other=relied_on)
    yield from _text_changes(
        place,
        *values,
        added=f"Callers may pass a `{name}` that does not meet it.",
        removed=f"Callers may rely on what the module does with a `{name}` that does not meet it.",
    )


_PASSING = (KEYWORD_ONLY, ANY_NUMBER)


def _limits_values(constraint: str) -> bool:
    """Whether a constraint is about the value, rather than a default, the way of passing it, or a scope limit."""
    return not (constraint.startswith(DEFAULT) or constraint in _PASSING or is_scope_limit(constraint))


def _output_changes(before: Sequence[Output], after: Sequence[Output]) -> Iterator[StatementChange]:
    old, new = {o.name: o for o in before}, {o.name: o for o in after}
    shape = "What is returned has another shape for every caller."
    for name in dict.fromkeys([*old, *new]):
        if name not in old or name not in new:
            was, now = old.get(name), new.get(name)
            yield from _change(f"outputs.{name}", _slot(was) if was else "", _slot(now) if now else "", shape)
            continue
        place = f"outputs.{name}"
        yield from _change(
            place, old[name].type, new[name].type, f"Callers use `{name}` as {old[name].type}."
        )
        promise = f"Callers may rely on what was promised of `{name}`."
        yield from _text_changes(place, old[name].invariants, new[name].invariants, removed=promise)
    if [name for name in new if name in old] != [name for name in old if name in new]:
        yield from _change("outputs", ", ".join(old), ", ".join(new), shape)


def _error_changes(before: MicroModuleContract, after: MicroModuleContract) -> Iterator[StatementChange]:
    def text(error: ErrorSurface | None) -> str:
        return f"{error.name} [{error.surface}]: {error.when}" if error else ""

    def alike(error: ErrorSurface) -> str:
        return f"{error.name} [{error.surface}]"

    for old, new in _pairs(before.error_surfaces, after.error_surfaces, text, alike):
        name = (old or new or before.error_surfaces[0]).name
        breaks = f"Callers that handle {name} expect it as it was." if old else ""
        yield from _change(f"error_surfaces.{name}", text(old), text(new), breaks)
    names = {error.name for error in after.error_surfaces}
    stated = error_classes(before), error_classes(after)
    for name in dict.fromkeys(error.name for error in before.error_surfaces if error.name in names):
        # a new statement about a class breaks nobody
        old, new = (classes.get(name, ErrorClass()) for classes in stated)
        place = f"error_surfaces.{name}"
        was, now = (f"base {one.base}" if one.base else "" for one in (old, new))
        yield from _change(place, was, now, f"Callers may catch {name} as {old.base}." if was else "")
        relied_on = f"Callers may rely on this whenever {name} is raised." if old.shared else ""
        yield from _change(place, old.shared, new.shared, relied_on)
        fields = ([f"field {field.name}: {field.type}" for field in one.fields] for one in (old, new))
        yield from _text_changes(place, *fields, removed=f"Callers may read this field of {name}.")


def _effect_changes(before: Sequence[Effect], after: Sequence[Effect]) -> Iterator[StatementChange]:
    def text(effect: Effect | None) -> str:
        return f"{effect.type} `{effect.target}`: {effect.description}" if effect else ""

    for old, new in _pairs(before, after, text, lambda effect: f"{effect.type} `{effect.target}`"):
        breaks = "Callers may rely on this effect." if old else "Callers do not declare this effect."
        target = (old or new or before[0]).target
        yield from _change(f"effects.{target}", text(old), text(new), breaks)


def _mode_changes(before: MicroModuleContract, after: MicroModuleContract) -> Iterator[StatementChange]:
    was, now = before.dimensions()["modes"], after.dimensions()["modes"]
    for name in was:
        breaks = (
            "Callers may rely on the notes." if name == "notes" else "Callers call it or await it as it was."
        )
        yield from _change(f"modes.{name}", _shown(was[name]), _shown(now[name]), breaks)


def _class_changes(before: MicroModuleContract, after: MicroModuleContract) -> Iterator[StatementChange]:
    """Yield the changes of exported classes, wherever the contract states them."""
    old, new = own_statements(before), own_statements(after)
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name), new.get(name)
        breaks = f"Callers make or read a {name} as it was." if was else ""
        yield from _change(
            f"classes.{name}", was.render() if was else "", now.render() if now else "", breaks
        )


def _text_changes(
    place: str,
    before: Iterable[str],
    after: Iterable[str],
    *,
    added: str = "",
    removed: str,
    other: str | None = None,
) -> Iterator[StatementChange]:
    """Yield the changes of a slot's statements, except those about classes. A removed and an added statement count as one
    modified statement.

    Args:
        place: The slot's place.
        before: The old statements.
        after: The new statements.
        added: How an added statement breaks callers; empty if it does not.
        removed: How a removed statement breaks callers.
        other: How a modified statement breaks callers; by default as a removed one.
    """
    changed = removed if other is None else other
    old = [text for text in before if not looks_like_statement(text)]
    new = [text for text in after if not looks_like_statement(text)]
    for was, now in _pairs(old, new, str, lambda _: ""):
        breaks = (changed if now else removed) if was else added
        yield from _change(place, was or "", now or "", breaks)


def _pairs(
    before: Iterable[_Item], after: Iterable[_Item], *keys: Callable[[_Item], str]
) -> Iterator[tuple[_Item | None, _Item | None]]:
    """Pair old and new items: first by equality of the first key, then the rest by the next key, in order. An item without
    a partner is paired with None."""
    old, new = list(before), list(after)
    for key in keys:
        alone: list[_Item] = []
        for item in old:
            place = next((n for n, other in enumerate(new) if key(item) == key(other)), None)
            if place is None:
                alone.append(item)
            else:
                yield item, new.pop(place)
        old = alone
    yield from ((item, None) for item in old)
    yield from ((None, item) for item in new)


def _change(place: str, before: str, after: str, breaks: str = "") -> Iterator[StatementChange]:
    """Yield the change of a text, if it changed; empty means that there is no such statement."""
    if before != after:
        kind = "modified" if before and after else "removed" if before else "added"
        yield StatementChange(kind, place, before, after, breaks)


def _slot(slot: Input | Output) -> str:
    statements = slot.constraints if isinstance(slot, Input) else slot.invariants
    return "; ".join([f"{slot.name}: {slot.type}", *statements])


def _shown(value: object) -> str:
    return value if isinstance(value, str) else canonical_json.canonical(value).decode()


LONGEST_REASON = 4_000
"""The length limit of a reason or a piece of evidence."""

ExceptionId = Annotated[str, Field(pattern=r"^ICE-[0-9a-f]{8}$")]
_Words = Annotated[Text, StringConstraints(max_length=LONGEST_REASON)]
_Statement: TypeAlias = Input | Output | ErrorSurface | Effect


class ExceptionType(StrEnum):
    """The kind of fault in the contract."""

    CANNOT_SUPPORT = "CANNOT_SUPPORT"
    AMBIGUOUS = "AMBIGUOUS"
    INCOMPLETE = "INCOMPLETE"
    MISSING_DIMENSION = "MISSING_DIMENSION"


class CompatibilityExpectation(StrEnum):
    """The effect of the change on present consumers."""

    BACKWARD_COMPATIBLE = "BACKWARD_COMPATIBLE"
    BREAKING = "BREAKING"
    UNKNOWN = "UNKNOWN"


class Urgency(StrEnum):
    """The urgency of a decision, for the person who decides."""

    BLOCKING = "BLOCKING"
    HIGH = "HIGH"
    NORMAL = "NORMAL"
    LOW = "LOW"


class NamedError(Record):
    """An existing error surface; `when` distinguishes several with the same name."""

    name: str
    when: str = ""


class ModifiedError(ErrorSurface):
    """A changed error surface. `replaces` is the `when` of the one that it replaces, needed if several have this name."""

    replaces: str = ""


class NamedEffect(Record):
    """An existing effect."""

    type: EffectType
    target: str


class ProposedContractDelta(Record):
    """The proposed change, by dimension. A modified statement is given in full; inputs and outputs are identified by name,
    effects by type and target."""

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

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not any(change for _, change in self):
            raise ValueError("it is empty; name at least one change")
        return self


class InterfaceChangeRequest(Record):
    """A role's request to raise an exception; the factory adds the role."""

    type: ExceptionType
    target_module: ModuleRefText
    reason: _Words
    evidence: Annotated[list[_Words], Field(min_length=1)]
    proposed_delta: ProposedContractDelta
    compatibility: CompatibilityExpectation
    urgency: Urgency


class RaisedBy(Record):
    """The author of an exception: the artifact that it makes or judges (its contract before the first version), its role
    and invocation."""

    artifact_ref: str
    role: str
    run_id: str


class InterfaceChangeException(Record):
    """The record of an exception; immutable."""

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
        """Build the record of a request."""
        said = dict(request)
        delta, expected = said.pop("proposed_delta"), said.pop("compatibility")
        return cls(
            **said,
            exception_id=exception_id,
            raised_by=by,
            proposed_contract_delta=delta,
            compatibility_expectation=expected,
        )


def checked_request(raw: Any, upstream: Mapping[str, MicroModuleContract]) -> InterfaceChangeRequest:
    """Parse a role's request, and check it against the dependencies' contracts.

    Args:
        raw: The arguments of the tool call; the target may be a module's name.
        upstream: The contracts of the shipped dependencies of the role's module, by reference.

    Raises:
        ValueError: the request is not valid; one line for each problem.
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
    """Apply a delta to a contract; return it in normal form with its new version.

    Args:
        contract: The contract of the sealed version.
        delta: The change.
        expected: The compatibility that the role expects; UNKNOWN accepts any.

    Raises:
        ValueError: the delta changes nothing, removes or modifies what does not exist, adds what exists, makes a contract
            that could not be locked, or has another compatibility than expected; one line for each problem.
    """
    faults, changed = list[str](), dict[str, Any](modes=delta.mode_changes or contract.modes)
    for kind in ("inputs", "outputs", "error_surfaces", "effects"):
        changed[kind] = _amended(kind, getattr(contract, kind), delta, faults)
    if faults:
        raise ValueError("\n".join(dict.fromkeys(faults)))
    changed["inputs"] = in_signature_order(changed["inputs"])
    after = normalise(contract.model_copy(update=changed))
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


def _amended(
    kind: str, statements: Sequence[_Statement], delta: ProposedContractDelta, faults: list[str]
) -> list[_Statement]:
    """Apply a delta to the statements of a dimension.

    Args:
        kind: The dimension.
        statements: Its statements.
        delta: The change.
        faults: A list to which problems of the delta are appended.
    """
    now, modified = list(statements), set[int]()
    for verb in ("removed", "modified", "added"):
        field, items = f"proposed_delta.{verb}_{kind}", getattr(delta, f"{verb}_{kind}")
        named = [_label(one) for one in items]
        faults += [
            f"{field}: {name!r} is named twice" for name in dict.fromkeys(named) if named.count(name) > 1
        ]
        for name, one in zip(named, items, strict=True):
            there = [_label(statement) for statement in now]
            # an error surface with a unique name needs no `when`
            found = [n for n, label in enumerate(there) if name in (label, getattr(now[n], "name", label))]
            if verb == "added" and name in there:
                faults.append(f"{field}: the contract has {name!r} already; give it as modified")
            elif verb == "added":
                now.append(one)
            elif len(found) != 1:
                several = f"several error surfaces are named {name!r}; say which by its `when`"
                what, known = several if found else f"there is no {name!r}", ", ".join(map(repr, there))
                faults.append(f"{field}: {what}; the contract has {known or 'none'}")
            elif verb == "removed":
                del now[found[0]]
            elif found[0] in modified:  # once by name alone, once with its `when`
                faults.append(f"{field}: {name!r} is named twice")
            else:
                modified.add(found[0])
                now[found[0]] = (
                    ErrorSurface(**one.model_dump(exclude={"replaces"})) if kind == "error_surfaces" else one
                )
    return now


def _label(one: _Statement | NamedError | NamedEffect | str) -> str:
    """Return the name by which a delta refers to a statement."""
    if isinstance(one, str):
        return one
    if isinstance(one, Effect | NamedEffect):
        return f"{one.type} {one.target}"
    if isinstance(one, Input | Output):
        return one.name
    when = one.replaces if isinstance(one, ModifiedError) else one.when
    return f"{one.name}: {when}" if when else one.name


class Decision(StrEnum):
    """A person's decision about an exception."""

    APPROVE_CHANGE = "APPROVE_CHANGE"
    REJECT_CHANGE = "REJECT_CHANGE"
    DEFER = "DEFER"


class ExceptionStatus(StrEnum):
    """The status of an exception, from its last decision and the outcome of an approval."""

    RAISED = "RAISED"
    APPROVED = "APPROVED"
    RESOLVED = "RESOLVED"
    NOT_AGREED = "NOT_AGREED"
    DEFERRED = "DEFERRED"
    REJECTED = "REJECTED"
    CLOSED = "CLOSED"
    """Not decided; the task went on by an answer to the escalation instead."""


class DecisionRequest(Record):
    """A person's decision, before it is recorded.

    Args:
        exception_id: `ICE-...`.
        decision: The decision.
        reason: The reason; required for a rejection, since the next attempt must do without the change.
        requeue: Whether a rejection runs the task again from the start; otherwise it stays halted.
    """

    exception_id: ExceptionId
    decision: Decision
    reason: Annotated[str, Field(max_length=LONGEST_REASON)] = ""
    requeue: StrictBool = False

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.decision is Decision.REJECT_CHANGE and not self.reason.strip():
            raise ValueError("a rejection needs a reason")
        if self.requeue and self.decision is not Decision.REJECT_CHANGE:
            raise ValueError("only a rejection runs the task again")
        return self


class ExceptionDecision(DecisionRequest):
    """The record of a decision; decisions about an exception are numbered from 1 and immutable."""

    number: Annotated[int, Field(ge=1)]
    decided_by: str
    decided_at: Timestamp

    def answers(self, request: DecisionRequest) -> bool:
        """Whether it is the decision of a request."""
        return all(getattr(self, name) == getattr(request, name) for name in DecisionRequest.model_fields)


class NewVersion(Record):
    """The sealed version with the changed contract.

    Args:
        module_ref: The version.
        supersedes: The previous version.
        sha256: The hash of its files.
    """

    module_ref: ModuleRefText
    supersedes: ModuleRefText
    sha256: Sha256


class ExceptionOutcome(Record):
    """The outcome of an approval.

    Args:
        exception_id: The exception.
        number: The number of the approving decision.
        reason: Why no new version was sealed; empty if one was.
        changes: The difference of the contracts, a line for each statement.
        version: The new sealed version; None if there is none.
        resolved_at: The time.
    """

    exception_id: ExceptionId
    number: Annotated[int, Field(ge=1)]
    reason: str = ""
    changes: list[str]
    version: NewVersion | None = None
    resolved_at: Timestamp


_AFTER = {
    Decision.APPROVE_CHANGE: ExceptionStatus.APPROVED,
    Decision.REJECT_CHANGE: ExceptionStatus.REJECTED,
    Decision.DEFER: ExceptionStatus.DEFERRED,
}


class KnownException(NamedTuple):
    """An exception with its decisions and outcomes.

    Args:
        record: The exception.
        decisions: The decisions about it, in order.
        outcomes: The outcomes of its approvals.
        escalation: The open escalation of its task; empty if the task no longer waits.
    """

    record: InterfaceChangeException
    decisions: list[ExceptionDecision]
    outcomes: list[ExceptionOutcome]
    escalation: str = ""

    @property
    def status(self) -> ExceptionStatus:
        """The status of the exception."""
        decisions, outcomes, waits = self.decisions, self.outcomes, bool(self.escalation)
        if outcomes and outcomes[-1].version:
            return ExceptionStatus.RESOLVED
        if waits and outcomes and outcomes[-1].number == len(decisions):
            return ExceptionStatus.NOT_AGREED
        if decisions and (decisions[-1].decision is Decision.REJECT_CHANGE or waits):
            return _AFTER[decisions[-1].decision]
        return ExceptionStatus.RAISED if waits else ExceptionStatus.CLOSED
