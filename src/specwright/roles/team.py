"""The roles at work: each invocation with its model, prompt, directory and terminal tool (`ports.roles.Roles`)."""

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.tools import BaseTool

from specwright.domain.answers import AmendmentsAnswer, ArbiterAnswer, ChallengerAnswer, ProposerAnswer
from specwright.domain.boundary_types import BOUNDARY_TYPES
from specwright.domain.plan_answers import PlanAnswer
from specwright.domain.record import Record
from specwright.ports.code_index import CodeIndex
from specwright.ports.journal import Journal
from specwright.ports.progress import Progress, RoleDone, RoleStarted
from specwright.ports.roles import AmendedDraft, Assignment, Draft, Files, Research, Role, Source
from specwright.ports.search import WebSearch
from specwright.roles.agent import (
    AgentJob,
    Hands,
    continue_conversation,
    converse,
    submit_tool,
    tool_schema,
    without_citations,
)
from specwright.roles.emission import emit_tool, emitted
from specwright.roles.models import ModelSource
from specwright.roles.recording import journalled
from specwright.roles.store_tools import STORE_TOOLS, create_tool, query_tool
from specwright.roles.structured import structured_answer
from specwright.roles.submission import Submission, parser
from specwright.roles.tools import search_tool, validate_tool, web_search_tool
from specwright.roles.usage import Meter
from specwright.roles.workspace import Guard, Workspace

__all__ = ["ATTEMPTS", "EMISSIONS", "REPAIRS", "Bounds", "ModelRoles", "prompt"]

R = TypeVar("R", bound=Record)

ATTEMPTS = 3
"""Answers of a role that are looked at (D11)."""

EMISSIONS = 6
"""Specs of a researcher that are looked at: large ones, told everything that they lack. Drafts are checked besides."""

REPAIRS = 3
"""Repairs of a draft after a failed preflight, beside the first submission (D18)."""


class Bounds(NamedTuple):
    """Limits in code (DESIGN §1, rule 4)."""

    calls_per_role: int = 60


def prompt(name: str) -> str:
    """A role's system prompt; `{types}` in it stands for the types that may cross a boundary."""
    text = (files("specwright.roles") / "prompts" / f"{name}.md").read_text(encoding="utf-8")
    return text.replace("{types}", ", ".join(BOUNDARY_TYPES))


class ModelRoles:
    """The `Roles` port over models.

    Args:
        sources: The model of each role.
        journal: Under every call.
        index: What `search_code_index` searches.
        search: What `web_search` asks.
        workspaces: Where the roles' directories are made.
        progress: Told of every invocation.
        guard: Keeps a role's file tools to its pack.
        bounds: Limits.
    """

    def __init__(
        self,
        sources: Mapping[Role, ModelSource],
        journal: Journal,
        index: CodeIndex,
        search: WebSearch,
        workspaces: Path,
        progress: Progress,
        guard: Guard,
        bounds: Bounds | None = None,
    ) -> None:
        self._sources = sources
        self._journal = journal
        self._index = index
        self._search = search
        self._workspaces = workspaces
        self._progress = progress
        self._guard = guard
        self._bounds = bounds or Bounds()

    def research(
        self, assignment: Assignment, feedback: Sequence[str], check: Callable[[Any], Sequence[str]]
    ) -> Research:
        """Expand a SPEC.md; each feedback continues the conversation that the journal still holds."""
        with _Invocation(self, assignment) as work:
            consulted: list[tuple[str, list[str]]] = []
            messages: list[BaseMessage] = [HumanMessage(assignment.message)]
            spec: dict[str, Any] = {}
            for remark in [None, *feedback]:
                submission = Submission(emitted(work.workspace, check), EMISSIONS, work.run_id)
                tools = [
                    web_search_tool(self._search, self._journal, work.run_id, consulted),
                    validate_tool(work.workspace),
                    *work.store_tools(),
                    emit_tool(submission),
                ]
                if remark is not None:
                    messages = [*messages, HumanMessage(_amendment(remark))]
                job = work.job("researcher", tools, Hands.PLANS)
                messages = continue_conversation(job, messages, submission, "emit_structured_spec")
                spec = submission.accepted or {}
            return Research(spec, tuple(Source(query, tuple(urls)) for query, urls in consulted))

    def plan(self, assignment: Assignment, check: Callable[[PlanAnswer], Sequence[str]]) -> PlanAnswer:
        """Cut a task into micro modules."""
        with _Invocation(self, assignment) as work:
            return work.ask("planner", "submit_plan", PlanAnswer, check)

    def propose(
        self, assignment: Assignment, check: Callable[[ProposerAnswer, Files], Sequence[str]]
    ) -> Draft:
        """Implement a module."""
        with _Invocation(self, assignment) as work:

            def examine(answer: ProposerAnswer) -> Sequence[str]:
                return check(answer, work.workspace.files())

            answer = work.ask(
                "proposer",
                "submit_proposal",
                ProposerAnswer,
                examine,
                hands=Hands.FILES,
                attempts=1 + REPAIRS,
            )
            return Draft(answer, work.workspace.files())

    def amend(
        self, assignment: Assignment, check: Callable[[AmendmentsAnswer, Files], Sequence[str]]
    ) -> AmendedDraft:
        """Apply amendments."""
        with _Invocation(self, assignment) as work:

            def examine(answer: AmendmentsAnswer) -> Sequence[str]:
                return check(answer, work.workspace.files())

            answer = work.ask("amender", "submit_amendments", AmendmentsAnswer, examine, hands=Hands.FILES)
            return AmendedDraft(answer, work.workspace.files())

    def challenge(
        self, assignment: Assignment, check: Callable[[ChallengerAnswer], Sequence[str]]
    ) -> ChallengerAnswer:
        """Try to falsify a proposal."""
        with _Invocation(self, assignment) as work:
            return work.ask("challenger", "submit_challenge", ChallengerAnswer, check)

    def arbitrate(
        self, assignment: Assignment, check: Callable[[ArbiterAnswer], Sequence[str]]
    ) -> ArbiterAnswer:
        """Decide a round."""
        with _Invocation(self, assignment) as work:
            submission = Submission(parser(ArbiterAnswer, check), ATTEMPTS, work.run_id)
            schema = {**tool_schema(ArbiterAnswer), "title": "ArbiterAnswer"}
            return structured_answer(work.model, schema, prompt("arbiter"), assignment.message, submission)

    def model(self, assignment: Assignment, meter: Meter) -> BaseChatModel:
        """The journalled model of an invocation."""
        place = assignment.place
        scope = meter.watching(self._journal.scope(place.run_id))
        return journalled(self._sources[place.role].model(place), scope)

    def started(self, assignment: Assignment) -> Workspace:
        """Begin an invocation."""
        place = assignment.place
        self._progress.note(RoleStarted(place.run_id, place.role, place.task, place.subject, place.stage))
        return Workspace(self._workspaces, assignment, self._guard)

    def done(self, event: RoleDone) -> None:
        """End an invocation."""
        self._progress.note(event)

    def store_tools(self, assignment: Assignment, workspace: Workspace) -> list[BaseTool]:
        """What a role may do at the store and the Code Index (D17)."""
        run_id, journal, store = assignment.place.run_id, self._journal, assignment.store
        makers: dict[str, Callable[[], BaseTool]] = {
            "search_code_index": lambda: search_tool(self._index, journal, run_id)
        }
        if store is not None:
            makers |= {
                "query_artifacts": lambda: query_tool(store, journal, run_id),
                "create_artifact": lambda: create_tool(store, journal, run_id, workspace.files),
            }
        return [makers[name]() for name in STORE_TOOLS[assignment.place.role] if name in makers]

    @property
    def call_limit(self) -> int:
        """How often a role may call its model."""
        return self._bounds.calls_per_role


class _Invocation:
    """One role invocation: its directory, model and meter, from start to end."""

    def __init__(self, roles: ModelRoles, assignment: Assignment) -> None:
        self._roles = roles
        self._assignment = assignment
        self._meter = Meter()
        self.run_id = assignment.place.run_id
        self.model = roles.model(assignment, self._meter)
        self.workspace = roles.started(assignment)

    def __enter__(self) -> "_Invocation":
        return self

    def __exit__(self, *failure: object) -> None:
        self.workspace.remove()
        self._roles.done(self._meter.total(self.run_id))

    def job(self, prompt_name: str, tools: Sequence[BaseTool], hands: Hands) -> AgentJob:
        """The agent of this invocation."""
        return AgentJob(self.model, prompt(prompt_name), tools, self.workspace, hands, self._roles.call_limit)

    def store_tools(self) -> list[BaseTool]:
        """Its tools for the store."""
        return self._roles.store_tools(self._assignment, self.workspace)

    def ask(
        self,
        prompt_name: str,
        terminal: str,
        schema: type[R],
        check: Callable[[R], Sequence[str]],
        *,
        hands: Hands = Hands.NONE,
        attempts: int = ATTEMPTS,
    ) -> R:
        """Run the agent until its terminal tool is accepted."""
        submission = Submission(parser(schema, check), attempts, self.run_id)
        submit = submit_tool(terminal, _first_line(schema), tool_schema(schema), submission)
        job = self.job(prompt_name, [*self.store_tools(), submit], hands)
        return converse(job, self._assignment.message, submission, terminal)


def _first_line(schema: type[Record]) -> str:
    title = without_citations((schema.__doc__ or "").strip().splitlines()[0])
    return f"{title} Ends your work once it is accepted."


def _amendment(remark: str) -> str:
    return (
        "The spec is not accepted yet. Address every point of this feedback in /spec.json, run validate_spec again, "
        f"then emit it anew:\n\n{remark}"
    )
