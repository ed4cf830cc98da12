"""The studio on a port of this machine (design: studio)."""

import os
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn

from agent_wire.admission import default_admission
from specwright.errors import InputError, RefusedError
from specwright.studio.app import Studio
from specwright.studio.jobs import Jobs
from specwright.studio.projects import Projects
from specwright.studio.security import SHORTEST_TOKEN, Gatekeeper, is_loopback
from specwright.studio.site import environment


def serve(
    directories: Sequence[Path],
    store: str,
    host: str,
    port: int,
    token: str | None,
    ready: Callable[[str], None],
) -> None:
    """Show projects until it is interrupted.

    Args:
        directories: Projects, and folders that hold projects.
        store: A database whose projects are shown too; empty for none.
        host: The address to listen on.
        port: The port; 0 for any that is free.
        token: That a browser must show; empty for a new one, which the address holds; None for no token.
        ready: Called with the address of the first page once it can be opened.

    Raises:
        InputError: no such directory, or an address of other machines without a token.
        RefusedError: the port is taken.
    """
    if not is_loopback(host) and token is None:
        raise InputError(
            "other machines reach this address, and the studio would ask for no token",
            where=f"--host {host}",
            remedy="leave out --no-token, or --host",
        )
    if token and len(token) < SHORTEST_TOKEN:
        raise InputError(
            f"the token has {len(token)} characters",
            where="SPECWRIGHT_STUDIO_TOKEN",
            remedy=f"take at least {SHORTEST_TOKEN} random ones",
        )
    created = os.urandom(24).hex() if token == "" else ""
    studio = Studio(Projects(directories, store), Gatekeeper.create(host, token or created), Jobs())
    with _listening(host, port) as listener:
        taken = listener.getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        config = uvicorn.Config(
            studio.app(),
            log_level="critical",
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=65_536,
        )
        _prepare()
        ready(f"http://{name}:{taken}/" + (f"?token={created}" if created else ""))
        uvicorn.Server(config).run([listener])


def _prepare() -> None:
    """Have what every page needs ready before the first one is asked for: it is three quarters of that page's time."""
    default_admission()
    environment().get_template("home.html")


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        RefusedError: the address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        raise RefusedError(
            f"the studio cannot listen there: {error}",
            where=f"{host}:{port}",
            remedy="name another port with --port, or 0 for any that is free",
        ) from error
    return listener
