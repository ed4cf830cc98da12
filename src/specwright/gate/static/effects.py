"""What an implementation does beside returning a value, held against its contract's effects (design:
module-directory, module-scope).

    static.effect     files, environment, clock, chance, standard input, printing or process state, undeclared
    static.refused    network, processes, threads, native code: no contract can declare them
    static.dynamic    code or names made at run time, or attributes that lead behind a value

Every mention counts, not only calls: a function that is passed around is used somewhere. Comments and
configuration in the module change nothing, because only the syntax tree is read.

Left out: what allowed third-party packages do, and what is reached by values that no source shows; the sandbox
holds those.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from specwright.domain.contract.contract import EffectType, MicroModuleContract
from specwright.gate.findings import FindingCode
from specwright.gate.source.names import BUILTIN, OWN, Names
from specwright.gate.source.paths import PathTypes
from specwright.gate.source.standard import canonical
from specwright.gate.static.dynamic import DYNAMIC_ADVICE, dynamic_uses
from specwright.gate.static.effect_table import (
    PATH_LOOKS,
    PATH_READS,
    PATH_WRITES,
    REFUSED_METHODS,
    Kind,
    kind_of,
)
from specwright.ports.gate import Finding

_REFUSED = {Kind.NETWORK, Kind.PROCESS, Kind.UNKNOWN}
_ARCHIVES = {"zipfile.ZipFile", "tarfile.open", "tarfile.TarFile"}
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
# what a method means on a value of unknown type: only names that texts, dates and containers do not have
_ONLY_ON_PATHS = (PATH_WRITES | PATH_READS | PATH_LOOKS) - {
    "replace",
    "walk",
    "owner",
    "group",
    "resolve",
    "absolute",
}
_TYPE = {Kind.WRITE: "WRITE", Kind.MUTATION: "MUTATION"}


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
            if kind in _REFUSED:
                advice = "a module is a value function with effects on files; take the result as an input"
                yield Finding(FindingCode.STATIC_REFUSED, where, f"`{use.what}` {kind.value}: {advice}")
            elif kind not in declared:
                yield Finding(FindingCode.STATIC_EFFECT, where, undeclared_text(kind, use.what))
    for node, what in dynamic_uses(tree, names):
        yield Finding(FindingCode.STATIC_DYNAMIC, f"{path}:{node.lineno}", f"`{what}`; {DYNAMIC_ADVICE}")


def undeclared_text(kind: Kind, what: str) -> str:
    """What to say about an effect that no contract declares."""
    lacking = f"the contract declares no such {_TYPE.get(kind, 'CALL')} effect"
    return f"`{what}` {kind.value}, and {lacking}; remove it, or have the value passed in"


def declared_kinds(contract: MicroModuleContract) -> set[Kind]:
    """What a contract's effects allow (design: module-directory)."""
    kinds: set[Kind] = set()
    for effect in contract.effects:
        if effect.type is EffectType.WRITE:
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


class _Uses:
    """Finds the effects of one file."""

    def __init__(self, tree: ast.Module, names: Names, own_methods: set[str]) -> None:
        self._tree = tree
        self._names = names
        self._types = PathTypes(tree, names)
        self._own_methods = own_methods
        self._loggers = set(_logger_names(tree, names))

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
        if self._is_logger(node, dotted) and not _is_quiet(parent, node):
            yield _Use(
                node, (Kind.PRINTING,), ast.unparse(parent if isinstance(parent, ast.Attribute) else node)
            )
        if isinstance(parent, ast.Attribute) and dotted:
            return  # a part of a longer path
        foreign = dotted and not dotted.startswith((OWN, "."))
        if foreign and (kinds := self._kinds(node, dotted)):
            yield _Use(node, kinds, dotted.removeprefix(BUILTIN))
        elif isinstance(node, ast.Attribute) and not foreign:
            yield from self._method(node)

    def _is_logger(self, node: ast.expr, dotted: str) -> bool:
        """Whether it is the module's logger; what a logger says above the level of a debug message is printed."""
        return (
            isinstance(node.ctx, ast.Load) and dotted in self._loggers
            if isinstance(node, ast.Name)
            else False
        )

    def _kinds(self, node: ast.Attribute | ast.Name, dotted: str) -> tuple[Kind, ...]:
        dotted = canonical(dotted)
        if dotted.startswith("pathlib.") and isinstance(node, ast.Attribute) and dotted.count(".") == 2:
            return _of_path(node.attr, self._call(node), 1)
        kind, call = kind_of(dotted), self._call(node)
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            return (Kind.MUTATION,) if isinstance(node, ast.Attribute) else ()
        if kind is Kind.OPEN:
            return _opened(call, 1)
        if dotted in _ARCHIVES and call and not self._is_harmless(dotted, call) and _packs(call):
            return (Kind.WRITE,)
        if kind is Kind.ENVIRONMENT and dotted.startswith("os.environ") and self._changes_environment(node):
            return (Kind.MUTATION,)
        if kind in (Kind.PURE, Kind.DYNAMIC) or (call and self._is_harmless(dotted, call)):
            return ()
        return (kind,)

    def _is_harmless(self, dotted: str, call: ast.Call) -> bool:
        """Whether the arguments make a value function of it."""
        first = call.args[0] if call.args else None
        match dotted:
            case "builtins.print":
                return any(keyword.arg == "file" for keyword in call.keywords)
            case "time.gmtime" | "time.localtime" | "time.ctime" | "time.asctime" | "time.mktime":
                return first is not None
            case "email.utils.formatdate":
                return first is not None
            case "gzip.compress":
                # the present time stands in what it writes, unless another is given
                return any(keyword.arg == "mtime" for keyword in call.keywords)
            case "time.strftime":
                return len(call.args) > 1
            case "asyncio.sleep":
                return isinstance(first, ast.Constant) and first.value == 0
            case "sqlite3.connect":
                return isinstance(first, ast.Constant) and first.value == ":memory:"
            case "random.Random":
                return first is not None
            case "logging.getLogger":
                return self._is_module_logger(call)
            case _:
                return first is not None and self._types.of(first) == "memory"

    def _is_module_logger(self, call: ast.Call) -> bool:
        """Whether a logger gets a name at the top of the file, so that each use of it can be seen."""
        parent = self._names.parents.get(id(call))
        return bool(call.args) and isinstance(parent, ast.Assign) and parent in self._tree.body

    def _changes_environment(self, node: ast.Attribute | ast.Name) -> bool:
        parent = self._names.parents.get(id(node))
        if isinstance(parent, ast.Subscript):
            return not isinstance(parent.ctx, ast.Load)
        last = node.attr if isinstance(node, ast.Attribute) else ""
        return last in {"update", "pop", "setdefault", "clear", "popitem", "__setitem__", "__delitem__"}

    def _method(self, node: ast.Attribute) -> Iterator[_Use]:
        kind = self._types.of(node.value)
        on_path, call, name = kind == "path", self._call(node), node.attr
        if name in REFUSED_METHODS:
            yield _Use(node, (Kind.PROCESS,), f".{name}")
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Call):
            return  # what the call itself means is reported at its name
        if kind == "value" or not (
            on_path or (name in _ONLY_ON_PATHS | {"open"} and name not in self._own_methods)
        ):
            return
        if kinds := _of_path(name, call, 0):
            yield _Use(node, kinds, f".{name}()")

    def _call(self, node: ast.expr) -> ast.Call | None:
        parent = self._names.parents.get(id(node))
        return parent if isinstance(parent, ast.Call) and parent.func is node else None


_QUIET = {"debug", "info", "isEnabledFor", "getEffectiveLevel"}


def _logger_names(tree: ast.Module, names: Names) -> Iterator[str]:
    """The loggers of a file, `_log = logging.getLogger(__name__)` at its top."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function)):
                if names.dotted(function) == "logging.getLogger":
                    yield OWN + name
            case _:
                pass


def _is_quiet(parent: ast.AST | None, node: ast.AST) -> bool:
    """Whether no more is done with a logger than to log what nobody sees unless they ask for it."""
    return isinstance(parent, ast.Attribute) and parent.value is node and parent.attr in _QUIET


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[_Use]:
    for alias in node.names:
        name = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
        kind = kind_of(name)
        if kind in _REFUSED and name not in {"os", "sys"}:
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


def _packs(call: ast.Call) -> bool:
    """Whether an archive is opened to be written; its compression is part of its mode."""
    modes = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    return any(not (isinstance(mode, ast.Constant) and str(mode.value).startswith("r")) for mode in modes)


def _annotations(tree: ast.Module) -> Iterator[int]:
    """The nodes of annotations that only name types."""
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            annotation: ast.expr | None = getattr(node, field, None)
            if annotation is not None and not any(
                isinstance(part, ast.Call) for part in ast.walk(annotation)
            ):
                yield from map(id, ast.walk(annotation))
