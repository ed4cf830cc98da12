"""Drafts of modules that were made before their task was dispatched, in a request of a task before it (design: one-shot).

They are kept as other answers in advance are: in the journal, under the run of the task, with what they rest on.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self, cast

from specwright.application import scopes
from specwright.application.factory import Factory
from specwright.application.plan.advance_answers import AdvanceStep, part_of
from specwright.application.tasks import Task
from specwright.canonical_json import JsonValue
from specwright.domain.answers.answers import ProposerAnswer
from specwright.errors import AnswerError
from specwright.ports.roles import Files, SharedAnswer


class AdvanceDraft(NamedTuple):
    """What was answered about one module.

    Args:
        answer: As JSON; None if it did not fit its schema.
        problems: What is wrong with it then.
        raw: As it was given.
        files: What was written.
    """

    answer: JsonValue
    problems: Sequence[str]
    raw: str
    files: Files

    def to_json(self) -> JsonValue:
        """For the journal."""
        files: JsonValue = {path: base64.b64encode(data).decode() for path, data in self.files.items()}
        return {"answer": self.answer, "problems": list(self.problems), "raw": self.raw, "files": files}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """As the journal has it."""
        files = {path: base64.b64decode(text) for path, text in data["files"].items()}
        return cls(data["answer"], data["problems"], data["raw"], files)


class AdvanceDrafts(NamedTuple):
    """What was answered about the modules of one task.

    Args:
        asked: The subject of the request that asked for them.
        basis: What they rest on; they count only where that is still the same.
        modules: By name.
    """

    asked: str
    basis: JsonValue
    modules: Mapping[str, AdvanceDraft]

    @classmethod
    def of(
        cls,
        answered: SharedAnswer[ProposerAnswer] | AnswerError,
        names: Sequence[str],
        asked: str,
        basis: JsonValue,
    ) -> Self:
        """The part of a shared answer that is about the modules of one task."""
        found = dict[str, AdvanceDraft]()
        for name in names:
            part = part_of(answered, name)
            files: Files = {} if isinstance(answered, AnswerError) else answered.files_of(name)
            found[name] = AdvanceDraft(part.answer, part.problems, part.raw, files)
        return cls(asked, basis, found)

    @property
    def answer(self) -> SharedAnswer[ProposerAnswer]:
        """As an answer about these modules alone."""
        given = {n: ProposerAnswer.model_validate(m.answer) for n, m in self.modules.items() if m.answer}
        return SharedAnswer(
            given,
            {name: module.problems for name, module in self.modules.items()},
            {f"{name}/{path}": data for name, m in self.modules.items() for path, data in m.files.items()},
            {name: module.raw for name, module in self.modules.items()},
        )


def advance_drafts(factory: Factory, task: Task) -> AdvanceDrafts | None:
    """The drafts that were made of the modules of a task, if any were."""
    kept = cast(Any, factory.journal.recorded(scopes.advance_answer(task.run, AdvanceStep.DRAFTS), "tool"))
    return None if kept is None else _read(kept)


def keep_drafts(factory: Factory, task: Task, drafts: AdvanceDrafts) -> AdvanceDrafts:
    """Keep drafts for their task, once."""
    scope = factory.journal.scope(scopes.advance_answer(task.run, AdvanceStep.DRAFTS))
    modules: JsonValue = {name: module.to_json() for name, module in drafts.modules.items()}
    record: JsonValue = {"asked": drafts.asked, "basis": drafts.basis, "modules": modules}
    return _read(cast(Any, scope.recall("tool", {"tool": "advance_drafts"}, lambda: record)))


def _read(record: Any) -> AdvanceDrafts:
    modules = {name: AdvanceDraft.from_json(one) for name, one in record["modules"].items()}
    return AdvanceDrafts(record["asked"], record["basis"], modules)
