"""The studio as an ASGI application, and its server on a port of this machine (design: command-line)."""

import asyncio
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from agent_wire.admission import default_admission
from specwright.domain.escalation import ResolutionRecord
from specwright.errors import (
    AnyError,
    InputError,
    InputErrors,
    RefusedError,
    SpecwrightError,
    SpecwrightErrors,
)
from specwright.studio.actions import (
    STARTS,
    Command,
    FormFields,
    Job,
    Jobs,
    command_of,
    is_recorded,
    other_answer,
)
from specwright.studio.pages import PACKAGE, NoPageError, Site, environment, home, page, render
from specwright.studio.projects import Projects, StudioProject
from specwright.studio.security import (
    HEADERS,
    LARGEST_BODY,
    SHORTEST_TOKEN,
    Gatekeeper,
    Guard,
    is_loopback,
    is_own_origin,
    with_access,
)

_MOST_FIELDS = 3000
_SECONDS_FOR_A_START = 1.5
"""How long a command without a decision may take to fail before the run's page is shown."""

_PAUSE = 0.1

_FORGED = SpecwrightError(
    "this form is older than the studio, or was not made by it; nothing was done",
    remedy="open the page again, and decide by what it says now",
)
_MISSING = SpecwrightError("there is no such page", remedy="the first page has everything that there is")


class Studio:
    """The pages of some projects.

    Args:
        projects: That are shown.
        gatekeeper: Decides who may see them.
        jobs: Starts commands.
        patience: Seconds that a decision may take to be recorded before the run's page is shown.
    """

    def __init__(
        self, projects: Projects, gatekeeper: Gatekeeper, jobs: Jobs, *, patience: float = 20.0
    ) -> None:
        self._patience = patience
        self._projects = projects
        self._gatekeeper = gatekeeper
        self._jobs = jobs

    def app(self) -> Starlette:
        """The application."""
        routes = [
            Route("/", self._home),
            Route("/login", self._login, methods=["GET", "POST"]),
            Mount("/assets", StaticFiles(packages=[(PACKAGE, "assets")])),
            Route("/p/{key}/do/{action}", self._do, methods=["POST"]),
            Route("/p/{key}/{path:path}", self._page),
        ]
        return Starlette(
            routes=routes,
            middleware=[
                Middleware(Guard, gatekeeper=self._gatekeeper),
                Middleware(TrustedHostMiddleware, allowed_hosts=self._gatekeeper.hosts, www_redirect=False),
            ],
            exception_handlers={
                HTTPException: self._impossible,
                NoPageError: self._missing,
                **dict.fromkeys(SpecwrightErrors, self._failed),
                Exception: self._broke,
            },
        )

    async def _home(self, request: Request) -> Response:
        projects = await run_in_threadpool(self._projects.all)
        context = await run_in_threadpool(home, projects)
        jobs = {one.key: job for one in projects if (job := self._jobs.last(one.key))}
        return self._html(request, "home.html", Site(), {**context, "jobs": jobs})

    async def _page(self, request: Request) -> Response:
        project = await self._project(request)
        path = request.path_params["path"].rstrip("/") or "run"
        found = await run_in_threadpool(page, project, path)
        context = {**found.context, "job": self._jobs.last(project.key)}
        return self._html(request, found.template, Site(project.key, here=path), context)

    async def _do(self, request: Request) -> Response:
        project, action = await self._project(request), request.path_params["action"]
        form, site = FormFields(project.directory, await self._form(request)), Site(project.key)
        if action == "stop":
            self._jobs.stop(project.key)
            return RedirectResponse(site.to("run"), 303)
        command = command_of(action, form)
        job = await run_in_threadpool(self._jobs.start, project.key, command)
        other = await self._other_answer(project, action, form, job)
        if other or job.failure:
            failure = job.failure or SpecwrightError("somebody else decided first")
            back = site.to(form.text("back") or "run")
            context = {"command": command, "decided": other, "back": back}
            return self._refused(request, failure, 422 if isinstance(failure, InputError) else 409, context)
        return RedirectResponse(site.to(form.text("next") or "run"), 303)

    async def _other_answer(
        self, project: StudioProject, action: str, form: FormFields, job: Job
    ) -> ResolutionRecord | None:
        """Wait until it is known what came of an action; the answer that somebody else gave meanwhile."""
        until = time.monotonic() + (_SECONDS_FOR_A_START if action in STARTS else self._patience)
        while True:
            running = job.is_running
            other, recorded = await run_in_threadpool(_look, project, action, form, job.command)
            if other or recorded or not running or time.monotonic() > until:
                return other
            await asyncio.sleep(_PAUSE)

    async def _login(self, request: Request) -> Response:
        wrong = False
        if request.method == "POST":
            form = dict(await self._form(request))
            if self._gatekeeper.admits_token(form.get("token", "")):
                return with_access(self._gatekeeper)
            wrong = True
        return self._html(request, "login.html", Site(), {"wrong": wrong}, 401 if wrong else 200)

    async def _project(self, request: Request) -> StudioProject:
        project = await run_in_threadpool(self._projects.find, request.path_params["key"])
        if project is None:
            raise NoPageError
        return project

    async def _form(self, request: Request) -> list[tuple[str, str]]:
        """The fields of a form that a page of this studio made for this browser."""
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST_BODY:
                raise HTTPException(413, f"a form has at most {LARGEST_BODY:,} bytes")
        try:
            pairs = parse_qsl(
                body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"
            )
        except ValueError:
            raise HTTPException(400, "this is no form") from None
        given = dict(pairs).get("csrf", "")
        if not is_own_origin(request.headers) or not self._gatekeeper.admits_form(
            request.state.session, given
        ):
            raise HTTPException(403)
        return pairs

    def _html(
        self, request: Request, template: str, site: Site, context: Mapping[str, Any], status: int = 200
    ) -> Response:
        csrf = self._gatekeeper.csrf(getattr(request.state, "session", ""))
        text = render(template, site, {"csrf": csrf, "job": None, **context})
        return HTMLResponse(text, status, HEADERS)

    def _refused(
        self, request: Request, failure: AnyError, status: int, context: Mapping[str, Any] | None = None
    ) -> Response:
        whole = {"failure": failure, "command": None, "decided": None, "back": "/", "status_code": status}
        return self._html(request, "refused.html", Site(), {**whole, **(context or {})}, status)

    async def _impossible(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        failures = {403: _FORGED, 404: _MISSING}
        failure = failures.get(error.status_code) or SpecwrightError(error.detail)
        return self._refused(request, failure, error.status_code)

    async def _missing(self, request: Request, error: Exception) -> Response:
        return self._refused(request, _MISSING, 404)

    async def _failed(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, SpecwrightErrors)
        looked = 404 if request.method == "GET" else 422
        return self._refused(request, error, looked if isinstance(error, InputErrors) else 409)

    async def _broke(self, request: Request, error: Exception) -> Response:
        failure = SpecwrightError(
            f"the studio itself broke: {type(error).__name__}",
            remedy="this is a fault of Specwright, please report it; the projects are as they were",
        )
        return self._refused(request, failure, 500)


def _look(
    project: StudioProject, action: str, form: FormFields, command: Command
) -> tuple[ResolutionRecord | None, bool]:
    """The answer of somebody else to what an action answers, and whether that of the action is recorded."""
    try:
        with project.reading() as view:
            return other_answer(view, action, form, command), is_recorded(view, action, form)
    except SpecwrightErrors:
        return None, False


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
