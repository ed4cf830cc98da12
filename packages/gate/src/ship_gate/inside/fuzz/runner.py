"""Calls a module with drawn inputs and tells what no contract allows (design: module-directory, ship-gate).

It runs as tests do: beside the module's process, not in it, so that a module cannot hide what it did: every call goes
through the gate to the process that holds the module. The same job draws the same inputs. What is seen goes out at once, so
that it is known also if the module ends its process.
"""

import contextlib
import itertools
import os
import shutil
import signal
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ship_gate.base.boundary_values import CONSTRUCTORS, TYPE_VARIABLE, BoundaryLimit
from ship_gate.inside.codec import Codec, UndecodableError, UnencodableError
from ship_gate.inside.frames import Link
from ship_gate.inside.fuzz.dangerous_values import Behaviour, behaviours, lay_out_files, of_input
from ship_gate.inside.fuzz.inputs import (
    CounterexampleError,
    HangError,
    OverTimeError,
    calls_of_tests,
    classes_of,
    drawn_arguments,
    enlarged,
    explore,
    overlong,
    sources_of,
    stop,
    sweep,
)
from ship_gate.inside.proxies import Caller, install
from ship_gate.inside.values import (
    DrawnFunction,
    Function,
    Items,
    RefusedError,
    Shape,
    measure,
    mismatch,
    shape_of,
    shown,
    values_of_variable,
)

_MOST_KINDS = 5
"""The most kinds of faults that are reported."""

_MOST_TEXT = 300
_MOST_MESSAGE = 160
_TIMES = 5
_USES = ("takes ", "yields more", "calls ")
"""How the module's process tells that iterables and callables were used otherwise than the contract says."""
_ONE_IN = 3
"""One in so many inputs is given twice. The input itself decides which, so that a shrunk one is chosen alike."""


class _Fault(NamedTuple):
    """Something that no contract allows: what kind, what happened, and where in the module."""

    kind: str
    happened: str
    line: str = ""


class _Outcome(NamedTuple):
    """What one call did.

    Args:
        text: Of the result, as it crossed; equal results have equal texts. Of an exception, that of its fields.
        result: Itself, or an exception's fields by name.
        errors: The names of an exception's class and bases, if it raised one.
        message: Of the exception.
        line: Where in the module it was raised.
        changed: Whether the module changed what it was given.
        unfit: What is wrong with a result that does not cross the boundary, or with how iterables and callables were used.
        items: What was yielded before an exception.
    """

    text: bytes = b""
    result: Any = None
    errors: tuple[str, ...] = ()
    message: str = ""
    line: str = ""
    changed: bool = False
    unfit: str = ""
    items: Sequence[Any] = ()

    def description(self) -> str:
        return f"raises {self.errors[0]}" if self.errors else f"gives {shown(self.result)}"

    def same(self) -> bytes:
        return self.errors[0].encode() + self.text if self.errors else self.text


class _ModuleUnderTest:
    """The module, called in a directory of its own.

    Args:
        request: What `fuzz` asks.
        scratch: Holds that directory.
        link: To the gate.
        send: Sends a message of this process, marked as its own.
        codec: For arguments and results.

    `used` is the time that this process and the module's had up to the last reply, without what they waited for a processor.
    """

    def __init__(
        self, request: dict[str, Any], scratch: Path, link: Link, send: Callable[..., None], codec: Codec
    ) -> None:
        self.request = request
        self.folder = scratch / "here"
        self.entries: list[str] = [entry["name"] for entry in request["entries"]]
        self._link = link
        self._send = send
        self._codec = codec
        self._last = 0
        self.used = 0.0
        self.behaviour: Behaviour | None = None

    def text(self, arguments: dict[str, Any]) -> bytes:
        """The arguments of a call as they cross; empty if they do not."""
        try:
            args, kwargs = self.passed(arguments)
            named = {name: _crossing(name, value) for name, value in kwargs.items()}
            names = self.request["parameters"]
            placed = [_crossing(name, value) for name, value in zip(names, args, strict=False)]
            return self._codec.encode_call([*placed, *args[len(placed) :]], named)
        except UnencodableError:
            return b""

    def passed(self, arguments: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Arguments as they are passed: by name, unless any number of arguments stand behind them. Where one before these
        is left out, none of them is passed."""
        many: str = self.request["many"]
        names: list[str] = [*self.request["parameters"]]
        if not arguments.get(many):
            return [], {name: value for name, value in arguments.items() if name != many}
        before = names[: names.index(many)]
        rest = {name: value for name, value in arguments.items() if name not in (*before, many)}
        if any(name not in arguments for name in before):
            return [], {name: arguments[name] for name in before if name in arguments} | rest
        return [*(arguments[name] for name in before), *arguments[many]], rest

    def crossing(self, value: object) -> bytes:
        """A value as it crosses."""
        return self._codec.encode(value)

    def call(self, entry: str, text: bytes, *, again: bool = False) -> _Outcome:
        """Call an entry point once, bounded in time.

        Args:
            entry: Its name.
            text: The arguments as they cross.
            again: Whether it finds the files that the last call left.

        Raises:
            HangError: there is no reply.
        """
        if self.request["files"] and not again:
            shutil.rmtree(self.folder, ignore_errors=True)
            lay_out_files(self.folder, self.request["found"])
        self._last += 1
        folder = str(self.folder if self.request["files"] else self.folder.parent)
        call = {
            "event": "call",
            "id": self._last,
            "module": self.request["name"],
            "entry": entry,
            "cwd": folder,
            "again": again,
        }
        signal.setitimer(signal.ITIMER_REAL, self.request["call_seconds"])
        try:
            self._send(call, text)
            header, reply = self._link.receive()
            asked = 0
            while "web" in header or "callback" in header:
                if "web" in header:
                    self._answer(asked, reply)
                    asked += 1
                else:
                    # what is drawn is called where the module is, so no module asks for this
                    self._send({"event": "callback", "error": [["builtins", "RuntimeError"]], "message": ""})
                header, reply = self._link.receive()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        # what does not cross is told without it
        self.used = float(header.get("used", self.used))
        return self._outcome(header, reply)

    def _answer(self, place: int, request: bytes) -> None:
        """Answer a request of the module as every host does in this call."""
        assert self.behaviour is not None  # only a module that asks hosts asks
        answer = self.behaviour.answer(place, request.partition(b" ")[0].decode("latin-1"))
        self._send({"event": "web", "delay": answer.delay, "failure": answer.failure}, answer.data)

    def _outcome(self, header: dict[str, Any], reply: bytes) -> _Outcome:
        changed = bool(header.get("changed"))
        if "error" in header:
            names = tuple(name for _, name in header["error"])
            fields, items = self._carried(reply)
            text = self._codec.encode([fields, items])
            message = _short(header["message"])
            return _Outcome(text, fields, names, message, header["line"], changed, items=items)
        if "unfit" in header:
            what: str = header["unfit"].partition("; ")[0]
            return _Outcome(unfit=what.partition(" ")[2] or "returns what cannot cross")
        try:
            return _Outcome(reply, self._codec.decode(reply), changed=changed)
        except UndecodableError as error:
            return _Outcome(changed=changed, unfit=f"returns what is no value: {error}")

    def _carried(self, reply: bytes) -> tuple[dict[str, Any], list[Any]]:
        """The fields of an exception, and what was yielded before it."""
        try:
            _, fields, *items = self._codec.decode(reply)
            return dict(fields), list(items[0]) if items else []
        except (UndecodableError, TypeError, ValueError, IndexError):
            return {}, []


class _Examination:
    """Judges calls.

    Args:
        subject: The module.
        returns: The type of what it returns.
        fields: The types of the fields of declared exceptions, by class.
        send: Tells what is found.
        hosts: What hosts do, if the module asks any.
        generic: The types of the parameters of a generic function, by name.
    """

    def __init__(
        self,
        subject: _ModuleUnderTest,
        returns: Shape,
        fields: Mapping[str, Mapping[str, Shape]],
        send: Callable[..., None],
        hosts: Sequence[Behaviour] = (),
        generic: Mapping[str, Shape] = MappingProxyType({}),
    ) -> None:
        self._subject = subject
        self._hosts = hosts
        self._generic = generic
        self._request = subject.request
        self._returns = returns
        self._fields = fields
        self._send = send
        self._kinds: dict[str, type[CounterexampleError]] = {}
        self._settled: set[str] = set()
        self._most_used = self._most_processor = 0.0

    def allow(self, seconds: float) -> None:
        """Go on for so long in processor time of this process, and for a few times as long in that of both processes;
        another program's load does not shorten it."""
        self._most_processor = time.process_time() + seconds
        self._most_used = self._subject.used + _TIMES * seconds

    def settle(self) -> bool:
        """What was found is shrunk; look for others. Whether there was anything new."""
        new = bool(self._kinds.keys() - self._settled)
        self._settled |= self._kinds.keys()
        return new

    def sweep(self, inputs: Iterator[dict[str, Any]]) -> None:
        """Examine inputs that are not drawn; the first one of each kind is reported."""
        for arguments in inputs:
            with contextlib.suppress(CounterexampleError):
                self.examine(arguments, first_only=True)

    def sweep_hosts(self, inputs: Iterator[dict[str, Any]]) -> None:
        """Examine inputs with all that hosts do."""
        for arguments in inputs:
            for behaviour in self._hosts:
                with contextlib.suppress(CounterexampleError):
                    self.examine(arguments, first_only=True, behaviour=behaviour)

    def examine(
        self, arguments: dict[str, Any], *, first_only: bool = False, behaviour: Behaviour | None = None
    ) -> None:
        """Call the module and raise if it did what no contract allows.

        Raises:
            CounterexampleError: of a class of its own for every kind of fault, by which Hypothesis tells them apart.
        """
        if time.process_time() > self._most_processor or self._subject.used > self._most_used:
            raise OverTimeError
        if self._request["most_size"] and measure(arguments) > self._request["most_size"]:
            return
        if not (text := self._subject.text(arguments)):
            return
        call = self._shown(arguments)
        if self._hosts:
            self._subject.behaviour = behaviour or of_input(self._hosts, text)
            call = f"{call}, where hosts answer {self._subject.behaviour.text},"
        self._send({"event": "calling", "call": call, "size": measure(arguments)})
        fault = next(self._faults(arguments, text), None)
        if fault is None:
            return
        key = f"{fault.kind} {fault.line or fault.happened[:40]}"
        if key in self._settled or (first_only and key in self._kinds):
            return
        if key not in self._kinds:
            if len(self._kinds) >= _MOST_KINDS:
                return
            self.allow(self._request["seconds"])  # to shrink it, and to find others
        event = {"key": key, "call": call, **fault._asdict()}
        self._send({"event": "counterexample", **event})
        raise self._kinds.setdefault(key, type(f"Found{len(self._kinds)}", (CounterexampleError,), {}))

    def _faults(self, arguments: dict[str, Any], text: bytes) -> Iterator[_Fault]:
        main, *twins = self._subject.entries
        outcome = self._subject.call(main, text)
        yield from self._undeclared(outcome, arguments)
        if outcome.changed:
            yield _Fault("changed", "changes an argument that it was given")
        if self._request["repeatable"] and zlib.crc32(text) % _ONE_IN == 0:
            repeated = self._subject.call(main, text)
            if repeated.same() != outcome.same():
                yield _Fault(
                    "differs",
                    f"{outcome.description()}, and when it is called again it {repeated.description()}",
                )
        if self._request["writes"] and zlib.crc32(text) % _ONE_IN == 1:
            for fault in self._undeclared(self._subject.call(main, text, again=True), arguments):
                happened = f"called again, on the files that it left, it {fault.happened}"
                yield fault._replace(happened=happened)
        for other in twins:
            twin = self._subject.call(other, text)
            if self._request["repeatable"] and twin.same() != outcome.same():
                yield _Fault("twins", f"{outcome.description()}, but {other} {twin.description()}")
            yield from self._undeclared(twin, arguments)

    def _undeclared(self, outcome: _Outcome, arguments: dict[str, Any]) -> Iterator[_Fault]:
        if outcome.errors:
            declared = self._request["errors"]
            colon = ": " if outcome.message else ""
            above = next((name for name in outcome.errors if name in declared), "")
            near = f"; it is a {above}, but errors match by exact class" if above else ""
            if outcome.errors[0] not in declared and not (
                "OSError" in declared and "OSError" in outcome.errors
            ):
                yield _Fault(
                    "raises", f"raises {outcome.errors[0]}{colon}{outcome.message}{near}", outcome.line
                )
            yield from self._unfit_fields(outcome)
            if outcome.items and (problem := mismatch(Items([*outcome.items]), self._returns)):
                yield _Fault("returns", f"yields a value of another type: {problem}")
            return
        if fault := self._unfit_result(outcome, arguments):
            yield fault
        for name, limits in self._request["bounds"].items():
            for limit in limits:
                if name in arguments and arguments[name] is not None and _breaks(arguments[name], limit):
                    text = f"{outcome.description()}, though {name} breaks {limit['text']!r}"
                    yield _Fault("accepts", text, f"{name}: {limit['text']}")

    def _unfit_result(self, outcome: _Outcome, arguments: dict[str, Any]) -> _Fault | None:
        """What is wrong with a result, whatever it should be."""
        if outcome.unfit:
            is_use = outcome.unfit.startswith(_USES)
            return _Fault("uses" if is_use else "returns", outcome.unfit)
        if problem := mismatch(outcome.result, self._returns):
            return _Fault("returns", f"returns a value of another type: {problem}")
        if problem := self._invented(outcome.result, arguments):
            return _Fault(
                "returns", f"returns what it was not given, where its type says {TYPE_VARIABLE}: {problem}"
            )
        if self._request.get("echoes") and outcome.text != self._subject.crossing(arguments["value"]):
            return _Fault("returns", f"comes back as {shown(outcome.result)}")
        return None

    def _invented(self, result: object, arguments: Mapping[str, Any]) -> str:
        """The first value of the type variable that came out of nothing, since nothing else is known of the type than what
        was given."""
        given = {
            self._subject.crossing(value)
            for name, shape in self._generic.items()
            if name in arguments
            for value in values_of_variable(arguments[name], shape)
        }
        returned = values_of_variable(result, self._returns) if self._generic else ()
        return next((shown(value) for value in returned if self._subject.crossing(value) not in given), "")

    def _unfit_fields(self, outcome: _Outcome) -> Iterator[_Fault]:
        """Fields of a declared exception that it lacks, or that are of another type."""
        name = outcome.errors[0]
        for field, shape in self._fields.get(name, {}).items():
            if field not in outcome.result:
                yield _Fault("fields", f"raises {name} without its field {field}", f"{name}.{field}")
            elif problem := mismatch(outcome.result[field], shape, f"{name}.{field}"):
                yield _Fault(
                    "fields", f"raises {name} with another field than declared: {problem}", f"{name}.{field}"
                )

    def _shown(self, arguments: dict[str, Any]) -> str:
        many, keywords = self._request["many"], self._request["keywords"]
        places, names = self._subject.passed(arguments)
        parts = [shown(value) for value in places]
        named = bool(parts)
        for name in self._request["parameters"]:
            if name in names:
                text = shown(names[name])
                parts.append(f"{name}={text}" if named or name in keywords else text)
            elif name != many:
                named = True
        text = f"{self._request['entries'][0]['name']}({', '.join(parts)})"
        text = text.replace(f"{self._subject.folder}{os.sep}", "").replace(str(self._subject.folder), ".")
        return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 4]}...)"


def _crossing(name: str, value: Any) -> Any:
    """An argument with what stands for a function that was drawn."""
    return Function(name, value.results) if isinstance(value, DrawnFunction) else value


def _short(text: str) -> str:
    return text if len(text) <= _MOST_MESSAGE else f"{text[:_MOST_MESSAGE]}..."


def _breaks(value: Any, limit: dict[str, Any]) -> bool:
    if limit["of"] == "choice":
        return value not in limit["values"]
    measured: Any = len(value) if limit["of"] == "length" else value
    exact = Decimal(measured)
    if exact.is_nan():
        return True
    low, high = limit["low"], limit["high"]
    if low and (exact < Decimal(low) or (limit["above"] and exact == Decimal(low))):
        return True
    return bool(high) and (exact > Decimal(high) or (limit["below"] and exact == Decimal(high)))


# what a module returns may be nested to the limit of the boundary, and is judged level by level
sys.setrecursionlimit(20 * BoundaryLimit.DEPTH.most)

_SHORT = 2000
"""Items of an iterable that are tried before others; more of them may take long."""
_SHARE = 5
"""Of the time for what is drawn, one part in so many is for large inputs again."""


def run(link: Link, plan: dict[str, Any]) -> None:
    """Examine the module of a job."""
    job, _ = link.receive()
    send = link.marked(job.pop("nonce"))
    caller = Caller(link, send)
    install(caller, job["surface"])
    request: dict[str, Any] = job["request"]
    signal.signal(signal.SIGALRM, stop)
    _examine_all([_Part(link, plan, send, caller, part) for part in _parts(request)])
    send({"event": "end"})


def _parts(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What is called in one way: the function, with one type after the other if it is generic, and what makes classes."""
    variants: list[dict[str, Any]] = request["variants"] or [{}]
    yield from ({**request, **variant} for variant in variants)
    yield from ({**request, **maker} for maker in request["makers"])


def _examine_all(parts: Sequence["_Part"]) -> None:
    """Examine them while the module answers. Large inputs come last: one that takes long is no counterexample, and the
    module may still be at it."""
    if all(part.examine() for part in parts):
        all(part.enlarge() for part in parts)


class _Part:
    """Examines what is called in one way.

    Args:
        link: To the gate.
        plan: Of this process.
        send: Sends a message of this process, marked as its own.
        caller: Calls the module.
        request: Of this part.
    """

    def __init__(
        self, link: Link, plan: dict[str, Any], send: Any, caller: Caller, request: dict[str, Any]
    ) -> None:
        subject = _ModuleUnderTest(request, Path(plan["scratch"]), link, send, caller.codec)
        classes = classes_of(request)
        fields = {
            error: {name: shape_of(text, classes) for name, text in stated.items()}
            for error, stated in request["error_fields"].items()
        }
        self._send = send
        self._request = request
        self._shapes = {name: shape_of(text, classes) for name, text in request["parameters"].items()}
        self._sources = sources_of(request, {**CONSTRUCTORS, **classes.found}, subject.folder)
        self._hosts = behaviours(self._sources.whole) if request["web"] else []
        generic = self._shapes if "variable" in request else {}
        returns = shape_of(request["returns"], classes)
        self._examination = _Examination(subject, returns, fields, send, self._hosts, generic)

    def examine(self) -> bool:
        """Look for counterexamples; whether the module still answers."""
        request, examination = self._request, self._examination
        drawn = drawn_arguments(self._shapes, frozenset(request["defaults"]), self._sources)
        examination.allow(request["seconds"])
        try:
            if self._hosts:
                examination.sweep_hosts(calls_of_tests(self._shapes, self._sources))
            examination.sweep(sweep(self._shapes, self._sources))
            short = {name: bound for name, bound in request["takes"].items() if bound <= _SHORT}
            examination.sweep(overlong(self._shapes, self._sources, short))
            for turn in range(_MOST_KINDS):
                explore(drawn, examination.examine, seed=request["seed"] + turn, examples=request["examples"])
                if not examination.settle():
                    break
        except OverTimeError:
            pass
        except HangError:
            self._send({"event": "hang"})
            return False
        return True

    def enlarge(self) -> bool:
        """Try large inputs, where they are wanted; whether the module still answers."""
        if self._request["most_size"]:
            return True
        long = {name: bound for name, bound in self._request["takes"].items() if bound > _SHORT}
        large = (overlong(self._shapes, self._sources, long), enlarged(self._shapes, self._sources))
        self._examination.allow(self._request["seconds"] / _SHARE)
        try:
            self._examination.sweep(itertools.chain(*large))
        except HangError:
            return False
        except (OverTimeError, RefusedError):
            pass
        return True
