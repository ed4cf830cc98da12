from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Saved:
    """What was written."""

    target: Path
    words: int
