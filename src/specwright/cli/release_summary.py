"""A release in five lines: what shipped and where it lies, the proof, how to install and use it, whose answers."""

import ast
import io
import shlex
import zipfile
from pathlib import Path

from specwright.application.factory import Reading
from specwright.application.planning import shipped_view
from specwright.application.releasing import Made
from specwright.application.shipping import evidence_of
from specwright.cli.output import listed
from specwright.cli.progress_lines import counted
from specwright.domain.examples_file import parse_examples
from specwright.domain.project_state import TaskStatus
from specwright.domain.release import import_name
from specwright.errors import CorruptionError

__all__ = ["exported_names", "install_command", "release_summary"]


def release_summary(view: Reading, made: Made, directory: Path, *, scripted: bool) -> list[str]:
    """The five lines."""
    spec, state = view.projection.spec, view.projection.state
    if spec is None or state is None:
        raise CorruptionError("there is a release, but no approved spec in the log", where=str(directory))
    refs = [module.module_ref for module in made.manifest.modules]
    tests = sum(evidence_of(view, ref).execution_log.summary.total for ref in refs)
    examples = sum(len(parse_examples(shipped_view(view, ref).examples)[0]) for ref in refs)
    tasks = sum(entry.status is TaskStatus.SHIPPED for entry in state.tasks.values())
    package, names = exported_names(view, made)
    said = (
        "SCRIPTED answers (a playbook or a recording), not a model's; checks and wheel are real"
        if scripted
        else "the answers came from the configured models; `specwright modules` lists the evidence"
    )
    if any(_is_unconfined(view, ref) for ref in refs):
        said += "; UNCONFINED: the code of modules ran without a sandbox"
    return [
        f"Shipped:  {spec.title} {spec.spec_version}, {counted(tasks, 'task')}, {counted(len(refs), 'module')}"
        f"; it lies in {directory / 'state_store' / 'releases' / made.release_id}",
        f"Proof:    {counted(tests, 'test')} passed, {counted(len(refs), 'interface')} as contracted, "
        f"{counted(examples, 'example')} ran in a clean installation",
        f"Install:  {install_command(made, directory)}",
        f"Use:      from {package} import {listed(names)}",
        f"Note:     {said}",
    ]


def _is_unconfined(view: Reading, ref: str) -> bool:
    return any("sandbox: none" in check.detail for check in evidence_of(view, ref).gate)


def install_command(made: Made, directory: Path) -> str:
    """A command that can be pasted anywhere."""
    return f"pip install {shlex.quote(str((directory / 'state_store' / made.wheel).resolve()))}"


def exported_names(view: Reading, made: Made) -> tuple[str, list[str]]:
    """The package and what it exports, as the wheel itself says.

    Raises:
        CorruptionError: the wheel is not the one that was made.
    """
    package = import_name(made.wheel.rpartition("/")[2].split("-")[0])
    try:
        with zipfile.ZipFile(io.BytesIO(view.store.read(made.wheel))) as wheel:
            tree = ast.parse(wheel.read(f"{package}/__init__.py"))
        literal = next(
            node.value
            for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        )
        return package, [str(name) for name in ast.literal_eval(literal)]
    except (zipfile.BadZipFile, KeyError, SyntaxError, ValueError, StopIteration) as error:
        raise CorruptionError(
            "the released wheel is damaged", where=made.wheel, remedy="release again: `specwright release`"
        ) from error
