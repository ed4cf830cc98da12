"""The verdict on a module directory as it lies on disk: that of the gate, and whether its docstring is the
contract's (DESIGN §8, D-S8-15).

The gate itself always puts the contract's docstring in, so a docstring that drifted passes there. On its own a
directory must carry it; `fix` writes it, and touches nothing else."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from specwright.domain.examples_file import parse_examples
from specwright.gate.module_directory import docstring_drift, read_module, write_docstring
from specwright.ports.gate import Finding, GateVerdict, ShipGate

__all__ = ["DirectoryVerdict", "judge_directory"]

_ENTRY = "implementation/__init__.py"


class DirectoryVerdict(NamedTuple):
    """What was observed.

    Args:
        name: The module's name and reference, or the directory where there is no contract.
        findings: All of them; none means that it passed.
        verdict: The gate's; None if the contract cannot be read.
        examples: How many there are.
        fixed: The file whose docstring was written; empty if none was.
    """

    name: str
    findings: tuple[Finding, ...]
    verdict: GateVerdict | None = None
    examples: int = 0
    fixed: str = ""


def judge_directory(
    gate: ShipGate, directory: Path, dependencies: Sequence[Path] = (), *, fix: bool = False
) -> DirectoryVerdict:
    """Judge a directory.

    Args:
        gate: Observes the module.
        directory: Of §8.1.
        dependencies: Module directories that it calls; others are looked for beside it.
        fix: Whether a drifted docstring is written instead of told.

    Raises:
        InputError: it is no module directory, or a dependency is nowhere.
        RefusedError: `fix` on a sealed version.
    """
    found = read_module(directory, dependencies)
    if found.candidate is None:
        return DirectoryVerdict(str(directory), found.findings)
    given = found.candidate
    verdict = gate.judge(given)
    spliced = verdict.files.get(_ENTRY, b"")
    drift = docstring_drift(given, spliced)
    if drift is not None and fix:
        write_docstring(directory, spliced)
    told = [drift] if drift is not None and not fix else []
    return DirectoryVerdict(
        f"{given.contract.name} {given.contract.ref}",
        (*found.findings, *told, *verdict.findings),
        verdict,
        len(parse_examples(given.files.get("examples.md", b"").decode(errors="replace"))[0]),
        _ENTRY if drift is not None and fix else "",
    )
