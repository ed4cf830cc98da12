"""Hostile inputs are refused or shown as text: other origins, forged secrets, paths in ids, large forms, and what models
write (DESIGN §13.5, §8)."""

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from specwright.studio.security import HEADERS, LARGEST_BODY, SHORTEST_TOKEN, Gatekeeper
from testkit.browser import served
from testkit.cli.commands import command, specwright
from testkit.studio import csrf_of, send, shown_of

OPEN_STUDIO = Callable[..., TestClient]

TOKEN = "correct-horse-battery-staple"

MARKUP = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><animate onbegin=alert(1)></svg>",
    "\"><iframe src='javascript:alert(1)'></iframe>",
    "</textarea><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "{{ 7 * 7 }}{% include 'base.html' %}",
    "<a href='javascript:alert(1)'>here</a>",
    "<style>*{display:none}</style>",
    "<base href='//evil.example/'>",
    "<form action='//evil.example/'><input name=csrf></form>",
    "<div hx-get='/p/waits/spec' hx-trigger='load'>x</div>",
    "<meta http-equiv='refresh' content='0;url=//evil.example'>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\u202egnihtyna\u202c \u0000 \x1b[31m",
]
"""What a model may write in place of a name or a sentence."""

PATHS = [
    "/p/..%2f..%2fetc%2fpasswd/run",
    "/p/waits/module/..%2f..%2f..%2fetc%2fpasswd",
    "/p/waits/escalation/..%2f..%2fSPEC",
    "/p/waits/escalation/ESC-..%2f..%2f",
    "/p/waits/trace",
    "/p/waits/log/99999999999999999999",
    "/p/waits/log/0",
    "/p/waits/log/%00",
    "/p/waits/spec/%3Cscript%3E",
    "/p/waits/task/TSK-999",
    "/p/waits/costs/everything",
    "/p/nowhere/run",
    "/p/waits/do/approve",
    "/assets/..%2fsecurity.py",
    "/assets/htmx.LICENSE.txt%00.js",
]
"""Addresses that lead nowhere."""


class _Tags(HTMLParser):
    """The tags of a page, and what would run."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("iframe", "object", "embed", "base", "animate", "style"):
            self.runs.append(tag)
        if tag == "script" and not (given.get("src") or "").startswith("/assets/"):
            self.runs.append("script")
        if tag == "meta" and given.get("http-equiv", "") == "refresh":
            self.runs.append("refresh")
        if tag == "form" and not (given.get("action") or "").startswith("/"):
            self.runs.append("form")
        self.runs += [name for name, _ in attrs if name.startswith("on") or name == "style"]
        self.runs += [name for name, value in attrs if "javascript:" in (value or "")]
        if "hx-get" in given and given.get("hx-trigger") == "load":
            self.runs.append("hx-get")


def what_runs(page: str) -> list[str]:
    """What of a page would be carried out by a browser, beside its own scripts."""
    tags = _Tags()
    tags.feed(page)
    return tags.runs


@pytest.fixture
def browser(waiting: Path, studio: OPEN_STUDIO) -> TestClient:
    """Of a folder with one project, which waits for approval."""
    return studio(waiting.parent)


@pytest.fixture
def waiting(waiting_once: Path, tmp_path: Path) -> Path:
    """A project whose spec waits for approval."""
    return Path(shutil.copytree(waiting_once, tmp_path / "work" / "waits"))


def test_what_a_model_writes_is_shown_as_text(waiting: Path, browser: TestClient) -> None:
    """In the title, a name and a criterion of the spec, on every page that has them (D48) (D-48-06)."""
    file = waiting / "state_store/product/spec.json"
    spec = json.loads(file.read_text())
    task = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    for text in MARKUP:
        clean = "".join(c for c in text if c.isprintable())
        spec["title"] = spec["description"] = clean
        task["name"] = task["acceptance_criteria"][0] = task["io_contract_sketch"]["inputs"] = clean
        file.write_text(json.dumps(spec))
        for address in ("/", "/p/waits/spec", "/p/waits/run"):
            answer = browser.get(address)
            assert (answer.status_code, what_runs(answer.text)) == (200, []), text
            assert "49" not in re.findall(r"<h1>([^<]*)", answer.text)


def test_an_address_that_leads_nowhere_is_refused(browser: TestClient) -> None:
    """With a page that repeats nothing of it; so is another method, and another name for this machine, so that a page of
    another site cannot give its own name this address (D48)."""
    for address in PATHS:
        answer = browser.get(address)
        assert answer.status_code in (404, 405), address
        assert "root:" not in answer.text
        assert what_runs(answer.text) == []
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        assert browser.request(method, "/p/waits/do/approve").status_code == 405
    for host in ("evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:80"):
        assert browser.get("/", headers={"host": host}).status_code == 400


def test_a_form_of_another_site_changes_nothing(waiting: Path, browser: TestClient) -> None:
    """Even with the secret of the form (D48) (D-48-06)."""
    here = {"origin": "http://127.0.0.1"}
    others = [
        {"origin": name} for name in ("http://evil.example", "null", "", "http://127.0.0.1.evil.example")
    ]
    others += [{**here, "sec-fetch-site": "cross-site"}, {**here, "sec-fetch-site": "same-site"}]
    shown = shown_of(browser.get("/p/waits/spec").text)
    for headers in others:
        answer = send(browser, "/p/waits/do/approve", {"sha256": shown}, **headers)
        assert answer.status_code == 403, headers
        assert not (waiting / "project").exists()


def test_a_forged_or_a_borrowed_secret_is_refused(waiting: Path, studio: OPEN_STUDIO) -> None:
    """None, a wrong one, that of another browser, and that of another process (D48) (D-48-06)."""
    browser, other = studio(waiting.parent), studio(waiting.parent)
    shown = shown_of(browser.get("/p/waits/spec").text)
    stranger = csrf_of(other.get("/login").text)
    for forged in ("0" * 64, "", "é" * 64, stranger):
        answer = browser.post(
            "/p/waits/do/approve",
            data={"sha256": shown, "csrf": forged},
            headers={"origin": "http://127.0.0.1"},
        )
        assert answer.status_code == 403
    assert not (waiting / "project").exists()


def test_a_form_that_is_too_large_is_refused(browser: TestClient) -> None:
    """By its length, and by its body where the length is not said (D48) (D-48-06)."""
    headers = {"origin": "http://127.0.0.1", "content-type": "application/x-www-form-urlencoded"}
    body = b"csrf=" + b"x" * LARGEST_BODY
    assert browser.post("/login", content=body, headers=headers).status_code == 413
    chunks = (b"x" * 65536 for _ in range(LARGEST_BODY // 65536 + 2))
    assert browser.post("/login", content=chunks, headers=headers).status_code == 413


def test_a_link_out_of_the_folder_is_no_project(
    tmp_path: Path, released_once: Path, studio: OPEN_STUDIO
) -> None:
    """It is passed over (D48)."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "out").symlink_to(released_once)
    browser = studio(tmp_path / "work")
    assert "There is no project here yet" in browser.get("/").text
    assert browser.get("/p/out/run").status_code == 404


def test_a_token_is_asked_for_everywhere(waiting: Path, studio: OPEN_STUDIO) -> None:
    """A page leads to where it is given, anything else is refused; a cookie lets the browser in (D48)."""
    browser = studio(waiting.parent, gatekeeper=Gatekeeper.create("0.0.0.0", TOKEN))
    for address in ("/", "/p/waits/spec", "/p/waits/do/approve"):
        assert browser.get(address, headers={"accept": "text/html"}).headers["location"] == "/login"
        assert browser.get(address).status_code == 401
        assert browser.get(address, headers={"authorization": "Bearer wrong"}).status_code == 401
        assert browser.get(address, headers={"cookie": "specwright_access=" + "0" * 64}).status_code == 401
    assert browser.get("/", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    secret = csrf_of(browser.get("/login").text)
    wrong = browser.post(
        "/login", data={"token": "wrong", "csrf": secret}, headers={"origin": "http://127.0.0.1"}
    )
    assert wrong.status_code == 401
    right = browser.post(
        "/login", data={"token": TOKEN, "csrf": secret}, headers={"origin": "http://127.0.0.1"}
    )
    assert right.status_code == 303
    assert "httponly" in right.headers["set-cookie"].lower()
    page = browser.get("/p/waits/spec")
    assert page.status_code == 200
    assert TOKEN not in page.text


def test_a_studio_makes_a_token_and_only_its_own_address_opens_it(waiting: Path) -> None:
    """Other users of the machine reach its port, too (hostile-projects, studio-other-user)."""
    with served(waiting.parent, token=True) as studio:
        address, _, token = studio.address.partition("/?token=")
        assert len(token) >= SHORTEST_TOKEN
        for stranger in ("/", "/p/waits/spec", "/?token=", f"/?token={token[:-1]}", "/login?token="):
            assert httpx.get(address + stranger).status_code == (200 if "login" in stranger else 401)
        with httpx.Client(base_url=address) as browser:
            opened = browser.get(f"/?token={token}")
            assert (opened.status_code, opened.headers["location"]) == (303, "/")
        for path, way in {
            "/p/waits/spec": "/p/waits/spec",
            "//evil.example": "/",
            "/%5Cevil.example": "/",
        }.items():
            assert httpx.get(f"{address}{path}?token={token}").headers["location"] == way, path
        with httpx.Client(base_url=address) as browser:
            browser.get(f"/?token={token}")
            assert browser.get("/p/waits/spec").status_code == 200


def test_commands_that_pages_show_are_quoted(waiting: Path, studio: OPEN_STUDIO) -> None:
    """A person pastes them; who sends a project names its folder, and its wheel."""
    named = waiting.rename(waiting.with_name("a; touch mark #"))
    browser = studio(named.parent)
    pages = [browser.get(f"/p/a-touch-mark/{page}").text for page in ("run", "spec", "costs", "log", "tasks")]
    shown = html.unescape("".join(pages))
    commands = re.findall(r"specwright [a-z]+ [^<]*a; touch mark #.?", shown)
    assert len(commands) >= 4
    assert [command for command in commands if not command.endswith("'")] == []


def test_other_machines_are_let_in_by_a_token_alone(waiting: Path) -> None:
    """To leave it out is for one machine (D48) (D-48-05)."""
    specwright("studio", waiting, "--host", "0.0.0.0", "--no-token").refuses("no token", "--no-token")
    specwright("studio", waiting, "--token", "short").refuses("5 characters")


@pytest.mark.parametrize(("host", "others"), [("0.0.0.0", True), ("127.0.0.1", False)])
def test_who_lets_other_machines_in_is_told_so(waiting: Path, host: str, others: bool) -> None:
    """One line: they can reach it, and what protects it (D-48-05)."""
    words = command("studio", waiting, "--host", host, "--port", 0)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "token=" in process.stdout.readline()
        process.kill()
        said = process.stderr.read()
    assert ("others on the network" in said, "the token protects it" in said) == (others, others), said
    assert said.count("\n") == others


def test_every_answer_forbids_scripts_of_others(browser: TestClient) -> None:
    """Pages, refusals, files and redirects (D48) (D-48-06)."""
    for address in ("/", "/p/waits/spec", "/p/waits", "/nowhere", "/assets/studio.css"):
        headers = browser.get(address).headers
        wanted = {name: value for name, value in HEADERS.items() if name != "cache-control"}
        assert all(headers[name] == value for name, value in wanted.items())
        assert "unsafe" not in headers["content-security-policy"]


def test_secrets_of_the_settings_stand_on_no_page(
    waiting: Path, studio: OPEN_STUDIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key in the environment, a password in an address (D48)."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-anybody")
    (waiting / "specwright.toml").write_text('base_url = "http://me:hunter2@127.0.0.1:9/v1"\n')
    browser = studio(waiting.parent)
    for address in ("/", "/p/waits/spec", "/p/waits/run", "/p/waits/costs"):
        page = browser.get(address).text
        assert "sk-not-for-anybody" not in page
        assert "hunter2" not in page
