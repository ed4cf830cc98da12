"""Commands that only look: what they load."""

import subprocess
import sys
from pathlib import Path

import pytest

from testkit.cli.commands import SMALL

FRAMEWORKS = (
    "langgraph",
    "langchain",
    "langchain_core",
    "deepagents",
    "hypothesis",
    "numpy",
    "wordllama",
    "griffe",
)
LOOKING = {
    "status": ["status", "{project}"],
    "status as JSON": ["status", "{project}", "--json"],
    "tasks": ["tasks", "{project}", "--graph"],
    "modules": ["modules", "{project}"],
    "module": ["module", "initials", "{project}"],
    "the trail of a module": ["module", "initials", "{project}", "--trail"],
    "wire log": ["wire", "log", "{project}"],
    "wire verify": ["wire", "verify", "{project}"],
}
PROBE = """
import sys
from specwright.cli.main import main
code = main(sys.argv[2:])
loaded = [name for name in sys.argv[1].split(",") if name in sys.modules]
print("LOADED", *loaded, file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize("arguments", LOOKING.values(), ids=LOOKING)
def test_a_command_that_looks_loads_no_framework(arguments: list[str], released_once: Path) -> None:
    """Graphs, agents, models, the embedder and the fuzz stay unloaded where nothing is driven (DESIGN §2, §11)."""
    assert _loaded(arguments, released_once) == []


def test_verify_loads_the_reader_of_sources_and_the_embedder_and_nothing_else(released_once: Path) -> None:
    """Surfaces are read anew from the sealed sources, and vectors are made anew; no graph or agent is loaded (F§11.2)."""
    assert _loaded(["verify", "{project}"], released_once) == ["numpy", "wordllama", "griffe"]


def test_what_drives_is_seen_by_the_probe() -> None:
    """The probe tells what is loaded: driving a project loads the frameworks."""
    probe = PROBE.replace("code = main", "from specwright.bootstrap.project import open_project; code = main")
    assert "langgraph" in _loaded(["--version"], SMALL, probe)


def _loaded(arguments: list[str], project: Path, probe: str = PROBE) -> list[str]:
    words = [word.format(project=project) for word in arguments]
    ended = subprocess.run(
        [sys.executable, "-c", probe, ",".join(FRAMEWORKS), *words],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    (told,) = [line for line in ended.stderr.splitlines() if line.startswith("LOADED")]
    return told.split()[1:]
