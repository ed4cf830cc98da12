"""MCP's own conformance suite: its server scenarios, and which of them are about a server like ours."""

import os
import re
import subprocess
from pathlib import Path

SUITE = "@modelcontextprotocol/conformance@0.1.16"
NODE = "node@22"
"""The suite needs 22; an older one on the PATH is left alone."""

APPLY = ("server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection")
"""Every server that has tools can pass these."""

NAME_A_TOOL = (
    *(
        f"tools-call-{what}"
        for what in ("simple-text", "image", "audio", "embedded-resource", "mixed-content")
    ),
    *(f"tools-call-{what}" for what in ("with-logging", "error", "with-progress", "sampling", "elicitation")),
    "json-schema-2020-12",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "server-sse-polling",
)
"""These call a tool of the suite's reference server, such as `test_simple_text`."""

OTHER_FEATURES = (
    "logging-set-level",
    "completion-complete",
    *(f"resources-{what}" for what in ("list", "read-text", "read-binary", "templates-read")),
    *(f"resources-{what}" for what in ("subscribe", "unsubscribe")),
    *(
        f"prompts-{what}"
        for what in ("list", "get-simple", "get-with-args", "get-embedded-resource", "get-with-image")
    ),
)
"""These are about features that the server does not announce."""

_LINE = re.compile(r"^[✓✗] ([a-z0-9-]+): (\d+) passed, (\d+) failed$", re.MULTILINE)


def installed(place: Path) -> None:
    """Install the suite below a directory."""
    command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(place), SUITE, NODE]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)


def scenarios(place: Path, url: str) -> dict[str, tuple[int, int]]:
    """How many checks of each scenario a server passed, and how many it failed."""
    binaries = place / "node_modules/.bin"
    told = subprocess.run(
        [binaries / "conformance", "server", "--url", url, "--suite", "all"],
        env={**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}"},
        cwd=place,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return {name: (int(passed), int(failed)) for name, passed, failed in _LINE.findall(told.stdout)}
