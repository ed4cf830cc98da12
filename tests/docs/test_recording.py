"""What README.md and docs/tutorial.md show of runs was printed by runs."""

import re

import pytest

from testkit.documents import generator_of
from testkit.paths import ROOT

generator = generator_of("make_recording")
PRODUCT = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
REFRESH = "run `.venv/bin/python docs/make_recording.py`"

_VARYING = re.compile(r"\b(?:MM|REL|ESC)-[0-9a-f]{8}\b|\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d+(?::\d\d|\.\d)s?\b *")
"""Ids, times and durations, which differ in each run."""


def test_the_spec_that_is_shown_is_the_one_that_is_built():
    """Ten lines, as they lie in the example (D-S9-05)."""
    shown = re.search(r"<!-- spec -->\n```markdown\n(.*?)\n```\n", PRODUCT, re.DOTALL)
    assert shown
    assert shown[1] == (generator.EXAMPLE / "SPEC.md").read_text(encoding="utf-8").rstrip()


@pytest.mark.slow
def test_the_recording_is_that_of_a_run():
    """Every line but for ids, times and durations (D-S9-05)."""
    for path, again in generator.pages(generator.recording()).items():
        assert _lines(again) == _lines(path.read_text(encoding="utf-8")), REFRESH


def _lines(text: str) -> list[str]:
    return [" ".join(_VARYING.sub("", line).split()) for line in text.splitlines()]
