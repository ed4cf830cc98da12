"""The examples built from their playbooks, with counted ids and times and a gate that lets everything pass.

That the real gate passes them is shown in `tests/examples`.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ship_gate.verdict import ENTRY_FILE, Candidate, GateVerdict
from specwright.application.factory import Adapters
from specwright.bootstrap.project import Composition, open_project
from specwright.bootstrap.run_options import LastRun, remember
from specwright.journal import JournalScope
from specwright.journal.journal import IDS
from specwright.settings import Settings
from testkit.paths import EXAMPLES, TABKEEPER
from testkit.roles.overheard import Lenient
from testkit.shared_fixtures import made_once

__all__ = ["HALTED", "NAMES", "PASSING", "build", "built"]

HALTED = "tabkeeper-halted"
"""The example tabkeeper with the answers of `stubborn`, which end one of its tasks with an escalation."""

NAMES = [*sorted(path.parent.name for path in EXAMPLES.glob("*/SPEC.md")), HALTED]
"""The examples."""


def build(name: str, playbook: Path, project: Path, *, license: str = "") -> None:
    """Run an example to its end: the release, or the escalation of `HALTED`.

    Args:
        name: Of the example.
        playbook: A new directory, for its answers.
        project: A new directory.
        license: Of the product.
    """
    folder = TABKEEPER if name == HALTED else EXAMPLES / name
    shutil.copytree(folder / "playbook", playbook)
    if name == HALTED:
        shutil.copytree(folder / "stubborn", playbook, dirs_exist_ok=True)
    settings = Settings(model=f"playbook:{playbook}", license=license)
    text = (folder / "SPEC.md").read_text(encoding="utf-8")
    with open_project(project, settings, spec_text=text, composition=PASSING) as opened:
        opened.run(approve=True)
    remember(project, LastRun(options={"model": settings.model}))


@pytest.fixture
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[[str], Path]:
    """A project of one's own in which an example, by its name, was built once for all tests."""

    def copied(name: str) -> Path:
        def make(directory: Path) -> None:
            build(name, directory / "playbook", directory / "project")

        return made_once(tmp_path_factory, worker_id, f"built-{name}", make) / "project"

    return copied


class _CountedJournal:
    """The journal of a project whose ids and times are counted up."""

    def __init__(self, journal: Any) -> None:
        self._journal = journal
        self._drawn = 0

    def scope(self, name: str, *, deferred: bool = False) -> JournalScope:
        """Enter a stretch of work."""
        return JournalScope(name, self, deferred=deferred)  # type: ignore[arg-type]

    def draw(self) -> dict[str, Any]:
        """The next numbers as ids, and a time a millisecond after the one before."""
        first = 1 + IDS * self._drawn
        self._drawn += 1
        seconds, thousandths = divmod(self._drawn, 1000)
        time = f"2026-01-01T00:{seconds // 60:02d}:{seconds % 60:02d}.{thousandths:03d}Z"
        return {"time": time, "ids": [f"{number:08x}{number:024x}" for number in range(first, first + IDS)]}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)


class _Passing(Lenient):
    """Also writes the contract into the source, as the real gate does."""

    def judge(self, candidate: Candidate, *, thorough: bool = True) -> GateVerdict:
        """Without a finding."""
        verdict = super().judge(candidate, thorough=thorough)
        source = self.documented(candidate.files[ENTRY_FILE], candidate.contract)
        return verdict._replace(files={**candidate.files, ENTRY_FILE: source})


def _counted(adapters: Adapters) -> Adapters:
    gate: Any = _Passing(adapters.gate)
    return replace(adapters, journal=_CountedJournal(adapters.journal), gate=gate)  # type: ignore[arg-type]


PASSING = Composition(_counted)
"""Counted ids and times, and a gate that lets everything pass."""
