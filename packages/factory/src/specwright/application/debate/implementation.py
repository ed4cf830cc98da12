"""The implementation of a module as a deliverable: requests to its Proposer, and the preflight of drafts (design: debate,
role-access, ship-gate)."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar, cast

from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ArtifactType
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.independent_tests import FalsifyingTest, RegressionTest
from ship_gate.contract.obligations import read_claims
from ship_gate.contract.statements import contract_changes
from ship_gate.findings import Finding
from ship_gate.verdict import Candidate, GateVerdict, Trial
from specwright.application.context import (
    PackEntry,
    RoleStore,
    debate_entries,
    dependency_entries,
    index_statuses,
    pack_files,
    pack_rows,
    previous_version,
    schema_entries,
    task_ref,
)
from specwright.application.criteria import carried_rulings
from specwright.application.debate.deliverable import PLAN_CLAIM, Deliverable, RevisionRequest, Version
from specwright.application.debate.gate_runs import (
    GateRun,
    as_failures,
    candidate,
    falsify,
    judge_whole,
    observations,
    passing_details,
    refusal_details,
)
from specwright.application.deprecation import artifact_before, reports_of, required_tests, version_before
from specwright.application.factory import Factory
from specwright.application.requests import ModuleRequest, amend_message, proposer_message
from specwright.application.store.artifacts import Invocation
from specwright.application.store.modules import DependencyView
from specwright.application.store.records import GateResult
from specwright.application.stored_plans import StoredPlan, claim_of_plan
from specwright.application.tasks import Task, neighbours, task_board
from specwright.domain.acceptance.calls import Acceptance, acceptance_of_module
from specwright.domain.answers import (
    Amendment,
    AmendmentsAnswer,
    ContractFault,
    Failure,
    FaultOf,
    ProposerAnswer,
)
from specwright.domain.artifacts import Permission, Purpose
from specwright.domain.debate.amendments import applied_problems, lost_problems
from specwright.domain.debate.answer_rules import Citable, trace_problems
from specwright.domain.debate.records import Adjudication, TriedTest, as_regression_tests
from specwright.domain.debate.repeated_code import REPEATED, in_words, runs_of
from specwright.domain.debate.reported_faults import (
    DEPENDENCIES,
    MISSING_DEPENDENCY,
    Correction,
    PreflightLedger,
    corrections,
    quote_problems,
    still_due,
    unconfirmed,
)
from specwright.domain.debate.test_outline import test_outline
from specwright.domain.escalation import Action
from specwright.domain.modules.evidence import WRITABLE, tree_sha256
from specwright.domain.spec.change_request import BugReport
from specwright.domain.tasks.project_state import TaskStatus
from specwright.errors import AnswerError
from specwright.ports import Assignment, Files, Place, Role, Scope

ENTRY = "implementation/__init__.py"

_A = TypeVar("_A", ProposerAnswer, AmendmentsAnswer)


class UnrecordedScope:
    """A scope that records nothing, for a check before an answer is recorded; the run that follows checks again (design:
    escalation). It always calls `live`, and draws constants.

    Args:
        name: The name of the checked step.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def recall(self, kind: str, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        """Return the answer of `live`."""
        return live()

    def record(self, files: object = None) -> None:
        """Do nothing."""

    def hex8(self) -> str:
        """Return a dummy id."""
        return "00000000"

    def wire_id(self) -> str:
        """Return a dummy id; no Wire is appended here."""
        return ""

    def now(self) -> str:
        """Return a dummy time."""
        return "1970-01-01T00:00:00.000Z"

    def scope(self, name: str, *, deferred: bool = False) -> "UnrecordedScope":
        """Return this scope."""
        return self


class Preflight:
    """The preflight of the drafts of one invocation; it keeps the last draft and its observations.

    Args:
        module: The module.
        scope: The scope of the observations.
        active_tests: The falsifying tests of the debate.
        failures: The failures in the request; messages do not repeat the source of a test in them.
    """

    def __init__(
        self,
        module: "Implementation",
        scope: Scope,
        active_tests: Sequence[TriedTest],
        failures: Sequence[Failure] = (),
    ) -> None:
        self._module, self._scope, self._active_tests = module, scope, active_tests
        self._regression_tests = module.regression_tests
        self._told = [failure.evidence for failure in failures]
        self._verdict: GateVerdict | None = None
        self._repeated: set[str] = set()
        self.missing: list[ContractFault] = []
        """The modules whose code the last draft repeats and that it cannot call (design: contract-at-fault)."""
        self.files: Files = {}
        self.observations: tuple[str, ...] = ()
        self.ledger = PreflightLedger()
        self.wrong: Mapping[str, Correction] = {}
        """The corrections of a confirmed spec fault, by title."""

    def problems(self, files: Files, answer: ProposerAnswer | None = None) -> list[str]:
        """Return why a draft cannot become a proposal.

        If code confirms a fault of the contract or spec, the draft need not pass. Statements on which the Arbiter will rule
        need not be shown (design: contract-at-fault).
        """
        faults, wrong = (answer.contract_at_fault, answer.spec_at_fault) if answer else ([], {})
        verdict = self._module.judged(self._scope, files, self._active_tests, shipping=False)
        repeated = self._module.repeated(files) if answer else []
        told = [one for one in repeated if one.pointer not in {*self._repeated, DEPENDENCIES}]
        self._repeated.update(one.pointer for one in told)
        verdict = verdict._replace(passed=verdict.passed and not told, findings=(*verdict.findings, *told))
        self.files = files
        self._verdict = verdict
        passed = [test.name for test in verdict.tests if test.result == "PASS"]
        self.ledger.add(verdict.findings, passed, claims_of(files))
        acceptance, contract = self._module.task.definition.acceptance, self._module.contract
        items = acceptance.items if acceptance else ()
        found = corrections(items, verdict.findings, {one.name for one in contract.error_surfaces})
        self.wrong = found if found.keys() & wrong.keys() else {}
        if self.wrong:
            return []
        false = [*self.ledger.problems(faults, contract), *unconfirmed(wrong, items)]
        self.observations = observations(verdict, self._active_tests, self._regression_tests)
        self.observations += tuple(f"{one.where}: {one.message.partition(';')[0]}" for one in repeated)
        self.missing = [
            ContractFault(pointer=one.pointer, finding=one.code, where=one.where, reason=one.message)
            for one in repeated
            if one.pointer == DEPENDENCIES
        ]
        if self.missing:
            return []
        if faults and not false:
            if self.ledger.confirms(faults):
                return []
            left = still_due(verdict.findings, faults)
            verdict = verdict._replace(findings=left)
            if left:
                pointers = ", ".join(fault.pointer for fault in faults)
                false = [
                    f"contract_at_fault: an Arbiter rules on {pointers} once nothing else keeps the draft back; what "
                    "follows is no matter of what a test can show of it"
                ]
        return [*false, *map(self._line, as_failures(verdict))]

    def _line(self, failure: Failure) -> str:
        """Format a finding for the role; the source of a falsifying test appears once in a conversation."""
        evidence = failure.evidence
        for source in (test.source.strip() for test in (*self._active_tests, *self._regression_tests)):
            if f":\n{source}\n\n" in evidence and any(source in said for said in self._told):
                evidence = evidence.replace(f":\n{source}\n\n", ", as it stands above: ")
        self._told.append(failure.evidence)
        return f"{failure.invariant}: {evidence}"

    def refusal(self, error: AnswerError) -> GateResult:
        """Return the gate's result for the last draft, for the escalation; if the draft passed, the other problems."""
        if self._verdict is None:
            return GateResult([], {})
        invariant = "what is submitted with a draft is accepted"
        others = [
            Failure(invariant=invariant, evidence=problem, required_change=problem)
            for problem in error.problems
        ]
        observed = refusal_details(self._module.contract, self._verdict)
        if self.wrong:
            changes = {title: one for title, (one, _) in self.wrong.items()}
            observed["wrong"] = {"module": self._module.name, "corrections": changes}
        failures = [failure for _, failure in self.wrong.values()] or as_failures(self._verdict)
        return GateResult(failures or others, observed)


def claims_of(files: Files) -> dict[str, tuple[str, ...]]:
    """Return the statements that each test of a module claims to show; empty if the file is not valid."""
    try:
        return read_claims(files.get("tests/obligations.json", b"{}"))
    except ValueError:
        return {}


class Implementation(Deliverable):
    """A module of a locked plan whose implementation is debated."""

    def __init__(
        self, factory: Factory, task: Task, plan: StoredPlan, name: str, questions: Sequence[str] = ()
    ) -> None:
        artifacts = factory.artifacts
        self._factory, self.task, self.name, self.questions = factory, task, name, questions
        self.contract = plan.contracts[name]
        self.contract_ref = artifacts.ref(task.folder, plan.contract_ids[name])
        self.plan_ref = artifacts.ref(task.folder, plan.plan_id)
        self.plan_claim = claim_of_plan(artifacts, task.folder, plan)
        self.planned = [contract for other, contract in plan.contracts.items() if other != name]
        self.calls = [dependency.ref for dependency in self.contract.dependencies]

    def submit(self, round_number: int, request: RevisionRequest, before: str) -> Version:
        """Let the Proposer implement or correct the module; a draft that passes the preflight becomes a proposal (design:
        ship-gate)."""
        stage, workspace = f"round-{round_number}", self.files(before) if before else self.stub()
        sources, changes, sealed = list(request.sources), list[str](), False
        if changed := self._changed_contract(before) if before else self._sealed_contract():
            ref, earlier = changed
            sealed = not before
            workspace = self._factory.modules.files(ref) if sealed else workspace
            workspace = {**workspace, ENTRY: self._factory.gate.documented(workspace[ENTRY], self.contract)}
            sources.append((ref, "what has changed in it"))
            changes = contract_changes(earlier, self.contract)
        place = self.task.place(self.name, stage, Role.PROPOSER).run_id
        rulings = carried_rulings(self._factory, self.task, self.questions, place)
        sources += [(ruling.ref, ruling.row[2]) for ruling in rulings.values()]
        sources += [(self.plan_ref, PLAN_CLAIM)]
        asked = ModuleRequest(
            self.contract, workspace, request.failures, changes, self.reports, self.approved(), sealed
        )
        message = proposer_message(
            asked,
            self.dependencies(""),
            self._factory.packages,
            self.task.definition.acceptance_criteria,
            rulings,
            self.plan_claim,
            request.revisions_left,
            self.task.definition.decisions,
        )

        def problems(answer: ProposerAnswer, files: Files, preflight: Preflight) -> list[str]:
            there = Citable([self.contract], frozenset(claims_of(files)))
            return [*preflight.problems(files, answer), *trace_problems(answer.acceptance_checks, there)]

        request = request._replace(sources=sources)
        answer, version, preflight = self._made(
            stage, ProposerAnswer, message, workspace, before, request, problems
        )
        faults = preflight.missing or answer.contract_at_fault
        confirmed = FaultOf.CONTRACT.value if preflight.ledger.confirms(faults) else ""
        confirmed = MISSING_DEPENDENCY if preflight.missing else confirmed
        return version._replace(contract_changes=changes, contract_at_fault=faults, confirmed=confirmed)

    def amend(
        self, version_id: str, round_number: int, ruling: Adjudication, active_tests: Sequence[TriedTest]
    ) -> tuple[Version, AmendmentsAnswer]:
        """Let the Proposer apply the amendments to the approved files."""
        stage, approved = f"amended-{round_number}", self.files(version_id)
        message = amend_message(self.contract, ruling.amendments, approved)

        def problems(answer: AmendmentsAnswer, files: Files, preflight: Preflight) -> list[str]:
            told = _unaccounted(answer, ruling.amendments)
            if all(record.applied for record in answer.applied):
                told += applied_problems(ruling.amendments, approved, files)
                told += lost_problems(ruling.amendments, approved, files)
                told += preflight.problems(files)
            return told

        request = RevisionRequest(active_tests=active_tests)
        answer, version, _ = self._made(
            stage, AmendmentsAnswer, message, approved, version_id, request, problems
        )
        return version, answer

    def _made(
        self,
        stage: str,
        kind: type[_A],
        message: str,
        workspace: Files,
        before: str,
        request: RevisionRequest,
        check: Callable[[_A, Files, Preflight], list[str]],
    ) -> tuple[_A, Version, Preflight]:
        """Ask the Proposer for files that pass the preflight, and store them as a version.

        Args:
            stage: `round-1`, or `amended-1`.
            kind: The type of the answer.
            message: The request.
            workspace: The module's present files.
            before: The version to revise; empty for a first one.
            request: The failures to correct, and the tests to pass.
            check: Returns the problems of an answer and its files, except quotations of source.
        """
        place = self.task.place(self.name, stage, Role.PROPOSER)
        scope = self._factory.journal.scope(f"{place.run_id}/desk", deferred=True)
        by, pack, store = self._open_pack(scope, place, workspace, before, request.sources)
        preflight = Preflight(self, scope, request.active_tests, request.failures)

        def problems(answer: _A, files: Files) -> list[str]:
            told = [*check(answer, files, preflight), *self._quoted(_said(answer), files, preflight)]
            return [] if preflight.wrong else told  # the spec is wrong; other problems do not matter

        with self._keeping_refused(stage, preflight):
            is_change = stage == "round-1" and len(workspace) > 1  # a stub is one file
            assignment = Assignment(place, kind, message, pack, WRITABLE, store, is_change=is_change)
            draft = self._factory.roles.ask(assignment, problems)
            if preflight.wrong:
                named = getattr(draft.answer, "spec_at_fault", {})
                why = "; ".join(f"{title}: {named[title]}" for title in named if title in preflight.wrong)
                what = f"the approved spec is wrong, as code confirmed: {why}"
                raise AnswerError(what, raw_answers=(draft.answer.model_dump_json(),), fault="spec")
        answer = draft.answer
        version = self._store(
            scope, by, answer.claim, answer.acceptance_checks, draft.files, before, preflight
        )
        return answer, version, preflight

    def accept_fix(
        self,
        scope: Scope,
        by: Invocation,
        claim: str,
        checks: Sequence[str],
        files: Files,
        before: str,
        active_tests: Sequence[TriedTest],
        stage: str,
    ) -> Version:
        """Store a person's files as a version, if they pass the preflight (design: escalation, ship-gate).

        Args:
            scope: The scope of observations and draws.
            by: The invocation that stands for the person.
            claim: The description of the fix.
            checks: The acceptance checks; if empty, the scenarios of the contract are used.
            files: All files of the module.
            before: The version that they replace; empty if there is none.
            active_tests: The falsifying tests that they must pass.
            stage: The name under which refused files are kept.

        Raises:
            AnswerError: the preflight found problems; only the refused files were stored.
        """
        preflight = Preflight(self, scope, active_tests)
        with self._keeping_refused(stage, preflight):
            if problems := self._fix_problems(preflight, claim, files):
                raise AnswerError("the fix fails the preflight", problems=tuple(problems))
        scenarios = self.contract.error_cases or [f"{self.contract.name} /purpose"]
        return self._store(scope, by, claim, checks or scenarios, files, before, preflight)

    def fix_problems(self, claim: str, files: Files, active_tests: Sequence[TriedTest]) -> list[str]:
        """Return the preflight's problems with a person's files before the answer is recorded. Nothing is stored, and the
        run that takes the answer checks again (design: escalation).

        Args:
            claim: The description of the fix.
            files: All files of the module.
            active_tests: The falsifying tests that they must pass.
        """
        preflight = Preflight(self, UnrecordedScope(f"{self.name}/fix"), active_tests)
        return self._fix_problems(preflight, claim, files)

    def _fix_problems(self, preflight: Preflight, claim: str, files: Files) -> list[str]:
        return [*preflight.problems(files), *self._quoted({"fix_description": claim}, files, preflight)]

    def stub(self) -> Files:
        """Return the initial files of an implementation."""
        planned = {contract.ref: contract for contract in self.planned}
        called = [planned.get(ref) or self._factory.modules.contract(ref) for ref in self.calls]
        return {ENTRY: self._factory.gate.stub(self.contract, called)}

    def contracts(self, version_id: str) -> list[MicroModuleContract]:
        """Return the module's contract."""
        return [self.contract]

    def dependencies(self, version_id: str) -> list[DependencyView]:
        """Return the sealed modules that it calls."""
        return [self._factory.modules.view(ref) for ref in self.calls]

    def falsify(self, version_id: str, tests: Sequence[FalsifyingTest], scope: Scope) -> Sequence[Trial]:
        """Run the Challenger's tests on the proposed files (design: falsifying-tests)."""
        return falsify(self._factory.gate, scope, self._candidate(self.files(version_id)), tests)

    def unapplied(self, before: str, after: str, ruling: Adjudication) -> list[str]:
        """Return the amendments that the files do not show."""
        return applied_problems(ruling.amendments, self.files(before), self.files(after))

    def verify(self, version_id: str, active_tests: Sequence[TriedTest]) -> GateResult:
        """Run the ship gate; nothing ships without it (design: principles)."""
        verdict = self.verdict(version_id, active_tests)
        failures = as_failures(verdict)
        if not failures:
            return GateResult([], {}, passing_details(self.contract, verdict))
        return GateResult(failures, refusal_details(self.contract, verdict))

    def verdict(self, version_id: str, active_tests: Sequence[TriedTest] = ()) -> GateVerdict:
        """Return the ship gate's verdict on a version, journalled.

        Args:
            version_id: The version.
            active_tests: The falsifying tests of its debate, which must pass too (design: falsifying-tests).
        """
        scope = self._factory.journal.scope(f"{self.task.run}/{self.name}/gate/{version_id}")
        return self.judged(scope, self.files(version_id), active_tests, shipping=True)

    def files(self, version_id: str) -> Files:
        """Return the module's files in a version."""
        return self._factory.artifacts.body(self.task.folder, version_id)

    def mark_shipped(self, version_id: str) -> None:
        """Mark a sealed version SHIPPED, if its evidence matches the locked contract (design: artifact-lifecycle)."""
        self._factory.artifacts.shipped(
            self.task.folder,
            version_id,
            evidence=self._factory.modules.evidence(self.contract.ref),
            locked_fingerprint=self.contract.interface_fingerprint,
        )

    def approved(self) -> Acceptance:
        """The approved examples and properties that the gate runs on it (design: executable-spec)."""
        called = [view.contract for view in self.dependencies("")]
        definition = self.task.definition
        return acceptance_of_module(
            definition.acceptance, definition.acceptance_criteria, self.contract, called
        )

    def judged(
        self, scope: Scope, files: Files, active_tests: Sequence[TriedTest], *, shipping: bool
    ) -> GateVerdict:
        """Return the gate's verdict on files, in a preflight or for shipping."""
        factory, task = self._factory, self.task.entry.spec_task_id
        scopes = (scope if isinstance(scope, UnrecordedScope) else factory.journal).scope
        measured, judging = f"{task}/{self.name}/measured", self._candidate(files)
        run = GateRun(factory.gate, factory.progress, scopes, scope, measured, judging, shipping)
        return judge_whole(run, self.task.definition, self.reports, self.regression_tests, active_tests)

    def repeated(self, files: Files) -> list[Finding]:
        """Report code of a draft that repeats a sealed module of the product: a dependency, or else another one (design:
        contract-at-fault). The module's earlier version and the stub do not count."""
        modules, own = self._factory.modules, runs_of(files, self.stub())

        def live() -> JsonValue:
            earlier = version_before(self._factory, self.contract)
            left = own.keys() - (modules.runs(earlier) if earlier else ())

            def found(refs: Sequence[str]) -> list[JsonValue]:
                shared = {ref: [own[run] for run in left & modules.runs(ref)] for ref in refs}
                return [[ref, in_words(places)] for ref, places in shared.items() if places]

            return found(self.calls) or found(self._callable())[:1]

        scope = self._factory.journal.scope(f"{self.task.run}/{self.name}/repeated/{tree_sha256(files)}")
        rows = scope.recall("tool", {"tool": "repeated", "module": self.contract.ref}, live) if own else []
        return [self._repetition(ref, where) for ref, where in cast("list[list[str]]", rows)]

    def _repetition(self, ref: str, where: str) -> Finding:
        name = self._factory.modules.contract(ref).name
        if ref not in self.calls:
            what = f"these lines repeat the sealed module `{name}`, {ref}, names apart; it is no dependency"
            return Finding(REPEATED, where, what, DEPENDENCIES)
        what = f"these lines repeat the dependency `{name}`, names apart; call `{name}` in their place; "
        pointer = f"{DEPENDENCIES}/{self.calls.index(ref)}"
        return Finding(
            REPEATED, where, f"{what}where no call of it does what they do, submit them again", pointer
        )

    def _callable(self) -> list[str]:
        """Return the sealed modules that the planner could have made dependencies; none if code or a person made it."""
        if self.task.change or any(one.action is Action.REVISE_PLAN for one in self.task.answers):
            return []
        board, retired = task_board(self._factory), self._factory.projection.deprecations
        shipped = (one for one in board.tasks.values() if one.status is TaskStatus.SHIPPED)
        refs = {ref for entry in shipped for ref in entry.module_refs}
        refs |= {one.ref for one in self.planned if self._factory.modules.is_sealed(one.ref)}
        return sorted(
            ref for ref in refs - retired.keys() if ref.partition("@")[0] != self.contract.module_id
        )

    def _quoted(self, said: Mapping[str, str], files: Files, preflight: Preflight) -> list[str]:
        """Report source of the draft in texts that judges will see (design: role-access)."""
        shown = {
            **said,
            "examples.md": files.get("examples.md", b"").decode(errors="replace"),
            "the parameters of tests": "\n".join(preflight.observations),
        }
        return quote_problems(files, self.stub(), shown)

    @property
    def reports(self) -> Sequence[BugReport]:
        """Return the bug reports that every version of the module must satisfy."""
        return reports_of(self._factory, self.contract)

    @property
    def regression_tests(self) -> Sequence[RegressionTest]:
        """Return the falsifying tests of earlier versions that every later one must pass."""
        return required_tests(self._factory, self.contract, self.task.run)

    def tests_to_seal(self, active_tests: Sequence[TriedTest]) -> list[RegressionTest]:
        """Return the falsifying tests to seal with the module: those of earlier versions, and of its debate."""
        criteria = self.task.definition.acceptance_criteria
        return [*self.regression_tests, *as_regression_tests(active_tests, criteria, self.contract.ref)]

    def _candidate(self, files: Files) -> Candidate:
        return candidate(self._factory.modules, self.contract, files)

    @contextmanager
    def _keeping_refused(self, stage: str, preflight: Preflight) -> Generator[None]:
        """Keep the Proposer's last files if no draft of it is accepted (design: sealing)."""
        try:
            yield
        except AnswerError as error:
            scope = self._factory.journal.scope(f"{self.task.run}/{self.name}/unproposed/{stage}")
            name = f"{self.task.run}-{stage}"
            self._factory.drafts.add_refused(
                scope, self.contract, name, preflight.files, error, preflight.refusal(error)
            )
            raise

    def _open_pack(
        self,
        scope: Scope,
        place: Place,
        workspace: Files,
        before: str,
        sources: Sequence[tuple[str, str]],
    ) -> tuple[Invocation, Files, RoleStore]:
        """Write the Proposer's context pack; return the invocation, its files and its artifact store."""
        factory, task = self._factory, self.task
        entries = self._pack_entries(scope, place.stage, workspace, before)
        entries += [PackEntry(ref, Permission.SUMMARY_ONLY, what) for ref, what in sources]
        excluded = [(ref, "no dependency of this module") for ref in self.other_modules()]
        author = place.role, place.run_id
        by = factory.invocations.open(scope, author, task.task_id, task.folder, pack_rows(entries), excluded)
        store = RoleStore(
            factory,
            factory.index,
            by,
            drafts_of=self.artifact_inputs(),
            upstream=() if task.change else self.calls,
            works_on=factory.artifacts.ref(task.folder, before) if before else self.contract_ref,
            stub=self.stub(),
        )
        return by, pack_files(entries), store

    def _pack_entries(self, scope: Scope, stage: str, workspace: Files, before: str) -> list[PackEntry]:
        """Return the pack's entries, by the Proposer's column in the role table (design: role-access)."""
        factory, task = self._factory, self.task
        task_file = {"task.md": factory.folder.read(task.path)}
        surfaces = {ref: factory.modules.surface(ref) for ref in self.calls}
        own = {"contract.json": self.contract.to_bytes(), **workspace}
        entries = [
            PackEntry(task_ref(factory, task), Permission.FULL, "the task", task_file),
            PackEntry(self.contract_ref, Permission.FULL, "the contract to implement", own),
            *dependency_entries(self.calls, surfaces, index_statuses(factory, scope, self.calls)),
            *schema_entries(),
        ]
        if before:
            entries += previous_version(factory, task, before, workspace)
            entries += debate_entries(factory, task, before, amending=stage.startswith("amended"))
        return entries

    def other_modules(self) -> list[str]:
        """Return the modules that could be mistaken for dependencies: the others of the plan, and those of related tasks, as
        they were when the task began."""
        board, own = task_board(self._factory), {self.contract.ref, *self.calls}
        near = {ref for task in neighbours(self._factory, self.task) for ref in board.modules_of(task)}
        return sorted({*(contract.ref for contract in self.planned), *near} - own)

    def _changed_contract(self, version_id: str) -> tuple[str, MicroModuleContract] | None:
        """Return the contract that a version implements, if it is not the locked one (design: debate)."""
        inputs = self._factory.artifacts.envelope(self.task.folder, version_id).inputs
        ref = next((made.ref for made in inputs if made.purpose == Purpose.IMPLEMENTS), self.contract_ref)
        if ref == self.contract_ref:
            return None
        data = self._factory.artifacts.body(self.task.folder, ref.partition("@")[0])["contract.json"]
        return ref, MicroModuleContract.from_bytes(data, ref)

    def _sealed_contract(self) -> tuple[str, MicroModuleContract] | None:
        """Return the last sealed version and its contract; a change or repair begins with its files."""
        ref = version_before(self._factory, self.contract)
        return (ref, self._factory.modules.contract(ref)) if ref else None

    def artifact_inputs(self) -> list[tuple[str, str]]:
        """Return the inputs of its versions, with their purposes."""
        return [(self.contract_ref, Purpose.IMPLEMENTS)]

    def _store(
        self,
        scope: Scope,
        by: Invocation,
        claim: str,
        checks: Sequence[str],
        files: Files,
        before: str,
        preflight: Preflight,
    ) -> Version:
        artifacts, kind = self._factory.artifacts, ArtifactType.IMPLEMENTATION
        inputs = self.artifact_inputs()
        if not before and (sealed := artifact_before(self._factory, self.contract)):
            before = sealed.artifact_id
        made = artifacts.draft(scope, by, kind, files, inputs=inputs, revises=before, contributes=True)
        artifacts.add(scope, made)
        claims = claims_of(files)
        return Version(
            made.envelope.artifact_id,
            by,
            claim,
            checks,
            {name: list(pointers) for name, pointers in claims.items()},
            test_outline(files, claims),
            examples=files.get("examples.md", b"").decode(errors="replace"),
            preflight=preflight.observations,
        )


def _said(answer: ProposerAnswer | AmendmentsAnswer) -> dict[str, str]:
    """Return the texts of a Proposer's answer that judges will see, by field."""
    applied, disclaimed = getattr(answer, "applied", ()), getattr(answer, "contract_at_fault", ())
    notes, faults = [record.note for record in applied], [fault.reason for fault in disclaimed]
    return {
        "claim": answer.claim,
        **{f"acceptance_checks.{i}": text for i, text in enumerate(answer.acceptance_checks)},
        **{f"applied.{i}.note": text for i, text in enumerate(notes)},
        **{f"contract_at_fault.{i}.reason": text for i, text in enumerate(faults)},
    }


def _unaccounted(answer: AmendmentsAnswer, amendments: Sequence[Amendment]) -> list[str]:
    """Report an answer that does not have exactly one record for each amendment."""
    indices = sorted(record.amendment_index for record in answer.applied)
    wanted = list(range(len(amendments)))
    return [] if indices == wanted else [f"applied: one record for each index of {wanted}, got {indices}"]
