"""Files of modules that did not ship, kept for the person who decides what becomes of them (design: preflight,
sealing)."""

from collections.abc import Mapping

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonValue
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.store import layout
from specwright.application.store.debates import GateResult
from specwright.application.store.file_hashes import note_hashes
from specwright.domain.answers.answers import Failure
from specwright.domain.modules.human_files import is_module_file
from specwright.errors import AnswerError
from specwright.ports.journal import Scope
from specwright.ports.roles import Files
from specwright.ports.store import StateStore

_ESCALATION = "escalation.json"


def _refused(name: str) -> str:
    return f"unproposed-{name}"


class DraftStore:
    """`drafts/`."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    def exists(self, module_id: str) -> bool:
        """Whether a module has drafts that did not ship."""
        return bool(self._store.names(layout.drafts_of(module_id)))

    def add_halted(
        self,
        scope: Scope,
        contract: MicroModuleContract,
        version_id: str,
        files: Files,
        note: Mapping[str, JsonValue],
        suffix: str = "",
    ) -> None:
        """Keep the version with which a module halted, with what stopped it and what the gate saw.

        A version may halt again after a person's answer; `suffix` tells the notes of its halts apart.
        """
        about: dict[str, JsonValue] = {
            "module_id": contract.module_id,
            "module_version": contract.module_version,
        }
        noted = {f"escalation{suffix}.json": canonical_json.pretty({**about, **note})}
        self._add(scope, contract, version_id, {**files, **noted})

    def add_refused(
        self,
        scope: Scope,
        contract: MicroModuleContract,
        name: str,
        files: Files,
        error: AnswerError,
        observed: GateResult,
    ) -> None:
        """Keep the last files that a Proposer submitted before its attempts were spent, with what was wrong with them and
        what the gate saw.

        They never became a proposal, so no artifact holds them. Without any files nothing is kept.
        """
        if not files:
            return
        findings: dict[str, JsonValue] = {"reason": error.what, "problems": list(error.problems)}
        failures = [failure.to_json() for failure in observed.failures]
        escalation = {"reason": error.what, **observed.observed, "failures": failures}
        modules_own = {path: data for path, data in files.items() if is_module_file(path)}
        noted = {
            "findings.json": canonical_json.pretty(findings),
            _ESCALATION: canonical_json.pretty(escalation),
        }
        self._add(scope, contract, _refused(name), {**modules_own, **noted})

    def refused(self, ref: str, name: str) -> GateResult | None:
        """What the gate saw of a draft that was refused for good, by its run and stage; None if there is none."""
        path = f"{layout.draft(ref, _refused(name))}/{_ESCALATION}"
        if not self._store.exists(path):
            return None
        noted = canonical_json.loads(self._store.read(path))
        failures = [Failure.model_validate(failure) for failure in noted.pop("failures")]
        del noted["reason"]
        return GateResult(failures, noted)

    def files(self, ref: str, name: str) -> dict[str, bytes] | None:
        """The module's own files in a draft that was refused for good; None if there is none."""
        path = layout.draft(ref, _refused(name))
        if not self._store.names(path):
            return None
        return {file: data for file, data in self._store.tree(path).items() if is_module_file(file)}

    def _add(
        self, scope: Scope, contract: MicroModuleContract, name: str, files: Mapping[str, bytes]
    ) -> None:
        written = {layout.CONTRACT: contract.to_bytes(), **files}
        directory = layout.draft(contract.ref, name)
        self._store.publish_tree(directory, written)
        note_hashes(scope, {f"{directory}/{path}": data for path, data in written.items()})
