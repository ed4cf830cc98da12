"""Small modules for the contract fuzz: a contract, a body, and the constants that its tests would lend."""

import tempfile
import textwrap
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from ship_gate.contract.contract import Effect, ErrorSurface, Input, MicroModuleContract, Modes, Output
from ship_gate.contract.docstring import public_names, signature_parameters
from ship_gate.contract.error_classes import own_exceptions
from ship_gate.contract.rules import problems
from ship_gate.findings import Finding
from ship_gate.fuzz.check import FuzzBounds, examine_contract
from ship_gate.fuzz.determinism import second_process
from ship_gate.runs import TestRun, named_tests, run_tests
from ship_gate.sandbox.staging import stage
from ship_gate.verdict import Candidate

__all__ = ["Planted", "fuzzed", "suite_of"]

_IMPORTS = """
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from enum import Enum
from pathlib import Path
from typing import Literal, TypedDict, TypeVar
from uuid import UUID

T = TypeVar("T")
"""


class Planted(NamedTuple):
    """A module `f` in short.

    Args:
        inputs: `name: type`, with constraints after it.
        returns: The type of its one output; empty for none.
        body: Of the function.
        raises: Declared exceptions.
        codes: Declared error codes.
        tests: The source of its tests.
        before: What stands above the function.
        effects: Their types.
        returned: Invariants of the output.
        twin: The body of `f_async`, if there is one.
    """

    inputs: dict[str, list[str]]
    returns: str
    body: str
    raises: tuple[str, ...] = ("ValueError",)
    tests: str = ""
    before: str = ""
    effects: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    twin: str = ""
    codes: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> "Planted":
        """As a table of `planted.toml` has it."""
        return cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in found.items()})

    def contract(self) -> MicroModuleContract:
        """Its contract, which can be locked."""
        contract = MicroModuleContract(
            module_id="MM-0000000f",
            name="f",
            purpose="Do what the case needs.",
            inputs=[
                Input(name=slot.partition(": ")[0], type=slot.partition(": ")[2], constraints=constraints)
                for slot, constraints in self.inputs.items()
            ],
            outputs=[Output(name="result", type=self.returns, invariants=list(self.returned))]
            if self.returns
            else [],
            error_surfaces=[
                ErrorSurface(name=name, when="the input is refused", surface="exception")  # pyright: ignore
                for name in self.raises
            ]
            + [ErrorSurface(name=name, when="the input is refused", surface="code") for name in self.codes],  # pyright: ignore
            effects=[
                Effect(type=kind, target="the target", description="as described")  # pyright: ignore
                for kind in self.effects  # pyright: ignore
            ],
            modes=Modes(sync=True, async_=bool(self.twin)),  # pyright: ignore
        )
        assert problems(contract) == []
        return contract

    def candidate(self) -> Candidate:
        """Its files, with nothing but what the fuzz looks at."""
        contract = self.contract()
        head = f"({', '.join(signature_parameters(contract))}) -> {self.returns or 'None'}:\n"
        own = "".join(f"class {name}(Exception):\n    pass\n" for name in own_exceptions(contract))
        exports = f"__all__ = {public_names(contract)!r}\n"
        source = (
            f"{exports}{_IMPORTS}\n{own}\n{textwrap.dedent(self.before)}\ndef f{head}{_indented(self.body)}"
        )
        if self.twin:
            source += f"\nasync def f_async{head}{_indented(self.twin)}"
        files = {
            "implementation/__init__.py": source.encode(),
            "tests/test_f.py": textwrap.dedent(self.tests).encode(),
        }
        return Candidate(contract, files)


def _indented(body: str) -> str:
    return textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"


def fuzzed(
    planted: Planted,
    bounds: FuzzBounds | None = None,
    *,
    elsewhere: bool = False,
    shown: tuple[int, ...] | None = None,
) -> tuple[Finding, ...]:
    """What the fuzz finds; also in a second process, if that is asked for, and where errors were met in these lines of the
    function's body alone, if they are given."""
    candidate = planted.candidate()
    with tempfile.TemporaryDirectory() as root, ExitStack() as stack:
        staged = stage(Path(root), candidate, candidate.files)
        second = stack.enter_context(second_process(staged)) if elsewhere else None
        bounds = bounds or FuzzBounds()
        lines = None if shown is None else [_place(staged, candidate, line) for line in shown]
        return examine_contract(
            staged, candidate, candidate.files, bounds, second=second, shown=lines
        ).findings


def suite_of(planted: Planted) -> TestRun:
    """What its tests show, past everything that the gate refuses before it runs them."""
    candidate = planted.candidate()
    with tempfile.TemporaryDirectory() as root:
        staged = stage(Path(root), candidate, candidate.files)
        return run_tests(staged, candidate.contract, named_tests(candidate.files), 60.0)


def _place(staged: Any, candidate: Any, line: Any):
    """A line of the function's body, as the module's process names it."""
    source = candidate.files["implementation/__init__.py"].decode()
    above = source[: source.index("\ndef f(")].count("\n") + 2
    return f"{staged.lib}/modules/f/__init__.py:{above + line}"
