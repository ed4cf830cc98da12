"""Tries properties of an installed product, in the process that imports it (design: release, executable-spec)."""

import os
import sys
from pathlib import Path
from typing import Any

from ship_gate.inside.frames import Link
from ship_gate.inside.fuzz.properties import try_properties
from specwright.wheels.inside.surroundings import install_clock_and_hosts


def run(link: Link, plan: dict[str, Any]) -> None:
    """Try the properties of a job on the package that it names."""
    job, _ = link.receive()
    send = link.marked(job.pop("nonce"))
    install_clock_and_hosts(job)
    sys.path.append(plan["product"])
    sys.argv = ["example"]
    package = str(Path(plan["product"]) / job["package"]) + os.sep
    try_properties(job["request"], send, Path(plan["scratch"]), package)
    send({"event": "end"})
