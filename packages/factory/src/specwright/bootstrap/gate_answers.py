"""Answers at the approval gate that send a draft back (design: approval).

Also fixes as files: writes out failed drafts as module directories, and reads the corrected files (design: escalation).
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
    """Return an answer that sends a draft back. A structured spec in place of SPEC.md replaces the draft.

    Args:
        factory: The ports.
        action: What happens next.
        words: The person's message; empty if the edited SPEC.md replaces it.
        text: The edited SPEC.md; empty if it was not edited.

    Raises:
        InputError: the structured spec is incomplete, or cannot follow the approved one.
    """
    structured = structured_spec(text) if text and not words else None
    if structured is None:
        return GateAnswer(action=action, text=words, spec_text=text)
    return replaced_spec(factory, text, structured)


def no_spec_waits(view: ProjectView, directory: Path, feedback: str = "") -> RefusedError:
    """Return the error for an answer while no spec waits for approval; its remedy names the next command.

    Args:
        view: The project.
        directory: The project's directory.
        feedback: Feedback on the spec, offered as the request of a change once the product is released.
    """

    def command(name: str) -> str:
        return f"specwright {name} {shlex.quote(str(directory))}"

    status, awaits = project_status(view), view.projection.awaits_approval
    place = "it is not written yet"
    if not awaits:
        place = f"it is approved, and the project is {_PLACES.get(status, status.value)}"
    on = f"`{command('run')}` continues, `{command('status')}` says what comes next"
    if status is ProjectStatus.RELEASED:
        request = shlex.quote(one_line(feedback)) if feedback else "TEXT"
        edited = "" if feedback else f", or `{command('change')}` after you have edited SPEC.md,"
        on = f"`{command('change')} --request {request}`{edited} makes the next version, which waits for your approval"
    elif status in (ProjectStatus.HALTED, ProjectStatus.STALLED):
        on = f"`{command('escalations')}` shows the open question and its possible answers"
    elif awaits and draft_history(view).drafted >= 0:
        on = f"`{command('run')}` continues, `{command('amend')} --withdraw` takes back your answer"
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
    """Write out the last drafts of the failed modules, each with its contract and the project's settings: a single one into
    `place`, several into directories below it.

    Returns:
        The directory and the contract of each module, by module name.

    Raises:
        InputError: `place` is not empty, or cannot be written.
        RefusedError: no module failed.
    """
    drafts = HaltedTask(view, escalation).drafts()
    if place.is_symlink() or (place.exists() and not (place.is_dir() and not any(place.iterdir()))):
        raise InputError(
            "the directory is not empty, and nothing is overwritten",
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
    """Trust the project's packages in the directories of its modules if they are trusted in the project."""
    found = {name: value for name, value in decisive_in_file(project).items() if name == "packages"}
    if not untrusted(project, found):
        for place in places if found else ():
            trust_typed(place, found)


def read_fix(
    view: ProjectView, escalation: EscalationArtifact, place: Path, description: str
) -> dict[str, Any]:
    """Return the payload of PROVIDE_FIX for the files in a module directory.

    Raises:
        InputError: it is not the directory of a failed module, or has a file that no module can have.
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
    """Return a draft's files, with the contract's docstring, which the gate needs when it runs outside a project."""
    try:
        return {**draft.files, ENTRY_FILE: splice(draft.files[ENTRY_FILE], draft.contract)}
    except (KeyError, SourceError):  # the gate says what is wrong with it
        return {**draft.files}


def _module_in(place: Path, drafts: Mapping[str, FailedDraft]) -> str:
    """Return the name of the failed module whose contract is in a directory."""
    path = place / layout.CONTRACT
    found = path.read_bytes() if path.is_file() else None
    for name, draft in drafts.items():
        if found == draft.contract.to_bytes():
            return name
    names = ", ".join(drafts)
    if found is None:
        raise InputError(
            f"{layout.CONTRACT} is missing, so the module is unknown (failed: {names})",
            where=str(place),
            remedy="name the directory of a module that `specwright escalations ESC-ID DIR --checkout` made",
        )
    raise InputError(
        f"it is not the locked contract of a failed module ({names})",
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
                    "a fix cannot contain links", where=str(path), remedy="replace it with the file itself"
                )
            if not is_module_file(name):
                continue  # contract, settings, notes, and files of tools; `gate` reports the others
            if path.stat().st_size > _MOST_BYTES:
                raise InputError("the file is larger than 1 MiB", where=str(path), remedy="make it smaller")
            try:
                files[name] = path.read_bytes().decode()
            except UnicodeDecodeError as error:
                raise InputError(
                    "the file is not UTF-8", where=str(path), remedy="a fix contains only text files"
                ) from error
    return files
