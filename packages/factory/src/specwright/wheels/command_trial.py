"""Tries the command of an installed product: its help, wrong calls, Ctrl-C, and the approved sessions (design: shell).

Each call has a process of its own in the sandbox; this module decides whether it ended rightly. What the shell itself must
do is the same for every product: it complains in a line, never with a traceback, and ends with the codes that it states.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

from ship_gate.base.text import shortened
from specwright.domain.acceptance.sessions import (
    SessionCall,
    SessionClock,
    SessionFile,
    SessionHosts,
    SessionStep,
    printed_as,
    session_steps,
)
from specwright.ports.packaging import (
    ApprovedSession,
    CommandCall,
    CommandEnd,
    ExampleOutcome,
    HostScript,
    InstalledProduct,
    NoReportError,
    ProductPackage,
    ProductTrials,
)
from specwright.wheels.environment import CleanEnvironment
from specwright.wheels.wheel import programs_of

USAGE, INTERRUPTED, FAULT = 2, 130, 70
_KILLED_AT = (1, 3)
"""The writes after which a process is killed."""
_ILL = "\x1b[31m?\u2028"
"""A word that is no number, no date, and not fit to be printed."""
_TRACEBACK = b"Traceback (most recent call last)"

Trial = Callable[[], ExampleOutcome]
Moment = Literal["function", "write"]


def script_problem(environment: CleanEnvironment, product: ProductPackage) -> str:
    """Whether the installation lacks a program."""
    for name in programs_of(product):
        if not (environment.python.parent / name).is_file():
            return f"the installed wheel has no command {name}"
    return ""


def command_trials(installed: InstalledProduct, trials: ProductTrials, seconds: float) -> list[Trial]:
    """Everything that is tried; none of a product without a command.

    Args:
        installed: The product.
        trials: Runs its command.
        seconds: For each call.
    """
    if "command" not in (installed.product.interface or {}):
        return []
    calls = _Calls(installed, trials, seconds)
    return [
        *calls.of_shell(),
        *(calls.session(place, one) for place, one in enumerate(installed.product.sessions) if one.console),
        *calls.killed(),
    ]


class _ShellCall(NamedTuple):
    """How a call of the shell itself must end.

    Args:
        arguments: Of the call.
        code: The exit code.
        stdout: How its output begins; empty if it prints nothing.
        stderr: Whether it complains.
    """

    arguments: tuple[str, ...]
    code: int
    stdout: str = ""
    stderr: bool = True


class _Calls:
    """Calls of one installed command."""

    def __init__(self, installed: InstalledProduct, trials: ProductTrials, seconds: float) -> None:
        assert installed.product.interface is not None
        self._installed, self._trials, self._seconds = installed, trials, seconds
        self._command: Mapping[str, Any] = installed.product.interface["command"]
        self._name: str = self._command["name"]

    def of_shell(self) -> Iterator[Trial]:
        """Help, wrong calls, and Ctrl-C as it starts."""
        expected = [
            _ShellCall(("--help",), 0, "usage:", stderr=False),
            _ShellCall(("--version",), 0, self._name, stderr=False),
        ]
        for one in self._command["uses"]:
            first = (one["subcommand"],) if one["subcommand"] else ()
            if first:
                expected.append(_ShellCall((*first, "--help"), 0, "usage:", stderr=False))
            expected += [_ShellCall((*first, *words), USAGE) for words in _wrong_words(one["words"])]
        if self._command["uses"][0]["subcommand"]:
            expected += [_ShellCall((), USAGE), _ShellCall(("no-such-subcommand",), USAGE)]
        for place, one in enumerate(expected):
            yield self._trial(one, f"c{place}")
        yield self._interrupted_start

    def _trial(self, expected: _ShellCall, place: str) -> Trial:
        def run() -> ExampleOutcome:
            heading = " ".join((self._name, *(ascii(word)[1:-1] for word in expected.arguments)))
            try:
                end = self._call(place, CommandCall(expected.arguments))
                problem = _shell_problem(end, expected)
            except NoReportError as error:
                problem = str(error)
            return self._outcome(heading, problem)

        return run

    def _interrupted_start(self) -> ExampleOutcome:
        try:
            end = self._call("c-interrupted", CommandCall(("--help",), interrupt="start"))
            problem = _interruption_problem(end)
        except NoReportError as error:
            problem = str(error)
        return self._outcome(f"Ctrl-C as {self._name} starts", problem)

    def _outcome(self, heading: str, problem: str) -> ExampleOutcome:
        return ExampleOutcome(self._name, heading, not problem, problem, kind="command")

    def _call(self, place: str, call: CommandCall) -> CommandEnd:
        return self._trials.run_command(self._installed, place, call, self._seconds)

    def session(self, place: int, approved: ApprovedSession) -> Trial:
        """An approved session, from its first step to the first that goes wrong."""

        def run() -> ExampleOutcome:
            try:
                problem = self._session_problem(f"s{place}", session_steps(approved.console))
            except NoReportError as error:
                problem = str(error)
            return ExampleOutcome(approved.task_id, approved.heading, not problem, problem, kind="command")

        return run

    def _session_problem(self, place: str, steps: Sequence[SessionStep]) -> str:
        replay = _Replay()
        for at, step in enumerate(steps):
            if isinstance(step, SessionCall):
                after = _files_after(steps, at)
                end = self._call(place, replay.call(step, after))
                if problem := _session_call_problem(step, end) or _files_problem(after, end):
                    return problem
                replay.go_on(end)
            else:
                replay.take(step)
        return ""

    def killed(self) -> Iterator[Trial]:
        """Ctrl-C within the function of each subcommand that an approved session calls, and while it writes."""
        done: set[str] = set()
        for place, one in enumerate(self._installed.product.sessions):
            steps = session_steps(one.console) if one.console else []
            for at, step in enumerate(steps):
                name = self._use_of(step)
                if isinstance(step, SessionCall) and step.code != USAGE and name not in done:
                    done.add(name)
                    yield self._killed(f"k{place}-{at}", steps[: at + 1], _files_after(steps, at), "function")
                    yield self._killed(f"w{place}-{at}", steps[: at + 1], _files_after(steps, at), "write")
                    yield self._ended(f"e{place}-{at}", steps[: at + 1], _files_after(steps, at))
                    yield self._twice(f"t{place}-{at}", steps[: at + 1])

    def _use_of(self, step: SessionStep) -> str:
        has_subcommands = bool(self._command["uses"][0]["subcommand"])
        return " ".join(step.arguments[:1]) if isinstance(step, SessionCall) and has_subcommands else ""

    def _killed(
        self, place: str, steps: Sequence[SessionStep], after: Mapping[str, str | None], moment: Moment
    ) -> Trial:
        *earlier, last = steps
        assert isinstance(last, SessionCall)

        def run() -> ExampleOutcome:
            try:
                problem = self._killed_problem(place, earlier, last, after, moment)
            except NoReportError as error:
                problem = str(error)
            when = "within" if moment == "function" else "while it writes in"
            return self._outcome(f"Ctrl-C {when} {last.line}", problem)

        return run

    def _killed_problem(
        self,
        place: str,
        earlier: Sequence[SessionStep],
        last: SessionCall,
        after: Mapping[str, str | None],
        moment: Moment,
    ) -> str:
        replay, before = self._before(place, earlier, after)
        end = self._call(place, replay.call(last, after)._replace(interrupt=moment))
        if not end.interrupted:  # it writes nothing, or calls nothing of its own
            return ""
        if problem := _interruption_problem(end):
            return problem
        whole = {
            name: (before.get(name), None if text is None else text.encode()) for name, text in after.items()
        }
        broken = [name for name, states in whole.items() if end.files[name] not in states]
        return f"it leaves {broken[0]} half written" if broken else ""

    def _before(
        self, place: str, earlier: Sequence[SessionStep], after: Mapping[str, str | None]
    ) -> tuple["_Replay", dict[str, bytes | None]]:
        """Do what comes before a call; what surrounds it then, and what the files hold that are shown after it."""
        replay, before = _Replay(), dict[str, bytes | None]()
        for step in earlier:
            if isinstance(step, SessionCall):
                end = self._call(place, replay.call(step, after))
                replay.go_on(end)
                before = dict(end.files)
            else:
                replay.take(step)
        return replay, before | {name: data for name, data in replay.files.items() if name in after}

    def _ended(self, place: str, steps: Sequence[SessionStep], after: Mapping[str, str | None]) -> Trial:
        """The process is killed while it writes: databases can be used, and the same call can be made again."""
        *earlier, last = steps
        assert isinstance(last, SessionCall)

        def run() -> ExampleOutcome:
            problem: str | None = ""
            try:
                for at in _KILLED_AT:
                    problem = self._ended_problem(f"{place}-{at}", earlier, last, after, at)
                    if problem or problem is None:
                        break
            except NoReportError as error:
                problem = str(error)
            return self._outcome(f"kill -9 while it writes in {last.line}", problem or "")

        return run

    def _ended_problem(
        self,
        place: str,
        earlier: Sequence[SessionStep],
        last: SessionCall,
        after: Mapping[str, str | None],
        at: int,
    ) -> str | None:
        """What is wrong after it was killed; None if it does not write so often."""
        replay, _ = self._before(place, earlier, after)
        call = replay.call(last, after)
        if not self._call(place, call._replace(kill_at=at)).interrupted:
            return None
        look = self._call(place, CommandCall(("--version",)))
        if look.damaged:
            return f"it leaves a database that cannot be used: {look.damaged[0]}"
        again = self._call(place, call._replace(files={}))
        return _again_problem(again, "after that the same call")

    def _twice(self, place: str, steps: Sequence[SessionStep]) -> Trial:
        """Two processes make the same call at one time in one folder: each ends as the shell says, and databases can be
        used."""
        *earlier, last = steps
        assert isinstance(last, SessionCall)

        def run() -> ExampleOutcome:
            try:
                problem = self._twice_problem(place, earlier, last)
            except NoReportError as error:
                problem = str(error)
            return self._outcome(f"two processes at once: {last.line}", problem)

        return run

    def _twice_problem(self, place: str, earlier: Sequence[SessionStep], last: SessionCall) -> str:
        replay, _ = self._before(place, earlier, {})
        call = replay.call(last, {})
        if call.files:  # they are written once, by a call that changes nothing
            self._call(place, CommandCall(("--version",), files=call.files))
        calls = [call._replace(files={}, lane=lane) for lane in ("1", "2")]
        with ThreadPoolExecutor(max_workers=2) as pool:
            running = [pool.submit(self._call, place, one) for one in calls]
        for one in running:
            if problem := _again_problem(one.result(), "one of them"):
                return problem
        look = self._call(place, CommandCall(("--version",)))
        return f"they leave a database that cannot be used: {look.damaged[0]}" if look.damaged else ""


def _again_problem(end: CommandEnd, what: str) -> str:
    """What is wrong with a call of which another result is right as well."""
    if _TRACEBACK in end.stderr:
        return f"{what} shows a traceback: {_shown(end.stderr)}"
    return f"{what} ends with a fault: {_shown(end.stderr)}" if end.code == FAULT else ""


def _wrong_words(words: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Wrong calls of a subcommand: an unknown option, nothing where something is needed, words that are no values."""
    yield ("--no-such-option",)
    needed = [word for word in words if word["needed"] and word["place"] != "stdin"]
    if needed:
        yield ()
    for word in words:
        if word["place"] == "stdin" or word["flag"]:
            continue
        if word["content"] != "value" or not _is_free(word["type"]):
            ill = "no/such/file" if word["content"] != "value" else _ILL
            yield tuple(_written(one, ill if one is word else "1") for one in words if one in (word, *needed))


def _is_free(kind: str) -> bool:
    """Whether any word is a value."""
    return re.search(r"\b(str|Path)\b", re.sub(r"'[^']*'", "", kind)) is not None


def _written(word: Mapping[str, Any], text: str) -> str:
    return f"--{word['name']}={text}" if word["place"] == "option" else text


def _shell_problem(end: CommandEnd, expected: _ShellCall) -> str:
    if _TRACEBACK in end.stderr:
        return f"it shows a traceback: {_shown(end.stderr)}"
    if end.code != expected.code:
        return f"it ends with exit code {end.code}, not {expected.code}; {_shown(end.stderr)}"
    printed = end.stdout.decode("utf-8", "replace")
    if not printed.startswith(expected.stdout) or bool(printed) != bool(expected.stdout):
        return f"it prints {_shown(end.stdout)}"
    if bool(end.stderr) != expected.stderr:
        return f"on stderr stands {_shown(end.stderr)}"
    return (
        ""
        if b"\x1b" not in end.stderr
        else "it passes the control characters of an argument on to the terminal"
    )


def _interruption_problem(end: CommandEnd) -> str:
    if not end.interrupted:
        return "it ended before Ctrl-C came"
    if _TRACEBACK in end.stderr:
        return f"it shows a traceback: {_shown(end.stderr)}"
    return "" if end.code == INTERRUPTED else f"it ends with exit code {end.code}, not {INTERRUPTED}"


def _files_after(steps: Sequence[SessionStep], at: int) -> dict[str, str | None]:
    """The files that are shown between a call and the next one."""
    found: dict[str, str | None] = {}
    for step in steps[at + 1 :]:
        if isinstance(step, SessionCall):
            break
        if isinstance(step, SessionFile) and step.action == "show":
            found[step.path] = step.text
    return found


class _Replay:
    """What surrounds the next call of a session: files that were written, hosts and the time."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._written: dict[str, bytes] = {}
        self._hosts = HostScript()

    def take(self, step: SessionFile | SessionHosts | SessionClock) -> None:
        """A step that calls nothing."""
        match step:
            case SessionFile(action="write"):
                self.files[step.path] = self._written[step.path] = (step.text or "").encode()
            case SessionHosts():
                self._hosts = self._hosts._replace(answers=step.answers, given=())
            case SessionClock():
                self._hosts = self._hosts._replace(clock=step.moment, passed=0.0)
            case _:
                pass

    def call(self, step: SessionCall, after: Mapping[str, str | None]) -> CommandCall:
        """As it is to be made.

        Args:
            step: The call.
            after: The files that are shown below it.
        """
        stdin = self._written[step.stdin] if step.stdin else b""
        return CommandCall(step.arguments, stdin, dict(self.files), tuple(after), hosts=self._hosts)

    def go_on(self, end: CommandEnd) -> None:
        """After a call: what was written lies there, and hosts and clock are as the call left them."""
        self.files, self._hosts = {}, end.hosts


def _session_call_problem(step: SessionCall, end: CommandEnd) -> str:
    call = f"`{step.line}`"
    if _TRACEBACK in end.stderr:
        return f"{call} shows a traceback: {_shown(end.stderr)}"
    if end.code != step.code:
        return f"{call} ends with exit code {end.code}, not {step.code}; it says {_shown(end.stderr or end.stdout)}"
    printed = end.stdout.decode("utf-8", "replace")
    if not printed_as(step.stdout, printed):
        return f"{call} prints {_shown(end.stdout)}, not {shortened(repr(step.stdout), 300)}"
    if step.asks is not None and step.asks != end.asked:
        return f"{call} asks {_listed(end.asked)}, not {_listed(step.asks)}"
    said = end.stderr.decode("utf-8", "replace")
    if step.stderr is not None and not said.startswith(step.stderr):
        return f"{call} says {_shown(end.stderr)} on stderr, not {shortened(repr(step.stderr), 300)}"
    return ""


def _listed(requests: Sequence[str]) -> str:
    return shortened(", ".join(f"`{ascii(one)[1:-1]}`" for one in requests), 300) or "nothing"


def _files_problem(after: Mapping[str, str | None], end: CommandEnd) -> str:
    for name, text in after.items():
        found = end.files[name]
        if text is None and found is not None:
            return f"{PurePosixPath(name)} is there"
        if text is not None and found is None:
            return f"{name} is not there"
        if text is not None and found is not None and not printed_as(text, found.decode("utf-8", "replace")):
            return f"{name} holds {_shown(found)}, not {shortened(repr(text), 300)}"
    return ""


def _shown(data: bytes) -> str:
    return shortened(repr(data.decode("utf-8", "replace")), 300)
