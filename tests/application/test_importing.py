"""Module directories that are imported into a project: all or none, in the order in which they call each other, under names
that nothing else has."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from specwright import canonical_json
from specwright.application.adopted.directory_import import finish_imports
from specwright.application.adopted.known import adopted_modules, adopted_rows
from specwright.domain.modules.code_index import IndexStatus
from specwright.errors import InputError, RefusedError
from testkit.domain.product_specs import spec_of_graph
from testkit.loop.adopted_products import imported, module_directory, origin
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.role_answers import plan, planned
from testkit.loop.scripted_gate import AT_PREFLIGHT


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[DebateWorkbench]:
    """A project with one task whose spec is approved; nothing has run."""
    with DebateWorkbench(tmp_path, script(planning=plan(planned("double")))) as made:
        made.approve(spec_of_graph(([],)))
        yield made


def names_of(bench: DebateWorkbench) -> list[str]:
    return sorted(bench.sealed())


def test_a_module_that_is_imported_is_sealed_announced_and_found(bench: DebateWorkbench):
    """Under an id of its own, version 1.0.0, with a Wire on the project's stream that binds its files, and in the Code Index
    as SHIPPED (D-20-01, D-29-05, D-33-02, F-14.1-09)."""
    (outcome,) = imported(bench.factory, module_directory("triple"))

    record = outcome.record
    assert outcome.state == "adopted"
    assert record is not None
    assert record.module_ref.partition("@")[2] == "1.0.0"
    assert record.module_ref != origin("triple")
    (wire,) = (one for one in bench.reviews() if one["subject"] == "module.adopted")
    assert wire["reference"] == record.module_ref
    assert canonical_json.loads(bench.store.definition(wire["definition_sha256"])) == record.to_json()
    entry = bench.index.get(*record.module_ref.split("@"))
    assert entry is not None
    assert entry.status is IndexStatus.SHIPPED
    assert bench.factory.modules.evidence(record.module_ref).verification.result == "PASS"


def test_only_the_name_of_the_directory_is_kept(bench: DebateWorkbench):
    """No path of the machine is in anything that the store or the log has."""
    imported(bench.factory, module_directory("triple"))

    (record,) = adopted_modules(bench.factory)
    assert record.directory == "triple"
    written = [path.read_bytes() for path in bench.directory.rglob("*") if path.is_file()]
    assert not [data for data in written if b"/somewhere/of/nobody" in data]


def test_what_is_imported_together_may_call_each_other(bench: DebateWorkbench):
    """In whatever order they are named; the sealed contracts name each other by the ids that they have here."""
    outcomes = imported(bench.factory, module_directory("sextuple", "triple"), module_directory("triple"))

    refs = {one.name: one.record.module_ref for one in outcomes if one.record}
    (called,) = bench.factory.modules.contract(refs["sextuple"]).dependencies
    assert called.ref == refs["triple"]


def test_what_is_called_may_be_here_already(bench: DebateWorkbench):
    """By the id that it had in its own directory."""
    (first,) = imported(bench.factory, module_directory("triple"))
    (second,) = imported(bench.factory, module_directory("sextuple", "triple"))

    assert first.record
    assert second.record
    (called,) = bench.factory.modules.contract(second.record.module_ref).dependencies
    assert called.ref == first.record.module_ref


BAD = {
    "something that is called is nowhere": ([module_directory("sextuple", "triple")], "neither imported"),
    "a cycle": ([module_directory("a", "b"), module_directory("b", "a")], "a cycle"),
    "a module calls itself": ([module_directory("a", "a")], "a cycle"),
    "two of one name": (
        [module_directory("triple"), module_directory("triple", version="another")],
        "two directories have one name",
    ),
    "two of one id": (
        [module_directory("triple"), module_directory("other", module_id=origin("triple").partition("@")[0])],
        "two directories have one id",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_directories_that_do_not_go_together_are_refused_in_one_error(bench: DebateWorkbench, what: str):
    """With nothing written."""
    directories, words = BAD[what]
    before = sorted(bench.base.rglob("*"))

    with pytest.raises(InputError, match=words):
        imported(bench.factory, *directories)

    assert sorted(bench.base.rglob("*")) == before


def test_one_that_fails_leaves_all_out(bench: DebateWorkbench):
    """What the gate found is told of the one; the other could be imported alone."""
    before = sorted(bench.base.rglob("*"))
    bad, good = module_directory("triple", mark=AT_PREFLIGHT), module_directory("half")

    failed, left = imported(bench.factory, bad, good)

    assert (failed.state, left.state) == ("failed", "left_out")
    assert [found.code for found in failed.findings] == ["tests.failed"]
    assert sorted(bench.base.rglob("*")) == before
    assert [one.state for one in imported(bench.factory, good)] == ["adopted"]


def test_the_same_bytes_again_change_nothing(bench: DebateWorkbench):
    """And are told so; nothing is judged a second time."""
    pair = module_directory("sextuple", "triple"), module_directory("triple")
    first = imported(bench.factory, *pair)
    wires, judged = len(bench.wires()), len(bench.trace)

    again = imported(bench.factory, *pair)

    assert [one.state for one in again] == ["unchanged", "unchanged"]
    assert [one.record for one in again] == [one.record for one in first]
    assert (len(bench.wires()), len(bench.trace)) == (wires, judged)


def test_other_bytes_are_the_next_version_while_nothing_uses_the_first(bench: DebateWorkbench):
    """By the difference of the contracts, and the version before is superseded (D-26, F-14.1-03)."""
    (first,) = imported(bench.factory, module_directory("triple"))
    (second,) = imported(bench.factory, module_directory("triple", version="with a correction"))
    (third,) = imported(bench.factory, module_directory("triple", purpose="Make three of a number at once."))

    assert first.record
    assert second.record
    assert third.record
    refs = [one.module_ref for one in (first.record, second.record, third.record)]
    assert [ref.partition("@")[2] for ref in refs] == ["1.0.0", "1.0.1", "1.0.2"]
    by_ref = {entry.ref: entry.status for entry in bench.index.entries()}
    statuses = [by_ref[ref] for ref in refs]
    assert statuses == [IndexStatus.SUPERSEDED, IndexStatus.SUPERSEDED, IndexStatus.SHIPPED]


def test_other_bytes_are_refused_while_another_adopted_module_calls_the_first(bench: DebateWorkbench):
    """Imported with it, that one gets a next version too, which calls the new one."""
    caller = module_directory("sextuple", "triple")
    imported(bench.factory, caller, module_directory("triple"))
    corrected = module_directory("triple", version="with a correction")

    with pytest.raises(RefusedError, match="sextuple uses it"):
        imported(bench.factory, corrected)

    both = imported(bench.factory, caller, corrected)
    refs = {one.name: one.record.module_ref for one in both if one.record}
    assert {ref.partition("@")[2] for ref in refs.values()} == {"1.0.1"}
    assert [one.ref for one in bench.factory.modules.contract(refs["sextuple"]).dependencies] == [
        refs["triple"]
    ]


def test_a_name_that_the_product_has_is_refused(bench: DebateWorkbench):
    """Of a module that a task made."""
    bench.run()
    assert names_of(bench) == ["double"]

    with pytest.raises(RefusedError, match="the product has a module of that name"):
        imported(bench.factory, module_directory("double"))


def test_before_the_approval_modules_wait_for_it(tmp_path: Path):
    """The project has no stream yet; with the approval they are announced, sealed and found (D-33-02)."""
    with DebateWorkbench(tmp_path, script()) as bench:
        (outcome,) = imported(bench.factory, module_directory("triple"))
        assert outcome.state == "waiting"
        assert bench.wires() == []
        assert names_of(bench) == []
        assert [row["state"] for row in adopted_rows(bench.factory)] == ["waiting"]

        bench.approve(spec_of_graph(([],)))
        finish_imports(bench.factory)

        assert names_of(bench) == ["triple"]
        assert [one.name for one in bench.index.entries()] == ["triple"]
        assert [row["state"] for row in adopted_rows(bench.factory)] == ["sealed"]
