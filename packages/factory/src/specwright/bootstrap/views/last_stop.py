"""Why the last run stopped before its next stop, noted in the project for `status` and the studio (design: command-line).

Neither the log nor the journal says that a budget was spent, an account was empty, or a role gave up: nothing was decided
by it. A driver therefore notes that in `.specwright/last_stop.json`; the next step of any run takes the note away.
"""

import shlex
from collections.abc import Generator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import Literal

from ship_gate.base.record import Record
from specwright.application.factory import Factory
from specwright.application.stages.product import asked_text, draft_history
from specwright.bootstrap.storage.stores import LAST_STOP, opened_store
from specwright.domain.costs import Estimate, build_estimate, research_estimate
from specwright.domain.tasks.project_state import TaskStatus
from specwright.errors import (
    AnswerError,
    AnyError,
    BudgetError,
    DatabaseUnavailableError,
    ModelError,
    ModelUnavailableError,
    NetworkUnavailableError,
    NoAccessError,
    NoCreditError,
    ScriptError,
    SpecwrightErrors,
)
from specwright.journal import SystemSource
from specwright.ports.store import FileTree

Kind = Literal["budget", "credit", "access", "gave_up", "script", "unavailable", "failed"]

_KINDS: tuple[tuple[type[AnyError], Kind], ...] = (
    (BudgetError, "budget"),
    (ScriptError, "script"),
    (NoCreditError, "credit"),
    (NoAccessError, "access"),
    (AnswerError, "gave_up"),
    (ModelUnavailableError, "unavailable"),
    (ModelError, "failed"),
    (DatabaseUnavailableError, "unavailable"),
    (NetworkUnavailableError, "unavailable"),
)
"""The errors that stop a run which can go on later; the first that fits."""


class LastStop(Record):
    """What stopped the last run.

    Args:
        kind: Of the cause.
        reason: What failed, one sentence.
        where: Where it did.
        remedy: What a person can do.
        options: Of the `run` that goes on; empty if it needs none.
        at: When, UTC.
        exit_code: Of the command that stopped.
    """

    kind: Kind
    reason: str
    where: str = ""
    remedy: str = ""
    options: str = ""
    at: str = ""
    exit_code: int = 1


@contextmanager
def noting_stop(directory: Path, folder: FileTree, factory: Factory) -> Generator[None]:
    """Note what stops a run; of a budget also say how much is enough to reach the next stop."""
    try:
        yield
    except SpecwrightErrors as error:
        kind = _kind_of(error)
        if kind is None:
            raise
        options = ""
        if isinstance(error, BudgetError) and error.setting:
            options = f"--{error.setting.replace('_', '-')} {_enough(error, factory)}"
            place = "" if directory == Path() else f"{shlex.quote(str(directory))} "
            error.remedy = f"nothing is lost; `specwright run {place}{options}` goes on, by the estimate to the next stop"
        elif kind == "script" and (back := _remedy_of_a_script(factory)):
            error.remedy = f"{back}; {error.remedy}"
        elif kind == "gave_up" and factory.projection.awaits_approval:
            options = "--retry researcher"
        stop = LastStop(
            kind=kind,
            reason=error.what,
            where=error.where,
            remedy=error.remedy,
            options=options,
            at=SystemSource().now(),
            exit_code=error.exit_code,
        )
        with suppress(OSError, *SpecwrightErrors):  # the error itself is what matters
            folder.replace(LAST_STOP, stop.to_bytes())
        raise


def _kind_of(error: AnyError) -> Kind | None:
    return next((name for cause, name in _KINDS if isinstance(error, cause)), None)


def _remedy_of_a_script(factory: Factory) -> str:
    """How the spec that was shown comes back where a script has no answer to what sent it back; empty if it has not."""
    history = draft_history(factory)
    sent_back = factory.projection.awaits_approval and history.is_sent_back and history.drafted >= 0
    return "`specwright amend --withdraw` goes back to the spec that was shown" if sent_back else ""


def forget_stop(folder: FileTree) -> None:
    """Take the note away: a run is at work again."""
    with suppress(OSError, *SpecwrightErrors):
        if folder.exists(LAST_STOP) and folder.read(LAST_STOP) != _NONE:
            folder.replace(LAST_STOP, _NONE)


def last_stop(directory: Path) -> LastStop | None:
    """What stopped the last run; None if nothing did, or if it cannot be read."""
    with suppress(*SpecwrightErrors, OSError, ValueError, TypeError), opened_store(directory) as store:
        if not store.driver() and store.folder.exists(LAST_STOP):
            noted = LastStop.from_bytes(store.folder.read(LAST_STOP), LAST_STOP)
            # the options are shown to be pasted
            return noted.model_copy(update={"options": shlex.join(noted.options.split())})
    return None


_NONE = b"{}"


def _enough(error: BudgetError, factory: Factory) -> str:
    """A budget that the next call fits into, and what is likely to follow until a person is asked."""
    rest = _to_the_next_stop(error, factory)
    if rest is None:
        return error.enough
    if error.setting.endswith("_usd"):
        return str(Decimal(error.enough) + (rest.usd or Decimal(0)).quantize(Decimal("0.0001")))
    return str(int(error.enough) + rest.tokens)


def _to_the_next_stop(error: BudgetError, factory: Factory) -> Estimate | None:
    """What is likely to be asked until then; None if nobody can tell."""
    state = factory.projection.state
    if not factory.price:
        return None
    if factory.projection.awaits_approval or state is None:
        return research_estimate(asked_text(factory), factory.price)
    ended = (TaskStatus.SHIPPED, TaskStatus.ABANDONED)
    left = sum(1 for entry in state.tasks.values() if entry.status not in ended)
    return build_estimate(1 if error.setting.startswith("task_") else left, factory.price)
