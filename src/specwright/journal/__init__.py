"""The journal: every model answer and every draw of a run, append-only and replayable (design: journal)."""

from specwright.journal.journal import FileJournal, JournalScope, Recording, SystemSource
from specwright.journal.records import JournalRecord, Place, read_records

__all__ = [
    "FileJournal",
    "JournalRecord",
    "JournalScope",
    "Place",
    "Recording",
    "SystemSource",
    "read_records",
]
