"""Executes a candidate's examples, each in a fresh directory, without the module (design: role-access, module-directory).

It compares nothing: it says what came out.
"""

import ast
import os
import sys
from pathlib import Path
from typing import Any

from ship_gate.base.boundary_values import full_repr
from ship_gate.inside.frames import Link
from ship_gate.inside.observation.clock import install as install_clock
from ship_gate.inside.observation.process_state import restore
from ship_gate.inside.proxies import Caller, install

_MOST_CHARACTERS = 100_000


def run(link: Link, plan: dict[str, Any]) -> None:
    """Execute the examples of a job and tell the outcome of each."""
    job, _ = link.receive()
    caller = Caller(link, link.send)
    install(caller, job["surface"])
    install_clock(caller.clock)
    send = link.marked(job.pop("nonce"))
    sys.argv = ["example"]
    start = dict(os.environ)
    for place, code in enumerate(job["examples"]):
        restore(start)
        caller.clock.clear()
        caller.web.clear()
        folder = Path(plan["scratch"]) / f"example-{place}"
        folder.mkdir()
        os.chdir(folder)
        send({"event": "start", "name": str(place)})
        send({"event": "example", "place": place, **outcome_of(code)})
    send({"event": "end"})


def outcome_of(code: str) -> dict[str, Any]:
    """What a block gives: `value`, the repr of its last line, or `errors`, the names of an error's class and its bases, with
    its `message`."""
    try:
        tree = ast.parse(code)
        last = tree.body.pop()
        assert isinstance(last, ast.Expr)  # the grammar of examples.md
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(tree, "<example>", "exec"), names)  # noqa: S102 - executing examples is what it is for
        value = eval(compile(ast.Expression(last.value), "<example>", "eval"), names)  # noqa: S307 - running it is the purpose
        return {"value": full_repr(value)[:_MOST_CHARACTERS]}
    except BaseException as error:
        names_ = [kind.__name__ for kind in type(error).__mro__]
        return {"errors": names_, "message": str(error)[:_MOST_CHARACTERS]}
