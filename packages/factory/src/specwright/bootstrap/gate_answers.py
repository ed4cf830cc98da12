"""What a person answers at the approval gate, as the answer that sends a draft back (design: approval)."""

import shlex
from pathlib import Path

from ship_gate.base.text import one_line
from specwright.application.factory import Factory, ProjectView
from specwright.application.stages.product import draft_history, replaced_spec
from specwright.application.stages.status import ProjectStatus, project_status
from specwright.bootstrap.spec_file import structured_spec
from specwright.domain.spec.draft_history import GateAction, GateAnswer
from specwright.errors import RefusedError


def answer_in_words(factory: Factory, action: GateAction, words: str, text: str) -> GateAnswer:
    """An answer that sends a draft back. A structured spec in place of SPEC.md takes the place of the draft.

    Args:
        factory: The ports.
        action: What happens next.
        words: A person's; empty if the edited SPEC.md says it.
        text: SPEC.md as it was edited; empty if it was not.

    Raises:
        InputError: the structured spec is not complete, or cannot follow the approved one.
    """
    structured = structured_spec(text) if text and not words else None
    if structured is None:
        return GateAnswer(action=action, text=words, spec_text=text)
    return replaced_spec(factory, text, structured)


def no_spec_waits(view: ProjectView, directory: Path, feedback: str = "") -> RefusedError:
    """Why nothing can be answered at the gate, and what to type instead.

    Args:
        view: The project.
        directory: Of it.
        feedback: What was said of the spec, which a change of a released product takes.
    """

    def command(name: str) -> str:
        return f"specwright {name} {shlex.quote(str(directory))}"

    status, awaits = project_status(view), view.projection.awaits_approval
    place = "it is not written yet"
    if not awaits:
        place = f"it is approved, and the project is {_PLACES.get(status, status.value)}"
    on = f"`{command('run')}` goes on, `{command('status')}` says what comes next"
    if status is ProjectStatus.RELEASED:
        asked = shlex.quote(one_line(feedback)) if feedback else "TEXT"
        edited = "" if feedback else f", or `{command('change')}` after you edited SPEC.md,"
        on = f"`{command('change')} --request {asked}`{edited} makes the next version, which waits for your approval"
    elif status in (ProjectStatus.HALTED, ProjectStatus.STALLED):
        on = f"`{command('escalations')}` shows the question that waits, and what answers it"
    elif awaits and draft_history(view).drafted >= 0:
        on = f"`{command('run')}` goes on, `{command('amend')} --withdraw` takes back what sent it back"
    return RefusedError(f"no spec waits for approval; {place}", where=str(directory), remedy=on)


_PLACES = {
    ProjectStatus.RUNNING: "not finished",
    ProjectStatus.HALTED: "halted: a question waits for your answer",
    ProjectStatus.RELEASE_DUE: "built and not released yet",
    ProjectStatus.RELEASE_FAILED: "built, and its release failed",
}
