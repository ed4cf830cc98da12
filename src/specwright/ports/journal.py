"""The journal port: what happened once is never asked again (DESIGN §4)."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from specwright.canonical_json import JsonValue

__all__ = ["Draws", "Journal", "Scope", "Stamp"]


class Stamp(NamedTuple):
    """The id and time of a Wire: `wire_` + ULID, ISO-8601 UTC."""

    wire_id: str
    ts: str


class Draws(Protocol):
    """Ids and clock readings. Each is journalled, so that a re-run draws the same."""

    def hex8(self, taken: Callable[[str], bool] = ...) -> str:
        """Eight lowercase hex digits from a secure source, drawn again while `taken` says so (D4)."""
        ...

    def now(self) -> str:
        """The time, ISO-8601 UTC in milliseconds."""
        ...

    def stamps(self, count: int) -> list[Stamp]:
        """Fresh Wire ids with their times, drawn together (D32)."""
        ...

    def readings(self, values: list[float]) -> list[float]:
        """Measured values such as durations: the journalled ones when the run is repeated."""
        ...


class Scope(Draws, Protocol):
    """A named stretch of work whose recorded answers are told apart by their order within it.

    A scope is opened anew each time its stretch of work is entered; it then starts again at its first record.
    Its name must be unique for each logical stretch (task, attempt, round, role), or it would meet another's.
    """

    @property
    def name(self) -> str:
        """The place in the run, for instance `TSK-003.1/split_evenly/round-1/proposer`."""
        ...

    def recall(self, kind: str, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        """What was answered here before, else what `live` answers now, recorded and fsynced.

        Args:
            kind: `model`, `tool`, `verdict`, `place`, `kept` or `draw`; only draws are repeated from a recorded run.
            request: What is asked, complete; its SHA-256 is part of the key.
            live: Asks for real. Its exceptions pass through and nothing is recorded.

        Raises:
            NonDeterminismError: another request was recorded at this place.
        """
        ...


class Journal(Protocol):
    """The append-only record of a run."""

    def scope(self, name: str) -> Scope:
        """Enter a stretch of work."""
        ...
