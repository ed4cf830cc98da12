"""Commands about where a project is kept and shown: export and import, workers, the mirrors in a database and on a Hedera
topic, the studio (design: store-layout, workers, mirrors, studio)."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ship_gate.terminal.output import counted, note, printable, say, write
from ship_gate.terminal.program import AsJson
from specwright.cli.commands import Directory, nearest_project
from specwright.cli.output import present
from specwright.documents.commands import next_command
from specwright.errors import InputError
from specwright.installation import needing_extra

if TYPE_CHECKING:
    from specwright.bootstrap import mirrors
    from specwright.bootstrap.transfer import Moved
    from specwright.domain.base.document import Document


Place = Annotated[
    str, typer.Argument(metavar="DIR-OR-URL", help="The project's directory, or the address of its store.")
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
Topic = Annotated[
    str, typer.Option("--topic", metavar="0.0.N", help="The topic; else the setting topic below [hedera].")
]
AsJsonLines = Annotated[bool, typer.Option("--json", help="Print each event as a JSON document in a line.")]


def export_project(place: Place, file: File, as_json: AsJson = False) -> None:
    """Write the store and the log of a project into a file.

    Byte for byte. SPEC.md, specwright.toml and the source trees in release/, which are yours, are left out; the next release
    of the imported project writes its tree again.
    """
    from specwright.bootstrap import transfer

    _present("exported", transfer.export_project(place, file), str(file), as_json=as_json)
    note(
        "left out: SPEC.md, specwright.toml, release/ (your edits; `specwright release` makes the tree anew)"
    )


def import_project(place: Place, file: File, as_json: AsJson = False) -> None:
    """Put the project of a file into an empty store.

    A directory without SPEC.md gets the one that was built. Nothing is checked; `specwright verify` does that.
    """
    from specwright.bootstrap import transfer
    from specwright.bootstrap.spec_file import restore_spec
    from specwright.settings import STORE_PREFIXES

    moved = transfer.import_project(place, file)
    if not place.startswith(STORE_PREFIXES):
        restore_spec(Path(place))
    _present("imported", moved, place if "@" not in place else "the store", as_json=as_json)


def _present(done: str, moved: "Moved", to: str, *, as_json: bool) -> None:
    numbers = [
        counted(getattr(moved, name), name.removesuffix("s")) for name in ("files", "records", "wires")
    ]
    _show(moved, f"{done}  {', '.join(numbers)}: {to}", as_json=as_json)


def _show(document: "Document", text: str, *, as_json: bool) -> None:
    """Print a document, or a line for a person."""
    present(document, as_json=as_json)
    if not as_json:
        say(text)


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
    from specwright.bootstrap.stores import WORKERS
    from specwright.settings import STORE_PREFIXES, load_settings

    url = store or load_settings(Path()).store
    if not url.startswith(STORE_PREFIXES):  # before it is said what has to be installed
        raise InputError(
            f"a worker needs the database{', and this is no Postgres address' if url else ''}",
            where="--store, SPECWRIGHT_STORE",
            remedy="specwright worker --store postgresql://user@host/database",
        )
    with needing_extra(*WORKERS):
        from specwright.bootstrap.worker import WorkerOptions, run_worker
    options = WorkerOptions(url, concurrency, once=once, until_idle=until_idle)
    failed = run_worker(options, (lambda event: write(json.dumps(event))) if as_json else _print_event)
    raise typer.Exit(1 if failed else 0)


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


def mirror(
    directory: Directory = Path(),
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="URL", help="sqlite:///... or postgresql://...; else the setting mirror."
        ),
    ] = "",
    follow: Annotated[
        bool, typer.Option("--follow/--once", help="Go on as the log grows, or end when all is mirrored.")
    ] = True,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="First mirror the whole log anew, in one transaction.")
    ] = False,
    status: Annotated[bool, typer.Option("--status", help="Only show how far it is mirrored.")] = False,
    as_json: AsJson = False,
) -> None:
    """Mirror the log to a database that others read.

    Runs until it is interrupted, unless --once is given. The log stays the truth: the tables can be dropped.
    """
    from specwright.bootstrap.mirrors import open_mirror
    from specwright.cli.interruption import interruptible
    from specwright.documents.reports import Mirror

    if status and rebuild:
        raise InputError("--status only looks, --rebuild writes", remedy="choose one of them")
    follows = follow and not status and not as_json
    go_on = next_command("mirror", directory, "--to URL" if to else "")  # not the URL: it may hold a password
    with interruptible(go_on, as_json=as_json), open_mirror(directory, to) as (opened, where):
        if follows:
            _follow(opened, where, rebuild=rebuild)
        found = opened.status() if status else opened.rebuild() if rebuild else opened.catch_up()
    shown = Mirror(
        to=where,
        log_id=found.log_id,
        position=found.position.sequence_number,
        running_hash=found.position.running_hash,
        log_end=found.log_end,
        lag=found.lag,
        lag_seconds=found.behind,
    )
    _show(shown, _line(found, where), as_json=as_json)


def _follow(opened: "mirrors.Mirror", where: str, *, rebuild: bool) -> None:
    if rebuild:
        note(_line(opened.rebuild(), where))
    for found in opened.follow(time.sleep):
        note(_line(found, where))


def _line(found: "mirrors.MirrorStatus", where: str) -> str:
    if not found.log_id:
        return f"The log holds no Wires yet; nothing is mirrored to {where}."
    mirrored = f"{found.position.sequence_number:,} of {counted(found.log_end, 'Wire')} mirrored to {where}"
    if found.problem:
        return f"{mirrored}; {found.problem}"
    return f"{mirrored}, {found.behind:,.1f} s behind" if found.lag else mirrored


def submit(directory: Directory = Path(), topic: Topic = "", as_json: AsJson = False) -> None:
    """Submit what the log has and the topic has not, each Wire once and in order.

    May be interrupted at any moment; the next call goes on.
    """
    from specwright.bootstrap.mirrors import submit_log
    from specwright.cli.interruption import interruptible

    with interruptible(next_command("hedera submit", directory), as_json=as_json):
        status = submit_log(directory, topic)
    line = f"{counted(status.submitted, 'Wire')} submitted; {status.placed:,} of {status.log_end:,} are on the topic."
    _show(status, line, as_json=as_json)


def read(directory: Directory = Path(), topic: Topic = "", as_json: AsJson = False) -> None:
    """Read the topic back from a mirror node: is it what was submitted, and what does it say?

    Of two claims for one task the one that came first holds; what is not admissible is listed.
    """
    from specwright.bootstrap.mirrors import message_row, read_topic
    from specwright.documents.reports import HederaRead

    state = read_topic(directory, topic)
    reduction = state.reduction.to_json()
    rejected: list[dict[str, str]] = reduction["rejected"]  # pyright: ignore[reportAssignmentType]
    rows = [message_row(state.topic, message) for message in state.messages]
    shown = HederaRead(placed=state.placed, messages=rows, reduction=reduction)
    line = f"{counted(len(rows), 'message')}, chain intact; {state.placed:,} are Wires of this log."
    _show(shown, line, as_json=as_json)
    for row in [] if as_json else rejected:
        say(f"rejected {row['position']}  {row['code']}  {row['message']}")
    raise typer.Exit(1 if rejected else 0)


def studio(
    directories: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DIR ...]",
            help="Projects, or folders that hold some at most three levels below; the nearest project if left out.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0 takes any free port.")] = 8750,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="For other machines; they need the token.")
    ] = "127.0.0.1",
    store: Annotated[
        str, typer.Option(metavar="URL", help="Also the projects of this Postgres database.")
    ] = "",
    token: Annotated[
        str,
        typer.Option(
            metavar="TOKEN",
            envvar="SPECWRIGHT_STUDIO_TOKEN",
            show_envvar=False,
            help="What a browser must show, instead of a new one; better in SPECWRIGHT_STUDIO_TOKEN.",
        ),
    ] = "",
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let every user and program of this machine in.")
    ] = False,
) -> None:
    """See and decide everything in a browser.

    It listens on this machine alone, and the address that it prints holds a token. Ctrl-C ends it; a run that it started
    goes on.
    """
    from specwright.studio.app import serve
    from specwright.studio.security import is_loopback

    def ready(address: str) -> None:
        if not is_loopback(host):
            note("others on the network can reach the studio: the token protects it, nothing is encrypted")
        say(f"The studio is at {address}  (Ctrl-C ends it)")

    given = directories or ([] if store else [nearest_project()])
    serve(given, store, host, port, None if no_token else token, ready)


def export_html(
    directory: Directory,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new directory.")],
    as_json: AsJson = False,
) -> None:
    """The studio's pages of a project as a folder of files.

    It needs no server, and can be attached to a pull request.
    """
    from specwright.documents.reports import ExportedPages
    from specwright.studio.pages import export

    made = export(directory, out)
    line = f"{made.pages:,} pages, {made.bytes / 1_000_000:.1f} MB\nOpen: {out / 'index.html'}"
    _show(ExportedPages(directory=str(out), **made._asdict()), line, as_json=as_json)
