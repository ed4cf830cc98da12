"""The packager of releases: wheels by flit_core, tried out in a virtual environment (D28)."""

from specwright.packaging.clean_environment import own_pip
from specwright.packaging.exercise import Limits, exercise_wheel
from specwright.packaging.wheel import build_wheel
from specwright.ports.packaging import BuiltWheel, ExerciseReport, ProductPackage

__all__ = ["FlitPackager"]

_LIMITS = Limits()


class FlitPackager:
    """Implements `ports.packaging.Packager`.

    Args:
        limits: Seconds that an example and an installation may take.
    """

    def __init__(self, limits: Limits = _LIMITS) -> None:
        self._limits = limits

    def build(self, product: ProductPackage) -> BuiltWheel:
        """Make the wheel (see the port)."""
        return build_wheel(product)

    def exercise(self, wheel: BuiltWheel, product: ProductPackage) -> ExerciseReport:
        """Try it out (see the port)."""
        return exercise_wheel(wheel, product, self._limits, with_own_pip=own_pip())
