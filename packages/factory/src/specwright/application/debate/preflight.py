"""The preflight of drafts: the gate's checks, before one becomes a proposal (design: preflight)."""

from collections.abc import Callable, Sequence

from agent_wire.canonical_json import JsonValue
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.falsifying_tests import RegressionTest
from ship_gate.contract.obligations import read_claims
from ship_gate.verdict import Finding, GateVerdict
from specwright.application.debate.gate_runs import as_failures, observations, refusal_details
from specwright.application.store.debates import GateResult
from specwright.domain.answers.answers import ContractFault, Failure
from specwright.domain.debate.contract_faults import PreflightFinding, PreflightLedger, still_due
from specwright.domain.debate.falsifying import TriedTest
from specwright.errors import AnswerError
from specwright.ports.roles import Files

_NO_TIME = "1970-01-01T00:00:00.000Z"


class UnrecordedScope:
    """A scope that records nothing, for what is tried before a decision and observed again by the run that follows: it asks
    each time, and draws the same each time (design: escalation).

    Args:
        name: Of the step that is tried.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def recall(self, kind: str, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        """What `live` answers now."""
        return live()

    def hex8(self) -> str:
        """No id of anything."""
        return "00000000"

    def wire_id(self) -> str:
        """None: no Wire is appended here."""
        return ""

    def now(self) -> str:
        """No time."""
        return _NO_TIME


class Preflight:
    """The preflight of the drafts of one invocation; it keeps the last draft and what was observed of it.

    Args:
        contract: Of the module.
        judged: Judges files.
        active_tests: Falsifying tests of the debate.
        regression_tests: Those of earlier versions.
        failures: That stand in the request: the source of a test in them is not told again.
    """

    def __init__(
        self,
        contract: MicroModuleContract,
        judged: Callable[[Files], GateVerdict],
        active_tests: Sequence[TriedTest],
        regression_tests: Sequence[RegressionTest],
        failures: Sequence[Failure] = (),
    ) -> None:
        self._contract = contract
        self._judged = judged
        self._active_tests = active_tests
        self._regression_tests = regression_tests
        self._told = [failure.evidence for failure in failures]
        self.files: Files = {}
        self.observations: tuple[str, ...] = ()
        self.ledger = PreflightLedger()
        self._verdict: GateVerdict | None = None

    def problems(self, files: Files, faults: Sequence[ContractFault] = ()) -> list[str]:
        """What keeps a draft from becoming a proposal.

        A contract whose fault code confirms needs no passing draft; what the Arbiter rules on may stay unshown (design:
        contract-at-fault).
        """
        self.files, verdict = files, self._judged(files)
        self._verdict = verdict
        findings = [PreflightFinding(found.code, found.where, found.message) for found in verdict.findings]
        passed = [test.name for test in verdict.tests if test.result == "PASS"]
        self.ledger.add(findings, passed, claims_of(files))
        false = list(self.ledger.problems(faults, self._contract))
        self.observations = observations(verdict, self._active_tests, self._regression_tests)
        if faults and not false:
            if self.ledger.confirms(faults):
                return []
            left = still_due(findings, faults)
            verdict = verdict._replace(findings=tuple(Finding(*found) for found in left))
            if left:
                pointers = ", ".join(fault.pointer for fault in faults)
                false = [
                    f"contract_at_fault: an Arbiter rules on {pointers} once nothing else keeps the draft back; what "
                    "follows is no matter of what a test can show of it"
                ]
        return [*false, *map(self._line, as_failures(verdict))]

    def _line(self, failure: Failure) -> str:
        """A finding as the role is told it: the source of a falsifying test once in a conversation."""
        evidence = failure.evidence
        for source in (test.source.strip() for test in (*self._active_tests, *self._regression_tests)):
            if f":\n{source}\n\n" in evidence and any(source in said for said in self._told):
                evidence = evidence.replace(f":\n{source}\n\n", ", as it stands above: ")
        self._told.append(failure.evidence)
        return f"{failure.invariant}: {evidence}"

    def refusal(self, error: AnswerError) -> GateResult:
        """What the gate saw of the last draft, for the escalation; of one that it passed, what else was wrong."""
        if self._verdict is None:
            return GateResult([], {})
        invariant = "what is submitted with a draft is accepted"
        others = [
            Failure(invariant=invariant, evidence=problem, required_change=problem)
            for problem in error.problems
        ]
        failures = as_failures(self._verdict) or others
        return GateResult(failures, refusal_details(self._contract, self._verdict))


def claims_of(files: Files) -> dict[str, tuple[str, ...]]:
    """What each test of a module claims to show; nothing if that cannot be read."""
    try:
        return read_claims(files.get("tests/obligations.json", b"{}"))
    except ValueError:
        return {}
