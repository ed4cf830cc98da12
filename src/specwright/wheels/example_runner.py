"""The child process that calls an installed product: `python example_runner.py JOB.json`.

It runs in the clean environment, so it imports the standard library alone. It reports the result as one JSON line on
standard output; the product's own output goes to standard error. `exercise` compares the result with the expected one.
"""

import ast
import contextlib
import importlib
import importlib.metadata
import json
import os
import sys
from pathlib import Path
from typing import Any

_MEMORY = 4 << 30
_FILE_SIZE = 256 << 20


def main(job_path: str) -> None:
    """Do one job and report on it.

    Args:
        job_path: JSON: `package`, and either `code` (run it) or `distribution` (import it).
    """
    job: dict[str, str] = json.loads(Path(job_path).read_text(encoding="utf-8"))
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as output:
        os.dup2(2, 1)
        _limit_resources()
        if "code" in job:
            report = run_example(job["code"], job["package"])
        else:
            report = import_package(job["package"], job["distribution"])
        output.write(json.dumps(report))


def _limit_resources() -> None:
    with contextlib.suppress(ImportError):  # there is no such module on Windows
        import resource

        for kind, most in ((resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_FSIZE, _FILE_SIZE)):
            with contextlib.suppress(ValueError, OSError):  # a stricter limit is set already
                resource.setrlimit(kind, (most, most))


def import_package(package: str, distribution: str) -> dict[str, Any]:
    """Import the product and describe it.

    Returns:
        `file`, `version`, `installed_version`, and `exports` (name -> whether it is callable); or an error
        as in `run_example`.
    """
    try:
        module = importlib.import_module(package)
        return {
            "file": module.__file__,
            "version": module.__version__,
            "installed_version": importlib.metadata.version(distribution),
            "exports": {name: callable(getattr(module, name)) for name in module.__all__},
        }
    except BaseException as error:
        return _report_of(error)


def run_example(code: str, package: str) -> dict[str, Any]:
    """Run a block against the product instead of against `modules`.

    Returns:
        `value`, the repr of its last line; or `errors`, the names of the error's class and its bases, with
        `message`.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    try:
        tree = _Redirected(package).visit(ast.parse(code))
        last = tree.body[-1] if tree.body else None
        if not isinstance(last, ast.Expr):
            return _report_of(SyntaxError("the last line of an example is an expression"))
        setup = ast.Module(tree.body[:-1], type_ignores=[])
        exec(compile(setup, "<example>", "exec"), namespace)  # noqa: S102 - running it is the purpose
        value = eval(compile(ast.Expression(last.value), "<example>", "eval"), namespace)  # noqa: S307 - running it is the purpose
        return {"value": repr(value)}
    except BaseException as error:
        return _report_of(error)


class _Redirected(ast.NodeTransformer):
    """`from modules.<name> import` becomes `from <package>.<name> import` (design: contracts)."""

    def __init__(self, package: str) -> None:
        self._package = package

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        head, _, tail = (node.module or "").partition(".")
        if node.level == 0 and head == "modules" and tail:
            node.module = f"{self._package}.{tail}"
        return node


def _report_of(error: BaseException) -> dict[str, Any]:
    return {"errors": [kind.__name__ for kind in type(error).__mro__], "message": str(error)}


if __name__ == "__main__":
    main(sys.argv[1])
