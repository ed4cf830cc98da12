"""What the gate and the adoption print."""
