"""The ship gate: what code observes about a module, without any model (design: sealing, ship-gate).

    judge_directory   judge one module directory
    statements        what a contract says, statement by statement, with the pointers that cite it

Everything is imported when it is first used, since pytest loads this package wherever it is installed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ship_gate.batch import judge_directory
    from ship_gate.contract.contract import MicroModuleContract
    from ship_gate.contract.statements import Statement, statements
    from ship_gate.errors import CorruptionError, InputError, RefusedError, ShipGateError
    from ship_gate.findings import Finding
    from ship_gate.module_directory import DirectoryVerdict

__all__ = [
    "CorruptionError",
    "DirectoryVerdict",
    "Finding",
    "InputError",
    "MicroModuleContract",
    "RefusedError",
    "ShipGateError",
    "Statement",
    "__version__",
    "judge_directory",
    "statements",
]

__version__ = "0.1.0"

_HOMES = {
    "judge_directory": "batch",
    "DirectoryVerdict": "module_directory",
    "Finding": "findings",
    "MicroModuleContract": "contract.contract",
    "Statement": "contract.statements",
    "statements": "contract.statements",
}
"""The module of a name; the other names are those of `errors`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ship_gate' has no attribute {name!r}")
    value = getattr(import_module(f"ship_gate.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
