"""MCP's own conformance suite against `specwright mcp --http`."""

import re
import shutil
from pathlib import Path

import pytest

from testkit.mcp import http_server
from testkit.mcp_conformance import APPLY, NAME_A_TOOL, OTHER_FEATURES, SUITE, installed, scenarios
from testkit.paths import ROOT


@pytest.mark.nightly
@pytest.mark.timeout(1500)
@pytest.mark.skipif(not shutil.which("npm"), reason="the suite is installed by npm, which is not here")
def test_the_server_passes_every_scenario_that_is_about_it(tmp_path: Path):
    """Those for any server with tools pass whole; every other one names a tool or a feature that is not ours (D-50-03)."""
    installed(tmp_path)
    with http_server(tmp_path) as url:
        found = scenarios(tmp_path, url)
    assert set(found) == {*APPLY, *NAME_A_TOOL, *OTHER_FEATURES}
    for name in APPLY:
        passed, failed = found[name]
        assert (passed > 0, failed) == (True, 0), name
    for name in (*NAME_A_TOOL, *OTHER_FEATURES):
        assert found[name][0] == 0, f"{name} applies"


def test_the_page_says_how_many_scenarios_apply():
    """The counts and the version of the suite are those of the test (D-50-03)."""
    text = re.sub(r"\s+", " ", (ROOT / "docs/mcp.md").read_text(encoding="utf-8"))
    every = len(APPLY) + len(NAME_A_TOOL) + len(OTHER_FEATURES)
    assert f"`{SUITE}`" in text
    assert f"Of its {every} server scenarios {len(APPLY)} are about a server like this one" in text
    assert f"{len(NAME_A_TOOL)} call a tool of the suite's reference server" in text
    assert f"{len(OTHER_FEATURES)} are about" in text
    assert all(f"`{name}`" in text for name in APPLY)
