"""The products of `wrong_together.toml`: their modules are right by themselves and wrong together."""

import json
import textwrap
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ship_gate.contract.contract import ErrorSurface, Input, MicroModuleContract, Modes, Output
from ship_gate.verdict import Candidate
from specwright.domain.acceptance.calls import acceptance_of_product
from specwright.domain.acceptance.records import TaskAcceptance, name_of
from specwright.ports import ApprovedExample, ApprovedProperty, ProductModule, ProductPackage
from testkit.wheels.packaged import example

__all__ = ["WRONG_TOGETHER", "Together"]

_HEAD = "from datetime import date, timedelta\n\n"


class Part(NamedTuple):
    """A module in short.

    Args:
        signature: `name(input: type) -> type`.
        purpose: What it is for, as its contract says it.
        body: Of its function.
        gives: Calls, and what they give.
        when: The contract says that it raises ValueError.
        refuses: Calls that do.
    """

    signature: str
    purpose: str
    body: str
    gives: dict[str, str]
    when: str = ""
    refuses: Sequence[str] = ()

    @property
    def name(self) -> str:
        """Of the module and of its function."""
        return name_of(self.signature)

    def contract(self) -> MicroModuleContract:
        """Its own."""
        given, _, returns = self.signature.removeprefix(f"{self.name}(").partition(") -> ")
        pairs = [one.partition(": ") for one in given.split("; ")]
        surfaces = (
            [ErrorSurface(name="ValueError", when=self.when, surface="exception")] if self.refuses else []
        )
        return MicroModuleContract(
            module_id=f"MM-{sum(self.name.encode()):08x}",
            name=self.name,
            purpose=self.purpose,
            inputs=[Input(name=name, type=kind, constraints=[]) for name, _, kind in pairs],
            outputs=[Output(name="result", type=returns, invariants=[])],
            error_surfaces=surfaces,
            effects=[],
            modes=Modes(sync=True, async_=False),
        )

    def files(self) -> dict[str, bytes]:
        """As its Proposer would hand them in."""
        given, _, returns = self.signature.removeprefix(f"{self.name}(").partition(") -> ")
        body = textwrap.indent(textwrap.dedent(self.body).strip(), "    ")
        source = f'{_HEAD}__all__ = ["{self.name}"]\n\n\ndef {self.name}({given.replace(";", ",")}) -> {returns}:\n{body}\n'
        tests, examples, claims = (
            f"{_HEAD}import pytest\nfrom modules.{self.name} import {self.name}\n",
            "",
            {},
        )
        for number, (call, result) in enumerate(self.gives.items()):
            tests += f"\n\ndef test_{number}():\n    assert {call} == {result}\n"
            claims[f"test_{number}"] = [""]
        call, result = next(iter(self.gives.items()))
        examples = self.example("What it gives", f"repr({call}) == repr({result})", "True")
        for number, call in enumerate(self.refuses):
            tests += (
                f"\n\ndef test_refused_{number}():\n    with pytest.raises(ValueError):\n        {call}\n"
            )
            claims[f"test_refused_{number}"] = ["/error_surfaces/0"]
        if self.refuses:
            examples += self.example("What it refuses", self.refuses[0], "ValueError:")
        files = {
            "implementation/__init__.py": source,
            "tests/test_it.py": tests,
            "tests/obligations.json": json.dumps(claims),
            "examples.md": examples,
        }
        return {path: text.encode() for path, text in files.items()}

    def example(self, heading: str, code: str, gives: str) -> str:
        """As `examples.md` has it."""
        return example(heading, f"{_HEAD}from modules.{self.name} import {self.name}\n\n{code}", gives)

    def candidate(self) -> Candidate:
        """For the gate."""
        return Candidate(self.contract(), self.files())


class Together(NamedTuple):
    """A product of two modules, each of a task of its own.

    Args:
        first: A module.
        second: That takes what the first one gives.
        criterion: Of the second one's task, that both break.
        shown: By this code.
        corrected: The body that the second one ought to have.
        gives: Of an example; empty for a property.
        variables: Of a property.
    """

    first: Part
    second: Part
    criterion: str
    shown: str
    corrected: str
    gives: str = ""
    variables: dict[str, str] | None = None

    @property
    def acceptance(self) -> TaskAcceptance:
        """Of the second task."""
        names = f"{self.first.name}, {self.second.name}"
        item: dict[str, Any] = {
            "title": "Together",
            "criteria": [2],
            "success_criteria": [1],
            "code": f"{_HEAD}from together import {names}\n\n{self.shown}",
        }
        kind = {"properties": [{**item, "variables": self.variables, "errors": ["ValueError"]}]}
        if self.variables is None:
            kind = {"examples": [{**item, "gives": self.gives}]}
        provides = [one.signature.replace(";", ",") for one in (self.first, self.second)]
        return TaskAcceptance.model_validate({"provides": provides, **kind})

    @property
    def criteria(self) -> list[str]:
        """Of the second task."""
        return [self.second.purpose, self.criterion]

    def product(self, *, is_corrected: bool = False) -> ProductPackage:
        """What is released."""
        second = self.second._replace(body=self.corrected) if is_corrected else self.second
        names = self.first.name, second.name
        approved = acceptance_of_product(self.acceptance, self.criteria, names)
        return ProductPackage(
            "together",
            "together",
            "1.0.0",
            "Two modules.",
            tuple(_module(one, is_corrected=one.body == self.corrected) for one in (self.first, second)),
            names,
            approved=tuple(ApprovedExample("TSK-002", one) for one in approved.examples),
            properties=tuple(ApprovedProperty("TSK-002", one) for one in approved.properties),
        )


def _module(one: Part, *, is_corrected: bool) -> ProductModule:
    files = {
        path.removeprefix("implementation/"): data
        for path, data in one.files().items()
        if path.startswith("implementation/")
    }
    examples = one.files()["examples.md"].decode()
    if is_corrected:  # the examples are those of the wrong one
        examples = one.example("What it is", f"callable({one.name})", "True")
    return ProductModule(one.contract(), files, examples)


def _together(found: dict[str, Any]) -> Together:
    return Together(**{**found, **{name: Part(**found[name]) for name in ("first", "second")}})


_FOUND = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
WRONG_TOGETHER = {wrong: _together(found) for wrong, found in _FOUND.items()}
"""By what is wrong."""
