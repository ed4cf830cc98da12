"""The same module in other surroundings: what it gives, raises, prints and writes there is compared call by call."""

import pathlib
from pathlib import Path
from typing import Any

import pytest

from gate_testkit.judging import candidate, judge
from gate_testkit.static_judging import cases, contract_of
from ship_gate.fuzz.determinism import Answer, RecordedCall, files_in, first_difference, second_process
from ship_gate.inside.codec import Codec
from ship_gate.sandbox.staging import stage, workspace
from ship_gate.verdict import Candidate
from testkit.sampling import spread

FAULTY = cases("observed/surroundings.md")
SOUND = cases("observed/sound_surroundings.md")
TEXTS = ("b a c", "some words that are long enough", "b a c d e f g h")
FOLDER = pathlib.Path("/nowhere/here")


def difference(source: Any):
    """What the first difference is, in a few calls of a module with `f`, and how many calls were compared."""
    files = {
        "implementation/__init__.py": source.encode(),
        "implementation/_words.py": b"words = str.split\n",
    }
    writes = "path: Path" in source
    header = {"id": 1, "module": "f", "entry": "f", "cwd": str(FOLDER)}
    unknown = Answer("", b"", files={"folder": None} if writes else {})
    given: list[list[object]] = [[FOLDER / "new.txt", text] if writes else [text] for text in TEXTS]
    calls = [RecordedCall("f", header, Codec({}).encode_call(args, {}), unknown, 0.0) for args in given]
    with workspace() as root:
        surface: Any = {"f": {"functions": {"f": False}, "classes": []}}
        staged = stage(root, Candidate(contract_of(), files), files)._replace(surface=surface)
        with second_process(staged, frozenset()) as usual:
            answers = [*usual.answers(surface, calls)]
        made = [call._replace(answer=answer) for call, answer in zip(calls, answers, strict=True)]
        with second_process(staged) as other:
            return first_difference(other, staged, made)


@pytest.mark.parametrize("case", spread(FAULTY, fast=24, slow=16))
def test_what_follows_its_surroundings_is_told_with_what_it_follows(case: Any):
    """Issue 13.2, D-S8-14: package, callers, event loop, time zone, hash seed, locale, folder; also in files and errors."""
    found, compared = difference(FAULTY[case])
    assert compared == len(TEXTS)
    assert found
    assert (found.cause.name if found.cause else "FOLDER") == case.partition(":")[0]
    assert found.usual != found.other
    assert found.text().startswith(f"{found.usual}, and ")


@pytest.mark.parametrize("case", spread(SOUND, fast=12, slow=16))
def test_what_everyday_modules_do_is_the_same_everywhere(case: Any):
    """Issue 13.2, D-S8-14: zones that are named, sets that are sorted, loggers, representations, loops of its own."""
    assert difference(SOUND[case]) == (None, len(TEXTS))


def test_the_tests_are_answered_from_other_surroundings_too():
    """Issue 13.2: a module that is right in its usual package alone is refused by its own tests, with the call."""
    source = candidate("tally_words").files["implementation/__init__.py"].decode()
    changed = source.replace(
        "    words = ",
        '    if text and not __name__.startswith("modules."):\n        return {}\n    words = ',
    )
    assert changed != source
    verdict = judge("tally_words", {"implementation/__init__.py": changed}, strength=0.8)
    told = [finding.message for finding in verdict.findings if finding.code == "tests.surroundings"]
    assert ["gives {}" in text and "with another package name and place it" in text for text in told] == [
        True
    ]


def test_a_call_that_deletes_its_own_folder_is_judged_like_any_other(tmp_path: Path):
    """D-S8-14: a cleaner does so, and so does a hostile module; the gate goes on."""
    assert files_in(tmp_path / "gone") == {".": b"gone"}


def test_of_very_many_files_a_bounded_part_is_compared(tmp_path: Path):
    """D-S8-14: sparse files cost a module nothing; the same part is read each time."""
    for number in range(900):
        with (tmp_path / f"{number:03}").open("wb") as file:
            file.truncate(16 * 1024)
    found = files_in(tmp_path)
    assert len(found) <= 200
    assert sum(len(data or b"") for data in found.values()) <= 256 * 1024
    assert found == files_in(tmp_path)
