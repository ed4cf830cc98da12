"""Playbooks: answers written beforehand, played through the same agents, tools and schemas (design: models).

A playbook is a directory; the answers of an invocation are found by its place in the run, never by global order:

    playbook.json                                     {"name", "description", "written": "2026-11-30"}
    researcher/spec.json                              the product spec (`amended-1.json` after the first AMEND)
    change-1/spec.json                                the spec that the first change amends, and in `request.txt`, if it
                                                      answers one request alone, this request
    TSK-001/planner.json                              {"searches": [...], "plan": {...}}   (`planner-2.json` for round 2)
    TSK-001/contracts/round-1/{challenger,arbiter}.json
    TSK-001/<module>/round-1/{proposer,challenger,arbiter}.json and deliverable/
    TSK-001/<module>/amended/proposer.json and deliverable/
    TSK-001/<module>/round-1/{proposer,challenger}-exception.json    raises an interface change exception instead
    TSK-001/attempt-2/...                             another attempt, where it is answered otherwise
    TSK-001/changed/...                               an approved change to a module that the task shipped

A module's deliverable is a directory as docs/design.md#module-directory has it; each file becomes a `write_file`
call. A later round holds only what changes.
Which answer of an invocation is next follows from the conversation itself.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any, cast

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from packaging.version import InvalidVersion, Version
from pydantic import ConfigDict

from agent_wire import canonical_json
from specwright.errors import InputError, ScriptError
from specwright.ports import Place, Role
from specwright.roles.models.journalled_model import answers_so_far

Turn = list[tuple[str, dict[str, Any]]]
"""The tool calls of one answer: names and arguments."""


_OWN_PLAYBOOK = "in a playbook of your own, write this file and run again"
_ANOTHER_MODEL = "name a model that answers: `specwright run --model PROVIDER:NAME`"
_LONGEST_REQUEST = 400
_WAY_BACK = "`specwright change --abandon` leads back to the last release"


class ScriptedChatModel(BaseChatModel):
    """A model that answers without a provider; takes tools and schemas as a provider's model does."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def bind_tools(self, tools: Any, *, tool_choice: Any = None, **kwargs: Any) -> Any:
        """Bind tools in the OpenAI form."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)


class PlaybookChatModel(ScriptedChatModel):
    """A chat model that plays the turns of one invocation; `next_source` is the file to look at when they are used up."""

    turns: list[Turn]
    place: Place
    next_source: str
    author: str

    @property
    def _llm_type(self) -> str:
        return "playbook"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        ordinal = answers_so_far(messages)
        if ordinal >= len(self.turns):
            asked = _last_request(str(messages[-1].content))
            raise _missing_answer(self.place, ordinal, self.next_source, asked)
        turn = self.turns[ordinal]
        found = _found_modules(messages)
        calls = [
            {
                "name": name,
                "args": _with_references(args, found),
                "id": f"call-{ordinal}-{i}",
                "type": "tool_call",
            }
            for i, (name, args) in enumerate(turn)
        ]
        message = AIMessage(
            content="",
            tool_calls=cast(Any, calls),
            usage_metadata={"input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
            response_metadata={"model_name": self.author},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


def _found_modules(messages: Sequence[BaseMessage]) -> dict[str, str]:
    """The references of modules that searches of a conversation found, by their names; of several the first."""
    found: dict[str, str] = {}
    for message in messages:
        if not isinstance(message, ToolMessage) or message.name != "search_code_index":
            continue
        try:
            rows: Any = json.loads(str(message.content))
        except ValueError:
            continue  # nothing was found, which the tool says in words
        for row in cast("list[dict[str, str]]", rows):
            found.setdefault(row["name"], row["module_ref"])
    return found


def _with_references(args: dict[str, Any], found: Mapping[str, str]) -> dict[str, Any]:
    """A plan that reuses modules by their names, with the references that they have in this run."""
    modules = cast("list[Any]", args["modules"]) if isinstance(args.get("modules"), list) else []
    if not any(_reused_name(module) in found for module in modules):
        return args
    return {
        **args,
        "modules": [
            {**module, "reuse": {**module["reuse"], "reuse_ref": found[name]}}
            if (name := _reused_name(module)) in found
            else module
            for module in modules
        ],
    }


def _reused_name(module: Any) -> str:
    reuse = cast("dict[str, Any]", module).get("reuse") if isinstance(module, dict) else None
    return str(cast("dict[str, Any]", reuse).get("reuse_ref") or "") if isinstance(reuse, dict) else ""


class Playbook:
    """A directory of scripted answers.

    Raises:
        InputError: the directory is no playbook.
    """

    scripted = True

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        if not (directory / "playbook.json").is_file():
            raise InputError(
                "no playbook there", where=str(directory), remedy="name a directory that holds playbook.json"
            )
        described = self._json("playbook.json")
        self._author = "@".join(
            filter(None, (f"playbook:{described.get('name', directory.name)}", described.get("written")))
        )

    def model(self, place: Place) -> PlaybookChatModel:
        """The model that plays an invocation.

        Raises:
            InputError: the playbook has nothing for this place; the message names the file.
        """
        made = _BY_ROLE[place.role]
        try:
            turns, source = made(self, place)
        except FileNotFoundError as error:
            raise _missing_answer(place, 0, str(error.filename)) from error
        return PlaybookChatModel(
            turns=turns, place=place, next_source=str(self.directory / source), author=self._author
        )

    def researcher(self, place: Place) -> tuple[list[Turn], str]:
        """A draft; again for each amendment."""
        *names, following = self._drafts(place)
        return [[("emit_structured_spec", {"spec": self._json(name)})] for name in names], following

    def _drafts(self, place: Place) -> list[str]:
        """The files of the researcher's drafts, and the one that would follow."""
        folder = self._change(place.task) or "researcher"
        names = [f"{folder}/spec.json"]
        while (self.directory / names[-1]).is_file() or len(names) == 1:
            names.append(f"{folder}/amended-{len(names)}.json")
        return names

    def is_released(self, place: Place, version: str) -> bool:
        """Whether the drafts of a change lead to no later version than the released one, which may be empty."""
        try:
            drafts = [str(self._json(name)["spec_version"]) for name in self._drafts(place)[:-1] if version]
            return bool(drafts) and max(map(Version, drafts)) <= Version(version)
        except (InputError, InvalidVersion, KeyError, OSError):
            return False  # playing the draft reports what is wrong with it

    def request(self, folder: str) -> str:
        """The change of the product that the answers of a folder are for; empty if they are for any."""
        file = self.directory / self._change(folder) / "request.txt"
        return file.read_text(encoding="utf-8").strip() if file.is_file() else ""

    def planner(self, place: Place) -> tuple[list[Turn], str]:
        """The searches, then the plan."""
        name = f"{self._folder(place)}/{_planner_file(place.stage)}"
        script = self._json(name)
        if not isinstance(script.get("plan"), dict):
            raise InputError(
                "the playbook is broken: a planner's answer needs a `plan`", where=str(self.directory / name)
            )
        searches: Turn = [("search_code_index", {"query": query}) for query in script.get("searches", [])]
        return [*([searches] if searches else []), [("submit_plan", script["plan"])]], name

    def proposer(self, place: Place) -> tuple[list[Turn], str]:
        """All files and the claim in one turn, as the prompt suggests."""
        amends = place.stage.startswith("amended")
        folder = f"{self._folder(place)}/{place.subject}/{'amended' if amends else place.stage}"
        if exception := self._exception(f"{folder}/proposer-exception.json"):
            return exception
        tool = "submit_amendments" if amends else "submit_proposal"
        answer = self._json(f"{folder}/proposer.json")
        base = self.directory / folder / "deliverable"
        files = sorted(p for p in base.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
        turn: Turn = [("write_file", self._written(base, path)) for path in files]
        return [[*turn, (tool, answer)]], f"{folder}/proposer.json"

    def challenger(self, place: Place) -> tuple[list[Turn], str]:
        """The verdict."""
        folder = f"{self._folder(place)}/{place.subject}/{place.stage}"
        if exception := self._exception(f"{folder}/challenger-exception.json"):
            return exception
        name = f"{folder}/challenger.json"
        return [[("submit_challenge", self._json(name))]], name

    def arbiter(self, place: Place) -> tuple[list[Turn], str]:
        """The decision."""
        name = f"{self._folder(place)}/{place.subject}/{place.stage}/arbiter.json"
        return [[("submit_ruling", self._json(name))]], name

    def _change(self, folder: str) -> str:
        """Where a change is answered: once the first one is given up, its request may come again."""
        again = folder.startswith("change-") and not (self.directory / folder).is_dir()
        return "change-1" if again and (self.directory / "change-1/request.txt").is_file() else folder

    def scripted_file(self, place: Place) -> str:
        """What it must hold so that a change, or another attempt at a task, is answered otherwise than before."""
        if place.role is Role.RESEARCHER:
            return f"{self._change(place.task)}/spec.json"
        return f"{place.task}/attempt-{place.attempt}"

    def _folder(self, place: Place) -> str:
        """Where the answers of an attempt or a change are: in a directory of its own, if there is one."""
        own = f"{place.task}/changed" if place.change else f"{place.task}/attempt-{place.attempt}"
        return own if (self.directory / own).is_dir() else place.task

    def _exception(self, name: str) -> tuple[list[Turn], str] | None:
        """The turn that raises an interface change exception, if one is written."""
        if not (self.directory / name).is_file():
            return None
        return [[("raise_interface_change_exception", self._json(name))]], name

    def _written(self, base: Path, path: Path) -> dict[str, Any]:
        try:
            content = path.read_bytes().decode()
        except UnicodeDecodeError as error:
            raise InputError("a playbook file is not UTF-8", where=str(path)) from error
        return {"file_path": "/" + path.relative_to(base).as_posix(), "content": content}

    def _json(self, name: str) -> dict[str, Any]:
        path = self.directory / name
        try:
            value = canonical_json.loads(path.read_bytes())
        except ValueError as error:
            raise InputError(f"the playbook is broken: {error}", where=str(path)) from error
        if not isinstance(value, dict):
            raise InputError("the playbook is broken: not a JSON object", where=str(path))
        return cast(dict[str, Any], value)


def _last_request(text: str) -> str:
    """What was asked last, for whoever writes the playbook: why an answer was refused. A whole SPEC.md is not repeated."""
    point = text.split("in one turn:", 1)[-1].strip()
    first = shorten(point.partition("\n\n")[0], _LONGEST_REQUEST, placeholder=" ...")
    return "" if point.startswith("SPEC.md was edited") else f"; what was asked last: {first}"


def _missing_answer(place: Place, ordinal: int, where: str, asked: str = "") -> ScriptError:
    """The error, with the ways on and back that there are at this place.

    Args:
        place: Where none is found.
        ordinal: How many answers were given here.
        where: The file that would hold it.
        asked: What was asked last.
    """
    changes = place.task.startswith("change-")
    if changes and not ordinal:
        what = f"the answers are scripted, and the playbook holds none for {place.task}"
    else:
        what = f"the answers are scripted, and the playbook has no answer {ordinal + 1} for {place.run_id}"
    ways = [_ANOTHER_MODEL]
    if changes:
        ways.append(_WAY_BACK)
    elif place.attempt > 1:
        ways.append(f"if a change or a repair is under way, {_WAY_BACK}")
    return ScriptError(what, where=where, remedy="; ".join([*ways, _OWN_PLAYBOOK + asked]))


def _planner_file(stage: str) -> str:
    """`planner.json` in the first round, then `planner-2.json`, and `planner-amended.json` for amendments."""
    kind, _, number = stage.partition("-")
    if kind == "amended":
        return "planner-amended.json"
    return "planner.json" if number == "1" else f"planner-{number}.json"


_BY_ROLE: dict[Role, Callable[[Playbook, Place], tuple[list[Turn], str]]] = {
    Role.RESEARCHER: Playbook.researcher,
    Role.PLANNER: Playbook.planner,
    Role.PROPOSER: Playbook.proposer,
    Role.CHALLENGER: Playbook.challenger,
    Role.ARBITER: Playbook.arbiter,
}
