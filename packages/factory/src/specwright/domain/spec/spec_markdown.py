"""`product/spec.md`: what the person who approves a product spec has to read of it (design: approval).

What it does, where it departs from SPEC.md, and each task with its signatures, its criteria and, folded, its examples.
`spec_in_full.md` beside it has every field.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from ship_gate.base.markdown_text import bullets, fenced, inline, printable
from specwright.domain.acceptance.records import name_of
from specwright.domain.base.slugs import slugify
from specwright.domain.interfaces.functions import function_of_signature
from specwright.domain.interfaces.guide import interface_guide, started
from specwright.domain.spec.acceptance_text import (
    criteria,
    details,
    examples_as_code,
    number_of_examples,
    summary,
)
from specwright.domain.spec.completeness import Deficiency, in_words
from specwright.domain.spec.departures import decisions_of, departures
from specwright.domain.spec.product_spec import ProductSpecDraft, TaskSpec


class ResearchSource(NamedTuple):
    """One `web_search` and the addresses that it found."""

    query: str
    urls: tuple[str, ...]


def render(
    spec: ProductSpecDraft,
    warnings: Sequence[Deficiency] = (),
    sources: Sequence[ResearchSource] = (),
    allowed_packages: Sequence[str] = (),
    changes: Sequence[str] = (),
    *,
    costs: str = "",
) -> str:
    """The page.

    Args:
        warnings: Of the final validation; they do not block approval.
        sources: The research in the order in which it was done.
        allowed_packages: Third-party packages that the project's settings allow (design: module-scope).
        changes: Since the version that was shown before.
        costs: What its build is likely to take, in words; empty if nothing is known or all answers are scripted.
    """
    data = spec.to_json()
    sections = [
        f"# {printable(spec.title)}",
        *(one.chapter for one in departures(spec.outside, ())),
        _head(spec),
        *(one.chapter for one in departures((), decisions_of(spec))),
        *([f"## Costs\n\nTo build it takes {costs}, as recorded runs took."] if costs else []),
        *([f"## Changes since the last version\n\n{bullets(changes)}"] if changes else []),
        *([details("How it is used", interface_text(spec))] if spec.interfaces else []),
        *map(_task, spec.tasks()),
        f"## Warnings\n\n{bullets([in_words(data, one) for one in warnings]) if warnings else 'None.'}",
        details("Research sources", _sources(sources)),
        details("What a module can be", scope_note(allowed_packages)),
    ]
    return "\n\n".join(sections) + "\n"


def render_in_full(spec: ProductSpecDraft) -> str:
    """`product/spec_in_full.md`: every field of the spec as nested lists."""
    return "\n".join((f"# {printable(spec.title)}: the spec in full", "", *_outline(spec.to_json()), ""))


def scope_note(allowed_packages: Sequence[str] = ()) -> str:
    """What a module may be in this version (design: module-scope)."""
    used = ["the standard library", "other modules of this product", *map(printable, allowed_packages)]
    return (
        "Modules are functions on values, with effects on files and requests over HTTP where their contract declares them. "
        f"They use {', '.join(used[:-1])} and {used[-1]}. Other protocols and changing "
        "an argument in place are refused when a contract is locked: pass such things in as values. What a "
        "module reads of the clock, randomness, the environment or the process must be declared and tested."
    )


def _outline(data: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Every field of a record as a list, with what is below it."""
    for name, value in data.items():
        items: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [value]
        yield f"{indent}- {name.replace('_', ' ')}{':' if value else ': none'}"
        for one in items:
            if isinstance(one, dict):
                yield from _outline(cast("dict[str, Any]", one), f"{indent}  ")
            elif one is not None:
                yield f"{indent}  - {inline(str(one))}"


def interface_text(spec: ProductSpecDraft) -> str:
    """How the product is used from outside Python, by the signatures that its tasks provide."""
    assert spec.interfaces is not None
    provided = [one for task in spec.tasks() if task.acceptance for one in task.acceptance.provides]
    functions = {name_of(one): function for one in provided if (function := function_of_signature(one))}
    return interface_guide(spec.interfaces, functions, slugify(spec.title)).rstrip()


def _head(spec: ProductSpecDraft) -> str:
    tasks = sum(1 for _ in spec.tasks())
    return (
        f"{inline(spec.description)} `spec_in_full.md` has every field.\n\n"
        f"{spec.spec_id}, version {spec.spec_version}: {tasks} task{'s' if tasks > 1 else ''}. {summary(spec)}\n\n"
        f"To start: {printable(started(spec.interfaces))}"
    )


def _task(task: TaskSpec) -> str:
    after = f"\n\nIt needs {', '.join(task.depends_on)}." if task.depends_on else ""
    parts = [
        f"## {printable(task.name)} ({task.task_id})",
        f"{inline(task.description)}{after}",
        criteria(task),
    ]
    if held := task.acceptance:
        names = [f"{'def' if '(' in one else 'class'} {printable(one)}" for one in held.provides]
        parts.insert(2, fenced("\n".join(names), "python"))
        if held.items:
            parts.append(details(number_of_examples(task), examples_as_code(held)))
    return "\n\n".join(parts)


def _sources(sources: Sequence[ResearchSource]) -> str:
    if not sources:
        return "No web search was made: the spec is made of SPEC.md and what the model knows."
    return "\n".join(
        f"- {inline(source.query)}"
        + "".join(f"\n  - {inline(url)}" for url in source.urls or ("nothing came back",))
        for source in sources
    )
