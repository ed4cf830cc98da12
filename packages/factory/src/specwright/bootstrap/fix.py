"""A person's fix on disk: failed drafts laid out as module directories, and what became of them (design: escalation)."""

import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.source.files import SourceError
from ship_gate.surface.splice import splice
from ship_gate.trust import trust_typed, untrusted
from ship_gate.verdict import ENTRY_FILE
from specwright.application.escalation.fix import FailedDraft, failed_drafts, fix_payload
from specwright.application.factory import ProjectView
from specwright.application.store import layout
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.modules.evidence import is_module_file
from specwright.errors import InputError
from specwright.settings import SETTINGS_FILE, decisive_in_file

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
    drafts = failed_drafts(view, escalation)
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
            _write(
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
    drafts = failed_drafts(view, escalation)
    if not place.is_dir():
        raise InputError(
            "there is no such directory",
            where=str(place),
            remedy=f"`specwright escalations {escalation.escalation_id} DIR --checkout {shlex.quote(str(place))}` makes it",
        )
    name, files = _module_in(place, drafts), _texts(place)
    return fix_payload(drafts, name, files, description)


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
        for path in sorted(Path(folder) / name for name in names):
            name = path.relative_to(place).as_posix()
            if not is_module_file(name) or path.is_symlink():
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


def _write(directory: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
