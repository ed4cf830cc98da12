"""Runs a script of the gate in a process of its own, inside the sandbox, together with the module that it loads.

For scripts that need the module beside them, as the run of the mutants does. Their results are JSON lines on the
descriptor that is their first argument; what else the gate has to say comes from the one that is their last.
"""

import runpy
import sys
from typing import Any

from specwright.gate.inside.frames import Link

__all__ = ["run"]


def run(_: Link, job: dict[str, Any], plan: dict[str, Any]) -> None:
    """Run the job's script to its end."""
    script: str = job["script"]
    sys.argv = [script, str(plan["to_gate"]), *job["arguments"], str(plan["from_gate"])]
    runpy.run_path(script, run_name="__main__")
