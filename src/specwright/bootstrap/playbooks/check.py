"""What is wrong with a playbook, all of it, before a run: files that are missing, not valid, or never read.

Left out: what only a run can tell, such as whether a deliverable passes the gate (`specwright playbook gate`).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from specwright.application.tasks import spec_errors
from specwright.bootstrap.playbooks.files import last_plan, read_object, rounds_of
from specwright.domain.answers.answers import (
    AmendmentsAnswer,
    ArbiterAnswer,
    ChallengerAnswer,
    Decision,
    ProposerAnswer,
    Verdict,
)
from specwright.domain.answers.plan_answers import PlanAnswer
from specwright.domain.base.record import Record, validation_messages
from specwright.domain.spec.completeness import in_words, validate
from specwright.domain.spec.product_spec import ProductSpecDraft
from specwright.errors import InputError

_CONTRACTS = "contracts"
_OTHER_FOLDERS = ("attempt-", "changed")
"""Further attempts and changes, which the plan of the task does not name."""


class PlaybookFault(NamedTuple):
    """A fault: the file, and what is wrong with it."""

    where: str
    what: str


def check_playbook(directory: Path) -> list[PlaybookFault]:
    """Every fault of a playbook.

    Args:
        directory: With playbook.json.

    Raises:
        InputError: the directory is no playbook.
    """
    if not (directory / "playbook.json").is_file():
        raise InputError(
            "no playbook there", where=str(directory), remedy="name a directory that holds playbook.json"
        )
    return list(dict.fromkeys(_Check(directory).faults()))


class _Check:
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def faults(self) -> Iterator[PlaybookFault]:
        """All of them, in the order in which a run would meet them."""
        yield from self._object("playbook.json")[1]
        tasks: list[str] = []
        for path in sorted(self._directory.glob("researcher/*.json")) or [
            self._directory / "researcher/spec.json"
        ]:
            spec, faults = self._object(f"researcher/{path.name}")
            yield from faults
            if spec is not None:
                yield from (PlaybookFault(f"researcher/{path.name}", text) for text in _spec_faults(spec))
                tasks = tasks or _task_ids(spec)
        for task in tasks or sorted(path.name for path in self._directory.glob("TSK-*")):
            yield from self._task(task)
        for folder in sorted(self._directory.glob("TSK-*")):
            if tasks and folder.name not in tasks:
                yield PlaybookFault(folder.name, "the spec has no such task, so nothing reads this folder")

    def _task(self, task: str) -> Iterator[PlaybookFault]:
        for path in sorted((self._directory / task).glob("planner*.json")) or [
            last_plan(self._directory / task)
        ]:
            script, faults = self._object(f"{task}/{path.name}")
            yield from faults
            if script is not None:
                yield from self._answer(f"{task}/{path.name}", script.get("plan"), PlanAnswer)
        plan = _valid(last_plan(self._directory / task))
        if plan is None:
            return
        names = [module.name for module in plan.modules if module.reuse.reuse_ref is None]
        for subject in (_CONTRACTS, *names):
            yield from self._debate(task, subject)
        for folder in sorted(path for path in (self._directory / task).iterdir() if path.is_dir()):
            if folder.name not in (_CONTRACTS, *names) and not folder.name.startswith(_OTHER_FOLDERS):
                yield PlaybookFault(
                    f"{task}/{folder.name}", "the plan has no such module, so nothing reads this folder"
                )

    def _debate(self, task: str, subject: str) -> Iterator[PlaybookFault]:
        folder = self._directory / task / subject
        rounds = rounds_of(folder)
        if not [path for path in rounds if path.name != "amended"]:
            yield PlaybookFault(f"{task}/{subject}/round-1", "the round is missing")
            return
        for path in rounds:
            last = path == rounds[-1] or (rounds[-1].name == "amended" and path == rounds[-2])
            yield from self._round(f"{task}/{subject}/{path.name}", subject != _CONTRACTS, last=last)

    def _round(self, folder: str, is_module: bool, *, last: bool) -> Iterator[PlaybookFault]:
        raised = {path.name for path in (self._directory / folder).glob("*-exception.json")}
        amends = folder.endswith("/amended")
        if is_module and "proposer-exception.json" not in raised:
            yield from self._checked(
                f"{folder}/proposer.json", AmendmentsAnswer if amends else ProposerAnswer
            )
            yield from self._deliverable(folder, whole=folder.endswith("/round-1"))
        if amends or raised:
            return
        yield from self._checked(f"{folder}/challenger.json", ChallengerAnswer)
        passed = _field(self._directory / folder / "challenger.json", "verdict") == Verdict.PASS
        ruling = self._directory / folder / "arbiter.json"
        if ruling.is_file() or (passed and last):
            yield from self._checked(f"{folder}/arbiter.json", ArbiterAnswer)
        with_amendments = _field(ruling, "decision") == Decision.APPROVE_WITH_AMENDMENTS
        if with_amendments and is_module and not (ruling.parents[1] / "amended").is_dir():
            yield PlaybookFault(
                f"{folder.rpartition('/')[0]}/amended",
                "the folder is missing: the Arbiter approves with amendments",
            )

    @staticmethod
    def _has_claims(files: dict[str, Path]) -> bool:
        """Whether tests are claimed; of definitions there are none."""
        claims = files.get("tests/obligations.json")
        return claims is None or claims.read_bytes().strip() != b"{}"

    def _deliverable(self, folder: str, *, whole: bool) -> Iterator[PlaybookFault]:
        base = self._directory / folder / "deliverable"
        files = {path.relative_to(base).as_posix(): path for path in base.rglob("*") if path.is_file()}
        needed = ("implementation/__init__.py", "tests/obligations.json", "examples.md") if whole else ()
        for name in needed:
            if name not in files:
                yield PlaybookFault(f"{folder}/deliverable/{name}", "the file is missing")
        if whole and not any(name.startswith("tests/test_") for name in files) and self._has_claims(files):
            yield PlaybookFault(f"{folder}/deliverable/tests", "there is no test_*.py")
        for name, path in files.items():
            try:
                path.read_bytes() if "__pycache__" in name else path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                yield PlaybookFault(f"{folder}/deliverable/{name}", "the file is not UTF-8")

    def _checked(self, name: str, schema: type[Record]) -> Iterator[PlaybookFault]:
        value, faults = self._object(name)
        yield from faults
        if value is not None:
            yield from self._answer(name, value, schema)

    def _answer(self, name: str, value: object, schema: type[Record]) -> Iterator[PlaybookFault]:
        try:
            schema.model_validate(value)
        except ValidationError as error:
            yield from (PlaybookFault(name, text) for text in validation_messages(error))

    def _object(self, name: str) -> tuple[dict[str, Any] | None, list[PlaybookFault]]:
        try:
            return read_object(self._directory / name), []
        except InputError as error:
            return None, [PlaybookFault(name, error.what)]


def _spec_faults(spec: dict[str, Any]) -> list[str]:
    return [in_words(spec, error) for error in validate(spec).errors] or list(spec_errors(spec))


def _task_ids(spec: Mapping[str, Any]) -> list[str]:
    """The tasks of a spec that is valid; none of another one."""
    try:
        draft = ProductSpecDraft.model_validate(spec)
    except ValidationError:
        return []
    return [task.task_id for task in draft.tasks()]


def _valid(path: Path) -> PlanAnswer | None:
    try:
        return PlanAnswer.model_validate(read_object(path).get("plan"))
    except (InputError, ValidationError):
        return None


def _field(path: Path, name: str) -> object:
    try:
        return read_object(path).get(name)
    except InputError:
        return None
