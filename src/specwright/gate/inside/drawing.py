"""Makes tests that draw their examples with Hypothesis draw the same ones in every run, and without a look at the clock
(design: ship-gate).

Tests run once for the evidence, and again for each mutant; a verdict must not change with the seed of a run, or with
what else the machine does. So there is one profile for all runs: derandomized, without a deadline for an example and
without the check that drawing is slow. What a test sets itself is left to it.
"""

from pathlib import Path


def draws(tests: Path) -> bool:
    """Whether any file of tests mentions Hypothesis, which is loaded for no others: that takes its time."""
    return any(b"hypothesis" in path.read_bytes() for path in sorted(tests.rglob("*.py")))


def use_fixed_profile(*, shrinks: bool = True) -> None:
    """Set the profile of all runs, and draw once: at its first draw Hypothesis does what a test must not do.

    Args:
        shrinks: Whether a failing example is made smaller, for somebody who reads it.
    """
    import hypothesis
    from hypothesis import strategies

    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    hypothesis.settings.register_profile(
        "gate",
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=shrinks,
        phases=[*phases, *([hypothesis.Phase.shrink] if shrinks else [])],
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
    hypothesis.settings.load_profile("gate")

    @hypothesis.given(strategies.none())
    def drawn(nothing: None) -> None:
        pass

    drawn()
