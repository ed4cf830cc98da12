"""Watches the module of a process: effects, state that outlives a call, and whether it is what was read (design: ship-gate).

A module could give a function other code, defaults, annotations or another docstring than the source says, while it is
imported or by a call. So each entry point is made again from the source, with an empty body, among the names of the module,
and compared.
"""

import ast
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ship_gate.inside.observation import audit, library_watch
from ship_gate.inside.observation.clock import ModuleClock
from ship_gate.inside.observation.module_state import ModuleState
from ship_gate.inside.observation.process_state import changes, process_state
from ship_gate.inside.observation.written_files import WrittenFiles

_PARTS = (
    "__defaults__",
    "__kwdefaults__",
    "__annotations__",
    "__doc__",
    "__dict__",
    "__closure__",
    "__name__",
)


def _code_changes(module: types.ModuleType, file: Path, entries: Iterable[str]) -> Iterator[str]:
    """What of the entry points is not as the source says.

    Args:
        module: As it was imported.
        file: Its source.
        entries: The names of the entry points; each is bound once, by an undecorated definition.
    """
    source = file.read_bytes()
    tree = ast.parse(source)
    whole = compile(source, str(file), "exec", dont_inherit=True)
    codes = {part.co_name: part for part in whole.co_consts if isinstance(part, types.CodeType)}
    for name in entries:
        function: Any = getattr(module, name, None)
        if type(function) is not types.FunctionType or function.__globals__ is not vars(module):
            yield f"`{name}`"
            continue
        if function.__code__ != codes.get(name):
            yield f"the code of `{name}`"
        again = _stub_of(tree, name, module)
        for part in _PARTS:
            if repr(getattr(again, part)) != repr(getattr(function, part)):
                yield f"`{name}.{part}`"


def _stub_of(tree: ast.Module, name: str, module: types.ModuleType) -> Any:
    """The function with its docstring alone, from the source."""
    body: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            body.append(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            has_text = ast.get_docstring(node, clean=False) is not None
            node.body = node.body[:1] if has_text else [ast.Pass()]
            body.append(node)
    stub = ast.fix_missing_locations(ast.Module(body, []))
    names = dict(vars(module))
    exec(compile(stub, "<stub>", "exec", dont_inherit=True), names)  # noqa: S102 - only its defaults and annotations are executed
    return names.get(name)


class Observer:
    """Tells what a module does from before it is loaded to the last look.

    Args:
        send: Takes a message to the gate.
        plan: Of the process.
        clock: The module's.
    """

    def __init__(
        self, send: Callable[[dict[str, Any]], None], plan: dict[str, Any], clock: ModuleClock
    ) -> None:
        self._send = send
        self._folder: str = plan["folder"]
        self._package: str = plan["package"]
        self._process = process_state()
        self._module: ModuleState | None = None
        self._entries: dict[str, list[str]] = {}
        self._calls = 0
        self._scratch: str = plan["scratch"]
        self._files = WrittenFiles(self._scratch, {})
        sources = b"\n".join(path.read_bytes() for path in Path(plan["lib"]).rglob("*.py"))
        self.tell = audit.teller(plan["to_gate"], self._folder)
        library_watch.install(self.tell, sources, clock)
        audit.install(plan["to_gate"], self._folder, tuple(plan["reads"]))

    def loaded(self, surface: dict[str, Any]) -> None:
        """The module was imported."""
        self._tell(changes(self._process, process_state()))
        targets = {name: described["writes"] for name, described in surface.items() if "writes" in described}
        self._files = WrittenFiles(self._scratch, targets)
        # under another name the module is looked at from outside only
        if self._package == "modules":
            self._module = ModuleState(self._folder)
            self._entries = {name: [*described["functions"]] for name, described in surface.items()}
            self._look_at_code()

    def before_call(self) -> None:
        """A call is made next."""
        self._process = process_state()

    def watch_files(self, module: str, folder: str, args: list[object], kwargs: dict[str, object]) -> None:
        """With what it is made, and in which folder; files beside its targets are compared."""
        self._files.before_call(module, folder, args, kwargs)

    def after_call(self, *, printed: bool) -> None:
        """A call has ended; the module's objects are looked at after the first calls, and then ever less often."""
        self._calls += 1
        self._tell([*changes(self._process, process_state()), *([("PRINTING", "a text")] * printed)])
        self._tell(("BESIDE", path) for path in self._files.undeclared())
        if self._calls < 4 or self._calls & (self._calls - 1) == 0:
            self._look_at_state()

    def last_look(self) -> None:
        """No call will be made any more."""
        self._look_at_state()
        self._look_at_code()

    def _look_at_state(self) -> None:
        if self._module is not None:
            self._tell(("STATE", name) for name in self._module.changes())

    def _look_at_code(self) -> None:
        for name, entries in self._entries.items():
            module = sys.modules.get(f"modules.{name}")
            file = Path(self._folder, name, "__init__.py")
            if module is not None and file.exists():
                self._tell(("CODE", what) for what in _code_changes(module, file, entries))

    def _tell(self, effects: Iterable[tuple[str, str]]) -> None:
        for kind, what in effects:
            self._send({"event": "effect", "kind": kind, "what": what, "line": ""})
