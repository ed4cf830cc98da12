"""The base class of all records: frozen, without unknown fields, validated when created."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from specwright import canonical_json
from specwright.domain.base.markdown_text import printable
from specwright.errors import InputError

_PLACEHOLDERS = {"tbd", "todo", "n/a", "na", "none", "tba", "fixme", "placeholder", "...", "-", "?"}


def is_placeholder(text: str) -> bool:
    """Whether a text is a placeholder: the whole value, or by a leading `TODO:` or `TBD:` (design: contracts)."""
    stripped = text.strip().lower()
    return (
        stripped.rstrip(".") in _PLACEHOLDERS
        or stripped in _PLACEHOLDERS
        or stripped.startswith(("todo:", "tbd:"))
    )


def _check_text(text: str) -> str:
    if not printable(text):
        raise ValueError("the text has no visible character")
    if is_placeholder(text):
        raise ValueError(f"{text!r} is a placeholder; write the real value")
    return text


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_check_text)]
"""A text that says something: not empty, not a placeholder."""

SemVer = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$")]
"""`major.minor.patch` (design: artifact-lifecycle)."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A SHA-256 as 64 lowercase hex characters."""

Timestamp = Annotated[
    str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$")
]
"""ISO-8601 in UTC, `2026-05-06T16:00:00.123Z`."""


class Record(BaseModel):
    """A frozen value without unknown fields."""

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
    """One line per problem: the field's path, what is wrong, and the value (design: planning)."""
    lines: list[str] = []
    for detail in error.errors(include_url=False):
        path = ".".join(str(part) for part in detail["loc"]) or "(whole)"
        value = repr(detail.get("input"))
        lines.append(f"{path}: {detail['msg']}, got {value if len(value) <= 120 else value[:117] + '...'}")
    return lines
