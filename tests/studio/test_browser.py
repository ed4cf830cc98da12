"""The studio in a real browser, beside commands in processes of their own (DESIGN §13.5)."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, Response, expect

from testkit.browser import SECONDS, ServedStudio, browser, complaints, served
from testkit.cli.commands import in_own_process, specwright
from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK, failing, rejecting
from testkit.loop.raised_product import raised_once
from testkit.sampling import nightly
from testkit.studio import cut_after

__all__ = ["browser", "raised_once"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

LARGEST_TRANSFER = 300_000

_TABS_IN_SIGHT = "[...document.querySelectorAll('.tabs')].every(one => one.scrollWidth <= one.clientWidth)"
_LINKS = """[...document.querySelectorAll("a[href]")]
.map(one => new URL(one.getAttribute("href"), document.baseURI).href)"""


@pytest.fixture(scope="module")
def looked_at(folder_once: Path) -> Iterator[ServedStudio]:
    """A studio over projects at each stage, for all tests that only look."""
    with served(folder_once) as studio:
        yield studio


@pytest.fixture(scope="module")
def every_stage(
    folder_once: Path, raised_once: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ServedStudio, Path]]:
    """A studio over those projects, one in which no run has begun, and one with an exception; and its folder."""
    work = Path(shutil.copytree(folder_once, tmp_path_factory.mktemp("stages") / "work", symlinks=True))
    assert specwright("init", work / "fresh", "--spec", NAMEPLATE_SPEC).code == 0
    shutil.copytree(raised_once, work / "raised", symlinks=True)
    with served(work) as studio:
        yield studio, work


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a browser that was never here; what it could not carry out fails the test."""
    context = browser.new_context()
    page, said = context.new_page(), list[str]()
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda one: said.append(one.text) if one.type == "error" else None)
    yield page
    context.close()
    assert [one for one in said if not _of_a_lost_connection(one)] == []


def _of_a_lost_connection(text: str) -> bool:
    """What the browser and htmx say of a studio that is gone; `undefined` is what htmx knows of the answer."""
    return any(part in text for part in ("ERR_CONNECTION", "ERR_INCOMPLETE", "htmx:")) or text == "undefined"


def halting_answers(place: Path) -> Path:
    """The answers for a product whose spec is amended and whose one module is rejected three times."""
    shutil.copytree(PLAYBOOK, place)
    failing(place / "TSK-001/initials", 3)
    rejecting(place / "TSK-001/initials/round-3")
    spec = json.loads((place / "researcher/spec.json").read_text())
    spec["pillars"][0]["epics"][0]["description"] = "The letters of a tag come from the name, in order."
    (place / "researcher/amended-1.json").write_text(json.dumps(spec))
    return place


def where(directory: Path) -> str:
    """What the command line says of a project, from a process of its own."""
    return in_own_process("status", directory, "--json").document["where"]


def test_a_whole_product_in_the_browser_alone(page: Page, tmp_path: Path) -> None:
    """From `init` over an amended spec and an escalation to the wheel, while commands watch (D48, F§3.2.4, F§17)
    (D-48-07)."""
    work = tmp_path / "work"
    halting_answers(work / ".answers")
    assert specwright("init", work / "tags", "--spec", NAMEPLATE_SPEC).code == 0
    with served(work) as studio:
        page.goto(studio.address)
        page.get_by_role("link", name="Begin").click()
        expect(page.get_by_text("No run has begun here")).to_be_visible(timeout=30_000)
        assert where(work / "tags") == "new"

        page.get_by_label("Model").fill("playbook:.answers")
        page.get_by_role("button", name="Run").click()
        page.get_by_role("link", name="Read and decide").click(timeout=SECONDS * 1000)
        assert where(work / "tags") == "approval"

        page.locator("summary", has_text="on TSK-001 criterion 1").click()
        page.get_by_label("Comment on TSK-001 criterion 1").fill("Say in which order.")
        page.get_by_role("button", name="Amend").click()
        page.get_by_role("link", name="Read and decide").click(timeout=SECONDS * 1000)
        expect(page.get_by_role("heading", name="Since the last version")).to_be_visible()
        expect(page.get_by_text("The letters of a tag come from the name, in order.").first).to_be_visible()
        history = json.loads((work / "tags/state_store/product/history.json").read_text())
        assert history["answers"][0]["text"] == "TSK-001 criterion 1: Say in which order."

        page.get_by_role("button", name="Approve").click()
        page.get_by_role("link", name="Decide", exact=True).click(timeout=SECONDS * 1000)
        assert where(work / "tags") == "halted"
        expect(page.get_by_text("Nothing of what was asked for was shown.").first).to_be_attached()

        if page.locator("#APPROVE_OVERRIDE:not([open])").count():  # the recommended answer is open already
            page.locator("#APPROVE_OVERRIDE summary").click()
        page.locator("#APPROVE_OVERRIDE").get_by_label("Rationale").fill("Seven tests show it.")
        page.get_by_role("button", name="Approve override").click()
        expect(page.get_by_text("Version 1.0.0 is released.")).to_be_visible(timeout=SECONDS * 1000)
        assert where(work / "tags") == "released"
        assert list((work / "tags/state_store/releases").glob("*/nameplate-1.0.0-py3-none-any.whl"))
        assert in_own_process("verify", work / "tags").code == 0


def test_a_page_follows_what_commands_do(page: Page, folder: Path) -> None:
    """An answer on the command line shows on a page that nobody touches (D48) (D-48-07)."""
    (name,) = (path.stem for path in (folder / "halted/state_store/escalations").glob("ESC-*.json"))
    with served(folder) as studio:
        page.goto(f"{studio.address}/p/halted/run")
        expect(page.get_by_text("It waits for an answer.")).to_be_visible()
        answer = in_own_process(
            "resolve", name, "ABANDON_TASK", folder / "halted", "--rationale", "Not worth it.", "--yes"
        )
        assert answer.code == 3, answer
        expect(page.get_by_text("stalled").first).to_be_visible(timeout=5_000)  # a second, on a busy machine
        expect(page.get_by_text("1 abandoned").first).to_be_visible()


def test_a_page_begins_with_what_a_person_has_to_read(
    page: Page, looked_at: ServedStudio, folder_once: Path
) -> None:
    """Of a spec the criteria, of an escalation what failed and who said what; the tree, the examples and the record are a
    click away, and words in backticks are code (D48, F§3.2.4, F§17)."""
    (name,) = (path.stem for path in (folder_once / "halted/state_store/escalations").glob("ESC-*.json"))
    shown = {
        "waits/spec": ".criteria > li",
        f"halted/escalation/{name}": "#failed",
        "done/run": "#release ~ p code",
    }
    folded = {"waits/spec": [".pillar"], f"halted/escalation/{name}": [".said.small"]}
    for address, first in shown.items():
        page.goto(f"{looked_at.address}/p/{address}")
        expect(page.locator(first).first).to_be_visible()
        for one in folded.get(address, []):
            assert page.locator(one).count()
            expect(page.locator(f"{one} >> visible=true")).to_have_count(0)


def test_a_stopped_run_is_dismissed_and_comes_back(page: Page, folder: Path) -> None:
    """In this browser, until somebody wants to see it again; the project stays in its list (D48)."""
    cut_after(5, folder / "done/.specwright/wire.db")
    with served(folder) as studio:
        page.goto(studio.address)
        stopped, again = page.locator("[data-stop]"), page.get_by_role("button", name="Show 1 dismissed")
        expect(again).to_be_hidden()
        page.get_by_role("button", name="Dismiss").click()
        for _ in range(2):
            expect(stopped).to_be_hidden()
            expect(page.locator("#project-done")).to_be_visible()
            page.reload()
        again.click()
        expect(stopped).to_be_visible()
        expect(again).to_be_hidden()


def test_a_studio_that_is_killed_shows_it_and_loses_nothing(page: Page, folder: Path) -> None:
    """The run that it started goes on; started again, the page goes on by itself (D48)."""
    with served(folder) as studio:
        port = urlsplit(studio.address).port or 0
        page.goto(f"{studio.address}/p/waits/spec")
        page.get_by_role("button", name="Approve").click()
        page.wait_for_url("**/run", timeout=SECONDS * 1000)
        studio.kill()
        expect(page.get_by_text("The studio does not answer.")).to_be_visible(timeout=15_000)
        with served(folder, port=port):
            expect(page.get_by_text("The studio does not answer.")).to_be_hidden(timeout=15_000)
            expect(page.get_by_text("Version 1.0.0 is released.")).to_be_visible(timeout=SECONDS * 1000)


@pytest.mark.parametrize(("scheme", "width"), [nightly("light", 1280, timeout=300), ("dark", 360)])
def test_no_page_has_a_serious_finding_of_axe(
    browser: Browser,
    every_stage: tuple[ServedStudio, Path],
    scheme: Literal["light", "dark"],
    width: int,
) -> None:
    """Every kind of page, wide and as wide as a phone; at no width it has to be scrolled sideways (D48) (D-48-10)."""
    studio, work = every_stage
    (escalation,) = (path.stem for path in (work / "halted/state_store/escalations").glob("ESC-*.json"))
    (raised,) = specwright("exceptions", "list", work / "raised", "--json").document["exceptions"]
    pages = ["/", "/nowhere", "/p/waits/spec", "/p/waits/run", f"/p/halted/escalation/{escalation}"]
    pages += [
        f"/p/done/{one}" for one in ("run", "tasks", "task/TSK-001", "spec", "modules", "module/initials")
    ]
    pages += [f"/p/done/{one}" for one in ("log", "costs", "costs/task")]
    pages += ["/p/fresh/run", "/p/raised/run", f"/p/raised/exception/{raised['exception_id']}"]
    found: dict[str, list[str]] = {}
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
    page = context.new_page()
    for address in pages:
        page.set_viewport_size({"width": width, "height": 800})
        opened = page.goto(studio.address + address)
        assert opened is not None
        assert opened.status == (404 if address == "/nowhere" else 200), address
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        if said := complaints(page):
            found[address] = said
        for other in (width, 768):
            page.set_viewport_size({"width": other, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{address}, {other}"
            assert page.evaluate(_TABS_IN_SIGHT), f"{address}, {other}"
    context.close()
    assert found == {}


def test_the_first_page_is_small_and_works_offline(page: Page, looked_at: ServedStudio) -> None:
    """All that is transferred comes from the studio and is under 300 kB (D48) (D-48-05, D-48-10)."""
    answers: list[Response] = []
    page.on("response", lambda one: answers.append(one))
    page.goto(looked_at.address)
    sizes = {one.url: len(one.body()) for one in answers}
    assert all(url.startswith(looked_at.address) for url in sizes)
    assert sum(sizes.values()) < LARGEST_TRANSFER


def test_the_static_export_opens_from_the_disk(page: Page, folder_once: Path, tmp_path: Path) -> None:
    """Every link leads to a file that opens, and nothing is asked of anybody else (D48) (D-48-09)."""
    out = tmp_path / "pages"
    assert specwright("export-html", folder_once / "done", out).code == 0
    asked: list[Request] = []
    page.on("request", lambda one: asked.append(one))
    page.goto((out / "run.html").as_uri())
    seen, todo = set[str](), [(out / "index.html").as_uri(), page.url]
    while todo:
        address = todo.pop()
        if address in seen:
            continue
        seen.add(address)
        page.goto(address)
        expect(page).to_have_title(re.compile("."))  # the index leads on by itself
        links = page.evaluate(_LINKS)
        todo += [one.partition("#")[0] for one in links if one.endswith(".html") or ".html#" in one]
    assert {file.as_uri() for file in out.rglob("*.html")} - seen == set()
    assert {urlsplit(one.url).scheme for one in asked} == {"file"}
    assert sum(file.stat().st_size for file in out.rglob("*") if file.is_file()) < 5_000_000


def test_the_keyboard_leads_to_the_content_and_to_the_decision(page: Page, looked_at: ServedStudio) -> None:
    """The first key skips to the content; the focus is seen (D48)."""
    page.goto(looked_at.address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/**")
