"""Expected results as files: what differs from them is named by its place.

`tests/frozen/expected/NAME.json` holds the values; `make frozen` writes them anew. A difference is accepted where
`tests/frozen/allowed.toml` lists its place with a reason. That a corpus lets pass what it refused is never accepted.
"""

import json
import os
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from testkit.paths import ROOT, TESTS

__all__ = ["hold", "normalised"]

FROZEN = TESTS / "frozen"
_MISSING = "(nothing)"
_ID = re.compile(r"\b([A-Z]+)-[0-9a-f]{8}\b")
_REPLACED = (
    (re.compile(r"\bwire_[0-9A-Z]{26}\b"), "WIRE"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "SHA256"),
    (re.compile(r'(?<="project_id": ")([a-z0-9-]+)-[0-9a-f]{8}'), r"\1-ID"),
    (re.compile(r"`\S*(?:pytest|__main__\.py|specwright) (?=[a-z])"), "`specwright "),
)


def normalised(document: Any, project: Path) -> Any:
    """A document without what each run draws or measures; ids by prefix and order."""
    text = json.dumps(document, ensure_ascii=False)
    for place, word in ((project, "PROJECT"), (project.resolve(), "PROJECT"), (ROOT, "REPOSITORY")):
        text = text.replace(str(place), word)
    for pattern, word in _REPLACED:
        text = pattern.sub(word, text)
    known: dict[str, str] = {}
    counts: dict[str, int] = {}

    def named(found: re.Match[str]) -> str:
        if found[0] not in known:
            counts[found[1]] = counts.get(found[1], 0) + 1
            known[found[0]] = f"{found[1]}-{counts[found[1]]}"
        return known[found[0]]

    return _without_measures(json.loads(_ID.sub(named, text)))


_MEASURED = {"duration_ms", "characters", "runner_id"}


def _without_measures(value: Any) -> Any:
    """A document without times, sizes of requests, and how far a stage came that is bounded in time."""
    if isinstance(value, list):
        return [_without_measures(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _without_measures(item) for key, item in value.items() if key not in _MEASURED}
    if "observed" in kept and "findings" in kept:  # a stage of the gate
        kept |= {"observed": sorted(kept["observed"]), "detail": re.sub(r"[0-9]+", "N", kept["detail"])}
    return kept


def flattened(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a document by their places, `/tasks/0/status`."""
    items: Any = None
    if isinstance(value, dict) and value:
        items = value.items()
    elif isinstance(value, list) and value:
        items = enumerate(value)
    if items is None:
        yield place, value
        return
    for key, item in items:
        yield from flattened(item, f"{place}/{key}")


class Difference(NamedTuple):
    """Two values of one place, as JSON."""

    place: str
    expected: str
    found: str

    @property
    def lets_pass(self) -> bool:
        """Whether a corpus would let pass what it refused."""
        return self.expected.startswith('"FAIL') and (self.found == '"PASS"' or self.found == _MISSING)


def differences(name: str, expected: Any, found: Any) -> list[Difference]:
    """What differs."""
    old, new = dict(flattened(expected)), dict(flattened(found))
    places = [*old, *(place for place in new if place not in old)]
    every = [Difference(f"{name}{place}", _shown(old, place), _shown(new, place)) for place in places]
    return [one for one in every if one.expected != one.found]


def _shown(values: dict[str, Any], place: str) -> str:
    return json.dumps(values[place], ensure_ascii=False) if place in values else _MISSING


def hold(name: str, found: Any) -> None:
    """Compare with the expected values, all at once; differences that are not allowed fail."""
    file = FROZEN / "expected" / f"{name}.json"
    if os.environ.get("FREEZE"):
        file.write_text(
            json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8"
        )
        return
    expected = json.loads(file.read_text(encoding="utf-8"))
    allowed = _allowed()
    wrong = [
        one
        for one in differences(name, expected, found)
        if one.lets_pass or not any(fnmatchcase(one.place, place) for place in allowed)
    ]
    listed = "\n".join(f"{one.place}: {one.expected} -> {one.found}" for one in wrong)
    assert not wrong, f"{len(wrong)} values differ from {file.relative_to(ROOT)}:\n{listed}"


def _allowed() -> list[str]:
    """The places where a difference is intended."""
    listed = tomllib.loads((FROZEN / "allowed.toml").read_text(encoding="utf-8")).get("allowed", [])
    return [one["at"] for one in listed if one["reason"]]
