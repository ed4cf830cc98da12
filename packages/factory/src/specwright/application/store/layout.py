"""The paths of `state_store/` (design: store-layout).

Only this module spells paths below `state_store/`. They are POSIX paths relative to that directory.
"""

import re
from typing import NamedTuple

STATE_STORE = "state_store"

STATE_FILE = "project/state_machine.json"
LOG_END = "project/log_end.json"

PRODUCT = "product"
CHANGES = "changes"
ARTIFACTS = "artifacts"
CODE_INDEX = "code_index"
CONTEXT_PACKS = "context_packs"
CONTRIBUTIONS = "contributions"
DEBATES = "debates"
DEFINITIONS = "definitions"
DRAFTS = "drafts"
ESCALATIONS = "escalations"
MODULES = "modules"
RELEASES = "releases"

CODE_INDEX_FILE = "code_index/index.db"

CONTRACT = "contract.json"
SHIP_EVIDENCE = "ship.json"
EXAMPLES = "examples.md"
REPORTED_EXAMPLES = "reported.md"
REGRESSION_TESTS = "falsifying_tests.json"
"""Files of a sealed module."""


_REPLACED = re.compile(
    r"project/[^/]+"
    r"|product/[^/]+|changes/[^/]+/[^/]+"
    r"|artifacts/[^/]+/[^/]+/[^/]+/envelope\.json"
    r"|debates/[^/]+/(proposal|challenge|adjudication)\.json"
)


def may_be_replaced(path: str) -> bool:
    """Whether a file may be replaced: projections, specs until their approval, envelopes, and the copies of a debate's
    newest records. All other files are published once."""
    return _REPLACED.fullmatch(path) is not None


class SpecFiles(NamedTuple):
    """The files of one spec: of the product, or of a change of it."""

    folder: str

    @property
    def source(self) -> str:
        """A copy of SPEC.md."""
        return f"{self.folder}/SPEC.md"

    @property
    def spec(self) -> str:
        """The spec."""
        return f"{self.folder}/spec.json"

    @property
    def text(self) -> str:
        """The spec as a page."""
        return f"{self.folder}/spec.md"

    @property
    def in_full(self) -> str:
        """A page with every field of the spec."""
        return f"{self.folder}/spec_in_full.md"

    @property
    def acceptance(self) -> str:
        """Its examples and properties, for a person to edit."""
        return f"{self.folder}/acceptance.md"

    @property
    def validation(self) -> str:
        """The result of its validation."""
        return f"{self.folder}/validation.json"

    @property
    def sources(self) -> str:
        """The sources that the researcher consulted."""
        return f"{self.folder}/sources.json"

    @property
    def shown(self) -> tuple[str, ...]:
        """The files that show the spec; in the product's folder they show the last released version."""
        return self.spec, self.text, self.in_full, self.acceptance

    @property
    def before(self) -> str:
        """The version that was shown before this one."""
        return f"{self.folder}/previous.json"

    @property
    def history(self) -> str:
        """The history of the drafts: answers that sent them back, and the draft that is shown."""
        return f"{self.folder}/history.json"

    @property
    def abandoned(self) -> str:
        """A mark that the change was abandoned."""
        return f"{self.folder}/abandoned"


def spec_files(change: int = 0) -> SpecFiles:
    """The files of the product's spec, or of a change's spec by its number."""
    return SpecFiles(f"{CHANGES}/{change}" if change else PRODUCT)


def artifact(folder: str, artifact_id: str) -> str:
    """The directory of an artifact; `folder` is the slug of its task's pillar."""
    return f"{ARTIFACTS}/{folder}/{artifact_id}"


def artifact_version(folder: str, artifact_id: str, version: str) -> str:
    """The directory of an artifact's only version."""
    return f"{artifact(folder, artifact_id)}/{version}"


def envelope(folder: str, artifact_id: str, version: str) -> str:
    """An artifact's envelope."""
    return f"{artifact_version(folder, artifact_id, version)}/envelope.json"


def body(folder: str, artifact_id: str, version: str) -> str:
    """The directory of an artifact's files."""
    return f"{artifact_version(folder, artifact_id, version)}/body"


def module_versions(module_id: str) -> str:
    """The directory that holds the versions of a module."""
    return f"{MODULES}/{module_id}"


def module(ref: str) -> str:
    """The directory of one version of a module, `MM-...@x.y.z`."""
    module_id, _, version = ref.partition("@")
    return f"{module_versions(module_id)}/{version}"


def module_contract(ref: str) -> str:
    """The contract of a sealed module."""
    return f"{module(ref)}/{CONTRACT}"


def ship_evidence(ref: str) -> str:
    """The ship evidence of a module; a version that has it is sealed."""
    return f"{module(ref)}/{SHIP_EVIDENCE}"


def drafts_of(module_id: str) -> str:
    """The directory of a module's drafts that did not ship."""
    return f"{DRAFTS}/{module_id}"


def draft(ref: str, name: str) -> str:
    """The directory of one draft of a version of a module."""
    module_id, _, version = ref.partition("@")
    return f"{drafts_of(module_id)}/{version}/{name}"


def debate(debate_id: str) -> str:
    """The directory of a debate, named by its first proposal."""
    return f"{DEBATES}/{debate_id}"


def latest_record(debate_id: str, kind: str) -> str:
    """The copy of a debate's newest record of a kind: `proposal`, `challenge` or `adjudication`."""
    return f"{debate(debate_id)}/{kind}.json"


def amendments(debate_id: str, number: int) -> str:
    """The record of applied amendments in a round."""
    return f"{debate(debate_id)}/amendments-{number}.json"


def gate_record(debate_id: str, number: int | str, version_id: str) -> str:
    """The gate's result for a version at the end of a round."""
    return f"{debate(debate_id)}/gate-{number}-{version_id}.json"


def context_pack(pack_id: str) -> str:
    """A context pack."""
    return f"{CONTEXT_PACKS}/{pack_id}.json"


def contribution(contribution_id: str) -> str:
    """A contribution."""
    return f"{CONTRIBUTIONS}/{contribution_id}.json"


def escalation(escalation_id: str) -> str:
    """An escalation."""
    return f"{ESCALATIONS}/{escalation_id}.json"


def resolution(escalation_id: str) -> str:
    """A person's answer to an escalation."""
    return f"resolutions/{escalation_id}.json"


def transcript(escalation_id: str, number: int | str) -> str:
    """The debate over an approved change that ended without agreement, beside the escalation."""
    return f"{ESCALATIONS}/{escalation_id}.transcript-{number}.json"


def exception(exception_id: str) -> str:
    """An interface change exception."""
    return f"exceptions/{exception_id}.json"


def exception_decision(exception_id: str, number: int | str) -> str:
    """A person's decision about an interface change exception, by its number."""
    return f"exceptions/{exception_id}.decision-{number}.json"


def release(release_id: str) -> str:
    """The directory of a release."""
    return f"{RELEASES}/{release_id}"


def manifest(release_id: str) -> str:
    """The manifest of a release."""
    return f"{release(release_id)}/manifest.json"


def release_file(release_id: str, file_name: str) -> str:
    """Another file of a release: its wheel, the acceptance report (`acceptance.json` and `.md`), or `failure_report.md`."""
    return f"{release(release_id)}/{file_name}"


def source_tree(wheel: str) -> str:
    """The source tree of the newest release, in the project's directory, by the wheel's name."""
    return f"release/{wheel.partition('-')[0]}"


def release_log_end(release_id: str) -> str:
    """The note of the log's end at the time of a release."""
    return f"{release(release_id)}/log_end.json"


def definition(sha256: str) -> str:
    """The bytes that a Wire refers to by their hash."""
    return f"{DEFINITIONS}/{sha256}"
