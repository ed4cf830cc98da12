"""Commands about where a project is kept: export it into a file, import it, have workers drive it (design: stores,
workers)."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specwright.cli.commands import AsJson, found_project
from specwright.errors import InputError
from specwright.gate.terminal.output import counted, printable, say, show, write

if TYPE_CHECKING:
    from specwright.bootstrap.storage.transfer import Moved

Place = Annotated[
    str,
    typer.Argument(metavar="DIR-OR-URL", help="The project's directory, or the address of its store."),
]
Places = Annotated[
    list[str],
    typer.Argument(
        metavar="MODULE_DIR... | DIR-OR-URL FILE",
        help="Module directories, or folders with several; or where to put the project of a file.",
    ),
]
ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="DIR",
        help="The project that takes the modules; the nearest one if left out.",
        show_default=False,
    ),
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


_PLACE_AND_FILE = 2
"""Arguments name a place and a file."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("export")(export_project)
    app.command("import")(import_)
    app.command()(worker)


def export_project(place: Place, file: File, as_json: AsJson = False) -> None:
    """Write a project into a file, whole and byte for byte.

    SPEC.md and specwright.toml, which are yours, are left out.
    """
    from specwright.bootstrap.storage import transfer

    _print("exported", transfer.export_project(place, file), str(file), as_json=as_json)


def import_(places: Places, project: ProjectOption = None, as_json: AsJson = False) -> None:
    """Take in module directories, or an exported project.

    Module directories become sealed modules of a project: each is judged by the ship gate, and all are taken, or none. An
    exported project is put into an empty store. What the last argument is tells which: modules are directories, an exported
    project is a file.
    """
    if project is None and len(places) == _PLACE_AND_FILE and not Path(places[-1]).is_dir():
        _import_project(places[0], Path(places[1]), as_json=as_json)
        return
    if project is None and len(places) == 1 and Path(places[0]).is_file():
        raise InputError(
            "it is a file, and nothing says where the project in it is to go",
            where=places[0],
            remedy=f"specwright import DIR-OR-URL {places[0]}; modules are directories",
        )
    from specwright.cli.session import runner
    from specwright.settings import load_settings

    directory = project if project is not None else found_project()
    settings = load_settings(directory)
    runner.import_modules(directory, settings, [Path(place) for place in places], as_json=as_json)


def _import_project(place: str, file: Path, *, as_json: bool) -> None:
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
