"""What runs inside the sandbox: the test runner, the example runner and the module's host (DESIGN §8).

These files load nothing of the factory, only the standard library, pytest and each other: nothing else of the
factory can be seen in there. The gate itself uses `codec` and `frames` of them, so that both ends speak the same.
"""
