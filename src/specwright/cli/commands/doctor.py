"""`specwright doctor`: is everything there that a run needs? (design: command-line)"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from specwright.cli.commands import AsJson, Directory
from specwright.cli.session.options import last_options, settings_for
from specwright.cli.terminal.output import pasteable, say, show
from specwright.errors import SpecwrightError

if TYPE_CHECKING:
    from specwright.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Is all there that a run needs?

    Model, sandbox, index, search. The model is asked for one word, which is the only thing that it costs.
    """
    from specwright.settings import load_settings

    settings = load_settings(directory)
    checks = [_model(directory), _sandbox(settings), _index(settings), _search()]
    ok = all(check["ok"] for check in checks)
    if as_json:
        show({"ok": ok, "checks": checks})
    else:
        for check in checks:
            say(f"{'ok  ' if check['ok'] else 'MISS'} {check['name']:<7} {check['detail']}")
            if check["do"]:
                say(f"     do:     {pasteable(check['do'])}".replace("\n", "\n     "))
    raise typer.Exit(0 if ok else 1)


def _check(name: str, detail: str, do: str = "", *, ok: bool) -> dict[str, Any]:
    return {"name": name, "ok": ok, "detail": detail, "do": do}


def _model(directory: Path) -> dict[str, Any]:
    from specwright.bootstrap.models import model_sources_of, probe_model

    name = ""
    try:
        settings = settings_for(directory, last_options(directory))
        name = settings.model
        model_sources_of(settings)
        answer = probe_model(settings)
    except SpecwrightError as error:
        detail = f"{name}: {error.what}" if name else error.what
        place = f" ({error.where})" if error.where and name else ""
        return _check("model", detail + place, error.remedy, ok=False)
    return _check("model", f"{name}: {answer}", ok=True)


def _sandbox(settings: "Settings") -> dict[str, Any]:
    from specwright.bootstrap.verify import sandbox_here

    ok, detail = sandbox_here(settings)
    remedy = "" if ok else 'install bubblewrap; or set sandbox = "none" for code that you trust'
    return _check("sandbox", detail, remedy, ok=ok)


def _index(settings: "Settings") -> dict[str, Any]:
    from specwright.bootstrap.verify import embedder_here

    ok, detail, remedy = embedder_here(settings)
    return _check("index", detail, remedy, ok=ok)


def _search() -> dict[str, Any]:
    return _check("search", "no web search is configured; the researcher works from SPEC.md", ok=True)
