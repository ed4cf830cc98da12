"""What a person can do in a browser: each action is a command that runs in a process of its own (design: command-line).

A form becomes the words of a command and what it reads on standard input; the studio refuses what the command refuses. An
action about a spec, an escalation or an exception carries the hash of what was shown. The process does not end with the
studio: it has a session of its own and prints to a file.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from specwright.application.factory import ProjectView
from specwright.application.interface_change import shown_sha256
from specwright.application.stages.product import draft_history
from specwright.domain.escalation import ResolutionRecord
from specwright.errors import InputError, SpecwrightError
from specwright.secret_values import child_environment

_WAITS = 3
"""The exit code of a command that reached a stop where a person is asked."""


class Command(NamedTuple):
    """A command line.

    Args:
        words: What follows `specwright`.
        given: What it reads on standard input.
        shown: What stands in its place where `given` would be a file; empty if nothing is given.
    """

    words: tuple[str, ...]
    given: str = ""
    shown: str = ""

    def __str__(self) -> str:
        text = shlex.join(("specwright", *self.words))
        return f"{text} < {self.shown}" if self.shown else text


class Job:
    """A command that was started; a thread waits for its end.

    Args:
        command: What was started.
        process: It.
        output: What it prints.
    """

    def __init__(self, command: Command, process: subprocess.Popen[bytes], output: IO[bytes]) -> None:
        self.command = command
        self._process = process
        self.failure: SpecwrightError | None = None
        """Why it failed; None if it goes on, is done, or reached a stop."""
        self._ended = threading.Event()
        threading.Thread(target=self._await, args=(process, output), daemon=True).start()

    @property
    def is_running(self) -> bool:
        """Whether it goes on."""
        return not self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for its end.

        Returns:
            Whether it came.
        """
        return self._ended.wait(seconds)

    def stop(self) -> None:
        """Interrupt it, as Ctrl-C does in a terminal."""
        if self.is_running:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGINT)

    def _await(self, process: subprocess.Popen[bytes], output: IO[bytes]) -> None:
        with output:
            if code := process.wait():
                self.failure = _failure_of(output, code, self.command.shown)
        self._ended.set()


class Jobs:
    """The last command of each project.

    Args:
        program: The program that carries out a command; it imports nothing from the working directory.
    """

    def __init__(self, program: Sequence[str] = (sys.executable, "-P", "-m", "specwright")) -> None:
        self._program = tuple(program)
        self._last: dict[str, Job] = {}

    def last(self, key: str) -> Job | None:
        """The last command of a project; None if this studio started none."""
        return self._last.get(key)

    def stop(self, key: str) -> None:
        """Interrupt the last command of a project, if this studio started one."""
        if job := self.last(key):
            job.stop()

    def wait(self) -> None:
        """Wait for the end of the last command of every project."""
        for job in list(self._last.values()):
            job.wait()

    def start(self, key: str, command: Command) -> Job:
        """Start a command for a project, with `--json`."""
        output = tempfile.TemporaryFile()  # noqa: SIM115 - the job reads it later
        with tempfile.TemporaryFile() as given:
            given.write(command.given.encode())
            given.seek(0)
            process = subprocess.Popen(
                [*self._program, *command.words, "--json"],
                stdin=given,
                stdout=output,
                stderr=subprocess.DEVNULL,
                env=child_environment(command=True),
                start_new_session=True,
            )
        job = Job(command, process, output)
        self._last[key] = job
        return job


def _failure_of(output: IO[bytes], code: int, shown: str) -> SpecwrightError | None:
    """What a command that ended with a code says went wrong; None if it only reached a stop. What was written in the browser
    goes by the name that the page gives it."""
    kind = InputError if code == InputError.exit_code else SpecwrightError
    output.seek(0)
    data = output.read()
    try:
        document = cast("dict[str, Any]", json.loads(data))
    except ValueError:
        return kind(f"the command ended with exit code {code} and said nothing")
    if (error := document.get("error")) is not None:
        where = str(error["where"]).replace("/dev/stdin", shown or "/dev/stdin")
        return kind(str(error["what"]), where=where, remedy=str(error["do"]))
    return None if code == _WAITS else kind("the command ended before the product was released")


_NAME = re.compile(r"[A-Za-z0-9][\w.@-]{0,100}")
_MODEL = re.compile(r"[a-z][a-z0-9_]{0,30}:[A-Za-z0-9][\w.:/@+-]{0,120}")
_COMMENT = "at."
"""Before the place in the name of a comment's field."""


class FormFields(NamedTuple):
    """A form that came in.

    Args:
        directory: Of the project, as commands name it.
        pairs: Its fields in their order.
    """

    directory: Path
    pairs: Sequence[tuple[str, str]]

    def text(self, name: str) -> str:
        """What stands in a field; empty if there is none."""
        return next((value for key, value in self.pairs if key == name), "").replace("\r\n", "\n").strip()

    def name(self, field: str) -> str:
        """What stands in a field and is a word of the command by itself: no option, and no path."""
        name = self.text(field)
        if not _NAME.fullmatch(name):
            raise InputError(f"{name[:40]!r} is no {field}", where=field)
        return name

    def options(self, *names: str) -> list[str]:
        """Options with a text, each in one word, so that no text is taken for an option; none for an empty field."""
        return [f"--{name}={text}" for name in names if (text := self.text(name.replace("-", "_")))]

    @property
    def shown(self) -> tuple[str, ...]:
        """The option that names what was shown."""
        sha256 = self.text("sha256")
        if not re.fullmatch(r"[0-9a-f]{64}", sha256):
            raise InputError("the form does not say what was shown", remedy="open the page again")
        return ("--sha256", sha256)

    @property
    def comments(self) -> str:
        """All comments as one text, each after its place."""
        placed = [
            f"{name.removeprefix(_COMMENT)}: {' '.join(text.split())}"
            for name, text in self.pairs
            if name.startswith(_COMMENT) and text.strip()
        ]
        return "\n".join([*placed, *([words] if (words := self.text("words")) else [])])

    @property
    def payload(self) -> dict[str, Any]:
        """The payload of an answer: `text.rationale` is a text, `lines.strike_examples` has a line for each item,
        `file.implementation/__init__.py` is a file, `json.new_tasks` is JSON. What is left empty is left out."""
        payload: dict[str, Any] = {}
        for key, value in self.pairs:
            kind, _, name = key.partition(".")
            text = value.replace("\r\n", "\n")
            if kind == "file":
                payload.setdefault("fix_artifacts", {})[name] = text
            elif kind == "lines" and (lines := [line.strip() for line in text.splitlines() if line.strip()]):
                payload[name] = lines
            elif kind == "text" and text.strip():
                payload[name] = text.strip()
            elif kind == "json":
                try:
                    payload[name] = json.loads(text)
                except (ValueError, RecursionError) as error:
                    raise InputError(f"this is no JSON: {error}", where=name) from error
        return payload


def command_of(action: str, form: FormFields) -> Command:
    """The command of an action.

    Raises:
        InputError: there is no such action, or a field cannot be used.
    """
    if (make := _ACTIONS.get(action)) is None:
        raise InputError(f"there is no action {action[:40]!r}", where="the address")
    return make(form)


def is_recorded(view: ProjectView, action: str, form: FormFields) -> bool:
    """Whether a decision is recorded, so that what its command does now is the run; of other actions the end of the command
    says what came of them."""
    if action == "approve":
        return not view.projection.awaits_approval and shown_sha256(view) == form.text("sha256")
    if action in ("amend", "reject"):
        answers = draft_history(view).answers
        return bool(form.comments) and bool(answers) and answers[-1].text == form.comments
    return action == "resolve" and form.text("escalation") in view.projection.resolutions


def other_answer(
    view: ProjectView, action: str, form: FormFields, command: Command
) -> ResolutionRecord | None:
    """The answer that somebody else gave to the escalation that a form answers; None if nobody did."""
    record = view.projection.resolutions.get(form.text("escalation")) if action == "resolve" else None
    if record is None or (record.action, record.payload) == (form.text("action"), json.loads(command.given)):
        return None
    return record


def _command(form: FormFields, name: str, *words: str) -> Command:
    return Command((*name.split(), str(form.directory), *words))


def _approve(form: FormFields) -> Command:
    return _command(form, "approve", *form.shown, *(("--old-spec",) if form.text("old_spec") else ()))


def _send_back(action: str, option: str) -> "Callable[[FormFields], Command]":
    def make(form: FormFields) -> Command:
        comments = (f"--{option}={form.comments}",) if form.comments else ()
        return _command(form, action, *comments, *form.shown)

    return make


def _amend_examples(form: FormFields) -> Command:
    words = _command(form, "amend", "--examples", "/dev/stdin", *form.shown).words
    return Command(words, form.text("examples") + "\n", "acceptance.md")


def _resolve(form: FormFields) -> Command:
    unchecked = ("--unchecked",) if form.text("unchecked") else ()
    answer = f"resolve {form.name('escalation')} {form.name('action')}"
    words = _command(form, answer, "--payload", "-", "--yes", *unchecked, *form.shown).words
    return Command(words, json.dumps(form.payload, ensure_ascii=False, indent=1), "answer.json")


def _decide(decision: str, *options: str) -> "Callable[[FormFields], Command]":
    def make(form: FormFields) -> Command:
        answer = f"exceptions {decision} {form.name('exception')}"
        return _command(form, answer, *form.options("reason"), *options, *form.shown)

    return make


def _run(form: FormFields) -> Command:
    model = form.text("model")
    words = ("--model", _model(model, form.directory)) if model else ()
    return _command(form, "run", *words, *form.options("budget-tokens", "budget-usd", "retry"))


def _model(name: str, directory: Path) -> str:
    """A model that a browser may choose: a provider's, or scripted answers in the project or beside it."""
    kind, _, place = name.partition(":")
    if kind == "playbook":
        root = directory.resolve().parent
        path = (root / place).resolve()
        if not path.is_relative_to(root) or path == root:
            raise InputError("scripted answers lie in the folder of the project", where="model")
        return f"{kind}:{path}"
    if kind == "command" or not _MODEL.fullmatch(name):
        raise InputError(
            f"{name[:60]!r} is no model that can be named here",
            where="model",
            remedy="name one as provider:model; others can be named in specwright.toml",
        )
    return name


def _report(form: FormFields) -> Command:
    name = f"report {form.name('module')}"
    words = _command(form, name, "--example", "/dev/stdin", *form.options("pointer")).words
    return Command(words, form.text("example") + "\n", "example.md")


def _deprecate(form: FormFields) -> Command:
    options = form.options("reason", "migration-note", "replacement")
    undo = ("--undo",) if form.text("undo") else ()
    return _command(form, f"deprecate {form.name('module')}", *options, *undo)


STARTS = ("run", "release", "change", "report")
"""The actions that decide nothing: their commands go on as the run."""

_ACTIONS: Mapping[str, Callable[[FormFields], Command]] = {
    "approve": _approve,
    "amend": _send_back("amend", "feedback"),
    "amend-examples": _amend_examples,
    "reject": _send_back("reject", "reasons"),
    "resolve": _resolve,
    "exception-approve": _decide("approve"),
    "exception-reject": _decide("reject", "--requeue"),
    "exception-hold": _decide("reject", "--hold"),
    "exception-defer": _decide("defer"),
    "run": _run,
    "release": lambda form: _command(form, "release"),
    "change": lambda form: _command(form, "change", *form.options("request")),
    "abandon": lambda form: _command(form, "change", "--abandon", *form.shown),
    "report": _report,
    "deprecate": _deprecate,
}
"""Each action by its name in the address."""
