"""Sealed dependencies: bytecode with the contract's docstring, and no line of source that anybody could be told.

A candidate is run beside dependencies that other tasks sealed. What goes back to its author, findings and tracebacks,
may name them and nothing more.
"""

import marshal
import types

import pytest

from gate_testkit.judging import MODULES, candidate, judge, sealed
from gate_testkit.running import run
from ship_gate.contract.docstring import render_docstring
from ship_gate.sandbox.staging import stage
from testkit.sampling import spread

ENTRY = "implementation/__init__.py"
TESTS = "tests/test_save_tally.py"
SOURCE = (MODULES / "save_tally" / ENTRY).read_text(encoding="utf-8")
DEPENDENCY = (MODULES / "tally_words" / ENTRY).read_text(encoding="utf-8")
PYC_HEADER = 16


def _lines_of_source():
    """The dependency's own lines; those of its docstring are its contract, and known to everybody."""
    contract = render_docstring(sealed("tally_words").contract)
    lines = {line.strip() for line in DEPENDENCY.splitlines()} - {
        line.strip() for line in SOURCE.splitlines()
    }
    return {line for line in lines if len(line) > 12 and line not in contract}


def _told(findings):
    return "\n".join(f"{finding.where}\n{finding.message}" for finding in findings)


def _shows_no_source(text):
    assert _lines_of_source()
    assert [line for line in _lines_of_source() if line in text] == []


def _with(deed):
    """The candidate with a deed between the call of its dependency and its own work."""
    indented = "".join(f"    {line}\n" for line in deed.split("\n"))
    return SOURCE.replace("    counts = tally_words(text)\n", indented)


def test_a_dependency_enters_as_bytecode_with_its_docstring(tmp_path):
    """D-S8-13: no source file is there, the code is named by its seal, and the contract can be read."""
    whole = candidate("save_tally")
    staged = stage(tmp_path, whole, whole.files)
    folder = staged.lib / "modules/tally_words"
    assert [path.name for path in folder.iterdir()] == ["__init__.pyc"]
    code = marshal.loads((folder / "__init__.pyc").read_bytes()[PYC_HEADER:])
    assert code.co_filename == f"<sealed {whole.dependencies[0].contract.ref}>"
    names = {part.co_name: part for part in code.co_consts if isinstance(part, types.CodeType)}
    first = names["tally_words"].co_consts[0]
    known = render_docstring(sealed("tally_words").contract)
    assert first.split() == known.split()


@pytest.mark.parametrize("thorough", [False, True])
def test_a_traceback_through_a_dependency_shows_its_seal_and_no_source(thorough):
    """D-S8-13: the failing test's own lines and the candidate's are told, the dependency's are not."""
    changes = {ENTRY: _with("counts = tally_words([text])")}
    verdict = judge("save_tally", changes, strength=0.8 if thorough else 0.0)
    told = _told(verdict.findings)
    assert f"<sealed {sealed('tally_words').contract.ref}>" in told
    assert "counts = tally_words([text])" in told
    _shows_no_source(told + "\n".join(test.message for test in verdict.tests))


LOOKING = {
    "a traceback as a message": "import traceback\ntry: tally_words([text])\n"
    "except Exception: raise OSError(traceback.format_exc())",
    "the lines of a file": "import inspect\nraise OSError(inspect.getsource(tally_words))",
    "the lines by their cache": "import linecache\nraise OSError(linecache.getlines(tally_words.__code__.co_filename))",
    "the loader's source": "import modules.tally_words as m\nraise OSError(m.__loader__.get_source('modules.tally_words'))",
    "the file beside its own": "raise OSError((Path(__file__).parent.parent / 'tally_words/__init__.py').read_text())",
    "the folder that it was sealed in": "raise OSError(Path({folder!r}, 'implementation/__init__.py').read_text())",
}


@pytest.mark.parametrize("way", spread(LOOKING, fast=3, slow=2))
def test_a_candidate_that_looks_for_a_dependency_s_source_finds_none(way):
    """D-S8-13: there is nothing to hand back, past the static checks too."""
    deed = LOOKING[way].replace("{folder!r}", repr(str(MODULES / "tally_words")))
    seen = run({ENTRY: _with(deed)}, name="save_tally")
    assert seen.findings
    _shows_no_source(_told(seen.findings) + "\n".join(test.message for test in seen.tests))


def test_a_test_that_looks_for_a_dependency_s_source_finds_none():
    """D-S8-13: the tests' process has no file of any module."""
    tests = candidate("save_tally").files[TESTS].decode()
    tests += (
        "\ndef test_source(tmp_path):\n    import inspect, os, modules.tally_words as m\n"
        "    save_tally('a', tmp_path / 'x')\n"
        "    found = [n for p in m.__path__ for n in os.listdir(p)]\n    assert found == [], found\n"
        "    raise OSError(inspect.getsource(m.tally_words))\n"
    )
    seen = run({TESTS: tests}, name="save_tally")
    assert any(finding.where.endswith("::test_source") for finding in seen.findings)
    _shows_no_source(_told(seen.findings))
