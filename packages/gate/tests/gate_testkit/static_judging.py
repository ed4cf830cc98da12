"""Has single functions and single tests looked at by the static stage."""

import re
from typing import Any

from ship_gate.contract.contract import Effect, ErrorSurface, Input, MicroModuleContract, Modes, Output
from ship_gate.static.stage import static_findings
from ship_gate.verdict import Candidate
from testkit.paths import GATE_CORPUS

__all__ = ["cases", "codes_of_source", "codes_of_tests", "contract_of"]

_CASE = re.compile(r"^## (.+?)\n\n```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def cases(name: Any):
    """The pieces of code of a file of the corpus by their headings."""
    found = dict(_CASE.findall((GATE_CORPUS / name).read_text(encoding="utf-8")))
    assert found
    return found


def contract_of(effects: Any = (), raises: Any = ("ValueError",)):
    """A contract of `f(path: Path, text: str) -> int`, with effects like `"CALL clock"`."""
    declared = [effect.partition(" ")[::2] for effect in effects]
    made: Any = MicroModuleContract
    surface: Any = "exception"
    modes = Modes.model_validate({"sync": True, "async": False})
    return made(
        module_id="MM-00000001",
        name="f",
        purpose="Do something.",
        inputs=[Input(name="path", type="Path"), Input(name="text", type="str")],
        outputs=[Output(name="result", type="int")],
        error_surfaces=[ErrorSurface(name=name, when="it fails", surface=surface) for name in raises],
        effects=[Effect(type=kind, target=target, description="it happens") for kind, target in declared],
        modes=modes,
    )


def codes_of_source(source: Any, effects: Any = (), raises: Any = ("ValueError",), more: Any = None):
    """The codes with their lines that the static stage has for `implementation/__init__.py`."""
    files: dict[str, str] = {"implementation/__init__.py": source, **(more or {})}
    found = static_findings(
        Candidate(contract_of(effects, raises), {k: v.encode() for k, v in files.items()})
    )
    return [(finding.code, finding.where) for finding in found]


def codes_of_tests(source: Any, entry: Any = "f"):
    """The codes that the static stage has for a file of tests."""
    text = source if "import f" in source else f"import pytest\nfrom modules.{entry} import {entry}\n{source}"
    files = {
        "implementation/__init__.py": b"def f(path, text):\n    return 1\n",
        "tests/test_f.py": text.encode(),
    }
    return sorted({finding.code for finding in static_findings(Candidate(contract_of(), files))})
