"""The public interface: what `specwright` and `agent_wire` export, and that it is documented and light."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import agent_wire
import ship_gate
import specwright
from specwright import errors

PACKAGES = {"specwright": specwright, "ship_gate": ship_gate, "agent_wire": agent_wire}
EXPORTS = [(package, name) for package, module in PACKAGES.items() for name in module.__all__]
FUNCTIONS = [
    (package, name) for package, name in EXPORTS if inspect.isfunction(getattr(PACKAGES[package], name))
]


def test_what_is_exported_is_there() -> None:
    """Every name of `__all__` resolves, and comes from Specwright."""
    values = [getattr(PACKAGES[package], name) for package, name in EXPORTS]
    homes = {value.__module__ for value in values if isinstance(value, type) or inspect.isfunction(value)}
    assert [home for home in homes if not home.startswith(("specwright.", "ship_gate.", "agent_wire."))] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_the_list_is_sorted_and_complete(package: str) -> None:
    """`dir()` shows the list; a star import gives it; nothing else is public but submodules."""
    module = PACKAGES[package]
    names: dict[str, object] = {}
    exec(f"from {package} import *", names)
    public = set(module.__all__)
    assert len(public) == len(module.__all__)
    assert public - set(dir(module)) == set()
    assert public - {"__version__"} <= set(names)


def test_every_error_class_is_exported() -> None:
    """A caller can catch each of them by its public name."""
    classes = {name for name, value in vars(errors).items() if inspect.isclass(value)} - {"ShipGateError"}
    assert len(classes) > 15
    assert classes <= set(specwright.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """As in any module; and a checker sees the same names as the interpreter."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = specwright.nothing  # pyright: ignore[reportAttributeAccessIssue]
    tree = ast.parse(Path(specwright.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    imported = {
        alias.asname or alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported | {"__version__"} == set(specwright.__all__)


def test_a_function_says_what_it_does_and_takes() -> None:
    """The first line says what it does; where there are several parameters, each is named below it."""
    for package, name in FUNCTIONS:
        function = getattr(PACKAGES[package], name)
        text = inspect.getdoc(function) or ""
        assert text.splitlines()[0]
        parameters = inspect.signature(function).parameters
        if package == "specwright":
            assert [parameter for parameter in parameters if f"{parameter}:" not in text] == [], name


def test_importing_specwright_is_light() -> None:
    """No framework, no settings, not even pydantic, before something is used."""
    program = (
        "import sys, specwright; print(specwright.__version__, *(name for name in "
        "('pydantic', 'langchain_core', 'langgraph', 'rich', 'numpy', 'sqlite3', 'typer') if name in sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == [specwright.__version__]
