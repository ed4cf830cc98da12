"""What approved examples and properties cost in tokens: a product with them, and the same answers without.

The spec of the example `linkform` has examples for every criterion. It is built from its playbook as it is, and again from
a copy whose spec has no examples, so that no later request holds any. The gate and the release are real both times. Four
characters count as a token; the target is 1.5 times at most (docs/design.md#testing).

    python benchmarks/acceptance_tokens.py [--example NAME]
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_EXAMPLES = Path(__file__).parents[1] / "examples"
_SPEC = "researcher/spec.json"
_MOST = 1.5
"""So many times as many tokens as without them a product takes at most."""


def without_acceptance(value: Any) -> Any:
    """A spec without its examples and properties."""
    if isinstance(value, dict):
        return {key: without_acceptance(item) for key, item in value.items() if key != "acceptance"}
    return [without_acceptance(item) for item in value] if isinstance(value, list) else value


def played(playbook: Path, spec: Path, project: Path) -> tuple[dict[str, int], float]:
    """Characters of the requests by role, and the seconds of the run."""
    command = [sys.executable, "-m", "specwright.cli"]
    options = ["--approve", "--spec", str(spec), "--model", f"playbook:{playbook}"]
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
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(shutil.copytree(example / "playbook", Path(folder, "bare")))
        whole_spec = json.loads((bare / _SPEC).read_text(encoding="utf-8"))
        bare_spec = without_acceptance(whole_spec)
        (bare / _SPEC).write_text(json.dumps(bare_spec), encoding="utf-8")
        text = example / "SPEC.md"
        full, full_seconds = played(example / "playbook", text, Path(folder, "with"))
        less, less_seconds = played(bare, text, Path(folder, "without"))
    for role in full:
        print(f"{role:10} {full[role] // 4:>7,} tokens of requests, {less[role] // 4:>7,} without")
    answers = len(json.dumps(whole_spec)), len(json.dumps(bare_spec))
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
