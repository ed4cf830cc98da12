"""A change request for a released product, or a bug report (design: change).

A bug report is one example of one call, in the form of `examples.md`, and the statement that the product breaks.
"""

import ast
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import Parameter, Signature
from itertools import accumulate
from typing import Annotated

from pydantic import Field

from ship_gate.base.ids import ModuleRefText
from ship_gate.base.record import Record, SemVer, Text, Timestamp
from ship_gate.contract.contract import MISSING, MicroModuleContract
from ship_gate.contract.docstring import entry_points, public_names
from ship_gate.contract.examples import (
    Example,
    parse_examples,
    placeholder_faults,
    python_tree,
    undefined_names,
)
from ship_gate.contract.obligations import obligations
from ship_gate.contract.rules import default_of, is_any_number, is_keyword_only
from specwright.errors import InputError


def example_text(example: Example) -> str:
    """Render an example in the form of `examples.md`."""
    fence = "`" * 3
    return (
        f"## {example.heading}\n\n{example.prose}\n\n{fence}python\n{example.code.rstrip()}\n{fence}\n\n"
        f"{fence}text\n{example.expected}\n{fence}\n"
    )


class BugReport(Record):
    """An accepted bug report.

    Args:
        module_ref: The sealed version that fails the example.
        name: The module's name.
        task_id: The spec's id of the task that shipped it.
        breaks: The broken statement: a JSON pointer into the contract, or `criterion 2` or `decision 1` of the task.
        statement: The text of that statement.
        heading: The example's heading.
        prose: The example's description.
        code: The example's python block.
        expected: The example's text block.
        observed: The difference between expected and actual outcome.
    """

    module_ref: ModuleRefText
    name: Text
    task_id: Text
    breaks: str
    statement: Text
    heading: Text
    prose: Text
    code: str
    expected: str = Field(min_length=1)
    observed: Text

    @property
    def example(self) -> Example:
        """The example in the form that the gate runs."""
        return Example(self.heading, self.prose, self.code, self.expected, 1)

    @property
    def broken_statement(self) -> str:
        """The broken statement, with its place."""
        return f"{self.breaks or 'the purpose'}: {self.statement}"

    @property
    def text(self) -> str:
        """The example in the form of `examples.md`."""
        return example_text(self.example)


class ChangeRequest(Record):
    """An edited SPEC.md, a request in a sentence, or both.

    Args:
        number: The number of the change in the project, from 1.
        base_version: The version of the spec that it changes.
        request: The sentence; empty if only SPEC.md was edited.
        spec_before: The SPEC.md from which the product was built.
        spec_text: The present SPEC.md.
        report: The bug report to repair; the spec then stays the same (design: change).
    """

    number: Annotated[int, Field(ge=1)]
    base_version: SemVer
    request: str
    spec_before: str
    spec_text: str
    asked_at: Timestamp
    asked_by: str
    report: BugReport | None = None

    @property
    def diff(self) -> str:
        """The change of SPEC.md as a unified diff; empty if there is none."""
        before, after = self.spec_before.splitlines(), self.spec_text.splitlines()
        return "\n".join(difflib.unified_diff(before, after, "SPEC.md", "SPEC.md, changed", lineterm=""))


STATEMENTS = ("purpose", "inputs", "outputs", "error_surfaces", "effects", "error_cases")
"""The parts of a contract that describe the module's behaviour."""


def read_example(text: str, contract: MicroModuleContract, where: str, package: str = "") -> Example:
    """Parse the example of a report; imports from the product's package become imports from the module.

    Args:
        text: The text of the file.
        contract: The contract of the reported module.
        where: The file, for the message.
        package: The product's import name.

    Raises:
        InputError: the text is not one example of one call of this module.
    """
    examples, faults = parse_examples(text)
    faults = (*faults, *placeholder_faults(examples))
    if faults:
        raise _refusal("; ".join(f"{fault.where}: {fault.message}" for fault in faults), where, contract)
    if len(examples) != 1:
        raise _refusal(f"there are {len(examples)} examples in it; a report has one", where, contract)
    example = next(iter(examples))
    tree = python_tree(example.code)
    assert tree is not None
    if problem := next(_problems(tree, contract, package), ""):
        raise _refusal(problem, where, contract)
    return example._replace(code=_imported_from_module(example.code, tree, contract, package))


def _refusal(problem: str, where: str, contract: MicroModuleContract) -> InputError:
    name = contract.name
    return InputError(
        f"this is no example of {name}: {problem}",
        where=where,
        remedy=f"write one `## ` heading, a sentence, a python block with `from modules.{name} import {name}` and one call, "
        "and a text block with the value that you expect",
    )


def _imported_from_module(code: str, tree: ast.Module, contract: MicroModuleContract, package: str) -> str:
    """Replace a block's imports from the product's package by imports from the module; keep the rest as it is."""
    data, module = code.encode(), f"modules.{contract.name}"
    starts = [0, *accumulate(len(line) for line in data.splitlines(keepends=True))]
    for node in reversed(tree.body):
        if isinstance(node, ast.ImportFrom) and node.module == package:
            node.module = module
        elif isinstance(node, ast.Import) and any(alias.name == package for alias in node.names):
            node.names = [
                ast.alias(module, one.asname or package) if one.name == package else one for one in node.names
            ]
        else:
            continue
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        data = data[:begin] + ast.unparse(node).encode() + data[end:]
    return data.decode()


def _problems(tree: ast.Module, contract: MicroModuleContract, package: str) -> Iterator[str]:
    entries = [entry.name for entry in entry_points(contract)]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node.func) in entries]
    for module in _imported(tree):
        if module.partition(".")[0] == "modules" and module != f"modules.{contract.name}":
            yield f"it imports {module}; the example is run with {contract.name} alone"
    if others := sorted(set(_taken_from(tree, package)) - {*public_names(contract)}):
        yield f"it imports {', '.join(others)} from {package}; the example is run with {contract.name} alone"
    if not calls:
        yield f"it does not call {' or '.join(entries)}"
    if len(calls) > 1:
        yield f"it calls {contract.name} {len(calls)} times; a report is about one call"
    if unknown := sorted(undefined_names(tree)):
        yield f"it uses names that nothing defines: {', '.join(unknown)}"
    yield from (problem for call in calls for problem in _argument_problems(call, contract))


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _taken_from(tree: ast.Module, package: str) -> Iterator[str]:
    """Yield the names that are imported from a package or used as its attributes."""
    nodes = list(ast.walk(tree))
    aliases = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    known_as = {alias.asname or alias.name for alias in aliases if alias.name == package}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == package:
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from [node.attr] if node.value.id in known_as else []


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


def _argument_problems(call: ast.Call, contract: MicroModuleContract) -> Iterator[str]:
    given = {keyword.arg or "": keyword.value for keyword in call.keywords}
    is_unpacked = "" in given or any(isinstance(one, ast.Starred) for one in call.args)
    if is_unpacked or any(map(is_any_number, contract.inputs)):
        return  # starred arguments bind only at run time
    kinds = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    parameters = [
        Parameter(one.name, kinds[is_keyword_only(one)], default=default_of(one) or Parameter.empty)
        for one in contract.inputs
    ]
    try:
        Signature(parameters).bind(*call.args, **given)
    except TypeError as error:
        yield f"{contract.name} takes {', '.join(one.name for one in contract.inputs) or 'no arguments'}: {error}"


def statement_of(
    contract: MicroModuleContract, task: Mapping[str, Sequence[str]], pointer: str
) -> tuple[str, str] | None:
    """Return the statement at a report's pointer: the pointer in normal form, and the text; None if there is none.

    Args:
        contract: The contract of the module.
        task: The criteria and decisions of the task that shipped it.
        pointer: A JSON pointer into the contract, or the number of a criterion or decision: `criterion 2`, `2`.
    """
    if said := _OF_TASK.fullmatch(pointer.strip().lower()):
        name = f"{said[1] or 'criterion'} {int(said[2])}"
        text = dict(_of_task(task)).get(name)
        return (name, text) if text else None
    if (
        pointer.split("/")[1:2] == []
        or pointer.split("/")[1] not in STATEMENTS
        or not pointer.startswith("/")
    ):
        return None
    texts = {one.pointer: one.sentence for one in obligations(contract)}
    value = contract.at(pointer)
    return None if value is MISSING else (pointer, texts.get(pointer, str(value)))


_OF_TASK = re.compile(r"(criterion|decision)?[ -]*([0-9]{1,6})")


def statements(contract: MicroModuleContract, task: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Return all statements that a report may name: those of the contract, and the criteria and decisions of the task."""
    found = [(one.pointer or "/purpose", one.sentence) for one in obligations(contract)]
    return [*found, *_of_task(task)]


def _of_task(task: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    for kind, texts in task.items():
        yield from ((f"{kind} {n}", text) for n, text in enumerate(texts, 1))
