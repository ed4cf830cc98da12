"""The pages of a product spec and of a task, for the approval and for the roles (design: product-spec, project-loop).

`product/spec.md` has the product's behaviour, its departures from SPEC.md, and each task with signatures, criteria and
folded examples; `spec_in_full.md` has every field. `{task_id}.md` is the task file of the engineering loop. Its section
Dependency Contracts comes from the sketches of the upstream tasks at init, and from the contracts and examples of the
shipped modules at dispatch.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from itertools import islice
from typing import Any, cast

from ship_gate.base.text import fenced, inline, printable
from ship_gate.contract.examples import examples_in_short
from ship_gate.contract.statements import text_for_callers
from specwright.application.rendering import page, rendered
from specwright.domain.acceptance.records import name_of
from specwright.domain.base.slugs import slugify
from specwright.domain.interfaces.records import (
    OTHER_ERRORS,
    CommandWord,
    ConsoleCommand,
    FunctionUse,
    Interfaces,
    PublicFunction,
    function_of_signature,
    started,
    words_of,
)
from specwright.domain.interfaces.rules import (
    exit_condition,
    method_of,
    option_name,
    parameters_of_route,
    parameters_of_tool,
    status_of,
)
from specwright.domain.spec.acceptance_text import (
    FORM,
    as_session,
    criteria,
    examples_as_code,
    number_of_examples,
    sentences,
    summary,
    task_acceptance,
    tasks_of,
)
from specwright.domain.spec.completeness import Deficiency, in_words
from specwright.domain.spec.product_spec import (
    DIMENSION_LABELS,
    ProductSpec,
    ProductSpecDraft,
    TaskSpec,
    decisions_of,
    departures,
)
from specwright.domain.tasks.task_file import ShippedDependency, TaskDefinition
from specwright.errors import InputError
from specwright.ports import ResearchSource


def spec_page(
    spec: ProductSpecDraft,
    warnings: Sequence[Deficiency] = (),
    sources: Sequence[ResearchSource] = (),
    allowed_packages: Sequence[str] = (),
    changes: Sequence[str] = (),
    affected: Sequence[str] = (),
    *,
    costs: str = "",
) -> str:
    """Render `product/spec.md`.

    Args:
        spec: The spec.
        warnings: The warnings of the final validation, which do not block the approval.
        sources: The researcher's sources, in order.
        allowed_packages: Third-party packages that the project's settings allow (design: contracts).
        changes: The difference from the version shown before, as a patch.
        affected: The tasks and modules that a change affects, a line each.
        costs: The estimated cost of the build, as text; empty if it is unknown or all answers are scripted.
    """
    data, tasks = spec.to_json(), list(spec.tasks())
    made = rendered(
        "spec.md",
        spec=spec,
        tasks=tasks,
        outside=departures(spec.outside, ()),
        decided=departures((), decisions_of(spec)),
        summary=summary(spec),
        started=started(spec.interfaces),
        guide=_guide(spec),
        warnings=[in_words(data, one) for one in warnings],
        sources=sources,
        packages=[printable(one) for one in allowed_packages],
        changes=changes,
        affected=affected,
        costs=costs,
        as_block=fenced,
        criteria=criteria,
        public_names=public_names,
        number_of_examples=number_of_examples,
        examples_as_code=examples_as_code,
    )
    return f"{made}\n"


def full_spec_page(spec: ProductSpecDraft) -> str:
    """Render `product/spec_in_full.md`: every field of the spec as nested lists."""
    return "\n".join((f"# {printable(spec.title)}: the spec in full", "", *_outline(spec.to_json()), ""))


def acceptance_file(spec: ProductSpecDraft) -> str:
    """Render all examples and properties as a file for a person to edit; `read_acceptance` parses it."""
    return page(
        "acceptance_file.md",
        spec=spec,
        tasks=spec.tasks(),
        form=FORM,
        sentences=sentences,
        as_block=fenced,
    )


def spec_patch(before: ProductSpec, after: ProductSpec) -> list[str]:
    """Return the difference of two specs as the lines of a patch: criteria and examples by task, then signatures, then
    interfaces, decisions and all other fields. Empty if there is none. Lists have no numbers, because a new item would
    change all numbers after it."""
    names = {task.task_id: printable(task.name) for spec in (before, after) for task in spec.tasks()}
    lines: list[str] = []
    for place, (was, now) in enumerate(
        zip(*(_passages(spec, names) for spec in (before, after)), strict=True)
    ):
        around = 0 if place else 1  # shows the call of an example whose value changed
        for heading in dict.fromkeys((*now, *was)):
            found = unified_diff(was.get(heading, []), now.get(heading, []), lineterm="", n=around)
            if changed := [line for line in islice(found, 2, None) if not line.startswith("@@")]:
                lines += [f"@@ {heading} @@", *changed]
    return lines


def _passages(spec: ProductSpec, names: Mapping[str, str]) -> Iterator[dict[str, list[str]]]:
    """Yield the content of a spec as lines below headings: behaviour, signatures, interfaces, decisions, other fields."""
    data = spec.to_json()
    behaviour, others = dict[str, list[str]](), dict[str, list[str]]()
    for task, fields in zip(spec.tasks(), tasks_of(data), strict=True):
        name = f"{task.task_id} {names[task.task_id]}"
        behaviour[name] = [re.sub(r"^\d+\.", "-", one) for one in criteria(task).splitlines()]
        for item in task.acceptance.items if task.acceptance else ():
            behaviour[f"{name}: {printable(item.title)}"] = [sentences(item), *as_session(item, item.code)]
        others[f"{name}, its other fields"] = [*_outline({f: fields[f] for f in fields if f not in _SHOWN})]
        for field in [*fields][1:]:  # the id stays: a task may move
            del fields[field]
    yield behaviour
    yield {"Public names": [line for task in spec.tasks() for line in public_names(task)]}
    yield {"How it is used": [f"To start: {printable(started(spec.interfaces))}", *_guide(spec).splitlines()]}
    yield {
        one.heading: [f"- {inline(line)}" for line in one.lines]
        for one in departures(spec.outside, decisions_of(spec))
    }
    for name in ("updated_at", "outside", "interfaces"):
        data.pop(name, None)
    yield {**others, printable(spec.title): [*_outline(data)]}


_SHOWN = ("task_id", "acceptance_criteria", "acceptance", "decisions")


def _outline(data: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Yield every field of a record as a nested list."""
    for name, value in data.items():
        label = f"{indent}- {name.replace('_', ' ')}:"
        if not isinstance(value, list | dict):
            yield f"{label} {'none' if value in (None, '') else inline(str(value))}"
            continue
        items: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [value]
        yield label if value else f"{label} none"
        for one in items:
            if isinstance(one, dict):
                yield from _outline(cast("dict[str, Any]", one), f"{indent}  ")
            elif one is not None:
                yield f"{indent}  - {inline(str(one))}"


def _guide(spec: ProductSpecDraft) -> str:
    """Render all interfaces of a spec; empty if there are none."""
    provided = [one for task in spec.tasks() if task.acceptance for one in task.acceptance.provides]
    functions = {name_of(one): function for one in provided if (function := function_of_signature(one))}
    return interface_guide(spec.interfaces, functions, slugify(spec.title)) if spec.interfaces else ""


def public_names(task: TaskSpec) -> list[str]:
    """Return the public names of a task in the form of Python definitions."""
    provided = task.acceptance.provides if task.acceptance else ()
    return [f"{'def' if '(' in one else 'class'} {printable(one)}" for one in provided]


def interface_guide(
    interfaces: Interfaces, functions: Mapping[str, PublicFunction], distribution: str
) -> str:
    """Render all interfaces, as far as their functions are known.

    Args:
        interfaces: The interfaces.
        functions: The known functions, by name.
        distribution: The product's distribution name.
    """
    guide = rendered(
        "interfaces.md",
        interfaces=interfaces,
        functions=functions,
        distribution=distribution,
        synopsis=_synopsis,
        errors_of=_errors,
        types_of=_types,
        words_of=words_of,
        exit_condition=exit_condition,
        method_of=method_of,
        option_name=option_name,
        parameters_of_route=parameters_of_route,
        parameters_of_tool=parameters_of_tool,
        status_of=status_of,
        other_errors=OTHER_ERRORS,
    )
    return f"{guide}\n"


def _synopsis(command: ConsoleCommand, use: FunctionUse, words: Sequence[CommandWord]) -> str:
    """Format a command or subcommand on one line: `linkwatch scan DIR [--limit INT] [--json]`."""
    shown = {
        place: [one.synopsis for one in words if one.place == place]
        for place in ("argument", "option", "stdin")
    }
    return " ".join((command.line(use), *shown["argument"], *shown["option"], "[--json]", *shown["stdin"]))


def _errors(use: FunctionUse, function: PublicFunction) -> dict[str, int]:
    """Return the exit codes of errors by name: of the declared ones, or else of those that the interface states."""
    stated = {name: code for name, code in use.errors.items() if name != OTHER_ERRORS}
    return {name: use.error_code(name) for name in function.errors} or stated


def _types(uses: Sequence[FunctionUse], functions: Mapping[str, PublicFunction]) -> dict[str, str]:
    """Return the types of parameters by name, each from the first function that has it."""
    called = [functions[one.calls] for one in uses if one.calls in functions]
    return {one.name: one.type for function in reversed(called) for one in reversed(function.parameters)}


_CASE_END = re.compile(r";\s+|\n+")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")


def render_at_init(definition: TaskDefinition, definitions: Mapping[str, TaskDefinition]) -> str:
    """Render the task file with Dependency Contracts from the sketches of the upstream tasks (design: project-loop).

    Args:
        definition: The task.
        definitions: The definitions of at least its dependencies, by task id.
    """
    return _render(definition, sketched=[definitions[task_id] for task_id in definition.depends_on])


def render_at_dispatch(definition: TaskDefinition, shipped: Iterable[ShippedDependency]) -> str:
    """Render the task file with Dependency Contracts from the modules of the shipped dependencies (design: project-loop).

    Raises:
        InputError: a dependency has no shipped contract, or a contract has no examples.
    """
    modules = list(shipped)
    covered = {module.dependency for module in modules if module.examples.strip()}
    if missing := [task_id for task_id in definition.depends_on if task_id not in covered]:
        raise InputError(
            f"the task {definition.task_id} ({printable(definition.name)}) lacks the contract or the examples of "
            f"{', '.join(missing)}",
            where=definition.path,
            remedy="`specwright verify` says whether the shipped module is damaged",
        )
    return _render(definition, shipped=modules)


def _render(
    definition: TaskDefinition,
    sketched: Sequence[TaskDefinition] = (),
    shipped: Sequence[ShippedDependency] = (),
) -> str:
    return page(
        "task_file.md",
        task=definition,
        examples=task_acceptance(definition.acceptance) if definition.acceptance else "",
        dimensions=DIMENSION_LABELS,
        sketched=sketched,
        shipped=shipped,
        error_cases=_error_cases(definition.io_contract_sketch.error_surfaces),
        as_block=fenced,
        text_for_callers=text_for_callers,
        examples_in_short=examples_in_short,
    )


def _error_cases(surfaces: str) -> list[str]:
    """Split an `error_surfaces` sketch into cases, at line ends and semicolons."""
    cases = [_BULLET.sub("", part).strip() for part in _CASE_END.split(surfaces)]
    return [case for case in cases if printable(case)]
