"""Interface change exceptions as they are stored (design: interface-changes)."""

from specwright.application.store import layout
from specwright.application.store.file_hashes import note_hashes
from specwright.domain.escalation.escalation import DebateTrail
from specwright.domain.interface_change.decision import ExceptionDecision
from specwright.domain.interface_change.exception import InterfaceChangeException
from specwright.errors import InputError
from specwright.ports.journal import Scope
from specwright.ports.store import StateStore


class ExceptionStore:
    """`exceptions/`, by the ids of the exceptions."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    def add(self, scope: Scope, record: InterfaceChangeException) -> None:
        """Write an exception; it never changes. Until its task halts, the journal alone binds it."""
        path, data = layout.exception(record.exception_id), record.to_bytes()
        self._store.publish(path, data)
        note_hashes(scope, {path: data})

    def decision(self, exception_id: str, number: int) -> ExceptionDecision | None:
        """A person's decision, if one of this number was written."""
        path = layout.exception_decision(exception_id, number)
        return (
            ExceptionDecision.from_bytes(self._store.read(path), path) if self._store.exists(path) else None
        )

    def decide(self, record: ExceptionDecision) -> None:
        """Write a person's decision."""
        path = layout.exception_decision(record.exception_id, record.number)
        self._store.publish(path, record.to_bytes())

    def transcript(self, escalation_id: str, number: int, trail: DebateTrail) -> dict[str, bytes]:
        """Write the debate of an approval by which nothing was agreed; returns the file."""
        path, data = layout.transcript(escalation_id, number), trail.to_bytes()
        self._store.publish(path, data)
        return {path: data}

    def exception(self, exception_id: str) -> InterfaceChangeException:
        """An exception by its id.

        Raises:
            InputError: there is none.
        """
        path = layout.exception(exception_id)
        if not self._store.exists(path):
            raise InputError(
                f"there is no interface change exception {exception_id}",
                remedy="`specwright exceptions list` lists them",
            )
        return InterfaceChangeException.from_bytes(self._store.read(path), path)
