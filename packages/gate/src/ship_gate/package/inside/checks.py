"""The tests and the documented examples of a package: what each reaches, whether it holds, and which faults they notice
(design: package-gate).

The map from checks to functions comes from `sys.settrace`, of which only the calls are used: every Python has it, it costs
no dependency, and no line is traced.
"""

import ast
import contextlib
import doctest
import json
import linecache
import os
import re
import sys
import threading
import time
import traceback
import types
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from ship_gate.package.inside.forks import Send, Work
from ship_gate.package.inside.types import described

json_loads = json.loads
"""As it is before code of the package is loaded."""
_SHOWN = 300
_TEST_SECONDS = 20.0
_MOST_FAULT_SECONDS = 3.0
_FRAMES = 3
_RAISES = ("raises", "assertRaises", "assertRaisesRegex")
_MOST_TYPES = 8
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
_REFUSED = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.kill",
    "os.chmod",
    "os.chown",
)
_CHANGING = {
    "now", "today", "utcnow", "time", "time_ns", "localtime", "gmtime", "monotonic", "perf_counter", "random", "randint",
    "choice", "shuffle", "sample", "uuid1", "uuid4", "urandom", "token_hex", "environ", "getenv", "getpid", "getcwd",
    "gethostname", "platform", "getlocale", "setlocale", "getuser", "expanduser", "id",
}  # fmt: skip
"""Names in a code that may give another value on another day or machine."""


def said(error: BaseException) -> str:
    """An error in a line."""
    try:
        text = traceback.format_exception_only(error)[-1].strip().splitlines()[0]
        return re.sub(r" at 0x[0-9a-f]+", "", " ".join(text.split()))[:_SHOWN]
    except Exception:  # a `__str__` of the package
        return type(error).__name__


def examples_of(modules: Iterable[str]) -> list[doctest.DocTest]:
    """The examples in the docstrings of modules that were imported."""
    found: dict[str, doctest.DocTest] = {}
    for name in modules:
        module = sys.modules.get(name)
        if isinstance(module, types.ModuleType):
            tests: list[doctest.DocTest] = []
            # a docstring that is no doctest, an object that answers strangely
            with contextlib.suppress(Exception):
                tests = doctest.DocTestFinder(exclude_empty=True).find(module, name)
            found |= {test.name: test for test in tests if test.examples}
    return [found[name] for name in sorted(found)]


@dataclass(eq=False)
class Checks:
    """All checks of a package, tests first, by their places.

    Args:
        items: The tests that pytest collected.
        examples: The documented examples.
        functions: The keys of the public functions by their codes.
        send: Reports to the gate.
        root: The folder of the project.
    """

    items: Sequence[pytest.Item]
    examples: Sequence[doctest.DocTest]
    functions: dict[types.CodeType, int]
    send: Send
    root: str

    def __post_init__(self) -> None:
        self._test_files = {str(item.path) for item in self.items}
        self._reached: dict[int, list[tuple[float, int]]] = {}
        self.observed: dict[int, dict[str, list[str]]] = {}
        """For each function and parameter, the types of what checks passed."""
        self.unnoticed: dict[int, list[int]] = {}
        """The numbers of the faults of each function that no check notices."""

    def baseline(self) -> deque[Work]:
        """Run every check once, as the package is; what is left after one that ends its process is added."""
        tests, examples = list(range(len(self.items))), list(range(len(self.items), len(self)))
        middle = len(tests) // 2
        waiting = deque[Work]()
        for places in (tests[:middle], tests[middle:], examples):
            if places:
                waiting.append(self._run_once(places, waiting))
        return waiting

    def __len__(self) -> int:
        return len(self.items) + len(self.examples)

    def _run_once(self, places: list[int], waiting: deque[Work]) -> Work:
        left = list(places)

        def do(send: Send) -> None:
            watch = _Watch(self.functions, self._test_files, self.root)
            for place, following in zip(places, [*places[1:], None], strict=True):
                send({"start": place})
                watch.begin()
                began = time.perf_counter()
                outcome = self._outcome(place, following)
                seconds = time.perf_counter() - began
                send({"check": place, "seconds": seconds, **outcome, **watch.end(outcome)})

        def heard(message: dict[str, Any]) -> None:
            if "check" in message:
                left.remove(message["check"])
                self._take(message)

        def ended(how: str) -> None:
            if how and left:
                self.send({"event": "check", "place": left.pop(0), "outcome": how})
                if left:
                    waiting.append(self._run_once(left, waiting))

        return Work(do, heard, ended, _TEST_SECONDS, 20 * _TEST_SECONDS)

    def _take(self, message: dict[str, Any]) -> None:
        place, observed = message["check"], message.pop("observed", {})
        for key, parameters in observed.items():
            known = self.observed.setdefault(int(key), {})
            for name, kinds in parameters.items():
                known[name] = sorted({*known.get(name, []), *kinds})[:_MOST_TYPES]
        if message["outcome"] == "passed":
            for key in message["reached"]:
                self._reached.setdefault(key, []).append((message["seconds"], place))
        self.send({**message, "event": "check", "place": place})

    def faults(self, one: dict[str, Any], function: types.FunctionType) -> Iterator[Work]:
        """Put one fault after the other into a function, and run the checks that reach it."""
        chosen: list[int] = []
        total = 0.0
        for seconds, place in sorted(self._reached.get(one["key"], [])):
            if total + seconds > _MOST_FAULT_SECONDS and chosen:
                break
            total += seconds
            chosen.append(place)
        for number, fault in enumerate(one["faults"] if chosen else ()):
            yield self._with_fault(one["key"], number, fault, function, chosen, total)

    def _with_fault(
        self,
        key: int,
        number: int,
        fault: str,
        function: types.FunctionType,
        chosen: list[int],
        total: float,
    ) -> Work:
        outcomes: list[str] = []

        def do(send: Send) -> None:
            if not replaced(function, fault):
                send({"fault": "unfit"})
                return
            for place, following in zip(chosen, [*chosen[1:], None], strict=True):
                send({"at": place})
                if self._outcome(place, following)["outcome"] != "passed":
                    send({"fault": "noticed"})
                    return
            send({"fault": "unnoticed"})

        def heard(message: dict[str, Any]) -> None:
            if "fault" in message:
                outcomes.append(message["fault"])

        def ended(how: str) -> None:
            found = outcomes[0] if outcomes else "noticed" if how else "unfit"
            if found == "unnoticed":
                self.unnoticed.setdefault(key, []).append(number)
            self.send({"event": "fault", "key": key, "number": number, "outcome": found})

        return Work(do, heard, ended, 5 * total + 3, 5 * total + 2)

    def _outcome(self, place: int, following: int | None) -> dict[str, Any]:
        if place >= len(self.items):
            return _run_example(self.examples[place - len(self.items)])
        after = self.items[following] if following is not None and following < len(self.items) else None
        return _run_test(self.items[place], after)


def _run_test(item: pytest.Item, after: pytest.Item | None) -> dict[str, Any]:
    errors: list[pytest.ExceptionInfo[BaseException]] = []

    class Watcher:
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_makereport(self, call: Any) -> None:
            # pytest keeps that of a unittest.TestCase beside the test
            found = call.excinfo or next(iter(getattr(item, "_excinfo", None) or ()), None)
            if found is not None:
                errors.append(found)

    watcher = Watcher()
    item.config.pluginmanager.register(watcher)
    try:
        reports = runtestprotocol(item, log=False, nextitem=after)
    finally:
        item.config.pluginmanager.unregister(watcher)
    # what raised in the call of the test, as seen here, not as other plugins report it
    failed = any(one.failed for one in reports)
    skipped = any(one.skipped for one in reports)
    if not failed and not skipped and errors:
        return {"outcome": "forged", "message": "the test raised, and was reported as passed"}
    if not failed:
        ran = any(one.when == "call" and one.passed for one in reports)
        return {"outcome": "passed" if ran and not skipped else "skipped"}
    if not errors:
        return {"outcome": "failed", "message": "reported as failed", "error": "", "is_assertion": False}
    return {"outcome": "failed", **_failure(errors[0], str(item.path))}


def _failure(error: pytest.ExceptionInfo[BaseException], file: str) -> dict[str, Any]:
    frames = traceback.extract_tb(error.value.__traceback__)
    lines = [frame.lineno or 0 for frame in frames if frame.filename == file]
    begin, end = _statement(file, lines[-1]) if lines else (0, 0)
    inner = frames[-1].filename if frames else ""
    in_test = inner == file or any(part in inner for part in ("/unittest/", "/_pytest/"))
    return {
        "message": said(error.value),
        "error": type(error.value).__name__,
        "bases": [base.__name__ for base in type(error.value).__mro__],
        "is_assertion": in_test and isinstance(error.value, (AssertionError, pytest.fail.Exception)),
        "lines": [begin, end],
        "statement": "".join(linecache.getlines(file)[begin - 1 : end]).strip()[:_SHOWN] if begin else "",
        "expected": _expected(file, begin),
    }


def _expected(file: str, line: int) -> list[str]:
    """The errors that `with pytest.raises(...)`, or what unittest has for it, states around a line."""
    found: list[str] = []
    blocks = [node for node in ast.walk(_tree(file)) if isinstance(node, ast.With)]
    for node in blocks:
        for item in node.items if node.lineno <= line <= (node.end_lineno or 0) else ():
            match item.context_expr:
                case ast.Call(func=called, args=[kinds, *_]) if ast.unparse(called).endswith(_RAISES):
                    names = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
                    found += [ast.unparse(name).rpartition(".")[2] for name in names]
                case _:
                    pass
    return found


def _tree(file: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ast.Module([], [])


def _statement(file: str, line: int) -> tuple[int, int]:
    """The lines of the innermost statement that holds a line."""
    best, size = (line, line), sys.maxsize
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            length = (node.end_lineno or 0) - node.lineno
            if length < size:
                best, size = (node.lineno, node.end_lineno or line), length
    return best


class _ExampleRunner(doctest.DocTestRunner):
    """Runs the examples of a docstring, quietly, up to the first that fails."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=_FLAGS | doctest.FAIL_FAST)
        self.failed: dict[str, Any] = {}

    def report_start(self, out: Any, test: doctest.DocTest, example: doctest.Example) -> None:
        """Nothing is printed."""

    def report_success(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        """Nothing is printed."""

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        """Note what came instead of what is written; of an error its last line."""
        self._note(test, example, got=re.sub(r"\ATraceback \((?s:.*)\n(?=\S)", "", got))

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        """Note the error that no text announces."""
        bases = [base.__name__ for base in type(exc_info[1]).__mro__]
        self._note(test, example, error=type(exc_info[1]).__name__, bases=bases, message=said(exc_info[1]))

    def _note(self, test: doctest.DocTest, example: doctest.Example, **found: Any) -> None:
        self.failed = {
            "statement": example.source.strip()[:_SHOWN],
            "want": (example.exc_msg or example.want).strip()[:_SHOWN],
            "expects_error": example.exc_msg is not None,
            "line": (test.lineno or 0) + example.lineno + 1,
            "is_first": example is test.examples[0],
            **{name: value[:_SHOWN] if isinstance(value, str) else value for name, value in found.items()},
        }


def _run_example(test: doctest.DocTest) -> dict[str, Any]:
    runner = _ExampleRunner()
    fresh = doctest.DocTest(
        test.examples, dict(test.globs), test.name, test.filename, test.lineno, test.docstring
    )
    try:
        result = runner.run(fresh, out=lambda _: None, clear_globs=False)
    except BaseException as error:  # doctest lets SystemExit and its like through
        return {
            "outcome": "failed",
            "statement": "",
            "error": type(error).__name__,
            "message": said(error),
            "bases": [],
        }
    if runner.failed:
        return {"outcome": "failed", **runner.failed}
    # an example that was skipped was not tried; it says nothing
    return {"outcome": "passed", "tried": result.attempted}


class _Watch:
    """What checks reach, what they pass, and what the sandbox refuses them."""

    def __init__(self, functions: dict[types.CodeType, int], test_files: set[str], root: str) -> None:
        self._functions = functions
        self._root = root
        self._test_files = test_files
        self._places = tuple(
            dict.fromkeys([*sys.path, sys.base_prefix, os.environ["HOME"], self._root, "/dev/", "/usr/share"])
        )
        self._refused = ""
        sys.addaudithook(self._audit)

    def begin(self) -> None:
        """Another check begins."""
        self._reached: set[int] = set()
        self._raised: dict[int, set[str]] = {}
        self._direct: dict[int, set[int]] = {}
        self._entered: set[types.CodeType] = set()
        self._observed: dict[int, dict[str, set[str]]] = {}
        self._refused = ""
        sys.settrace(self._trace)
        threading.settrace(self._trace)

    def end(self, outcome: dict[str, Any]) -> dict[str, Any]:
        """What it did."""
        sys.settrace(None)
        threading.settrace(None)  # pyright: ignore[reportArgumentType] - as its documentation says
        found: dict[str, Any] = {
            "reached": sorted(self._reached),
            "raised": [[key, sorted(names)] for key, names in sorted(self._raised.items())],
            "observed": {k: {n: sorted(kinds) for n, kinds in v.items()} for k, v in self._observed.items()},
        }
        if outcome["outcome"] == "failed":
            names = {name for code in self._entered for name in code.co_names}
            found |= {
                "direct": [[key, sorted(lines)] for key, lines in sorted(self._direct.items())],
                "changing": sorted(names & _CHANGING),
                "refused": self._refused,
            }
        return found

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._refused:
            return
        if event.startswith(_REFUSED):
            self._refused = event
        elif event == "open" and str(arguments[0]).startswith("/"):
            inside = str(arguments[0]).startswith(self._places)
            self._refused = "" if inside else f"the file {arguments[0]}"[:_SHOWN]

    def _trace(self, frame: types.FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename.startswith(self._root):
            self._entered.add(code)
        key = self._functions.get(code)
        if key is None:
            return None
        self._reached.add(key)
        back = frame.f_back
        for _number in range(_FRAMES):
            if back is None or back.f_code in self._functions:
                break
            name = back.f_code.co_filename
            if name in self._test_files or name.startswith("<doctest"):
                self._direct.setdefault(key, set()).add(back.f_lineno)
                self._observe(key, frame)
                break
            back = back.f_back
        frame.f_trace_lines = False
        return self._trace_errors

    def _trace_errors(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if event == "exception":
            bases = [base.__name__ for base in argument[0].__mro__]
            self._raised.setdefault(self._functions[frame.f_code], set()).update(bases)
        return self._trace_errors

    def _observe(self, key: int, frame: types.FrameType) -> None:
        code, values = frame.f_code, frame.f_locals
        known = self._observed.setdefault(key, {})
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            if name in values and len(known.setdefault(name, set())) < _MOST_TYPES:
                known[name].add(described(values[name]))


def replaced(function: types.FunctionType, source: str) -> bool:
    """Give a function the code of another source of it; False if that does not fit."""
    old = function.__code__
    try:
        module = compile(source, old.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return False
    codes = [
        one for one in module.co_consts if isinstance(one, types.CodeType) and one.co_name == old.co_name
    ]
    if not codes or codes[0].co_freevars != old.co_freevars:
        return False
    function.__code__ = codes[0]
    return True
