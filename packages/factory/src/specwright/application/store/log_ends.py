"""Notes of the log's end, stored outside the log (design: wire).

A log that was truncated or rewritten as a whole is consistent in itself. So the project notes its end at every stop, and a
release notes it once. After a kill a note may be behind, but the log still has that entry. This does not detect somebody who
also rewrites the notes, unless a release was published.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from agent_wire.entries import LogEnd, WireLog
from specwright.application.store import layout
from specwright.errors import CorruptionError, CorruptionErrors, InputErrors
from specwright.ports import StateStore


def note_log_end(store: StateStore, log: WireLog) -> None:
    """Note the end of the log when a run stops."""
    end = log.end()
    if end is None:
        return
    note = end.to_bytes()
    if not store.exists(layout.LOG_END) or store.read(layout.LOG_END) != note:
        store.replace(layout.LOG_END, note)


def note_release_end(store: StateStore, log: WireLog, release_id: str) -> None:
    """Note the end of the log beside a release, once, after the Wire that announces the release."""
    path = layout.release_log_end(release_id)
    end = log.end()
    if end is not None and not store.exists(path):
        store.publish(path, end.to_bytes())


class LogEndNotes(NamedTuple):
    """The notes of the project and its releases: the ends by the path of the note, and the unreadable notes."""

    ends: dict[str, LogEnd]
    unreadable: list[CorruptionError]

    def contradicted(self, log: WireLog) -> Iterator[str]:
        """Yield the notes that disagree with a log; either may be wrong."""
        for path, end in self.ends.items():
            with suppress(*CorruptionErrors):  # an unreadable log is reported elsewhere
                if not log.holds(end):
                    yield path


def log_ends(store: StateStore) -> LogEndNotes:
    """Read all notes."""
    notes = LogEndNotes({}, [])
    for path in (layout.LOG_END, *map(layout.release_log_end, store.names(layout.RELEASES))):
        if store.exists(path):
            try:
                notes.ends[path] = LogEnd.from_bytes(store.read(path), path)
            except InputErrors as error:
                notes.unreadable.append(
                    CorruptionError(
                        f"the note of the log's end cannot be read: {error.what}",
                        where=path,
                        remedy="restore the file, or delete it if the log is known to be whole",
                    )
                )
    return notes


def check_log_ends(store: StateStore, log: WireLog) -> None:
    """Raise if the log disagrees with the notes of its end.

    Raises:
        CorruptionError: the log was truncated, rewritten or replaced, or a note cannot be read.
    """
    notes = log_ends(store)
    if notes.unreadable:
        raise notes.unreadable[0]
    for end in notes.ends.values():
        if not log.holds(end):
            raise CorruptionError(
                f"entry {end.sequence_number} of the Wire log is missing, or not as it was noted",
                where=store.address,
                remedy="`specwright wire verify` says what was altered; restore `.specwright/` from a copy",
            )
