"""Settings that cannot be used: the message says in which place which name is wrong (D-S9-04, D-S6-01)."""

import re
from pathlib import Path

import pytest

from specwright.settings import load_settings
from testkit.cli.commands import PLAYBOOK, ROOT, everything, specwright

FILES = {
    'modle = "openai:x"': ("there is no setting `modle`", "did you mean `model`?"),
    'colour = "red"': ("there is no setting `colour`", "settings are "),
    "model = 3": ("`model` is 3", "valid string"),
    'model = "gpt-5"': ("'gpt-5'", "provider:model"),
    'model = "openai:"': ("provider:model",),
    'timeout_seconds = "soon"': ("`timeout_seconds`", "'soon'"),
    "timeout_seconds = 0": ("`timeout_seconds` is 0", "greater than 0"),
    "timeout_seconds = nan": ("`timeout_seconds`", "finite"),
    "gate_timeout_seconds = -1\ncalls_per_role = 1": ("`gate_timeout_seconds`", "`calls_per_role`"),
    "gate_memory_mib = 100": ("`gate_memory_mib` is 100", "greater than or equal to 256"),
    "gate_output_mib = 0": ("`gate_output_mib` is 0", "greater than or equal to 1"),
    "gate_disk_mib = 5000": ("`gate_disk_mib` is 5000", "less than or equal to 4096"),
    "gate_strength = 0.4": ("`gate_strength` is 0.4", "greater than or equal to 0.5"),
    "gate_fuzz_examples = 10": ("`gate_fuzz_examples` is 10", "greater than or equal to 50"),
    'packages = "attrs"': ("`packages`", "list"),
    'packages = ["attrs"]': ("`packages`", "'attrs' says no version", "attrs>=1.0"),
    'packages = ["attrs >> 2"]': ("`packages`", "names no package with versions"),
    'packages = ["attrs[x]>=2"]': ("`packages`", "more than a package and its versions"),
    'packages = ["Py_YAML>=5", "py-yaml<9"]': ("py-yaml is named twice",),
    'role_models = "x"': ("`role_models`", "dictionary"),
    '[role_models]\njudge = "openai:x"': ("no role 'judge'", "challenger"),
    '[role_models]\narbiter = "x"': ("provider:model",),
    'base_url = "localhost:8000"': ("`base_url`", "is not a URL"),
    'license = "GPL-3.0"': ("`license`: 'GPL-3.0' is not a recognised SPDX license ID", "GPL-3.0-only"),
    "model = ": ("no TOML", "Invalid value"),
    "\0": ("no TOML",),
}


def test_a_wrong_settings_file_is_refused(project: Path) -> None:
    """D-S9-04: the file, the setting, and what it may be."""
    for text, words in FILES.items():
        (project / "specwright.toml").write_text(text)
        before = everything(project)
        specwright("run", project).refuses(str(project / "specwright.toml"), *words)
        assert everything(project) == before, text


def test_a_package_that_is_not_installed_is_told_before_anything_is_written(project: Path) -> None:
    """D-23-02, D-S9-04: with what to install; the settings themselves are sound."""
    (project / "specwright.toml").write_text('packages = ["no-such-package-of-ours>=1"]\n')
    before = everything(project)
    told = specwright("run", project, "--model", PLAYBOOK)
    told.refuses("no-such-package-of-ours>=1 is allowed to modules and not installed", "pip install")
    assert everything(project) == before


def test_a_settings_file_that_is_no_text_or_no_file_is_refused(project: Path) -> None:
    """D-S9-04: bytes that are no UTF-8, and a directory of that name."""
    path = project / "specwright.toml"
    path.write_bytes(b"\xff\xfe\x00")
    specwright("run", project).refuses("no TOML", str(path), "save it as text in UTF-8")
    path.unlink()
    path.mkdir()
    specwright("run", project).refuses("no file", str(path))


def test_the_value_of_an_unknown_setting_is_not_repeated(project: Path) -> None:
    """D-S9-04: it may be a key that somebody put into the wrong place."""
    (project / "specwright.toml").write_text('api_key = "sk-very-secret"\n')
    told = specwright("run", project)
    told.refuses("`api_key`")
    assert "secret" not in told.err


VARIABLES = {
    ("SPECWRIGHT_TIMEOUT_SECONDS", "soon"): "valid number",
    ("SPECWRIGHT_RETRY_SECONDS", "many"): "valid number",
    ("SPECWRIGHT_MODEL", "gpt-5"): "provider:model",
    ("SPECWRIGHT_BASE_URL", "nowhere"): "is not a URL",
    ("SPECWRIGHT_ROLE_MODELS", "challenger=openai:x"): "no JSON object",
    ("SPECWRIGHT_ROLE_MODELS", "[1]"): "valid dictionary",
    ("SPECWRIGHT_PACKAGES", "attrs>=23"): "no JSON list",
    ("SPECWRIGHT_PACKAGES", '["attrs"]'): "says no version",
    ("SPECWRIGHT_MODLE", "openai:x"): "SPECWRIGHT_MODEL is meant?",
    ("SPECWRIGHT_TIMEOUT", "60"): "SPECWRIGHT_TIMEOUT_SECONDS is meant?",
}


def test_a_wrong_variable_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D-S9-04: the variable is named, also one that is only nearly ours; a service link of a container shares the prefix and
    is no mistake of the person's."""
    for (name, value), words in VARIABLES.items():
        with monkeypatch.context() as one:
            one.setenv(name, value)
            specwright("run", project).refuses(name, words)
    for name in ("PORT_8000_TCP", "SERVICE_HOST", "HOME", "BIN", "TRACEBACK"):
        monkeypatch.setenv(f"SPECWRIGHT_{name}", "tcp://10.0.0.1:8000")
    specwright("run", project).refuses("no model is configured")


def test_a_variable_that_the_documentation_names_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether or not it is a setting: none is taken for a misspelt one (D-S9-04)."""
    texts = [path.read_text() for path in (ROOT / "README.md", *ROOT.glob("docs/*.md"))]
    named = set(re.findall(r"SPECWRIGHT_[A-Z_]*[A-Z]", "\n".join(texts)))
    assert {"SPECWRIGHT_MODEL", "SPECWRIGHT_STUDIO_TOKEN"} <= named
    for name in named:
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("SPECWRIGHT_STUDIO_TOKEN", "of sixteen characters")
    monkeypatch.setenv("SPECWRIGHT_TRACEBACK", "1")
    load_settings(tmp_path)
    monkeypatch.setenv("SPECWRIGHT_STUDIO_TOKN", "of sixteen characters")
    specwright("status", tmp_path).refuses("SPECWRIGHT_STUDIO_TOKEN is meant?")


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-S6-01: seen by which of three wrong names is the one that is refused."""
    (project / "specwright.toml").write_text('model = "playbook:/nowhere/file"\n')
    specwright("run", project).refuses("/nowhere/file")
    monkeypatch.setenv("SPECWRIGHT_MODEL", "playbook:/nowhere/environment")
    specwright("run", project).refuses("/nowhere/environment")
    specwright("run", project, "--model", "playbook:/nowhere/option").refuses("/nowhere/option")


OPTIONS = {
    ("--model", "gpt-5"): ("--model", "provider:model"),
    ("--model", "openai"): ("--model", "provider:model"),
    ("--model", "nobody:x"): ("no provider 'nobody'",),
    ("--model", "openai:x"): ("OPENAI_API_KEY", "is not set"),
    ("--model", "anthropic:x"): ("ANTHROPIC_API_KEY", "is not set"),
    ("--model", "openai:x", "--base-url", "nowhere"): ("--base-url", "is not a URL"),
    ("--role-model", "challenger"): ("ROLE=MODEL",),
    ("--role-model", "judge=openai:x"): ("no role 'judge'", "--role-model"),
    ("--role-model", "arbiter=x"): ("provider:model", "--role-model"),
}


def test_a_wrong_model_option_is_refused_before_anything_is_written(project: Path) -> None:
    """D-S9-04, D-S6-01: unknown provider, unknown role, no provider, no key, no address."""
    before = everything(project)
    for arguments, words in OPTIONS.items():
        specwright("run", project, *arguments).refuses(*words)
        assert everything(project) == before, arguments
