"""Identifiers: artifact types and their prefixes, module references (design: artifact-lifecycle).

Ids are minted by the factory from drawn hex digits, never by an agent (design: ids).
"""

import re
from enum import StrEnum
from typing import Annotated, NamedTuple, Self

from pydantic import Field


class ArtifactType(StrEnum):
    """The closed set of artifact types (design: artifact-lifecycle)."""

    prefix: str
    """What the ids of this type start with (design: artifact-lifecycle)."""

    def __new__(cls, name: str, prefix: str) -> Self:
        """A member: its value, and the prefix of its ids."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.prefix = prefix
        return member

    MICRO_PLAN = "MICRO_PLAN", "MP"
    CONTRACT = "CONTRACT", "CTR"
    IMPLEMENTATION = "IMPLEMENTATION", "IMPL"
    PROPOSAL = "PROPOSAL", "PROP"
    CHALLENGE = "CHALLENGE", "CHAL"
    ADJUDICATION = "ADJUDICATION", "ADJ"
    SHIP_EVIDENCE = "SHIP_EVIDENCE", "SHIP"
    ESCALATION = "ESCALATION", "ESC"
    CONTEXT_PACK = "CONTEXT_PACK", "CP"
    INTERFACE_CHANGE_EXCEPTION = "INTERFACE_CHANGE_EXCEPTION", "ICE"
    REUSE_SEARCH_REPORT = "REUSE_SEARCH_REPORT", "RSR"
    PRODUCT_SPEC = "PRODUCT_SPEC", "SPEC"
    EXAMPLES = "EXAMPLES", "EX"


ArtifactId = Annotated[
    str, Field(pattern=r"^(MP|CTR|IMPL|PROP|CHAL|ADJ|SHIP|ESC|CP|ICE|RSR|SPEC|EX)-[0-9a-f]{8}$")
]
ModuleId = Annotated[str, Field(pattern=r"^MM-[0-9a-f]{8}$")]
ModuleRefText = Annotated[str, Field(pattern=r"^MM-[0-9a-f]{8}@[0-9]+\.[0-9]+\.[0-9]+$")]
TaskId = Annotated[str, Field(pattern=r"^T-[a-z0-9-]{1,126}$", max_length=128)]


def artifact_id(kind: ArtifactType, hex8: str) -> str:
    """The id of an artifact from eight drawn hex digits."""
    return f"{kind.prefix}-{hex8}"


def module_id(hex8: str) -> str:
    """The id of a module from eight drawn hex digits."""
    return f"MM-{hex8}"


_MODULE_REF = re.compile(r"(MM-[0-9a-f]{8})@([0-9]+\.[0-9]+\.[0-9]+)")


class ModuleRef(NamedTuple):
    """One version of one module, `MM-1a2b3c4d@1.0.0`."""

    module_id: str
    version: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a reference.

        Raises:
            ValueError: the text is not `MM-` + 8 hex + `@` + semver.
        """
        if not (match := _MODULE_REF.fullmatch(text)):
            raise ValueError(f"{text!r} is not a module reference like MM-1a2b3c4d@1.0.0")
        return cls(match[1], match[2])

    def __str__(self) -> str:
        return f"{self.module_id}@{self.version}"
