"""Runs single modules in the sandbox and tells what was observed of their effects."""

import pathlib
import selectors
import time
from typing import Any, NamedTuple

from gate_testkit.static_judging import contract_of
from ship_gate.inside.codec import Codec
from ship_gate.inside.frames import frame
from ship_gate.runs import observed_findings
from ship_gate.sandbox.exchange import ObservedEffect, Stream
from ship_gate.sandbox.kind import Sandbox, available_sandbox
from ship_gate.sandbox.pair import host_plan
from ship_gate.sandbox.process import SandboxKind, start
from ship_gate.sandbox.staging import Staged, stage, workspace
from ship_gate.static.effects import write_targets
from ship_gate.verdict import Candidate

__all__ = ["Observed", "observed"]


class Observed(NamedTuple):
    """What a module did."""

    effects: tuple[ObservedEffect, ...]
    replies: tuple[dict[str, Any], ...]
    staged: Staged

    def findings(self, effects: Any = ()):
        """What no contract with these effects declares."""
        return [*observed_findings(self.effects, contract_of(effects), self.staged)]


def observed(
    source: Any,
    kind: Any = None,
    texts: Any = ("a", "b", "a"),
    more: Any = None,
    must_end: Any = True,
    effects: Any = (),
):
    """What is observed when a module with `f(path, text)` is loaded and called in a sandbox, past every other check.

    Args:
        source: Of the entry file; `path` does not exist.
        kind: Of sandbox; the best of this machine if not given.
        texts: What `f` is given, one call for each.
        more: Other files.
        effects: What the contract declares, where its targets count.
        must_end: Whether all must be answered; a module that fights its host may not come so far.
    """
    files: dict[str, bytes] = {"implementation/__init__.py": source.encode(), **(more or {})}
    with workspace() as root:
        sandbox = Sandbox(SandboxKind(kind or available_sandbox().kind))
        staged = stage(root, Candidate(contract_of(effects), files), files, sandbox)
        (staged.scratch / "run").mkdir()
        child = start(host_plan(staged, "run", sandbox), sandbox.kind)
        try:
            stream, folder = Stream(child, "the module"), str(staged.scratch / "run")
            replies = [*_replies(stream, texts, folder, must_end, write_targets(contract_of(effects)))]
        finally:
            child.stop()
    told = [header for header in replies if header["event"] == "effect"]
    effects = tuple(ObservedEffect(*(header[part] for part in ObservedEffect._fields)) for header in told)
    return Observed(effects, tuple(header for header in replies if header["event"] == "reply"), staged)


def _replies(stream: Any, texts: Any, folder: Any, must_end: Any, targets: Any):
    """Everything that the module's process says until its last answer."""
    described: dict[str, Any] = {
        "functions": {"f": False},
        "classes": [],
        **({"writes": targets} if targets else {}),
    }
    stream.outbox += frame({"surface": {"f": described}})
    for number, text in enumerate(texts):
        payload = Codec({}).encode([[pathlib.Path("here"), text], {}])  # pyright: ignore
        stream.outbox += frame({"id": number, "module": "f", "entry": "f", "cwd": folder}, payload)
    stream.outbox += frame({"finish": True})
    is_over, deadline = False, time.monotonic() + (60 if must_end else 10)
    with selectors.DefaultSelector() as selector:
        selector.register(stream.child.reads, selectors.EVENT_READ)
        while not is_over and not stream.ended and time.monotonic() < deadline:
            stream.write()
            selector.select(0.05)
            stream.read()
            for header, _ in stream.frames():
                assert header["event"] in {"ready", "loaded", "effect", "reply", "finished"}, header
                is_over = header["event"] == "finished"
                yield header
