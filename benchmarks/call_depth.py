"""How much code three flows go through: the distinct functions of the project that are entered between two points.

`python benchmarks/call_depth.py [--files]` builds `examples/nameplate` in this process, with its playbook and the real gate,
and judges a module directory with a failing test. It prints functions and files for

- a Challenger's PASS: from the answer of its model to the end of the step (`Debate.challenge`);
- a failing test: from the end of the last sandboxed process to the end of `specwright gate`, its page written;
- a budget: from the command `run --budget-tokens` to the comparison with what the next call may cost (`shortage`).

It finds its points by the names of functions and files, which a checkout from before the packages has as well
(`PYTHONPATH=OLD/src`), so that both can be counted. Nothing is asserted.
"""

import argparse
import contextlib
import io
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from specwright.cli.main import run

_PACKAGES = ("/specwright/", "/ship_gate/", "/agent_wire/")
_BROKEN_TEST = "\n\ndef test_that_fails() -> None:\n    assert initials('Ada Lovelace') == 'L. A.'\n"

Point = Callable[[CodeType, str], bool]


class Counter:
    """Counts the functions entered between two points; the last pass counts if the first point comes again.

    Args:
        begins: Whether counting begins at a call (`call`) or a return (`return`) of a function.
        ends: Whether it ends there; without it, it ends with the command.
    """

    def __init__(self, begins: Point, ends: Point | None = None) -> None:
        self._begins, self._ends = begins, ends
        self._entered: set[CodeType] | None = None
        self.functions: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, _arg: Any) -> None:
        """Note a call or a return; `sys.setprofile` calls it."""
        code = frame.f_code
        if event not in {"call", "return"} or not any(name in code.co_filename for name in _PACKAGES):
            return
        if self._begins(code, event):
            self._entered = set()
        if self._entered is None:
            return
        if event == "call":
            self._entered.add(code)
        if self._ends is not None and self._ends(code, event):
            self.end()

    def end(self) -> None:
        """Keep what was counted."""
        if self._entered is not None:
            self.functions, self._entered = self.functions or self._entered, None


def named(name: str, file: str, event: str) -> Point:
    """The call or the return of a function of this qualified name, in a file with this in its path."""
    return lambda code, seen: seen == event and code.co_qualname == name and file in code.co_filename


@contextlib.contextmanager
def counting(counter: Counter) -> Generator[None]:
    """Count in this thread and in those that it starts."""
    threading.setprofile(counter)
    sys.setprofile(counter)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # pyright: ignore[reportArgumentType]
        counter.end()


def specwright(*arguments: str) -> str:
    """Run a command in this process; returns what it prints."""
    printed, argv = io.StringIO(), sys.argv
    sys.argv = ["specwright", *arguments]
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            run()
    except SystemExit:
        pass
    finally:
        sys.argv = argv
    return printed.getvalue()


def report(title: str, counter: Counter, *, files: bool) -> None:
    """Print a flow's figures."""
    places = {code.co_filename for code in counter.functions}
    print(f"{title:<60} {len(counter.functions):>5} functions {len(places):>4} files")
    if files:
        for place in sorted(places):
            names = sorted(code.co_qualname for code in counter.functions if code.co_filename == place)
            print(f"    {place.partition('/src/')[2]}: {', '.join(names)}")


def main() -> None:
    """Run the three flows."""
    parser = argparse.ArgumentParser(description="Count the functions that three flows go through.")
    parser.add_argument("--files", action="store_true", help="list the functions of each file")
    files = parser.parse_args().files
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        challenge = Counter(
            lambda code, event: (
                event == "return" and code.co_name == "_generate" and "playbook" in code.co_filename
            ),
            named("Debate.challenge", "/debate/", "return"),
        )
        budget = Counter(
            lambda code, event: (
                event == "call" and code.co_name == "run" and "/commands/" in code.co_filename
            ),
            lambda code, event: event == "call" and code.co_name == "shortage" and "cost" in code.co_filename,
        )
        print(specwright("init", "np", "--example", "nameplate")[-500:], file=sys.stderr)
        with counting(budget):
            print(specwright("run", "np", "--budget-tokens", "500000")[-500:], file=sys.stderr)
        with counting(challenge):
            print(specwright("run", "np", "--approve")[-500:], file=sys.stderr)
        (module,) = Path("np/state_store/modules").glob("MM-*/*")
        shutil.copytree(module, "initials")
        test = Path("initials/tests/test_initials.py")
        test.write_text(test.read_text() + _BROKEN_TEST)
        failing = Counter(lambda code, event: event == "return" and "/sandbox/" in code.co_filename)
        with counting(failing):
            print(specwright("gate", "initials")[-1500:], file=sys.stderr)
        report("the answer of a Challenger, to the end of its step", challenge, files=files)
        report("a failing test, to its page", failing, files=files)
        report("--budget-tokens, to the comparison", budget, files=files)


if __name__ == "__main__":
    main()
