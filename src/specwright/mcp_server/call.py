"""The process of one call: it reads the call from standard input, and writes what came of it (design: mcp-server).

A line on standard input says which tool, with which arguments, in which surroundings. Lines on standard output are JSON:
any number of `{"done", "of", "what"}`, then one `{"result"}` or `{"error"}`. What the tool itself prints goes to standard
error. When standard input ends the server is gone, and so is the call.
"""

import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from specwright.domain.base.record import Record
from specwright.errors import SpecwrightError
from specwright.mcp_server import adopting, judging, packages, searching
from specwright.mcp_server.file_tools import editing, module_directory
from specwright.mcp_server.roots import Roots
from specwright.mcp_server.tools import tool_named
from specwright.mcp_server.work import Work

FUNCTIONS: Mapping[str, Callable[[Any, Work], Record]] = {
    "gate": judging.gate,
    "gate_package": packages.gate_package,
    "explain": judging.explain,
    "adopt": adopting.adopt,
    "search_index": searching.search_index,
    "read_module": module_directory.read_module,
    "read_files": editing.read_files,
    "edit_files": editing.edit_files,
    "fix_docstring": judging.fix_docstring,
}
"""The function of each tool."""


def main() -> None:
    """Run the call that standard input holds."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    lock = threading.Lock()  # modules are judged, and end, in several threads

    def report(done: int, of: int, what: str) -> None:
        with lock:
            _write(answers, {"done": done, "of": of, "what": what[:200]})

    work = Work(
        Roots([Path(place) for place in request["roots"]]),
        Path(request["scratch"]),
        request["seconds"],
        report,
        request.get("writes_tree", False),
    )
    _write(answers, _outcome(request["tool"], request["arguments"], work))


def _outcome(name: str, given: Mapping[str, Any], work: Work) -> dict[str, Any]:
    tool = tool_named(name)
    if tool is None:
        return {"error": f"there is no tool {name!r}"}
    try:
        return {"result": FUNCTIONS[name](tool.arguments.model_validate(given), work).to_json()}
    except SpecwrightError as error:
        return {"error": str(error)}
    except OSError as error:
        return {"error": f"the operating system refuses: {error}"}
    except Exception as error:  # the client is told what broke; the traceback is for the log
        sys.excepthook(type(error), error, error.__traceback__)
        return {"error": f"Specwright itself broke: {type(error).__name__}: {error}"[:500]}


def _write(answers: IO[str], document: Mapping[str, Any]) -> None:
    answers.write(json.dumps(document) + "\n")
    answers.flush()


def _end_with_the_server() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
