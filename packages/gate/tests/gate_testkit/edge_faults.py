"""The faults of `edge_faults.toml`, at the edges of small modules: each with the examples that its author would give, and
with a property of its spec. They were written before the code that tries properties."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gate_testkit.fuzzing import Planted
from ship_gate.contract.examples import Example
from ship_gate.contract.independent_tests import Property

__all__ = ["EDGE_FAULTS", "EdgeFault"]


class EdgeFault(NamedTuple):
    """A module that is wrong at an edge, and one that is not.

    Args:
        inputs: Of its function `f`, each with its type.
        returns: The type of what it returns.
        sound: The body that is right.
        faulty: What of it is `right`, and what is `wrong` instead.
        examples: Calls and what they give, by both bodies.
        holds: The expression of the property, whose variables are the inputs.
        errors: That the contract declares and the property allows.
    """

    inputs: dict[str, str]
    returns: str
    sound: str
    faulty: dict[str, str]
    examples: dict[str, str]
    holds: str
    errors: Sequence[str] = ()

    def planted(self, *, is_sound: bool = False) -> Planted:
        """The module in short."""
        right, wrong = self.faulty["right"], self.faulty["wrong"]
        assert self.sound.count(right) == 1
        body = self.sound if is_sound else self.sound.replace(right, wrong)
        return Planted(
            {f"{name}: {kind}": [] for name, kind in self.inputs.items()},
            self.returns,
            body,
            tuple(self.errors),
        )

    def approved_examples(self) -> list[Example]:
        """As the gate runs them."""
        return [Example(call, call, f"{_IMPORTS}\n{call}", gives, 1) for call, gives in self.examples.items()]

    def property(self) -> Property:
        """As the gate tries it."""
        codes = tuple(example.code for example in self.approved_examples())
        code = f"{_IMPORTS}\n{self.holds}"
        return Property("criterion 1", code, self.inputs, tuple(self.errors), codes)


_IMPORTS = "from datetime import date\nfrom decimal import Decimal\nfrom modules.f import f"

_FOUND = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
EDGE_FAULTS = {wrong: EdgeFault(**found) for wrong, found in _FOUND.items()}
"""By what is wrong."""
