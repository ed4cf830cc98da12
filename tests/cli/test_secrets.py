"""Secrets of the environment and the settings are in no file, prompt, Wire or message (DESIGN §6)."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from testkit.cli.commands import SMALL, Told, everything, specwright
from testkit.endpoint import serving
from testkit.model.dialects import DIALECTS
from testkit.sampling import spread

SECRETS = {
    "OPENAI_API_KEY": "sk-hidden4711-openai-0123456789",
    "ANTHROPIC_API_KEY": "hidden4711/anthropic+0123456789",
    "TAVILY_API_KEY": "tvly-hidden4711-0123456789",
    "GITHUB_TOKEN": "hidden4711_github_0123456789",
    "DB_PASSWORD": "hidden4711 horse battery staple",
    "MY_SECRET": "hidden4711-secret-0123456789",
    "pgpass": "hidden4711-lowercase-0123456789",
}
LOGIN = "http://hidden4711-user:hidden4711-login@127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment full of secrets."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


def clean(*told: Told) -> bool:
    """Whether no secret was printed."""
    return not any("hidden4711" in one.out + one.err for one in told)


@pytest.mark.timeout(600)
@pytest.mark.slow
def test_a_whole_run_leaves_no_secret_anywhere(tmp_path: Path) -> None:
    """Every file of the project, every request without its headers, and all that was printed, from SPEC.md to the wheel;
    the key itself was used (D-S6-15)."""
    with serving(SMALL / "playbook") as endpoint:
        model = (
            "--model",
            "openai:test",
            "--role-model",
            "arbiter=anthropic:test",
            "--base-url",
            endpoint.base_url,
        )
        project = tmp_path / "project"
        ran = specwright("run", project, "--spec", SMALL / "SPEC.md", *model, "--approve")
        assert ran.code == 0, ran.err
        looked = [
            specwright(*command.split(), project, *more)
            for command in ("status", "costs", "doctor", "modules", "tasks", "wire log", "verify")
            for more in ((), ("--json",))
        ]
    keys = {SECRETS["OPENAI_API_KEY"], SECRETS["ANTHROPIC_API_KEY"]}
    assert {key.removeprefix("Bearer ") for key in endpoint.keys} == keys
    assert clean(ran, *looked)
    assert "hidden4711" not in json.dumps(endpoint.requests)
    files = everything(tmp_path)
    assert len(files) > 50
    assert [name for name, data in files.items() if b"hidden4711" in data] == []


@pytest.mark.parametrize(
    ("provider", "status"),
    spread([(one, n) for n in (400, 401, 429, 500) for one in ("openai", "anthropic")], fast=7, slow=3),
)
def test_an_error_that_repeats_every_secret_shows_none(
    provider: str, status: int, endpoint: Callable[[tuple[int, bytes] | None], str], project: Path
) -> None:
    """Whatever the status, in either format; by `run`, with and without --json, and by `doctor` (D-S6-15)."""
    said = f"bad: {' '.join(SECRETS.values())} at {LOGIN}"
    body = json.dumps(DIALECTS[provider].error(said, "c")).encode()
    model = ("--model", f"{provider}:x", "--base-url", endpoint((status, body)))
    told = [specwright("run", project, *model), specwright("run", project, *model, "--json")]
    assert all(one.code for one in told)
    (project / "specwright.toml").write_text(f'model = "{provider}:x"\nbase_url = "{model[-1]}"\n')
    told.append(specwright("doctor", project))
    assert clean(*told), told
    assert [name for name, data in everything(project).items() if b"hidden4711" in data] == []


def test_a_secret_in_the_settings_is_refused_and_not_shown(project: Path) -> None:
    """Keys belong into variables; the message names the setting only (D-S6-15, D-S9-04)."""
    keys = ('api_key = "hidden4711"', 'openai_api_key = "hidden4711"', "[keys]\nopenai = 'hidden4711'")
    for line in (*keys, f'base_url = "{LOGIN}"'):
        (project / "specwright.toml").write_text(f'model = "openai:x"\n{line}\n')
        told = [specwright(command, project) for command in ("run", "doctor")]
        assert [one.code for one in told] == [2, 2]
        assert clean(*told), told


def test_a_login_in_an_address_is_refused_as_an_option_too(project: Path) -> None:
    """It would be remembered with the options of the run (D-S6-15)."""
    told = specwright("run", project, "--model", "openai:x", "--base-url", LOGIN)
    told.refuses("it contains a login", "--base-url")
    assert clean(told)


def test_a_login_in_settings_that_nobody_trusts_is_not_shown(project: Path) -> None:
    """Nor by the command that trusts them, nor where a database is named in place of a file (D-S6-15)."""
    store = "postgresql://ana:hidden4711@127.0.0.1:9/db"
    commands = ("run", "status", "doctor", "tasks", "verify", "costs", "trust")
    for line in (
        f'store = "{store}"',
        f'base_url = "{LOGIN}"',
        'base_url = "http://h/v1?api_key=hidden4711"',
    ):
        (project / "specwright.toml").write_text(f'model = "openai:x"\n{line}\n')
        for name, more in itertools.product(commands, ((), ("--json",))):
            told = specwright(name, project, *more)
            assert clean(told), told
    assert clean(
        specwright("import", project / "no.tar", store), specwright("import", store, project / "no.tar")
    )


ADDRESSES = (
    "postgresql://u:hidden4711@127.0.0.1:9/db",
    "postgresql://u:hidden4711 pass@127.0.0.1:port/db",
    "mysql://u:hidden4711@127.0.0.1/db",
    "postgresql://u@127.0.0.1:9/db?password=hidden4711",
)


def test_the_password_of_a_database_is_not_shown(released_once: Path) -> None:
    """Of the read model, where it cannot be reached or the address is none (D-S6-15)."""
    for address, more in itertools.product(ADDRESSES, ((), ("--json",))):
        told = specwright("mirror", released_once, "--to", address, "--once", *more)
        assert told.code, address
        assert clean(told), told
