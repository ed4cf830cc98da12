"""The micro module contract: five dimensions, and the fingerprint over them (F§5.5, F§11.1).

What a contract may say in its texts and types is checked when it is locked: `contract_rules`.
"""

import keyword
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Field, computed_field, model_validator

from specwright import canonical_json
from specwright.domain.ids import ModuleId
from specwright.domain.record import Record, SemVer, Text

__all__ = [
    "DIMENSIONS",
    "Compatibility",
    "Dependency",
    "Effect",
    "EffectType",
    "ErrorSurface",
    "Input",
    "MicroModuleContract",
    "Modes",
    "ModuleName",
    "Output",
    "RuntimeBudgets",
    "SurfaceKind",
    "fingerprint",
]

DIMENSIONS = ("inputs", "outputs", "error_surfaces", "effects", "modes")
"""The five dimensions in the order in which they are written (F§5.5)."""


def _snake_case(name: str) -> str:
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise ValueError(f"{name!r} is a Python keyword")
    return name


ModuleName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$"), AfterValidator(_snake_case)]
"""A snake_case identifier: the module's directory and its one entry point (D21)."""


class EffectType(StrEnum):
    """What kind of effect (F§11.1)."""

    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    WRITE = "WRITE"
    CALL = "CALL"
    MUTATION = "MUTATION"


class SurfaceKind(StrEnum):
    """How an error reaches the caller (F§11.1)."""

    EXCEPTION = "exception"
    CODE = "code"
    VARIANT = "variant"


class Input(Record):
    """A parameter; a default is the last constraint, `defaults to <literal>` (DESIGN §8.1)."""

    name: str
    type: str
    constraints: list[str] = Field(default_factory=list)


class Output(Record):
    """A returned value; several outputs are a tuple in this order."""

    name: str
    type: str
    invariants: list[str] = Field(default_factory=list)


class ErrorSurface(Record):
    """A failure that the caller can meet."""

    name: str
    when: str
    surface: SurfaceKind


class Effect(Record):
    """Something that happens beside the return value."""

    type: EffectType
    target: str
    description: str


class Modes(Record):
    """Whether callers call it, await it, or may do both."""

    sync: bool
    # `async` is a keyword, so the field is reached by its alias
    async_: bool = Field(alias="async")
    notes: str = ""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    @model_validator(mode="after")
    def _one_at_least(self) -> Self:
        if not (self.sync or self.async_):
            raise ValueError("a module is sync, async or both")
        return self


class Dependency(Record):
    """Another module that this one calls, by its contract."""

    ref: Annotated[str, Field(pattern=r"^MM-[0-9a-f]{8}@\S+$")]
    why: Text


class Compatibility(Record):
    """Governance metadata (F§11.1)."""

    backward_compatible_with: list[str] = Field(default_factory=list)
    breaking_change_policy: str = "A breaking change is a new major version; consumers migrate by a task."


class RuntimeBudgets(Record):
    """Advice, reported beside what was measured (DESIGN §8.1). Milliseconds and MiB."""

    latency_ms_p95: float | None = None
    memory_mb_max: float | None = None


def fingerprint(dimensions: dict[str, Any]) -> str:
    """SHA-256 over the RFC 8785 bytes of the five dimensions (F§11.1).

    Args:
        dimensions: JSON values under exactly the keys of `DIMENSIONS`.
    """
    return canonical_json.digest({name: dimensions[name] for name in DIMENSIONS})


class MicroModuleContract(Record):
    """The contract of one version of one module (F§11.1)."""

    module_id: ModuleId
    module_version: SemVer = "1.0.0"
    name: ModuleName
    purpose: Text
    tags: list[str] = Field(default_factory=list)
    inputs: list[Input]
    outputs: list[Output]
    error_surfaces: list[ErrorSurface]
    effects: list[Effect]
    modes: Modes
    error_cases: list[str] = Field(default_factory=list)
    dependencies: list[Dependency] = Field(default_factory=list)
    compatibility: Compatibility = Compatibility()
    runtime_budgets: RuntimeBudgets = RuntimeBudgets()

    def dimensions(self) -> dict[str, Any]:
        """The five dimensions as JSON values: what the fingerprint is made of."""
        return self.model_dump(mode="json", include=set(DIMENSIONS), by_alias=True)

    @computed_field  # type: ignore[prop-decorator]  # pydantic's decorator order
    @property
    def interface_fingerprint(self) -> str:
        """SHA-256 hex of the call surface (F§11.1)."""
        return fingerprint(self.dimensions())

    @property
    def ref(self) -> str:
        """`MM-...@x.y.z`."""
        return f"{self.module_id}@{self.module_version}"

    def to_json(self) -> dict[str, Any]:
        """The record without the computed fingerprint, as `contract.json` holds it."""
        return self.model_dump(mode="json", exclude={"interface_fingerprint"}, by_alias=True)
