"""The studio as an ASGI application: pages, actions, events, and the files beside them (design: studio)."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from specwright.bootstrap.examples import example_names
from specwright.bootstrap.views.positions import Positions
from specwright.errors import AnyError, InputErrors, SpecwrightError, SpecwrightErrors
from specwright.studio.actions import FormFields, command_of, init_command
from specwright.studio.jobs import Command, Failure, Job, Jobs
from specwright.studio.live import changes, positions
from specwright.studio.outcome import ActionOutcome, outcome_of
from specwright.studio.pages import NoPageError, page
from specwright.studio.projects import Projects, StudioProject
from specwright.studio.security import BodyTooLargeError, Gatekeeper, Guard, with_access
from specwright.studio.site import ASSETS, Site, asset, asset_version, render
from specwright.studio.views.heads import head_of, in_order

_MOST_FIELDS = 3000
_SECONDS_FOR_A_START = 1.5
"""How long a command without a decision may take to fail before the run's page is shown."""

_PAUSE = 0.1
_STAYING = ("deprecate",)
"""Actions that lead to no run, after which the page is shown from which they came."""

_DECIDING = (
    "abandon",
    "approve",
    "amend",
    "amend-examples",
    "reject",
    "resolve",
    "exception-approve",
    "exception-reject",
    "exception-hold",
    "exception-defer",
    "deprecate",
)


class Form(NamedTuple):
    """A form that came in: its fields in their order."""

    pairs: list[tuple[str, str]]

    def text(self, name: str) -> str:
        """What stands in a field; empty if there is none."""
        return next((value for key, value in self.pairs if key == name), "")


class Studio:
    """The pages of some projects.

    Args:
        projects: That are shown.
        gatekeeper: Decides who may see them.
        jobs: Starts commands.
        patience: Seconds that a decision may take to stand in the log, before the run's page is shown.
    """

    def __init__(
        self, projects: Projects, gatekeeper: Gatekeeper, jobs: Jobs, *, patience: float = 20.0
    ) -> None:
        self._patience = patience
        self._projects = projects
        self._gatekeeper = gatekeeper
        self._jobs = jobs
        self._positions = Positions()

    def app(self) -> Starlette:
        """The application."""
        routes = [
            Route("/", self._home),
            Route("/new", self._new, methods=["GET"]),
            Route("/new", self._make, methods=["POST"]),
            Route("/login", self._login, methods=["GET", "POST"]),
            Route("/events", self._events),
            Route("/assets/{name}", _asset),
            Route("/p/{key}/events", self._events),
            Route("/p/{key}/do/{action}", self._do, methods=["POST"]),
            Route("/p/{key}/{path:path}", self._page),
            Route("/p/{key}", self._page),
        ]
        return Starlette(
            routes=routes,
            middleware=[Middleware(Guard, gatekeeper=self._gatekeeper)],
            exception_handlers={
                404: self._not_found,
                BodyTooLargeError: self._too_large,
                SpecwrightError: self._failed,
                Exception: self._broke,
            },
        )

    async def _home(self, request: Request) -> Response:
        return await run_in_threadpool(self._show_home, request)

    def _show_home(self, request: Request) -> Response:
        projects = self._projects.all()
        heads = [head_of(one) for one in projects]
        waiting = in_order(one for head in heads for one in head.waiting)
        context = {
            "heads": heads,
            "waiting": waiting,
            "can_make": bool(self._projects.folders),
            "position": positions(self._positions, projects, self._jobs),
            "failures": {
                one.key: failure for one in projects if (failure := self._failure(one.key)) is not None
            },
        }
        return self._html(request, "home.html", Site(), context)

    async def _new(self, request: Request) -> Response:
        if not self._projects.folders:
            return self._missing(request)
        return self._html(request, "new.html", Site(), {"examples": example_names(), "failure": None})

    async def _make(self, request: Request) -> Response:
        form = await self._form(request)
        if form is None:
            return self._forged(request)
        name = form.text("name").strip()
        directory = await run_in_threadpool(self._projects.place_for, name)
        command = init_command(directory, form.text("example"), form.text("spec").replace("\r\n", "\n"))
        job = await run_in_threadpool(self._jobs.start, f"new {name}", command)
        await run_in_threadpool(job.wait, self._patience)
        if failure := job.failure:
            return self._refused(request, Site(), command, failure, "/new")
        made = next((one for one in self._projects.all() if one.directory == directory), None)
        return RedirectResponse(f"/p/{made.key}/run" if made else "/", 303)

    async def _page(self, request: Request) -> Response:
        project = self._projects.find(request.path_params["key"])
        if project is None:
            return self._missing(request)
        path = request.path_params.get("path", "").rstrip("/")
        if not path:
            return RedirectResponse(f"/p/{project.key}/run", 307)
        return await run_in_threadpool(self._show_page, request, project, path)

    def _show_page(self, request: Request, project: StudioProject, path: str) -> Response:
        site, where = Site(project.key, here=path), positions(self._positions, [project], self._jobs)
        try:
            found = page(project, path, request.query_params)
        except NoPageError:
            return self._missing(request)
        except InputErrors as error:
            return self._refused(request, site, None, _failure_of(error), site.to("run"), 404)
        job = self._jobs.last(project.key)
        context = {**found.context, "position": where, "job": job, "job_failure": job and job.failure}
        return self._html(request, found.template, site, context)

    async def _do(self, request: Request) -> Response:
        project = self._projects.find(request.path_params["key"])
        if project is None:
            return self._missing(request)
        form = await self._form(request)
        if form is None:
            return self._forged(request)
        action, site = request.path_params["action"], Site(project.key)
        filled = FormFields(project.directory, form.pairs)
        command = command_of(action, filled)
        job = await run_in_threadpool(self._jobs.start, project.key, command)
        outcome = await self._settled(project, action, filled, job)
        if outcome.decided or outcome.failure:
            back = site.to(form.text("back") or "run")
            failure = outcome.failure or Failure("somebody else decided first")
            return self._refused(request, site, command, failure, back, decided=outcome.decided)
        return RedirectResponse(site.to((form.text("back") if action in _STAYING else "") or "run"), 303)

    async def _settled(
        self, project: StudioProject, action: str, filled: FormFields, job: Job
    ) -> ActionOutcome:
        """What came of an action, as soon as that is known."""
        deciding = action in _DECIDING
        until = time.monotonic() + (self._patience if deciding else _SECONDS_FOR_A_START)
        while True:
            outcome = await run_in_threadpool(outcome_of, project, action, filled, job)
            if outcome.known or time.monotonic() > until:
                return outcome
            await asyncio.sleep(_PAUSE)

    async def _events(self, request: Request) -> Response:
        key = request.path_params.get("key")
        if key is not None and self._projects.find(key) is None:
            return self._missing(request)
        shown = request.headers.get("last-event-id") or request.query_params.get("position", "")
        look: Callable[[], str] = lambda: positions(self._positions, self._watched(key), self._jobs)  # noqa: E731
        return StreamingResponse(changes(look, shown[:4000]), media_type="text/event-stream")

    def _watched(self, key: str | None) -> list[StudioProject]:
        return [one for one in self._projects.all() if key in (None, one.key)]

    async def _login(self, request: Request) -> Response:
        wrong = False
        if request.method == "POST":
            form = await self._form(request)
            if form is None:
                return self._forged(request)
            if self._gatekeeper.admits_token(form.text("token")):
                return with_access(self._gatekeeper)
            wrong = True
        return self._html(request, "login.html", Site(), {"wrong": wrong}, 401 if wrong else 200)

    async def _form(self, request: Request) -> Form | None:
        """A form; None if it does not come from a page that this studio made for this browser."""
        async with request.form(max_files=0, max_fields=_MOST_FIELDS) as given:
            pairs = [(name, value) for name, value in given.multi_items() if isinstance(value, str)]
        form = Form(pairs[:_MOST_FIELDS])
        session = request.scope["session_id"]
        return form if self._gatekeeper.admits_form(session, form.text("csrf")) else None

    def _failure(self, key: str) -> Failure | None:
        job = self._jobs.last(key)
        return job.failure if job else None

    def _html(
        self, request: Request, template: str, site: Site, context: Mapping[str, Any], status: int = 200
    ) -> Response:
        csrf = self._gatekeeper.csrf(request.scope["session_id"])
        return HTMLResponse(render(template, site, {"csrf": csrf, "live": True, **context}), status)

    def _refused(
        self,
        request: Request,
        site: Site,
        command: Command | None,
        failure: Failure,
        back: str,
        status: int = 0,
        decided: object = None,
    ) -> Response:
        code = status or (422 if failure.code == 2 else 409)
        context = {
            "command": command,
            "failure": failure,
            "back": back,
            "decided": decided,
            "missing": status == 404,
        }
        return self._html(request, "refused.html", site, context, code)

    def _missing(self, request: Request) -> Response:
        failure = Failure("there is no such page", remedy="the first page has everything that there is")
        return self._refused(request, Site(), None, failure, "/", 404)

    def _forged(self, request: Request) -> Response:
        failure = Failure(
            "this form is older than the studio, or was not made by it; nothing was done",
            remedy="open the page again, and decide by what it says now",
        )
        return self._refused(request, Site(), None, failure, "/", 403)

    async def _not_found(self, request: Request, _: Exception) -> Response:
        return self._missing(request)

    async def _too_large(self, request: Request, _: Exception) -> Response:
        return Response("the form is too large\n", 413)

    async def _failed(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, SpecwrightErrors)
        status = 422 if isinstance(error, InputErrors) else 409
        return self._refused(request, Site(), None, _failure_of(error), "/", status)

    async def _broke(self, request: Request, error: Exception) -> Response:
        failure = Failure(
            f"the studio itself broke: {type(error).__name__}",
            remedy="this is a fault of Specwright, please report it; the projects are as they were",
        )
        return self._refused(request, Site(), None, failure, "/", 500)


def _failure_of(error: AnyError) -> Failure:
    return Failure(error.what, error.where, error.remedy, error.exit_code)


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        return Response("there is no such file\n", 404)
    kept = request.query_params.get("v") == asset_version(name)
    caching = "public, max-age=31536000, immutable" if kept else "no-cache"
    return Response(asset(name), media_type=ASSETS[name], headers={"cache-control": caching})
