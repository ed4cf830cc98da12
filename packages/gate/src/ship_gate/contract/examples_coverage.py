"""Which examples a contract needs (design: role-access, module-directory).

Each entry point in an example that succeeds; per error surface one example (as many as there are surfaces
of that error; a code or variant shows in the `repr`); per WRITE or MUTATION one that goes on after the call
and so can read back what was done. Whether it reads back the right thing is for the Challenger."""

import ast
import re
from collections.abc import Iterator

from ship_gate.contract.contract import EffectType, ErrorSurface, MicroModuleContract, SurfaceKind
from ship_gate.contract.docstring import entry_points
from ship_gate.contract.error_classes import is_os_error
from ship_gate.contract.examples_file import ERROR_TEXT, Example, python_tree
from ship_gate.contract.rules import is_untested, raised_errors
from ship_gate.findings import Finding


def coverage_faults(examples: tuple[Example, ...], contract: MicroModuleContract) -> tuple[Finding, ...]:
    """What the examples of a contract do not show; those of definitions may show any of them."""
    if is_untested(contract):
        return ()
    messages = [
        *_entry_faults(examples, contract),
        *_error_faults(examples, contract),
        *_effect_faults(examples, contract),
    ]
    return tuple(Finding("examples.uncovered", "examples.md", message) for message in messages)


def _calls(example: Example, name: str) -> bool:
    tree = python_tree(example.code)
    return tree is not None and any(
        isinstance(node, ast.Call) and _names(node.func, name) for node in ast.walk(tree)
    )


def _names(node: ast.expr, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name) or (
        isinstance(node, ast.Attribute) and node.attr == name
    )


def _error_name(example: Example, contract: MicroModuleContract) -> str:
    """The error that an example shows; empty if it shows a result."""
    declared = {error.name for error in contract.error_surfaces}
    match = ERROR_TEXT.fullmatch(example.expected)
    name = match["name"] if match else ""
    return (
        name
        if name in declared or re.fullmatch(r"[A-Z]\w*(Error|Exception|Exists|Warning|Exit)", name)
        else ""
    )


def _entry_faults(examples: tuple[Example, ...], contract: MicroModuleContract) -> Iterator[str]:
    for entry in entry_points(contract):
        if not any(
            _calls(example, entry.name) and not _error_name(example, contract) for example in examples
        ):
            yield f"no example calls {entry.name} and shows what it returns; add one that shows the purpose"


def _error_faults(examples: tuple[Example, ...], contract: MicroModuleContract) -> Iterator[str]:
    for name in raised_errors(contract):
        due = [error for error in contract.error_surfaces if error.name == name]
        shown = sum(_shows(example, due[0], contract) for example in examples)
        if shown < len(due):
            conditions = "; ".join(error.when for error in due)
            yield f"{shown} of {len(due)} error surfaces {name} have an example; add one each: {conditions}"


def _shows(example: Example, error: ErrorSurface, contract: MicroModuleContract) -> bool:
    if error.surface is SurfaceKind.EXCEPTION:
        shown = _error_name(example, contract)
        return shown == error.name or (error.name == "OSError" and is_os_error(shown))
    return (
        re.search(rf"(?<![A-Za-z0-9_]){re.escape(error.name)}(?![A-Za-z0-9_])", example.expected) is not None
    )


def _effect_faults(examples: tuple[Example, ...], contract: MicroModuleContract) -> Iterator[str]:
    due = [effect for effect in contract.effects if effect.type in {EffectType.WRITE, EffectType.MUTATION}]
    shown = sum(_reads_back(example, contract) for example in examples if not _error_name(example, contract))
    if shown < len(due):
        targets = ", ".join(effect.target for effect in due)
        yield f"{shown} of {len(due)} effects have an example that reads back; add one each: {targets}"


def _reads_back(example: Example, contract: MicroModuleContract) -> bool:
    """Whether the code goes on after the call: its last expression is more than the call itself."""
    if not any(_calls(example, entry.name) for entry in entry_points(contract)):
        return False
    tree = python_tree(example.code)
    last = tree.body[-1] if tree else None
    names = [entry.name for entry in entry_points(contract)]
    return not (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Call)
        and (any(_names(last.value.func, name) for name in names) or _is_awaited_call(last.value, names))
    )


def _is_awaited_call(call: ast.Call, names: list[str]) -> bool:
    """`asyncio.run(entry(...))`."""
    inner = call.args[0] if _names(call.func, "run") and call.args else None
    return isinstance(inner, ast.Call) and any(_names(inner.func, name) for name in names)
