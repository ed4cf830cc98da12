"""Products as they are packaged: unpacked as an installation leaves them, or built, installed and tried."""

import zipfile
from io import BytesIO
from pathlib import Path

from ship_gate.ship_gate import SandboxedShipGate
from specwright.ports import ExerciseReport, ProductPackage
from specwright.wheels import FlitPackager, Limits
from specwright.wheels.wheel import build_wheel

__all__ = ["example", "exercised", "unpacked"]


def unpacked(product: ProductPackage, folder: Path) -> Path:
    """The folder with the content of a wheel, as an installation leaves it."""
    with zipfile.ZipFile(BytesIO(build_wheel(product).content)) as archive:
        archive.extractall(folder)
    return folder


def exercised(product: ProductPackage, **limits: float) -> ExerciseReport:
    """Build, install and try."""
    packager = FlitPackager(SandboxedShipGate(), Limits(**limits))
    return packager.exercise(packager.build(product), product)


def example(heading: str, code: str, gives: str) -> str:
    """An example as `examples.md` has it."""
    return f"## {heading}\n\nIt is shown.\n\n```python\n{code}\n```\n\n```text\n{gives}\n```\n\n"
