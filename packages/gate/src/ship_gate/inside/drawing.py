"""Makes tests that draw their examples with Hypothesis draw the same ones in every run, and without a look at the clock
(design: ship-gate).

Tests run once for the evidence, and again for each mutant; a verdict must not change with the seed of a run, or with
what else the machine does. So there is one profile for all runs: derandomized, without a deadline for an example and
without the check that drawing is slow. What a test sets itself is left to it. Nor may it change with the sources of
Specwright: Hypothesis reads all that it takes for the user's own, and draws the numbers and texts in them.
"""

import sys
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

    read_no_sources()

    @hypothesis.given(strategies.none())
    def drawn(nothing: None) -> None:
        pass

    drawn()


def read_no_sources() -> None:
    """Have Hypothesis take nothing that is loaded for the user's own source; reading it all takes long, besides."""
    from hypothesis.internal.conjecture import providers

    seen: set[int] | None = getattr(providers, "_seen_modules", None)
    if seen is not None:  # a version that does not know it reads them
        seen.update(map(id, list(sys.modules.values())))
