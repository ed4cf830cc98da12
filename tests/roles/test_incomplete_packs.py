"""A context pack that cannot be filled stops the run before a model is asked (DESIGN §7)."""

from pathlib import Path

import pytest

from specwright.errors import CorruptionError
from specwright.ports import Place
from testkit.roles.overheard import overheard
from testkit.sampling import spread


@pytest.mark.parametrize(
    ("lost", "while_asking", "then"),
    spread(
        [
            ("examples.md", "TSK-002.1/contracts/round-1/arbiter", "TSK-002.1/split_evenly/round-1/proposer"),
            ("contract.json", "TSK-002.1/plan/round-1/planner", "TSK-002.1/contracts/round-1/challenger"),
        ],
        fast=2,
    ),
)
def test_a_dependency_without_its_surface_stops_the_run_before_the_role_is_asked(
    tmp_path: Path, lost: str, while_asking: str, then: str
):
    """No role call after the loss, no pack for the one that would have been next, and the file is named (D-S7-03)."""
    asked: list[str] = []

    def meddle(place: Place, project: Path) -> None:
        asked.append(place.run_id)
        if place.run_id == while_asking:
            for path in project.glob(f"state_store/modules/*/*/{lost}"):
                path.unlink()

    with pytest.raises(CorruptionError, match=f"a context pack is incomplete: MM-.* has no {lost}"):
        overheard(tmp_path, meddle)
    assert asked[-1] == while_asking
    packs = [path.read_text() for path in (tmp_path / "project/state_store/context_packs").iterdir()]
    assert not [pack for pack in packs if f'"{then}"' in pack]
