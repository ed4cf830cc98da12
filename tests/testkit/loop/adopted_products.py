"""A product that is built on two modules which were made elsewhere, and module directories that the scripted gate judges."""

import json
import shutil
import zlib
from collections.abc import Sequence
from pathlib import Path

from specwright.application.adopted.directory_import import ImportOutcome, ModuleDirectory, adopt
from specwright.application.factory import Factory
from specwright.domain.answers.plan_answers import PlanAnswer
from specwright.domain.contract.contract import Dependency
from specwright.domain.contract.normal_form import normalise
from specwright.domain.plan.micro_plan import KnownModules, assign
from testkit.cli.commands import specwright
from testkit.loop.role_answers import draft, plan, planned
from testkit.paths import GATE_MODULES, PRODUCTS

__all__ = ["WORDS", "imported", "module_directory", "origin", "released_words", "words_playbook"]

WORDS = PRODUCTS / "words"


def words_playbook(directory: Path, save_tally: str = "") -> Path:
    """The playbook of the product, whose plan reuses a module by its reference; without one it only calls the other."""
    playbook = shutil.copytree(WORDS / "playbook", directory)
    path = playbook / "TSK-001/planner.json"
    said = json.loads(path.read_text().replace("{save_tally}", save_tally))
    if not save_tally:
        del said["plan"]["modules"][1]
    path.write_text(json.dumps(said))
    return playbook


def released_words(directory: Path) -> None:
    """The product in `project/`, from modules that were imported before its first run, and its playbook."""
    project = directory / "project"
    project.mkdir()
    shutil.copy(WORDS / "SPEC.md", project)
    taken = specwright("import", GATE_MODULES, "--project", project, "--json").document["modules"]
    refs = {one["name"]: one["module_ref"] for one in taken}
    playbook = words_playbook(directory / "playbook", refs["save_tally"])
    told = specwright("run", project, "--model", f"playbook:{playbook}", "--approve", "--json")
    assert told.code == 0, told.err


def origin(name: str, version: str = "1.0.0") -> str:
    """How the contract in the directory of a module calls it."""
    return f"MM-{zlib.crc32(name.encode()):08x}@{version}"


def module_directory(
    name: str, *calls: str, mark: str = "", version: str = "", **changes: object
) -> ModuleDirectory:
    """A directory that is not there, as it would have been read.

    Args:
        name: Of the module.
        calls: Others, by the names of their modules.
        mark: What the scripted gate is to find.
        version: Tells bytes apart.
        changes: Of the contract.
    """
    answer = PlanAnswer.model_validate(plan(planned(name)))
    module_id = origin(name).partition("@")[0]
    _, contracts = assign(
        answer, "MP-00000000", "T-x@1.0.0", KnownModules({}, frozenset()), lambda: module_id
    )
    called = [Dependency(ref=origin(other), why="It begins with it.") for other in calls]
    contract = normalise(contracts[name]).model_copy(update={"dependencies": called, **changes})
    files = {path: text.encode() for path, text in draft(name, mark, version).items()}
    return ModuleDirectory(Path("/somewhere/of/nobody") / name, contract, files)


def imported(factory: Factory, *directories: ModuleDirectory) -> Sequence[ImportOutcome]:
    """Import them; docstrings are not compared."""
    return adopt(factory, directories, "", lambda judged, source: None)
