"""Commands that bring the gate to code that exists."""
