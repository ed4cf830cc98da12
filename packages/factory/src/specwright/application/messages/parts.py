"""The parts that requests are made of: contracts, criteria, failures, amendments, fenced texts, and what roles are told
of hosts, databases, iterables and callables where a module has to do with them (design: role-access, contracts).

The researcher and the planner read what can be asked of such a module; whoever writes or judges its tests reads, after the
contract, how a test goes about it.
"""

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from ship_gate.base.allowed_packages import AllowedPackage
from ship_gate.contract.boundary.lazy_types import is_callable, is_iterable
from ship_gate.contract.contract import EffectType, MicroModuleContract
from ship_gate.contract.contract_text import contract_text, text_for_callers
from ship_gate.contract.examples_file import examples_in_short
from ship_gate.contract.network import network_effects
from specwright.application.criteria import CriterionRuling
from specwright.application.rendering import as_fenced, rendered
from specwright.application.store.modules import DependencyView
from specwright.domain.acceptance.calls import for_all
from specwright.domain.acceptance.records import AcceptanceExample, AcceptanceProperty
from specwright.domain.acceptance.rules import EXAMPLE_IMPORTS

LONGEST_FILE = 12_000
"""Of a file that stands in a request; a longer one is read with the file tools."""


def researcher_notes(*, whole: bool = True) -> str:
    """What the researcher needs to know beyond its prompt: of examples, of what cannot be built, and of interfaces (design:
    executable-spec, release, product-spec).

    Args:
        whole: With what a spec says of its surroundings; else that is a file, `surroundings.md`.
    """
    return rendered("researcher.md", imports=sorted(EXAMPLE_IMPORTS), whole=whole)


def as_contract(contract: MicroModuleContract) -> str:
    """A contract, each statement after its pointer."""
    return as_block(f"Contract of `{contract.name}`", contract_text(contract), "text")


def as_dependency(view: DependencyView) -> str:
    """A sealed module that may be called: what its contract says to callers, its status, its examples."""
    return f"{as_surface(view)}\n\n{as_fenced(examples_in_short(view.examples), 'markdown')}"


def as_surface(view: DependencyView) -> str:
    """A sealed module for those who judge what calls it: what its contract says to callers, and its status. Its examples
    show what the contract says already, and are there to be queried."""
    title = f"Dependency `{view.contract.name}` ({view.contract.ref}, {view.status})"
    return as_block(title, text_for_callers(view.contract), "text")


def as_criteria(
    criteria: Sequence[str],
    rulings: Mapping[int, CriterionRuling] = MappingProxyType({}),
    own: Collection[int] = (),
) -> str:
    """The acceptance criteria of the task by their numbers, with the rulings on them; if `own` names some, the others by
    their numbers alone."""
    return rendered("criteria.md", criteria=criteria, rulings=rulings, own=own)


def as_approved(item: AcceptanceExample | AcceptanceProperty) -> str:
    """An approved example or property for those who judge (design: executable-spec)."""
    title = f"## {item.heading}"
    if isinstance(item, AcceptanceExample):
        return "\n".join((title, item.code, f"gives {item.gives}"))
    return "\n".join((title, item.code, for_all(item.variables, item.errors)))


_PLACE_IN_PRODUCT = re.compile(r"\A(# [^\n]*\n)## Task ID: [^\n]*\n(?:\n## Context\n(?:- [^\n]*\n)+)?")
"""The lines of a task file below its title that tell nothing of what the task is to do."""


def task_text(task_file: str) -> str:
    """A task file as a request holds it: criteria by their numbers, without its place in the product, and without the
    section Error Cases where it only repeats the error surfaces of the sketch."""
    task_file = _PLACE_IN_PRODUCT.sub(r"\1", task_file)
    head, found, cases = task_file.partition("\n## Error Cases\n")
    listed, more, tail = cases.partition("\n\n## ")
    repeated = all(line.removeprefix("- ") in head for line in listed.splitlines())
    return with_numbers(f"{head.rstrip()}\n{more and more[1:]}{tail}" if found and repeated else task_file)


def with_numbers(task_file: str) -> str:
    """A task file whose acceptance criteria have the numbers by which they are cited."""
    head, found, rest = task_file.partition("\n## Acceptance Criteria\n")
    listed, end, tail = rest.partition("\n\n## ")
    lines = [f"{n}. {line.removeprefix('- ')}" for n, line in enumerate(listed.splitlines(), start=1)]
    return "".join([head, found, "\n".join(lines), end, tail]) if found else task_file


def as_left(revisions: int | None) -> str:
    """How many revisions are left after the one that is asked for; nothing of a first version."""
    return "" if revisions is None else f" Revisions left after this one: {revisions}."


def as_files(files: Mapping[str, bytes]) -> str:
    """The files of a module as they are; a long one is only named."""
    parts = [
        as_block(f"/{path}", data.decode(errors="replace"), "text")
        if len(data) <= LONGEST_FILE
        else f"# /{path}\n\n{len(data):,} bytes; read it."
        for path, data in sorted(files.items())
    ]
    return "\n\n".join(parts)


def without_docstring(source: bytes, name: str) -> str:
    """Source without the docstring of a function, which is the contract once more."""
    text = source.decode(errors="replace")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    lines = text.splitlines()
    for node in reversed(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(name):
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None:
                lines[first.lineno - 1 : first.end_lineno] = []
    return "\n".join(lines)


def as_block(title: str, text: str, language: str) -> str:
    """A titled text, fenced."""
    return f"# {title}\n\n{as_fenced(text, language)}"


def clients_of_hosts(packages: Iterable[AllowedPackage]) -> list[str]:
    """How hosts are asked by a client that is allowed; nothing without one."""
    named = {name for package in packages for name in package.imports}
    return [rendered("client.md", name=name) for name in ("httpx", "httpx2") if name in named]


def about_modules(contracts: Sequence[MicroModuleContract], *, files: bool = True) -> list[str]:
    """What follows contracts that ask hosts, write or read files, or take and give iterables and callables; nothing for
    others.

    Args:
        contracts: Of the modules.
        files: Whether the reader writes tests of files.
    """
    inputs = [slot.type for contract in contracts for slot in contract.inputs]
    outputs = [slot.type for contract in contracts for slot in contract.outputs]
    told = rendered(
        "module.md",
        hosts=any(map(network_effects, contracts)),
        files=files and any(map(_uses_file, contracts)),
        takes=any(map(is_iterable, inputs)),
        yields=any(map(is_iterable, outputs)),
        calls=any(map(is_callable, inputs)),
    )
    return [told] if told else []


def _uses_file(contract: MicroModuleContract) -> bool:
    names = {one.name for one in contract.inputs}
    return any(
        one.type is EffectType.WRITE
        or (one.type is EffectType.CALL and names.intersection(re.findall(r"\w+", one.target)))
        for one in contract.effects
    )
