"""`product/spec.md`: a product spec for the person who approves it (design: approval).

The whole spec, the warnings of the final validation, the research sources, and what a module can be (design: module-scope).
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from ship_gate.base.markdown_text import bullets, inline, printable
from specwright.domain.acceptance.records import name_of
from specwright.domain.base.slugs import slugify
from specwright.domain.interfaces.functions import function_of_signature
from specwright.domain.interfaces.guide import interface_guide, started
from specwright.domain.spec.acceptance_text import criteria_with_examples, success_criteria, summary
from specwright.domain.spec.completeness import Deficiency, place_in
from specwright.domain.spec.departures import decisions_of, departures
from specwright.domain.spec.product_spec import (
    DIMENSION_LABELS,
    Pillar,
    ProductSpecDraft,
    TaskSpec,
)


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
    searches: bool = True,
    costs: str = "",
) -> str:
    """The spec as markdown.

    Args:
        warnings: Of the final validation; they do not block approval.
        sources: The research in the order in which it was done.
        allowed_packages: Third-party packages that the project's settings allow (design: module-scope).
        changes: Since the version that was shown before.
        searches: Whether a web search is configured.
        costs: What its build is likely to take, in words; empty if nothing is known or all answers are scripted.
    """
    sections = [
        f"# {printable(spec.title)}",
        *(one.chapter for one in departures(spec.outside, decisions_of(spec))),
        _head(spec),
        *([f"## Costs\n\nTo build it takes {costs}, as recorded runs took."] if costs else []),
        *([f"## Changes since the last version\n\n{bullets(changes)}"] if changes else []),
        *([interface_text(spec)] if spec.interfaces else []),
        *(block for pillar in spec.pillars for block in _pillar(pillar)),
        f"## Scope\n\n{scope_note(allowed_packages)}",
        f"## Warnings\n\n{_warnings(spec, warnings)}",
        f"## Research sources\n\n{_sources(sources, searches=searches)}",
    ]
    return "\n\n".join(sections) + "\n"


def scope_note(allowed_packages: Sequence[str] = ()) -> str:
    """What a module may be in this version, for the planner and the approval gate (design: module-scope)."""
    used = ["the standard library", "other modules of this product", *map(printable, allowed_packages)]
    return (
        "Modules are functions on values, with effects on files and requests over HTTP where their contract declares them. "
        f"They use {', '.join(used[:-1])} and {used[-1]}. Other protocols and changing "
        "an argument in place are refused when a contract is locked: pass such things in as values. What a "
        "module reads of the clock, randomness, the environment or the process must be declared and tested."
    )


def interface_text(spec: ProductSpecDraft) -> str:
    """How the product is used from outside Python, by the signatures that its tasks provide."""
    assert spec.interfaces is not None
    provided = [one for task in spec.tasks() if task.acceptance for one in task.acceptance.provides]
    functions = {name_of(one): function for one in provided if (function := function_of_signature(one))}
    return interface_guide(spec.interfaces, functions, slugify(spec.title)).rstrip()


def _head(spec: ProductSpecDraft) -> str:
    epics = [epic for pillar in spec.pillars for epic in pillar.epics]
    stories = [story for epic in epics for story in epic.stories]
    counts = (
        (len(spec.pillars), "pillar", "pillars"),
        (len(epics), "epic", "epics"),
        (len(stories), "story", "stories"),
        (sum(len(story.tasks) for story in stories), "task", "tasks"),
    )
    size = ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts)
    return (
        f"{inline(spec.description)}\n\n"
        f"{spec.spec_id}, version {spec.spec_version}: {size}.\n\n{summary(spec)}\n\n"
        f"To start: {printable(started(spec.interfaces))}"
    )


def _pillar(pillar: Pillar) -> Iterator[str]:
    yield f"## Pillar: {printable(pillar.name)} ({pillar.pillar_id})"
    yield f"{inline(pillar.description)}\n\nWhy: {printable(pillar.rationale)}"
    for epic in pillar.epics:
        yield f"### Epic: {printable(epic.name)} ({epic.epic_id})"
        yield f"{inline(epic.description)}\n\nSucceeds when:\n\n{success_criteria(epic)}"
        for story in epic.stories:
            yield f"#### Story: {printable(story.name)} ({story.story_id})"
            yield f"{inline(story.description)}\n\nThe user sees: {printable(story.user_facing_behavior)}"
            yield from map(_task, story.tasks)


def _task(task: TaskSpec) -> str:
    sketch = task.io_contract_sketch
    dimensions = [
        f"- {label}: {printable(getattr(sketch, name))}" for name, label in DIMENSION_LABELS.items()
    ]
    return "\n\n".join(
        (
            f"##### Task: {printable(task.name)} ({task.task_id})",
            inline(task.description),
            f"Depends on: {', '.join(task.depends_on) or 'nothing'}",
            f"Subtasks:\n\n{bullets(task.subtasks)}",
            f"Accepted when:\n\n{criteria_with_examples(task)}",
            "Contract sketch:\n\n" + "\n".join(dimensions),
        )
    )


def _warnings(spec: ProductSpecDraft, warnings: Sequence[Deficiency]) -> str:
    if not warnings:
        return "None."
    data = spec.to_json()
    blocks = [
        f"{printable(place_in(data, path)) or 'The spec'}:\n\n"
        + "\n".join(f"- `{w.field}` {printable(w.message)}" for w in group)
        for path, group in groupby(warnings, key=lambda warning: warning.path)
    ]
    return "\n\n".join(blocks)


def _sources(sources: Sequence[ResearchSource], *, searches: bool) -> str:
    if not sources and not searches:
        return "No web search is configured: the spec is made of SPEC.md and what the model knows."
    if not sources:
        return "No web search was made."
    return "\n".join(
        line
        for source in sources
        for line in (f"- {inline(source.query)}", *(f"  - {inline(url)}" for url in source.urls))
    )
