"""Calls an installed product, in the process that imports it: the release tries its wheel (design: release).

It compares nothing: it says what came out.
"""

import importlib
import importlib.metadata
import os
import sys
from pathlib import Path
from typing import Any

from ship_gate.inside.example_runner import outcome_of
from ship_gate.inside.frames import Link
from specwright.wheels.inside.surroundings import install_clock_and_hosts


def run(link: Link, plan: dict[str, Any]) -> None:
    """Do the one thing that a job asks: import the package, or execute code."""
    job, _ = link.receive()
    send = link.marked(job.pop("nonce"))
    install_clock_and_hosts(job)
    sys.argv = ["example"]
    folder = Path(plan["scratch"]) / "work"
    folder.mkdir()
    os.chdir(folder)
    if "code" in job:
        send({"event": "outcome", **outcome_of(job["code"])})
    else:
        send({"event": "outcome", **_imported(job["package"], job["distribution"])})
    send({"event": "end"})


def _imported(package: str, distribution: str) -> dict[str, Any]:
    """The package as it describes itself, or the error of its import."""
    try:
        module = importlib.import_module(package)
        return {
            "file": module.__file__,
            "version": module.__version__,
            "installed_version": importlib.metadata.version(distribution),
            "exports": {name: callable(getattr(module, name)) for name in module.__all__},
        }
    except BaseException as error:
        return {"errors": [kind.__name__ for kind in type(error).__mro__], "message": str(error)}
