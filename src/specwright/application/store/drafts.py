"""Files of modules that did not ship, kept for the person who decides what becomes of them (design: preflight,
sealing)."""

from collections.abc import Mapping

from specwright import canonical_json
from specwright.application.store import layout
from specwright.application.store.file_hashes import note_hashes
from specwright.canonical_json import JsonValue
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.modules.human_files import is_module_file
from specwright.errors import AnswerError
from specwright.ports.journal import Scope
from specwright.ports.roles import Files
from specwright.ports.store import StateStore


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
        self, scope: Scope, contract: MicroModuleContract, name: str, files: Files, error: AnswerError
    ) -> None:
        """Keep the last files that a Proposer submitted before its attempts were spent, with what was wrong with them.

        They never became a proposal, so no artifact holds them. Without any files nothing is kept.
        """
        if files:
            findings: dict[str, JsonValue] = {"reason": error.what, "problems": list(error.problems)}
            modules_own = {path: data for path, data in files.items() if is_module_file(path)}
            noted = {"findings.json": canonical_json.pretty(findings)}
            self._add(scope, contract, f"unproposed-{name}", {**modules_own, **noted})

    def _add(
        self, scope: Scope, contract: MicroModuleContract, name: str, files: Mapping[str, bytes]
    ) -> None:
        written = {layout.CONTRACT: contract.to_bytes(), **files}
        directory = layout.draft(contract.ref, name)
        self._store.publish_tree(directory, written)
        note_hashes(scope, {f"{directory}/{path}": data for path, data in written.items()})
