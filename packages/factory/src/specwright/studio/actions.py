"""What a person can do in a browser: each action is a command (design: studio).

A form becomes the words of a command and what it reads on standard input. What the command refuses the studio refuses. An
action about a spec, an escalation or an exception carries the hash of what was shown.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from specwright.domain.escalation import Action, payload_schema
from specwright.errors import InputError
from specwright.ports.roles import Role
from specwright.studio.forms import value_of
from specwright.studio.jobs import Command

_ESCALATION = re.compile(r"ESC-[0-9a-f]{8}")
_EXCEPTION = re.compile(r"ICE-[0-9a-f]{8}")
_VERSION = re.compile(r"MM-[0-9a-f]{8}@[0-9]{1,6}\.[0-9]{1,6}\.[0-9]{1,6}")
_MODEL = re.compile(r"[a-z][a-z0-9_]{0,30}:[A-Za-z0-9][\w.:/@+-]{0,120}")
_AMOUNT = re.compile(r"[0-9]{1,9}(\.[0-9]{1,6})?")
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


def command_of(action: str, form: FormFields) -> Command:
    """The command of an action.

    Raises:
        InputError: there is no such action, or a field cannot be used.
    """
    if (make := _ACTIONS.get(action)) is None:
        raise InputError(f"there is no action {action[:40]!r}", where="the address")
    return make(form)


def init_command(directory: Path, example: str, spec: str) -> Command:
    """The command that begins a project: with an example, or with a SPEC.md that it reads on standard input."""
    if example:
        if not re.fullmatch(r"[a-z0-9_-]{1,40}", example):
            raise InputError(f"there is no example {example[:40]!r}", where="example")
        return Command(("init", str(directory), "--example", example))
    if not spec.strip():
        return Command(("init", str(directory)))
    return Command(("init", str(directory), "--spec", "/dev/stdin"), spec, "SPEC.md")


def _approve(form: FormFields) -> Command:
    old = ("--old-spec",) if form.text("old_spec") else ()
    return Command(("approve", str(form.directory), *form.shown, *old))


def _amend(form: FormFields) -> Command:
    return Command(("amend", str(form.directory), *_worded("feedback", form.comments), *form.shown))


def _amend_examples(form: FormFields) -> Command:
    text = form.text("examples")
    if not text:
        raise InputError("the examples are empty", where="examples")
    words = ("amend", str(form.directory), "--examples", "/dev/stdin", *form.shown)
    return Command(words, text + "\n", "acceptance.md")


def _reject(form: FormFields) -> Command:
    return Command(("reject", str(form.directory), *_worded("reasons", form.comments), *form.shown))


def _worded(option: str, text: str) -> tuple[str, ...]:
    """An option with a text, in one word, so that no text is taken for an option."""
    return (f"--{option}={text}",) if text else ()


def _resolve(form: FormFields) -> Command:
    name, wanted = _id(form, "escalation", _ESCALATION), form.text("action")
    if wanted not in set(Action):
        raise InputError(f"there is no answer {wanted[:40]!r}", where=name)
    payload = value_of(payload_schema(Action(wanted)), form.pairs)
    unchecked = ("--unchecked",) if form.text("unchecked") else ()
    words = ("resolve", name, wanted, str(form.directory), "--payload", "-", "--yes", *unchecked, *form.shown)
    return Command(words, json.dumps(payload, ensure_ascii=False, indent=1), "answer.json")


def _decide(decision: str, *options: str) -> "Callable[[FormFields], Command]":
    def make(form: FormFields) -> Command:
        name = _id(form, "exception", _EXCEPTION)
        reason = _worded("reason", form.text("reason"))
        return Command(("exceptions", decision, name, str(form.directory), *reason, *options, *form.shown))

    return make


def _run(form: FormFields) -> Command:
    words = ["run", str(form.directory)]
    if model := form.text("model"):
        words += ["--model", _model(model, form.directory)]
    for field, option in (("budget_tokens", "--budget-tokens"), ("budget_usd", "--budget-usd")):
        if amount := form.text(field):
            if not _AMOUNT.fullmatch(amount):
                raise InputError(f"{amount[:40]!r} is no amount", where=field)
            words += [option, amount]
    if role := form.text("retry"):
        if role not in set(Role):
            raise InputError(f"there is no role {role[:40]!r}", where="retry")
        words += ["--retry", role]
    return Command(tuple(words))


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


def _release(form: FormFields) -> Command:
    return Command(("release", str(form.directory)))


def _change(form: FormFields) -> Command:
    return Command(("change", str(form.directory), *_worded("request", form.text("words"))))


def _abandon(form: FormFields) -> Command:
    return Command(("change", str(form.directory), "--abandon"))


def _report(form: FormFields) -> Command:
    module = form.text("module")
    if not re.fullmatch(r"[A-Za-z0-9_@.-]{1,100}", module):
        raise InputError(f"there is no module {module[:40]!r}", where="module")
    pointer = _worded("pointer", form.text("pointer"))
    words = ("report", module, str(form.directory), "--example", "/dev/stdin", *pointer)
    return Command(words, form.text("example") + "\n", "example.md")


def _deprecate(form: FormFields) -> Command:
    module, replacement = form.text("module"), form.text("replacement")
    for name in filter(None, (module, replacement)):
        if not _VERSION.fullmatch(name):
            raise InputError(f"{name[:40]!r} is no version of a module", where="module")
    reason = _worded("reason", form.text("reason")) + _worded("migration-note", form.text("migration_note"))
    instead = _worded("replacement", replacement)
    return Command(("deprecate", module, str(form.directory), *reason, *instead))


def _id(form: FormFields, field: str, pattern: re.Pattern[str]) -> str:
    name = form.text(field)
    if not pattern.fullmatch(name):
        raise InputError(f"{name[:40]!r} is no id of an {field}", where=field)
    return name


_ACTIONS: Mapping[str, Callable[[FormFields], Command]] = {
    "approve": _approve,
    "amend": _amend,
    "amend-examples": _amend_examples,
    "reject": _reject,
    "resolve": _resolve,
    "exception-approve": _decide("approve"),
    "exception-reject": _decide("reject", "--requeue"),
    "exception-hold": _decide("reject", "--hold"),
    "exception-defer": _decide("defer"),
    "run": _run,
    "release": _release,
    "change": _change,
    "abandon": _abandon,
    "report": _report,
    "deprecate": _deprecate,
}
"""Each action by its name in the address."""
