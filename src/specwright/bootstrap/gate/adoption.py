"""Adopts functions that were written without the factory: a module directory for each (design: adoption)."""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from specwright import canonical_json
from specwright.bootstrap.gate.ship_gate import gate_of
from specwright.domain.adoption.report import AdoptedFunction, AdoptionReport, Gap
from specwright.errors import InputError, RefusedError
from specwright.gate.adopt.adoption import AdoptedModule, Adopter
from specwright.gate.adopt.documented import readme_of
from specwright.gate.adopt.source_tests import suite_files
from specwright.gate.adopt.source_tree import PublicFunction, Selection, read_source
from specwright.settings import load_settings

RECORD = "adoption.json"
"""What is told of a function, beside its draft."""


def adopt_source(
    source: str,
    out: Path | None,
    *,
    search: Sequence[str] | None = None,
    jobs: int | None = None,
    complete: Callable[[Adopter, AdoptedModule], AdoptedModule] = lambda _, module: module,
    done: Callable[[AdoptedFunction], None] = lambda _: None,
) -> AdoptionReport:
    """Adopt the public functions of a source; nothing of it is imported or run outside of the gate's sandbox.

    Args:
        source: `file.py:function`, a file, a folder of a package, or an installed package by its import name,
            `package.module:function`.
        out: Where a directory for each function is made; None to write nothing.
        search: Where installed packages lie; this interpreter's own places if left out.
        jobs: Functions at a time; as many as cores if left out.
        complete: Adds to a draft before it is written.
        done: Told of each as it ends, from whatever thread.

    Raises:
        InputError: there is no such source, or a directory is there already.
        RefusedError: a directory cannot be written.
        SpecwrightError: there is no sandbox.
    """
    selection = read_source(source, search)
    names = _directories(selection.functions)
    if out is not None:
        _check_new([out / name for name in names.values()])
    adopter = _adopter(selection)

    def one(function: PublicFunction) -> AdoptedFunction:
        module = complete(adopter, adopter.adopt(function))
        record = module.record
        if out is not None and module.files:
            record = record._replace(directory=str(out / names[function.name]))
            write_module(module, out / names[function.name])
        done(record)
        return record

    with ThreadPoolExecutor(max_workers=jobs or os.cpu_count() or 1) as workers:
        futures = [workers.submit(one, function) for function in selection.functions]
        try:
            return AdoptionReport(source, tuple(future.result() for future in futures))
        except BaseException:
            workers.shutdown(cancel_futures=True)
            raise


def places_read(source: str) -> list[Path]:
    """What adopting a source may read, links followed: the folder of its tree, what links below it lead to, its README.

    Raises:
        InputError: there is no such source.
    """
    tree = read_source(source).tree
    top = tree.folder / tree.top
    found = [top, *tree.folder.glob("README*"), *tree.folder.parent.glob("README*")]
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name.isidentifier() and name != "node_modules"]
        below = [
            Path(folder) / name for name in (*folders, *names) if name in folders or name.endswith(".py")
        ]
        found += [path for path in below if path.is_symlink()]
    if tree.folder.name not in ("src", "lib"):  # the README above is read for these alone
        found = [path for path in found if path.parent != tree.folder.parent or path == top]
    return [Path(os.path.realpath(path)) for path in found]


def _adopter(selection: Selection) -> Adopter:
    gate = gate_of(load_settings(Path()))
    return Adopter(gate, selection.tree, readme_of(selection.tree), suite_files(selection.tree))


def _directories(functions: Sequence[PublicFunction]) -> dict[str, str]:
    """The name of each function's directory: its own, with its module's where two have the same."""
    counts = Counter(one.node.name for one in functions)
    return {
        one.name: one.node.name if counts[one.node.name] == 1 else one.name.replace(".", "_")
        for one in functions
    }


def _check_new(directories: Sequence[Path]) -> None:
    if there := next((one for one in directories if one.exists()), None):
        raise InputError(
            "the directory is there already", where=str(there), remedy="name another with --out, or remove it"
        )


def write_module(module: AdoptedModule, directory: Path) -> None:
    """Write a draft: all of it, or nothing.

    Raises:
        RefusedError: it cannot be written.
    """
    contract = module.draft.contract
    assert contract is not None  # a draft with files has one
    files = {
        "contract.json": contract.to_bytes(),
        RECORD: canonical_json.pretty(record_document(module.record)),
        **module.files,
    }
    temporary = directory.with_name(f".{directory.name}.{os.getpid()}.tmp")
    try:
        for path, data in files.items():
            target = temporary / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        temporary.rename(directory)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise RefusedError(f"it cannot be written: {error.strerror}", where=str(directory)) from error


def adoption_document(report: AdoptionReport) -> dict[str, Any]:
    """A report as `adopt --json` has it."""
    return {
        "source": report.source,
        "counts": report.counts(),
        "functions": [record_document(one) for one in report.functions],
    }


def record_document(record: AdoptedFunction) -> dict[str, Any]:
    """What is told of a function, as JSON."""
    return {
        **record._asdict(),
        "status": str(record.status),
        "statements": [
            {**one._asdict(), "origin": str(one.origin), "evidence": str(one.evidence)}
            for one in record.statements
        ],
        "gaps": [gap_document(one) for one in record.gaps],
        "obstacles": [one._asdict() for one in record.obstacles],
        "remarks": [*record.remarks],
        "ignored": [one._asdict() for one in record.ignored],
    }


def gap_document(gap: Gap) -> dict[str, Any]:
    """What a draft lacks, as JSON."""
    return {"what": gap.what, "where": gap.where, "write": gap.instructions, "refuted": gap.refuted}
