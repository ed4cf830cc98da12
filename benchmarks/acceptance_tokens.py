"""What approved examples and properties cost in tokens: a recorded product with them, and the same answers without.

The example `linkform` was made by readers whose spec has examples for every criterion. Its record is replayed as it is, and
again with the examples taken out of the researcher's answer, so that no later request holds any. The gate and the release
are real both times. Four characters count as a token (docs/design.md#benchmarks).

    python benchmarks/acceptance_tokens.py [--example NAME]
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_EXAMPLES = Path(__file__).parents[1] / "examples"
_WRITES_SPEC = '"pillars"'
_MOST = 1.5
"""So many times as many tokens as without them a product takes at most."""


def without_acceptance(record: str) -> str:
    """A line of the journal whose answer writes a spec without examples."""
    line = json.loads(record)
    for call in _calls(line):
        if _WRITES_SPEC in call["args"].get("content", ""):
            call["args"]["content"] = json.dumps(_stripped(json.loads(call["args"]["content"])))
    return json.dumps(line, separators=(",", ":"))


def _calls(line: dict[str, Any]) -> list[dict[str, Any]]:
    return line["answer"]["message"]["data"]["tool_calls"] if line["kind"] == "model" else []


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _stripped(item) for key, item in value.items() if key != "acceptance"}
    return [_stripped(item) for item in value] if isinstance(value, list) else value


def spec_characters(journal: str) -> int:
    """The last spec that the researcher wrote."""
    written = [
        call["args"]["content"]
        for record in journal.splitlines()
        for call in _calls(json.loads(record))
        if _WRITES_SPEC in call["args"].get("content", "")
    ]
    return len(json.dumps(json.loads(written[-1])))


def replayed(journal: Path, spec: Path, project: Path) -> tuple[dict[str, int], float]:
    """Characters of the requests by role, and the seconds of the run."""
    command = [sys.executable, "-m", "specwright.cli"]
    options = ["--approve", "--spec", str(spec), "--model", f"replay:{journal}"]
    began = time.perf_counter()
    subprocess.run([*command, "run", str(project), *options], check=True, capture_output=True)
    seconds = time.perf_counter() - began
    costs = subprocess.run(
        [*command, "costs", str(project), "--json"], check=True, capture_output=True, text=True
    )
    parts = json.loads(costs.stdout)["parts"]
    return {role: part["characters"] for role, part in parts.items()}, seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--example", default="linkform")
    example = _EXAMPLES / parser.parse_args().example
    recorded = (example / "recorded.journal").read_text(encoding="utf-8")
    bare = "".join(without_acceptance(line) + "\n" for line in recorded.splitlines())
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder, "bare.journal")
        journal.write_text(bare, encoding="utf-8")
        spec = example / "SPEC.md"
        full, full_seconds = replayed(example / "recorded.journal", spec, Path(folder, "with"))
        less, less_seconds = replayed(journal, spec, Path(folder, "without"))
    for role in full:
        print(f"{role:10} {full[role] // 4:>7,} tokens of requests, {less[role] // 4:>7,} without")
    answers = spec_characters(recorded), spec_characters(bare)
    print(f"{'the spec':10} {answers[0] // 4:>7,} tokens, {answers[1] // 4:>7,} without")
    most, least = sum(full.values()) + answers[0], sum(less.values()) + answers[1]
    print(
        f"{'in all':10} {most // 4:>7,} tokens, {least // 4:>7,} without: ratio {most / least:.2f} of {_MOST}"
    )
    print(
        f"{'the run':10} {full_seconds:.1f} s, {less_seconds:.1f} s without: gate, release and everything else"
    )
    assert most / least < _MOST


if __name__ == "__main__":
    main()
