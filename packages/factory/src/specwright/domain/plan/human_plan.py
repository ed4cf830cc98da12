"""A person's plan: its modules and their dependencies (design: escalation, planning).

Names and dependencies stay as the person wrote them when a planner fills in or corrects the contracts. This module reads
either form and compares it with a planner's answer; it ignores what the modules do.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from ship_gate.contract.contract import ModuleName
from ship_gate.contract.rules import module_name_problem
from specwright.domain.answers.plan_answers import PlanAnswer
from specwright.domain.base.graph import describe_cycle, find_cycles
from specwright.domain.debate.debate import CONTRACTS
from specwright.domain.escalation.resolutions import ShortModule
from specwright.domain.plan.micro_plan import TAKEN, KnownModules

_MODULE_ID = re.compile(r"MM-[0-9a-f]{8}")
_NAME = TypeAdapter(ModuleName)


class HumanModule(NamedTuple):
    """A module that a person wants.

    Args:
        name: In the plan.
        depends_on: Names of modules of the plan; names or references of sealed ones.
        description: What it is for; empty where there is a contract.
        module_id: `MM-...` where the person named one.
    """

    name: str
    depends_on: tuple[str, ...]
    description: str = ""
    module_id: str = ""

    @property
    def line(self) -> str:
        """The line about it in the planner's request."""
        calls = f"calls {', '.join(self.depends_on)}" if self.depends_on else "calls no other module"
        return f"- `{self.name}`, which {calls}: {self.description}"


def modules_of(answer: PlanAnswer) -> list[HumanModule]:
    """The modules of a plan in full form."""
    return [HumanModule(m.name, tuple(d.module for d in m.depends_on)) for m in answer.modules]


def read_short(
    modules: Sequence[ShortModule], names: Mapping[str, str], known: KnownModules
) -> tuple[list[HumanModule], list[str]]:
    """The modules of a plan in short form, and its problems.

    Args:
        names: Of the existing modules, by `MM-...`.
        known: Sealed modules.
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
    """Where a planner's answer deviates from a person's plan: other modules, other dependencies."""
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
    """The name in the plan, else that of the module with the id, else the id read as a name."""
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
        yield f"the modules would wait for each other in a circle: {describe_cycle(cycle)}"
