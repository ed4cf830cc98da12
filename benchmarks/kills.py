"""How many answered model calls are asked again after a kill (D-S11-01; DESIGN §11: 0, wherever the run is killed).

`python benchmarks/kills.py [--every N]` runs a small product over a counting endpoint on loopback, once without a
disturbance and then once for every N-th effect that such a run leaves behind (a journal record, a file, a Wire, an
index entry, a checkpoint): there its process is ended by SIGKILL, and the run is started again. `--every 1` kills at
every one of them. Counted are requests whose answer had gone out before the kill and that came again after it; an
answer that the kill met on its way may be asked for again (DESIGN §4).
"""

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from testkit.endpoint import Endpoint, serving
from testkit.killing import EFFECTS, Job, Kill
from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK
from testkit.stores import journal_of
from testkit.workshop import KILLED, Workshop


class Outcome(NamedTuple):
    """What came of one kill.

    Args:
        effect: The kind of effect after which the run was killed.
        answered: Calls that had been answered by then.
        repeated: Those of them that were asked again.
        ended: Whether the run that went on came to its end.
    """

    effect: str
    answered: int
    repeated: int
    ended: bool


def killed_once(workshop: Workshop, endpoint: Endpoint, job: Job, effect: str) -> Outcome:
    """Kill a run, start it again, and compare what was asked."""
    endpoint.asked.clear()
    endpoint.answered.clear()
    assert workshop.drive(job).code == KILLED
    answered, asked = set(endpoint.answered), dict(endpoint.asked)
    finished = workshop.drive(job._replace(kill=Kill()))
    repeated = [name for name in answered if endpoint.asked[name] != asked[name]]
    return Outcome(effect, len(answered), len(repeated), finished.code == 0)


def measure(every: int, scratch: Path) -> list[Outcome]:
    """Kill at every so-manieth effect."""
    with closing(Workshop(scratch)) as workshop, serving(PLAYBOOK) as endpoint:
        whole = Job(
            str(scratch / "whole"),
            str(NAMEPLATE_SPEC),
            "openai:test",
            endpoint.base_url,
            trace=str(scratch / "trace"),
        )
        finished = workshop.drive(whole)
        assert finished.code == 0, finished.err
        traced = json.loads((scratch / "trace").read_text())
        effects = [kind for kind in (effect.split()[0] for effect in traced) if kind in EFFECTS]
        print(f"a run without a kill: {len(endpoint.asked)} model calls, {len(effects)} effects", flush=True)
        draws = str(journal_of(scratch / "whole"))
        return [
            killed_once(
                workshop,
                endpoint,
                whole._replace(
                    directory=str(scratch / str(nth)), draws=draws, trace="", kill=Kill(EFFECTS, nth)
                ),
                effects[nth - 1],
            )
            for nth in range(max(1, every // 2), len(effects) + 1, every)
        ]


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=40, help="kill at every N-th effect")
    every = parser.parse_args().every
    print(f"Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = measure(every, Path(scratch))
    kinds = Counter(outcome.effect for outcome in outcomes)
    answered = sum(outcome.answered for outcome in outcomes)
    repeated = sum(outcome.repeated for outcome in outcomes)
    print(
        f"{len(outcomes)} kills: " + ", ".join(f"{count} at a {kind}" for kind, count in kinds.most_common())
    )
    print(f"ended all the same: {sum(outcome.ended for outcome in outcomes)} of {len(outcomes)}")
    verdict = "MISSED" if repeated else "met"
    print(f"answered calls repeated: {repeated} of {answered} (target 0: {verdict})")


if __name__ == "__main__":
    main()
