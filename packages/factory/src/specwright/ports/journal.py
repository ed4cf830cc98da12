"""The journal port: an answer that was received is recorded and never requested again (design: journal)."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, Protocol, cast

from agent_wire.canonical_json import JsonValue
from specwright.domain.costs import Usage
from specwright.errors import CorruptionError


class Scope(Protocol):
    """A named step of the run; its records are identified by their order within it.

    A scope is opened again each time its step is entered, and starts at its first record. Its name must be unique for each
    logical step (task, attempt, round, role), or it would read the records of another. The ids and the time of a step are
    drawn together, in one record.
    """

    @property
    def name(self) -> str:
        """The place in the run, for instance `TSK-003.1/split_evenly/round-1/proposer`."""
        ...

    def recall(self, kind: str, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        """The recorded answer at this place, or what `live` answers now, recorded and fsynced.

        Args:
            kind: `model`, `tool`, `web`, `verdict`, `place`, `kept`, `step` (ids and time) or `draw` (measured values).
            request: The complete request; its SHA-256 is recorded.
            live: Answers the request. Its exceptions pass through and nothing is recorded.

        Raises:
            NonDeterminismError: another request was recorded at this place.
        """
        ...

    def hex8(self) -> str:
        """The first eight hex digits of a new UUID4 that no other of this journal begins with (design: ids)."""
        ...

    def wire_id(self) -> str:
        """The id of a new Wire, `wire_` + ULID."""
        ...

    def now(self) -> str:
        """The time of the step, ISO-8601 UTC in milliseconds."""
        ...


class Journal(Protocol):
    """The append-only record of a run."""

    def scope(self, name: str) -> Scope:
        """Enter a step."""
        ...

    def recorded(self, scope: str, kind: str) -> JsonValue:
        """The first record of a kind in a scope, without asking for one; None if there is none."""
        ...

    def count(self, scope: str, kind: str) -> int:
        """How many records of a kind a scope has."""
        ...


@contextmanager
def read_as_model_answer(where: str) -> Generator[None]:
    """Report a journalled answer that cannot be read as one of a model.

    Args:
        where: Its place.

    Raises:
        CorruptionError: it cannot.
    """
    try:
        yield
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        NotImplementedError,
    ) as error:
        raise CorruptionError(
            "the journal has an answer that is none of a model",
            where=where,
            remedy="restore `.specwright/journal.jsonl` from a copy; `specwright verify` lists the damage",
        ) from error


def usage_of(answer: JsonValue) -> Usage:
    """The tokens of a journalled model answer; zeros where the provider reports none, or less than none."""
    message = cast(dict[str, Any], cast(dict[str, Any], answer)["message"])
    usage = cast(dict[str, Any], message.get("data", {}).get("usage_metadata") or {})
    cached = cast(dict[str, Any], usage.get("input_token_details") or {})
    return Usage(
        _count(usage.get("input_tokens")),
        _count(usage.get("output_tokens")),
        _count(cached.get("cache_read")),
        _count(cached.get("cache_creation")),
    )


def characters_of(answer: JsonValue) -> int:
    """The characters of the request that a journalled model answer answers."""
    asked = cast(dict[str, int], cast(dict[str, Any], answer).get("asked") or {})
    return sum(asked.values())


def provider_of(answer: JsonValue) -> str:
    """The model that a journalled answer was bought from; empty if it was scripted."""
    return str(cast(dict[str, Any], answer).get("model") or "")


def paid_for(answer: JsonValue) -> Decimal | None:
    """The US dollars that a journalled answer cost when it was bought; None if that is not recorded."""
    usd = cast(dict[str, Any], answer).get("usd")
    return None if usd is None else Decimal(str(usd))


def _count(tokens: Any) -> int:
    return max(0, int(tokens or 0))
