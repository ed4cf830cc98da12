"""What `doctor` looks at: model, test runner, embedder, search."""

from pathlib import Path
from typing import Any

from specwright.bootstrap import model_sources_of, probe_model, sandbox_here
from specwright.cli.run_options import last_options, settings_for
from specwright.errors import SpecwrightError
from specwright.settings import load_settings

__all__ = ["examine"]


def examine(directory: Path) -> dict[str, Any]:
    """The state of everything that a run needs; `ok` if nothing needed is missing."""
    checks = [_model(directory), _runner(directory), _embedder(), _search()]
    return {"ok": all(check["ok"] for check in checks), "checks": checks}


def _check(name: str, detail: str, do: str = "", *, ok: bool) -> dict[str, Any]:
    return {"name": name, "ok": ok, "detail": detail, "do": do}


def _model(directory: Path) -> dict[str, Any]:
    name = ""
    try:
        settings = settings_for(directory, last_options(directory))
        name = settings.model
        model_sources_of(settings)
        said = probe_model(settings)
    except SpecwrightError as error:
        detail = f"{name}: {error.what}" if name else error.what
        place = f" ({error.where})" if error.where and name else ""
        return _check("model", detail + place, error.remedy, ok=False)
    return _check("model", f"{name}: {said}", ok=True)


def _runner(directory: Path) -> dict[str, Any]:
    ok, said = sandbox_here(load_settings(directory))
    remedy = "" if ok else 'install bubblewrap; or set sandbox = "none" for code that you trust'
    return _check("sandbox", said, remedy, ok=ok)


def _embedder() -> dict[str, Any]:
    return _check("index", "wordllama, local, no network", ok=True)


def _search() -> dict[str, Any]:
    return _check("search", "no web search is configured; the researcher works from SPEC.md", ok=True)
