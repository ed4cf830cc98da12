"""What runs inside the sandbox: the module's host and the runners of tests, examples, mutants and fuzz (design: ship-gate).

This is the only folder of Specwright that a sandboxed process can read. Its files load the standard library, pytest,
Hypothesis and each other. The gate itself uses `codec` and `frames`, so that both ends speak the same protocol.
"""
