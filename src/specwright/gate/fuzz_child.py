"""Calls a staged candidate with drawn inputs and tells what no contract allows (DESIGN §8.1, D-S8-14). Executed
as a script by `fuzz`.

It loads nothing of the factory but the files of the fuzz beside it. The same request draws the same inputs."""

import contextlib
import importlib
import json
import os
import signal
import sys
import types
from decimal import Decimal
from pathlib import Path
from typing import Any

import hypothesis


def _know_only_this_folder() -> None:
    """Make the files beside this one importable by their full names, without executing the packages above."""
    for name, places in (("specwright", []), ("specwright.gate", [str(Path(__file__).parent)])):
        package = types.ModuleType(name)
        package.__path__ = places
        sys.modules[name] = package


if __name__ == "__main__":
    _know_only_this_folder()

from specwright.gate.fuzz_examination import (  # noqa: E402 - they can be found only now
    MOST_KINDS,
    Channel,
    Examination,
    FoundError,
    HangError,
    OverTimeError,
    Subject,
)
from specwright.gate.fuzz_hostile import Sources  # noqa: E402
from specwright.gate.fuzz_sweep import sweep  # noqa: E402
from specwright.gate.fuzz_types import CONSTRUCTORS, Classes, shape_of  # noqa: E402
from specwright.gate.fuzz_values import arguments, leaves_of  # noqa: E402

__all__: list[str] = []

_MIB = 1024 * 1024


def _evaluated(texts: list[str], names: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    for text in texts:
        with contextlib.suppress(Exception):
            found.append(eval(text, {"__builtins__": _BUILTINS}, names))  # noqa: S307 - closed expressions of the tests
    return found


_BUILTINS = {kind.__name__: kind for kind in (set, frozenset, bytes, tuple, list, dict)}


def _classes(request: dict[str, Any], module: Any) -> Any:
    found: dict[str, Any] = {}
    for name, stated in request["classes"].items():
        found[name] = getattr(module, name, None) or getattr(importlib.import_module(stated["module"]), name)
    return Classes(request["classes"], found)


def _sources(request: dict[str, Any], names: dict[str, Any], folder: Path) -> Any:
    whole = _evaluated(request["constants"], names)
    given = {name: _evaluated(texts, names) for name, texts in request["given"].items()}
    numbers = [Decimal(number) for number in request["numbers"]]
    leaves = leaves_of([*whole, *given.values(), list(request["texts"])])
    near = [number + step for number in numbers for step in (0, -1, 1)]
    leaves.setdefault("int", []).extend(int(number) for number in near if number == int(number))
    leaves.setdefault("float", []).extend(map(float, near))
    cents = [
        number + step for number in numbers for step in (Decimal("0.01"), Decimal("-0.01"), Decimal("0.001"))
    ]
    leaves.setdefault("Decimal", []).extend([*near, *cents])
    lengths = [int(number) for number in near if number == int(number) and 0 <= number <= 10_000]
    return Sources(
        leaves, whole, given, lengths, folder, request["aware"], request["confined"], not request["most_size"]
    )


def _limit() -> None:
    """Bound memory, file sizes and core dumps where the platform can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        for limit, most in (
            (resource.RLIMIT_AS, 2048 * _MIB),
            (resource.RLIMIT_FSIZE, 64 * _MIB),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(limit, (most, most))


def _stop(number: int, frame: object) -> None:
    raise HangError


def _main(descriptor: int, lib: str, asked: str) -> None:
    os.set_inheritable(descriptor, False)
    channel = Channel(descriptor)
    request: dict[str, Any] = json.loads(Path(asked).read_text(encoding="utf-8"))
    # the module finds nothing of the factory
    for name in [name for name in sys.modules if name.partition(".")[0] == "specwright"]:
        del sys.modules[name]
    channel.write(event="ready")
    _limit()
    signal.signal(signal.SIGALRM, _stop)
    sys.path.insert(0, lib)
    sys.argv = ["fuzz"]
    subject = Subject(request, Path.cwd(), lib)
    classes = _classes(request, subject.module)
    shapes = {name: shape_of(text, classes) for name, text in request["parameters"].items()}
    examination = Examination(subject, shape_of(request["returns"], classes), channel)
    sources = _sources(request, {**CONSTRUCTORS, **classes.found}, subject.folder)
    drawn = arguments(shapes, frozenset(request["defaults"]), sources)
    examination.allow(request["seconds"])
    try:
        examination.sweep(sweep(shapes, sources))
        for turn in range(MOST_KINDS):
            _explore(examination, drawn, request, turn)
            if not examination.settle():
                break
    except OverTimeError:
        pass
    except HangError:
        channel.write(event="hang")
        return
    channel.write(event="end", calls=examination.calls)


def _explore(examination: Examination, drawn: Any, request: dict[str, Any], turn: int) -> None:
    """Draw inputs and shrink what was found; every fault is told as it is seen."""

    @hypothesis.seed(request["seed"] + turn)
    @hypothesis.settings(
        database=None,
        deadline=None,
        max_examples=request["examples"],
        suppress_health_check=list(hypothesis.HealthCheck),  # pyright: ignore[reportArgumentType]  # its metaclass hides the members
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
        report_multiple_bugs=True,
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(drawn)
    def explored(given: dict[str, Any]) -> None:
        examination.examine(given)

    try:
        explored()
    except (FoundError, ExceptionGroup) as found:
        # they were told when they were seen, and so was what comes and goes; anything else is ours
        if isinstance(found, ExceptionGroup) and (ours := found.split(FoundError)[1]):
            raise ours from None


if __name__ == "__main__":
    _main(int(sys.argv[1]), *sys.argv[2:])
    sys.stdout.flush()
    os._exit(0)
