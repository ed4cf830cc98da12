"""Retiring a module version: the decision in the log, then the Code Index."""

from pathlib import Path

import pytest

from ship_gate.base.ids import ModuleRef
from specwright.application.deprecation import deprecate
from specwright.domain.modules.code_index import CodeIndexEntry, DeprecationRequest, IndexStatus
from specwright.errors import RefusedError
from testkit.domain.product_specs import spec_of_graph
from testkit.index_entries import entry
from testkit.loop.project_workbench import ProjectWorkbench

OLD, NEW, USER = "MM-00000001@1.0.0", "MM-00000002@1.0.0", "MM-00000003@1.0.0"


def asked(replacement: str | None = NEW, ref: str = OLD) -> DeprecationRequest:
    """A version is to be retired, the first module's if nothing else is said."""
    return DeprecationRequest(
        module_ref=ref,
        reason="It rounds halves up.",
        migration_note="Pass the mode.",
        replacement=replacement,
    )


def indexed(bench: ProjectWorkbench) -> None:
    """An approved project with a module, its replacement and one that uses it."""
    bench.approve(spec_of_graph([[]]))
    for number, dependencies in ((1, []), (2, []), (3, [OLD])):
        bench.factory.index.add(entry(number, dependencies=dependencies))


def in_index(bench: ProjectWorkbench, ref: str) -> CodeIndexEntry:
    """What the Code Index says of a version."""
    found = bench.factory.index.get(*ModuleRef.parse(ref))
    assert found is not None
    return found


@pytest.mark.parametrize("replacement", [NEW, None])
def test_the_decision_stands_in_the_log_and_in_the_entry(tmp_path: Path, replacement: str | None):
    """Every consumer is named (F-16-01); the entry has one notice with the time, and the replacement or none (F-8-14,
    F-16-02, F-16-03, D-27-01)."""
    with ProjectWorkbench(tmp_path) as bench:
        indexed(bench)
        decided = deprecate(bench.factory, asked(replacement))
        found = in_index(bench, OLD)
        assert decided.consumers == [USER]
        assert bench.projection.deprecations == {OLD: decided}
    assert (found.status, found.superseded_by) == (IndexStatus.DEPRECATED, replacement)
    assert found.notes == f"Deprecated {decided.decided_at}: It rounds halves up. Migration: Pass the mode."


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (asked(), asked(), "already DEPRECATED"),
        (None, asked("MM-00000009@1.0.0"), "not sealed here"),
        (None, asked(ref="MM-00000009@1.0.0"), "not sealed here"),
        (asked(None), asked(OLD, ref=USER), "already DEPRECATED"),
    ],
    ids=["twice", "unknown replacement", "unknown version", "retired replacement"],
)
def test_what_is_not_in_use_cannot_be_deprecated(
    tmp_path: Path, first: DeprecationRequest | None, second: DeprecationRequest, why: str
):
    """Nothing is written then (D-27-01)."""
    with ProjectWorkbench(tmp_path) as bench:
        indexed(bench)
        if first:
            deprecate(bench.factory, first)
        before = [in_index(bench, ref) for ref in (OLD, NEW, USER)], len(list(bench.log.entries()))
        with pytest.raises(RefusedError, match=why):
            deprecate(bench.factory, second)
        assert before == ([in_index(bench, ref) for ref in (OLD, NEW, USER)], len(list(bench.log.entries())))
