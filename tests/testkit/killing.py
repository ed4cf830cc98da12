"""The test-only composition root: the factory with ports that end its process by SIGKILL (DESIGN §4).

Every effect that outlives the process is counted when it is done: a journal record, a published or replaced file, a
Wire append, an index entry, a checkpoint. What was there already is no effect, so that a run that is killed after
its first one each time still comes to an end. A kill after each effect is a kill before each next one. The draws can
be repeated from another run's journal, so that two runs can be compared byte by byte.
"""

import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from agent_wire import canonical_json
from agent_wire.entries import LogEntry
from specwright.application.factory import Adapters
from specwright.application.interface_change import exceptions
from specwright.application.stages.status import project_status
from specwright.bootstrap.project import Composition, Project, Silent, open_project
from specwright.domain.interface_change import DecisionRequest, ExceptionStatus
from specwright.graphs.graphs import resolve_exceptions
from specwright.settings import Settings
from testkit.draws import repeated_draws

__all__ = ["EFFECTS", "Job", "Kill", "drive"]

EFFECTS = ("journal", "file", "wire", "index", "checkpoint")


class Kill(NamedTuple):
    """When to die.

    Args:
        effects: The kinds that count.
        nth: After this one of them, from 1; 0 is never.
    """

    effects: Sequence[str] = EFFECTS
    nth: int = 0


class Job(NamedTuple):
    """A `run` with a composition.

    Args:
        directory: The project.
        spec: Its SPEC.md.
        model: As `--model` has it.
        base_url: As `--base-url` has it.
        approve: Whether to approve the spec.
        change: Of the released product, as `change --request` has it; empty for none.
        report: The file of a bug report about the module `initials`, and what it breaks; empty for none.
        abandon: Whether to give up the change that is under way, instead of going on with it.
        approve_exceptions: Whether to approve the interface change exceptions that wait.
        answers: To the escalations that come, as `resolve` has them: action and payload, the first one first.
        kill: When to die.
        draws: A journal whose draws are repeated; empty for fresh ones.
        trace: A file that takes the effects in their order.
        store: As the setting has it.
    """

    directory: str
    spec: str
    model: str
    base_url: str = ""
    approve: bool = True
    kill: Kill = Kill()
    draws: str = ""
    trace: str = ""
    answers: Sequence[tuple[str, dict[str, Any]]] = ()
    change: str = ""
    abandon: bool = False
    report: Sequence[str] = ()
    approve_exceptions: bool = False
    store: str = ""


def drive(job: Job) -> int:
    """What `specwright run` does between its first and last line, with the job's composition; its exit code."""
    directory = Path(job.directory)
    directory.mkdir(parents=True, exist_ok=True)
    settings = Settings(model=job.model, base_url=job.base_url, retry_seconds=0, store=job.store)
    fuse = Fuse(job.kill)
    composition = Composition(
        wrap_adapters=lambda adapters: deadly(
            repeated_draws(adapters, Path(job.draws)) if job.draws else adapters, fuse
        ),
        saver=_saver(fuse),
    )
    text = Path(job.spec).read_text(encoding="utf-8")
    with open_project(directory, settings, Silent(), text, composition) as opened:
        if job.abandon and opened.factory.projection.open_change is not None:
            opened.abandon()
        if job.change and not opened.factory.projection.changes:
            opened.change(job.change, text, text)
        if job.report and not opened.factory.projection.changes:
            file, pointer = job.report
            opened.report(opened.try_report("initials", Path(file).read_text(), file), pointer, text)
        resolve_exceptions(opened.factory)
        if job.approve_exceptions:
            _approve_exceptions(opened)
        waits = opened.driver.advance()
        if job.approve and waits and waits["kind"] == "approval":
            waits = opened.driver.advance({"action": "APPROVE", "by": "human:operator"})
        while waits and waits["kind"] == "escalation":
            taken = len(opened.factory.projection.resolutions)
            if taken == len(job.answers):
                break
            action, payload = job.answers[taken]
            waits = opened.driver.advance({"action": action, "payload": payload})
        code = project_status(opened.factory).exit_code
    if job.trace:
        Path(job.trace).write_text(json.dumps(fuse.burnt))
    return code


def _approve_exceptions(opened: Project) -> None:
    """As `specwright exceptions approve` does, for all that wait."""
    for known in [*exceptions(opened.factory)]:
        if known.status is ExceptionStatus.RAISED:
            decided = {"exception_id": known.record.exception_id, "decision": "APPROVE_CHANGE"}
            opened.decide(DecisionRequest.model_validate(decided))


class Fuse:
    """Counts effects and ends the process at the right one."""

    def __init__(self, kill: Kill) -> None:
        self._kill = kill
        self._left = kill.nth
        self.burnt: list[str] = []

    def effect(self, kind: str, what: str) -> None:
        """Something is on the disk now."""
        self.burnt.append(f"{kind} {what}")
        if kind in self._kill.effects:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def deadly(adapters: Adapters, fuse: Fuse) -> Adapters:
    """All that leave something behind, wrapped."""
    return replace(
        adapters,
        store=DeadlyTree(adapters.store, fuse),
        folder=DeadlyTree(adapters.folder, fuse),
        log=DeadlyLog(adapters.log, fuse),
        journal=DeadlyJournal(adapters.journal, fuse),
        index=DeadlyIndex(adapters.index, fuse),
    )


class Wrapped:
    """Everything that a port offers, and a fuse."""

    def __init__(self, port: Any, fuse: Fuse) -> None:
        self._port = port
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


class DeadlyTree(Wrapped):
    """A file tree whose writes are effects, one by one."""

    def publish(self, path: str, data: bytes) -> None:
        new = not self._port.exists(path)
        self._port.publish(path, data)
        if new:
            self._fuse.effect("file", path)

    def replace(self, path: str, data: bytes) -> None:
        new = not self._port.exists(path) or self._port.read(path) != data
        self._port.replace(path, data)
        if new:
            # how often the projection is written depends on the time that passes (D29)
            self._fuse.effect("projection" if path.endswith("state_machine.json") else "file", path)

    def publish_tree(self, path: str, files: Mapping[str, bytes]) -> None:
        for name, data in files.items():
            self.publish(f"{path}/{name}", data)

    def define(self, data: bytes) -> str:
        sha256 = canonical_json.sha256(data)
        self.publish(f"definitions/{sha256}", data)
        return sha256


class DeadlyLog(Wrapped):
    """A Wire log whose appends are effects."""

    def append(self, wires: Sequence[Any]) -> Sequence[LogEntry]:
        entries = self._port.append(wires)
        if entries:
            self._fuse.effect("wire", " ".join(wire["type"] for wire in wires))
        return entries


class DeadlyIndex(Wrapped):
    """A Code Index whose entries are effects."""

    def add(self, entry: Any) -> None:
        new = self._port.get(entry.module_id, entry.version) is None
        self._port.add(entry)
        if new:
            self._fuse.effect("index", entry.ref)

    def retire(self, decided: Any) -> None:
        new = self._port.get(*decided.module_ref.split("@")).status is not decided.status
        self._port.retire(decided)
        if new:
            self._fuse.effect("index", f"{decided.module_ref} {decided.status}")


class DeadlyJournal(Wrapped):
    """A journal whose records are effects; a recalled one is none."""

    def scope(self, name: str, *, deferred: bool = False) -> "DeadlyScope":
        return DeadlyScope(self._port.scope(name, deferred=deferred), self._port, self._fuse)


class DeadlyScope:
    """A scope that looks whether the journal has grown."""

    def __init__(self, scope: Any, journal: Any, fuse: Fuse) -> None:
        self._journal = journal
        self._fuse = fuse
        self.name = scope.name
        self.recall = self._watched(scope.recall)
        self.record = self._watched(scope.record)
        self.hex8 = self._watched(scope.hex8)
        self.now = self._watched(scope.now)
        self.wire_id = self._watched(scope.wire_id)

    def _watched(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            before = len(self._journal)
            answer = method(*args)
            if len(self._journal) > before:
                self._fuse.effect("journal", self.name)
            return answer

        return call


def _saver(fuse: Fuse) -> Callable[[type[Any]], type[Any]]:
    def deadly_saver(base: type[Any]) -> type[Any]:
        return type("DeadlySaver", (_DeadlyPuts, base), {"fuse": fuse})

    return deadly_saver


class _DeadlyPuts:
    """What stores checkpoints, each of which is an effect."""

    fuse: Fuse

    def put(self, *args: Any, **kwargs: Any) -> Any:
        kept = super().put(*args, **kwargs)
        self.fuse.effect("checkpoint", "state")
        return kept

    def put_writes(self, *args: Any, **kwargs: Any) -> None:
        super().put_writes(*args, **kwargs)
        self.fuse.effect("checkpoint", "writes")
