"""Which model a later `run` takes (DESIGN §9): what was said last wins."""

from pathlib import Path

import pytest

from specwright.bootstrap.run_options import LastRun, options_for, remember
from specwright.cli.options import settings_for
from testkit.cli.commands import specwright


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A project whose settings name a model, and whose last run was told another one."""
    settings(tmp_path, 'model = "openai:written"\n')
    (tmp_path / ".specwright").mkdir()
    remember(
        tmp_path,
        LastRun(
            options={
                "model": "openai:told",
                "role_models": {"arbiter": "openai:judge"},
                "base_url": "http://127.0.0.1:1/v1",
            }
        ),
    )
    return tmp_path


def settings(directory: Path, text: str) -> None:
    """Write the settings."""
    (directory / "specwright.toml").write_text(text)


def taken(directory: Path, model: str = "") -> tuple[str, str, dict[str, str]]:
    """Model, address and models of roles that a `run` takes."""
    found = settings_for(directory, options_for(directory, {"model": model} if model else {}))
    return found.model, found.base_url, dict(found.role_models)


def test_a_run_goes_on_with_what_the_last_one_was_told(directory: Path) -> None:
    """Settings that nobody has touched since do not undo an option (D-S9-01)."""
    assert taken(directory) == ("openai:told", "http://127.0.0.1:1/v1", {"arbiter": "openai:judge"})


def test_settings_that_were_edited_since_win_over_the_last_run(directory: Path) -> None:
    """Whoever edits the file means it; model, address and roles go together (D-S9-01)."""
    settings(directory, 'model = "openai:edited"\n')
    assert taken(directory) == ("openai:edited", "", {})
    assert options_for(directory).options == {}


def test_an_option_wins_over_both(directory: Path) -> None:
    """What this command says is the newest (D-S9-01)."""
    settings(directory, 'model = "openai:edited"\n')
    assert taken(directory, "openai:now")[0] == "openai:now"


def test_an_edit_that_names_no_model_leaves_the_last_one(directory: Path) -> None:
    """A comment, another setting, or a model taken out: the run goes on (D-S9-01)."""
    for text in ('# hello\nmodel = "openai:written"\ncalls_per_role = 30\n', "calls_per_role = 30\n"):
        settings(directory, text)
        assert taken(directory)[0] == "openai:told"


def test_the_environment_counts_as_the_settings_do(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that was set since is newer than the last run (D-S9-01)."""
    monkeypatch.setenv("SPECWRIGHT_MODEL", "openai:exported")
    assert taken(directory)[0] == "openai:exported"


def test_it_stays_known_that_answers_were_scripted(waiting: Path) -> None:
    """The journal has them, whatever the settings or the options of the last run say now (D-S6-02)."""
    settings(waiting, 'model = "openai:edited"\n')
    for options in ('{"options": {"model": "openai:edited"}}', "{"):
        (waiting / ".specwright/run.json").write_text(options)
        told = specwright("status", waiting, "--json")
        assert (told.code, told.document["scripted"]) == (0, True), told


def test_run_tells_the_edited_model(waiting: Path) -> None:
    """The whole command: a project that a playbook began goes on with the model of the edited file (D-S9-01)."""
    settings(waiting, 'model = "openai:edited"\n')
    specwright("run", waiting).refuses("openai:edited", "OPENAI_API_KEY")
