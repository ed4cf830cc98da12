"""Effects on hosts: which hosts a contract names, and whether a request is one of those (design: module-directory,
contracts).

    POST, PUT, PATCH    requests of that method
    CALL                requests of every other method; its target is an address, or it is no effect on a host

A target names a host, `https://api.example.org`, hosts below one, `https://*.example.org`, or any host, `https://*`,
where an input or an answer names it; several stand beside each other with a comma. A path after it is for the reader.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ship_gate.contract.contract import Effect, EffectType, MicroModuleContract

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
