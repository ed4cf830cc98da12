"""What comes out of an approved example, held against what was approved."""

from collections.abc import Callable


def check(example: Callable[[], object], *expected: str) -> None:
    """Compare the `repr` of a value, or an error by its class and by how its message begins.

    Args:
        example: Gives the value, or raises.
        expected: The `repr`, or `ErrorName: start of the message`; one of them has to come out.
    """
    try:
        value = example()
    except Exception as error:  # the error may be what was approved
        names = [type(error).__name__, *(["OSError"] if isinstance(error, OSError) else [])]
        came = [f"{name}: {error}" for name in names]
        assert any(one.startswith(expected) for one in came), f"{came[0]} is not {expected[0]}"
    else:
        assert repr(value) in expected
