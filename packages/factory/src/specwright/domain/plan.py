"""The micro plan: the modules of a task and their order (design: planning).

A planner answers with local names (design: ids). This module checks the answer and assigns ids; the result is the plan
with its contracts.

It also reads a person's plan in either form, and checks that the planner, who fills in the contracts, keeps its names and
dependencies (design: escalation, planning).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import Annotated, NamedTuple, Self

from pydantic import Field, TypeAdapter, ValidationError

from ship_gate.base.ids import ArtifactId, ModuleId, ModuleRef
from ship_gate.base.record import Record, Text
from ship_gate.contract.contract import DIMENSIONS, Dependency, Effect, MicroModuleContract, ModuleName
from ship_gate.contract.rules import module_name_problem
from specwright.domain.answers import (
    PlanAnswer,
    PlannedModule,
    ReuseAnswer,
    ReuseCandidate,
    ReuseConclusion,
)
from specwright.domain.base.graph import dependents, describe_cycle, find_cycles
from specwright.domain.debate.records import CONTRACTS
from specwright.domain.escalation import ShortModule
from specwright.domain.modules.code_index import io_summary

TAKEN = f"{CONTRACTS!r} is what the debate over a plan's contracts is called; choose another name"
"""The message about a module with that name."""


class PlanIoContract(Record):
    """The five dimensions in a plan; an empty one says why (design: contracts)."""

    inputs: Annotated[list[str], Field(min_length=1)]
    outputs: Annotated[list[str], Field(min_length=1)]
    error_surfaces: Annotated[list[str], Field(min_length=1)]
    effects: Annotated[list[str], Field(min_length=1)]
    modes: Annotated[list[str], Field(min_length=1)]


class PlanModule(Record):
    """A module of the plan (design: planning)."""

    module_id: ModuleId
    name: str
    purpose: Text
    io_contract: PlanIoContract
    error_cases: list[Text]
    depends_on: list[str]
    reuse_candidate_refs: list[str]
    reuse_decision: Annotated[str, Field(pattern=r"^(REUSE|CREATE_NEW)$")]
    reuse_justification: Text


class MicroPlan(Record):
    """A validated plan; it is locked with its contracts and never changes (design: planning, debate)."""

    micro_plan_id: ArtifactId
    parent_task_ref: str
    modules: Annotated[list[PlanModule], Field(min_length=1, max_length=20)]
    task_facing: str
    """The name of the module that the task's users call (design: engineering)."""


class ReuseSearchReport(Record):
    """A search of the Code Index, and its conclusion: create the module, or use an existing one (design: code-index)."""

    query: Text
    candidates_considered: list[ReuseCandidate]
    conclusion: ReuseConclusion
    justification: Text

    @classmethod
    def of(cls, answer: ReuseAnswer) -> Self:
        """Build the report from a planner's answer."""
        return cls.model_validate(answer.model_dump(exclude={"reuse_ref"}))


class KnownModules(NamedTuple):
    """The sealed modules that a plan may refer to.

    Args:
        by_name: The active modules, by name.
        refs: All references; a deprecated module may still be named explicitly (design: deprecation).
        retired: The statuses of modules that are no longer active, by reference.
        own: Modules that this plan has already sealed, by reference; the plan refers to them by name.
        in_product: The retired modules that tasks still use, by name, because a release can import each name only once.
    """

    by_name: Mapping[str, str]
    refs: frozenset[str]
    retired: Mapping[str, str] = MappingProxyType({})
    own: frozenset[str] = frozenset()
    in_product: Mapping[str, str] = MappingProxyType({})

    def resolve(self, text: str) -> str | None:
        """Return the `MM-...@x.y.z` of a name or reference, or None."""
        return text if text in self.refs else self.by_name.get(text)

    def without(self, own: Mapping[str, str]) -> "KnownModules":
        """Return the known modules without those that a plan has sealed, given as references by name."""
        if not own:
            return self
        by_name, in_product = (
            {name: ref for name, ref in named.items() if name not in own}
            for named in (self.by_name, self.in_product)
        )
        refs, given = self.refs - set(own.values()), self.own | set(own.values())
        return self._replace(by_name=by_name, refs=refs, own=given, in_product=in_product)


def plan_problems(answer: PlanAnswer, known: KnownModules) -> list[str]:
    """Report the problems of a plan beyond its schema, one line each with path and value (design: planning)."""
    names = [module.name for module in answer.modules]
    problems = [
        f"modules.{i}.name: {name!r} occurs twice in the plan"
        for i, name in enumerate(names)
        if name in names[:i]
    ]
    problems += [
        f"modules.{i}.name: {m.name!r} is the name of a shipped module; reuse it, or choose another name"
        for i, m in enumerate(answer.modules)
        if m.name in known.by_name and m.reuse.conclusion is ReuseConclusion.CREATE_NEW
    ]
    problems += [
        f"modules.{i}.name: {m.name!r} is the name of {ref}, which is {known.retired[ref]} and still part of the "
        "product; choose another name"
        for i, m in enumerate(answer.modules)
        if m.name not in known.by_name
        and (ref := known.in_product.get(m.name))
        and m.reuse.conclusion is ReuseConclusion.CREATE_NEW
    ]
    if CONTRACTS in names:
        problems.append(f"modules.{names.index(CONTRACTS)}.name: {TAKEN}")
    if answer.task_facing is not None and answer.task_facing not in names:
        problems.append(f"task_facing: {answer.task_facing!r} is no module of this plan")
    for i, module in enumerate(answer.modules):
        problems += _module_problems(i, module, frozenset(names), known)
    try:
        _order({m.name: [d.module for d in m.depends_on if d.module in names] for m in answer.modules})
    except CycleError as error:
        problems.append(f"modules: the dependencies form a cycle: {' -> '.join(error.args[1])}")
    return problems


def _module_problems(
    i: int, module: PlannedModule, names: frozenset[str], known: KnownModules
) -> Iterable[str]:
    for j, dependency in enumerate(module.depends_on):
        if dependency.module not in names and known.resolve(dependency.module) is None:
            yield (
                f"modules.{i}.depends_on.{j}.module: {dependency.module!r} is neither a module of this plan "
                "nor a shipped one"
            )
    reuse = module.reuse
    for j, candidate in enumerate(reuse.candidates_considered):
        if candidate.module_ref not in {*names, *known.own} and known.resolve(candidate.module_ref) is None:
            yield (
                f"modules.{i}.reuse.candidates_considered.{j}.module_ref: {candidate.module_ref!r} is not in the "
                "Code Index; name what a search found, or leave it out"
            )
    if reuse.reuse_ref is not None and reuse.reuse_ref not in known.refs:
        yield f"modules.{i}.reuse.reuse_ref: {reuse.reuse_ref!r} is not in the Code Index"


def unanswered(answer: PlanAnswer, shown: Mapping[str, str]) -> list[str]:
    """Report sealed modules that the request named and that the plan neither uses nor gives a reason against (design:
    planning). `shown` maps references to names."""
    said = {
        name
        for module in answer.modules
        for name in (
            module.name,
            module.reuse.reuse_ref,
            *(dependency.module for dependency in module.depends_on),
            *(candidate.module_ref for candidate in module.reuse.candidates_considered),
        )
    }
    return [
        f"modules: nothing is said of {name}, {ref}, which your request names; call it, or say in the "
        "`candidates_considered` of one module why not"
        for ref, name in shown.items()
        if said.isdisjoint((name, ref))
    ]


def sealed_problems(
    drafts: Mapping[str, MicroModuleContract], sealed: Mapping[str, MicroModuleContract]
) -> list[str]:
    """Report sealed modules whose contract a reopened plan would change or drop (design: debate). Both mappings are by
    name."""
    problems: list[str] = []
    for name, contract in sealed.items():
        if name not in drafts:
            problems.append(f"modules: {name} is sealed; keep it in the plan unchanged, as CREATE_NEW")
            continue
        was, now = contract.to_json(), drafts[name].to_json()
        if changed := [field for field in was if was[field] != now[field]]:
            problems.append(f"modules.{name}: it is sealed; keep {', '.join(changed)} as before")
    return problems


def assign(
    answer: PlanAnswer,
    plan_id: str,
    task_ref: str,
    known: KnownModules,
    new_module_id: Callable[[], str],
    known_refs: Mapping[str, str] = MappingProxyType({}),
) -> tuple[MicroPlan, dict[str, MicroModuleContract]]:
    """Assign ids to a plan (design: ids).

    Args:
        answer: The planner's answer, without problems.
        plan_id: `MP-...`.
        task_ref: `T-...@x.y.z`, the task and the version of its spec.
        known: The sealed modules.
        new_module_id: Draws an unused `MM-...`.
        known_refs: References that modules already have, by name.

    Returns:
        The plan, and the draft contract of each new module, by name.
    """
    refs = {
        m.name: m.reuse.reuse_ref or known_refs.get(m.name) or f"{new_module_id()}@1.0.0"
        for m in answer.modules
    }
    contracts: dict[str, MicroModuleContract] = {}
    modules: list[PlanModule] = []
    for module in answer.modules:
        depends_on = [refs.get(d.module) or known.resolve(d.module) or d.module for d in module.depends_on]
        contract = _contract(module, refs[module.name], depends_on)
        modules.append(_plan_module(module, refs[module.name], depends_on, contract))
        if module.reuse.reuse_ref is None:
            contracts[module.name] = contract
    order = _order({m.name: [d.module for d in m.depends_on if d.module in refs] for m in answer.modules})
    plan = MicroPlan(
        micro_plan_id=plan_id,
        parent_task_ref=task_ref,
        modules=modules,
        task_facing=answer.task_facing or _last_sink(answer, order),
    )
    return plan, contracts


def execution_order(plan: MicroPlan) -> list[str]:
    """Return the modules' names in topological order, those without dependencies in the plan first (design: planning)."""
    edges = _calls(plan)
    roots = [name for name, called in edges.items() if not called]
    return [*roots, *(name for name in _order(edges) if name not in roots)]


def downstream(plan: MicroPlan, failed: Iterable[str]) -> set[str]:
    """Return the modules that depend on a failed one, directly or indirectly; they are given up (design: engineering)."""
    return set(dependents([*failed], _calls(plan)))


def _calls(plan: MicroPlan) -> dict[str, list[str]]:
    """Return the modules of the plan that each module calls, by name."""
    by_ref = {m.module_id: m.name for m in plan.modules}
    return {
        m.name: [
            by_ref[ref.module_id] for ref in map(ModuleRef.parse, m.depends_on) if ref.module_id in by_ref
        ]
        for m in plan.modules
    }


def _order(edges: Mapping[str, list[str]]) -> list[str]:
    sorter = TopologicalSorter(edges)
    sorter.prepare()
    position = {name: i for i, name in enumerate(edges)}
    order: list[str] = []
    waiting: list[str] = []
    while sorter.is_active():
        waiting = sorted([*waiting, *sorter.get_ready()], key=position.__getitem__)
        name = waiting.pop(0)
        order.append(name)
        sorter.done(name)
    return order


def _last_sink(answer: PlanAnswer, order: list[str]) -> str:
    used = {d.module for m in answer.modules for d in m.depends_on}
    return next((name for name in reversed(order) if name not in used), order[-1])


def _plan_module(
    module: PlannedModule, ref: str, depends_on: list[str], contract: MicroModuleContract
) -> PlanModule:
    return PlanModule(
        module_id=ModuleRef.parse(ref).module_id,
        name=module.name,
        purpose=module.purpose,
        io_contract=_io_contract(module, contract),
        error_cases=module.error_cases,
        depends_on=depends_on,
        reuse_candidate_refs=[c.module_ref for c in module.reuse.candidates_considered]
        + ([module.reuse.reuse_ref] if module.reuse.reuse_ref else []),
        reuse_decision="CREATE_NEW" if module.reuse.reuse_ref is None else "REUSE",
        reuse_justification=module.reuse.justification,
    )


def _io_contract(module: PlannedModule, contract: MicroModuleContract) -> PlanIoContract:
    summary = io_summary(contract).to_json()
    empty = {name: [said] for name in DIMENSIONS if isinstance(said := getattr(module, name), str)}
    return PlanIoContract.model_validate(summary | empty)


def _contract(module: PlannedModule, ref: str, depends_on: list[str]) -> MicroModuleContract:
    module_ref = ModuleRef.parse(ref)
    return MicroModuleContract(
        module_id=module_ref.module_id,
        module_version=module_ref.version,
        name=module.name,
        purpose=module.purpose,
        tags=list(module.tags),
        inputs=[] if isinstance(module.inputs, str) else module.inputs,
        outputs=[] if isinstance(module.outputs, str) else module.outputs,
        error_surfaces=[] if isinstance(module.error_surfaces, str) else module.error_surfaces,
        effects=[]
        if isinstance(module.effects, str)
        else [Effect.model_validate(e.to_json()) for e in module.effects],
        modes=module.modes,
        error_cases=list(module.error_cases),
        dependencies=[
            Dependency(ref=target, why=d.why) for target, d in zip(depends_on, module.depends_on, strict=True)
        ],
        runtime_budgets=module.runtime_budgets,
    )


_MODULE_ID = re.compile(r"MM-[0-9a-f]{8}")
_NAME = TypeAdapter(ModuleName)


class HumanModule(NamedTuple):
    """A module of a person's plan.

    Args:
        name: Its name in the plan.
        depends_on: Names of the plan's modules, and names or references of sealed ones.
        description: Its purpose; empty if there is a contract.
        module_id: `MM-...`, if the person gave one.
    """

    name: str
    depends_on: tuple[str, ...]
    description: str = ""
    module_id: str = ""

    @property
    def line(self) -> str:
        """The module's line in the planner's request."""
        calls = f"calls {', '.join(self.depends_on)}" if self.depends_on else "calls no other module"
        return f"- `{self.name}`, which {calls}: {self.description}"


def modules_of(answer: PlanAnswer) -> list[HumanModule]:
    """Return the modules of a plan in full form."""
    return [HumanModule(m.name, tuple(d.module for d in m.depends_on)) for m in answer.modules]


def read_short(
    modules: Sequence[ShortModule], names: Mapping[str, str], known: KnownModules
) -> tuple[list[HumanModule], list[str]]:
    """Return the modules of a plan in short form, and its problems.

    Args:
        modules: The plan.
        names: The names of existing modules, by `MM-...`.
        known: The sealed modules.
    """
    named = [_name(module, names) for module in modules]
    by_id = {module.module_id: name for module, name in zip(modules, named, strict=True)}
    plan = [
        HumanModule(
            name,
            tuple(_target(text, by_id) for text in module.depends_on),
            module.description,
            module.module_id if _MODULE_ID.fullmatch(module.module_id) else "",
        )
        for module, name in zip(modules, named, strict=True)
    ]
    return plan, [*_name_problems(modules, plan, names), *_edge_problems(plan, known)]


def deviations(answer: PlanAnswer, plan: Sequence[HumanModule], known: KnownModules) -> list[str]:
    """Report modules and dependencies in which a planner's answer deviates from a person's plan."""
    wanted, made = {m.name: m for m in plan}, {m.name: m for m in answer.modules}
    problems = [
        f"modules: {name!r} is part of the plan that was given; add it" for name in wanted.keys() - made
    ]
    problems += [
        f"modules.{i}.name: {m.name!r} is not part of the plan that was given; leave it out"
        for i, m in enumerate(answer.modules)
        if m.name not in wanted
    ]
    for i, module in enumerate(answer.modules):
        if module.name not in wanted:
            continue
        should = {_resolved(text, wanted, known) for text in wanted[module.name].depends_on}
        does = {_resolved(d.module, wanted, known) for d in module.depends_on}
        if should != does:
            expected = ", ".join(sorted(should)) or "nothing"
            problems.append(
                f"modules.{i}.depends_on: in the plan that was given {module.name} depends on {expected}"
            )
    return sorted(problems)


def _resolved(text: str, own: Mapping[str, object], known: KnownModules) -> str:
    return text if text in own else known.resolve(text) or text


def _name(module: ShortModule, names: Mapping[str, str]) -> str:
    """Return the given name, else that of the module with the id, else the id read as a name."""
    read_as = module.module_id.strip().removeprefix("MM-").lower().replace("-", "_").replace(" ", "_")
    return module.name or names.get(module.module_id) or read_as


def _target(text: str, by_id: Mapping[str, str]) -> str:
    return by_id.get(text) or by_id.get(text.partition("@")[0]) or text


def _name_problems(
    modules: Sequence[ShortModule], plan: Sequence[HumanModule], names: Mapping[str, str]
) -> Iterator[str]:
    seen: set[str] = set()
    for i, (module, read) in enumerate(zip(modules, plan, strict=True)):
        known = names.get(read.module_id)
        if read.name in seen:
            yield f"{i}: the module {read.name!r} occurs twice in the plan"
        elif read.module_id and not known and not module.name:
            yield f"{i}.name: {read.module_id} is no module yet; say what it is called"
        elif known and read.name != known:
            yield f"{i}.name: {read.module_id} is called {known!r}, not {read.name!r}"
        else:
            try:
                _NAME.validate_python(read.name)
            except ValidationError:
                yield f"{i}.module_id: {module.module_id!r} cannot be read as a snake_case name; give `name`"
            if taken := TAKEN if read.name == CONTRACTS else module_name_problem(read.name):
                yield f"{i}.name: {taken}"
        seen.add(read.name)


def _edge_problems(plan: Sequence[HumanModule], known: KnownModules) -> Iterator[str]:
    edges = {module.name: module.depends_on for module in plan}
    for i, module in enumerate(plan):
        for text in module.depends_on:
            if text not in edges and known.resolve(text) is None:
                yield f"{i}.depends_on: {text!r} is neither a module of this plan nor a shipped one"
    if cycle := next(find_cycles(edges), None):
        yield f"the dependencies form a cycle: {describe_cycle(cycle)}"
