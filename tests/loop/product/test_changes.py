"""A released product is changed: asked for, approved, built as far as it changed, released again (D38)."""

import html
import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agent_wire import canonical_json
from specwright.bootstrap.project import Silent, open_project
from specwright.bootstrap.verify import verify_project
from specwright.bootstrap.views import reading_project
from specwright.settings import Settings
from testkit.cli.commands import everything, specwright
from testkit.cli.terminal import on_a_terminal
from testkit.loop.changed_products import (
    NEW_CRITERION,
    REQUEST,
    banner_product,
    broken,
    spec_of_change,
    tasks_of,
    write_json,
)
from testkit.loop.products import NAMEPLATE_SPEC
from testkit.paths import ROOT
from testkit.roles.overheard import RequestRecorder
from testkit.stores import answered
from testkit.wires_heard import logged

pytestmark = pytest.mark.timeout(600)
"""The first test of a session builds the product and its change, with all checks."""


@pytest.fixture
def released(shop: Path, tmp_path: Path) -> Path:
    """The product as it was released first."""
    return Path(shutil.copytree(shop / "released", tmp_path / "released"))


@pytest.fixture
def waiting(shop: Path, tmp_path: Path) -> Path:
    """The change waits for approval."""
    return Path(shutil.copytree(shop / "waiting", tmp_path / "waiting"))


@pytest.fixture
def changed(shop: Path) -> Path:
    """The change is released; only looked at."""
    return shop / "changed"


def with_playbook(project: Path, playbook: Path) -> None:
    """Let another playbook answer from now on."""
    assert specwright("run", project, "--model", f"playbook:{playbook}").code == 0


@pytest.mark.slow
def test_a_person_at_a_terminal_is_asked_at_the_gate_of_a_change(released: Path) -> None:
    """After `change`, and again after an answer that leads back to the gate (F-3.2.4-02)."""
    later = (("approve, amend, reject, or later? ", "later\n"),)
    asked = on_a_terminal("change", released, "--request", REQUEST, typed=later)
    assert asked.code == 3, asked.screen
    again = on_a_terminal("reject", released, "--reasons", "It says too little.", typed=later)
    assert again.code == 3, again.screen
    assert specwright("status", released, "--json").document["where"] == "approval"


@pytest.mark.slow
def test_a_deprecation_by_mistake_is_undone(released: Path) -> None:
    """The gate seals the files again as the next version, and those of what calls them (F-14.1-02, F-16-02): no status
    goes back, the search finds the version, a release succeeds, and the log says who decided it."""
    refs = {name: ref for ref, (name, *_) in all_modules(released).items()}
    ref = refs["initials"]
    words = ("--reason", "It drops names.", "--migration-note", "Write them out.")
    said = specwright("deprecate", ref, released, *words)
    assert (said.code, "--undo" in said.out, refs["banner"] in said.out) == (0, True, True), said
    assert specwright("release", released).code == 1
    undone = specwright("deprecate", ref, released, "--undo", "--reason", "It was the wrong one.")
    assert (undone.code, "Sealed again" in undone.out) == (0, True), undone
    later = ref.replace("@1.0.0", "@1.0.1")
    ends = f"{later} was sealed in its place; `specwright release {released}` makes a release with it."
    assert (undone.out.splitlines()[-1], f"initials {later}, by the ship gate" in undone.err) == (
        ends,
        True,
    ), undone
    names = {(name, version): status for name, version, status in all_modules(released).values()}
    assert names == {
        ("initials", "1.0.0"): "DEPRECATED",
        ("initials", "1.0.1"): "SHIPPED",
        ("banner", "1.0.0"): "SUPERSEDED",
        ("banner", "1.0.1"): "SHIPPED",
    }
    again = specwright("module", ref, released, "--json").document["sealed_again"]
    assert again["reason"] == "its deprecation was undone: It was the wrong one."
    found = specwright("index", "search", "initials", released, "--json").document["matches"]
    assert again["module_ref"] == f"{found[0]['module_id']}@{found[0]['version']}"
    assert specwright("release", released).code == 0
    assert {one["module_ref"] for one in last_release(released)["modules"]} >= {again["module_ref"]}
    assert verify_project(released).findings == ()
    (event,) = (w for w in logged(released) if w["payload"].get("subject") == "deprecation.undone")
    assert (event["sender"], event["payload"]["reference"]) == ("human:operator", ref)


def all_modules(project: Path) -> dict[str, tuple[str, str, str]]:
    """Name, version and status of every sealed version, by its reference."""
    rows = specwright("modules", project, "--json").document["modules"]
    return {one["module_ref"]: (one["name"], one["version"], one["status"]) for one in rows}


def last_release(project: Path) -> Any:
    """The manifest of the newest release, with its wheel's path."""
    with reading_project(project) as view:
        release = project / "state_store/releases" / view.projection.releases[-1]
    manifest = json.loads((release / "manifest.json").read_text())
    return {**manifest, "file": release / manifest["product"]["wheel"]}


def of_last_release(project: Path) -> dict[str, bytes]:
    """Everything that belongs to what is released: modules, releases, task files, and the spec."""
    kept = ("modules/", "releases/", "product/")
    store = everything(project / "state_store")
    return {name: data for name, data in store.items() if name.startswith(kept)} | everything(
        project / "project"
    )


def test_a_sentence_becomes_an_amended_spec_at_the_gate(shop: Path, waiting: Path) -> None:
    """The next version waits; the gate says what it does, and costs, by code (D-38-01, D-38-03, D-38-04)."""
    document = json.loads((shop / "gate.json").read_text())
    assert (document["where"], document["exit_code"]) == ("approval", 3)
    change = document["change"]
    assert (change["version_before"], change["version"], change["request"]) == ("1.0.0", "1.1.0", REQUEST)
    assert change["difference"] == {
        "added": [],
        "changed": [{"task_id": "TSK-001", "what": [f"acceptance criteria: + {NEW_CRITERION}"]}],
        "removed": [],
        "untouched": ["TSK-002"],
    }
    (module,) = change["modules"]
    assert (module["name"], module["used_by"], module["task_id"]) == ("initials", ["banner"], "TSK-001")
    assert specwright("status", waiting, "--json").document["change"] == change
    page = specwright("status", waiting).out
    assert (
        page.index("Since the last version:") < page.index("changed: TSK-001") < page.index("used by banner")
    )
    assert NEW_CRITERION in " ".join(page.split())
    (waiting / "specwright.toml").write_text('model = "openai:test"\n[prices]\n"openai:test" = [1, 10]\n')
    estimate = specwright("status", waiting, "--json").document["estimate"]
    assert (estimate["tokens"], estimate["usd"]) == (32_000, 0.0898)  # one task of two


def test_nothing_of_the_release_changes_before_the_approval(shop: Path, waiting: Path) -> None:
    """At the gate, and after a rejection: the same files, and `verify` passes (D-38-05)."""
    before = of_last_release(shop / "released")
    assert of_last_release(waiting) == before
    assert verify_project(waiting).findings == ()
    again = specwright("reject", waiting, "--reasons", "Say it in other words.")
    assert again.code == 3, again
    assert of_last_release(waiting) == before
    assert verify_project(waiting).findings == ()
    assert tasks_of(waiting) == tasks_of(shop / "released")


def test_the_changed_task_alone_is_built_again(shop: Path, changed: Path) -> None:
    """Calls for it alone; the other stays SHIPPED, and its module is judged again without a model (D-38-06, D-38-09)."""
    before, after = tasks_of(shop / "released"), tasks_of(changed)
    assert [row["status"] for row in after.values()] == ["SHIPPED", "SHIPPED"]
    assert [row["attempt"] for row in after.values()] == [2, 1]
    assert [row["declaration_order"] for row in after.values()] == [0, 1]
    assert [row["task_id"] for row in after.values()] == [row["task_id"] for row in before.values()]
    asked = set(answered(changed)) - set(answered(shop / "released"))
    assert {place.partition("/")[0] for place in asked} == {"change-1.1", "TSK-001.2"}
    assert answered(changed, "TSK-002") == answered(shop / "released", "TSK-002")


def test_versions_are_computed_from_the_contracts(shop: Path, changed: Path) -> None:
    """An invariant more is a minor version, its consumer a patch that names it; both old ones are superseded (D-38-08,
    D-38-09)."""
    before, after = tasks_of(shop / "released"), tasks_of(changed)
    modules = {row["module_ref"]: row for row in specwright("modules", changed, "--json").document["modules"]}
    for task, version in (("TSK-001", "1.1.0"), ("TSK-002", "1.0.1")):
        old, new = before[task]["module_ref"], after[task]["module_ref"]
        assert old.endswith("@1.0.0")
        assert new == old.replace("1.0.0", version)
        assert (modules[old]["status"], modules[new]["status"]) == ("SUPERSEDED", "SHIPPED")
        assert (
            modules[old]["interface_fingerprint"] == modules[new]["interface_fingerprint"]
            or task == "TSK-001"
        )
    with reading_project(changed) as view:
        (called,) = view.modules.contract(after["TSK-002"]["module_ref"]).dependencies
        assert called.ref == after["TSK-001"]["module_ref"]
        evidence = view.modules.evidence(after["TSK-002"]["module_ref"])
        assert evidence.dependency_fingerprints.keys() == {called.ref}


def test_the_log_has_the_approval_as_the_cause(shop: Path, changed: Path) -> None:
    """The old log is a prefix, no completed attempt gets a Wire, the approval caused the next one (D-38-12)."""
    old, new = logged(shop / "released"), logged(changed)
    assert new[: len(old)] == old
    (approval,) = (w for w in new if w["payload"].get("subject") == "change.approved")
    (created,) = (w for w in new[len(old) :] if w["type"] == "task.created")
    assert created["stream"]["stream_id"] == "task:TSK-001:attempt:2"
    assert created["stream"]["causation_id"] == approval["wire_id"]
    streams = {w["stream"]["stream_id"] for w in new[len(old) :]}
    assert not any(stream.endswith("attempt:1") for stream in streams)


def test_a_change_goes_on_from_the_plan_and_the_module_that_there_are(shop: Path, released: Path) -> None:
    """The planner's request has the plan with its sealed versions, to be patched, the researcher's spec and contracts; the
    Proposer's the last version of its module and what has changed in the contract, and no other role sees a line of it
    (D-38-07, D-56-04)."""
    heard = RequestRecorder(released, lambda place, project: None)
    settings, text = Settings(model=f"playbook:{shop / 'playbook'}"), NAMEPLATE_SPEC.read_text()
    with open_project(released, settings, Silent(), text, heard.composition) as project:
        project.change(REQUEST, text, text)
        project.approve()
    asked = {place: "\n".join(invoked.requests) for place, invoked in heard.invoked.items()}
    planner, researcher = asked["TSK-001.2/plan/round-1/planner"], asked["change-1.1/researcher"]
    assert "The plan that the task was built to" in planner
    assert f"# What has changed in the task\n\n- acceptance criteria: + {NEW_CRITERION}" in planner
    assert "## Approved Examples" not in planner
    assert '"reuse":' not in planner
    assert {*heard.invoked["change-1.1/researcher"].tools} == {
        "read_file",
        "web_search",
        "emit_structured_spec",
    }
    assert b'"TSK-001"' in heard.invoked["change-1.1/researcher"].directory["spec.json"]
    assert "the first letter of each word that has one" in planner
    assert REQUEST in researcher
    assert "The approved spec" in researcher
    directory = heard.invoked["change-1.1/researcher"].directory
    assert b"Contract of `banner`" in directory["contracts/banner.md"]
    assert b"# The MCP server" in directory["notes.md"]
    assert '/pillars/0/epics/0/stories/0/tasks/0 {"task_id": "TSK-001"' in researcher
    seeing = [place for place, said in asked.items() if "letters = [next(" in said]
    assert seeing == ["TSK-001.2/initials/round-1/proposer"]
    assert "# What has changed in the contract" in asked[seeing[0]]
    begun = heard.invoked[seeing[0]].directory
    assert b"def test_" in begun["tests/test_initials.py"]
    assert set(asked) == {place for place in asked if place.startswith(("TSK-001.2/", "change-1.1/"))}


def test_both_releases_hold(shop: Path, changed: Path) -> None:
    """The old one is as it was, the new one does what its spec says, both verify; the notes in the wheel say per version
    what was asked for, what changed, and each module's reason; `module --trail` follows a resealed one to the debate of
    the files that it has (D-38-13, D-38-15, F-5-02)."""
    assert "SPEC.md lacks what 1 change" in " ".join(specwright("status", changed).out.split())
    assert "SPEC.md lacks" not in specwright("status", shop / "released").out
    old = everything(shop / "released/state_store/releases")
    assert old.items() <= everything(changed / "state_store/releases").items()
    verified = verify_project(changed)
    assert (verified.findings, verified.unbound) == ((), ())
    manifest = last_release(changed)
    assert manifest["spec_version"] == "1.1.0"
    assert "-1.1.0-" in manifest["product"]["wheel"]
    with zipfile.ZipFile(manifest["file"]) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
        said = wheel.read(name).decode()
    newest, oldest = said.index("## 1.1.0"), said.index("## 1.0.0")
    assert newest < said.index(f"Asked for: {REQUEST}") < said.index(NEW_CRITERION) < oldest
    assert "- `initials` 1.0.0 -> 1.1.0: built for TSK-001" in said
    assert "- `banner` 1.0.0 -> 1.0.1: judged again with initials" in said
    assert said.index("### Added") > oldest
    assert "- Banner (TSK-002)" in said
    told = specwright("module", tasks_of(changed)["TSK-002"]["module_ref"], changed, "--trail")
    assert told.code == 0, told
    assert "banner" in told.out


def test_the_folder_of_the_product_has_the_spec_that_is_released(
    shop: Path, changed: Path, tmp_path: Path
) -> None:
    """Spec and pages are those of the change, each bound by the hash of the file that was approved: the one of the first
    version is a finding then."""
    first, product = shop / "released/state_store/product", changed / "state_store/product"
    for name in ("spec.json", "spec.md", "spec_in_full.md", "acceptance.md"):
        assert (product / name).read_bytes() == (changed / "state_store/changes/1" / name).read_bytes()
    assert NEW_CRITERION in (product / "spec.md").read_text()
    edited = Path(shutil.copytree(changed, tmp_path / "edited"))
    for name in ("spec.json", "spec.md"):
        shutil.copy(first / name, edited / "state_store/product" / name)
    found = {(one.code, one.where) for one in verify_project(edited).findings}
    assert found == {("record.changed", "product/spec.json"), ("record.changed", "product/spec.md")}


def test_one_command_shows_what_differs_between_two_releases(
    shop: Path, changed: Path, tmp_path: Path
) -> None:
    """The spec in words, contracts by module, and code as a patch that makes the files of the later wheel of those of the
    earlier one; the end of a change's run names the command, and the studio has the page."""
    told = specwright("diff", changed, "--json").document
    schema = ROOT / "schemas/command-line/v1/release-difference.schema.json"
    Draft202012Validator(json.loads(schema.read_text())).validate(told)
    assert (told["old"], told["new"], f"+- {NEW_CRITERION}" in "\n".join(told["spec"])) == (
        "1.0.0",
        "1.1.0",
        True,
    )
    changed_contracts = {
        one["name"]: (one["before"], one["after"], one["contract"]) for one in told["modules"]
    }
    assert changed_contracts["initials"][:2] == ("1.0.0", "1.1.0")
    assert [line[:10] for line in changed_contracts["initials"][2]] == ["+ outputs:"]
    assert [line[:15] for line in changed_contracts["banner"][2]] == ["- dependencies:", "+ dependencies:"]
    code = []
    for project in (shop / "released", changed):
        code.append(tmp_path / project.name)
        with zipfile.ZipFile(last_release(project)["file"]) as wheel:
            wheel.extractall(code[-1], [name for name in wheel.namelist() if ".dist-info" not in name])
    printed = specwright("diff", changed, "--from", "1.0.0").out
    assert printed.index("The spec:") < printed.index("The contracts:") < printed.index("The code:")
    subprocess.run(["git", "apply", "--whitespace=nowarn"], input=printed, text=True, cwd=code[0], check=True)
    assert everything(code[0]) == everything(code[1])
    assert f"Compare:  specwright diff {changed}\n" in specwright("status", changed).out
    specwright("diff", shop / "released").refuses("no release before 1.0.0")
    specwright("diff", changed, "--to", "7").refuses("these are: 1.0.0, 1.1.0")
    assert specwright("export-html", changed, tmp_path / "pages").code == 0
    assert NEW_CRITERION in html.unescape((tmp_path / "pages/diff.html").read_text())


def removing(playbook: Path) -> None:
    """A change that takes the banner out; the researcher keeps the version first, and has to be asked again."""
    for name, version in (("spec", "1.0.0"), ("amended-1", "2.0.0")):
        spec = spec_of_change(playbook, version)
        del spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][1]
        write_json(playbook / f"change-1/{name}.json", spec)


def test_what_is_removed_is_not_exported_any_more(released: Path, tmp_path: Path) -> None:
    """Its task is ABANDONED as removed, its module deprecated, the wheel without its name; no module is built. A spec that
    keeps the version does not come to the gate (D-38-10, D-38-06, D-38-01)."""
    playbook = banner_product(tmp_path / "playbook")
    removing(playbook)
    with_playbook(released, playbook)
    told = specwright("change", released, "--request", "No banners any more.", "--json")
    assert (told.code, told.document["change"]["version"]) == (3, "2.0.0"), told
    told = specwright("approve", released, "--json")
    assert told.code == 0, told
    assert told.document["release"]["exports"] == ["initials"]
    removed = tasks_of(released)["TSK-002"]
    assert (removed["status"], removed["halted_reason"]) == ("ABANDONED", "removed")
    assert removed["why"] == "was removed by a change"
    modules = {row["name"]: row for row in specwright("modules", released, "--json").document["modules"]}
    assert (modules["banner"]["status"], modules["initials"]["status"]) == ("DEPRECATED", "SHIPPED")
    assert modules["initials"]["version"] == "1.0.0"
    assert set(answered(released, "change")) == {"change-1.1/researcher"}
    assert verify_project(released).findings == ()


@pytest.mark.slow
def test_a_broken_interface_is_migrated(shop: Path, tmp_path: Path) -> None:
    """A major version; its consumer gets a task of its own, and both tasks have what it shipped (D-38-08, D-38-09,
    D-38-13)."""
    project = Path(shutil.copytree(shop / "changed", tmp_path / "project"))
    playbook = Path(shutil.copytree(shop / "playbook", tmp_path / "playbook"))
    broken(playbook)
    with_playbook(project, playbook)
    assert specwright("change", project, "--request", "The caller says what is between.").code == 3
    told = specwright("approve", project)
    assert told.code == 0, told
    tasks = tasks_of(project)
    assert tasks["TSK-001"]["module_ref"].endswith("@2.0.0")
    assert tasks["TSK-003"]["task"] == "Migrate: Banner"
    assert tasks["TSK-003"]["module_ref"] == tasks["TSK-002"]["module_ref"]
    assert tasks["TSK-002"]["module_ref"].endswith("@1.0.2")
    assert tasks["TSK-002"]["attempt"] == 1
    assert verify_project(project).findings == ()
    assert last_release(project)["spec_version"] == "2.0.0"


def test_a_change_that_is_abandoned_at_the_gate_leaves_no_trace_in_the_product(
    shop: Path, waiting: Path
) -> None:
    """The status, the tasks and the files are those of the release; what was asked stays in the log (D-38-14)."""
    told = specwright("change", waiting, "--abandon", "--json")
    assert told.code == 0, told
    assert told.document["where"] == "released"
    assert of_last_release(waiting) == of_last_release(shop / "released")
    assert tasks_of(waiting) == tasks_of(shop / "released")
    assert verify_project(waiting).findings == ()
    assert "change.requested" in [w["payload"].get("subject") for w in logged(waiting)]
    specwright("change", waiting, "--abandon").refuses("no change is under way")


@pytest.mark.slow
def test_a_change_that_is_abandoned_half_built_leads_back(shop: Path, waiting: Path, tmp_path: Path) -> None:
    """What it made is kept and not released; the next change begins an attempt of its own (D-38-14, D-38-02)."""
    playbook = Path(shutil.copytree(shop / "playbook", tmp_path / "playbook"))
    missing = playbook / "TSK-001/attempt-2/initials/round-1/challenger.json"
    told = missing.read_bytes()
    missing.unlink()
    specwright("run", waiting, "--model", f"playbook:{playbook}")
    specwright("approve", waiting).refuses("challenger.json", code=1)
    assert verify_project(waiting).findings == ()
    specwright("release", waiting).refuses("a change is under way", code=1)
    assert specwright("change", waiting, "--abandon").code == 0
    before, after = tasks_of(shop / "released"), tasks_of(waiting)
    assert after["TSK-001"] == {**before["TSK-001"], "attempt": 2, "why": after["TSK-001"]["why"]}
    assert after["TSK-002"] == before["TSK-002"]
    assert verify_project(waiting).findings == ()
    assert of_last_release(waiting).items() >= of_last_release(shop / "released").items()
    missing.write_bytes(told)
    shutil.copytree(playbook / "TSK-001/attempt-2", playbook / "TSK-001/attempt-3")
    shutil.copytree(playbook / "change-1", playbook / "change-2")
    assert specwright("change", waiting, "--request", REQUEST).code == 3
    assert specwright("approve", waiting).code == 0
    assert tasks_of(waiting)["TSK-001"]["attempt"] == 3
    assert tasks_of(waiting)["TSK-001"]["module_ref"].endswith("@1.1.0")
    assert verify_project(waiting).findings == ()


@pytest.mark.nightly
def test_versions_of_an_abandoned_change_are_retired(shop: Path, tmp_path: Path) -> None:
    """A version that was sealed and a migration that was begun: the one is DEPRECATED, the other ABANDONED, and the product
    releases again as it was (D-38-14)."""
    project = Path(shutil.copytree(shop / "changed", tmp_path / "project"))
    playbook = Path(shutil.copytree(shop / "playbook", tmp_path / "playbook"))
    broken(playbook)
    (playbook / "TSK-003/planner.json").unlink()
    with_playbook(project, playbook)
    before = tasks_of(project)
    assert specwright("change", project, "--request", "The caller says what is between.").code == 3
    specwright("approve", project).refuses("TSK-003/planner.json", code=1)
    assert tasks_of(project)["TSK-001"]["module_ref"].endswith("@2.0.0")
    assert verify_project(project).findings == ()
    assert specwright("change", project, "--abandon").code == 0
    after = tasks_of(project)
    assert [after[task]["module_ref"] for task in before] == [before[task]["module_ref"] for task in before]
    assert (after["TSK-003"]["status"], after["TSK-003"]["module_ref"]) == ("ABANDONED", None)
    assert after["TSK-003"]["why"] == "was abandoned with the change that added it"
    modules = {
        row["module_ref"]: row["status"]
        for row in specwright("modules", project, "--json").document["modules"]
    }
    sealed = before["TSK-001"]["module_ref"].replace("@1.1.0", "@2.0.0")
    assert (modules[sealed], modules[before["TSK-001"]["module_ref"]]) == ("DEPRECATED", "SHIPPED")
    assert verify_project(project).findings == ()
    again = specwright("release", project, "--json")
    assert again.code == 0, again
    released_now = {module["module_ref"] for module in again.document["manifest"]["modules"]}
    assert released_now == {row["module_ref"] for row in before.values()}


def test_an_edited_spec_md_is_a_change(released: Path) -> None:
    """Without a sentence; `run` refuses the edited text and names the command; a structured spec goes to the gate as it is,
    and no researcher is asked (D-38-01)."""
    edited = Path(shutil.copytree(released, released.with_name("edited")))
    (edited / "SPEC.md").write_text(NAMEPLATE_SPEC.read_text() + "\n- A hyphen parts two words.\n")
    specwright("run", edited).refuses("specwright change")
    assert specwright("change", edited).code == 3
    assert specwright("run", edited).code == 3
    with reading_project(edited) as view:
        change = view.projection.open_change
        assert change is not None
        assert "+- A hyphen parts two words." in change.request.diff
    given(released, spec_version="1.0.1", description="A library for name tags and banners.")
    asked = len(answered(released))
    told = specwright("change", released, "--json")
    assert told.code == 3, told
    assert told.document["change"]["difference"]["untouched"] == ["TSK-001", "TSK-002"]
    assert len(answered(released)) == asked


def given(project: Path, **changes: Any) -> None:
    """A structured spec in place of SPEC.md."""
    spec = json.loads((project / "state_store/product/spec.json").read_text())
    (project / "SPEC.md").write_text(canonical_json.pretty({**spec, **changes}).decode())


def spec(**changes: Any) -> Callable[[Path], None]:
    """Puts a structured spec in place of SPEC.md."""
    return lambda project: given(project, **changes)


def content(data: bytes) -> Callable[[Path], object]:
    """Writes SPEC.md."""
    return lambda project: (project / "SPEC.md").write_bytes(data)


MALFORMED: tuple[tuple[Callable[[Path], object] | tuple[str, ...], str], ...] = (
    ((), "nothing has changed"),
    (("--request", ""), "--request is empty"),
    (("--request", " \n"), "--request is empty"),
    (("--request", "x" * 10_001), "10,001 characters"),
    (("--abandon", "--request", "x"), "exclude each other"),
    (("--abandon",), "no change is under way"),
    (spec(spec_version="1.0.0", title="Nameplates"), "1.0.0 is not greater than 1.0.0"),
    (spec(spec_version="1.1.0", spec_id="SPEC-002"), "it stays SPEC-001"),
    (spec(spec_version="1.1.0", pillars=[]), "not complete"),
    (content(b'{"title": "Nameplate", "pillars": ['), "cannot be read"),
    (content(b"\n"), "SPEC.md is empty"),
    (content(b"\xff\xfe\x00"), "UTF-16"),
)


def test_a_malformed_request_gets_one_message_and_changes_nothing(released: Path) -> None:
    """What, where, what to do; exit 2 (D-39-06)."""
    before = logged(released), everything(released / "state_store/releases")
    for how, why in MALFORMED:
        if callable(how):
            how(released)
        specwright("change", released, *(() if callable(how) else how)).refuses(why)
        assert (logged(released), everything(released / "state_store/releases")) == before
        assert not (released / "state_store/changes").exists()


def test_a_second_change_waits_for_the_first(waiting: Path) -> None:
    """The same request again goes on with it, another one is refused (D-39-06, D-38-16)."""
    before = logged(waiting)
    assert specwright("change", waiting, "--request", REQUEST).code == 3
    specwright("change", waiting, "--request", "Something else.").refuses("another change is under way")
    assert logged(waiting) == before


def test_without_a_product_there_is_nothing_to_change(tmp_path: Path) -> None:
    """One message, and no directory (D-39-06)."""
    specwright("change", tmp_path / "gone", "--request", "More.").refuses("no product here")
    specwright("change", tmp_path / "gone", "--abandon").refuses("gone")
    assert list(tmp_path.iterdir()) == []
