"""The difference of two contracts of one module, statement by statement, and the version that it asks for (design:
contracts, interface-changes).

Compatible is what adds something that no caller meets unasked: an input with a default at the end, a default, an error
surface, a field of an error, an invariant, a class. All else is breaking: code cannot read whether another wording says
less. Whether an addition breaks a consumer all the same is seen when the gate judges that consumer again.

Not here: how a difference is told to those who worked to the earlier contract (`contract_changes`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeVar

from packaging.version import Version

from agent_wire import canonical_json
from ship_gate.base.record import Record
from ship_gate.contract.boundary.class_statement import looks_like_statement
from ship_gate.contract.contract import (
    Effect,
    ErrorField,
    ErrorSurface,
    Input,
    MicroModuleContract,
    Output,
)
from ship_gate.contract.error_classes import ErrorClass, error_classes
from ship_gate.contract.rules import (
    ANY_NUMBER,
    DEFAULT,
    KEYWORD_ONLY,
    default_of,
    is_any_number,
    is_keyword_only,
    is_scope_limit,
    own_statements,
)

_Item = TypeVar("_Item")

_UNSEEN = ("purpose", "error_cases", "tags", "dependencies", "compatibility", "runtime_budgets")
"""Fields outside the five dimensions: callers do not see them (design: contracts)."""


class Bump(StrEnum):
    """How the version of a module moves."""

    NONE = "NONE"
    PATCH = "PATCH"
    MINOR = "MINOR"
    MAJOR = "MAJOR"


class ChangeKind(StrEnum):
    """What happened to a statement."""

    ADDED = "added"
    REMOVED = "removed"
    MODIFIED = "modified"


class StatementChange(Record):
    """One statement that is another.

    Args:
        kind: What happened to it.
        place: Where it stands, `inputs.sep`, `error_surfaces.ValueError`, `modes`.
        before: Its text; empty if it was added.
        after: Its text now; empty if it was removed.
        breaks: Who breaks, in one sentence; empty if nobody does.
    """

    kind: ChangeKind
    place: str
    before: str = ""
    after: str = ""
    breaks: str = ""

    @property
    def line(self) -> str:
        """The change in one line, for a person or a role."""
        what = " -> ".join(text for text in (self.before, self.after) if text)
        return f"{self.kind} {self.place}: {what}" + (f" ({self.breaks})" if self.breaks else "")


class ContractDifference(NamedTuple):
    """What is another in a contract, and the bump that this asks for."""

    changes: tuple[StatementChange, ...]
    bump: Bump

    @property
    def breaks(self) -> list[str]:
        """Who breaks, a sentence for each breaking change; empty if it is compatible."""
        return [change.breaks for change in self.changes if change.breaks]


def compare_contracts(before: MicroModuleContract, after: MicroModuleContract) -> ContractDifference:
    """The difference of two contracts of one module.

    The bump is NONE if they say the same, PATCH if only what callers do not see is another (the fingerprint is the
    same), MINOR if every change of the five dimensions is a compatible addition, MAJOR otherwise. Versions are not
    compared.

    Raises:
        ValueError: they are contracts of two modules, or of one that was renamed.
    """
    if (before.module_id, before.name) != (after.module_id, after.name):
        raise ValueError(
            f"{before.name} ({before.module_id}) and {after.name} ({after.module_id}) are two modules; the name of a "
            "module is the same in all versions"
        )
    changes = (*_interface_changes(before, after), *_unseen_changes(before, after))
    if before.interface_fingerprint == after.interface_fingerprint:
        bump = Bump.PATCH if changes else Bump.NONE
    else:
        bump = Bump.MAJOR if any(change.breaks for change in changes) else Bump.MINOR
    return ContractDifference(changes, bump)


def next_version(version: str, bump: Bump) -> str:
    """The version that follows `x.y.z` by a bump; the same one by NONE."""
    major, minor, patch = Version(version).release
    return {
        Bump.NONE: version,
        Bump.PATCH: f"{major}.{minor}.{patch + 1}",
        Bump.MINOR: f"{major}.{minor + 1}.0",
        Bump.MAJOR: f"{major + 1}.0.0",
    }[bump]


def _interface_changes(before: MicroModuleContract, after: MicroModuleContract) -> Iterator[StatementChange]:
    """The changes of the five dimensions."""
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
            yield StatementChange(
                kind=ChangeKind.MODIFIED, place=dimension, after="the same in another order"
            )
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
    was, now = _default(old), _default(new)
    yield from _change(
        place, was, now, f"Callers that leave `{name}` out get another value or none." if was else ""
    )
    yield from _passing_changes(old, new)
    relied_on = f"Callers may rely on what the module does with such a `{name}`."
    yield from _text_changes(
        place,
        [text for text in old.constraints if is_scope_limit(text)],
        [text for text in new.constraints if is_scope_limit(text)],
        added=relied_on,
        removed="",
        other=relied_on,
    )
    yield from _text_changes(
        place,
        [text for text in old.constraints if _limits_values(text)],
        [text for text in new.constraints if _limits_values(text)],
        added=f"Callers may pass a `{name}` that does not meet it.",
        removed=f"Callers may rely on what the module does with a `{name}` that does not meet it.",
    )


_PASSING = (KEYWORD_ONLY, ANY_NUMBER)


def _limits_values(constraint: str) -> bool:
    """Whether a constraint says what holds of a value: it is no default, no way of passing and no limit of the scope."""
    return not (constraint.startswith(DEFAULT) or constraint in _PASSING or is_scope_limit(constraint))


def _passing_changes(old: Input, new: Input) -> Iterator[StatementChange]:
    """How an input is passed; that it may be given by place too breaks nobody."""
    was, now = (" and ".join(text for text in one.constraints if text in _PASSING) for one in (old, new))
    breaks = "" if was == KEYWORD_ONLY and not now else f"Callers pass `{old.name}` in another way."
    yield from _change(f"inputs.{old.name}", was, now, breaks)


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

    for old, new in _pairs(before.error_surfaces, after.error_surfaces, text, _name_and_surface):
        name = (old or new or before.error_surfaces[0]).name
        breaks = f"Callers that handle {name} expect it as it was." if old else ""
        yield from _change(f"error_surfaces.{name}", text(old), text(new), breaks)
    names = {error.name for error in after.error_surfaces}
    was, now = error_classes(before), error_classes(after)
    for name in dict.fromkeys(error.name for error in before.error_surfaces if error.name in names):
        yield from _class_changes_of(name, was.get(name, ErrorClass()), now.get(name, ErrorClass()))


def _class_changes_of(name: str, old: ErrorClass, new: ErrorClass) -> Iterator[StatementChange]:
    """Of an error class; what is stated of it anew breaks nobody."""
    place = f"error_surfaces.{name}"
    caught = f"Callers may catch {name} as {old.base}." if old.base else ""
    yield from _change(place, _base(old), _base(new), caught)
    relied_on = f"Callers may rely on this whenever {name} is raised." if old.shared else ""
    yield from _change(place, old.shared, new.shared, relied_on)
    read = f"Callers may read this field of {name}."
    yield from _text_changes(place, _fields(old.fields), _fields(new.fields), removed=read)


def _base(stated: ErrorClass) -> str:
    return f"base {stated.base}" if stated.base else ""


def _name_and_surface(error: ErrorSurface) -> str:
    return f"{error.name} [{error.surface}]"


def _fields(fields: Iterable[ErrorField]) -> list[str]:
    return [f"field {field.name}: {field.type}" for field in fields]


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
    """Of the classes that the module exports, wherever they are stated."""
    old, new = own_statements(before), own_statements(after)
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name), new.get(name)
        breaks = f"Callers make or read a {name} as it was." if was else ""
        yield from _change(
            f"classes.{name}", was.render() if was else "", now.render() if now else "", breaks
        )


def _unseen_changes(before: MicroModuleContract, after: MicroModuleContract) -> Iterator[StatementChange]:
    was, now = before.to_json(), after.to_json()
    for name in _UNSEEN:
        yield from _change(name, _shown(was[name]), _shown(now[name]))


def _text_changes(
    place: str,
    before: Iterable[str],
    after: Iterable[str],
    *,
    added: str = "",
    removed: str,
    other: str | None = None,
) -> Iterator[StatementChange]:
    """Of the statements of a slot, without those of classes; one that went and one that came are one that changed.

    Args:
        added: Whom a further statement breaks, and how; nobody if it is empty.
        removed: The same of one that is gone.
        other: The same of one that says something else; as of one that is gone where it is not given.
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
    """Each item with what it is now: those equal by the first key, of the rest those equal by the next, in their order;
    with None what has no partner."""
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
    """The change of a text, unless it is the same; an empty one is a statement that is not there."""
    if before != after:
        kind = ChangeKind.MODIFIED if before and after else ChangeKind.REMOVED if before else ChangeKind.ADDED
        yield StatementChange(kind=kind, place=place, before=before, after=after, breaks=breaks)


def _slot(slot: Input | Output) -> str:
    statements = slot.constraints if isinstance(slot, Input) else slot.invariants
    return "; ".join([f"{slot.name}: {slot.type}", *statements])


def _default(slot: Input) -> str:
    default = default_of(slot)
    return "" if default is None else DEFAULT + default


def _shown(value: object) -> str:
    return value if isinstance(value, str) else canonical_json.canonical(value).decode()
