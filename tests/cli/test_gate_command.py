"""`specwright gate`: a module directory is judged with no factory around it."""

import json
import shutil
from pathlib import Path

import pytest

from gate_testkit.judging import NO_FUZZ
from ship_gate.module_directory import DirectoryVerdict, judge_module
from ship_gate.ship_gate import SandboxedShipGate
from specwright.errors import InputError, RefusedError
from testkit.cli.commands import ROOT, specwright

MODULES = ROOT / "packages/gate/tests/modules"
ENTRY = "implementation/__init__.py"


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A sound module, alone in an empty place."""
    return Path(shutil.copytree(MODULES / "tally_words", tmp_path / "place" / "tally_words"))


def judged(directory: Path, *dependencies: Path, fix: bool = False) -> DirectoryVerdict:
    """What the command tells, from a gate that leaves its longest stages out."""
    gate = SandboxedShipGate(static=False, strength=0, fuzz=NO_FUZZ)
    return judge_module(gate, directory, dependencies, fix=fix)


def drift(module: Path) -> str:
    """Make the docstring say something else than the contract."""
    entry = module / ENTRY
    text = entry.read_text(encoding="utf-8")
    changed = text.replace("Raises:\n", "Raises:\n        KeyError: never\n")
    assert changed != text
    entry.write_text(changed, encoding="utf-8")
    return text


def files(directory: Path) -> dict[str, bytes]:
    """Every file with its bytes."""
    return {p.relative_to(directory).as_posix(): p.read_bytes() for p in directory.rglob("*") if p.is_file()}


def test_a_sound_module_passes_and_nothing_is_written(module: Path):
    """PASS first, then the summary with tests, examples and time; exit 0 (D-S8-15, D-S9-02, D-S9-09)."""
    before = files(module.parent)
    told = specwright("gate", module)
    assert told.code == 0, told
    first, summary = told.out.splitlines()
    assert first == "PASS  tally_words MM-00000001@1.0.0"
    assert summary.startswith("7 of 7 tests passed, 2 examples, 0 findings, ")
    assert files(module.parent) == before


def test_every_finding_is_told_with_its_code_and_its_place(module: Path):
    """FAIL first, every finding, at most 100 columns; exit 1 (D-S8-15, D-S9-02, D-S9-09)."""
    entry = module / ENTRY
    entry.write_text(entry.read_text().replace("return dict(", "return {} and dict("), encoding="utf-8")
    (module / "examples.md").write_text("nothing\n")
    told = specwright("gate", module)
    assert told.code == 1
    lines = told.out.splitlines()
    assert lines[0].startswith("FAIL  ")
    assert {"tests.failed", "examples.form"} <= {line.split("  ")[0] for line in lines} | {
        "examples.form" if any("examples." in line for line in lines) else ""
    }
    assert all(len(line) <= 100 for line in lines)
    assert "findings, " in lines[-1]


@pytest.mark.slow
def test_json_is_one_document(module: Path):
    """verdict, findings {code, where, message}, tests, fingerprint (D-S9-03, D-S9-09)."""
    told = specwright("gate", module, "--json")
    assert told.code == 0
    own = {"verdict", "findings", "tests", "fingerprint", "stages", "notes"}
    assert set(told.document) == {"schema", "version", *own}
    assert (told.document["verdict"], told.document["findings"]) == ("PASS", [])
    assert len(told.document["fingerprint"]) == 64
    assert {test["result"] for test in told.document["tests"]} == {"PASS"}


def test_a_docstring_that_drifted_is_a_finding_and_fix_puts_the_contract_in(module: Path):
    """There the docstring must carry the contract as it is (D-S8-03, D-S8-15)."""
    good = drift(module)
    (finding,) = judged(module).findings
    assert finding.code == "docstring.drift"
    assert finding.where.startswith(f"{ENTRY}:")
    assert "KeyError: never" in finding.message
    (module / ENTRY).chmod(0o640)
    before = files(module.parent)
    fixed = specwright("gate", module, "--fix")
    assert fixed.code == 0, fixed
    assert "docstring was written" in fixed.err
    assert (module / ENTRY).read_text(encoding="utf-8") == good
    assert (module / ENTRY).stat().st_mode & 0o777 == 0o640
    after = files(module.parent)
    assert {path for path in before | after if before.get(path) != after.get(path)} == {
        f"tally_words/{ENTRY}"
    }


def test_fix_leaves_a_sealed_version_alone(module: Path):
    """What is sealed never changes (D-20-01)."""
    drift(module)
    (module / "ship.json").write_text("{}")
    before = files(module)
    with pytest.raises(RefusedError, match="sealed version never changes"):
        judged(module, fix=True)
    assert files(module) == before


def test_a_dependency_is_found_beside_the_module_or_named(tmp_path: Path):
    """By the reference in its contract, wherever its directory is called (D-S8-15)."""
    module = Path(shutil.copytree(MODULES / "save_tally", tmp_path / "here" / "save_tally"))
    specwright("gate", module).refuses("MM-00000001@^1.0.0", "--dependency DIR")
    with pytest.raises(InputError):
        judged(module)
    elsewhere = Path(shutil.copytree(MODULES / "tally_words", tmp_path / "elsewhere" / "x"))
    assert judged(module, elsewhere).findings == ()
    shutil.copytree(elsewhere, module.parent / "beside")
    assert judged(module).findings == ()


def test_a_directory_that_is_no_module_or_no_dependency_is_bad_input(module: Path, tmp_path: Path):
    """Exit 2 with what belongs there, in one clear message (D-S9-02, D-S9-04)."""
    specwright("gate", module, "--dependency", MODULES / "shorten").refuses("does not depend on shorten")
    (tmp_path / "empty").mkdir()
    for place in ("nowhere", "empty"):
        specwright("gate", tmp_path / place).refuses("contract.json")


CONTRACTS = {
    "no JSON": ("{", "contract.invalid", "cannot be read as JSON"),
    "no contract": ('{"name": "x"}', "contract.invalid", "module_id"),
    "a key twice": ('{"a": 1, "a": 2}', "contract.invalid", "occurs twice"),
}


def test_a_contract_that_cannot_be_read_or_locked_is_a_finding(module: Path):
    """Contract problems are told as all others are; the rules of the lock hold here too (D-S8.1-04, D-S9-09)."""
    path = module / "contract.json"
    vague = json.loads(path.read_text())
    vague["inputs"][0]["type"] = "Any"
    for text, code, words in [*CONTRACTS.values(), (json.dumps(vague), "contract.rule", "Any")]:
        path.write_text(text)
        told = specwright("gate", module, "--json")
        assert told.code == 1
        findings = told.document["findings"]
        assert {finding["code"] for finding in findings} == {code}
        assert any(words in finding["message"] for finding in findings), findings


def test_evidence_and_caches_beside_the_files_are_passed_over(module: Path):
    """A sealed version can be judged as it lies in the store; a link is not followed (D-S8-15, D-20-01)."""
    logs = ("ship.json", "tests/execution_log.json")
    for name in (*logs, "tests/__pycache__/x.pyc", ".ruff_cache/y", ".DS_Store"):
        (module / name).parent.mkdir(exist_ok=True)
        (module / name).write_text("{}")
    assert judged(module).findings == ()
    (module / "implementation/_other.py").symlink_to("/etc/hostname")
    assert [finding.code for finding in judged(module).findings] == ["files.unexpected"]


@pytest.mark.nightly
def test_the_settings_beside_a_module_bind_its_gate(module: Path):
    """A package is seen where it is allowed, and what is not installed is bad input (D-23-02, D-S8-15)."""
    entry = module / ENTRY
    text = entry.read_text(encoding="utf-8").replace("__all__", "import attrs as _attrs\n\n__all__", 1)
    entry.write_text(text.replace("    words = ", "    _attrs.has(int)\n    words = ", 1), encoding="utf-8")
    refused = specwright("gate", module)
    assert refused.code == 1
    assert "source.import" in refused.out
    (module / "specwright.toml").write_text('packages = ["attrs>=23"]\ngate_fuzz_examples = 50\n')
    told = specwright("gate", module)
    assert told.code == 0, told
    (module / "specwright.toml").write_text('packages = ["no-such-package-of-ours>=1"]\n')
    specwright("gate", module).refuses("no-such-package-of-ours>=1", "pip install")


@pytest.mark.slow
def test_what_shipped_unconfined_says_so_in_its_last_lines_and_in_its_evidence(waiting: Path):
    """Whoever accepts the risk is not the only one who learns of it (D-S8-10, D-S8-16)."""
    (waiting / "specwright.toml").write_text('sandbox = "none"\n')
    told = specwright("approve", waiting)
    assert told.code == 0, told
    assert "UNCONFINED" in " ".join(told.out.splitlines()[-2:])
    (evidence,) = (waiting / "state_store/modules").glob("*/*/ship.json")
    assert "sandbox: none; the code ran unconfined" in evidence.read_text(encoding="utf-8")
