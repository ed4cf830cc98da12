"""The pages of the studio show projects as their logs tell them (DESIGN §13.5)."""

import html
import json
import re
import shlex
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from testkit.cli.commands import refusal, specwright
from testkit.loop.raised_product import raised_once
from testkit.studio import cut_after, send

__all__ = ["raised_once"]

OPEN_STUDIO = Callable[..., TestClient]


class _Links(HTMLParser):
    """The links of a page to other pages of the studio."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value and not value.startswith("#"):
                self.found.add(value.partition("#")[0])


def links(page: str) -> set[str]:
    """The links of a page."""
    parser = _Links()
    parser.feed(page)
    return {one for one in parser.found if one}


def test_what_needs_a_person_stands_first_and_the_oldest_on_top(
    folder: Path, raised_once: Path, studio: OPEN_STUDIO
) -> None:
    """An approval, an escalation and an exception, each with its question, its page and its command; runs that a budget
    stopped have their own list (D48) (D-48-01)."""
    for name, at in (("late", "2030-01-02T00:00:00Z"), ("soon", "2030-01-01T00:00:00Z")):
        stopped = Path(shutil.copytree(folder / "done", folder / name, symlinks=True))
        cut_after(5, stopped / ".specwright/wire.db")
        stop = {"kind": "budget", "reason": f"{name} is over", "at": at, "options": "--budget-tokens 9"}
        (stopped / ".specwright/last_stop.json").write_text(json.dumps(stop))
    page = studio(folder, raised_once).get("/").text
    cards = re.findall(r'<li class="card \w+".*?</li>', page, re.DOTALL)
    kind, since, question, link, command = (
        [re.findall(pattern, card)[0] for card in cards]
        for pattern in (
            r'"badge \w+">(\w+)',
            r'datetime="([^"]+)',
            r'"question">([^<]+)',
            r'"button"[^>]* href="([^"]+)',
            r'"command"><span.*?</span>([^<]+)',
        )
    )
    assert (sorted(kind[:3]), kind[3:]) == (["approval", "escalation", "exception"], ["run", "run"])
    assert (since[:3], since[3:]) == (sorted(since[:3]), sorted(since[3:]))
    told = dict(zip(link, zip(question, command, strict=True), strict=True))
    assert told["/p/waits/spec"] == (
        "Nameplate: 1 task in 1 epic waits for your approval. 2 criteria, 0 executable: 0 examples.",
        f"specwright approve {folder / 'waits'}",
    )
    assert told["/p/soon/run"] == (
        "The run stopped: soon is over.",
        f"specwright run {folder / 'soon'} --budget-tokens 9",
    )
    (halted,) = (where for where in link if re.fullmatch(r"/p/halted/escalation/ESC-[0-9a-f]{8}", where))
    assert told[halted][0].startswith("Decide how shout of TSK-001 (Initials) goes on")


def test_every_link_of_every_page_leads_somewhere(folder_once: Path, studio: OPEN_STUDIO) -> None:
    """From the first page on, over all pages that can be reached (D48)."""
    browser, seen, todo = studio(folder_once), set[str](), ["/"]
    while todo:
        address = todo.pop()
        if address in seen:
            continue
        seen.add(address)
        answer = browser.get(address)
        assert answer.status_code == 200, address
        if "html" in answer.headers["content-type"]:
            todo += links(answer.text)
    kinds = {address.split("/")[3].partition("?")[0] for address in seen if address.startswith("/p/")}
    assert kinds >= {"run", "spec", "task", "escalation", "modules", "module", "log", "costs"}


@pytest.mark.parametrize("name", ["waits", "halted", "done"])
def test_the_status_is_that_of_the_command_line(name: str, folder_once: Path, studio: OPEN_STUDIO) -> None:
    """The page of a run says what `status` says, and asks again each second (D48, D-48-07)."""
    where = specwright("status", folder_once / name, "--json").document["where"]
    page = studio(folder_once).get(f"/p/{name}/run").text
    assert f"<span>{where.replace('_', ' ')}</span>" in page
    assert re.findall('hx-trigger="(every [^"]*)"', page) == ["every 1s"]


COMMANDS = re.compile(r'class="command"><span[^>]*>[^<]*</span>(.*?)</span>', re.DOTALL)


def test_each_form_shows_the_command_that_does_the_same(
    folder_once: Path, raised_once: Path, studio: OPEN_STUDIO
) -> None:
    """The command line takes it, with every option that it needs (D-48-03)."""
    (escalation,) = (
        path.stem for path in (folder_once / "halted/state_store/escalations").glob("ESC-*.json")
    )
    (raised,) = specwright("exceptions", "list", raised_once, "--json").document["exceptions"]
    others = studio(raised_once)
    names = ("waits/run", "waits/spec", "done/run", "done/module/initials", f"halted/escalation/{escalation}")
    pages = [(studio(folder_once), f"/p/{name}") for name in names]
    pages += [(others, f"/p/{raised_once.name}/exception/{raised['exception_id']}")]
    answers = html.unescape(pages[4][0].get(pages[4][1]).text)
    assert re.search(r'resolve ESC-\w+ ABANDON_TASK \S+ --rationale "why"', answers)
    assert "--payload answer.json" in answers
    wrong, shown = list[tuple[str, str]](), set[str]()
    for browser, address in pages:
        answer = browser.get(address)
        assert answer.status_code == 200, address
        page = answer.text
        commands = [shlex.split(html.unescape(one)) for one in COMMANDS.findall(page)]
        known = [words[1:] for words in commands if words[0] == "specwright"]
        wrong += [(address, said) for words in known if (said := refusal(words))]
        forms = set(re.findall(r"/do/([a-z]+)", page))
        words = {word for one in commands for word in one}
        wrong += [(address, form) for form in forms if CALLED.get(form, form) not in words]
        shown |= forms
    assert wrong == []
    assert shown >= {"approve", "amend", "reject", "resolve", "exception", "change", "report", "deprecate"}


CALLED = {"abandon": "--abandon", "exception": "exceptions"}
"""What stands in the command of an action that is called otherwise."""


def test_a_module_shows_contract_evidence_and_debate_and_the_way_back(
    folder_once: Path, studio: OPEN_STUDIO
) -> None:
    """As `module`, `module --debate` and `module --trail` do (D48)."""
    page = studio(folder_once).get("/p/done/module/initials").text
    for words in ("has at least one letter", "7 of 7 tests passed", "Challenger", "Arbiter", "TSK-001"):
        assert words in page


def test_a_task_says_why_it_is_blocked_and_what_shows_its_criteria(
    folder_once: Path, studio: OPEN_STUDIO
) -> None:
    """As `tasks` and `trace` do (D48)."""
    browser = studio(folder_once)
    assert re.search(r"waits for TSK-001 which waits for ESC-\w+", browser.get("/p/halted/run").text)
    page = browser.get("/p/done/task/TSK-001").text
    (task,) = specwright("trace", "TSK-001", folder_once / "done", "--json").document["tasks"]
    assert {one["status"].lower() for one in task["criteria"]} == {
        *re.findall(r"</span> <span class=\"badge \w+\"><span[^>]*>.</span><span>(\w+)</span>", page)
    }


def test_what_is_not_there_is_called_so(folder_once: Path, studio: OPEN_STUDIO) -> None:
    """Nothing was tried, so nothing is "not done" (D48)."""
    browser = studio(folder_once)
    for address in ("/nowhere", "/p/done/nowhere", "/p/done/task/TSK-999", "/p/done/log/999"):
        answer = browser.get(address)
        assert (answer.status_code, "<h1>No such page</h1>" in answer.text) == (404, True), address


def test_a_damaged_project_says_so_and_hides_no_other(folder: Path, studio: OPEN_STUDIO) -> None:
    """The first page shows it beside the others (D48)."""
    (folder / "done" / ".specwright" / "wire.db").write_bytes(b"no database at all")
    browser = studio(folder)
    page = browser.get("/").text
    assert "damaged" in page
    assert "waits for your approval." in page
    answer = browser.get("/p/done/run")
    assert (answer.status_code, "<h1>Not possible</h1>" in answer.text) == (409, True)


def test_a_project_in_which_no_run_has_begun_offers_one(tmp_path: Path, studio: OPEN_STUDIO) -> None:
    """And shows the command, and what is still missing; no link leads to a page that is not there yet (D48)."""
    specwright("init", tmp_path / "new")
    browser = studio(tmp_path)
    page = browser.get("/p/new/run").text
    assert "No run has begun here" in page
    assert "/SPEC.md</code> first" in page
    assert f"specwright run {tmp_path / 'new'}" in page
    assert {one: browser.get(one).status_code for one in links(page)} == dict.fromkeys(links(page), 200)
    (tmp_path / "new/SPEC.md").write_text("# Tags\n\nMake the initials of a name.\n")
    assert "/SPEC.md</code> first" not in browser.get("/p/new/run").text
    assert "No run has begun here" in browser.get("/").text


def test_a_run_that_stopped_says_why(released_once: Path, tmp_path: Path, studio: OPEN_STUDIO) -> None:
    """And nothing runs unless a process drives it (D48, F§3.4)."""
    directory = Path(shutil.copytree(released_once, tmp_path / "stopped"))
    cut_after(5, directory / ".specwright/wire.db")
    browser = studio(tmp_path)
    home = browser.get("/").text
    assert "<span>running</span>" not in home
    assert "<span>stopped</span>" in home
    stop = {"kind": "budget", "reason": "the next call may exceed it", "options": "--budget-tokens 9000"}
    (directory / ".specwright/last_stop.json").write_text(json.dumps(stop))
    assert "The run stopped: the next call may exceed it." in browser.get("/").text
    page = browser.get("/p/stopped/run").text
    assert "The run stopped: the next call may exceed it." in page
    assert "--budget-tokens 9000" in page


def test_a_module_that_was_laid_out_to_be_corrected_is_no_project(
    tmp_path: Path, studio: OPEN_STUDIO
) -> None:
    """It has a contract, and the settings of its project (D48)."""
    specwright("init", tmp_path / "own")
    fix = tmp_path / "fix"
    fix.mkdir()
    (fix / "contract.json").write_text("{}")
    (fix / "specwright.toml").write_text("")
    home = studio(tmp_path).get("/").text
    assert "/p/own/run" in home
    assert "/p/fix/run" not in home


@pytest.mark.slow
def test_a_change_under_way_is_shown_and_given_up(
    released_once: Path, tmp_path: Path, studio: OPEN_STUDIO
) -> None:
    """Beside what is the product until then; an old page gives up no other change (D48, F§14, D-48-04)."""
    directory = Path(shutil.copytree(released_once, tmp_path / "changing"))
    unreachable = 'model = "openai:x"\nbase_url = "http://127.0.0.1:9/v1"\nretry_seconds = 1\n'
    (directory / "specwright.toml").write_text(unreachable)
    assert specwright("change", directory, "--request", "Last letters too").code == 5
    browser = studio(tmp_path)
    page = browser.get("/p/changing/run").text
    assert "Change 1 is under way" in page
    assert "is the product" in page
    (shown,) = set(re.findall(r'name="sha256" value="([0-9a-f]{64})"', page))
    old = send(browser, "/p/changing/do/abandon", {"sha256": "0" * 64})
    assert (old.status_code, "is not what was shown" in old.text) == (409, True)
    specwright("change", directory, "--abandon", "--sha256", "0" * 64).refuses(
        "the change is not what was", code=1
    )
    assert send(browser, "/p/changing/do/abandon", {"sha256": shown}).status_code == 303
    assert "is under way" not in browser.get("/p/changing/run").text
    assert specwright("status", directory, "--json").document["where"] == "released"
