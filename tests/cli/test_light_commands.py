"""Commands that only look: what they load."""

import json
import subprocess
import sys
from pathlib import Path

from testkit.cli.commands import SMALL

FRAMEWORKS = (
    "alembic",
    "sqlalchemy",
    "langgraph",
    "langchain",
    "langchain_core",
    "deepagents",
    "hypothesis",
    "numpy",
    "wordllama",
    "griffe",
    "mcp",
    "uvicorn",
)
LOOKING = {
    "the version": ["--version"],
    "help": ["--help"],
    "help of a command": ["help", "run"],
    "status": ["status", "{project}"],
    "status as JSON": ["status", "{project}", "--json"],
    "tasks": ["tasks", "{project}"],
    "modules": ["modules", "{project}"],
    "module": ["module", "initials", "{project}"],
    "the trail of a module": ["module", "initials", "{project}", "--trail"],
    "wire log": ["wire", "log", "{project}"],
    "wire verify": ["wire", "verify", "{project}"],
}
PROBE = """
import json, sys
from specwright.cli.main import main
for arguments in json.loads(sys.argv[2]):
    assert main(arguments) == 0, arguments
    loaded = [name for name in sys.argv[1].split(",") if name in sys.modules]
    print("LOADED", *loaded, file=sys.stderr)
"""


def test_a_command_that_looks_loads_no_framework(released_once: Path) -> None:
    """Graphs, agents, models, the embedder and the fuzz stay unloaded where nothing is driven (DESIGN §2, §11). `verify`
    reads surfaces anew from the sealed sources and makes vectors anew; it loads no graph or agent either (F§11.2)."""
    *looking, verifying = _loaded([*LOOKING.values(), ["verify", "{project}"]], released_once)
    assert dict(zip(LOOKING, looking, strict=True)) == {way: [] for way in LOOKING}
    assert verifying == ["numpy", "wordllama", "griffe"]


def test_what_drives_is_seen_by_the_probe() -> None:
    """The probe tells what is loaded: driving a project loads the frameworks."""
    (loaded,) = _loaded(
        [["--version"]], SMALL, f"from specwright.bootstrap.project import open_project{PROBE}"
    )
    assert "langgraph" in loaded


def _loaded(commands: list[list[str]], project: Path, probe: str = PROBE) -> list[list[str]]:
    """What is loaded after each of some commands of one process."""
    given = json.dumps([[word.format(project=project) for word in arguments] for arguments in commands])
    ended = subprocess.run(
        [sys.executable, "-c", probe, ",".join(FRAMEWORKS), given], capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    return [line.split()[1:] for line in ended.stderr.splitlines() if line.startswith("LOADED")]
