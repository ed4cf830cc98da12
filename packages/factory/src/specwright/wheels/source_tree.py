"""A release as a source tree, which is built, checked and changed without Specwright (design: release).

`src/` has the files of the wheel. `tests/` has the tests of each module, which import the package, and what was approved:
each example and each property is a test. `docs/` has a page for each contract. ruff lays out the code, as it would for
the owner; nothing else of a sealed file changes.
"""

import ast
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.resources import files
from itertools import groupby, islice
from pathlib import Path
from textwrap import indent

import ship_gate.inside
from ship_gate.base.text import one_line
from ship_gate.contract.examples import Example, parse_examples
from ship_gate.contract.independent_tests import Property
from ship_gate.contract.statements import statements
from ship_gate.contract.types import BOUNDARY_IMPORTS, named
from ship_gate.syntax_tree import parse_module
from specwright.bounded_process import run_bounded
from specwright.errors import RefusedError
from specwright.files import write_files
from specwright.ports import ProductModule, ProductPackage
from specwright.wheels import tree
from specwright.wheels.environment import closed_environment
from specwright.wheels.product_run import imported_from
from specwright.wheels.wheel import exports_of, package_files, project_table, readme

_SURROUNDINGS = {
    "modules.testing": "surroundings",
    "ship_gate.inside.observation.clock": "surroundings.clock",
    "ship_gate.inside.web.connections": "surroundings.connections",
    "ship_gate.inside.web.script": "surroundings.script",
}
"""Where the tests of a tree find what scripts the clock and hosts."""

_LAYOUT = (("check", "--fix-only", "--select", "I", "tests"), ("format", "."))
_SECONDS = 60.0
_RAISES = re.compile(r"[A-Za-z_]\w*:")
"""The expected outcome of an example that raises."""
_BARE = re.compile(r"\b(dict|frozenset|list|set|tuple|type)\b(?!\[)")


def source_tree(product: ProductPackage) -> Mapping[str, bytes]:
    """The files of the tree by their paths.

    Raises:
        RefusedError: ruff cannot lay out the code.
    """
    package = package_files(product, exports_of(product))
    tests = dict(_tests(product))
    table, tools = project_table(product), _text("tools.toml").replace("PACKAGE", product.import_name)
    editable = '".[interfaces]"' if "\ninterfaces = " in table else "."
    made = {
        "pyproject.toml": "".join([table, tools, *_overrides(product)]),
        ".gitignore": ".venv/\ndist/\n__pycache__/\n.*_cache/\n",
        "README.md": _readme(product),
        "CONTRIBUTING.md": _text("CONTRIBUTING.md").replace("EDITABLE", editable),
        "CHANGELOG.md": f"# Changes\n\n{product.notes}",
        **{f"docs/{one.contract.name}.md": _page(one, product) for one in product.modules},
        **{f"tests/{name}": text for name, text in tests.items()},
    }
    if any("surroundings" in one for one in tests.values()):
        made |= _surroundings(tests["conftest.py"])
    written = {path: text.encode() for path, text in made.items()}
    return _laid_out({**written, **{f"src/{path}": data for path, data in package.items()}})


def _laid_out(written: Mapping[str, bytes]) -> Mapping[str, bytes]:
    with tempfile.TemporaryDirectory(prefix="specwright-tree-") as name:
        stage = Path(name).resolve()
        write_files(stage, written)
        for arguments in _LAYOUT:
            command = [sys.executable, "-P", "-m", "ruff", *arguments, "--quiet", "--no-cache"]
            done = run_bounded(command, cwd=stage, env=closed_environment(stage), seconds=_SECONDS)
            if done.returncode:
                told = one_line(done.stderr.decode("utf-8", "replace"))
                raise RefusedError(f"the source tree cannot be laid out: {told}", remedy="install ruff")
        return {path: (stage / path).read_bytes() for path in sorted(written)}


_EDITING = """
## Change it

Edit it and own it from here: nothing reads this tree, and the next release of the project moves it aside before it writes
its own. Or have a change built with its evidence, in the project that this tree is from: `specwright change --request "..."`
for something new, `specwright report FUNCTION --example FILE.md` for a call that gives a wrong value.
"""


def _readme(product: ProductPackage) -> str:
    examples = [one for module in product.modules for one in parse_examples(module.examples)[0]]
    usual = (
        one for one in [*(a.example for a in product.approved), *examples] if not _RAISES.match(one.expected)
    )
    usage = "".join(
        f"\n```python\n{one.code.replace('from modules.', f'from {product.import_name}.')}\n```\n\ngives\n\n"
        f"```text\n{one.expected}\n```\n"
        for one in islice(usual, 1)
    )
    return (
        f"{readme(product._replace(notes=''))}{usage}{_EDITING}\nThis is the code of release {product.version}: "
        "[how to work on it](CONTRIBUTING.md), [what changed](CHANGELOG.md).\n\n"
        f"Licence: {product.license or 'none is stated. The code is yours; add the licence that you want'}.\n"
    )


def _text(name: str) -> str:
    return (files(tree) / name).read_text(encoding="utf-8")


def _overrides(product: ProductPackage) -> Iterator[str]:
    """What mypy lets pass in a module: everything where a function lacks annotations, else types without their arguments,
    as contracts have `dict` and `list` for JSON values."""
    for module in product.modules:
        sources = [data for path, data in module.implementation.items() if path.endswith(".py")]
        nodes = [node for data in sources for node in ast.walk(parse_module(data))]
        functions = [one for one in nodes if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
        parts = [part for one in functions for part in ast.iter_child_nodes(one.args)]
        arguments = [one for one in parts if isinstance(one, ast.arg) and one.arg not in ("self", "cls")]
        stated = [*(one.returns for one in functions), *(one.annotation for one in arguments)]
        variables = [one.annotation for one in nodes if isinstance(one, ast.AnnAssign)]
        bare = any(_BARE.search(ast.unparse(one)) for one in [*stated, *variables] if one)
        option = "ignore_errors = true" if None in stated else "disallow_any_generics = false" if bare else ""
        if option:
            place = f"{product.import_name}.{module.contract.name}.*"
            yield f'\n[[tool.mypy.overrides]]\nmodule = "{place}"\n{option}\n'


def _page(module: ProductModule, product: ProductPackage) -> str:
    """What a contract says, and the module's examples."""
    contract = module.contract
    lines = [f"# {contract.name}", ""]
    for field, said in groupby(statements(contract), key=lambda one: one.pointer.split("/")[1]):
        if field != "purpose":
            lines += [f"## {field.replace('_', ' ').capitalize().replace('Error cases', 'Edge cases')}", ""]
        lines += [one.line if field == "purpose" else f"{'  ' * one.is_part}- {one.line}" for one in said]
        lines.append("")
    examples = re.sub(r"\A# .*\n+", "", module.examples).replace(
        "from modules.", f"from {product.import_name}."
    )
    page = "\n".join([*lines, re.sub(r"^## ", "## Example: ", examples, flags=re.M)])
    names = {one.contract.ref: f"[{one.contract.name}]({one.contract.name}.md)" for one in product.modules}
    return re.sub(r"\bMM-[0-9a-f]{8}@[0-9.]+\b", lambda found: names.get(found[0], found[0]), page)


def _tests(product: ProductPackage) -> Iterator[tuple[str, str]]:
    yield "conftest.py", _text("conftest.py")
    names = Counter(["test_approved.py", *(name for module in product.modules for name in module.tests)])
    for module in product.modules:
        for file, data in module.tests.items():
            own = file if names[file] == 1 else f"test_{module.contract.name}__{file.removeprefix('test_')}"
            yield own, imported_from(data.decode(), _SURROUNDINGS, product.import_name)
    if product.approved or product.properties:
        yield "outcomes.py", _text("outcomes.py")
        yield "test_approved.py", _approved(product)


def _surroundings(conftest: str) -> dict[str, str]:
    """What scripts the clock and the hosts, which comes before the product."""
    found = {
        "conftest": conftest.replace(
            "import pytest", "import pytest\nfrom surroundings import clear as clear", 1
        )
    }
    found["surroundings/__init__"] = _text("surroundings.py")
    for name, home in _SURROUNDINGS.items():
        if name != "modules.testing":
            path = name.removeprefix("ship_gate.inside.").replace(".", "/")
            found[home.replace(".", "/")] = (files(ship_gate.inside) / f"{path}.py").read_text()
    return {f"tests/{name}.py": imported_from(text, _SURROUNDINGS) for name, text in found.items()}


def _approved(product: ProductPackage) -> str:
    """A test for each example and each property that was approved."""
    properties = [(one.task_id, one.property) for one in product.properties]
    types = {name for _, one in properties for kind in one.variables.values() for name in named(kind)}
    exported = exports_of(product)
    homes = {**dict.fromkeys(exported, product.import_name), **BOUNDARY_IMPORTS}
    lines = ['"""What was approved of the product: examples, and properties that hold for all values."""', ""]
    lines += [f"from {homes[name]} import {name}" for name in sorted(types) if name in homes]
    lines += [
        "from outcomes import check",
        *(["from hypothesis import given, settings"] if properties else []),
    ]
    approved = [(one.task_id, one.example) for one in product.approved]
    for number, (task, one) in enumerate([*approved, *properties], 1):
        name = "_".join(re.findall(r"[a-z0-9]+", f"test {number} {one.heading.lower()}"))
        *before, last = map(ast.unparse, parse_module(one.code).body)
        variables, kind, expected = "", "", [one.expected] if isinstance(one, Example) else []
        if isinstance(one, Property):
            variables = ", ".join(f"{name}: {kind}" for name, kind in one.variables.items())
            kind, expected = "bool", ["True", *(f"{name}:" for name in one.errors)]
            lines += ["@settings(derandomize=True, deadline=None)", "@given(...)"]
        lines += [f"def {name}({variables}) -> None:", f"    {f'{task}: {one_line(one.heading)}'!r}"]
        lines += [
            "    def example() -> object:",
            indent("\n".join([*before, f"return {kind}({last})"]), "        "),
        ]
        lines += [f"    check(example, {', '.join(map(repr, expected))})"]
    return imported_from("\n".join(lines), _SURROUNDINGS, product.import_name)
