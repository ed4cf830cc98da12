"""What a person answers at the approval gate, as the answer that sends a draft back (design: approval).

A person's fix on disk: failed drafts laid out as module directories, and what became of them (design: escalation).
"""

import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ship_gate.base.text import one_line
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.source.files import SourceError
from ship_gate.source.splice import splice
from ship_gate.trust import trust_typed, untrusted
from ship_gate.verdict import ENTRY_FILE
from specwright.application.escalation.halted import FailedDraft, HaltedTask
from specwright.application.factory import Factory, ProjectView
from specwright.application.stages.product import draft_history, replaced_spec
from specwright.application.stages.status import ProjectStatus, project_status
from specwright.application.store import layout
from specwright.bootstrap.spec_file import structured_spec
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.modules.evidence import is_module_file
from specwright.domain.spec.draft_history import GateAction, GateAnswer
from specwright.errors import InputError, RefusedError
from specwright.files import write_files
from specwright.settings import SETTINGS_FILE, decisive_in_file


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


_MOST_BYTES = 1024 * 1024


def check_out(
    view: ProjectView, escalation: EscalationArtifact, project: Path, place: Path
) -> dict[str, tuple[Path, MicroModuleContract]]:
    """Lay out the last drafts of the failed modules, each with its contract and the project's settings: one in `place`,
    several in directories below it.

    Returns:
        By the names of the modules their directories and contracts.

    Raises:
        InputError: there is something at `place` already, or it cannot be written.
        RefusedError: no module failed.
    """
    drafts = HaltedTask(view, escalation).drafts()
    if place.is_symlink() or (place.exists() and not (place.is_dir() and not any(place.iterdir()))):
        raise InputError(
            "the place is taken, and nothing is overwritten",
            where=str(place),
            remedy="name a directory that is new or empty",
        )
    below = {name: place / name if len(drafts) > 1 else place for name in drafts}
    settings = project / SETTINGS_FILE
    own = {SETTINGS_FILE: settings.read_bytes()} if settings.is_file() else {}
    place.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        for name, draft in drafts.items():
            write_files(
                made / below[name].relative_to(place),
                {layout.CONTRACT: draft.contract.to_bytes(), **own, **_laid_out(draft)},
            )
        made.chmod(0o755)
        made.replace(place)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    _trust_packages(project, [below[name] for name in drafts])
    return {name: (below[name], draft.contract) for name, draft in drafts.items()}


def _trust_packages(project: Path, places: Sequence[Path]) -> None:
    """Have the packages of a project count where its modules are laid out, if they count for the project."""
    found = {name: value for name, value in decisive_in_file(project).items() if name == "packages"}
    if not untrusted(project, found):
        for place in places if found else ():
            trust_typed(place, found)


def read_fix(
    view: ProjectView, escalation: EscalationArtifact, place: Path, description: str
) -> dict[str, Any]:
    """The payload of PROVIDE_FIX for the files in a module directory.

    Raises:
        InputError: it is no directory of a failed module, or holds what no module can have.
        RefusedError: no module failed.
    """
    drafts = HaltedTask(view, escalation).drafts()
    if not place.is_dir():
        raise InputError(
            "there is no such directory",
            where=str(place),
            remedy=f"`specwright escalations {escalation.escalation_id} DIR --checkout {shlex.quote(str(place))}` makes it",
        )
    name, files = _module_in(place, drafts), _texts(place)
    return {
        "fix_description": description,
        "fix_artifacts": files,
        "removed_artifacts": sorted(drafts[name].base.keys() - files.keys()),
        "module": name,
    }


def _laid_out(draft: FailedDraft) -> dict[str, bytes]:
    """A draft's files, the docstring that of the contract, as a gate without a run behind it wants it."""
    try:
        return {**draft.files, ENTRY_FILE: splice(draft.files[ENTRY_FILE], draft.contract)}
    except (KeyError, SourceError):  # the gate says what is wrong with it
        return {**draft.files}


def _module_in(place: Path, drafts: Mapping[str, FailedDraft]) -> str:
    """The failed module whose contract a directory holds."""
    path = place / layout.CONTRACT
    found = path.read_bytes() if path.is_file() else None
    for name, draft in drafts.items():
        if found == draft.contract.to_bytes():
            return name
    names = ", ".join(drafts)
    if found is None:
        raise InputError(
            f"no {layout.CONTRACT} is there, which says that the files are of {names}",
            where=str(place),
            remedy="name the directory that `specwright escalations ESC-ID DIR --checkout` made, or one of those below it",
        )
    raise InputError(
        f"it is not the locked contract of a module that failed ({names})",
        where=str(path),
        remedy="a fix keeps the contract; REVISE_PLAN or AMEND_SPEC change it",
    )


def _texts(place: Path) -> dict[str, str]:
    files: dict[str, str] = {}
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if not name.startswith((".", "__pycache__"))]
        for path in sorted(Path(folder) / name for name in (*folders, *names)):
            name = path.relative_to(place).as_posix()
            if path.is_symlink() and (path.is_dir() or is_module_file(name)):
                raise InputError(
                    "a fix follows no link", where=str(path), remedy="put what it leads to there"
                )
            if not is_module_file(name):
                continue  # its contract, settings, notes and what tools leave behind; `gate` tells of the rest
            if path.stat().st_size > _MOST_BYTES:
                raise InputError("the file is larger than 1 MiB", where=str(path), remedy="make it smaller")
            try:
                files[name] = path.read_bytes().decode()
            except UnicodeDecodeError as error:
                raise InputError(
                    "the file is not UTF-8", where=str(path), remedy="a fix holds texts alone"
                ) from error
    return files
