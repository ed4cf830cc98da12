"""Measures what the gate refuses that plain tests let through, by class, and what each stage adds to it.

Over the corpus of `packages/gate/tests/corpus`: each fault is one change of a sound module. Each candidate is judged
once; where the source alone refused it, so that nothing was executed, once more without the static stage. Faults of
contracts, claims and examples are asked of the gate alone, since no test runs them.

    .venv/bin/python docs/measure_gate.py RESULTS [WORKERS]

RESULTS is a file of lines of JSON. What it holds is not measured again, so a run that was stopped can go on; for another
gate take another file. The report goes by hand to docs/gate.md.

Only by a stage: no other stage has a finding. After a test that failed, observation, strength and fuzz are not run,
and a test that fails would fail in them too; what is due to the tests alone is therefore counted against the stages beside
them, examples, effects and those that read the source.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from gate_testkit.corpus_reading import faults, faulty, sound, sound_names
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.stages import STAGES
from ship_gate.verdict import Candidate
from specwright.errors import SpecwrightError

SOUND = "sound"
UNTESTED_PARTS = ("contract", "claims", "examples")
TIMEOUT_SECONDS = 20


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


def candidates() -> Iterator[dict[str, Any]]:
    """What is to be measured, each with its class, the codes that are due, and whether its tests show anything of it."""
    for name in sound_names():
        yield {"title": name, "class": SOUND, "due": [], "tested": False, "candidate": sound(name)}
    for fault in faults():
        tested = fault.part not in UNTESTED_PARTS
        row = {"title": fault.title, "class": fault.kind, "due": [*fault.codes], "tested": tested}
        yield {**row, "candidate": faulty(fault)}


def measure(row: dict[str, Any]) -> dict[str, Any]:
    """The verdict on a candidate, what each stage found and took, and what plain pytest says."""
    candidate: Candidate = row["candidate"]
    try:
        verdict = SandboxedShipGate(TIMEOUT_SECONDS).judge(candidate)
        stages = {
            stage.name: [stage.findings, stage.duration_ms]
            for stage in verdict.stages
            if stage.result != "NOT_RUN"
        }
        found = {name for name, (findings, _) in stages.items() if findings}
        if found == {"static"} and "fuzz" not in stages and "tests" not in stages:
            beside = SandboxedShipGate(TIMEOUT_SECONDS, static=False).judge(candidate)
            found |= {stage.name for stage in beside.stages if stage.findings}
    except SpecwrightError as error:
        return {"key": key(row), "title": row["title"], "class": row["class"], "error": str(error)}
    return {
        "key": key(row),
        "title": row["title"],
        "class": row["class"],
        "shipped": verdict.passed,
        "codes": sorted({finding.code for finding in verdict.findings}),
        "due": row["due"],
        "stages": stages,
        "found": sorted(found),
        "pytest": passes_plain_pytest(candidate) if row["tested"] else None,
    }


def key(row: dict[str, Any]) -> str:
    """Tells a candidate from any other."""
    candidate: Candidate = row["candidate"]
    parts = [
        candidate.contract.model_dump_json().encode(),
        *(part for path in sorted(candidate.files) for part in (path.encode(), candidate.files[path])),
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def report(results: list[dict[str, Any]]) -> str:
    """The tables for docs/gate.md, and what is to be looked at."""
    judged = [row for row in results if "error" not in row]
    faulty_rows = [row for row in judged if row["class"] != SOUND]
    sound_rows = [row for row in judged if row["class"] == SOUND]
    tested = [row for row in faulty_rows if row["pytest"] is not None]
    total, shipped = (
        Counter(r["class"] for r in faulty_rows),
        Counter(r["class"] for r in faulty_rows if r["shipped"]),
    )
    lines = ["| class | faulty | refused | shipped |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {n} | {n - shipped[name]} | {shipped[name]} |" for name, n in sorted(total.items())
    ]
    lines += [f"| all | {len(faulty_rows)} | {len(faulty_rows) - shipped.total()} | {shipped.total()} |", ""]
    lines += [f"own tests pass under plain pytest: {sum(row['pytest'] for row in tested)} of {len(tested)}"]
    lines += [
        f"sound modules refused: {sum(not row['shipped'] for row in sound_rows)} of {len(sound_rows)}",
        "",
    ]
    lines += [
        "| stage | seconds, mean | faults that it refuses | that only it refuses |",
        "|---|---|---|---|",
    ]
    lines += [_stage_row(name, judged, faulty_rows) for name in STAGES]
    lines += ["", *(f"shipped: {row['title']}" for row in faulty_rows if row["shipped"])]
    lines += [
        f"refused, though sound: {row['title']} {row['codes']}" for row in sound_rows if not row["shipped"]
    ]
    lines += [
        f"refused for another reason: {row['title']} {row['codes']}"
        for row in faulty_rows
        if not row["shipped"] and not set(row["codes"]) & set(row["due"])
    ]
    lines += [f"not judged: {row['title']}: {row['error']}" for row in results if "error" in row]
    return "\n".join(lines) + "\n"


def _stage_row(name: str, judged: list[dict[str, Any]], faulty_rows: list[dict[str, Any]]) -> str:
    times = [row["stages"][name][1] for row in judged if name in row["stages"]]
    found = [row["found"] for row in faulty_rows if name in row["found"]]
    mean = sum(times) / len(times) / 1000 if times else 0.0
    return f"| {name} | {mean:.3f} | {len(found)} | {sum(stages == [name] for stages in found)} |"


def main(place: Path, workers: int) -> None:
    """Measure what is not measured yet, and print the report."""
    rows = [json.loads(line) for line in (place.read_text().splitlines() if place.exists() else [])]
    known = {row["key"]: row for row in rows if "error" not in row}
    waiting = {key(row): row for row in candidates()}
    with ThreadPoolExecutor(workers) as pool, place.open("a") as file:
        for result in pool.map(measure, [row for name, row in waiting.items() if name not in known]):
            known[result["key"]] = result
            file.write(json.dumps(result) + "\n")
            file.flush()
            sys.stderr.write(f"{len(known)} of {len(waiting)}\n")
    sys.stdout.write(report([known[name] for name in waiting]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else max(1, (os.cpu_count() or 2) - 1))
