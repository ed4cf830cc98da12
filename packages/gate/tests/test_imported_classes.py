"""Classes that a module imports from a dependency: what the contract describes of them is read where they are defined
(design: module-directory, ship-gate)."""

import ast
import json

import pytest

from gate_testkit.judging import codes
from gate_testkit.pair_contracts import ERROR, PAIR, a_contract
from ship_gate.contract.contract import Dependency, ErrorSurface, Input, MicroModuleContract, Modes, Output
from ship_gate.contract.docstring import imported_classes, render_stub
from ship_gate.public_surface import compare_surface
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.source.files import ParsedFiles
from ship_gate.verdict import ENTRY_FILE, Candidate, SealedModule
from testkit.sampling import spread

READ = a_contract("read_pair", "Pair", ["both are not negative", PAIR])
READ_SOURCE = """from dataclasses import dataclass

__all__ = ["Pair", "PairError", "read_pair"]


class PairError(Exception):
    index: int

    def __init__(self, message: str, *, index: int) -> None:
        super().__init__(message)
        self.index = index


@dataclass(frozen=True)
class Pair:
    left: int
    right: int


def read_pair(text: str) -> Pair:
    numbers = [part if part.isdecimal() and part.isascii() else "" for part in text.split(",")]
    if len(numbers) != 2 or not all(numbers):
        raise PairError("no pair", index=len(text))
    return Pair(int(numbers[0][:9]), int(numbers[1][:9]))
"""
SWAP_SOURCE = """from ..read_pair import Pair, PairError, read_pair

__all__ = ["Pair", "PairError", "swap_pair"]


def swap_pair(text: str) -> Pair:
    pair = read_pair(text)
    return Pair(pair.right, pair.left)
"""
SWAP_TESTS = """import pytest

from modules.swap_pair import Pair, PairError, swap_pair


@pytest.mark.parametrize(("text", "left", "right"), [("1,2", 2, 1), ("30,4", 4, 30)])
def test_the_numbers_change_places(text, left, right):
    assert swap_pair(text) == Pair(left=left, right=right)
    assert min(left, right) >= 0


def test_no_pair_is_refused_with_its_length():
    with pytest.raises(PairError) as caught:
        swap_pair("1,b")
    assert caught.value.index == 3
"""
CLAIMS = {
    "test_the_numbers_change_places": ["", "/outputs/0/invariants/0"],
    "test_no_pair_is_refused_with_its_length": ["/error_surfaces/0", "/error_surfaces/0/fields/0"],
}
EXAMPLES = """## Two numbers

They change places.

```python
from modules.swap_pair import swap_pair

swap_pair("1,2")
```

```text
Pair(left=2, right=1)
```

## No number

It is refused.

```python
from modules.swap_pair import swap_pair

swap_pair("1,b")
```

```text
PairError: no pair
```
"""


def swapping(described, source=SWAP_SOURCE):
    """A candidate that returns and raises classes of its dependency, whose contract describes them or not."""
    error = ERROR if described else ERROR.model_copy(update={"fields": []})
    texts = ["both are not negative", *([PAIR] if described else [])]
    contract = a_contract("swap_pair", "Pair", texts, [READ.ref], error)
    claims = (
        CLAIMS
        if described
        else {name: [p for p in found if "fields" not in p] for name, found in CLAIMS.items()}
    )
    files = {
        "implementation/__init__.py": source,
        "tests/test_swap_pair.py": SWAP_TESTS,
        "tests/obligations.json": json.dumps(claims),
        "examples.md": EXAMPLES,
    }
    return contract, {path: text.encode() for path, text in files.items()}


@pytest.fixture
def reading(tmp_path):
    """The dependency."""
    (tmp_path / "implementation").mkdir()
    (tmp_path / "implementation/__init__.py").write_text(READ_SOURCE, encoding="utf-8")
    return SealedModule(READ, tmp_path)


@pytest.mark.parametrize("described", spread([True, False], fast=2))
def test_a_module_may_return_and_raise_the_classes_of_its_dependency(reading, described):
    """D-21-03: imported as the Proposer is told; the gate reads their fields where they are defined."""
    contract, files = swapping(described)
    verdict = SandboxedShipGate().judge(Candidate(contract, files, (reading,)))
    assert codes(verdict) == []
    assert verdict.actual_fingerprint == contract.interface_fingerprint


def test_a_class_that_the_dependency_defines_otherwise_and_a_copy_are_mismatches(reading, tmp_path):
    """D-21-03: what the contract says of an imported class is compared with its definition, and what the owner gives is
    not taken by a module that has made its own."""
    record = "@dataclass(frozen=True)\nclass Pair:\n    left: int\n    right: int\n\n\ndef sum_pair"
    own = SUM_FILES["implementation/__init__.py"].replace("def sum_pair", record, 1)
    imported = "from dataclasses import dataclass\n\nfrom ..read_pair import PairError\n"
    own = own.replace("from ..read_pair import Pair, PairError\n", imported)
    files = {path: text.encode() for path, text in {**SUM_FILES, "implementation/__init__.py": own}.items()}
    assert "surface.mismatch" in codes(SandboxedShipGate().judge(Candidate(SUM, files, (reading,))))
    source = READ_SOURCE.replace("    right: int\n", "    right: float\n")
    (tmp_path / "implementation/__init__.py").write_text(source, encoding="utf-8")
    contract, files = swapping(described=True)
    assert "surface.mismatch" in codes(SandboxedShipGate().judge(Candidate(contract, files, (reading,))))


def test_the_stub_imports_what_a_dependency_exports():
    """D-21-03: so that a Proposer need not know which module has the class; a class of the same name that is described
    otherwise is the module's own."""
    for described in (True, False):
        contract, _ = swapping(described)
        stub = render_stub(contract, imported_classes(contract, [READ]))
        assert "from ..read_pair import Pair\n" in stub
        assert "from ..read_pair import PairError\n" in stub
        assert [node.name for node in ast.parse(stub).body if isinstance(node, ast.ClassDef)] == []
    contract = a_contract("swap_pair", "Pair", ["Pair is a frozen dataclass: left: int"], [READ.ref])
    assert imported_classes(contract, [READ]) == {"PairError": "read_pair"}


def test_the_stub_of_a_class_with_an_imported_one_in_a_field_is_no_finding(reading):
    """D-21-03: who keeps `__all__` of the stub, as told, is not told to take a name out of it."""
    pairs = "Pairs is a frozen dataclass: all: list[Pair]"
    contract = a_contract("read_pairs", "Pairs", ["is whole", pairs], [READ.ref])
    stub = render_stub(contract, imported_classes(contract, [READ]))
    assert '__all__ = ["read_pairs", "PairError", "Pairs", "Pair"]' in stub
    compared = compare_surface(ParsedFiles.of({ENTRY_FILE: stub.encode()}), contract, (reading,))
    assert compared.findings == []
    assert compared.actual == contract.interface_fingerprint


SUM = MicroModuleContract(
    module_id="MM-0000000d",
    name="sum_pair",
    purpose="Add the numbers of a pair.",
    inputs=[Input(name="pair", type="Pair", constraints=["left is at most 9"])],
    outputs=[Output(name="total", type="int", invariants=["total is left plus right"])],
    error_surfaces=[ErrorSurface(name="PairError", when="left is above 9", surface="exception")],
    effects=[],
    modes=Modes(sync=True, async_=False),
    dependencies=[Dependency(ref=READ.ref, why="It exports Pair and PairError.")],
)
SUM_FILES = {
    "implementation/__init__.py": """from ..read_pair import Pair, PairError

__all__ = ["Pair", "PairError", "sum_pair"]


def sum_pair(pair: Pair) -> int:
    if pair.left > 9:
        raise PairError("left is above 9", index=0)
    return pair.left + pair.right
""",
    "tests/test_sum_pair.py": """import pytest

from modules.read_pair import read_pair
from modules.sum_pair import Pair, PairError, sum_pair


@pytest.mark.parametrize(("left", "right", "total"), [(1, 2, 3), (9, 4, 13), (-3, 0, -3), (0, -5, -5)])
def test_the_numbers_are_added(left, right, total):
    assert sum_pair(Pair(left=left, right=right)) == total


def test_a_pair_of_the_module_that_has_the_class_is_taken():
    assert sum_pair(read_pair("3,4")) == 7


def test_more_than_nine_is_refused():
    assert sum_pair(Pair(left=9, right=0)) == 9
    with pytest.raises(PairError):
        sum_pair(Pair(left=10, right=0))
""",
    "tests/obligations.json": json.dumps(
        {
            "test_the_numbers_are_added": ["", "/outputs/0/invariants/0"],
            "test_a_pair_of_the_module_that_has_the_class_is_taken": [""],
            "test_more_than_nine_is_refused": ["/error_surfaces/0", "/inputs/0/constraints/0"],
        }
    ),
    "examples.md": """## A sum

Of two numbers.

```python
from modules.sum_pair import Pair, sum_pair

sum_pair(Pair(left=1, right=2))
```

```text
3
```

## A large number

It is refused.

```python
from modules.sum_pair import Pair, sum_pair

sum_pair(Pair(left=10, right=2))
```

```text
PairError: left
```
""",
}


@pytest.mark.slow
def test_a_module_may_take_a_record_and_raise_an_error_of_a_module_that_it_never_calls(reading):
    """D-21-03: one definition serves both; what the one gives, the other takes."""
    files = {path: text.encode() for path, text in SUM_FILES.items()}
    verdict = SandboxedShipGate().judge(Candidate(SUM, files, (reading,)))
    assert codes(verdict) == []
    assert verdict.actual_fingerprint == SUM.interface_fingerprint
