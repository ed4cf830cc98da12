"""What a ruling amended is told to those who judge the contracts of tasks that come next (design: tasks-together).

It is noted in the journal, under the run of each such task, for contracts that say the same.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, cast

from specwright.application import scopes
from specwright.application.factory import Factory
from specwright.application.plan.advance_answers import AdvanceStep, advance_answer
from specwright.application.plan.shared_plans import following
from specwright.application.tasks import Task
from specwright.canonical_json import JsonValue
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.debate.debate import Adjudication
from specwright.domain.plan.amended_statements import AmendedStatement, amended_statements, statements_left
from specwright.ports.roles import Place


def note_amendments(
    factory: Factory, task: Task, ruling: Adjudication, contracts: Sequence[MicroModuleContract]
) -> None:
    """Keep what a ruling amends for the tasks that come next and are planned; once for each ruling."""
    amended: JsonValue = [one.to_json() for one in amended_statements(ruling.amendments, contracts)]
    if not amended:
        return
    note: dict[str, JsonValue] = {"ruling": ruling.adjudication_id, "amended": amended}
    for other in following(
        factory, task, lambda one: advance_answer(factory, one, AdvanceStep.PLAN) is not None
    ):
        notes = list(_notes(factory, other))
        if note not in notes:
            scope = factory.journal.scope(scopes.other_amendments(other.run, len(notes)))
            scope.recall("tool", {"tool": "amendments"}, lambda: note)


def other_amendments(factory: Factory, task: Task, contracts: Sequence[MicroModuleContract]) -> list[str]:
    """The statements of the contracts of a task that another contract said until it was amended, a line each."""
    rows = [row for note in _notes(factory, task) for row in note["amended"]]
    return list(statements_left([AmendedStatement.model_validate(row) for row in rows], contracts))


def with_amendments(
    factory: Factory, basis: dict[str, JsonValue], lines: Sequence[str], place: Place
) -> dict[str, JsonValue]:
    """What a ruling rests on, with what it has to be told of; as it was recorded, where it is played again.

    Args:
        factory: The ports.
        basis: Without it.
        lines: As `other_amendments` gives them.
        place: Where the Arbiter is asked about the task alone.
    """
    return {**basis, "amended": list(lines)} if lines and factory.roles.can_share(place) else basis


def _notes(factory: Factory, task: Task) -> Iterator[dict[str, Any]]:
    for number in count():
        note = factory.journal.recorded(scopes.other_amendments(task.run, number), "tool")
        if note is None:
            return
        yield cast(dict[str, Any], note)
