"""Gives a module's process surroundings that a consumer's program may have, other than the usual ones (design:
ship-gate).

It happens before anything of a candidate is loaded: the package has another name and place, frames and loaded modules
tell nothing of the gate, and texts have another encoding by default. Time zone and hash seed are set where the process
is started, and the event loop runs in `module_host`.
"""

import gc
import locale
import os
import sys
import types
import zlib
from importlib.machinery import ModuleSpec, SourceFileLoader, SourcelessFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

_INSIDE = str(Path(__file__).parents[1])
_APPLICATION = "/opt/application"


def take_on(plan: dict[str, Any]) -> None:
    """Change what the plan's `surroundings` name."""
    if plan["package"] != "modules":
        sys.meta_path.insert(0, _Finder(plan))  # type: ignore[arg-type]  # a loader's spec is a spec
    if "LOCALE" in plan["surroundings"]:
        # how the names of files are encoded stays as it is
        locale.setlocale(locale.LC_CTYPE, "C")
    if "LISTING" in plan["surroundings"]:
        _turn_listings()
    if "CALLERS" in plan["surroundings"]:
        _hide_callers()


def _turn_listings() -> None:
    """List folders from their end: the order in which a system gives names is nobody's to rely on."""
    listdir: Any = os.listdir
    scandir: Any = os.scandir

    def turned(*given: Any, **named: Any) -> list[Any]:
        return listdir(*given, **named)[::-1]

    def scanned(*given: Any, **named: Any) -> "_Listing":
        with scandir(*given, **named) as entries:
            return _Listing([*entries][::-1])

    os.listdir, os.scandir = turned, scanned  # type: ignore[assignment]  # they are called alike


class _Listing:
    """What `os.scandir` gives: an iterator that can be closed."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> "_Listing":
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> "_Listing":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give nothing more."""
        self._entries = iter(())


class _Finder:
    """Finds `modules` under another name and as if it were in another folder."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self._real = Path(plan["lib"], "modules")
        self._package: str = plan["package"]
        self._folder: str = plan["folder"]

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """As `importlib` asks for it."""
        first, *rest = name.split(".")
        if first != self._package:
            return None
        place = Path(*rest)
        for file in (place / "__init__.py", place.with_suffix(".py") if rest else place):
            for loader, real in (
                (_Source, self._real / file),
                (_Bytecode, self._real / file.with_suffix(".pyc")),
            ):
                if os.path.isfile(real):  # noqa: PTH113 - it is asked before the module is watched
                    shown = self._folder + str(file)
                    folders = [shown.removesuffix("/__init__.py")] if file.name == "__init__.py" else None
                    return spec_from_file_location(
                        name, shown, loader=loader(name, shown, real), submodule_search_locations=folders
                    )
        return None


class _Source(SourceFileLoader):
    """Loads one file as if it were in another place."""

    def __init__(self, name: str, shown: str, real: Path) -> None:
        super().__init__(name, shown)
        self._real = str(real)

    def get_data(self, path: str) -> bytes:
        """The source, wherever it is said to be."""
        return super().get_data(self._real)

    def path_stats(self, path: str) -> Any:
        """There is no bytecode."""
        raise OSError(path)


class _Bytecode(SourcelessFileLoader):
    """Loads a sealed module's file as if it were in another place."""

    def __init__(self, name: str, shown: str, real: Path) -> None:
        super().__init__(name, shown)
        self._real = str(real)

    def get_data(self, path: str) -> bytes:
        """The bytecode, wherever it is said to be."""
        return super().get_data(self._real)


def _hide_callers() -> None:
    """Rename what the module could see of this package: functions, files, loaded modules, arguments."""
    for function in [found for found in gc.get_objects() if type(found) is types.FunctionType]:
        if function.__code__.co_filename.startswith(_INSIDE):
            function.__code__ = _renamed(function.__code__)
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] not in ("ship_gate", "specwright"):
            continue
        del sys.modules[name]
        for known, value in [*vars(module).items()]:
            if isinstance(value, str) and value.startswith(_INSIDE):
                setattr(module, known, _place(value))
        module.__name__ = "application"
    sys.argv = [f"{_APPLICATION}/main.py", "--quiet"]
    sys.orig_argv[:] = [sys.executable, *sys.argv]


def _renamed(code: types.CodeType) -> types.CodeType:
    """The code as if it were another file's and another function's."""
    parts = tuple(_renamed(part) if isinstance(part, types.CodeType) else part for part in code.co_consts)
    return code.replace(
        co_filename=_place(code.co_filename), co_name="call", co_qualname="call", co_consts=parts
    )


def _place(path: str) -> str:
    return _APPLICATION if path == _INSIDE else f"{_APPLICATION}/{zlib.crc32(path.encode()):x}.py"
