"""Whether each test, and each claim, depends on what the module does: answers are changed on their way (design: ship-gate,
contracts).

    tests.vacuous        a test passes where no module answers, or whatever its calls return, raise and write
    tests.surroundings   a test fails, or gets another answer, where the module is in other surroundings
    obligations.unseen   no test that claims an obligation notices a change of what the obligation is about
    strength.unstable    a test fails although nothing was changed

Tests and module run in their two processes, again and again, and the gate in the middle changes answers. In one
repetition each test has one change of its own, or none, or nobody answers. Those without a change are among the others at
places that nobody can foretell: a test that goes by the clock, or by what it left behind, fails in one of them as well.

Left out: whether an assertion is the right one; the mutants tell whether it is sharp.
"""

import secrets  # noqa: TID251 - what tests must not foretell is no input
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple, cast

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.errors import ShipGateError
from ship_gate.findings import Finding, FindingCode
from ship_gate.fuzz.check import is_repeatable
from ship_gate.fuzz.determinism import ALL_OF_THEM, OTHER_ADVICE, RecordedCall, call_text, difference_of
from ship_gate.fuzz.determinism import Answer as CallAnswer
from ship_gate.sandbox.exchange import Ledger, RunEnd
from ship_gate.sandbox.pair import Pair, started
from ship_gate.sandbox.staging import Staged, empty_tree
from ship_gate.strength.claims import (
    Assertions,
    Claims,
    Invariants,
    claims_of,
    unshown_finding,
    unstable_finding,
)
from ship_gate.strength.perturbations import (
    NO_ANSWER,
    NOTHING_MUCH,
    Answer,
    Aspect,
    Perturbation,
    perturbations_of,
)
from ship_gate.verdict import ENTRY_FILE, StageReport

_DEPTH = "RecursionError"
_MOST_REPETITIONS = 120
_MOST_STARTS = 4
_LEAST_SECONDS = 10.0
_TIMES = 10
_WALL_TIMES = 20
_LEAST_WALL = 60.0


def observe(
    staged: Staged,
    contract: MicroModuleContract,
    named: Sequence[str],
    claims: Mapping[str, tuple[str, ...]],
    tests_seconds: float,
    pair: Pair | None = None,
    assertions: Assertions | None = None,
) -> StageReport:
    """Repeat the tests of a staged candidate, which have passed, with changed answers.

    Args:
        staged: Laid out by `stage`.
        contract: The candidate's.
        named: Of `named_tests`.
        claims: Of `read_claims`.
        tests_seconds: How long the tests took before.
        pair: Processes that were started before for this, of the role `variants.repetition`; the caller stops them.
        assertions: Of `assertions_of`; without them every line that fails counts as one condition.

    Raises:
        ShipGateError: the processes did not come up, or broke off again and again.
    """
    seconds = max(_LEAST_SECONDS, _TIMES * tests_seconds)
    resolved = claims_of(contract, claims, named)
    apart = Invariants(resolved, assertions or {})
    plan = _Plan(resolved, apart, files=bool(contract.effects), repeatable=is_repeatable(contract))
    for start in count():
        again = staged if start == 0 else staged.beside(f"repeated {start}")
        with started(again, "variants.repetition", pair if start == 0 else None) as own:
            ledger = _Ledger(plan, own, seconds)
            job = {"watches": bool(contract.effects)}
            wall = max(_LEAST_WALL, _WALL_TIMES * tests_seconds)
            ended = own.exchange.run(job, dict(staged.surface), ledger, wall)
        if ended.how == "finished":
            break
        if ended.how == "forged":
            message = f"the run tampered with its own report ({ended.message}); leave the test runner alone"
            forged = Finding(FindingCode.TESTS_FORGED, "tests", message)
            return plan.report([forged])
        if ended.how != "timeout" or ended.message:
            # otherwise the repetitions took their time, on a machine that is busy, and go on where they were
            plan.broken_off(ledger.running, ended.message)
        if start + 1 >= _MOST_STARTS:
            raise _broken_off_again(ended)
    found = [*plan.findings(), *plan.differences(staged)]
    return plan.report(finding._replace(message=staged.anonymous(finding.message)) for finding in found)


def _broken_off_again(ended: RunEnd) -> ShipGateError:
    return ShipGateError(
        f"the tests broke off again and again when their answers were changed ({ended.how}): "
        f"{ended.message} {ended.output[-300:]}",
        where="gate",
        remedy="run it again on a machine with less load",
    )


class Ending(NamedTuple):
    """How a test came to its end, as its process tells.

    Args:
        how: An assertion failed, no drawn input met what the test assumes, or something else.
        file: Of the tests, where it failed.
        line: Likewise.
        altered: Whether an answer that was to be changed became another one.
    """

    how: str
    file: str = ""
    line: int = 0
    altered: bool = True


class _Test:
    """One collected test: what its calls came to, and the changes that are still to be tried."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.function = name.partition("[")[0]
        self.answers: list[Answer] = []
        self.change: Perturbation | None = None
        self.waiting: Iterator[Perturbation] = iter(())


class _Plan:
    """What is repeated next, and what has been shown; it outlives the processes."""

    def __init__(self, claims: Claims, apart: Invariants, *, files: bool, repeatable: bool) -> None:
        self._claims = claims
        self._apart = apart
        self._files = files
        self._repeatable = repeatable
        self._tests: dict[str, _Test] = {}
        self._outside = _Test("")
        self._meets_more: set[str] = set()
        self._vacuous = {*claims.by_test}
        self._unshown = {p for pointers in claims.by_test.values() for p in pointers if p in claims.due}
        self._unstable: list[str] = []
        self._silent: list[str] = []
        self._failed_elsewhere: dict[str, None] = {}
        self._other_answers: dict[str, tuple[dict[str, Any], CallAnswer, CallAnswer]] = {}
        self._kinds = self._order()
        self._broken_elsewhere = ""
        self.kind = ""
        self.tried = self.noticed = self.repetitions = self.compared = 0

    def _order(self) -> Iterator[str]:
        """The kinds of the repetitions, one after the other; at least three are without a change."""
        yield "null"
        yield "silent"
        yield "elsewhere"
        foretold = True
        for _ in range(_MOST_REPETITIONS):
            if not self._prepared():
                break
            yield "changed"
            if foretold and secrets.randbelow(2):
                foretold = False
                yield "null"
        if foretold:
            yield "null"
        if self._outside.answers and self._open_tests():
            self._outside.waiting = self._changes(self._outside, self._unshown)
            while self._open_tests() and (change := self._useful(self._outside, self._open_goals())):
                self._outside.change = change
                yield "outside"
        yield "null"

    def next(self) -> list[str] | None:
        """The tests of the next repetition, all if empty; None if there is none."""
        self.kind = "" if self._unstable else next(self._kinds, "")
        if not self.kind:
            return None
        self.repetitions += 1
        if self.kind == "changed":
            chosen = [test.name for test in self._tests.values() if test.change]
            self.tried += len(chosen)
            return chosen
        if self.kind == "outside":
            self.tried += 1
            return self._open_tests()
        return []

    def _prepared(self) -> bool:
        """Choose a change for each test that has something left to show; whether there is one."""
        for test in self._tests.values():
            goals = self._goals(test)
            test.change = self._useful(test, goals) if goals else None
        return any(test.change for test in self._tests.values())

    def _goals(self, test: _Test) -> set[str | None]:
        """What a test has to show: None stands for anything at all."""
        own: set[str | None] = {*self._claims.of(test.function) & (self._unshown | self._apart.goals())}
        return {*own, None} if test.function in self._vacuous else own

    def _open_goals(self) -> set[str | None]:
        return {None, *self._unshown, *self._apart.goals()}

    def _open_tests(self) -> list[str]:
        return [test.name for test in self._tests.values() if self._goals(test)]

    def _changes(self, test: _Test, pointers: Iterable[str]) -> Iterator[Perturbation]:
        pointers = [*pointers]
        others = [answer for other in self._tests.values() if other is not test for answer in other.answers]
        parts = self._claims.parts(pointers)
        whole = any(pointer in self._apart for pointer in pointers)
        alone = not (self._files or self._claims.contract.outputs)
        return perturbations_of(test.answers, others, parts, files=self._files, whole=whole, alone=alone)

    def _useful(self, test: _Test, goals: set[str | None]) -> Perturbation | None:
        """The next change that could show something that is to be shown."""
        for change in test.waiting:
            if any(self._shows(test, goal, change) for goal in goals):
                return change
        return None

    def _shows(self, test: _Test, goal: str | None, change: Perturbation) -> bool:
        if goal is None:
            return True
        # where the same test meets more than nothing, nothing shows little of what comes out
        is_plain = not change.answer.errors and change.answer.payload in NOTHING_MUCH
        if is_plain and test.function in self._meets_more and (not goal or goal.startswith("/outputs/")):
            return False
        return self._claims.shows(goal, change)

    def answered(self, owner: str, answer: Answer) -> None:
        """A call came back in the first repetition; the same call of a test counts once."""
        test = self._tests.setdefault(owner, _Test(owner)) if owner else self._outside
        known = {(one.entry, one.arguments) for one in test.answers}
        if (answer.entry, answer.arguments) not in known:
            test.answers.append(answer)
        if not answer.errors and answer.payload not in NOTHING_MUCH:
            self._meets_more.add(test.function)

    def compare_answer(self, owner: str, call: dict[str, Any], answer: Answer) -> None:
        """A call came back from the process in other surroundings."""
        known = self._tests.get(owner, self._outside).answers
        usual = next(
            (one for one in known if (one.entry, one.arguments) == (answer.entry, answer.arguments)), None
        )
        if usual is None:
            return
        self.compared += 1
        one, other = (CallAnswer("".join(a.errors[:1]), a.payload, a.printed) for a in (usual, answer))
        if one != other and _DEPTH not in {one.error, other.error}:
            header = {**call, "arguments": answer.arguments}
            self._other_answers.setdefault(owner, (header, one, other))

    def change_for(self, owner: str, place: int) -> Perturbation | None:
        """What is to be changed of a test's call, by its place among its different calls."""
        if self.kind == "outside":
            return None if owner else self._outside.change
        test = self._tests.get(owner)
        change = test.change if test and self.kind == "changed" else None
        return change if change and change.call == place else None

    def ended(self, name: str, *, passed: bool, ending: Ending) -> None:
        """A test came to its end."""
        test = self._tests.setdefault(name, _Test(name))
        match self.kind:
            case "null":
                self._unstable += [name] * (not passed)
            case "silent":
                self._silent += [name] * passed
            case "elsewhere":
                if not passed:
                    self._note_failure(name)
            case _:
                change = self._outside.change if self.kind == "outside" else test.change
                # inputs that were passed over for what the module answered show nothing
                seen = not passed and ending.how != "assumption"
                if change and seen and (ending.how == "assertion" or not change.strict):
                    self.noticed += 1
                    self._shown(test, change, ending)
                elif change and passed and not ending.altered:
                    self._apart.tried(test.function, change, set(), noticed=False)

    def _note_failure(self, name: str) -> None:
        """A test that was answered as ever and fails is unstable by itself; what lies in files is not compared."""
        if self._files or {name, ""} & self._other_answers.keys():
            self._failed_elsewhere[name] = None
        else:
            self._unstable.append(name)

    def _shown(self, test: _Test, change: Perturbation, ending: Ending) -> None:
        self._vacuous.discard(test.function)
        shown = {p for p in self._claims.of(test.function) if self._shows(test, p, change)}
        self._unshown -= shown
        self._apart.tried(test.function, change, shown, noticed=True)
        if change.aspect is Aspect.VALUE:
            self._apart.asserted(shown, ending.file, ending.line)

    def repeated(self) -> None:
        """A repetition is over; after the first one all answers are known, and changes can be chosen."""
        if self.kind == "silent":
            for test in self._tests.values():
                test.waiting = self._changes(test, self._claims.of(test.function))

    def broken_off(self, running: str, message: str) -> None:
        """A repetition broke off; without a change that is the test's fault, with one the change is passed over."""
        if self.kind == "null":
            self._unstable.append(running or "the run")
        if self.kind == "elsewhere":
            self._failed_elsewhere[running] = None
            self._broken_elsewhere = message.strip().rpartition("\n")[2]

    def differences(self, staged: Staged) -> Iterator[Finding]:
        """What tests met in other surroundings."""
        names = [*self._failed_elsewhere]
        if self._repeatable:
            names += [name for name in self._other_answers if name not in self._failed_elsewhere]
        if self._unstable or not names:
            return
        name = next((name for name in (*names, "") if name in self._other_answers), names[0])
        what = f" {self._broken_elsewhere}" if self._broken_elsewhere else ""
        if name in self._other_answers:
            header, usual, other = self._other_answers[name]
            payload = header.pop("arguments")
            call = RecordedCall(call_text(header["entry"], payload), header, payload, usual, 0.0)
            difference = difference_of(staged, call, other, alone=not self._files)
            what = f" {call.text} {difference.text()}"
        how = "fails" if name in self._failed_elsewhere else "gets another answer"
        others = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        message = f"the test{others} {how} in other surroundings ({ALL_OF_THEM}):{what or ' ' + OTHER_ADVICE}"
        yield Finding(FindingCode.TESTS_SURROUNDINGS, f"tests/{name}" if name else ENTRY_FILE, message)

    def report(self, findings: Iterable[Finding]) -> StageReport:
        """What the repetitions showed, with what is wrong."""
        summary = (
            f"{self.noticed} of {self.tried} changed answers were noticed, in {self.repetitions} repetitions; "
            f"{self.compared} calls of the tests compared in other surroundings"
        )
        counts = {"repetitions": self.repetitions, "changed_answers": self.tried, "noticed": self.noticed}
        return StageReport(tuple(findings), summary, {**counts, "calls_elsewhere": self.compared})

    def findings(self) -> Iterator[Finding]:
        """What is not shown."""
        if self._unstable:
            names = ", ".join(dict.fromkeys(self._unstable))
            yield unstable_finding(names)
            return
        for name in self._silent:
            message = (
                "the test passes although no module answered it; assert what a call returned, raised or wrote"
            )
            yield Finding(FindingCode.TESTS_VACUOUS, f"tests/{name}", message)
        for name in sorted(self._vacuous - {name.partition("[")[0] for name in self._silent}):
            message = (
                "the test passes whatever its calls return, raise or write, so it shows nothing; assert what a call "
                "returned, raised or wrote"
            )
            yield Finding(FindingCode.TESTS_VACUOUS, f"tests/{name}", message)
        for pointer in sorted(self._unshown):
            yield unshown_finding(self._claims, pointer)
        for pointer in sorted({*self._apart.unshown()} - self._unshown):
            yield unshown_finding(self._claims, pointer, apart=True)


class _Ledger(Ledger):
    """Answers the runner's questions, and changes what comes out of the module (a `Ledger`)."""

    def __init__(self, plan: _Plan, pair: Pair, seconds: float) -> None:
        self._plan = plan
        self._pair = pair
        self._seconds = seconds
        self._is_set_up = False
        self._seen: dict[tuple[str, bytes], int] = {}
        self._call: tuple[str, dict[str, Any], bytes] = "", {}, b""
        self._requests: list[tuple[str, tuple[str, str, int]]] = []
        self.running = ""

    def reported(self, header: dict[str, Any]) -> dict[str, Any] | None:
        """A word of the runner; it asks for the next repetition when the last one is over."""
        name = str(header.get("name", ""))
        match header.get("event"):
            case "next":
                return self._next()
            case "start":
                self.running, self._is_set_up, self._seen = name, False, {}
            case "set_up":
                self._is_set_up = True
            case "test":
                passed = header.get("passed") is True
                file, _, line = str(header.get("line", "")).rpartition(":")
                altered = header.get("altered") is not False
                ending = Ending(str(header.get("how", "")), file, int(line or 0), altered=altered)
                self._plan.ended(name, passed=passed, ending=ending)
                self.running = ""
            case _:
                pass
        return None

    def _next(self) -> dict[str, Any]:
        if self.running:
            # its process came to an end during a test
            self._plan.ended(self.running, passed=False, ending=Ending("error"))
            self.running = ""
        self._plan.repeated()
        self._pair.exchange.repeat()
        tests = self._plan.next()
        self._pair.exchange.take_other(is_other=self._plan.kind == "elsewhere")
        if tests is None:
            return {"end": True}
        empty_tree(self._pair.scratch)
        return {"tests": tests or None, "seconds": self._seconds}

    def called(self, call: dict[str, Any], payload: bytes) -> dict[str, Any] | None:
        """A call; nobody answers it in a silent repetition."""
        if self._plan.kind == "silent":
            return NO_ANSWER
        owner = self.running if self._is_set_up else ""
        self._call = owner, call, payload
        self._requests = []
        return None

    def asked(self, method: str, origin: tuple[str, str, int]) -> None:
        """The call that is made asks a host."""
        self._requests.append((method, origin))

    def replied(self, header: dict[str, Any], payload: bytes) -> dict[str, Any]:
        """What is sent beside the reply, or in place of it."""
        owner, call, arguments = self._call
        entry, is_new = str(call["entry"]), (call["entry"], arguments) not in self._seen
        place = self._seen.setdefault((entry, arguments), len(self._seen)) if owner else -1
        errors = tuple(str(name) for _, name in header.get("error", ()))
        printed = f"{header.get('out', '')}{header.get('err', '')}"
        clock: Any = header.get("clock")
        slept = bool(cast("dict[str, Any]", clock).get("slept")) if isinstance(clock, dict) else False
        answer = Answer(entry, arguments, errors, payload, printed, slept, tuple(self._requests))
        if self._plan.kind == "null":
            self._plan.answered(owner, answer)
        elif self._plan.kind == "elsewhere" and (is_new or not owner):
            self._plan.compare_answer(owner, call, answer)
        change = self._plan.change_for(owner, place)
        if change is None or (
            change.aspect in {Aspect.VALUE, Aspect.ERROR, Aspect.RETURN}
            and bool(errors) != bool(change.answer.errors)
        ):
            return {}
        return change.reply
