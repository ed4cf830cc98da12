"""Answers that halt one module of two, and what was sealed before."""

from typing import Any

from testkit.loop.debate_workbench import DebateWorkbench
from testkit.loop.role_answers import PROSE, Turn, claimed, draft, rejecting
from testkit.loop.scripted_gate import AT_PREFLIGHT, AT_THE_GATE, MISMATCH


def sealed_bytes(bench: DebateWorkbench) -> dict[str, dict[str, bytes]]:
    return {
        name: {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}
        for name, path in bench.sealed().items()
    }


HALTS: dict[str, dict[str, list[Any]]] = {
    "rejected": {f"double/round-{n}/arbiter": [rejecting()] for n in (1, 2, 3)},
    "no_draft_passes": {"double/round-1/proposer": [Turn(claimed(), draft("double", AT_PREFLIGHT))]},
    "no_usable_ruling": {"double/round-1/arbiter": [PROSE]},
    "gate": {
        f"double/round-{n}/proposer": [Turn(claimed(), draft("double", AT_THE_GATE))] for n in (1, 2, 3)
    },
    "surface": {
        f"double/round-{n}/proposer": [Turn(claimed(), draft("double", MISMATCH))] for n in (1, 2, 3)
    },
}
