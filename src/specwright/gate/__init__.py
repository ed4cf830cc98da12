"""The ship gate: what code observes about a module (F§11, DESIGN §8)."""

from specwright.gate.ship_gate import FirstGate

__all__ = ["FirstGate"]
