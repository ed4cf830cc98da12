"""The journal: every model answer and every draw of a run, append-only and replayable (design: journal)."""

from specwright.journal.journal import FileJournal, FileScope, Recording, SystemSource
from specwright.journal.records import JournalRecord, Place, read_records

__all__ = ["FileJournal", "FileScope", "JournalRecord", "Place", "Recording", "SystemSource", "read_records"]
