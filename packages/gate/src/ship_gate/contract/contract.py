"""The micro module contract: five dimensions, the fingerprint over them, and the hosts that its effects name (design:
contracts, module-directory).

What a contract may say in its texts and types is checked when it is locked (`contract.rules`).

Effects on hosts are

    POST, PUT, PATCH    requests of that method
    CALL                requests of every other method; its target is an address, or it is no effect on a host

A target names a host, `https://api.example.org`, hosts below one, `https://*.example.org`, or any host, `https://*`,
where an input or an answer names it; several stand beside each other with a comma. A path after it is for the reader.
"""

import keyword
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, Self, cast

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


SENDING = frozenset({EffectType.POST, EffectType.PUT, EffectType.PATCH})
"""The types of effects that are a method of HTTP."""

_HOST = r"\*|(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*"
_TARGET = re.compile(rf"(?P<scheme>https?)://(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?(?:/\S*)?")
_NETWORK = re.compile(r"\b[a-z][a-z0-9+.-]*://|\b(?:network|socket|internet)\b", re.IGNORECASE)
_WAITS = re.compile(r"\d[\d.]*\s*(?:ms\b|milliseconds?\b|s\b|seconds?\b|minutes?\b)|\btimeout\b|\bseconds\b")
_PORTS = {"http": 80, "https": 443}


class HostPattern(NamedTuple):
    """The hosts that a target names: `*` is any, `*.example.org` those below one; no port is that of the scheme."""

    scheme: str
    host: str
    port: int | None

    def covers(self, scheme: str, host: str, port: int) -> bool:
        """Whether it names a host."""
        if self.scheme != scheme or port != (self.port or (port if self.host == "*" else _PORTS[scheme])):
            return False
        return self.host in {"*", host} or (self.host.startswith("*.") and host.endswith(self.host[1:]))


def is_network(effect: Effect) -> bool:
    """Whether an effect is one on hosts."""
    named = effect.type in (EffectType.CALL, EffectType.MUTATION) and _NETWORK.search(effect.target)
    return effect.type in SENDING or bool(named)


def network_effects(contract: MicroModuleContract) -> list[Effect]:
    """The effects of a contract on hosts."""
    return [effect for effect in contract.effects if is_network(effect)]


def host_patterns(target: str) -> list[HostPattern]:
    """The hosts that a target names; none if it is not in the form."""
    parts = [_TARGET.fullmatch(part.strip()) for part in target.split(",")]
    found = [one for one in parts if one]
    if len(found) < len(parts):
        return []
    return [
        HostPattern(one["scheme"], one["host"], int(one["port"]) if one["port"] else None) for one in found
    ]


def is_covered(effects: Iterable[tuple[str, str]], method: str, scheme: str, host: str, port: int) -> bool:
    """Whether effects, each a type and a target, allow a request."""
    own = {method} & {one.value for one in SENDING} or {EffectType.CALL.value}
    return any(
        kind in own and any(one.covers(scheme, host, port) for one in host_patterns(target))
        for kind, target in effects
    )


def network_problems(contract: MicroModuleContract) -> Iterator[str]:
    """What keeps the effects on hosts from being locked, one sentence each."""
    for index, effect in enumerate(contract.effects):
        path = f"effects.{index}"
        if not is_network(effect):
            continue
        if effect.type is EffectType.MUTATION:
            yield f"{path}.type: a request that changes something is a POST, PUT or PATCH; write which"
        if not host_patterns(effect.target):
            yield (
                f"{path}.target: {effect.target!r} names no host reached by HTTP; write `https://api.example.org`, or "
                "`https://*, http://*` where an input names it"
            )
        if not _WAITS.search(effect.description):
            yield (
                f"{path}.description: it does not say how long the module waits for an answer; add it, `..., waits at most "
                "10 seconds`"
            )
        if not contract.error_surfaces:
            yield (
                f"{path}.type: a host can be unreachable, slow or wrong ({effect.type}), and no error surface says what "
                "happens then; declare one"
            )
