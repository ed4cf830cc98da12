"""A draft that no repair got through: its files, for the person who is asked what becomes of the module (D18, D20).

It never became a proposal, so that no artifact holds it. It lies beside the drafts that were debated, under the run and
the stage in which it was made, with everything that was found in it.
"""

from specwright import canonical_json
from specwright.application.factory import Factory
from specwright.application.project_stage import Task
from specwright.application.stores.kept_records import keep
from specwright.domain.contract import MicroModuleContract
from specwright.domain.fix_files import is_module_file
from specwright.domain.ids import ModuleRef
from specwright.errors import AnswerError
from specwright.ports.roles import Files

__all__ = ["keep_refused"]


def keep_refused(
    factory: Factory, task: Task, contract: MicroModuleContract, stage: str, files: Files, error: AnswerError
) -> None:
    """Keep the last files that a Proposer submitted before its attempts were spent; without any nothing is kept.

    Args:
        factory: The ports.
        task: The task.
        contract: Of the module.
        stage: `round-1`, or `amended-1`.
        files: As they were looked at last.
        error: Why they were not taken.
    """
    if not files:
        return
    place = "drafts/{}/{}".format(*ModuleRef.parse(contract.ref)) + f"/unproposed-{task.run}-{stage}"
    found = {"reason": error.what, "problems": list(error.problems)}
    kept = {path: data for path, data in files.items() if is_module_file(path)}
    written = {"contract.json": contract.to_bytes(), **kept, "findings.json": canonical_json.pretty(found)}
    factory.store.publish_tree(place, written)
    scope = factory.journal.scope(f"{task.run}/{contract.name}/unproposed/{stage}")
    keep(scope, {f"{place}/{path}": data for path, data in written.items()})
