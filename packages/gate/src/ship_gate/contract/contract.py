"""The micro module contract: five dimensions, and the fingerprint over them (design: contracts).

What a contract may say in its texts and types is checked when it is locked: `domain.contract.rules`.
"""

import keyword
import re
from enum import StrEnum
from typing import Annotated, Any, Self, cast

from packaging.version import Version
from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StrictBool,
    computed_field,
    model_serializer,
    model_validator,
)

from ship_gate import canonical_json
from ship_gate.base.ids import ModuleId
from ship_gate.base.record import Record, SemVer, Text

MISSING: Any = object()
"""What a pointer names that a contract does not have."""

DIMENSIONS = ("inputs", "outputs", "error_surfaces", "effects", "modes")
"""The five dimensions in the order in which they are written (design: contracts)."""


def _snake_case(name: str) -> str:
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise ValueError(f"{name!r} is a Python keyword")
    return name


ModuleName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$"), AfterValidator(_snake_case)]
"""A snake_case identifier: the module's directory and its one entry point (design: contracts)."""


class EffectType(StrEnum):
    """What kind of effect (design: contracts)."""

    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    WRITE = "WRITE"
    CALL = "CALL"
    MUTATION = "MUTATION"


class SurfaceKind(StrEnum):
    """How an error reaches the caller (design: contracts)."""

    EXCEPTION = "exception"
    CODE = "code"
    VARIANT = "variant"


class Input(Record):
    """A parameter; a default is the last constraint, `defaults to <literal>` (design: module-directory)."""

    name: str
    type: str
    constraints: list[str] = Field(default_factory=list)


class Output(Record):
    """A returned value; several outputs are a tuple in this order."""

    name: str
    type: str
    invariants: list[str] = Field(default_factory=list)


class ErrorField(Record):
    """An attribute of an exception that the module defines."""

    name: str
    type: str


class ErrorSurface(Record):
    """A failure that the caller can meet; the first one of an exception class states what that class is
    (`error_classes`): the exception of Python that it derives from, what holds for all its surfaces, its fields."""

    name: str
    when: str
    surface: SurfaceKind
    base: str = ""
    shared: str = ""
    fields: list[ErrorField] = Field(default_factory=list)

    @model_serializer(mode="wrap")
    def _without_what_is_not_stated(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        whole: dict[str, Any] = serialize(self)
        return {
            name: value for name, value in whole.items() if value or name not in {"base", "shared", "fields"}
        }


class Effect(Record):
    """Something that happens beside the return value."""

    type: EffectType
    target: str
    description: str


class Modes(Record):
    """Whether callers call it, await it, or may do both."""

    sync: StrictBool
    # `async` is a keyword, so the field is reached by its alias
    async_: StrictBool = Field(alias="async")
    notes: str = ""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    @property
    def names(self) -> list[str]:
        """`sync`, `async` or both."""
        return [name for name, on in (("sync", self.sync), ("async", self.async_)) if on]

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
    """Governance metadata (design: contracts)."""

    backward_compatible_with: list[str] = Field(default_factory=list)
    breaking_change_policy: str = "A breaking change is a new major version; consumers migrate by a task."


class RuntimeBudgets(Record):
    """Advice, reported beside what was measured (design: module-directory). Milliseconds and MiB."""

    latency_ms_p95: float | None = None
    memory_mb_max: float | None = None


def fingerprint(dimensions: dict[str, Any]) -> str:
    """SHA-256 over the RFC 8785 bytes of the five dimensions (design: contracts).

    Args:
        dimensions: JSON values under exactly the keys of `DIMENSIONS`.
    """
    return canonical_json.digest({name: dimensions[name] for name in DIMENSIONS})


class MicroModuleContract(Record):
    """The contract of one version of one module (design: contracts)."""

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
        """SHA-256 hex of the call surface (design: contracts)."""
        return fingerprint(self.dimensions())

    @property
    def ref(self) -> str:
        """`MM-...@x.y.z`."""
        return f"{self.module_id}@{self.module_version}"

    def at(self, pointer: str) -> Any:
        """The value that a JSON Pointer (RFC 6901) names, or `MISSING`."""
        value: Any = self.to_json()
        for token in pointer.split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and key in value:
                value = cast(dict[str, Any], value)[key]
            elif isinstance(value, list) and key.isdecimal() and int(key) < len(cast(list[Any], value)):
                value = cast(list[Any], value)[int(key)]
            else:
                return MISSING
        return value

    def to_json(self) -> dict[str, Any]:
        """The record without the computed fingerprint, as `contract.json` holds it."""
        return self.model_dump(mode="json", exclude={"interface_fingerprint"}, by_alias=True)


_REFERENCE = re.compile(r"MM-[0-9a-f]{8}@\^?([0-9]+\.[0-9]+\.[0-9]+)")


def serves(version: str, ref: str) -> bool:
    """Whether a version is the one that a reference names or a compatible later one; in 0.x a minor breaks.

    Args:
        version: `x.y.z`.
        ref: `MM-...@x.y.z` or `MM-...@^x.y.z`. Both name a range: a release has one version of a module, and it
            serves every consumer.
    """
    if not (match := _REFERENCE.fullmatch(ref)):
        return False
    wanted, candidate = Version(match[1]), Version(version)
    promised = 1 if wanted.major else 2
    return candidate >= wanted and candidate.release[:promised] == wanted.release[:promised]
