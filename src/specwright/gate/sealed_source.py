"""What the sources of a sealed version say, read again long after it was judged (F§11.2, D-20-03).

Nothing is executed: griffe reads the surface, the syntax tree takes the docstring."""

from pathlib import Path

from specwright.domain.contract import MicroModuleContract, fingerprint
from specwright.errors import CorruptionError
from specwright.gate.splice import splice
from specwright.gate.surface import extract_surface
from specwright.gate.top_level import SurfaceFault

__all__ = ["SealedSource"]


class SealedSource:
    """Reads sealed sources; implements `application.verifying.Sources`."""

    def fingerprint(self, directory: Path, name: str) -> str:
        """The fingerprint of the surface that a version's source has.

        Raises:
            CorruptionError: it has none.
        """
        try:
            return fingerprint(extract_surface(directory / "implementation", name))
        except SurfaceFault as fault:
            raise CorruptionError(fault.message, where=fault.where) from fault

    def with_docstring(self, source: bytes, contract: MicroModuleContract) -> bytes:
        """A proposal's entry file as it ships; as it is where the docstring has no place."""
        try:
            return splice(source, contract)
        except SurfaceFault:
            return source
