"""Roles and a gate that follow a script and write down every call: the fakes of the ports `roles` and `gate`.

An answer is found by its place in the run, never by a global order, and goes through the product's own desk
(`specwright.roles.submission`), so that schema, checks and attempts are those of the product. `ScriptedSource` plays
the same script to the real roles as a chat model.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from engineering.answers import PASSING, Handed, approving, claimed, draft
from specwright.domain.answers import (
    AmendmentsAnswer,
    ArbiterAnswer,
    ChallengerAnswer,
    FalsifyingTest,
    ProposerAnswer,
)
from specwright.domain.contract import MicroModuleContract
from specwright.domain.docstring import render_stub
from specwright.domain.obligations import read_claims
from specwright.domain.plan_answers import PlanAnswer
from specwright.domain.record import Record
from specwright.gate.splice import splice
from specwright.ports.gate import Candidate, Finding, GateVerdict, TestResult, Trial
from specwright.ports.roles import AmendedDraft, Assignment, Draft, Files, Place, Research, Role
from specwright.roles.recording import answers_so_far
from specwright.roles.scripted import ScriptedChatModel
from specwright.roles.submission import Submission, parser
from specwright.roles.team import ATTEMPTS, REPAIRS

__all__ = [
    "AT_PREFLIGHT",
    "AT_THE_GATE",
    "FALSIFIABLE",
    "MISMATCH",
    "Script",
    "ScriptedGate",
    "ScriptedRoles",
    "ScriptedSource",
]

R = TypeVar("R", bound=Record)

AT_PREFLIGHT = "fails at preflight"
AT_THE_GATE = "fails at the gate"
MISMATCH = "has another surface at the gate"
FALSIFIABLE = "fails every falsifying test"
"""Marks in a draft: what the scripted gate finds in it."""

MISMATCHED = "Interface fingerprint mismatch: expected {}, got {}"


class Script(NamedTuple):
    """What is answered where.

    Args:
        plan: The planner's answer where nothing else is said.
        answers: By `subject/stage/role`, or with the task before it, the answers to the first, second, ... time that
            this invocation is asked; it insists on the last.
    """

    plan: dict[str, Any]
    answers: Mapping[str, Sequence[Handed]]

    def answer(self, place: Place, ordinal: int) -> Handed:
        """The answer of an invocation that has answered so often."""
        here = self.answers.get(f"{place.task}/{key(place)}") or self.answers.get(key(place))
        given = here or [self._sound(place)]
        return given[min(ordinal, len(given) - 1)]

    def _sound(self, place: Place) -> Handed:
        if place.role is Role.PLANNER:
            return Handed(self.plan)
        if place.role is Role.PROPOSER:
            return Handed(claimed(), draft(place.subject, version=place.stage))
        return Handed(PASSING if place.role is Role.CHALLENGER else approving())


def key(place: Place) -> str:
    """Where an answer stands in a script."""
    return f"{place.subject}/{place.stage}/{place.role}"


class ScriptedRoles:
    """The port `Roles`.

    Args:
        answer: What an invocation says that has answered so often.
        trace: Takes the key of every answer.
    """

    def __init__(self, answer: Callable[[Place, int], Handed], trace: list[str]) -> None:
        self._answer = answer
        self._trace = trace
        self.asked: list[Assignment] = []
        self.refusals: list[str] = []

    def asked_at(self, where: str) -> Assignment:
        """What an invocation was given."""
        (found,) = (assignment for assignment in self.asked if key(assignment.place) == where)
        return found

    def research(
        self, assignment: Assignment, feedback: Sequence[str], check: Callable[[Any], Sequence[str]]
    ) -> Research:
        """Nobody researches here."""
        raise NotImplementedError

    def plan(self, assignment: Assignment, check: Callable[[PlanAnswer], Sequence[str]]) -> PlanAnswer:
        """A plan."""
        return self._ask(assignment, PlanAnswer, lambda answer, _: check(answer))[0]

    def propose(
        self, assignment: Assignment, check: Callable[[ProposerAnswer, Files], Sequence[str]]
    ) -> Draft:
        """A deliverable with its claim."""
        return Draft(*self._ask(assignment, ProposerAnswer, check, 1 + REPAIRS))

    def amend(
        self, assignment: Assignment, check: Callable[[AmendmentsAnswer, Files], Sequence[str]]
    ) -> AmendedDraft:
        """A deliverable after amendments."""
        return AmendedDraft(*self._ask(assignment, AmendmentsAnswer, check))

    def challenge(
        self, assignment: Assignment, check: Callable[[ChallengerAnswer], Sequence[str]]
    ) -> ChallengerAnswer:
        """A verdict."""
        return self._ask(assignment, ChallengerAnswer, lambda answer, _: check(answer))[0]

    def arbitrate(
        self, assignment: Assignment, check: Callable[[ArbiterAnswer], Sequence[str]]
    ) -> ArbiterAnswer:
        """A ruling."""
        return self._ask(assignment, ArbiterAnswer, lambda answer, _: check(answer))[0]

    def _ask(
        self,
        assignment: Assignment,
        schema: type[R],
        check: Callable[[R, Files], Sequence[str]],
        attempts: int = ATTEMPTS,
    ) -> tuple[R, Files]:
        place = assignment.place
        self.asked.append(assignment)
        files = {p: data for p, data in assignment.pack.items() if p.startswith(assignment.writable or "/")}
        desk = Submission(parser(schema, lambda answer: check(answer, files)), attempts, place.run_id)
        ordinal = 0
        while desk.accepted is None:
            desk.ensure_open()
            said = self._answer(place, ordinal)
            self._trace.append(key(place))
            files.update({path: text.encode() for path, text in (said.files or {}).items()})
            told = desk.offer_text(said.answer) if isinstance(said.answer, str) else desk.offer(said.answer)
            self.refusals += [] if desk.accepted is not None else [told]
            ordinal += 1
        return desk.accepted, files


class ScriptedGate:
    """The port `ShipGate`: it finds what is marked in a draft.

    Args:
        trace: Takes `<module>/preflight` and `<module>/gate`, and `<module>/tests` for falsifying tests.
    """

    def __init__(self, trace: list[str]) -> None:
        self._trace = trace

    def stub(self, contract: MicroModuleContract) -> bytes:
        """As the real one makes it."""
        return render_stub(contract).encode()

    def documented(self, source: bytes, contract: MicroModuleContract) -> bytes:
        """As the real one does it."""
        return splice(source, contract)

    def judge(self, candidate: Candidate, *, thorough: bool = True) -> GateVerdict:
        """Look for the marks."""
        contract = candidate.contract
        self._trace.append(f"{contract.name}/{'gate' if thorough else 'preflight'}")
        source = candidate.files["implementation/__init__.py"].decode()
        locked = contract.interface_fingerprint
        tests = tuple(
            TestResult(name, "PASS", 1.0) for name in read_claims(candidate.files["tests/obligations.json"])
        )
        if thorough and MISMATCH in source:
            message = MISMATCHED.format(locked, "0" * 64)
            finding = Finding("surface.mismatch", "implementation/__init__.py", message)
            return GateVerdict(
                False,
                (finding,),
                locked,
                "0" * 64,
                {"inputs": "locked: int, actual: str"},
                (),
                candidate.files,
            )
        findings = tuple(self._found(source, thorough=thorough))
        return GateVerdict(not findings, findings, locked, locked, {}, tests, candidate.files)

    def falsify(self, candidate: Candidate, tests: Sequence[FalsifyingTest]) -> tuple[Trial, ...]:
        """Every test fails on what is marked so."""
        if tests:
            self._trace.append(f"{candidate.contract.name}/tests")
        failed = FALSIFIABLE in candidate.files["implementation/__init__.py"].decode()
        return tuple(
            Trial(test.name, (), not failed, "expected 6, got 5" if failed else "") for test in tests
        )

    def _found(self, source: str, *, thorough: bool) -> Iterator[Finding]:
        if AT_PREFLIGHT in source:
            yield Finding("tests.failed", "test_it_is_the_number_twice", "expected 4, got 5")
        if thorough and AT_THE_GATE in source:
            yield Finding("strength.weak", "implementation/__init__.py", "7 of 12 mutants lived")


class ScriptedChat(ScriptedChatModel):
    """A chat model that plays a script; tells what it is asked."""

    place: Place
    script: Any
    heard: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        ordinal = answers_so_far(messages)
        self.heard(self.place, messages, kwargs.get("tools") or [])
        said: Handed = self.script.answer(self.place, ordinal)
        usage = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
        message = AIMessage(**_spoken(said, self.place, ordinal), usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


def _spoken(said: Handed, place: Place, ordinal: int) -> dict[str, Any]:
    if isinstance(said.answer, str):
        return {"content": said.answer}
    if place.role is Role.ARBITER:
        return {"content": json.dumps(said.answer)}
    calls = list(said.calls)
    calls += [
        ("write_file", {"file_path": f"/{p}", "content": text}) for p, text in (said.files or {}).items()
    ]
    calls += [(_terminal(place), said.answer)] if said.answer is not None else []
    return {
        "content": said.text,
        "tool_calls": [
            {"name": name, "args": args, "id": f"call-{ordinal}-{i}"} for i, (name, args) in enumerate(calls)
        ],
    }


def _terminal(place: Place) -> str:
    if place.role is Role.PROPOSER and place.stage.startswith("amended"):
        return "submit_amendments"
    return {
        Role.PLANNER: "submit_plan",
        Role.PROPOSER: "submit_proposal",
        Role.CHALLENGER: "submit_challenge",
    }[place.role]


class ScriptedSource:
    """The models of the real roles."""

    scripted = True

    def __init__(self, script: Script, heard: Callable[[Place, list[BaseMessage], list[Any]], None]) -> None:
        self._script = script
        self._heard = heard

    def model(self, place: Place) -> ScriptedChat:
        """The one of an invocation."""
        return ScriptedChat(place=place, script=self._script, heard=self._heard)
