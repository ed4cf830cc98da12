"""`examples.md` and the tests of a draft, made of examples that were seen to be true (design: adoption, module-directory).

An example that a document gives becomes a test too, where its result is a literal. What was only observed stays an example:
that the function does so today is no reason to hold it to that.
"""

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from specwright.domain.base.text import one_line
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.docstring import public_names
from specwright.domain.contract.examples_file import same_error
from specwright.domain.contract.rules import DEFAULT
from specwright.syntax_tree import parse_module

_MOST_HEADING = 90
_OBSERVED = "Seen in the sandbox when the function was adopted; no document says so."


class TrueExample(NamedTuple):
    """An example that was seen to be true.

    Args:
        code: With the import of the module.
        expected: The `repr` of its last line, or `ErrorName: message`.
        where: The document that gives it; empty if none does.
        error: The class of the error; empty if there is none.
    """

    code: str
    expected: str
    where: str
    error: str = ""


class Suite(NamedTuple):
    """The tests that documented examples make.

    Args:
        source: Of `tests/test_documented.py`; empty if there is none.
        claims: The pointers that each test shows.
    """

    source: str
    claims: dict[str, list[str]]


def examples_page(examples: Sequence[TrueExample], contract: MicroModuleContract) -> str:
    """The text of `examples.md`."""
    parts = [f"# Examples of {contract.name}\n"]
    taken: set[str] = set()
    for example in examples:
        call = one_line(example.code.rstrip().rpartition("\n")[2])
        heading = f"`{call}`" if len(call) <= _MOST_HEADING else f"`{call[:_MOST_HEADING]}...`"
        place = 2
        while heading in taken:
            heading, place = f"{heading.partition(' (')[0]} ({place})", place + 1
        taken.add(heading)
        prose = f"Documented in {example.where}." if example.where else _OBSERVED
        fence = "`" * max(
            3, *(len(run) + 1 for run in re.findall("`{3,}", example.code + example.expected)), 0
        )
        parts.append(
            f"## {heading}\n\n{prose}\n\n{fence}python\n{example.code}\n{fence}\n\n"
            f"{fence}text\n{example.expected}\n{fence}\n"
        )
    return "\n".join(parts)


def suite_of(examples: Sequence[TrueExample], contract: MicroModuleContract) -> Suite:
    """The tests that documented examples make, and what each of them shows."""
    tests: list[str] = []
    claims: dict[str, list[str]] = {}
    for example in examples:
        if not example.where or (not example.error and not _is_literal(example.expected)):
            continue
        name = f"test_documented_example_{len(tests) + 1}"
        tests.append(_test(name, example))
        claims[name] = list(_pointers(example, contract))
    imports = f"from modules.{contract.name} import {', '.join(public_names(contract))}"
    head = f'"""The documented examples of {contract.name}."""\n\nimport pytest\n\n{imports}\n'
    if not any(example.error and example.where for example in examples):
        head = head.replace("import pytest\n\n", "")
    source = "\n\n".join([head, *tests]) if tests else ""
    return Suite(source, claims)


def _is_literal(text: str) -> bool:
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return value is None or not isinstance(value, complex)


def _test(name: str, example: TrueExample) -> str:
    tree = parse_module(example.code)
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)  # an example ends in an expression
    # the import of the module stands at the top of the file
    lines = [ast.unparse(node) for node in tree.body[1:-1]]
    call = ast.unparse(last)
    if example.error:
        lines.append(f"with pytest.raises({example.error}):\n    {call}")
    elif example.expected in {"True", "False", "None"}:
        lines.append(f"assert {call} is {example.expected}")
    else:
        lines.append(f"assert {call} == {example.expected}")
    body = textwrap.indent("\n".join(lines), "    ")
    return f'def {name}() -> None:\n    """As {example.where} says."""\n{body}\n'


def _pointers(example: TrueExample, contract: MicroModuleContract) -> Iterator[str]:
    """What a documented example shows: the happy path and defaults that it leaves out, or an error."""
    if example.error:
        places = [n for n, one in enumerate(contract.error_surfaces) if same_error(one.name, [example.error])]
        # which of several cases of one class it is, nobody says
        yield from (f"/error_surfaces/{n}" for n in places if len(places) == 1)
        return
    yield ""
    yield from defaults_shown(parse_module(example.code), contract)


def defaults_shown(tree: ast.AST, contract: MicroModuleContract) -> Iterator[str]:
    """The defaults that a call in some code leaves to the function."""
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == contract.name
    ]
    for n, slot in enumerate(contract.inputs):
        has_default = slot.constraints and slot.constraints[-1].startswith(DEFAULT)
        if has_default and any(_leaves_out(call, n, slot.name) for call in calls):
            yield f"/inputs/{n}/constraints/{len(slot.constraints) - 1}"


def _leaves_out(call: ast.Call, place: int, name: str) -> bool:
    unpacks = any(isinstance(one, ast.Starred) for one in call.args) or any(
        k.arg is None for k in call.keywords
    )
    return not unpacks and len(call.args) <= place and all(k.arg != name for k in call.keywords)
