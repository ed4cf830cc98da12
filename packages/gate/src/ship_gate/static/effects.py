"""What an implementation does beside returning a value, held against its contract's effects (design:
module-directory, contracts).

    static.effect     files, environment, clock, chance, standard input, printing or process state, undeclared
    static.refused    processes, threads, native code, sockets: no contract can declare them; HTTP where it is not declared
    static.dynamic    code or names made at run time, or attributes that lead behind a value

Every mention counts, not only calls: a function that is passed around is used somewhere. Comments and
configuration in the module change nothing, because only the syntax tree is read.

What a name does only with some arguments or on some objects is left to the run, which sees what happens
(`runs.observed_effects`). The names are for code that no test, example or drawn input reaches, and for what a run
cannot see.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ship_gate.contract.contract import EffectType, MicroModuleContract
from ship_gate.contract.network import is_network
from ship_gate.contract.rules import is_any_number
from ship_gate.findings import Finding, FindingCode
from ship_gate.source.names import BUILTIN, OWN, Names
from ship_gate.source.standard import canonical
from ship_gate.static.dynamic import DYNAMIC_ADVICE, dynamic_uses
from ship_gate.static.effect_table import (
    DATABASE_METHODS,
    PATH_LOOKS,
    PATH_READS,
    PATH_WRITES,
    REFUSED_METHODS,
    Kind,
    kind_of,
)
from ship_gate.syntax_tree import imported_roots

_REFUSED = {Kind.NETWORK, Kind.UNSCRIPTED, Kind.PROCESS, Kind.EXTENSION, Kind.UNKNOWN}
_SOCKET = "import socket"
"""Where hosts may be asked, what is taken out of it is judged: its exceptions are those of HTTP."""
_WORDS = {
    Kind.CLOCK: ("clock", "time", "now", "today", "date"),
    Kind.WAITING: ("clock", "time", "now", "today", "date"),
    Kind.RANDOMNESS: ("random", "chance", "entropy", "uuid", "token"),
    Kind.ENVIRONMENT: ("environment", "env", "variable", "platform", "process"),
    Kind.INPUT: ("standard input", "stdin"),
    Kind.PRINTING: (
        "print",
        "stdout",
        "standard output",
        "stderr",
        "standard error",
        "console",
        "terminal",
        "log",
    ),
}
# what a cache says of itself follows the calls before
_CACHE_METHODS = {"cache_info", "cache_clear"}
_CLOCK_METHODS = {"now", "utcnow"}
_CLIENTS = {"httpx", "httpx2"}
# of an answer of these: how long it took
_CLOCK_OF_ANSWERS = "elapsed"
# methods of paths that nothing else has: texts, dates and containers do not
_ONLY_ON_PATHS = (PATH_WRITES | PATH_READS) - {"replace", "walk"}
_TYPE = {Kind.WRITE: "WRITE", Kind.BESIDE: "WRITE", Kind.MUTATION: "MUTATION"}


_ONLY_READ = "`sqlite3.connect(f'file:{quote(str(path))}?mode=ro', uri=True)`, with `urllib.parse.quote`"
HTTP_ADVICE = (
    "the contract names no host; declare it (CALL https://api.example.org for GET and HEAD, POST, PUT, PATCH for those), or "
    "take what was received as an input"
)

_PATHS = re.compile(r"\b(?:Path|str)\b")
_NEAR = re.compile(
    r"\b(back-?up|beside|copy|copies|folder of|lock|next to|parent|sibling|suffix|temporary)", re.IGNORECASE
)
"""How a description speaks of files beside the target."""


class _Use(NamedTuple):
    """Something that a file does."""

    node: ast.expr | ast.stmt
    kinds: tuple[Kind, ...]
    what: str


def effect_findings(
    tree: ast.Module, names: Names, path: str, contract: MicroModuleContract, own_methods: set[str]
) -> Iterator[Finding]:
    """The undeclared and the refused effects of one file.

    Args:
        tree: The file.
        names: Of `read_names`.
        path: The file's place, for the findings.
        contract: Declares the effects.
        own_methods: The methods of the module's own classes: they are no methods of a path.
    """
    declared = declared_kinds(contract)
    for use in _Uses(tree, names, own_methods).found():
        where = f"{path}:{use.node.lineno}"
        for kind in use.kinds:
            if kind is Kind.HTTP and kind not in declared:
                yield Finding(FindingCode.STATIC_REFUSED, where, f"`{use.what}` {kind.value}: {HTTP_ADVICE}")
            elif kind in _REFUSED and not (use.what == _SOCKET and Kind.HTTP in declared):
                advice = "a module is a value function with effects on files; take the result as an input"
                yield Finding(FindingCode.STATIC_REFUSED, where, f"`{use.what}` {kind.value}: {advice}")
            elif kind not in declared:
                yield Finding(FindingCode.STATIC_EFFECT, where, undeclared_text(kind, use.what))
    for node, what in dynamic_uses(tree, names):
        yield Finding(FindingCode.STATIC_DYNAMIC, f"{path}:{node.lineno}", f"`{what}`; {DYNAMIC_ADVICE}")


def undeclared_text(kind: Kind, what: str) -> str:
    """What to say about an effect that no contract declares."""
    lacking = f"the contract declares no such {_TYPE.get(kind, 'CALL')} effect"
    advice = "remove it, or have the value passed in"
    if kind is Kind.WRITE and what.startswith("sqlite3.connect"):
        advice = f"a database that is only read is opened by {_ONLY_READ}"
    return f"`{what}` {kind.value}, and {lacking}; {advice}"


def declared_kinds(contract: MicroModuleContract) -> set[Kind]:
    """What a contract's effects allow (design: module-directory)."""
    kinds: set[Kind] = set()
    for effect in contract.effects:
        if is_network(effect):
            kinds |= {Kind.HTTP}
        elif effect.type is EffectType.WRITE:
            kinds |= {Kind.WRITE, Kind.LOOK}
        elif effect.type is EffectType.MUTATION:
            kinds |= {Kind.MUTATION, Kind.ENVIRONMENT}
        elif effect.type is EffectType.CALL:
            text = f"{effect.target} {effect.description}".lower()
            named = {
                kind for kind, words in _WORDS.items() if any(word in effect.target.lower() for word in words)
            }
            # a target that is none of these is a file; its description may speak of time and chance as it likes
            kinds |= named or {Kind.READ, Kind.LOOK}
            if "file" in text or "director" in text:
                kinds |= {Kind.READ, Kind.LOOK}
    return kinds


def write_targets(contract: MicroModuleContract) -> dict[str, Any] | None:
    """What the WRITE effects of a contract name: its `parameters` in their order, the one that stands for any number of
    arguments as `many`, and by `names` those that are written to, each with whether nothing beside it may be; None if some
    effect names no path that a call is given."""
    inputs = {slot.name: slot.type for slot in contract.inputs}
    names: dict[str, bool] = {}
    for effect in contract.effects:
        if effect.type is not EffectType.WRITE:
            continue
        mentioned = [name for name in inputs if re.search(rf"\b{re.escape(name)}\b", effect.target)]
        if not any(_PATHS.search(inputs[name]) for name in mentioned):
            return None
        for name in mentioned:
            is_exact = effect.target.strip() == name and not _NEAR.search(effect.description)
            names[name] = names.get(name, True) and is_exact and "Path" in inputs[name]
    many = next((slot.name for slot in contract.inputs if is_any_number(slot)), "")
    return {"parameters": [*inputs], "many": many, "names": names} if names else None


class _Uses:
    """Finds the effects of one file."""

    def __init__(self, tree: ast.Module, names: Names, own_methods: set[str]) -> None:
        self._tree = tree
        self._names = names
        self._own_methods = own_methods
        self._asks_by_httpx = not imported_roots(tree).isdisjoint(_CLIENTS)

    def found(self) -> Iterator[_Use]:
        skipped = set(_annotations(self._tree))
        for node in ast.walk(self._tree):
            if id(node) in skipped:
                continue
            match node:
                case ast.Import() | ast.ImportFrom(level=0):
                    yield from _imports(node)
                case ast.Attribute() | ast.Name():
                    yield from self._mention(node)
                case _:
                    pass

    def _mention(self, node: ast.Attribute | ast.Name) -> Iterator[_Use]:
        parent = self._names.parents.get(id(node))
        dotted = self._names.dotted(node)
        if isinstance(parent, ast.Attribute) and dotted:
            return  # a part of a longer path
        foreign = dotted and not dotted.startswith((OWN, "."))
        if foreign and (kinds := self._kinds(node, dotted)):
            yield _Use(node, kinds, dotted.removeprefix(BUILTIN))
        elif isinstance(node, ast.Attribute) and not foreign:
            yield from self._method(node)

    def _kinds(self, node: ast.Attribute | ast.Name, dotted: str) -> tuple[Kind, ...]:
        dotted = canonical(dotted)
        if dotted.startswith("pathlib.") and isinstance(node, ast.Attribute) and dotted.count(".") == 2:
            return _of_path(node.attr, self._call(node), 1)
        kind = kind_of(dotted)
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            return (Kind.MUTATION,) if isinstance(node, ast.Attribute) else ()
        if kind is Kind.OPEN:
            return _opened(self._call(node), 1)
        if kind is Kind.ENVIRONMENT and dotted.startswith("os.environ") and self._changes_environment(node):
            return (Kind.MUTATION,)
        return () if kind in (Kind.PURE, Kind.DYNAMIC) else (kind,)

    def _changes_environment(self, node: ast.Attribute | ast.Name) -> bool:
        parent = self._names.parents.get(id(node))
        if isinstance(parent, ast.Subscript):
            return not isinstance(parent.ctx, ast.Load)
        last = node.attr if isinstance(node, ast.Attribute) else ""
        return last in {"update", "pop", "setdefault", "clear", "popitem", "__setitem__", "__delitem__"}

    def _method(self, node: ast.Attribute) -> Iterator[_Use]:
        if node.attr in REFUSED_METHODS:
            yield _Use(node, (Kind.PROCESS,), f".{node.attr}")
        elif node.attr in DATABASE_METHODS - self._own_methods:
            yield _Use(node, (Kind.EXTENSION,), f".{node.attr}()")
        elif node.attr in _ONLY_ON_PATHS and node.attr not in self._own_methods:
            yield _Use(node, _of_path(node.attr, self._call(node), 0), f".{node.attr}()")
        elif node.attr in _CACHE_METHODS:
            yield _Use(node, (Kind.STATE,), f".{node.attr}()")
        elif node.attr in _CLOCK_METHODS - self._own_methods and self._call(node):
            # of a class of C, which no run can watch
            yield _Use(node, (Kind.CLOCK,), f".{node.attr}()")
        elif node.attr == "astimezone" and (call := self._call(node)) and not (call.args or call.keywords):
            # without a zone it takes the machine's; a run in the same zone sees no difference
            yield _Use(node, (Kind.ENVIRONMENT,), ".astimezone()")
        elif node.attr == _CLOCK_OF_ANSWERS and self._asks_by_httpx:
            yield _Use(node, (Kind.CLOCK,), f".{node.attr}")

    def _call(self, node: ast.expr) -> ast.Call | None:
        parent = self._names.parents.get(id(node))
        return parent if isinstance(parent, ast.Call) and parent.func is node else None


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[_Use]:
    for alias in node.names:
        name = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
        kind = kind_of(name)
        if kind in {*_REFUSED, Kind.HTTP} and name not in {"os", "sys"}:
            yield _Use(node, (kind,), f"import {name}")


def _of_path(method: str, call: ast.Call | None, place: int) -> tuple[Kind, ...]:
    """What a path's method does; its mode stands at that place among the arguments."""
    if method == "open":
        return _opened(call, place)
    if method in PATH_WRITES:
        return (Kind.WRITE,)
    if method in PATH_READS:
        return (Kind.READ,)
    return (Kind.LOOK,) if method in PATH_LOOKS | {"cwd", "home"} else ()


def _opened(call: ast.Call | None, place: int) -> tuple[Kind, ...]:
    """What opening means by its mode."""
    if call is None:
        return (Kind.READ, Kind.WRITE)
    modes = next((k.value for k in call.keywords if k.arg == "mode"), None)
    if modes is None and len(call.args) > place:
        modes = call.args[place]
    if modes is None:
        return (Kind.READ,)
    if not (isinstance(modes, ast.Constant) and isinstance(modes.value, str)):
        return (Kind.READ, Kind.WRITE)
    writes, reads = set(modes.value) & set("wax+"), "r" in modes.value or not set(modes.value) & set("wax")
    return (*((Kind.READ,) if reads else ()), *((Kind.WRITE,) if writes else ()))


def _annotations(tree: ast.Module) -> Iterator[int]:
    """The nodes of annotations that only name types."""
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            annotation: ast.expr | None = getattr(node, field, None)
            if annotation is not None and not any(
                isinstance(part, ast.Call) for part in ast.walk(annotation)
            ):
                yield from map(id, ast.walk(annotation))
