"""State of the module that a call changes (design: module-directory, ship-gate).

    static.state    `global`, a container, iterator or attribute of the module or of one of its classes, or a
                    mutable default, changed by what a call can reach

Building tables while the module is imported is no fault, nor is `functools.cache` on a pure helper.

Left out: containers handed to a helper that changes them under another name.
"""

import ast
from collections.abc import Iterator

from specwright.gate.findings import FindingCode
from specwright.gate.source.names import OWN
from specwright.gate.source.program import Function, Program
from specwright.ports.gate import Finding

MUTATING = {
    "append", "appendleft", "extend", "extendleft", "insert", "add", "update", "setdefault", "pop", "popleft",
    "popitem", "clear", "remove", "discard", "sort", "reverse", "rotate", "subtract", "difference_update",
    "intersection_update", "symmetric_difference_update", "move_to_end", "write", "writelines", "seek", "truncate",
    "send", "put", "put_nowait", "get_nowait", "set", "add_note", "cache_info", "cache_clear", "__setitem__", "__delitem__",
}  # fmt: skip
"""Methods that change their object."""

_STATEFUL = {
    "itertools.count", "itertools.cycle", "builtins.iter", "builtins.zip", "builtins.map", "builtins.filter",
    "builtins.enumerate", "random.Random", "io.StringIO", "io.BytesIO", "contextvars.ContextVar", "queue.Queue",
}  # fmt: skip
_CHANGES_ITS_FIRST = {
    "builtins.next", "builtins.setattr", "heapq.heappush", "heapq.heappop", "heapq.heapify", "random.shuffle",
    "bisect.insort", "bisect.insort_left", "bisect.insort_right", "operator.setitem", "operator.delitem",
    "operator.iadd", "operator.iconcat", "operator.ior",
}  # fmt: skip
_ADVICE = "keep state in values: pass it in and return it, or use functools.cache for a memo"


def state_findings(program: Program, entries: list[str]) -> Iterator[Finding]:
    """What calls change that outlives them."""
    reported: set[tuple[str, str]] = set()
    for function in program.reachable(entries):
        for line, what in _Changes(program, function).found():
            finding = Finding(FindingCode.STATIC_STATE, f"{function.file.path}:{line}", f"{what}; {_ADVICE}")
            if (finding.where, what) not in reported:
                reported.add((finding.where, what))
                yield finding


class _Changes:
    """Finds what one function changes outside of its own values."""

    def __init__(self, program: Program, function: Function) -> None:
        self._program = program
        self._function = function
        self._names = function.file.names
        self._aliases = dict(self._aliased())
        self._defaults = set(_mutable_defaults(function.node))
        self._own_mutating = {
            name
            for name, found in program.functions.items()
            for method in found
            if method.owner and not name.startswith("__") and _changes_self(method)
        }

    def found(self) -> Iterator[tuple[int, str]]:
        """Lines and what happens there."""
        for node in self._function.own_nodes():
            if isinstance(node, ast.Call):
                yield from self._called(node)
            else:
                yield from self._bound(node)

    def _bound(self, node: ast.AST) -> Iterator[tuple[int, str]]:
        match node:
            case ast.Global(names=names) if any(map(self._assigns, names)):
                yield node.lineno, f"`global {', '.join(names)}` rebinds a name of the module"
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                if name := self._shared(node.value):
                    yield node.lineno, f"`{ast.unparse(node)}` changes {name}"
            case ast.AugAssign(target=ast.Name() as target) if self._aliases.get(target.id):
                yield node.lineno, f"`{ast.unparse(node)}` changes {self._aliases[target.id]}"
            case ast.Name(ctx=ast.Load()) if self._is_stateful(node):
                yield node.lineno, f"`{node.id}` is an object of the module that changes as it is used"
            case _:
                pass

    def _called(self, node: ast.Call) -> Iterator[tuple[int, str]]:
        dotted = self._names.dotted(node.func)
        name = ""
        if dotted in _CHANGES_ITS_FIRST and node.args:
            name = self._shared(node.args[0])
        elif isinstance(node.func, ast.Attribute) and node.func.attr in MUTATING | self._own_mutating:
            name = self._shared(node.func.value)
        if name:
            yield node.lineno, f"`{ast.unparse(node)}` changes {name}"

    def _assigns(self, name: str) -> bool:
        return any(
            isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
            for node in self._function.own_nodes()
        )

    def _aliased(self) -> Iterator[tuple[str, str]]:
        """Locals that are another name for something of the module."""
        for node in self._function.own_nodes():
            match node:
                case ast.Assign(targets=[ast.Name(id=alias)], value=ast.Name() as value) if self._is_top(
                    value
                ):
                    if self._is_container(value):
                        yield alias, f"`{value.id}`, which belongs to the module"
                case ast.Assign(targets=[ast.Name(id=alias)], value=ast.Call() as call) if (
                    name := self._remembered(call)
                ):
                    yield alias, name
                case _:
                    pass

    def _is_top(self, node: ast.Name) -> bool:
        return self._names.dotted(node).startswith((OWN, "."))

    def _is_container(self, node: ast.Name) -> bool:
        value = self._value(node)
        return isinstance(
            value, (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp, ast.Call)
        )

    def _value(self, node: ast.Name) -> ast.expr | None:
        """What a name of the module's top is first bound to, in whichever file."""
        name = self._names.dotted(node).rpartition(".")[2]
        files = (self._function.file,) if self._names.dotted(node).startswith(OWN) else self._program.files
        for file in files:
            for statement in file.tree.body:
                match statement:
                    case ast.Assign(targets=[ast.Name(id=bound)], value=value) if bound == name:
                        return value
                    case ast.AnnAssign(target=ast.Name(id=bound), value=value) if bound == name:
                        return value
                    case _:
                        pass
        return None

    def _shared(self, node: ast.expr) -> str:
        """What is changed, if it outlives the call; nothing for the call's own values."""
        if isinstance(node, ast.Attribute) and (name := self._class_container(node)):
            return name
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        if isinstance(node, ast.Call):
            is_type = self._names.dotted(node.func) == "builtins.type"
            return "its class" if is_type else self._remembered(node)
        if not isinstance(node, ast.Name):
            return ""
        origin = self._names.dotted(node)
        if node.id in self._aliases:
            return self._aliases[node.id]
        if not origin:
            if node.id in self._defaults:
                return f"the default of `{node.id}`, which all calls share"
            return "its class" if node.id == "cls" and self._function.node.name != "__new__" else ""
        if origin.startswith((OWN, ".")):
            return f"`{node.id}`, which belongs to the module"
        return ""

    def _remembered(self, call: ast.Call) -> str:
        """What a cached function of the module returns: the same object for every call."""
        for found in self._program.called(self._function, call.func):
            if any("cache" in ast.unparse(decorator) for decorator in found.node.decorator_list):
                return f"what `{found.node.name}` keeps in its cache"
        return ""

    def _class_container(self, node: ast.Attribute) -> str:
        """`self.seen` where `seen` is a container of the class and no field of the instance."""
        if not (isinstance(node.value, ast.Name) and node.value.id == "self" and self._function.owner):
            return ""
        _, definition = self._program.classes[self._function.owner]
        bound = any(
            isinstance(statement, (ast.Assign, ast.AnnAssign))
            and isinstance(statement.value, (ast.List, ast.Dict, ast.Set, ast.Call))
            and _target(statement) == node.attr
            and not _is_field(statement.value)
            for statement in definition.body
        )
        own = any(
            isinstance(part, ast.Attribute)
            and isinstance(part.ctx, ast.Store)
            and part.attr == node.attr
            and isinstance(part.value, ast.Name)
            for part in ast.walk(definition)
        )
        return f"`{definition.name}.{node.attr}`, which all instances share" if bound and not own else ""

    def _is_stateful(self, node: ast.Name) -> bool:
        if not self._is_top(node):
            return False
        value = self._value(node)
        if isinstance(value, ast.GeneratorExp) or _is_mutating(value):
            return True
        return isinstance(value, ast.Call) and (
            any(file.names.dotted(value.func) in _STATEFUL for file in self._program.files)
            or any(map(_is_mutating, value.args[:1]))
            or any(map(_returns_stateful, self._program.called(self._function, value.func)))
        )


def _is_mutating(value: ast.expr | None) -> bool:
    """Whether it is a method that changes its object, by itself: `_push = _seen.append`."""
    return isinstance(value, ast.Attribute) and value.attr in MUTATING


def _returns_stateful(function: Function) -> bool:
    """Whether what it returns changes as it is used: a generator, or a function within it that rebinds its names."""
    if function.owner:
        return False
    is_generator = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in function.own_nodes())
    return is_generator or any(isinstance(node, ast.Nonlocal) for node in ast.walk(function.node))


def _mutable_defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    positional = [*node.args.posonlyargs, *node.args.args]
    pairs = [*zip(reversed(positional), reversed(node.args.defaults), strict=False)]
    pairs += [(a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d]
    for argument, default in pairs:
        if isinstance(default, (ast.List, ast.Dict, ast.Set, ast.Call)):
            rebound = any(
                isinstance(part, ast.Name) and part.id == argument.arg and isinstance(part.ctx, ast.Store)
                for part in ast.walk(node)
            )
            if not rebound:
                yield argument.arg


def _target(statement: ast.Assign | ast.AnnAssign) -> str:
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    return target.id if isinstance(target, ast.Name) else ""


def _is_field(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).endswith("field")


def _changes_self(function: Function) -> bool:
    for node in function.own_nodes():
        match node:
            case ast.Attribute(value=ast.Name(id="self"), ctx=ast.Store() | ast.Del()):
                return True
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self")), attr=method)
            ) if method in MUTATING:
                return True
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id="self")), ctx=ast.Store() | ast.Del()):
                return True
            case _:
                pass
    return False
