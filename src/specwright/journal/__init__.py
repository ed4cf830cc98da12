"""The journal: every model answer and every draw of a run, append-only and replayable (DESIGN §4)."""

from specwright.journal.journal import Cassette, FileJournal, FileScope, SystemSource
from specwright.journal.records import Place, Recorded, read_records

__all__ = ["Cassette", "FileJournal", "FileScope", "Place", "Recorded", "SystemSource", "read_records"]
