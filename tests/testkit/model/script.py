"""Scripts: what roles answer, found by the place in the run and the ordinal, never by a global order.

A script answers through the `Roles` port (`ScriptedRoles`), through the product's own submission checks, and as a chat model
(`script_replies`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from langchain_core.messages import AIMessage, BaseMessage

from ship_gate.base.record import Record
from specwright.domain.answers import ProposerAnswer
from specwright.domain.debate.records import CONTRACTS
from specwright.ports import Answered, Assignment, Files, Place, Research, Role
from specwright.roles.agent.submission import Submission, parser
from specwright.roles.models.journalled_model import answers_so_far
from specwright.roles.team import ATTEMPTS, drafts_in
from testkit.loop.role_answers import PASSING, Turn, approving, claimed, draft
from testkit.model.fake_model import Reply, calls

__all__ = ["R", "Script", "ScriptedRoles", "key", "script_replies"]

R = TypeVar("R", bound=Record)


class Script(NamedTuple):
    """What is answered where.

    Args:
        plan: The planner's answer where nothing else is said.
        answers: By `subject/stage/role`, or with the task before it, the answers to the first, second, ... time that
            this invocation is asked; it insists on the last.
    """

    plan: dict[str, Any]
    answers: Mapping[str, Sequence[Turn]]

    def answer(self, place: Place, ordinal: int) -> Turn:
        """The answer of an invocation that has answered so often."""
        here = self.answers.get(f"{place.task}/{key(place)}") or self.answers.get(key(place))
        turns = here or [self._sound(place)]
        return turns[min(ordinal, len(turns) - 1)]

    def _sound(self, place: Place) -> Turn:
        if place.role is Role.PLANNER:
            return Turn(self.plan)
        if place.role is Role.PROPOSER:
            return Turn(claimed(), draft(place.subject, version=place.stage))
        return Turn(PASSING if place.role is Role.CHALLENGER else approving())


def key(place: Place) -> str:
    """The key of a place in a script."""
    return f"{place.subject}/{place.stage}/{place.role}"


def fitting(place: Place, turn: Turn) -> Turn:
    """A turn without what a Challenger says of tests, where contracts are judged."""
    if place.subject != CONTRACTS or not isinstance(turn.answer, dict):
        return turn
    return turn._replace(answer={k: v for k, v in turn.answer.items() if k != "untested_criteria"})


class ScriptedRoles:
    """The port `Roles`.

    Args:
        answer: The turn of an invocation that has answered so often.
        trace: Takes the key of every answer.
    """

    def __init__(self, answer: Callable[[Place, int], Turn], trace: list[str]) -> None:
        self._answer = answer
        self._trace = trace
        self.asked: list[Assignment[Any]] = []
        self.refusals: list[str] = []
        self.scripted = True
        """What it says of itself; a test may have it pass for models."""

    def asked_at(self, where: str) -> Assignment[Any]:
        """The assignment of an invocation."""
        (assignment,) = (one for one in self.asked if key(one.place) == where)
        return assignment

    def told_at(self, where: str) -> str:
        """All that an invocation can read: its request and the files of its pack."""
        assignment = self.asked_at(where)
        return "\n\n".join([assignment.message, *(data.decode() for data in assignment.pack.values())])

    def research(
        self, assignment: Assignment[Any], feedback: Sequence[str], check: Callable[[Any], Sequence[str]]
    ) -> Research:
        """Nobody researches here."""
        raise NotImplementedError

    def is_scripted(self, role: Role) -> bool:
        """As a playbook."""
        return self.scripted

    def require_script(self, place: Place, answered: int = 0, request: str = "", after: str = "") -> None:
        """It answers wherever it is asked."""

    def ask(self, assignment: Assignment[R], check: Callable[[R, Files], Sequence[str]]) -> Answered[R]:
        """The answer of the script, with its files."""
        place = assignment.place
        self.asked.append(assignment)
        files = {p: data for p, data in assignment.pack.items() if p.startswith(assignment.writable or "/")}
        form = parser(assignment.answer, lambda answer: check(answer, files))
        attempts = drafts_in(place) if assignment.answer is ProposerAnswer else ATTEMPTS
        submission = Submission(form, attempts, place.run_id)
        ordinal = 0
        while submission.accepted is None:
            submission.ensure_open()
            turn = fitting(place, self._answer(place, ordinal))
            self._trace.append(key(place))
            files.update({path: text.encode() for path, text in (turn.files or {}).items()})
            said = turn.answer
            response = submission.offer_text(said) if isinstance(said, str) else submission.offer(said)
            self.refusals += [] if submission.accepted is not None else [response]
            ordinal += 1
        return Answered(submission.accepted, files)


def script_replies(script: Any) -> Reply:
    """The messages of a chat model that follows a script."""

    def reply(place: Place, messages: list[BaseMessage], tools: Sequence[dict[str, Any]]) -> AIMessage:
        ordinal = answers_so_far(messages)
        turn = fitting(place, script.answer(place, ordinal))
        if isinstance(turn.answer, str):
            return AIMessage(turn.answer)
        made = list(turn.calls)
        made += [
            ("write_file", {"file_path": f"/{p}", "content": text}) for p, text in (turn.files or {}).items()
        ]
        made += [(_terminal_tool(place), turn.answer)] if turn.answer is not None else []
        return calls(*made, text=turn.text, ordinal=ordinal)

    return reply


def _terminal_tool(place: Place) -> str:
    if place.role is Role.PROPOSER and place.stage.startswith("amended"):
        return "submit_amendments"
    return {
        Role.PLANNER: "submit_plan",
        Role.PROPOSER: "submit_proposal",
        Role.CHALLENGER: "submit_challenge",
        Role.ARBITER: "submit_ruling",
    }[place.role]
