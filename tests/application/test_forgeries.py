"""Whoever changes what a finished product says of itself is named, with the file (D-S9-11, D-20-03, D-29-02)."""

import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from testkit.application.verifying import checked

Forgery = Callable[[Path], str]
"""Changes a project; returns the path that is to be named."""


def edit(pattern: str, old: str, new: str, *, noted: bool = False) -> Forgery:
    """Exchange words of the first file of a pattern, if asked with its hash in the journal; sizes stay the same."""

    def forge(project: Path) -> str:
        path = sorted(project.glob(pattern))[0]
        before = path.read_bytes()
        after = before.replace(old.encode(), new.encode(), 1)
        assert after != before, pattern
        path.write_bytes(after)
        if noted:
            journal = project / ".specwright/journal.jsonl"
            known, now = (hashlib.sha256(data).hexdigest().encode() for data in (before, after))
            assert known in journal.read_bytes()
            journal.write_bytes(journal.read_bytes().replace(known, now))
            return ".specwright/journal.jsonl"
        return path.relative_to(project).as_posix()

    return forge


def journal_lines(change: Callable[[list[bytes]], list[bytes]]) -> Forgery:
    """Change the lines of the journal."""

    def forge(project: Path) -> str:
        path = project / ".specwright/journal.jsonl"
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
        return ".specwright/journal.jsonl"

    return forge


def drop_challenge(project: Path) -> str:
    """Remove a verdict."""
    path = sorted(project.glob("state_store/artifacts/*/CHAL-*/*/body/challenge.json"))[0]
    shutil.rmtree(path.parents[2])
    return path.relative_to(project).as_posix()


def older_copy(project: Path) -> str:
    """Put the verdict of another debate beside a debate."""
    first, second = sorted(project.glob("state_store/debates/*/challenge.json"))
    second.write_bytes(first.read_bytes())
    return second.relative_to(project).as_posix()


def other_wheel(project: Path) -> str:
    """Add a byte to the wheel."""
    (path,) = project.glob("state_store/releases/*/*.whl")
    path.write_bytes(path.read_bytes() + b"\0")
    return path.relative_to(project).as_posix()


def other_gate_record(project: Path) -> str:
    """Put the gate's record of the plan where that of the module is."""
    plan, module = (next(project.glob(f"state_store/debates/*/gate-1-{name}-*")) for name in ("MP", "IMPL"))
    module.write_bytes(plan.read_bytes())
    return module.relative_to(project).as_posix()


def another_artifact(project: Path) -> str:
    """Copy an artifact under an id of its own."""
    path = sorted(project.glob("state_store/artifacts/*/IMPL-*"))[0]
    copy = path.with_name("IMPL-0000f00d")
    shutil.copytree(path, copy)
    envelope = next(copy.glob("*/envelope.json"))
    envelope.write_text(envelope.read_text().replace(path.name, copy.name))
    return envelope.relative_to(project).as_posix()


def index_entry(project: Path) -> str:
    """Change what the index says of a module."""
    database = project / "state_store/code_index/index.db"
    with closing(sqlite3.connect(database)) as connection:
        rules = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in rules:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE entries SET entry = json_set(entry, '$.purpose', 'Something else')")
        for _, rule in rules:
            connection.execute(rule)
        connection.commit()
    return database.relative_to(project).as_posix()


def other_answer(lines: list[bytes]) -> list[bytes]:
    """Change what a model said."""
    return [line.replace(b"APPROVE", b"REJECT!") for line in lines]


STORE = "state_store"
FORGERIES: dict[str, Forgery] = {
    "emptied journal": journal_lines(lambda lines: []),
    "truncated journal": journal_lines(lambda lines: lines[:-3]),
    "changed record of the journal": journal_lines(other_answer),
    "sentence of the spec": edit(f"{STORE}/product/spec.md", "name", "nahm"),
    "sentence of the spec and its note": edit(f"{STORE}/product/spec.md", "name", "nahm", noted=True),
    "full spec and its note": edit(f"{STORE}/product/spec_in_full.md", "name", "nahm", noted=True),
    "plan": edit(
        f"{STORE}/artifacts/*/MP-*/*/body/plan.json", '"purpose": "', '"purpose": "Not ', noted=True
    ),
    "decision of the spec": edit(f"{STORE}/product/history.json", '"drafted": 0', '"drafted": 1', noted=True),
    "verdict": edit(f"{STORE}/artifacts/*/CHAL-*/*/body/challenge.json", "PASS", "FAIL"),
    "ruling": edit(f"{STORE}/artifacts/*/ADJ-*/*/body/adjudication.json", "APPROVE", "REJECT"),
    "dropped challenge": drop_challenge,
    "older verdict beside the debate": older_copy,
    "acceptance report": edit(f"{STORE}/releases/*/acceptance.json", '"judged": ', '"judged": 1', noted=True),
    "page of the release": edit(f"{STORE}/releases/*/acceptance.md", "a", "o", noted=True),
    "release report": edit(f"{STORE}/releases/*/manifest.json", "PASS", "FAIL"),
    "count of tests in the evidence": edit(f"{STORE}/modules/*/*/ship.json", '"total": ', '"total": 9'),
    "time in an envelope": edit(f"{STORE}/artifacts/*/MP-*/*/envelope.json", '"20', '"19'),
    "time in an envelope and its note": edit(
        f"{STORE}/artifacts/*/RSR-*/*/envelope.json", '"20', '"19', noted=True
    ),
    "time in a contribution": edit(f"{STORE}/contributions/*.json", '"20', '"19', noted=True),
    "wheel": other_wheel,
    "module file": edit(f"{STORE}/modules/*/*/implementation/__init__.py", "return", "yield "),
    "contract": edit(f"{STORE}/modules/*/*/contract.json", '"purpose": "', '"purpose": "Not '),
    "gate record of another version": other_gate_record,
    "context pack": edit(f"{STORE}/context_packs/*.json", "FULL", "NONE", noted=True),
    "the SPEC.md that was approved": edit(f"{STORE}/product/SPEC.md", "name", "nahm", noted=True),
    "approved acceptance": edit(f"{STORE}/product/acceptance.md", "initials", "initialz", noted=True),
    "another artifact": another_artifact,
    "entry of the index": index_entry,
}


def test_every_forgery_is_named(released_once: Path, tmp_path: Path):
    """One copy of a product per forgery; each has a finding at its own path or above (D-S9-11, D-20-03, D-59-01)."""
    missed: list[str] = []
    for name, forge in FORGERIES.items():
        project = Path(shutil.copytree(released_once, tmp_path / name.replace(" ", "-")))
        where, seen = forge(project).removeprefix("state_store/"), checked(project)
        if not any(where.startswith(finding.where) for finding in seen.findings):
            missed.append(f"{name}: {where} is not in {seen}")
    assert checked(released_once).findings == ()
    assert not missed, "\n".join(missed)
