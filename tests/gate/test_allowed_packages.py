"""Third-party packages: those that the settings allow are seen by modules, prompts and wheel, and no others."""

import importlib.metadata

import pytest

from gate_testkit.judging import MODULES, candidate
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.sandbox.packages import AllowedPackage, allowed_packages, import_names, required_by
from ship_gate.ship_gate import SandboxedShipGate
from specwright.application.requests import ModuleRequest, plan_message, proposer_message
from specwright.errors import InputError

ENTRY = "implementation/__init__.py"
ATTRS = AllowedPackage("attrs>=23", "attrs==26.1.0", ("attr", "attrs"))


def _with_attrs():
    """A sound module that does a part of its work with attrs."""
    source = (MODULES / "tally_words" / ENTRY).read_text(encoding="utf-8")
    changed = source.replace("__all__", "from attrs import frozen\n\n__all__", 1).replace(
        "    words = ", "    text = _Text(text).text\n    words = ", 1
    )
    return candidate("tally_words", {ENTRY: changed + "\n\n@frozen\nclass _Text:\n    text: str\n"})


@pytest.mark.slow
def test_a_module_with_an_allowed_package_passes_the_whole_gate():
    """D-23-02: static checks, both sides of the sandbox, mutants and fuzz find it."""
    packages = import_names(allowed_packages(["attrs>=23"]))
    assert packages >= {"attr", "attrs"}
    verdict = SandboxedShipGate(packages=packages).judge(_with_attrs())
    assert verdict.findings == ()
    assert len(verdict.tests) == 7


def test_the_same_module_is_refused_without_being_run_where_it_is_not_allowed():
    """D-23-02: the finding names the place, the package, and the setting that would allow it."""
    verdict = SandboxedShipGate().judge(_with_attrs())
    assert {finding.code for finding in verdict.findings} == {"source.import"}
    (finding,) = verdict.findings
    assert finding.where == f"{ENTRY}:3"
    assert "attrs" in finding.message
    assert "`packages`" in finding.message
    assert verdict.tests == ()


def test_another_package_than_the_allowed_one_is_refused():
    """D-23-02: one allowed package opens no door for others."""
    verdict = SandboxedShipGate(packages=frozenset({"sortedcontainers"})).judge(_with_attrs())
    assert {finding.code for finding in verdict.findings} == {"source.import"}


def test_what_is_allowed_is_what_is_installed():
    """D-23-02: modules are proved with the installed version, which is written down."""
    (found,) = allowed_packages(["attrs>=23"])
    assert found.installed == f"attrs=={importlib.metadata.version('attrs')}"
    assert found.imports == ("attr", "attrs")


@pytest.mark.parametrize(
    ("requirement", "words"),
    [("attrs>=9999", "attrs>=9999 is allowed"), ("no-such-package-of-ours>=1", "not installed")],
)
def test_a_package_that_is_not_there_is_told_with_what_to_install(requirement, words):
    """D-23-02, D-S9-04: another version, or none at all."""
    with pytest.raises(InputError, match=words) as told:
        allowed_packages([requirement])
    assert told.value.where == "packages"
    assert f"pip install '{requirement}'" in told.value.remedy


def test_the_wheel_requires_what_its_modules_import_and_nothing_else():
    """D-23-02: an allowed package that no module uses is no requirement of the product."""
    other = AllowedPackage("pyyaml>=6", "pyyaml==6.0", ("yaml",))
    assert required_by((ATTRS, other), [b"import attr.validators\n", b"from .yaml import x\n"]) == (
        "attrs>=23",
    )
    assert required_by((ATTRS, other), [b"def f():\n    from yaml import safe_load\n"]) == ("pyyaml>=6",)
    assert required_by((ATTRS, other), [b"import json\n"]) == ()


def test_planner_and_proposer_are_told_what_modules_may_import():
    """D-23-02: nobody plans with a package that the gate refuses, or without one that it allows."""
    assert "attrs>=23" in plan_message("# Task", (ATTRS,))
    assert "attrs" not in plan_message("# Task")
    text = (MODULES / "tally_words" / "contract.json").read_bytes()
    contract = MicroModuleContract.from_bytes(text, "contract.json")
    asked = ModuleRequest(contract, {ENTRY: b""})
    assert "attrs>=23 (`attr`, `attrs`)" in proposer_message(asked, [], (ATTRS,))
    assert "attrs" not in proposer_message(asked, [])
