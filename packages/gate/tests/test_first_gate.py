"""The first gate: good module directories pass, and each fault is refused for its own reason."""

from pathlib import Path
from typing import Any

import pytest

from gate_testkit.judging import MODULES, candidate, codes, judge, sealed
from ship_gate.contract.contract import Input, MicroModuleContract
from ship_gate.contract.docstring import render_docstring
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.verdict import Candidate
from testkit.sampling import spread

TALLY = "implementation/__init__.py"
TESTS = "tests/test_tally_words.py"


def _tally(old: Any = "", new: Any = ""):
    """The dependency's source, with one change that must apply."""
    source = (MODULES / "tally_words" / TALLY).read_text(encoding="utf-8")
    assert old in source
    return source.replace(old, new, 1)


def _read(path: Any, old: Any, new: Any):
    text = (MODULES / "tally_words" / path).read_text(encoding="utf-8")
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize("name", spread(["save_tally", "tally_words", "shorten"], fast=3))
def test_a_good_module_passes_with_its_tests_and_its_fingerprint(name: Any):
    """F-11.2-02, F-11.3-05, D-S8-21: a sibling, a writing module with its own class, whose examples each begin in an empty
    folder, and a pair of twins."""
    verdict = judge(name)
    assert verdict.findings == ()
    assert verdict.passed
    assert (
        verdict.actual_fingerprint
        == verdict.locked_fingerprint
        == sealed(name).contract.interface_fingerprint
    )
    names = [test.name for test in verdict.tests]
    assert len(names) == len(set(names)) > 3
    assert {test.result for test in verdict.tests} == {"PASS"}


FAULTS = {
    "a file is missing": ({"examples.md": None}, "files.missing"),
    "a file has no place": ({"tests/conftest.py": ""}, "files.unexpected"),
    "a path climbs out": ({"implementation/../../x.py": ""}, "files.unexpected"),
    "a file and a package have one import name": (
        {"implementation/kinds.py": "", "implementation/kinds/__init__.py": ""},
        "files.unexpected",
    ),
    "a file stands where a folder is": (
        {"implementation/a.py": "", "implementation/a.py/b.py": ""},
        "files.unexpected",
    ),
    "compiled code": ({"implementation/fast.so": b"\x7fELF"}, "files.unexpected"),
    "another contract": ({"contract.json": "{}"}, "files.contract"),
    "a huge file": ({"implementation/data.txt": b"x" * 1_100_000}, "files.size"),
    "no Python": ({TALLY: "def"}, "source.unreadable"),
    "no UTF-8": ({TALLY: b"\xff\xfe"}, "source.unreadable"),
    "another encoding": ({TALLY: "# coding: latin-1\n" + _tally()}, "source.unreadable"),
    "no exports": ({TALLY: _tally('__all__ = ["EmptyTextError", "tally_words"]')}, "surface.exports"),
    "computed exports": ({TALLY: _tally("__all__ = [", "__all__ = [] + [")}, "surface.exports"),
    "an export too many": ({TALLY: _tally('["Empty', '["Counter", "Empty')}, "surface.exports"),
    "an exception that is not exported": ({TALLY: _tally('"EmptyTextError", ')}, "surface.exports"),
    "no entry point": ({TALLY: _tally("def tally_words", "def other")}, "surface.entry_point"),
    "a decorated entry point": (
        {TALLY: _tally("def tally_words", "@print\ndef tally_words")},
        "surface.entry_point",
    ),
    "an entry point bound again": ({TALLY: _tally() + "\ntally_words = len\n"}, "surface.entry_point"),
    "an entry point bound by a global": (
        {TALLY: _tally() + "\ndef _swap():\n    global tally_words\n    tally_words = len\n"},
        "surface.entry_point",
    ),
    "a star import": ({TALLY: "from os import *\n" + _tally()}, "surface.star_import"),
    "a positional-only parameter": ({TALLY: _tally("text: str,", "text: str, /,")}, "surface.parameters"),
    "a parameter without a type": ({TALLY: _tally("text: str", "text")}, "surface.parameters"),
    "a type of another meaning": ({TALLY: "str = bytes\n" + _tally()}, "surface.name"),
    "a test of private parts": (
        {TESTS: _read(TESTS, "import pytest\n", "import pytest\nfrom modules.tally_words import Counter\n")},
        "tests.import",
    ),
    "a test that imports by name": (
        {TESTS: _read(TESTS, "import pytest\n", "import importlib\nimport pytest\n")},
        "tests.import",
    ),
    "a relative import in a test": (
        {TESTS: _read(TESTS, "import pytest\n", "import pytest\nfrom . import x\n")},
        "tests.import",
    ),
    "a module that imports a package": ({TALLY: "import numpy\n" + _tally()}, "source.import"),
    "a module that imports by name": ({TALLY: "import importlib\n" + _tally()}, "source.import"),
    "a module that imports a stranger": ({TALLY: "from ..other import other\n" + _tally()}, "source.import"),
    "a module that climbs out": ({TALLY: "from ... import gate\n" + _tally()}, "source.import"),
    "unreadable claims": ({"tests/obligations.json": "[]"}, "obligations.unreadable"),
    "a claim of no test": (
        {"tests/obligations.json": _read("tests/obligations.json", "}", ', "test_x": []}')},
        "obligations.unknown_test",
    ),
    "a claim of nothing": (
        {"tests/obligations.json": _read("tests/obligations.json", '[""]', '["", "/effects/0"]')},
        "obligations.unknown_pointer",
    ),
    "an uncovered obligation": (
        {"tests/obligations.json": _read("tests/obligations.json", '"/outputs/0/invariants/0"', "")},
        "obligations.uncovered",
    ),
    "an error that the module never raised": (
        {TESTS: _read(TESTS, "        tally_words(text)\n", '        raise EmptyTextError("no word")\n')},
        "obligations.unseen",
    ),
    "no tests at all": ({TESTS: "x = 1\n", "tests/obligations.json": "{}"}, "tests.none"),
    "no test files": ({TESTS: None, "tests/obligations.json": "{}"}, "tests.none"),
    "a failing test": ({TALLY: _tally("return dict(", "return {} and dict(")}, "tests.failed"),
    "a test that skips itself": (
        {TESTS: _read(TESTS, "_counted():\n", "_counted():\n    pytest.skip('later')\n")},
        "tests.failed",
    ),
    "a skipped test": (
        {TESTS: _read(TESTS, "def test_each", "@pytest.mark.skip\ndef test_each")},
        "tests.failed",
    ),
    "an expected failure": (
        {TESTS: _read(TESTS, "def test_each", "@pytest.mark.xfail\ndef test_each")},
        "tests.failed",
    ),
    "a test file that cannot be loaded": (
        {TESTS: _read(TESTS, "import pytest", "import pytest\n1 / 0")},
        "tests.uncollected",
    ),
    "a test that hides another": (
        {TESTS: _read(TESTS, "def test_case_counts_unless_it_is_folded", "def test_each_word_is_counted")},
        "tests.names",
    ),
    "a test made at run time": (
        {TESTS: _read(TESTS, "import pytest\n", "import pytest\n\ntest_more = lambda: None\n")},
        "tests.names",
    ),
    "a module that ends the process": (
        {TALLY: _tally("    words = ", "    import os; os._exit(0)\n    words = ")},
        "tests.incomplete",
    ),
    "a false example": ({"examples.md": _read("examples.md", "{'to': 2", "{'to': 3")}, "examples.false"),
    "another message": (
        {"examples.md": _read("examples.md", "the text holds", "there is")},
        "examples.false",
    ),
    "an example without a sentence": (
        {"examples.md": _read("examples.md", "Each word is counted.\n", "")},
        "examples.form",
    ),
    "a placeholder": (
        {"examples.md": _read("examples.md", '"to be or not to be"', '"some_input"')},
        "examples.placeholder",
    ),
    "no example of an error": (
        {"examples.md": _read("examples.md", "EmptyTextError: the text holds no word", "{}")},
        "examples.uncovered",
    ),
}


@pytest.mark.parametrize("fault", spread(FAULTS, fast=6, slow=12))
def test_a_fault_is_refused_with_its_code(fault: Any):
    """D-21-02, D-S8-01, D-S8-06, D-S8-12, D-S8-17, D-S8-19, D-S8-21, F-5-09, F-12-03 to F-12-06, F-11.3-06: one each."""
    changes, code = FAULTS[fault]
    verdict = judge("tally_words", changes)
    assert not verdict.passed
    assert code in codes(verdict)
    assert set(codes(verdict)) <= {code, *_CONSEQUENCES.get(code, ())}
    assert all(finding.message for finding in verdict.findings)


# a fault that leaves something undone is told together with what is then missing
_CONSEQUENCES = {
    "tests.none": ("obligations.uncovered",),
    "obligations.unseen": ("tests.uncalled",),
    "tests.failed": ("examples.false",),
    "tests.incomplete": ("examples.broken",),
    "tests.names": ("obligations.unknown_test", "obligations.ambiguous_test", "obligations.uncovered"),
    "examples.uncovered": ("examples.false",),
    "examples.placeholder": ("examples.false",),
}


SURFACES = {
    "another name": ("text: str", "title: str", "inputs"),
    "another type": ("text: str", "text: bytes", "inputs"),
    "another default": ("fold: bool = False", "fold: bool = True", "inputs"),
    "no default": ("fold: bool = False", "fold: bool", "inputs"),
    "a parameter too many": ("fold: bool = False", "fold: bool = False, strict: bool = False", "inputs"),
    "a parameter missing": (", fold: bool = False", "", "inputs"),
    "parameters the other way round": (
        "text: str, fold: bool = False",
        "fold: bool = False, text: str = ''",
        "inputs",
    ),
    "another result": ("dict[str, int]:", "list[int]:", "outputs"),
    "no result": ("-> dict[str, int]:", "-> None:", "outputs"),
    "two results": ("-> dict[str, int]:", "-> tuple[dict[str, int], int]:", "outputs"),
    "async": ("def tally_words", "async def tally_words", "modes"),
}


def test_a_surface_that_differs_is_told_by_dimension_and_nothing_is_run():
    """F-11.2-02, F-11.2-03, F-11.3-02: the message is literal, the dimensions are named, no test is executed."""
    for old, new, dimension in SURFACES.values():
        verdict = judge("tally_words", {TALLY: _tally(old, new)})
        locked, actual = verdict.locked_fingerprint, verdict.actual_fingerprint
        first, *others = verdict.findings
        mismatch = f"Interface fingerprint mismatch: expected {locked}, got {actual}"
        assert (first.code, first.message) == ("surface.mismatch", mismatch)
        assert len(actual) == 64
        assert actual != locked
        assert {*verdict.diverged} == {dimension}, new
        assert [finding.code for finding in others] == ["surface.diverged"]
        assert verdict.tests == ()


def test_a_contract_that_does_not_say_what_its_class_is_made_of_is_told_how_to():
    """F-11.2-03, D-S8-22: no code could match it, so the sentence says what the contract lacks."""
    whole = candidate("save_tally").contract
    (saved,) = whole.outputs
    bare = whole.model_copy(update={"outputs": [saved.model_copy(update={"invariants": []})]})
    messages = {f.code: f.message for f in judge("save_tally", contract=bare).findings}
    assert "state what its classes are made of" in messages["surface.diverged"]
    assert saved.invariants[-1] in messages["surface.diverged"]


def test_the_contract_s_docstring_replaces_the_proposer_s():
    """D-S8-03: a proposal with other prose ships with the contract's text, and all else byte for byte."""
    good = _tally()
    docstring = good[good.index('    """Count') : good.index("    words =")]
    other = good.replace(docstring, '    """Counts words, mostly."""\n')
    assert other != good
    verdict = judge("tally_words", {TALLY: other})
    assert verdict.passed
    assert verdict.files[TALLY].decode() == good
    assert render_docstring(sealed("tally_words").contract).split("\n")[0] in verdict.files[TALLY].decode()


def test_a_contract_that_cannot_be_locked_is_refused_before_anything_is_read():
    """D-S8.1-04: the gate judges a directory by itself, so it checks the contract as well."""
    contract = sealed("tally_words").contract
    vague = contract.model_copy(update={"inputs": [Input(name="text", type="Any")]})
    verdict = judge("tally_words", contract=vague)
    assert codes(verdict) == ["contract.rule"]
    assert verdict.actual_fingerprint == ""


def test_all_findings_are_told_at_once():
    """D18: a repair that fixes one fault at a time would waste its budget."""
    verdict = judge(
        "tally_words",
        {
            TALLY: _tally("return dict(", "return {} and dict("),
            "examples.md": _read("examples.md", "Each word is counted.\n", ""),
            "tests/obligations.json": _read("tests/obligations.json", '[""]', "[]"),
        },
    )
    assert {"obligations.uncovered", "tests.failed", "examples.form"} <= set(codes(verdict))


def test_a_stub_is_refused_by_its_tests_and_not_by_its_surface():
    """D-S8-04: what an implementer starts from has the contract's surface already."""
    stub = SandboxedShipGate().stub(sealed("shorten").contract)
    verdict = judge("shorten", {TALLY: stub})
    assert verdict.actual_fingerprint == verdict.locked_fingerprint
    assert "tests.failed" in codes(verdict)


def test_no_finding_carries_the_source_of_a_dependency():
    """D-S8-13: a dependency's failure is told by its sealed name."""
    broken = (
        (MODULES / "save_tally" / TALLY)
        .read_text(encoding="utf-8")
        .replace("tally_words(text)", "tally_words(5)")
    )
    verdict = judge("save_tally", {TALLY: broken})
    told = "\n".join(finding.message for finding in verdict.findings)
    assert "AttributeError" in told
    assert f"<sealed {sealed('tally_words').contract.ref}>" in told
    assert "casefold" not in told


def test_a_module_does_nothing_while_its_surface_is_read(tmp_path: Path):
    """D-S8-02: an effect at import does not happen before the tests run."""
    trace = tmp_path / "trace"
    source = f"open({str(trace)!r}, 'w').close()\n" + _tally("fold: bool = False", "fold: int = 0")
    assert codes(judge("tally_words", {TALLY: source}))[0] == "surface.mismatch"
    assert not trace.exists()


def test_examples_and_tests_run_without_the_environment(monkeypatch: Any):
    """D-S8-11: nothing of the factory's environment is seen by a module."""
    monkeypatch.setenv("SPECWRIGHT_SECRET", "abc")
    leaky = _tally(
        "    words = ", '    import os\n    assert "SPECWRIGHT_SECRET" not in os.environ\n    words = '
    )
    assert codes(judge("tally_words", {TALLY: leaky})) == ["effects.undeclared"]


def test_a_verdict_is_the_same_when_it_is_given_again():
    """Rule 2 of the design: what the gate observed does not depend on the place or the run."""
    changes = {TALLY: _tally("return dict(", "return {} and dict(")}
    first, second = judge("tally_words", changes), judge("tally_words", changes)
    assert first.findings == second.findings
    assert [test[:2] for test in first.tests] == [test[:2] for test in second.tests]


def test_a_sealed_dependency_without_its_source_is_the_factory_s_fault(tmp_path: Path):
    """D-S8-13: a broken seal is no finding about the candidate."""
    from ship_gate.errors import CorruptionError
    from ship_gate.verdict import SealedModule

    whole = candidate("save_tally")
    dependency = SealedModule(whole.dependencies[0].contract, tmp_path)
    with pytest.raises(CorruptionError, match="has no implementation"):
        SandboxedShipGate().judge(Candidate(whole.contract, whole.files, (dependency,)))


def test_the_contract_of_a_directory_may_be_among_its_files():
    """D-S8-15: a directory is judged as it stands, with its contract.json."""
    data = (MODULES / "tally_words" / "contract.json").read_bytes()
    assert MicroModuleContract.from_bytes(data, "contract.json") == sealed("tally_words").contract
    assert judge("tally_words", {"contract.json": data}).passed


def test_a_sibling_is_imported_relatively_and_by_its_public_names():
    """D-21-03, F§6.8: other forms are refused."""
    source = (MODULES / "save_tally" / TALLY).read_text(encoding="utf-8")
    for statement in (
        "from ..tally_words import Counter",
        "from ..tally_words._hidden import x",
        "from .. import tally_words",
        "from modules.tally_words import tally_words",
    ):
        verdict = judge("save_tally", {TALLY: f"{statement} as _other\n" + source})
        assert (codes(verdict), verdict.tests) == (["source.import"], ()), statement


@pytest.mark.nightly
def test_a_package_that_the_settings_allow_may_be_imported():
    """D-23-02: the same module with an allowed package."""
    whole = candidate("tally_words", {TALLY: "import hypothesis\n" + _tally()})
    assert not SandboxedShipGate().judge(whole).passed
    assert SandboxedShipGate(packages=frozenset({"hypothesis"})).judge(whole).passed


def test_a_verdict_says_what_each_stage_observed():
    """D-20-03: what passed, what failed, what was skipped, and what never ran, with times for what did."""
    good = {stage.name: stage for stage in judge("tally_words", static=True).stages}
    skipped = {name for name, stage in good.items() if stage.result == "SKIPPED"}
    assert skipped == {"observation", "strength", "fuzz"}
    assert {stage.result for stage in good.values()} == {"PASS", "SKIPPED"}
    assert good["tests"].duration_ms > 0
    other = judge("tally_words", {TALLY: _tally("text: str", "text: int")})
    bad = {stage.name: stage for stage in other.stages}
    results = {name: bad[name].result for name in ("surface", "tests", "static")}
    assert results == {"surface": "FAIL", "tests": "NOT_RUN", "static": "SKIPPED"}
    assert bad["surface"].findings == 2
