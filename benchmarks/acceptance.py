"""What approved examples and properties add to a judgement and to a release (docs/design.md#testing).

The module is that of `gate_whole.py`, with six approved examples and two properties. Each line is a ratio to the same work
without them, in the same run (target: at most 2 for the judgement, 4 for the release).

    python benchmarks/acceptance.py [--repeat N]
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

from gate_whole import CASES, module

from ship_gate.contract.examples import Example
from ship_gate.contract.independent_tests import Property
from ship_gate.ship_gate import SandboxedShipGate
from specwright.ports import ApprovedExample, ApprovedProperty, ProductModule, ProductPackage
from specwright.wheels import FlitPackager

_EXAMPLES = 6
_MOST_JUDGED, _MOST_RELEASED = 2.0, 4.0
"""So many times what it takes without them a judgement and a release take at most. The release of one small module is a
second of pip; a property takes a second."""

_HOLDS = {
    "No blank": "' ' not in slugify(text)",
    "At most as long": "len(slugify(text, most=most)) <= most",
}


def approved(package: str) -> tuple[list[Example], list[Property]]:
    """As a module imports them, or as a user of the package does."""
    head = f"from {package} import slugify\n"
    examples = [
        Example(f"criterion 1, {name}", name, f"{head}{call}", gives, 1)
        for name, (call, gives, _) in list(CASES.items())[:_EXAMPLES]
    ]
    variables = {"text": "str", "most": "int"}
    codes = tuple(example.code for example in examples)
    properties = [
        Property(
            f"criterion 2, {name}",
            f"{head}{code}",
            {kind: of for kind, of in variables.items() if kind in code},
            ("ValueError",),
            codes,
        )
        for name, code in _HOLDS.items()
    ]
    return examples, properties


def seconds(works: Sequence[Callable[[], None]], repeat: int) -> list[float]:
    """The medians of some runs of each, taken in turn."""
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(repeat):
        for work, of in zip(works, taken, strict=True):
            began = time.perf_counter()
            work()
            of.append(time.perf_counter() - began)
    return [statistics.median(of) for of in taken]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    gate, candidate = SandboxedShipGate(), module()
    examples, properties = approved("modules.slugify")

    def judged() -> None:
        assert gate.judge(candidate).passed

    def tried_examples() -> None:
        assert gate.try_examples(candidate, examples) == ()

    def tried_properties() -> None:
        assert [one.problem for one in gate.try_properties(candidate, properties)] == ["", ""]

    whole, with_examples, with_properties = seconds([judged, tried_examples, tried_properties], repeat)
    ratio = (whole + with_examples + with_properties) / whole
    print(f"judgement {whole:.2f} s, {len(examples)} examples {with_examples:.2f} s more, ", end="")
    print(f"{len(properties)} properties {with_properties:.2f} s more: ratio {ratio:.2f} of {_MOST_JUDGED}")
    packager = FlitPackager(gate)
    files = {
        path.removeprefix("implementation/"): data
        for path, data in candidate.files.items()
        if path.startswith("implementation/")
    }
    own = ProductModule(candidate.contract, files, candidate.files["examples.md"].decode())
    bare = ProductPackage("slugs", "slugs", "1.0.0", "Slugs.", (own,), ("slugify",))
    user_examples, user_properties = approved("slugs")
    full = bare._replace(
        approved=tuple(ApprovedExample("TSK-001", one) for one in user_examples),
        properties=tuple(ApprovedProperty("TSK-001", one) for one in user_properties),
    )

    def released(product: ProductPackage) -> Callable[[], None]:
        def work() -> None:
            report = packager.exercise(packager.build(product), product)
            assert report.result == "PASS", report.detail

        return work

    without, with_all = seconds([released(bare), released(full)], repeat)
    print(
        f"release without {without:.2f} s, with {with_all:.2f} s: ratio {with_all / without:.2f} of {_MOST_RELEASED}"
    )
    assert ratio < _MOST_JUDGED
    assert with_all / without < _MOST_RELEASED


if __name__ == "__main__":
    main()
