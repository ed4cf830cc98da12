"""A playbook made from a project, with which its run can be repeated.

Specs, plans and deliverables are taken from the store, as they were accepted: what was refused on the way is left out.
The other answers are the last ones that the journal has for their place; a request about several tasks or modules is
divided among them. Ids are drawn anew in each run, so a plan names the modules that it calls or reuses. What a person
answered is no part of a playbook.
"""

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from specwright import canonical_json
from specwright.application.store.layout import spec_files
from specwright.bootstrap.storage.stores import begun_store
from specwright.bootstrap.views.reading import reading_project
from specwright.errors import InputError
from specwright.journal.records import JournalRecord
from specwright.roles.answers.json_text import objects_in, visible_text

_STAMPS = ("created_at", "updated_at")
_PLACE = re.compile(
    r"(?P<task>[^/]+?)\.(?P<run>[^/]+)/(?P<subject>[^/]+)/(?P<stage>[^/]+)/(?P<role>planner|proposer|challenger|arbiter)"
)
_PLAN = re.compile(r"artifacts/[^/]+/MP-[^/]+/[^/]+/body/answer\.json")
_DRAFT = re.compile(r"artifacts/[^/]+/IMPL-[^/]+/[^/]+/body/(.+)")
_REFERENCE = re.compile(r"MM-[0-9a-f]{8}@[0-9.]+")
_EXCEPTION = "raise_interface_change_exception"


class RecordedPlaybook(NamedTuple):
    """A playbook that was made.

    Args:
        files: How many it has.
        remarks: What a run with it cannot repeat.
    """

    files: int
    remarks: tuple[str, ...]


def record_playbook(project: Path, directory: Path) -> RecordedPlaybook:
    """Make a playbook from a project.

    Args:
        project: With a run that went past the approval.
        directory: A new one, or an empty one.

    Raises:
        InputError: there is no project, nothing of it is approved, or the directory has files.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise InputError(
            "the playbook's place is taken, and nothing is overwritten",
            where=str(directory),
            remedy="name a new directory",
        )
    with reading_project(project) as view:
        if view.projection.spec is None:
            raise InputError(
                "no spec is approved yet, so there is nothing to repeat",
                where=str(project),
                remedy="approve it first",
            )
        names = {ref: view.modules.contract(ref).name for ref in view.modules.refs()}
        title, last = view.projection.spec.title, view.projection.change_number
    with begun_store(project) as store:
        recorder = _Recorder(store.files.read, names)
        recorder.add_specs(
            [number for number in range(last + 1) if store.files.exists(spec_files(number).spec)]
        )
        for record in store.records():
            recorder.add(record)
    about = {"name": title, "description": f"Recorded from a run of {title}."}
    files = {"playbook.json": canonical_json.pretty(about), **recorder.files}
    _write(directory, files)
    return RecordedPlaybook(len(files), tuple(recorder.remarks()))


class _Recorder:
    """The files of a playbook, from the records of a journal in their order."""

    def __init__(self, read: Any, names: Mapping[str, str]) -> None:
        self._read = read
        self._names = names
        self._searches: dict[str, list[str]] = {}
        self._resolutions: set[str] = set()
        self._unfound = False
        self.files: dict[str, bytes] = {}

    def add_specs(self, numbers: list[int]) -> None:
        """The approved spec, and those of changes."""
        for number in numbers:
            spec = cast(dict[str, Any], canonical_json.loads(self._read(spec_files(number).spec)))
            told = {name: value for name, value in spec.items() if name not in _STAMPS}
            folder = f"change-{number}" if number else "researcher"
            self.files[f"{folder}/spec.json"] = canonical_json.pretty(told)

    def add(self, record: JournalRecord) -> None:
        """What a record says about an answer."""
        if record.place.scope.startswith("resolution/"):
            self._resolutions.add(record.place.scope)
        found = _PLACE.match(record.place.scope)
        if found is None:
            return
        place, whole = found.groupdict(), found.end() == len(record.place.scope)
        if record.place.kind == "model" and whole:
            self._add_answer(place, cast(dict[str, Any], record.answer)["message"]["data"])
        elif record.place.kind == "kept":
            if (
                "+" in place["subject"]
            ):  # of a request about several modules, the one that the rest of the scope names
                place["subject"] = f"{record.place.scope[found.end() :]}/".split("/")[1]
            self._add_stored(place, cast(dict[str, str], record.answer))

    def remarks(self) -> Iterator[str]:
        """What a run with this playbook cannot repeat."""
        if self._resolutions:
            many = len(self._resolutions)
            yield "an answer of a person" if many == 1 else f"{many} answers of a person"

        if self._unfound:
            yield "a plan reuses a module that it did not search for"

    def _add_stored(self, place: Mapping[str, str], paths: Mapping[str, str]) -> None:
        """A plan or a deliverable that was accepted as a draft."""
        if place["role"] == "planner" and (path := next(filter(_PLAN.fullmatch, paths), None)):
            plan = self._named(cast(dict[str, Any], canonical_json.loads(self._read(path))))
            searches = self._searches.get(_folder(place), [])
            reuses = any(module["reuse"].get("reuse_ref") for module in plan["modules"])
            self._unfound = self._unfound or (reuses and not searches)
            script = {"searches": searches, "plan": plan} if searches else {"plan": plan}
            self.files[f"{_folder(place)}/{_planner_file(place['stage'])}"] = canonical_json.pretty(script)
        drafts = {found[1]: path for path in paths if (found := _DRAFT.fullmatch(path))}
        if place["role"] == "proposer" and drafts:
            folder = f"{_step_folder(place, place['subject'])}/deliverable/"
            for name in [name for name in self.files if name.startswith(folder)]:
                del self.files[name]  # of a draft that was sent back
            for name, path in drafts.items():
                self.files[f"{folder}{name}"] = self._read(path)

    def _named(self, plan: dict[str, Any]) -> dict[str, Any]:
        """A plan that names the modules that it calls; their ids are other ones in each run."""
        for module in plan["modules"]:
            for called in module.get("depends_on") or ():
                called["module"] = self._names.get(called["module"], called["module"])
            module["reuse"]["candidates_considered"] = []
            if reused := module["reuse"].get("reuse_ref"):
                module["reuse"]["reuse_ref"] = self._names.get(reused, reused)
        return plan

    def _add_answer(self, place: Mapping[str, str], message: dict[str, Any]) -> None:
        calls = cast(list[dict[str, Any]], message.get("tool_calls") or [])
        if place["role"] == "planner":
            queries = [str(c["args"].get("query", "")) for c in calls if c["name"] == "search_code_index"]
            self._searches.setdefault(_folder(place), []).extend(queries)
            return
        answer = _last_submission(place["role"], calls, message.get("content"))
        if answer is None:
            return
        raised = any(call["name"] == _EXCEPTION for call in calls)
        for part, folder in _divided(place, answer):
            name = f"{place['role']}-exception.json" if raised else f"{place['role']}.json"
            self.files[f"{folder}/{name}"] = canonical_json.pretty(part)


def _last_submission(role: str, calls: list[dict[str, Any]], content: Any) -> dict[str, Any] | None:
    """What a turn hands in: the arguments of a tool, or an object in its text; None of a turn that only works."""
    for call in reversed(calls):
        if role == "arbiter" or call["name"].startswith("submit_") or call["name"] == _EXCEPTION:
            return cast(dict[str, Any], call["args"])
    found = () if calls else objects_in(visible_text(content)).objects
    return found[-1] if found else None


def _divided(place: Mapping[str, str], answer: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """An answer with its folder; one about several tasks or modules as one each."""
    about = place["subject"].split("+")
    if len(about) == 1:
        yield answer, _step_folder(place, place["subject"])
        return
    by_task = about[0] == place["task"]
    field = "task" if by_task else "module"
    for part in cast(list[dict[str, Any]], answer.get(f"{field}s") or []):
        named = str(part.get(field))
        own = {name: value for name, value in part.items() if name != field}
        yield (
            own,
            _step_folder({**place, "task": named}, "contracts") if by_task else _step_folder(place, named),
        )


def _folder(place: Mapping[str, str]) -> str:
    """The folder of a task's attempt."""
    run = place["run"].partition("r")[0]
    if not run.isdecimal():
        return f"{place['task']}/changed"
    return place["task"] if run == "1" else f"{place['task']}/attempt-{run}"


def _step_folder(place: Mapping[str, str], subject: str) -> str:
    stage = "amended" if place["stage"].startswith("amended") else place["stage"]
    return f"{_folder(place)}/{subject}/{stage}"


def _planner_file(stage: str) -> str:
    kind, _, number = stage.partition("-")
    if kind == "amended":
        return "planner-amended.json"
    return "planner.json" if number == "1" else f"planner-{number}.json"


def _write(directory: Path, files: Mapping[str, bytes]) -> None:
    """All the files or none."""
    existed = directory.exists()
    try:
        for name, content in files.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(content)
    except OSError as error:
        shutil.rmtree(directory, ignore_errors=True)
        if existed:
            directory.mkdir(exist_ok=True)
        raise InputError(
            f"the playbook cannot be written: {error.strerror}",
            where=str(directory),
            remedy="name another place, or mend its rights",
        ) from error
