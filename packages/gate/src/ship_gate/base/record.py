"""The base class of all records: frozen, without unknown fields, validated when created."""

import re
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationError,
    model_serializer,
)

from ship_gate import canonical_json
from ship_gate.base.text import is_placeholder, printable
from ship_gate.errors import InputError


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


class OmittedIfEmpty(Record):
    """A record with optional lists that stand in its JSON only if they hold something."""

    omitted: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _without_empty(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = whole(self)
        return {name: value for name, value in data.items() if value or name not in self.omitted}


_BRANCH = re.compile(r"(?:list|dict|chain|function-[a-z]+|constrained-[a-z]+)\[")
"""What pydantic calls a branch of a union, `list[Output]`: a path of nobody's JSON."""


def _is_branch(part: int | str) -> bool:
    return isinstance(part, str) and bool(_BRANCH.match(part))


def _field_path(place: tuple[int | str, ...]) -> tuple[int | str, ...]:
    return tuple(part for part in place if not _is_branch(part))


def _is_other_branch(kind: str, place: tuple[int | str, ...]) -> bool:
    """Whether a problem says no more than that the value is of another branch of the union."""
    return kind in ("list_type", "string_type") and bool(place) and _is_branch(place[-1])


def validation_messages(error: ValidationError) -> list[str]:
    """One line per problem: the field's path, what is wrong, and the value (design: planning)."""
    lines: list[str] = []
    found = [(_field_path(detail["loc"]), detail) for detail in error.errors(include_url=False)]
    told = {
        place[:length]
        for place, detail in found
        if not _is_other_branch(detail["type"], detail["loc"])
        for length in range(len(place) + 1)
    }
    for place, detail in found:
        if place in told and _is_other_branch(detail["type"], detail["loc"]):
            continue  # what is wrong within the branch that was meant is told
        path = ".".join(map(str, place)) or "(whole)"
        value = repr(detail.get("input"))
        lines.append(f"{path}: {detail['msg']}, got {value if len(value) <= 120 else value[:117] + '...'}")
    return lines
