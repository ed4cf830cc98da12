"""The base of every record that is stored or handed over: frozen, closed, validated when it is made."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from specwright import canonical_json
from specwright.errors import InputError

__all__ = ["Record", "SemVer", "Sha256", "Text", "Timestamp", "is_placeholder", "validation_messages"]

_PLACEHOLDERS = {"tbd", "todo", "n/a", "na", "none", "tba", "fixme", "placeholder", "...", "-", "?"}


def is_placeholder(text: str) -> bool:
    """Whether a text stands for nothing: as a whole value, or by a leading `TODO:` or `TBD:` (D19)."""
    stripped = text.strip().lower()
    return (
        stripped.rstrip(".") in _PLACEHOLDERS
        or stripped in _PLACEHOLDERS
        or stripped.startswith(("todo:", "tbd:"))
    )


def _no_placeholder(text: str) -> str:
    if is_placeholder(text):
        raise ValueError(f"{text!r} is a placeholder; write the real value")
    return text


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_no_placeholder)]
"""A text that says something: not empty, not a placeholder."""

SemVer = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$")]
"""`major.minor.patch` (F§8.3)."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A SHA-256 as 64 lowercase hex characters."""

Timestamp = Annotated[
    str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$")
]
"""ISO-8601 in UTC, `2026-05-06T16:00:00.123Z`."""


class Record(BaseModel):
    """A frozen value with no fields but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values, fields in declaration order."""
        return self.model_dump(mode="json")

    def to_bytes(self) -> bytes:
        """The record as it is stored."""
        return canonical_json.pretty(self.to_json())

    @classmethod
    def from_bytes(cls, data: bytes, where: str) -> Self:
        """Read a stored record.

        Args:
            data: JSON bytes.
            where: The file, for the message.

        Raises:
            InputError: not JSON, or not a record of this kind; the message names each field.
        """
        try:
            return cls.model_validate(canonical_json.loads(data))
        except ValidationError as error:
            raise InputError(
                f"not a valid {cls.__name__}: {'; '.join(validation_messages(error))}", where=where
            ) from error
        except ValueError as error:
            raise InputError(f"not readable as JSON: {error}", where=where) from error


def validation_messages(error: ValidationError) -> list[str]:
    """One line per fault: the field's path, what is wrong, and the value that failed (F§10.1)."""
    lines: list[str] = []
    for fault in error.errors(include_url=False):
        path = ".".join(str(part) for part in fault["loc"]) or "(whole)"
        value = repr(fault.get("input"))
        lines.append(f"{path}: {fault['msg']}, got {value if len(value) <= 120 else value[:117] + '...'}")
    return lines
