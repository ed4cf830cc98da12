"""Checks that everything a run needs is there: models, machine, project; each with a remedy (design: command-line)."""

import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ship_gate.sandbox.kind import chosen_sandbox
from ship_gate.sandbox.process import SandboxKind
from specwright.bootstrap.costs import prices_of
from specwright.bootstrap.project import model_sources_of, search_of
from specwright.domain.base.document import Document
from specwright.domain.costs import Usage, dollars, tokens_in
from specwright.errors import AnyError, InputError, SpecwrightErrors, UnreachableError
from specwright.index.embedder import DEFAULT_EMBEDDER, load_embedder
from specwright.ports import Role
from specwright.roles.models.provider_call import in_time
from specwright.roles.models.sources import ModelSource, calls_tools
from specwright.roles.models.spending import model_label
from specwright.settings import SCRIPTED, Settings

LEAST_CONTEXT = 32_000
"""The least context, in tokens; the longest recorded requests have 12,000, and conversations grow."""

LEAST_DISK_MIB = 500

SECONDS = 7.0
"""For all models together, so that all checks take at most ten; a model without an answer by then is slow."""

_MILLION = 1_000_000


@dataclass(frozen=True)
class Check:
    """One check and its result.

    Args:
        name: What was checked.
        ok: Whether it is good enough for a run.
        detail: What was found.
        do: What to do; empty for nothing.
    """

    name: str
    ok: bool
    detail: str
    do: str = ""


class Diagnosis(Document, schema="doctor"):
    """All checks, whether all passed, and what was not checked."""

    ok: bool
    checks: list[Check]
    not_checked: list[str]


def diagnosis(directory: Path, settings: Settings | InputError) -> Diagnosis:
    """Check everything that a run needs; each model is asked one short question.

    Args:
        directory: The project; it need not exist.
        settings: The settings of the next run, or the error on loading them.
    """
    ends = time.monotonic() + SECONDS
    machine = Settings() if isinstance(settings, InputError) else settings
    place = next(one for one in (directory.absolute(), *directory.absolute().parents) if one.exists())
    with ThreadPoolExecutor(1) as threads:
        models = threads.submit(lambda: list(_models(settings, _tokens_needed(directory), ends)))
        others = [_sandbox(machine), _index(machine), _search(machine), *_disk(place)]
    checks = [*models.result(), *others]
    return Diagnosis(ok=all(one.ok for one in checks), checks=checks, not_checked=_not_checked(machine))


_NO_SANDBOX = (
    "install bubblewrap (`apt install bubblewrap`); or set SPECWRIGHT_SANDBOX=none for code that you trust"
)


_BUBBLEWRAP_ADDS = (
    "nothing is missing; bubblewrap (`apt install bubblewrap`) would also hide the files and processes to which Landlock "
    "only forbids access, and let a module change the times and permissions of its own files"
)


def _sandbox(settings: Settings) -> Check:
    """Check that the code of modules can be confined as the settings require."""
    if settings.sandbox == "none":
        off = 'sandbox = "none": the code of modules runs with the permissions of this account'
        return Check("sandbox", False, off, _NO_SANDBOX)
    try:
        kind = chosen_sandbox(settings.sandbox)
    except SpecwrightErrors as error:
        return _missing("sandbox", error)
    advice = _BUBBLEWRAP_ADDS if kind is SandboxKind.LANDLOCK else ""
    return Check("sandbox", True, f"{kind}, with seccomp and limits", advice)


def _index(settings: Settings) -> Check:
    """Check the embedder: the local one embeds a word; a provider's is not asked, since that may cost money."""
    name = settings.embedder
    try:
        embedder = load_embedder(name)
        if name != DEFAULT_EMBEDDER:
            return Check("index", True, f"{name}: configured, not tested")
        (vector,) = embedder.embed(["word"])
    except SpecwrightErrors as error:
        return Check("index", False, f"{name}: {error.what}", error.remedy)
    return Check("index", True, f"{name}: local, no network; gave a vector of {len(vector)} numbers")


def _models(settings: Settings | InputError, needed: int, ends: float) -> Iterator[Check]:
    """Check each model that answers for a role."""
    if isinstance(settings, InputError):
        yield _missing("model", settings)
        return
    try:
        sources = model_sources_of(settings)
    except SpecwrightErrors as error:
        yield _missing("model", error, settings.model)
        return
    asked = {settings.model_of(role): sources[role] for role in (Role.ARBITER, *Role)}

    def checks(name: str) -> list[Check]:
        return list(_model(name, asked[name], settings, needed, ends))

    # in parallel, so that one that hangs does not delay the others
    with ThreadPoolExecutor(len(asked)) as threads:
        for found in threads.map(checks, asked):
            yield from found


def _model(name: str, source: ModelSource, settings: Settings, needed: int, ends: float) -> Iterator[Check]:
    if name.startswith(SCRIPTED):
        yield Check("model", True, f"{name}: scripted, nothing to reach")
        return
    try:
        late = UnreachableError(
            f"is slow: no complete answer came within {SECONDS:g} seconds",
            remedy="it may be loading its model: check again, or start, since a run waits "
            f"{settings.timeout_seconds:g} seconds; if it stays slow, check the server",
        )
        calls = in_time(lambda: calls_tools(source, name), ends - time.monotonic(), late)
    except SpecwrightErrors as error:
        yield _missing("model", error, name)
        return
    yield Check("model", True, f"{name}: answers")
    advice = "" if calls else "choose a model that can: every role answers with a tool call"
    yield Check("tools", calls, f"{name}: calls {'tools' if calls else 'no tool'}", advice)
    yield _context(name, settings, needed)
    yield _price(name, settings)


def _context(name: str, settings: Settings, needed: int) -> Check:
    window = prices_of(settings).context_window(model_label(name, settings.base_url))
    if window is None:
        return Check("context", True, f"{name}: its length is unknown; a run needs {needed:,} tokens")
    if window < needed:
        advice = f"choose a model that takes {needed:,} tokens, or shorten SPEC.md"
        return Check("context", False, f"{name}: {window:,} tokens", advice)
    return Check("context", True, f"{name}: {window:,} tokens")


def _price(name: str, settings: Settings) -> Check:
    prices, label = prices_of(settings), model_label(name, settings.base_url)
    taken, given = prices.usd(label, Usage(_MILLION, 0)), prices.usd(label, Usage(0, _MILLION))
    if taken is None or given is None:
        advice = (
            f'to track money, set its price in specwright.toml:\n    [prices]\n    "{name}" = [1.25, 10.0]'
        )
        return Check("price", True, f"{label}: unknown", advice)
    return Check("price", True, f"{name}: {dollars(taken)} in, {dollars(given)} out, for a million tokens")


def _search(settings: Settings) -> Check:
    if settings.search == "none":
        return Check("search", True, "no web search is configured; the researcher works from SPEC.md")
    try:
        search_of(settings)
    except SpecwrightErrors as error:
        return _missing("search", error, settings.search)
    return Check("search", True, f"{settings.search}: configured, not tested")


def _tokens_needed(directory: Path) -> int:
    """Return how many tokens a model must take: the longest request of a run, plus all of SPEC.md."""
    spec = directory / "SPEC.md"
    return LEAST_CONTEXT + tokens_in(spec.stat().st_size if spec.is_file() else 0)


def _disk(place: Path) -> Iterator[Check]:
    """Check that a run can write where the project is or will be, and that there is enough space."""
    if not os.access(place, os.W_OK | os.X_OK):
        yield Check(
            "directory",
            False,
            f"{place} is not writable",
            "choose another directory, or change its permissions",
        )
    free = shutil.disk_usage(place).free // (1 << 20)
    enough = free >= LEAST_DISK_MIB
    yield Check(
        "disk", enough, f"{free:,} MiB free at {place}", "" if enough else f"free {LEAST_DISK_MIB:,} MiB"
    )


def _missing(name: str, error: AnyError, subject: str = "") -> Check:
    detail = f"{subject}: {error.what}" if subject else error.what
    place = f" ({error.where})" if error.where and subject else ""
    return Check(name, False, detail + place, error.remedy)


def _not_checked(settings: Settings) -> list[str]:
    """List what these checks leave out."""
    left = ["the account's limits and credit", "how well the model does the work"]
    if settings.embedder != DEFAULT_EMBEDDER:
        left.append("whether the embedder's provider answers: a test may cost money")
    if settings.search != "none":
        left.append("whether the search service answers")
    return left
