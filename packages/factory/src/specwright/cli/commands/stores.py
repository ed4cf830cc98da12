"""Commands about where a project is kept: export it into a file, import it, have workers drive it (design: stores,
workers)."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ship_gate.terminal.output import counted, printable, say, show, write
from ship_gate.terminal.program import AsJson
from specwright.errors import InputError

if TYPE_CHECKING:
    from specwright.bootstrap.storage.transfer import Moved

Place = Annotated[
    str,
    typer.Argument(metavar="DIR-OR-URL", help="The project's directory, or the address of its store."),
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A tar file.")]
Store = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="The Postgres database; SPECWRIGHT_STORE if left out. With ?project=NAME, that alone.",
    ),
]
Concurrency = Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Projects at once.")]
Once = Annotated[bool, typer.Option("--once", help="Return when no project is ready.")]
UntilIdle = Annotated[
    bool, typer.Option("--until-idle", help="Return when no project waits or is driven, here or elsewhere.")
]
AsJsonLines = Annotated[bool, typer.Option("--json", help="Print each event as a JSON document in a line.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("export")(export_project)
    app.command("import")(import_project)
    app.command()(worker)


def export_project(place: Place, file: File, as_json: AsJson = False) -> None:
    """Write a project into a file, whole and byte for byte.

    SPEC.md and specwright.toml, which are yours, are left out.
    """
    from specwright.bootstrap.storage import transfer

    _print("exported", transfer.export_project(place, file), str(file), as_json=as_json)


def import_project(place: Place, file: File, as_json: AsJson = False) -> None:
    """Put the project of a file into an empty store."""
    from specwright.bootstrap.storage import transfer

    moved = transfer.import_project(place, file)
    _print("imported", moved, place if "@" not in place else "the store", as_json=as_json)


def _print(done: str, moved: "Moved", to: str, *, as_json: bool) -> None:
    if as_json:
        show({**moved._asdict(), "exit_code": 0}, "moved")
        return
    numbers = [
        counted(getattr(moved, name), name.removesuffix("s")) for name in ("files", "records", "wires")
    ]
    say(f"{done}  {', '.join(numbers)}: {to}")


def worker(
    store: Store = "",
    concurrency: Concurrency = 1,
    once: Once = False,
    until_idle: UntilIdle = False,
    as_json: AsJsonLines = False,
) -> None:
    """Drive the projects of a database that wait for workers.

    Any number may run, on any machine. Keys of providers are those of this environment. Ctrl-C stops the projects as it
    stops `run`; another worker goes on with them.
    """
    from specwright.bootstrap.storage.postgres_store import workers_extra
    from specwright.settings import load_settings

    url = store or load_settings(Path()).store
    if not url:
        raise InputError(
            "a worker needs the database",
            where="--store, SPECWRIGHT_STORE",
            remedy="specwright worker --store postgresql://user@host/database",
        )
    with workers_extra():
        from specwright.bootstrap.workers.worker import WorkerOptions, run_worker
    options = WorkerOptions(url, concurrency, once=once, until_idle=until_idle)
    failed = run_worker(options, _print_event_json if as_json else _print_event)
    raise typer.Exit(1 if failed else 0)


def _print_event_json(event: dict[str, Any]) -> None:
    write(json.dumps(event))


def _print_event(event: dict[str, Any]) -> None:
    """An event as a line, with the error below it."""
    project = event.get("project", "")
    if "step" in event:
        words = [project, event["task"], event["step"], event["text"]]
    else:
        again = f"again in {event['again_in_seconds']:g} s" if "again_in_seconds" in event else ""
        named = (event.get(name, "") for name in ("where", "worker", "store", "text"))
        words = [project, event["event"], *named, again]
    error: dict[str, str] = event.get("error") or {}
    lines = [f"    {error[name]}" for name in ("what", "where", "do") if error.get(name)]
    write(printable("\n".join([" ".join(filter(None, words)), *lines])))
