"""Settings that travel with a directory decide nothing about secrets and code until the user trusts them.

`specwright(..., stranger=True)` is a command on a directory that somebody sent; the other commands of the test kit trust
what a test has written.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from ship_gate.settings import load_gate_settings
from ship_gate.trust import record_trust
from specwright.bootstrap.gate_answers import _trust_packages  # pyright: ignore[reportPrivateUsage]
from specwright.settings import decisive
from testkit.cli.commands import SMALL, Told, specwright
from testkit.cli.terminal import on_a_terminal
from testkit.paths import GATE_MODULES
from testkit.sampling import spread
from testkit.strangers import KEY, Database, WebServer

pytestmark = pytest.mark.usefixtures("secrets")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that somebody sent: a SPEC.md so far."""
    directory = tmp_path / "project"
    directory.mkdir()
    shutil.copy(SMALL / "SPEC.md", directory)
    return directory


def settings(project: Path, text: str) -> None:
    """What its specwright.toml says."""
    (project / "specwright.toml").write_text(text)


def last_run(project: Path, settings: dict[str, Any], **options: Any) -> None:
    """What its `.specwright/run.json` says."""
    record = {"options": options, "settings": settings}
    (project / ".specwright").mkdir(exist_ok=True)
    (project / ".specwright/run.json").write_text(json.dumps(record))


def refused(told: Told, project: Path, *words: str) -> None:
    """One message: which setting, where, and the command that trusts it."""
    told.refuses("not trusted", f"specwright trust {project}", *words)


@pytest.mark.parametrize("command", ["doctor", "run"])
def test_the_key_does_not_reach_the_address_of_a_file_that_was_sent(
    project: Path, web_server: WebServer, command: str
):
    """Report, item 5: OPENAI_API_KEY went to the `base_url` of specwright.toml. Once trusted, it goes there."""
    settings(project, f'model = "openai:x"\nbase_url = "{web_server.base_url}"\n')
    refused(
        specwright(command, project, stranger=True),
        project,
        "base_url",
        web_server.base_url,
        "specwright.toml",
    )
    assert web_server.requests == []

    assert "base_url" in specwright("trust", project, stranger=True).out
    specwright(command, project, stranger=True)
    assert f"Bearer {KEY}" in web_server.requests


@pytest.mark.parametrize("command", ["doctor", "run"])
def test_the_key_does_not_reach_the_address_of_a_run_that_was_sent(
    project: Path, web_server: WebServer, command: str
):
    """Report, item 5: it went to the `base_url` of `.specwright/run.json`, which travels in exports, too."""
    settings(project, 'model = "openai:x"\n')
    now: dict[str, Any] = {"model": "openai:x", "role_models": {}, "base_url": ""}
    last_run(project, model="openai:x", base_url=web_server.base_url, settings=now)
    refused(specwright(command, project, stranger=True), project, web_server.base_url, "run.json")
    assert web_server.requests == []

    assert "the last run" in specwright("trust", project, stranger=True).out
    specwright(command, project, stranger=True)
    assert f"Bearer {KEY}" in web_server.requests


def test_the_password_is_not_offered_to_a_database_of_a_file_that_was_sent(project: Path, database: Database):
    """Report, item 6: PGPASSWORD went to the host in `store`; nothing can be seen without it, so every command refuses."""
    settings(project, f'model = "openai:x"\nstore = "{database.url}"\n')
    for command in ("status", "tasks", "verify", "costs", "doctor", "export-html", "mirror", "run"):
        more = [project / "pages"] if command == "export-html" else []
        refused(specwright(command, project, *more, stranger=True), project, "store", database.url)
        assert database.connections == [], command


def test_a_store_that_is_trusted_is_connected_to_and_not_before(project: Path, database: Database):
    """`trust` itself connects to nothing; a store beside which a run has begun does not fall back to the directory."""
    settings(project, f'store = "{database.url}"\n')
    (project / ".specwright").mkdir()
    (project / ".specwright/wire.db").write_bytes(b"something")
    refused(specwright("status", project, stranger=True), project, "store")
    assert specwright("trust", project, stranger=True).code == 0
    assert database.connections == []
    specwright("status", project, stranger=True)
    assert database.connections != []


@pytest.mark.parametrize("answer", spread(["\n", "no\n", "\x04", "y\n"], fast=3))
def test_on_a_terminal_one_question_shows_the_values_and_means_no_by_default(
    project: Path, web_server: WebServer, answer: str
):
    """A yes is recorded as `specwright trust` does, and the command goes on; anything else refuses."""
    settings(project, f'model = "openai:x"\nbase_url = "{web_server.base_url}"\nembedder = "openai:y"\n')
    told = on_a_terminal("run", project, typed=(("[y/N]", answer),), stranger=True)
    for shown in (f"base_url = '{web_server.base_url}'", "embedder = 'openai:y'"):
        assert shown in " ".join(told.screen.split())
    assert told.screen.count("[y/N]") == 1
    assert bool(web_server.requests) is (answer == "y\n")
    if answer == "y\n":
        assert "not trusted" not in specwright("run", project, stranger=True).err
    else:
        assert told.code == 2
        refused(specwright("run", project, stranger=True), project, "base_url")


def test_a_value_that_changes_asks_again(project: Path, web_server: WebServer):
    """Trust is of a value, not of a name; what is trusted at one path is not at another (D-62-02)."""
    settings(project, 'model = "openai:x"\nbase_url = "http://127.0.0.1:9/v1"\n')
    specwright("trust", project, stranger=True)
    assert "not trusted" not in specwright("run", project, stranger=True).err

    elsewhere = Path(shutil.copytree(project, project.parent / "elsewhere"))
    refused(specwright("run", elsewhere, stranger=True), elsewhere, "base_url")

    settings(project, f'model = "openai:x"\nbase_url = "{web_server.base_url}"\n')
    refused(specwright("run", project, stranger=True), project, web_server.base_url)
    assert web_server.requests == []


def test_each_decisive_setting_is_refused_by_a_run_and_ignored_by_status(project: Path):
    """To run otherwise than was meant is worse than not to run; to look needs none of them (D-62-02)."""
    for text in (
        'sandbox = "none"',
        'packages = ["attrs>=23"]',
        'mirror = "postgresql://h/d"',
        'search = "ddgs"',
        'embedder = "openai:text-embedding-3-small"',
        'hedera = {operator_key = "OPENAI_API_KEY"}',
        'hedera = {mirror_node = "http://127.0.0.1:9"}',
        'model = "cli:codex"',
        'model = "playbook:../private"',
        'role_models = {arbiter = "cli:claude"}',
    ):
        settings(project, ("" if text.startswith("model ") else 'model = "openai:x"\n') + text + "\n")
        refused(specwright("run", project, stranger=True), project, text.partition(" ")[0])
        looked = specwright("status", project, stranger=True)
        assert looked.code == 0, (text, looked)
        assert looked.err.count("Ignored in") == 1, text
        assert f"specwright trust {project}" in looked.err, text


def test_commands_that_look_at_a_project_use_no_setting_that_was_sent(
    released_once: Path, tmp_path: Path, web_server: WebServer
):
    """Only `status` says that it ignores one; what is there is shown all the same."""
    released = Path(shutil.copytree(released_once, tmp_path / "released"))
    settings(released, f'base_url = "{web_server.base_url}"\nembedder = "openai:x"\n')
    for command in (("tasks",), ("modules",), ("costs",), ("verify",), ("status",), ("status", "--json")):
        told = specwright(command[0], released, *command[1:], stranger=True)
        assert told.code == 0, told
        assert ("Ignored in" in told.err) is (command == ("status",))  # once in a process
    refused(specwright("release", released, stranger=True), released, "base_url", "embedder")
    assert web_server.requests == []


def test_an_ordinary_project_asks_nothing(tmp_path: Path, web_server: WebServer):
    """A new project, ordinary settings, and an address that the user types: nothing has to be trusted by hand."""
    project = tmp_path / "mine"
    assert specwright("init", project, "--spec", SMALL / "SPEC.md", stranger=True).code == 0
    settings(
        project,
        'model = "openai:x"\nbudget_usd = 2\ngate_strength = 0.9\ncalls_per_role = 40\n'
        '[prices]\n"openai:x" = [1.0, 2.0]\n',
    )
    nothing = specwright("trust", project, stranger=True)
    assert "Nothing has to be trusted" in nothing.out
    specwright("run", project, "--base-url", web_server.base_url, stranger=True)
    asked = len(web_server.requests)
    assert asked
    specwright("run", project, stranger=True)  # with the options of the last
    assert len(web_server.requests) > asked


def test_a_playbook_in_the_project_and_the_examples_ask_nothing(tmp_path: Path):
    """What `init --example` and `demo` write is the user's own."""
    assert specwright("init", tmp_path / "p", "--example", "nameplate", stranger=True).code == 0
    assert specwright("run", tmp_path / "p", stranger=True).code == 3
    example = f"playbook:{SMALL / 'playbook'}"
    assert decisive({"model": example, "role_models": {"arbiter": example}}, tmp_path) == {}


def test_a_typed_option_wins_over_a_setting_that_is_not_trusted(project: Path, web_server: WebServer):
    """The command line of this machine is the user's."""
    settings(project, 'model = "openai:x"\nbase_url = "http://127.0.0.1:9/v1"\n')
    specwright("run", project, "--base-url", web_server.base_url, stranger=True)
    assert f"Bearer {KEY}" in web_server.requests


def test_what_is_shown_of_a_setting_controls_no_terminal(project: Path):
    """A value is text of a stranger: neither an escape nor a mark that turns the text round is printed."""
    settings(project, 'model = "openai:x"\nembedder = "a\\u001b[2Jb\\u202ec"\n')
    for command in ("run", "status", "trust"):
        told = specwright(command, project, stranger=True)
        assert "a\\x1b[2Jb\\u202ec" in told.out + told.err
        assert "\x1b[2J" not in told.out + told.err


def test_the_record_is_the_users_alone_and_a_damaged_one_trusts_nothing(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """It is outside of the project also where the variable is relative, has mode 0600, and fails closed (D-62-02)."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    settings(project, 'model = "cli:claude"\n')
    specwright("trust", project, stranger=True)
    record = tmp_path / "state/specwright/trusted.json"
    assert record.stat().st_mode & 0o777 == 0o600
    assert list(json.loads(record.read_text())) == [str(project)]
    record.write_text("[[")
    refused(specwright("run", project, stranger=True), project)

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", ".")
    monkeypatch.chdir(project)
    (project / "specwright/").mkdir()
    (project / "specwright/trusted.json").write_text(json.dumps({str(project): ["x"]}))
    specwright("trust", project, stranger=True)
    assert (tmp_path / "home/.local/state/specwright/trusted.json").is_file()


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    """Two modules, of which one turns its sandbox off and has a test that writes outside of it."""
    for name in ("tally_words", "save_tally"):
        shutil.copytree(GATE_MODULES / name, tmp_path / "modules" / name)
    module = tmp_path / "modules/save_tally"
    with (module / "tests/test_save_tally.py").open("a") as file:
        file.write(
            "\n\ndef test_a_file_of_the_person():\n    from pathlib import Path\n\n"
            f'    assert save_tally("to be", Path("{tmp_path}/marker")).words == 2\n'
        )
    settings(module, 'sandbox = "none"\ngate_fuzz_examples = 50\n')
    return tmp_path / "modules"


@pytest.mark.parametrize("trusted", [False, True])
def test_the_command_confines_a_module_whose_settings_turn_the_sandbox_off(
    modules: Path, tmp_path: Path, trusted: bool
):
    """Report, item 3: it was judged unconfined. The setting is ignored, trusted or not, and that is said once."""
    if trusted:
        assert "sandbox" in specwright("trust", modules / "save_tally", stranger=True).out
    told = specwright("gate", modules / "save_tally", stranger=True)
    assert told.code == 1, told
    assert told.err.count("SPECWRIGHT_SANDBOX") == 1
    assert not (tmp_path / "marker").exists()


def test_pytest_confines_a_module_whose_settings_turn_the_sandbox_off(modules: Path, tmp_path: Path):
    """Report, item 3: the plugin did as the command."""
    words = [
        sys.executable,
        "-P",
        "-m",
        "pytest",
        "--disable-plugin-autoload",
        "-p",
        "ship_gate.pytest_plugin",
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ended = subprocess.run(
        [*words, "--shipgate", "save_tally", "save_tally"],
        cwd=modules,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1, ended
    assert not (tmp_path / "marker").exists()


def test_mcp_confines_a_module_whose_settings_turn_the_sandbox_off(modules: Path, tmp_path: Path):
    """Judged in the sandbox, not refused: the setting counts as little as over any other door."""
    from mcp import Client

    from ship_gate.mcp_server import server_of

    async def play() -> Any:
        async with Client(server_of(modules)) as client:
            return (await client.call_tool("gate", {"directories": ["save_tally"]})).structured_content

    assert anyio.run(play)["verdict"] == "FAIL"
    assert not (tmp_path / "marker").exists()


def test_packages_of_a_module_count_once_they_are_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Code that nobody judges; a checkout is laid out by the user's own command, from a project that is trusted."""
    project, checkout = tmp_path / "project", tmp_path / "checkout"
    for place in (project, checkout):
        place.mkdir()
        settings(place, 'packages = ["attrs>=23"]\n')
    assert load_gate_settings(checkout).packages == []
    _trust_packages(project, [checkout])
    assert load_gate_settings(checkout).packages == []
    record_trust(project, {"packages": ["attrs>=23"]})
    _trust_packages(project, [checkout])
    assert load_gate_settings(checkout).packages == ["attrs>=23"]
    monkeypatch.setenv("SPECWRIGHT_PACKAGES", '["attrs>=22"]')
    assert load_gate_settings(checkout).packages == ["attrs>=22"]
