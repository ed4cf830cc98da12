"""The debate over a sealed version, found by its evidence (design: provenance, falsifying-tests)."""

from specwright import canonical_json
from specwright.application.factory import ProjectView
from specwright.domain.debate.falsifying import TriedTest, active_tests


def tests_of_debate(view: ProjectView, module_ref: str) -> list[TriedTest]:
    """The falsifying tests that a sealed version passed in its debate and that nobody struck; of one that code sealed,
    those of the version that was debated."""
    debated = view.projection.debated_as(module_ref)
    version_id = view.modules.evidence(debated).journal_ref.rpartition("/")[2]  # scopes.seal
    for debate_id in view.debates.ids():
        records = view.debates.records(debate_id)
        if any(version_id in records.judged(number) for number in records.rounds()):
            contract_sha256 = canonical_json.digest(view.modules.contract(debated).to_json())
            return active_tests(*records.falsified(), contract_sha256)
    return []
