"""Contracts of modules that give a record and raise an error, which other modules import from them."""

from collections.abc import Iterable

from ship_gate.contract.contract import (
    Dependency,
    ErrorField,
    ErrorSurface,
    Input,
    MicroModuleContract,
    Modes,
    Output,
)

ERROR = ErrorSurface(
    name="PairError",
    when="no digits beside a comma",
    surface="exception",
    fields=[ErrorField(name="index", type="int")],
)
PAIR = "Pair is a frozen dataclass: left: int, right: int"


def a_contract(
    name: str,
    output: str,
    invariants: Iterable[str],
    depends_on: Iterable[str] = (),
    error: ErrorSurface = ERROR,
) -> MicroModuleContract:
    """Of a module that reads a pair from a text."""
    return MicroModuleContract(
        module_id=f"MM-{len(name):08x}",
        name=name,
        purpose="Read two numbers from a text.",
        inputs=[Input(name="text", type="str")],
        outputs=[Output(name="pair", type=output, invariants=list(invariants))],
        error_surfaces=[error],
        effects=[],
        modes=Modes(sync=True, async_=False),
        dependencies=[Dependency(ref=ref, why="It reads the pair.") for ref in depends_on],
    )
