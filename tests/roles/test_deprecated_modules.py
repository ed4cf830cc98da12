"""A module that is deprecated while others are still to be built on it: readable by explicit reference, and everybody who
judges is told (F§16)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from specwright.domain.artifacts import Permission
from specwright.index.embedder import load_embedder
from specwright.index.sqlite_index import SqliteCodeIndex
from specwright.ports import Role
from testkit.index_entries import retirement
from testkit.roles.overheard import Run, overheard

pytestmark = pytest.mark.slow

NOTE = "it knows nothing of other currencies; use an amount with its currency"


class Retiring:
    """Deprecates `to_cents` once it is sealed, before anything of the next task is planned.

    Args:
        base: Where project and playbook are.
    """

    def __init__(self, base: Path) -> None:
        self._base = base

    def note(self, event: Any) -> None:
        """A step of the run."""
        if getattr(event, "kind", "") != "sealed" or not event.text.startswith("to_cents "):
            return
        ref = ref_of(self._base / "project")
        index = SqliteCodeIndex(self._base / "project/state_store/code_index", load_embedder("wordllama"))
        index.retire(retirement(ref, why=NOTE))
        index.close()
        for plan in (self._base / "playbook").glob("TSK-00[2-6]/planner*.json"):
            plan.write_text(plan.read_text().replace('"module": "to_cents"', f'"module": "{ref}"'))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run in which `to_cents` is deprecated early, and later plans name it by its reference."""
    base = tmp_path_factory.mktemp("deprecated")

    return overheard(base, progress=Retiring(base))


def ref_of(project: Path) -> str:
    """The reference of the sealed `to_cents`."""
    for path in project.glob("state_store/modules/*/*/contract.json"):
        if json.loads(path.read_text())["name"] == "to_cents":
            return f"{path.parts[-3]}@{path.parts[-2]}"
    raise LookupError("to_cents")


@pytest.mark.nightly
def test_a_plan_that_names_it_by_reference_passes_and_its_surface_is_served(run: Run):
    """Contract, examples and evidence reach the planner's pack and the Proposer's directory (F-16-04)."""
    ref = ref_of(run.project)
    planner = next(one for one in run.invoked if one.place.run_id == "TSK-002.1/plan/round-1/planner")
    (row,) = [row for row in planner.pack.included_refs if row.ref == ref]
    assert (row.permission, row.reason) == (
        Permission.CONTRACT_ONLY,
        "a DEPRECATED module that it may call",
    )
    assert run.contract("split_evenly").dependencies[0].ref == ref
    (proposer,) = run.by(Role.PROPOSER, "split_evenly", "round-1")
    for name in ("contract.json", "examples.md", "ship.json"):
        sealed = run.project / "state_store/modules" / ref.replace("@", "/") / name
        assert proposer.directory[f"dependencies/to_cents/{name}"] == sealed.read_bytes()


def test_the_search_does_not_lead_to_it(run: Run):
    """By default only active modules are found (F-16-04)."""
    planner = next(one for one in run.invoked if one.place.run_id == "TSK-003.1/plan/round-1/planner")
    found = re.findall(r'"module_ref": "(MM-[^"]+)"', planner.everything)
    assert run.contract("parse_money").ref in found
    assert ref_of(run.project) not in found


def test_its_status_goes_with_it_through_the_whole_run(run: Run):
    """In the metadata of every Proposer that may call it, with the note of whoever deprecated it (F-16-04, D-S7-02)."""
    ref = ref_of(run.project)
    callers = [one for one in run.by(Role.PROPOSER) if "index/to_cents/metadata.json" in one.directory]
    later = [one for one in callers if one.place.task != "TSK-001"]
    assert {one.place.subject for one in later} >= {"split_evenly", "compute_balances", "settle_up"}
    for one in later:
        metadata = json.loads(one.directory["index/to_cents/metadata.json"])
        assert (metadata["module_ref"], metadata["status"]) == (ref, "DEPRECATED")
        assert NOTE in metadata["notes"]


@pytest.mark.parametrize("subject", ["contracts", "split_evenly", "compute_balances"])
def test_the_challenger_is_told_that_a_dependency_is_deprecated(run: Run, subject: str):
    """In its request and in its pack, in the debate over the contracts and in that over the module; its prompt says what
    to do about it (F-16-05)."""
    ref = ref_of(run.project)
    asked = [one for one in run.by(Role.CHALLENGER, subject) if one.place.task in {"TSK-002", "TSK-003"}]
    assert asked
    for one in asked:
        rows = {(row.permission, row.reason) for row in one.pack.included_refs if row.ref == ref}
        assert (Permission.METADATA_ONLY, "its index status: DEPRECATED") in rows
        assert f"{ref}, DEPRECATED)" in one.requests[0]
        assert "one DEPRECATED or SUPERSEDED is a failure" in one.requests[0]
