"""The program that serves the HTTP API of a product: on the loopback interface unless it is told otherwise."""

import argparse
import contextlib
import os
import socket
import sys
from collections.abc import Generator, Sequence
from pathlib import Path

from .calls import ServerOptions, document, escaped, extra_missing, signals_end
from .http_api import LOOPBACK, MOST_BODY, Application
from .scalars import ValueProblem

__all__ = ["main"]

_MOST_CONNECTIONS = 128
_END_SECONDS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal; the exit code.

    Args:
        arguments: Without the name of the program; by default those of the process.
    """
    stated = document()
    name = stated["http"]["name"]
    parser = _parser(name, stated["http"]["help"], stated["version"])
    ServerOptions.add_to(parser, stated["http"]["options"])
    chosen = parser.parse_args(arguments)
    try:
        import uvicorn
    except ImportError:
        return extra_missing(name, stated["distribution"], "http")
    hosts = LOOPBACK if not chosen.uds and chosen.host in LOOPBACK else ()
    words = ServerOptions.words(chosen, stated["http"]["options"])
    try:
        application = Application(stated, most_body=chosen.most_body, hosts=hosts, options=words)
    except ValueProblem as problem:
        parser.error(str(problem))
    config = uvicorn.Config(
        application,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_END_SECONDS,
    )
    try:
        with _listening(chosen.host, chosen.port, chosen.uds) as (listener, shown), signals_end():
            print(f"{name}: {shown}", file=sys.stderr, flush=True)  # noqa: T201 - where it is reached
            uvicorn.Server(config).run(sockets=[listener])
    except OSError as error:
        where = chosen.uds or f"{chosen.host}:{chosen.port}"
        print(f"{name}: {where} cannot be had: {error.strerror or error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _parser(name: str, description: str, version: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name, description=escaped(description), allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"{name} {version}")
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen at; this machine alone by default"
    )
    parser.add_argument("--port", type=_port, default=8000, help="0 for one that is free; default: 8000")
    parser.add_argument("--uds", default="", metavar="PATH", help="listen at a Unix socket instead")
    parser.add_argument(
        "--most-body",
        type=_size,
        default=MOST_BODY,
        metavar="BYTES",
        help=f"of a request that are read; default: {MOST_BODY}",
    )
    return parser


def _port(word: str) -> int:
    if not word.isascii() or not word.isdigit() or int(word[:9]) > 65_535:
        raise argparse.ArgumentTypeError(f"{word!r} is no port")
    return int(word)


def _size(word: str) -> int:
    if not word.isascii() or not word.isdigit() or not 0 < int(word[:12]) <= 1 << 30:
        raise argparse.ArgumentTypeError(f"{word!r} is no number of bytes up to 1 GiB")
    return int(word)


@contextlib.contextmanager
def _listening(host: str, port: int, uds: str) -> Generator[tuple[socket.socket, str]]:
    """A socket that listens, and how it is reached."""
    if uds:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(uds)
            try:
                Path(uds).chmod(0o600)
                listener.listen()
                yield listener, f"unix:{uds}"
            finally:
                with contextlib.suppress(OSError):
                    Path(uds).unlink()
        return
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
        shown = f"[{host}]" if ":" in host else host
        yield listener, f"http://{shown}:{listener.getsockname()[1]}"
