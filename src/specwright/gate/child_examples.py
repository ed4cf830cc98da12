"""Executes a staged candidate's examples, each in a fresh directory. Executed as a script by `example_run`.

It loads nothing of the factory and compares nothing: it says what came out.
"""

import ast
import json
import os
import sys
from pathlib import Path
from typing import Any

__all__: list[str] = []

_MOST_CHARACTERS = 100_000


def _outcome(code: str) -> dict[str, Any]:
    try:
        tree = ast.parse(code)
        last = tree.body.pop()
        assert isinstance(last, ast.Expr)  # the grammar of examples.md
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(tree, "<example>", "exec"), names)  # noqa: S102 - executing examples is what it is for
        value = eval(compile(ast.Expression(last.value), "<example>", "eval"), names)  # noqa: S307
        return {"value": repr(value)[:_MOST_CHARACTERS]}
    except BaseException as error:
        names_ = [kind.__name__ for kind in type(error).__mro__]
        return {"errors": names_, "message": str(error)[:_MOST_CHARACTERS]}


def _main(descriptor: int, lib: str, listing: str) -> None:
    os.set_inheritable(descriptor, False)
    sys.path.insert(0, lib)
    home = Path.cwd()
    sys.argv = ["example"]
    examples: list[str] = json.loads(Path(listing).read_text(encoding="utf-8"))
    for place, code in enumerate(examples):
        folder = home / f"example-{place}"
        folder.mkdir()
        os.chdir(folder)
        line = json.dumps({"place": place, **_outcome(code)}).encode() + b"\n"
        while line:
            line = line[os.write(descriptor, line) :]


if __name__ == "__main__":
    _main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
    os._exit(0)
