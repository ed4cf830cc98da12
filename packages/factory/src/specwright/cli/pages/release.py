"""A release in five lines: what shipped and where it is, the proof, how to install and use it, who answered."""

import ast
import io
import shlex
import zipfile
from pathlib import Path

from ship_gate.contract.examples_file import parse_examples
from ship_gate.terminal.output import counted, listed
from ship_gate.terminal.page import Page
from specwright.application.factory import ProjectView
from specwright.application.stages.release import tasks_missing
from specwright.application.store import layout
from specwright.bounded_read import read_member
from specwright.cli.pages.answers import OTHER_SPEC
from specwright.cli.terminal.output import next_command
from specwright.domain.base.slugs import import_name
from specwright.domain.interfaces.records import Interfaces
from specwright.domain.modules.release import ReleaseManifest
from specwright.domain.tasks.project_state import TaskStatus
from specwright.errors import CorruptionError

_LABELS = 10
"""Columns that the labels take."""


def release_page(
    view: ProjectView,
    manifest: ReleaseManifest,
    directory: Path,
    *,
    scripted: bool,
    before: ReleaseManifest | None = None,
) -> Page:
    """A release that succeeded, in five lines; one more says that the release before it has the same wheel.

    Args:
        view: The project.
        manifest: The release.
        directory: Of the project.
        scripted: Whether any answer was scripted.
        before: The release before it, if this one was asked for by hand.
    """
    spec, state = view.projection.spec, view.projection.state
    if spec is None or state is None:
        raise CorruptionError("there is a release, but no approved spec in the log", where=str(directory))
    refs = [module.module_ref for module in manifest.modules]
    tests = sum(view.modules.evidence(ref).execution_log.summary.total for ref in refs)
    examples = sum(len(parse_examples(view.modules.view(ref).examples)[0]) for ref in refs)
    missing = tasks_missing(view, refs)
    tasks = sum(entry.status is TaskStatus.SHIPPED for entry in state.tasks.values())
    shipped = counted(len(refs), "module")
    if not missing:
        shipped = f"{counted(tasks, 'task')}, {shipped}"
    package, names = exported_names(view, manifest)
    page = Page()
    for label, text in {
        "Shipped:": f"{spec.title} {spec.spec_version}, {shipped}"
        f"; it lies in {release_directory(view, manifest)}",
        **({"Missing:": f"{missing}: only a part of the product"} if missing else {}),
        "Proof:": f"{counted(tests, 'test')} passed, {counted(len(refs), 'interface')} as contracted, "
        f"{counted(examples, 'example')} ran in a clean installation",
        "Install:": install_command(view, manifest),
        "Use:": f"from {package} import {listed(names)}",
        **({"Start:": _programs(spec.interfaces)} if spec.interfaces else {}),
        "Note:": _source(view, refs, scripted=scripted),
        **({"Again:": _same_again(view, before, directory)} if before and _is_same(before, manifest) else {}),
    }.items():
        if label == "Install:":
            page.line(text, label, labels=_LABELS)
        else:
            page.labelled(label, text, labels=_LABELS)
    return page


def _is_same(before: ReleaseManifest, manifest: ReleaseManifest) -> bool:
    """Whether a release holds what the one before it holds."""
    return (before.modules, before.product, before.unshown_criteria) == (
        manifest.modules,
        manifest.product,
        manifest.unshown_criteria,
    )


def _same_again(view: ProjectView, before: ReleaseManifest, directory: Path) -> str:
    """What was released already, where it is, and how another product comes about."""
    return (
        f"nothing has changed since {before.release_id}, which has the same wheel in "
        f"{release_directory(view, before)}; `{next_command('change', directory, OTHER_SPEC)}` makes another"
    )


def _source(view: ProjectView, refs: list[str], *, scripted: bool) -> str:
    """Who answered, and whether the code of modules ran without a sandbox."""
    source = (
        "SCRIPTED answers (a playbook), not a model's; checks and wheel are real"
        if scripted
        else "the answers came from the configured models; `specwright modules` lists the evidence"
    )
    if any(_is_unconfined(view, ref) for ref in refs):
        source += "; UNCONFINED: the code of modules ran without a sandbox"
    return source


def _programs(interfaces: Interfaces) -> str:
    """What is installed to be started, and how to learn more."""
    found: list[str] = []
    if command := interfaces.command:
        names = ",".join(one.name for one in command.subcommands)
        found.append(f"{command.name}{f' {{{names}}}' if names else ''}, {command.name} --help")
    found += [f"{interfaces.http.name} (with the extra http)"] if interfaces.http else []
    found += [f"{interfaces.mcp.name} (with the extra mcp)"] if interfaces.mcp else []
    return "; ".join(found)


def failure_page(view: ProjectView, manifest: ReleaseManifest) -> Page:
    """A release that failed: why, and what to read."""
    page = Page()
    page.prose(f"The release failed: {manifest.notes}")
    report = release_directory(view, manifest) / "failure_report.md"
    page.line(str(report), "Read:", labels=8)
    return page


def _is_unconfined(view: ProjectView, ref: str) -> bool:
    return any("sandbox: none" in check.detail for check in view.modules.evidence(ref).gate)


def release_directory(view: ProjectView, manifest: ReleaseManifest) -> Path:
    """Where the files of a release are on this machine."""
    return view.store.directory(layout.release(manifest.release_id))


def wheel_file(view: ProjectView, manifest: ReleaseManifest) -> str:
    """Where the wheel is."""
    return str((release_directory(view, manifest) / str(manifest.product.wheel)).resolve())


def install_command(view: ProjectView, manifest: ReleaseManifest) -> str:
    """A command that can be pasted anywhere."""
    return f"pip install {shlex.quote(wheel_file(view, manifest))}"


_NO_EXPORTS = (KeyError, SyntaxError, ValueError, StopIteration, RecursionError, MemoryError)
"""What reading a damaged package raises; a nested source exhausts the parser."""


def exported_names(view: ProjectView, manifest: ReleaseManifest) -> tuple[str, list[str]]:
    """The package and what it exports, as the wheel itself says.

    Raises:
        CorruptionError: the wheel is not the one that was released.
    """
    path = layout.wheel(manifest.release_id, str(manifest.product.wheel))
    package = import_name(str(manifest.product.wheel).split("-")[0])
    try:
        with zipfile.ZipFile(io.BytesIO(view.store.read(path))) as wheel:
            tree = ast.parse(read_member(wheel, f"{package}/__init__.py"))
        literal = next(
            node.value
            for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        )
        return package, [str(name) for name in ast.literal_eval(literal)]
    except (zipfile.BadZipFile, *_NO_EXPORTS) as error:
        raise CorruptionError(
            "the released wheel is damaged", where=path, remedy="release again: `specwright release`"
        ) from error
