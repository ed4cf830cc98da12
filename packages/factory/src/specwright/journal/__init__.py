"""The journal: every model answer and every draw of a run, append-only (design: journal)."""

from specwright.journal.journal import (
    FileJournal,
    JournalRecord,
    JournalScope,
    Place,
    SystemSource,
    line_of,
    read_records,
)

__all__ = ["FileJournal", "JournalRecord", "JournalScope", "Place", "SystemSource", "line_of", "read_records"]
