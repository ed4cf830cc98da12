"""The notes of a release: what each version of the product added, changed and removed, and why (design: release)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ship_gate.base.markdown_text import inline
from ship_gate.base.text import one_line
from specwright.domain.spec.bug_report import BugReport
from specwright.domain.spec.product_spec import ProductSpec
from specwright.domain.spec.spec_changes import SpecDifference, spec_difference


class ModuleChange(NamedTuple):
    """A module that is another in a version of the product.

    Args:
        name: As it is imported.
        before: Its version before; empty if it is new.
        after: Its version; empty if it is gone.
        reason: Why.
    """

    name: str
    before: str
    after: str
    reason: str

    @property
    def line(self) -> str:
        """The change in one line."""
        step = f"{self.before} -> {self.after}" if self.before and self.after else self.after or "removed"
        return f"`{self.name}` {step}: {self.reason}"


class VersionNotes(NamedTuple):
    """One version of the product.

    Args:
        spec: Approved.
        before: The spec of the version before; None for the first.
        request: What was asked for, in a sentence; empty if SPEC.md says it.
        modules: What became of modules.
        report: The bug report that it repairs (design: bug-reports).
    """

    spec: ProductSpec
    before: ProductSpec | None
    request: str
    modules: Sequence[ModuleChange]
    report: BugReport | None = None


def render_notes(versions: Sequence[VersionNotes]) -> str:
    """The notes as Markdown, the newest version first."""
    return "\n".join(line for notes in reversed(versions) for line in _version(notes))


def _version(notes: VersionNotes) -> Iterator[str]:
    yield from (f"## {notes.spec.spec_version}", "")
    if notes.request:
        yield from (f"Asked for: {inline(one_line(notes.request))}", "")
    names = {task.task_id: task.name for task in (notes.before or notes.spec).tasks()}
    names |= {task.task_id: task.name for task in notes.spec.tasks()}
    for title, lines in _sections(notes, names).items():
        if lines:
            yield from (f"### {title}", "", *(f"- {line}" for line in lines), "")


def _sections(notes: VersionNotes, names: Mapping[str, str]) -> dict[str, list[str]]:
    if notes.before is None:
        every = tuple(task.task_id for task in notes.spec.tasks())
        difference = SpecDifference(added=every, changed={}, removed=(), untouched=())
    else:
        difference = spec_difference(notes.before, notes.spec)
    return {
        "Added": [_task(names, name) for name in difference.added],
        "Changed": [
            f"{_task(names, name)}: {inline(one_line('; '.join(what)))}"
            for name, what in difference.changed.items()
        ],
        "Fixed": [_fixed(notes.report)] if notes.report else [],
        "Removed": [_task(names, name) for name in difference.removed],
        "Modules": [inline(module.line) for module in notes.modules],
    }


def _fixed(report: BugReport) -> str:
    said = f"{report.heading}: {report.observed}. That broke {report.broken_statement}"
    return f"`{report.name}`: {inline(one_line(said))}"


def _task(names: Mapping[str, str], name: str) -> str:
    return f"{inline(one_line(names[name]))} ({name})"
