"""Starts a process of a run: loads its role, confines itself, says that it is ready, and hands over to the role.

Executed as a script, with its plan as the only argument. The role waits for its one job. Until the job arrives nothing
of a candidate is read, so a process can be started before there is one.
"""

import contextlib
import importlib
import json
import os
import sys
import types
from pathlib import Path

__all__: list[str] = []


def _know_only(package: list[str]) -> None:
    """Make this package, the tables of the boundary, and the package that holds the role importable by their full names
    without executing what is above them.

    Args:
        package: The name and the folder of the one that holds the role; empty if that is this one.
    """
    here = Path(__file__).parent
    holder, *folder = package or [""]
    above = [holder[:place] for place, character in enumerate(holder) if character == "."]
    for name, places in (
        ("ship_gate", []),
        ("ship_gate.inside", [str(here)]),
        ("ship_gate.base", [str(here.parent / "base")]),
        *((one, []) for one in above),
        *([(holder, folder)] if holder else []),
    ):
        if name not in sys.modules:
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__path__ = places


def _main() -> None:
    plan = json.loads(sys.argv[1])
    sys.argv = [""]
    _know_only(plan["holder"])
    from ship_gate.inside.confine import confine
    from ship_gate.inside.frames import Link

    if plan["site"]:
        sys.path.append(plan["site"])
    for descriptor in (plan["from_gate"], plan["to_gate"]):
        os.set_inheritable(descriptor, False)
    link = Link(plan["from_gate"], plan["to_gate"])
    if plan["sandbox"] == "landlock":
        importlib.import_module("ship_gate.inside.metadata_calls").install(plan)
    holder = plan["holder"][0] if plan["holder"] else "ship_gate.inside"
    role = importlib.import_module(f"{holder}.{plan['role']}")
    if plan.get("surroundings"):
        importlib.import_module("ship_gate.inside.observation.surroundings").take_on(plan)
    os.chdir(plan["scratch"])
    confine(plan)
    link.send({"event": "ready"})
    # the gate stopped the run, or needs it no more
    with contextlib.suppress(EOFError):
        role.run(link, plan)


if __name__ == "__main__":
    _main()
    # threads that a module left behind must not keep the process
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    os._exit(0)
