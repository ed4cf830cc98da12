"""The corpora of the gate are those that were frozen, each case with the verdict that is due.

`tests/gate` judges the cases against these tables. Here nobody can take a case out, or change what is due, unseen. What the
source alone shows is judged here, code by code.
"""

from typing import Any

import pytest

from gate_testkit.corpus_reading import faults, sound_names, wider_fault, wider_names
from gate_testkit.judging import candidate
from gate_testkit.static_judging import cases, codes_of_source, codes_of_tests
from gate_testkit.verdicts import HOSTILE_TESTS, attacked
from ship_gate.static.imports import import_findings
from ship_gate.static.stage import static_findings
from testkit.frozen import hold
from testkit.paths import GATE_CORPUS, GATE_MODULES

SHIPS = ("SHIPS",)


def due() -> dict[str, Any]:
    """The verdict that is due, of each case of each corpus."""
    tables = [path.relative_to(GATE_CORPUS).as_posix() for path in sorted(GATE_CORPUS.rglob("*.md"))]
    tables = [name for name in tables if not name.startswith("libraries/")]
    return {
        "modules": dict.fromkeys(
            sorted(path.parent.name for path in GATE_MODULES.glob("*/contract.json")), "PASS"
        ),
        "sound": dict.fromkeys(sound_names(), "PASS"),
        "faults": {one.title: "PASS" if one.codes == SHIPS else _fails(one.codes) for one in faults()},
        "wider": {name: {"sound": "PASS", "faulty": _fails(wider_fault(name)[1])} for name in wider_names()},
        **{name: {title: _of_table(name, title) for title in cases(name)} for name in tables},
    }


def _fails(codes: Any) -> str:
    return " ".join(["FAIL", *codes])


def _of_table(name: str, title: str) -> str:
    if name.rpartition("/")[2].startswith("sound_") or name == "observed/sound.md":
        return "PASS"
    return _fails([title.partition(":")[0]] if ": " in title else [])


def test_each_case_has_the_verdict_that_was_frozen() -> None:
    """No case is missing and none is due to pass that was due to fail."""
    hold("corpora", due())


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_sources_give_the_findings_that_were_frozen() -> None:
    """Every code that the static stage gives for hostile tests, hostile modules and single functions."""
    found: dict[str, Any] = {"hostile_tests.md": {}}
    for title in HOSTILE_TESTS:
        whole = candidate("tally_words", attacked(title))
        codes = {one.code for one in (*static_findings(whole), *import_findings(whole))}
        found["hostile_tests.md"][title] = _verdict(codes)
    for name in ("hostile_modules.md", "static/raises.md", "static/sound_sources.md"):
        found[name] = {
            title: _verdict({code for code, _ in codes_of_source(source)})
            for title, source in cases(name).items()
        }
    for name in ("static/faulty_tests.md", "static/sound_tests.md"):
        found[name] = {title: _verdict(codes_of_tests(source)) for title, source in cases(name).items()}
    hold("static", found)


def _verdict(codes: Any) -> str:
    return _fails(sorted(codes)) if codes else "PASS"
