"""`{task_id}.md`: the task file that the engineering loop reads, from its template (design: ids, project-loop).

At init its section Dependency Contracts is written from the sketches of the upstream tasks, at dispatch from the contracts
and examples of the shipped modules.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from ship_gate.base.markdown_text import fenced, printable
from ship_gate.contract.contract_text import text_for_callers
from ship_gate.contract.examples_file import examples_in_short
from specwright.application.rendering import page
from specwright.domain.spec.acceptance_text import task_acceptance
from specwright.domain.spec.product_spec import DIMENSION_LABELS
from specwright.domain.tasks.task_file import ShippedDependency, TaskDefinition
from specwright.errors import InputError

_CASE_END = re.compile(r";\s+|\n+")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")


def render_at_init(definition: TaskDefinition, definitions: Mapping[str, TaskDefinition]) -> str:
    """The task file with Dependency Contracts from the sketches of the upstream tasks (design: project-loop).

    Args:
        definitions: By task id; at least those of the dependencies.
    """
    return _render(definition, sketched=[definitions[task_id] for task_id in definition.depends_on])


def render_at_dispatch(definition: TaskDefinition, shipped: Iterable[ShippedDependency]) -> str:
    """The task file with Dependency Contracts from what the dependencies shipped (design: project-loop).

    Raises:
        InputError: a dependency without a shipped contract, or a contract without examples.
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
    """The cases of an `error_surfaces` sketch: its lines, and what semicolons separate."""
    cases = [_BULLET.sub("", part).strip() for part in _CASE_END.split(surfaces)]
    return [case for case in cases if printable(case)]
