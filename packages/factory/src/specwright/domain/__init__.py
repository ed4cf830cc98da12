"""The vocabulary and the rules of the factory: pure values and functions, no I/O, no clock, no randomness."""
