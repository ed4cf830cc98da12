"""The ship gate: what code observes about a module (design: sealing, ship-gate)."""

from specwright.gate.ship_gate import SandboxedShipGate

__all__ = ["SandboxedShipGate"]
