"""A product that is built on modules which were made elsewhere, from the import to the wheel that calls them (D50)."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from specwright.domain.modules.release import ReleaseManifest
from testkit.cli.commands import specwright
from testkit.loop.adopted_products import released_words
from testkit.paths import GATE_MODULES
from testkit.shared_fixtures import made_once

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The released product."""
    return made_once(tmp_path_factory, worker_id, "words", released_words) / "project"


def wheel_of(project: Path) -> Path:
    (wheel,) = (project / "state_store/releases").glob("*/*.whl")
    return wheel


def refs_of(project: Path) -> dict[str, str]:
    rows: list[dict[str, Any]] = specwright("modules", project, "--json").document["modules"]
    return {row["name"]: row["module_ref"] for row in rows}


def test_the_wheel_calls_what_was_adopted(words: Path):
    """Installed from its file alone; what no plan uses is not in it (D-28-02, F-14.3-09, D-50-04)."""
    wheel = wheel_of(words)
    with zipfile.ZipFile(wheel) as archive:
        packages = {name.split("/")[1] for name in archive.namelist() if name.startswith("words/")}
    code = "import words; print(words.top_word('a b b'))"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(wheel)!r}); {code}"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.stdout == "b\n", ran.stderr
    assert {"top_word", "tally_words", "save_tally"} <= packages
    assert "shorten" not in packages


def test_everything_of_it_is_proven(words: Path):
    """Seals, fingerprints, evidence, records and log; of a file that was changed it is told (D-20-01, F-11.2-03)."""
    assert specwright("verify", words, "--json").document["verdict"] == "PASS"


def test_a_changed_file_of_an_adopted_module_is_named(words: Path, tmp_path: Path):
    """By its path; so is a changed record of the import, and a seal that is gone (D-20-01)."""
    copy = Path(shutil.copytree(words, tmp_path / "copy"))
    module = copy / "state_store/modules" / refs_of(words)["tally_words"].replace("@", "/")
    source = module / "implementation/__init__.py"
    source.write_text(source.read_text() + "\n")
    record = copy / "state_store/imports/1.json"
    record.write_text(record.read_text().replace('"tests": 7', '"tests": 70'))
    (copy / "state_store/modules" / refs_of(words)["shorten"].replace("@", "/") / "ship.json").unlink()

    told = specwright("verify", copy, "--json").document
    found = {(one["code"], one["where"].rpartition("/")[2]) for one in told["findings"]}
    assert told["verdict"] == "FAIL"
    assert {
        ("seal.changed", "__init__.py"),
        ("record.changed", "1.json"),
        ("seal.missing", "ship.json"),
    } <= found


def test_the_release_says_what_was_adopted_and_what_the_gate_saw(words: Path):
    """Manifest, acceptance report and the wheel's description: the directory's name, the evidence, never a path."""
    (release,) = (words / "state_store/releases").iterdir()
    manifest = ReleaseManifest.from_bytes((release / "manifest.json").read_bytes(), "manifest")
    with zipfile.ZipFile(wheel_of(words)) as archive:
        (metadata,) = (archive.read(n).decode() for n in archive.namelist() if n.endswith("/METADATA"))
    page = (release / "acceptance.md").read_text()

    assert sorted(one.name for one in manifest.adopted) == ["save_tally", "tally_words"]
    ships = {one.module_ref: one.ship_ref for one in manifest.modules}
    for part in manifest.adopted:
        assert part.directory == part.name
        assert part.ship_ref == ships[part.module_ref]
        assert {"static", "tests", "strength", "fuzz"} <= part.gate.keys()
        assert set(part.gate.values()) == {"PASS"}
        assert part.ruling.startswith("ACCEPTED: ")
        assert part.line in metadata
        assert part.line in page
    assert str(GATE_MODULES) not in metadata + page + (release / "manifest.json").read_text()


def test_every_page_says_where_it_came_from(words: Path):
    """modules, module, its trail and debate, status (F-14.1-10)."""
    rows = specwright("modules", words, "--json").document["modules"]
    assert {row["name"]: row["provenance"] for row in rows} == {
        "save_tally": "adopted",
        "shorten": "adopted",
        "tally_words": "adopted",
        "top_word": "planned",
    }
    shown = specwright("module", "tally_words", words, "--json").document
    assert (shown["provenance"], shown["adopted"]["directory"]) == ("adopted", "tally_words")
    assert shown["ruling"]["verdict"] == "ACCEPTED"
    trail = specwright("module", "tally_words", words, "--trail", "--json").document
    assert trail["schema"] == "adopted-chain"
    assert set(trail["users"]) == {refs_of(words)["save_tally"], refs_of(words)["top_word"]}
    page = " ".join(specwright("module", "tally_words", words, "--trail").out.split())
    assert "from the directory tally_words, where its contract called it MM-00000001@1.0.0" in page
    debate = specwright("module", "tally_words", words, "--debate", "--json").document
    assert [one["over"] for one in debate["contract_debates"]] == ["contracts"]
    specwright("module", "shorten", words, "--debate").refuses("nothing was said of shorten yet")
    states = {one["name"]: one["state"] for one in specwright("status", words, "--json").document["adopted"]}
    assert states == dict.fromkeys(("save_tally", "shorten", "tally_words"), "sealed")


def test_a_search_finds_it_by_what_it_does(words: Path):
    """As a planner searches (F-14.3-04, F-14.3-05)."""
    found = specwright("index", "search", "how often words stand in a text", words, "--json").document[
        "matches"
    ]
    assert {"tally_words", "save_tally"} <= {one["name"] for one in found[:3]}


def test_what_a_product_uses_does_not_change_under_it(words: Path, tmp_path: Path):
    """The same directories change nothing; other bytes are refused, and nothing is written."""
    copy = Path(shutil.copytree(words, tmp_path / "copy"))
    again = specwright("import", GATE_MODULES, "--project", copy, "--json").document["modules"]
    assert {one["state"] for one in again} == {"unchanged"}

    other = Path(shutil.copytree(GATE_MODULES / "tally_words", tmp_path / "tally_words"))
    source = other / "implementation/__init__.py"
    source.write_text(source.read_text().replace("A text without a word.", "A text in which no word stands."))
    before = sorted(copy.rglob("state_store/**/*"))
    specwright("import", other, "--project", copy).refuses("the plan of TSK-001", "uses it", code=1)
    assert sorted(copy.rglob("state_store/**/*")) == before
    assert json.loads((copy / "state_store/imports/1.json").read_bytes())["modules"]


def test_a_run_that_reuses_a_module_can_be_repeated(words: Path, tmp_path: Path):
    """The recorded plan names the module; its reference is another one in the new project (D51, F-14.3-09)."""
    said = specwright("playbook", "record", words, tmp_path / "recorded", "--json").document
    assert said["remarks"] == []
    plan = json.loads((tmp_path / "recorded/TSK-001/planner.json").read_text())["plan"]
    reused = [module["reuse"].get("reuse_ref") for module in plan["modules"]]
    assert "save_tally" in reused

    project = tmp_path / "again"
    project.mkdir()
    shutil.copy(words / "SPEC.md", project)
    assert specwright("import", GATE_MODULES, "--project", project).code == 0
    told = specwright("run", project, "--model", f"playbook:{tmp_path / 'recorded'}", "--approve", "--json")
    assert told.code == 0, told.err
    assert refs_of(project).keys() == refs_of(words).keys()
    assert refs_of(project)["save_tally"] != refs_of(words)["save_tally"]
