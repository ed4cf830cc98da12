"""Escalations and the answers to them as they are stored (design: escalation).

Interface change exceptions as they are stored (design: interface-changes).
"""

from collections.abc import Callable
from typing import TypeVar

from ship_gate.base.record import Record
from ship_gate.base.text import did_you_mean
from specwright.application.store import layout
from specwright.application.store.artifacts import publish_noted
from specwright.domain.escalation import DebateTrail, EscalationArtifact, ResolutionRecord
from specwright.domain.interface_change import ExceptionDecision, InterfaceChangeException
from specwright.errors import CorruptionError, InputError
from specwright.ports import Scope, StateStore

_Record = TypeVar("_Record", bound=Record)


class EscalationStore:
    """`escalations/` and `resolutions/`, by the ids of the escalations; `exceptions/`, by the ids of the exceptions.

    Args:
        store: Holds them.
        is_waiting: Whether the log says that a task waits for the answer to an escalation.
    """

    def __init__(self, store: StateStore, is_waiting: Callable[[str], bool]) -> None:
        self._store = store
        self._is_waiting = is_waiting

    def exists(self, escalation_id: str) -> bool:
        """Whether an escalation was written."""
        return self._store.exists(layout.escalation(escalation_id))

    def ids(self) -> list[str]:
        """Those of every escalation that was written; the debates beside them are none."""
        names = self._store.names(layout.ESCALATIONS)
        return [stem for name in names for stem, _, rest in [name.partition(".")] if rest == "json"]

    def escalation(self, escalation_id: str) -> EscalationArtifact:
        """An escalation by its id.

        Raises:
            InputError: there is none.
            CorruptionError: there was one, and its file is gone.
        """
        path = layout.escalation(escalation_id)
        if not self._store.exists(path):
            if self._is_waiting(escalation_id):
                raise CorruptionError(
                    f"the escalation {escalation_id} is gone",
                    where=f"{layout.STATE_STORE}/{path}",
                    remedy="restore `state_store/` from a copy of the project",
                )
            raise InputError(
                f"there is no escalation {escalation_id}",
                remedy=f"{did_you_mean(escalation_id, self.ids())}`specwright escalations` lists those that wait",
            )
        return EscalationArtifact.from_bytes(self._store.read(path), path)

    def add(self, escalation: EscalationArtifact) -> str:
        """Write an escalation, and return the hash under which a Wire refers to it."""
        data = escalation.to_bytes()
        self._store.publish(layout.escalation(escalation.escalation_id), data)
        return self._store.define(data)

    def resolution(self, escalation_id: str) -> ResolutionRecord | None:
        """A person's answer, if one was written."""
        return self._stored(layout.resolution(escalation_id), ResolutionRecord)

    def resolve(self, record: ResolutionRecord) -> None:
        """Write a person's answer."""
        self._store.publish(layout.resolution(record.escalation_id), record.to_bytes())

    def add_exception(self, scope: Scope, record: InterfaceChangeException) -> None:
        """Write an exception; it never changes. Until its task halts, the journal alone binds it."""
        publish_noted(scope, self._store, {layout.exception(record.exception_id): record.to_bytes()})

    def exception(self, exception_id: str) -> InterfaceChangeException:
        """An exception by its id.

        Raises:
            InputError: there is none.
        """
        record = self._stored(layout.exception(exception_id), InterfaceChangeException)
        if record is None:
            raise InputError(
                f"there is no interface change exception {exception_id}",
                remedy="`specwright exceptions list` lists them",
            )
        return record

    def decision(self, exception_id: str, number: int) -> ExceptionDecision | None:
        """A person's decision, if one of this number was written."""
        return self._stored(layout.exception_decision(exception_id, number), ExceptionDecision)

    def decide(self, record: ExceptionDecision) -> None:
        """Write a person's decision."""
        path = layout.exception_decision(record.exception_id, record.number)
        self._store.publish(path, record.to_bytes())

    def transcript(self, scope: Scope, escalation_id: str, number: int, trail: DebateTrail) -> None:
        """Write the debate of an approval by which nothing was agreed."""
        publish_noted(scope, self._store, {layout.transcript(escalation_id, number): trail.to_bytes()})

    def _stored(self, path: str, record: type[_Record]) -> _Record | None:
        return record.from_bytes(self._store.read(path), path) if self._store.exists(path) else None
