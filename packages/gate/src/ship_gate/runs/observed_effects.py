"""Holds what a module did while it was loaded and called against the effects that its contract declares (design:
module-directory, ship-gate).

    effects.undeclared    files, environment, clock, chance, standard input, printing or process state, undeclared
    effects.refused       processes, native code, code made at run time, sockets: no contract can declare them; requests to
                          hosts that the contract does not name, or without a timeout or a check of certificates
    effects.state         something of the module that a call changed
    effects.code          an entry point that is not what its source says

The module's process tells of an effect before it happens (`inside.observation`). What a sealed dependency does was judged
with the dependency.
"""

from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.network import is_covered, network_effects
from ship_gate.findings import Finding, FindingCode
from ship_gate.sandbox.staging import Staged
from ship_gate.sandbox.stream import ObservedEffect
from ship_gate.static.effect_table import Kind
from ship_gate.static.effects import HTTP_ADVICE, declared_kinds, undeclared_text
from ship_gate.verdict import ENTRY_FILE

_REFUSED = {Kind.NETWORK, Kind.PROCESS, Kind.EXTENSION, Kind.DYNAMIC, Kind.UNKNOWN}


_OF_HOSTS = {
    Kind.HTTP: HTTP_ADVICE,
    Kind.REQUEST: "ask the hosts that the effects name, and do not follow a redirect or link to another; or declare it",
    Kind.ENDLESS: "give each connection a timeout",
    Kind.UNCHECKED: "leave the check of certificates and names on",
}


def observed_findings(
    effects: Iterable[ObservedEffect], contract: MicroModuleContract, staged: Staged
) -> Iterator[Finding]:
    """One finding for each kind of effect and line that the contract does not declare."""
    declared = declared_kinds(contract)
    found: set[tuple[Kind, str]] = set()
    for effect in effects:
        kind = Kind.__members__.get(effect.kind, Kind.UNKNOWN)
        place = _place(effect.line, contract.name)
        if (
            kind in declared
            or (kind, place) in found
            or (kind is Kind.REQUEST and _is_named(effect.what, contract))
        ):
            continue
        found.add((kind, place))
        yield _finding(kind, staged.anonymous(effect.what), place)


def _finding(kind: Kind, what: str, place: str) -> Finding:
    if kind is Kind.STATE:
        message = (
            f"a call changes {what}, which outlives it; pass state in and return it, or use functools.cache"
        )
        return Finding(FindingCode.EFFECTS_STATE, place, message)
    if kind is Kind.CODE:
        message = f"{what} is not what the source says; leave the function as it is written"
        return Finding(FindingCode.EFFECTS_CODE, place, message)
    if kind in _OF_HOSTS:
        message = f"when it was run, `{what}` {kind.value}; {_OF_HOSTS[kind]}"
        return Finding(FindingCode.EFFECTS_REFUSED, place, message)
    if kind in _REFUSED:
        message = f"when it was run, `{what}` {kind.value}: no contract can declare that; remove it"
        return Finding(FindingCode.EFFECTS_REFUSED, place, message)
    return Finding(FindingCode.EFFECTS_UNDECLARED, place, f"when it was run, {undeclared_text(kind, what)}")


def _is_named(what: str, contract: MicroModuleContract) -> bool:
    """Whether the contract names a request, `GET https://a.example`."""
    method, _, origin = what.partition(" ")
    try:
        parts = urlsplit(origin)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return False
    effects = [(effect.type.value, effect.target) for effect in network_effects(contract)]
    return is_covered(effects, method, parts.scheme, parts.hostname or "", port)


def _place(line: str, name: str) -> str:
    module, _, rest = line.partition("/")
    return f"implementation/{rest}" if module == name and rest else ENTRY_FILE
