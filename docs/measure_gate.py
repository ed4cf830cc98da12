"""Measures what the gate refuses that plain tests let through, over the corpus of `tests/gate/corpus`.

Each fault of the corpus is one change of a sound module. Two questions are asked of each: do the module's own tests
pass under plain pytest, and does the gate let it ship? Faults of contracts, claims and examples are asked of the gate
alone, since no test runs them. The figures go by hand to docs/gate.md and the README; it takes some ten minutes.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from specwright.gate import SandboxedShipGate
from specwright.ports.gate import Candidate, ShipGate
from testkit.gate.corpus_reading import faults, faulty, sound, sound_names

UNTESTED_PARTS = ("contract", "claims", "examples")
WORKERS = max(1, (os.cpu_count() or 2) - 1)


def passes_plain_pytest(candidate: Candidate) -> bool:
    """Whether a candidate's own tests pass in an ordinary process, with nothing else looked at."""
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder, "modules", candidate.contract.name)
        for path, data in candidate.files.items():
            part, _, rest = path.partition("/")
            target = module / rest if part == "implementation" else Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        Path(folder, "modules", "__init__.py").touch()
        command = [
            sys.executable,
            "-B",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            os.devnull,
            "tests",
        ]
        environment = {"PYTHONPATH": folder, "PATH": os.defpath}
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, timeout=60, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def count(question: Callable[[Candidate], bool], candidates: Sequence[Candidate]) -> int:
    """How many candidates are answered with yes."""
    with ThreadPoolExecutor(WORKERS) as pool:
        return sum(pool.map(question, candidates))


def main(judge: ShipGate) -> None:
    """Print the figures."""
    table = faults()
    tested = [faulty(fault) for fault in table if fault.part not in UNTESTED_PARTS]
    fair = [sound(name) for name in sound_names()]
    green = count(passes_plain_pytest, tested)
    sys.stdout.write(f"own tests pass under plain pytest: {green} of {len(tested)} faulty modules\n")
    shipped = count(lambda candidate: judge.judge(candidate).passed, [faulty(fault) for fault in table])
    sys.stdout.write(f"the gate ships: {shipped} of {len(table)} faulty modules\n")
    refused = count(lambda candidate: not judge.judge(candidate).passed, fair)
    sys.stdout.write(f"the gate refuses: {refused} of {len(fair)} sound modules\n")


if __name__ == "__main__":
    main(SandboxedShipGate(20))
