"""The answers of a recorded example by task and module, whichever requests they were given in: a model that can be asked
about any of them together."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from langchain_core.messages import AIMessage, BaseMessage

from specwright.bootstrap.project import Composition, open_project
from specwright.ports.roles import Place, Role
from specwright.roles.models.journalled_model import answers_so_far
from specwright.settings import Settings
from testkit.model.fake_model import FakeSource, calls
from testkit.model.script import was_refused
from testkit.paths import ROOT

__all__ = ["Asked", "RecordedAnswers", "run_again"]

_ALONE = {"planner": "plan", "challenger": "contracts", "arbiter": "contracts"}
"""Where a role is asked about one task of those that share a request."""


class RecordedAnswers:
    """A `Reply` of the fake model.

    Args:
        recorded: The journal.
    """

    def __init__(self, recorded: Path) -> None:
        self._given: dict[tuple[str, str, str, str], list[dict[str, Any]]] = defaultdict(list)
        self._task_of: dict[str, str] = {}
        for line in recorded.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record["kind"] == "model":
                self._add(record["scope"], record["answer"]["message"]["data"])

    def _add(self, scope: str, message: dict[str, Any]) -> None:
        run, *middle, role = scope.split("/")
        task = run.partition(".")[0]
        subject, stage = (*middle, "", "")[:2]
        spoken = json.loads(message["content"]) if role == "arbiter" else message
        if "+" not in subject:
            self._given[task, subject, stage, role].append(spoken)
            self._task_of.setdefault(subject, task)
            return
        answer = spoken if role == "arbiter" else message["tool_calls"][-1]["args"]
        for part in answer["tasks"]:
            one = {name: value for name, value in part.items() if name != "task"}
            tool = {"name": message["tool_calls"][-1]["name"], "args": one} if role != "arbiter" else {}
            alone = one if role == "arbiter" else {"tool_calls": [tool]}
            self._given[part["task"], _ALONE[role], stage, role].append(alone)

    def __call__(self, place: Place, messages: list[BaseMessage], tools: Any) -> AIMessage:
        """What was answered, in one answer if several are asked about."""
        ordinal = answers_so_far(messages)
        if len(place.modules) == 1:
            task = "product" if place.role is Role.RESEARCHER else place.task
            said = self._given[task, place.subject, place.stage, place.role]
            turn = said[min(ordinal + was_refused(messages), len(said) - 1)]
            if place.role is Role.ARBITER:
                return AIMessage(json.dumps(turn))
            return calls(*((one["name"], one["args"]) for one in turn["tool_calls"]), ordinal=ordinal)
        if place.about_tasks:
            return self._together(place, "task", {t: (t, _ALONE[place.role]) for t in place.modules})
        return self._together(place, "module", {name: (self._task_of[name], name) for name in place.modules})

    def _together(self, place: Place, about: str, where: dict[str, tuple[str, str]]) -> AIMessage:
        turns = {
            name: self._given[task, subject, place.stage, place.role][0]
            for name, (task, subject) in where.items()
        }
        if place.role is Role.ARBITER:
            return AIMessage(
                json.dumps({f"{about}s": [{about: name, **turn} for name, turn in turns.items()]})
            )
        written = [
            ("write_file", {**one["args"], "file_path": f"/{name}{one['args']['file_path']}"})
            for name, turn in turns.items()
            for one in turn["tool_calls"][:-1]
        ]
        last = {name: turn["tool_calls"][-1] for name, turn in turns.items()}
        terminal = next(iter(last.values()))["name"]
        answer = {f"{about}s": [{about: name, **one["args"]} for name, one in last.items()]}
        return calls(*written, (terminal, answer), ordinal=0)


class Asked(NamedTuple):
    """What a run asked of models.

    Args:
        requests: How many, by role.
        characters_in: Of the requests with prompts and tools.
        characters_out: Of the answers.
    """

    requests: Mapping[str, int]
    characters_in: int
    characters_out: int

    @classmethod
    def of(cls, journal: Path) -> Self:
        """From the journal of a run."""
        requests, read, written = Counter[str](), 0, 0
        for line in journal.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record["kind"] == "model":
                message = record["answer"]["message"]["data"]
                requests[record["scope"].rpartition("/")[2]] += 1
                read += sum(record["answer"]["asked"].values())
                written += len(message["content"]) + sum(
                    len(json.dumps(c["args"])) for c in message["tool_calls"]
                )
        return cls(requests, read, written)

    @property
    def total(self) -> int:
        """Requests."""
        return sum(self.requests.values())


def run_again(example: str, lane: Literal["task", "one-shot"], directory: Path, gate: Any = None) -> Asked:
    """Make a recorded example again in a lane, its answers given in whichever requests the lane makes.

    Args:
        example: Its name.
        lane: The lane.
        directory: The project.
        gate: Judges in place of the real one.
    """
    folder = ROOT / "examples" / example
    recorded = folder / "recorded.journal"
    source = FakeSource(RecordedAnswers(recorded))
    composition = Composition(
        wrap_adapters=lambda ports: replace(ports, gate=gate) if gate else ports,
        wrap_models=lambda models: dict.fromkeys(models, source),
    )
    settings = Settings(model=f"replay:{recorded}", lane=lane)
    text = (folder / "SPEC.md").read_text(encoding="utf-8")
    with open_project(directory, settings, spec_text=text, composition=composition) as project:
        project.run(approve=True)
    return Asked.of(directory / ".specwright/journal.jsonl")
