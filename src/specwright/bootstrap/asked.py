"""What a project asked of models since it began, for whoever pays for it."""

from pathlib import Path
from typing import NamedTuple

from specwright.bootstrap.reading import RUNTIME
from specwright.errors import SpecwrightError
from specwright.journal.records import read_records
from specwright.roles.usage import tokens_of

__all__ = ["Asked", "asked_so_far"]


class Asked(NamedTuple):
    """Answers that were received, each once.

    Args:
        calls: How many.
        input_tokens: As the provider counts them; 0 if it does not.
        output_tokens: The same.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


def asked_so_far(directory: Path) -> Asked:
    """The sum over the journal, as far as it can be read; what is wrong with it, `verify` tells."""
    asked = Asked()
    try:
        for record in read_records(directory / RUNTIME / "journal.jsonl", "model"):
            read, written = tokens_of(record.answer)
            asked = Asked(asked.calls + 1, asked.input_tokens + read, asked.output_tokens + written)
    except (SpecwrightError, KeyError, TypeError, ValueError):
        pass
    return asked
