"""A person's plan: which modules there shall be, and who calls whom (F§17.2, D16).

Names and edges stay as the person gave them, whoever fills in or corrects the contracts. Read here from either form,
and held against a planner's answer; what the modules do is not looked at.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from specwright.domain.contract import ModuleName
from specwright.domain.contract_rules import module_name_problem
from specwright.domain.debate import CONTRACTS
from specwright.domain.dependency_cycles import describe_cycle, find_cycles
from specwright.domain.micro_plan import TAKEN, KnownModules
from specwright.domain.plan_answers import PlanAnswer
from specwright.domain.resolutions import ShortModule

__all__ = ["GivenModule", "given_by", "given_problems", "read_short"]

_MODULE_ID = re.compile(r"MM-[0-9a-f]{8}")
_NAME = TypeAdapter(ModuleName)


class GivenModule(NamedTuple):
    """A module that a person wants.

    Args:
        name: In the plan.
        depends_on: Names of modules of the plan, or what stands for a sealed one.
        description: What it is for; empty where its contract says so.
        module_id: `MM-...` where the person named one.
    """

    name: str
    depends_on: tuple[str, ...]
    description: str = ""
    module_id: str = ""

    @property
    def line(self) -> str:
        """As the planner is told it."""
        calls = f"calls {', '.join(self.depends_on)}" if self.depends_on else "calls no other module"
        return f"- `{self.name}`, which {calls}: {self.description}"


def given_by(answer: PlanAnswer) -> list[GivenModule]:
    """The modules of a plan in full form."""
    return [GivenModule(m.name, tuple(d.module for d in m.depends_on)) for m in answer.modules]


def read_short(
    modules: Sequence[ShortModule], names: Mapping[str, str], known: KnownModules
) -> tuple[list[GivenModule], list[str]]:
    """A plan in short form, and what is wrong with it.

    Args:
        modules: As they were given.
        names: Of the modules that there are, by `MM-...`.
        known: Sealed modules.
    """
    named = [_name(module, names) for module in modules]
    by_id = {module.module_id: name for module, name in zip(modules, named, strict=True)}
    given = [
        GivenModule(
            name,
            tuple(_target(text, by_id) for text in module.depends_on),
            module.description,
            module.module_id if _MODULE_ID.fullmatch(module.module_id) else "",
        )
        for module, name in zip(modules, named, strict=True)
    ]
    return given, [*_name_problems(modules, given, names), *_edge_problems(given, known)]


def given_problems(answer: PlanAnswer, given: Sequence[GivenModule], known: KnownModules) -> list[str]:
    """Where a planner's answer leaves the plan that a person gave: other modules, other edges."""
    wanted, made = {m.name: m for m in given}, {m.name: m for m in answer.modules}
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
            told = ", ".join(sorted(should)) or "nothing"
            problems.append(
                f"modules.{i}.depends_on: in the plan that was given {module.name} depends on {told}"
            )
    return sorted(problems)


def _resolved(text: str, own: Mapping[str, object], known: KnownModules) -> str:
    return text if text in own else known.resolve(text) or text


def _name(module: ShortModule, names: Mapping[str, str]) -> str:
    """The name that was given, that of the module which is meant, or the id read as a name."""
    read_as = module.module_id.strip().removeprefix("MM-").lower().replace("-", "_").replace(" ", "_")
    return module.name or names.get(module.module_id) or read_as


def _target(text: str, by_id: Mapping[str, str]) -> str:
    return by_id.get(text) or by_id.get(text.partition("@")[0]) or text


def _name_problems(
    modules: Sequence[ShortModule], given: Sequence[GivenModule], names: Mapping[str, str]
) -> Iterator[str]:
    seen: set[str] = set()
    for i, (module, read) in enumerate(zip(modules, given, strict=True)):
        known = names.get(read.module_id)
        if read.name in seen:
            yield f"{i}: the module {read.name!r} stands twice in the plan"
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


def _edge_problems(given: Sequence[GivenModule], known: KnownModules) -> Iterator[str]:
    edges = {module.name: module.depends_on for module in given}
    for i, module in enumerate(given):
        for text in module.depends_on:
            if text not in edges and known.resolve(text) is None:
                yield f"{i}.depends_on: {text!r} is neither a module of this plan nor a shipped one"
    if cycle := next(find_cycles(edges), None):
        yield f"the modules would wait for each other in a circle: {describe_cycle(cycle)}"
