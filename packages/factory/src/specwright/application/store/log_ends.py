"""Where the log ended, noted outside it (design: wire).

A log that was cut off at its end or rewritten as a whole is consistent with itself. So the project notes the end
at every stop, and a release notes it once, when it is made: a release goes out, and so does its note. A kill
leaves a note that is behind, which the log still holds. Leaves out whoever rewrites the notes as well and has no
release outside.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from agent_wire.entries import LogEnd, WireLog
from specwright.application.store import layout
from specwright.errors import CorruptionError, CorruptionErrors, InputErrors
from specwright.ports import StateStore


def note_log_end(store: StateStore, log: WireLog) -> None:
    """Note the end of the log at a stop of the run."""
    end = log.end()
    if end is None:
        return
    note = end.to_bytes()
    if not store.exists(layout.LOG_END) or store.read(layout.LOG_END) != note:
        store.replace(layout.LOG_END, note)


def note_release_end(store: StateStore, log: WireLog, release_id: str) -> None:
    """Note the end of the log beside a release, once; the announcement of the release is in it."""
    path = layout.release_log_end(release_id)
    end = log.end()
    if end is not None and not store.exists(path):
        store.publish(path, end.to_bytes())


class LogEndNotes(NamedTuple):
    """What the project and its releases noted: the ends by the path of the note, and the notes that cannot be read."""

    ends: dict[str, LogEnd]
    unreadable: list[CorruptionError]

    def contradicted(self, log: WireLog) -> Iterator[str]:
        """The notes of what a log does not hold, or not so; the log may be wrong, or the note."""
        for path, end in self.ends.items():
            with suppress(*CorruptionErrors):  # a log that cannot be read is told as such
                if not log.holds(end):
                    yield path


def log_ends(store: StateStore) -> LogEndNotes:
    """Every end that was noted."""
    notes = LogEndNotes({}, [])
    for path in (layout.LOG_END, *map(layout.release_log_end, store.names(layout.RELEASES))):
        if store.exists(path):
            try:
                notes.ends[path] = LogEnd.from_bytes(store.read(path), path)
            except InputErrors as error:
                notes.unreadable.append(
                    CorruptionError(
                        f"the note of where the log ended cannot be read: {error.what}",
                        where=path,
                        remedy="restore the file, or delete it if the log is known to be whole",
                    )
                )
    return notes


def check_log_ends(store: StateStore, log: WireLog) -> None:
    """Refuse to go on from a log that is not the one of which the ends were noted.

    Raises:
        CorruptionError: it was cut off, rewritten or replaced, or a note cannot be read.
    """
    notes = log_ends(store)
    if notes.unreadable:
        raise notes.unreadable[0]
    for end in notes.ends.values():
        if not log.holds(end):
            raise CorruptionError(
                f"the Wire log no longer holds its entry {end.sequence_number} as it was noted",
                where=store.address,
                remedy="`specwright wire verify` says what was altered; restore `.specwright/` from a copy",
            )
