"""A contract with the statements that a model drafted, each as long as the contract can be locked with it (design:
adoption)."""

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from pydantic import ValidationError

from specwright import canonical_json
from specwright.domain.adoption.drafted_answer import DraftAnswer
from specwright.domain.base.record import validation_messages
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.obligations import obligations
from specwright.domain.contract.rules import DEFAULT, problems

Key = tuple[str, str]
"""Category and text of an obligation: what stays the same where its pointer changes."""

_Path = tuple[str | int, ...]


class StatedContract(NamedTuple):
    """A contract, and what was drafted that it cannot state, with the reason."""

    contract: MicroModuleContract
    dropped: tuple[str, ...]


class _Statement(NamedTuple):
    path: _Path
    value: str | dict[str, str]
    key: Key


def keys(contract: MicroModuleContract) -> dict[Key, str]:
    """The pointers of a contract's obligations."""
    return {(one.category, one.text): one.pointer for one in obligations(contract)}


def with_statements(
    contract: MicroModuleContract, answer: DraftAnswer, shown: set[Key] | None = None
) -> StatedContract:
    """Add drafted statements to a contract.

    Args:
        contract: Without them.
        answer: Has them.
        shown: The obligations of those to add; all if left out.
    """
    names = {slot.name for slot in contract.inputs}
    dropped = [
        f"{one.parameter}: {one.text}: there is no such parameter"
        for one in answer.constraints
        if one.parameter not in names
    ]
    if not contract.outputs:
        dropped += [f"{text}: it returns nothing" for text in answer.invariants]
    for statement in _statements(contract, answer):
        if shown is None or statement.key in shown:
            made = _added(contract, statement)
            if isinstance(made, str):
                dropped.append(f"{statement.key[1]}: {made}")
            else:
                contract = made
    return StatedContract(contract, (*dropped,))


def _statements(contract: MicroModuleContract, answer: DraftAnswer) -> Iterator[_Statement]:
    for place, slot in enumerate(contract.inputs):
        for one in answer.constraints:
            if one.parameter == slot.name:
                key = ("input constraint", f"{slot.name}: {one.text}")
                yield _Statement(("inputs", place, "constraints"), one.text, key)
    for output in contract.outputs[:1]:
        for text in answer.invariants:
            yield _Statement(
                ("outputs", 0, "invariants"), text, ("output invariant", f"{output.name}: {text}")
            )
    for error in answer.errors:
        stated = {"name": error.name, "when": error.when, "surface": "exception"}
        yield _Statement(("error_surfaces",), stated, ("error surface", f"{error.name}: {error.when}"))


def _added(contract: MicroModuleContract, statement: _Statement) -> MicroModuleContract | str:
    """The contract with a statement, or why it cannot have it."""
    document = cast(dict[str, Any], canonical_json.loads(contract.to_bytes()))
    part: Any = document
    for step in statement.path:
        part = part[step]
    # a default is the last constraint
    at = len(part) - 1 if part and str(part[-1]).startswith(DEFAULT) else len(part)
    part.insert(at, statement.value)
    try:
        made = MicroModuleContract.model_validate(document)
    except ValidationError as error:
        return validation_messages(error)[0]
    known = problems(contract)
    return next((one for one in problems(made) if one not in known), made)
