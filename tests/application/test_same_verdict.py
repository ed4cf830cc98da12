"""Whether files that nobody changed fail by the verdict of before (design: escalation)."""

from specwright.application.escalation.halted import is_same_verdict

REASON = "TSK-001/f/round-1 gave no answer: strength.weak at tests: 2 of 3; tests.failed at tests/test_f.py:7: it fails"


def test_a_verdict_is_that_of_before_wherever_its_lines_stand():
    """F-17.2-11: the contract's docstring moves lines; each finding has to be one of before."""
    assert is_same_verdict(["tests.failed at tests/test_f.py:19: it fails"], REASON)
    assert is_same_verdict(
        ["strength.weak at tests: 2 of 3", "tests.failed at tests/test_f.py:7: it fails"], REASON
    )
    assert not is_same_verdict(["strength.weak at tests: 1 of 3"], REASON)
    assert not is_same_verdict(
        ["strength.weak at tests: 2 of 3", "surface.name at f: no such function"], REASON
    )
