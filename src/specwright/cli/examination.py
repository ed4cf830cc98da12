"""What `doctor` looks at: model, test runner, embedder, search."""

from pathlib import Path
from typing import Any

from specwright.bootstrap import model_sources_of, probe_model
from specwright.cli.project_files import NO_MODEL, last_options, settings_for
from specwright.errors import InputError, SpecwrightError

__all__ = ["examine"]


def examine(directory: Path) -> dict[str, Any]:
    """The state of everything that a run needs; `ok` if nothing needed is missing."""
    checks = [_model(directory), _runner(), _embedder(), _search()]
    return {"ok": all(check["ok"] for check in checks), "checks": checks}


def _check(name: str, detail: str, do: str = "", *, ok: bool) -> dict[str, Any]:
    return {"name": name, "ok": ok, "detail": detail, "do": do}


def _model(directory: Path) -> dict[str, Any]:
    try:
        settings = settings_for(directory, last_options(directory))
    except InputError as error:
        return _check("model", error.what.splitlines()[0], "name one:\n" + NO_MODEL, ok=False)
    try:
        model_sources_of(settings)
        said = probe_model(settings)
    except SpecwrightError as error:
        return _check("model", f"{settings.model}: {error.what} {error.where}", error.remedy, ok=False)
    return _check("model", f"{settings.model}: {said}", ok=True)


def _runner() -> dict[str, Any]:
    return _check(
        "tests",
        "pytest in a process of its own, with a timeout; not isolated from this account yet",
        "run only models and specs that you trust",
        ok=True,
    )


def _embedder() -> dict[str, Any]:
    return _check("index", "wordllama, local, no network", ok=True)


def _search() -> dict[str, Any]:
    return _check("search", "no web search is configured; the researcher works from SPEC.md", ok=True)
