"""The roles as models play them (`ports.roles.Roles`): each invocation has its model, prompt, directory and tools."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.outputs import ChatResult
from langchain_core.tools import BaseTool

from agent_wire.canonical_json import JsonValue
from ship_gate.base.boundary_values import limit_sentence
from ship_gate.base.record import Record
from ship_gate.base.text import one_line
from ship_gate.contract.types import BOUNDARY_TYPES
from specwright.domain.answers import (
    AmendmentsAnswer,
    ContractChallenge,
    ContractRuling,
    ModuleChallenge,
    ModuleRuling,
    PlanAnswer,
    ProposerAnswer,
    UndisputedRuling,
)
from specwright.domain.costs import tokens_in
from specwright.domain.spec.product_spec import ProductSpecDraft
from specwright.ports import (
    Answered,
    Assignment,
    CodeIndex,
    Files,
    Journal,
    Place,
    Progress,
    RequestDone,
    RequestSent,
    Research,
    ResearchSource,
    Role,
    RoleStarted,
    RunEvent,
    WebSearch,
)
from specwright.roles.agent.agent import (
    Invocation,
    RaisedException,
    Toolset,
    converse,
    submit_tool,
    tool_schema,
    without_citations,
)
from specwright.roles.agent.submission import Form, Submission, changes_schema, parser
from specwright.roles.agent.tools import (
    STORE_TOOLS,
    amended,
    create_tool,
    emit_tool,
    emitted,
    query_tool,
    raise_tool,
    search_tool,
    searched,
    validate_tool,
    web_search_tool,
)
from specwright.roles.agent.workspace import Guard, Workspace
from specwright.roles.models.journalled_model import Account, Ask, Meter, journalled
from specwright.roles.models.provider_call import CallLimits, ask_provider
from specwright.roles.models.rate_limits import Limiter
from specwright.roles.models.sources import ModelSource, require_script
from specwright.roles.models.spending import Spending

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R", bound=Record)

ATTEMPTS = 3
"""Answers of a role that are read (design: debate)."""

EMISSIONS = 6
"""Specs of a researcher that are read: they are large, and each refusal lists everything that is missing."""

DRAFTS = (4, 3, 2)
"""Drafts that a Proposer may submit in the first, second and every later round, repairs after a preflight included. Later
rounds change less, so they get fewer (design: ship-gate)."""


class Request(NamedTuple):
    """How a role is asked for one kind of answer.

    Args:
        prompts: The parts of its instructions: what is constant first, then what holds for one kind of debate.
        tool: By which it answers.
        toolset: What else it may use.
        changing: A path of the answer, where changes will do of one that was refused.
        amending: Its instructions where it changes an answer that there is, if they are others.
    """

    prompts: tuple[str, ...]
    tool: str
    toolset: Toolset = Toolset.NONE
    changing: str = ""
    amending: tuple[str, ...] = ()


_REASON = 160
"""The most characters of why an answer was refused, while a run goes on."""

_EVIDENCE = "/rubric_assessments/0/evidence"
REQUESTS: Mapping[type[Record], Request] = {
    ProductSpecDraft: Request(
        ("researcher",), "emit_structured_spec", Toolset.FILES_AND_TODO, amending=("researcher-change",)
    ),
    PlanAnswer: Request(
        ("planner", "planner-contracts", "planner-plan"),
        "submit_plan",
        changing="/modules/0/purpose",
        amending=("planner-change", "planner-contracts"),
    ),
    ProposerAnswer: Request(("proposer",), "submit_proposal", Toolset.FILES, amending=("proposer-change",)),
    AmendmentsAnswer: Request(("amender",), "submit_amendments", Toolset.FILES),
    ContractChallenge: Request(
        ("challenger", "challenger-contracts"), "submit_challenge", changing=_EVIDENCE
    ),
    ModuleChallenge: Request(("challenger", "challenger-module"), "submit_challenge", changing=_EVIDENCE),
    UndisputedRuling: Request(("arbiter-undisputed",), "submit_ruling", Toolset.READ),
    ContractRuling: Request(("arbiter", "arbiter-contracts"), "submit_ruling", Toolset.READ),
    ModuleRuling: Request(("arbiter", "arbiter-module"), "submit_ruling", Toolset.READ),
}
"""By the model of the answer."""


def drafts_in(place: Place) -> int:
    """How many drafts of a proposal are read in its round."""
    return DRAFTS[min(place.round, len(DRAFTS)) - 1]


def prompt(*parts: str) -> str:
    """A system prompt, of its parts.

    What may cross a boundary stands in the same words in the prompts of all who write or judge statements about it.
    """
    return "\n".join(map(_part, parts)).replace("{boundary}", _boundary())


def _part(name: str) -> str:
    return (files("specwright.roles") / "prompts" / f"{name}.md").read_text(encoding="utf-8")


def _boundary() -> str:
    text = _part("boundary").strip().replace("{types}", ", ".join(BOUNDARY_TYPES))
    return text.replace("{limits}", limit_sentence())


@dataclass(eq=False)
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
        calls_per_role: The most model calls of one invocation (design: principles).
        limits: What one model call may take.
        spending: What is spent, and what may be; without one nothing is counted.
        limiter: Of the requests to each provider.
    """

    sources: Mapping[Role, ModelSource]
    journal: Journal
    index: CodeIndex
    search: WebSearch
    workspaces: Path
    progress: Progress
    guard: Guard
    calls_per_role: int = 60
    limits: CallLimits = CallLimits()  # noqa: RUF009 - immutable
    spending: Spending | None = None
    limiter: "Limiter | None" = None

    def research(
        self,
        assignment: Assignment[ProductSpecDraft],
        feedback: Sequence[str],
        checks: Sequence[Callable[[Any], Sequence[str]]],
    ) -> Research:
        """Expand a SPEC.md or amend a spec; each feedback continues the conversation that the journal still holds."""
        consulted: list[ResearchSource] = []
        search = web_search_tool(self.search, self.journal, assignment.place.run_id, consulted)
        with self._invocation(assignment) as work:
            messages: list[BaseMessage] = [HumanMessage(assignment.message)]
            before, spec = assignment.before, dict[str, Any]()
            for remark, check in zip([None, *feedback], checks, strict=True):
                form: Form[Any] = amended(before, check) if before else emitted(work.workspace, check)
                submission = Submission(form, EMISSIONS, assignment.place.run_id, self._refusals(assignment))
                if remark is not None:
                    messages = [*messages, HumanMessage(f"{_NOT_ACCEPTED}\n\n{remark}")]
                tools = [validate_tool(work.workspace, check), *work.store_tools, emit_tool(submission)]
                if before:
                    tools = [_submit(ProductSpecDraft, before, submission)]
                messages = converse(work, [search, *tools], messages, submission)
                accepted: Any = submission.accepted
                spec = accepted.to_json() if before else accepted
                before = before and json.dumps(spec)
            return Research(spec, tuple(consulted))

    def ask(self, assignment: Assignment[R], check: Callable[[R, Files], Sequence[str]]) -> Answered[R]:
        """Ask a role for its answer and its files. Where it corrects an answer, it hands in what changes, and can also read
        what its request leaves out."""
        request, answer = REQUESTS[assignment.answer], assignment.answer
        with self._invocation(assignment) as work:
            files = work.workspace.files
            form = parser(
                answer, lambda given: check(given, files()), assignment.before, changing=request.changing
            )
            attempts = drafts_in(assignment.place) if answer is ProposerAnswer else ATTEMPTS
            submission = Submission(form, attempts, assignment.place.run_id, self._refusals(assignment))
            tools = [*work.store_tools, _submit(answer, assignment.before, submission)]
            said = converse(work, tools, [HumanMessage(assignment.message)], submission)
            assert submission.accepted is not None
            return Answered(submission.accepted, files(), searched(said))

    def _refusals(self, assignment: Assignment[Any]) -> Callable[[str, bool], None]:
        """Shows why an answer was refused; what the gate finds in a draft shows itself."""
        place = assignment.place
        is_draft = place.role == Role.PROPOSER and bool(assignment.writable)

        def refused(why: str, is_read: bool) -> None:
            if not (is_draft and is_read):
                who = f"{place.role} {place.subject}".rstrip()
                self.progress.note(RunEvent("refused", place.task, f"{who}: {one_line(why)[:_REASON]}"))

        return refused

    def is_scripted(self, role: Role) -> bool:
        """Whether a role's answers come from a script, or a worker asks for them."""
        return role not in self.sources or self.sources[role].scripted

    def require_script(self, place: Place, answered: int = 0, request: str = "", after: str = "") -> None:
        """Refuse a place of which a script holds no further answer, or one to another request or version."""
        if place.role in self.sources:  # else nothing is asked here: a worker does it
            require_script(self.sources[place.role], place, answered, request, after)

    @contextmanager
    def _invocation(self, assignment: Assignment[Any]) -> Generator[Invocation]:
        """One role invocation: its model is journalled and counted, its directory exists while it lasts."""
        place, meter, request = assignment.place, Meter(), REQUESTS[assignment.answer]
        prompts = ((assignment.before or assignment.is_change) and request.amending) or request.prompts
        source = self.sources[place.role]
        label = self.spending.model_of(place.role) if self.spending else ""  # as the journal names it
        ask, account = None, None
        if not source.scripted:
            ask = self._ask(place, label)
            account = self._account(self.spending, place, label) if self.spending else None
        model = journalled(source.model(place), self.journal.scope(place.run_id), meter, ask, account)
        self.progress.note(RoleStarted(place.run_id, place.role, place.task, place.subject, place.stage))
        workspace = Workspace(self.workspaces, assignment, self.guard)
        try:
            raised = RaisedException()
            yield Invocation(
                model,
                prompt(*prompts),
                Toolset.READ if assignment.before else request.toolset,
                workspace,
                self._store_tools(assignment, workspace, raised),
                self.calls_per_role,
                raised,
            )
        finally:
            workspace.remove()
            self.progress.note(meter.total(place.run_id))

    def _ask(self, place: Place, label: str) -> Ask:
        def waits(why: str) -> None:
            self.progress.note(RunEvent("waiting", place.task, why))

        def ask(live: Callable[[], ChatResult], size: int) -> ChatResult:
            first = self.spending is not None and not self.spending.has_answered(label)
            self.progress.note(RequestSent(place.run_id, label, first, tokens_in(size)))
            try:
                return ask_provider(live, size, self.limits, waits, label.partition(":")[0], self.limiter)
            finally:
                self.progress.note(RequestDone(place.run_id))

        return ask

    def _account(self, spending: Spending, place: Place, model: str) -> Account:
        def settle(answer: JsonValue) -> None:
            if bought := spending.settle(place, answer):
                self.progress.note(bought)

        return Account(
            model, partial(spending.price, model), partial(spending.reserve, place, model=model), settle
        )

    def _store_tools(
        self, assignment: Assignment[Any], workspace: Workspace, raised: RaisedException
    ) -> list[BaseTool]:
        """What a role may do with the store and the Code Index (design: role-access)."""
        run_id, journal, store = assignment.place.run_id, self.journal, assignment.store
        tools = [search_tool(self.index, journal, run_id)]
        if store is not None:
            tools += [
                query_tool(store, journal, run_id),
                create_tool(store, journal, run_id, workspace.files),
            ]
        if store is not None and store.upstream:
            tools.append(raise_tool(store, journal, run_id, raised, workspace.files))
        return [tool for tool in tools if tool.name in STORE_TOOLS[assignment.place.role]]


_CHANGE = "Hand in what changes, as a JSON Patch (RFC 6902); the rest stays."


def _submit(answer: type[Record], before: str, submission: Submission[Any]) -> BaseTool:
    """The terminal tool: for a whole answer, or for what changes in the one before."""
    first_line = (answer.__doc__ or "").strip().splitlines()[0]
    title, schema = (_CHANGE, changes_schema()) if before else (first_line, tool_schema(answer))
    told = f"{without_citations(title)} Ends your work once it is accepted."
    return submit_tool(REQUESTS[answer].tool, told, schema, submission)


_NOT_ACCEPTED = (
    "The spec is not accepted yet. Address every point of this feedback and emit it anew, in one turn:"
)
