"""What the debates over plans and modules said of each criterion: the `acceptance_checks` of their proposals, and what the
Challenger judged (design: debate)."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ship_gate.base.ids import ArtifactType
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.factory import ProjectView
from specwright.application.history.rounds import planned_modules
from specwright.domain.artifacts import Purpose
from specwright.domain.debate.debate import Challenge, Proposal
from specwright.domain.modules.acceptance_report import Reference

_NUMBERED = re.compile(r"\s*(?:criterion\s+)?([0-9]+)\s*[:.)](.*)", re.DOTALL | re.IGNORECASE)
_WORDS = re.compile(r"/[^\s,;]+|[A-Za-z_]\w*")
_TRACED = "R5"
"""The criterion of the rubric by which each acceptance criterion has a test or an output (design: debate)."""


class CriterionCheck(NamedTuple):
    """What a role said shows a criterion.

    Args:
        criterion: Its number.
        module: The name of a module.
        shows: A JSON pointer into its contract, or the name of a test.
        stated_in: Where it was said.
    """

    criterion: int
    module: str
    shows: str
    stated_in: Reference


def read_check(text: str, modules: Sequence[str], own: str = "") -> Iterator[tuple[int, str, str]]:
    """What a check of a proposal names: the number of a criterion, a module, and a statement or a test of it.

    Args:
        text: `2: make_plan /outputs/0/invariants/1`, or `2: test_the_rest_goes_first`; without a number it names none.
        modules: Names that may stand in it.
        own: The module that is meant where none is named.
    """
    found = _NUMBERED.fullmatch(text)
    module = own or (modules[0] if len(modules) == 1 else "")
    for word in _WORDS.findall(found[2]) if found else ():
        if word in modules:
            module = word
        elif module and found and word.startswith(("/", "test_")):
            yield int(found[1]), module, word.rstrip(".)")


class _Planned(NamedTuple):
    """A contract, the plan that it is part of, and the task of the plan."""

    contract: MicroModuleContract
    plan_id: str
    task_id: str


class DebateIndex:
    """The debates of a project, found by what they are about. Everything is read once, when it is first asked for.

    Args:
        view: The project.
    """

    def __init__(self, view: ProjectView) -> None:
        self._view = view

    def checks(
        self, module_ref: str, task_ids: Sequence[str], contracts: Mapping[str, MicroModuleContract]
    ) -> Iterator[CriterionCheck]:
        """What was said of the criteria of a task, over the plan that a module came from and over the module itself.

        A module that the task only reuses has no plan of it, and says nothing of its criteria. What was said of a statement
        that reads otherwise in the sealed contract is left out.

        Args:
            module_ref: `MM-...@x.y.z`, sealed.
            task_ids: The task, or its parts if it was split.
            contracts: The sealed ones of the task's modules, by their names.
        """
        planned = [one for one in self._planned.get(self._debated(module_ref), []) if one.task_id in task_ids]
        for plan_id in dict.fromkeys(one.plan_id for one in planned):
            for named in self._last_checks(plan_id, list(contracts), ""):
                before = self._contract(plan_id, named.module)
                if before is None or before.at(named.shows) == contracts[named.module].at(named.shows):
                    yield named
        if planned and (version_id := self._version(module_ref)):
            yield from self._last_checks(version_id, list(contracts), planned[-1].contract.name)

    def judged_in(self, module_ref: str) -> Reference | None:
        """Where the Challenger judged last whether the tests of a module show the criteria."""
        if not (last := self._last(self._version(module_ref), Challenge)):
            return None
        challenge = Challenge.from_bytes(self._view.store.read(last), last)
        places = [at for at, one in enumerate(challenge.rubric_assessments) if one.criterion == _TRACED]
        return f"{last}#/rubric_assessments/{places[0]}" if places else None

    def _last_checks(self, target: str, names: Sequence[str], own: str) -> Iterator[CriterionCheck]:
        """What the last proposal of a debate says of the criteria."""
        if not (last := self._last(target, Proposal)):
            return
        proposal = Proposal.from_bytes(self._view.store.read(last), last)
        for place, text in enumerate(proposal.acceptance_checks):
            for criterion, module, shows in read_check(text, names, own):
                yield CriterionCheck(criterion, module, shows, f"{last}#/acceptance_checks/{place}")

    def _last(self, target: str, kind: type[Proposal | Challenge]) -> Reference:
        """The last record of a kind in the debate over a plan or an implementation; empty if there is none."""
        debate_id = self._by_version.get(target)
        return self._view.debates.records(debate_id).last_path(kind) if debate_id else ""

    def _contract(self, plan_id: str, name: str) -> MicroModuleContract | None:
        """A contract as the last proposal of a plan has it."""
        return self._contracts.get((plan_id, name))

    def _debated(self, module_ref: str) -> str:
        return self._view.projection.debated_as(module_ref)

    def _version(self, module_ref: str) -> str:
        """The implementation that a module was sealed from."""
        return self._view.modules.evidence(self._debated(module_ref)).journal_ref.rpartition("/")[2]

    @cached_property
    def _planned(self) -> Mapping[str, list[_Planned]]:
        """The contracts of all plans, by the module that each is about, the oldest first."""
        found: defaultdict[str, list[_Planned]] = defaultdict(list)
        for one in planned_modules(self._view):
            for given in one.envelope.inputs:
                if given.ref.startswith(f"{ArtifactType.MICRO_PLAN.prefix}-"):
                    plan_id = given.ref.partition("@")[0]
                    row = _Planned(one.contract, plan_id, self._task_of(plan_id))
                    found[one.contract.ref].append(row)
        return found

    @cached_property
    def _contracts(self) -> Mapping[tuple[str, str], MicroModuleContract]:
        rows = (one for rows in self._planned.values() for one in rows)
        return {(one.plan_id, one.contract.name): one.contract for one in rows}

    def _task_of(self, plan_id: str) -> str:
        envelope = self._view.artifacts.envelope(self._folders[plan_id], plan_id)
        tasks = [given.ref for given in envelope.inputs if given.purpose == Purpose.PLANS]
        return tasks[0].partition("@")[0] if tasks else ""

    @cached_property
    def _folders(self) -> dict[str, str]:
        return self._view.artifacts.folders()

    @cached_property
    def _by_version(self) -> dict[str, str]:
        return self._view.debates.by_version()
