"""Every action of the studio is a command, and nothing is decided by an old page (DESIGN §13.5)."""

import html
import json
import re
import shlex
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest
from starlette.testclient import TestClient

from specwright.bootstrap.views import stored_wires
from specwright.errors import InputError
from specwright.ports import Role
from specwright.studio.actions import FormFields, command_of
from testkit.cli.commands import specwright
from testkit.loop.raised_product import raised_once
from testkit.studio import send, shown_of

__all__ = ["raised_once"]

OPEN_STUDIO = Callable[..., TestClient]
SHA = "a" * 64
EXAMPLES = """# TSK-001 Initials

Provides:

- `initials(name: str) -> str`

## Two words

Shows criterion 1.

```python
from nameplate import initials

initials('ada lovelace')
```

```text
'AL'
```

## No letter

Shows criterion 2.

```python
from nameplate import initials

initials('42')
```

```text
ValueError
```
"""


def words(action: str, /, **fields: str) -> tuple[str, ...]:
    """The command that a form becomes."""
    return command_of(action, FormFields(Path("trips"), [*fields.items()])).words


def test_comments_at_their_places_become_one_amendment() -> None:
    """One line each, the general words last (D48, F§3.2.4)."""
    fields = {"sha256": SHA, "at.TSK-001 criterion 2": "no\nzeros", "at.EPC-001": " ", "words": "Shorter."}
    made = command_of("amend", FormFields(Path("trips"), [*fields.items()])).words
    assert made == ("amend", "trips", "--feedback=TSK-001 criterion 2: no zeros\nShorter.", "--sha256", SHA)


def test_a_text_that_looks_like_an_option_stays_a_text() -> None:
    """It is part of one word (D48)."""
    assert words("reject", sha256=SHA, words="--model=openai:x")[2] == "--reasons=--model=openai:x"


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        ("approve", {}),
        ("approve", {"sha256": "zz"}),
        ("resolve", {"escalation": "ESC-../../x", "action": "RETRY", "sha256": SHA}),
        ("resolve", {"escalation": "ESC-00000000", "action": "--help", "sha256": SHA}),
        ("exception-defer", {"exception": "ICE-1;rm", "sha256": SHA}),
        ("run", {"model": "playbook:../../etc"}),
        ("run", {"model": "--store=postgresql://x"}),
        ("report", {"module": "../x", "example": "x"}),
        ("amend-examples", {"examples": "# Acceptance"}),
        ("deprecate", {"module": "../x", "reason": "old", "migration_note": "none"}),
        ("deprecate", {"module": "--json", "reason": "old", "migration_note": "none"}),
        ("erase", {}),
    ],
)
def test_a_form_that_makes_no_command_is_refused(action: str, fields: dict[str, str]) -> None:
    """Before anything is started (D48)."""
    with pytest.raises(InputError):
        words(action, **fields)


def test_the_form_of_a_run_makes_its_options(tmp_path: Path, studio: OPEN_STUDIO) -> None:
    """Each field of the page, and each role that it offers to ask anew (D48)."""
    specwright("init", tmp_path / "new")
    page = studio(tmp_path).get("/p/new/run").text
    offered = re.findall(r"<option>([a-z]+)</option>", page)
    assert offered == list(Role)
    fields = {"model": "openai:x", "budget_usd": "1.5", "budget_tokens": "9000", "retry": offered[0]}
    assert all(f'name="{name}"' in page for name in fields)
    options = ("--model", "openai:x", "--budget-tokens=9000", "--budget-usd=1.5", f"--retry={offered[0]}")
    assert words("run", **fields) == ("run", "trips", *options)


def test_a_decision_leaves_the_wires_of_the_command_that_its_page_shows(
    raised_once: Path, tmp_path: Path, studio: OPEN_STUDIO
) -> None:
    """In a browser and in a shell on two copies, but for ids and times (D48) (D-48-03)."""
    for name in ("browser", "shell"):
        shutil.copytree(raised_once, tmp_path / name, symlinks=True)
    browser = studio(tmp_path)
    (raised,) = specwright("exceptions", "list", raised_once, "--json").document["exceptions"]
    page = browser.get(f"/p/browser/exception/{raised['exception_id']}").text
    (shown,) = re.findall(r'id="exception-hold".*?"command"><span.*?</span>([^<]+)', page, re.DOTALL)
    words = [word.replace("/browser", "/shell") for word in shlex.split(html.unescape(shown))]
    form = {"exception": raised["exception_id"], "reason": "why", "sha256": shown_of(page)}
    assert send(browser, "/p/browser/do/exception-hold", form).status_code == 303
    assert specwright(*words[1:], "--reason", "why").code == 3
    logs = [
        [
            re.sub(r"[0-9a-f]{8,}|wire_\w+|[0-9]{4}-[^\"]*Z", "", json.dumps(one["wire"]))
            for one in stored_wires(place)
        ]
        for place in (raised_once, tmp_path / "browser", tmp_path / "shell")
    ]
    assert len(logs[0]) < len(logs[1])
    assert logs[1] == logs[2]


def test_the_fields_of_an_answer_make_its_payload() -> None:
    """Texts, lines, files and JSON; what is left empty is left out (D48, F§17)."""
    fields = [
        ("escalation", "ESC-00000000"),
        ("action", "PROVIDE_FIX"),
        ("sha256", SHA),
        ("text.rationale", " why\r\nnot "),
        ("text.module", " "),
        ("lines.strike_examples", "one\r\n\r\n two "),
        ("file.implementation/__init__.py", "x = 1\r\n"),
        ("json.new_tasks", '[{"name": "n"}]'),
    ]
    made = command_of("resolve", FormFields(Path("trips"), fields))
    assert made.words[:6] == ("resolve", "ESC-00000000", "PROVIDE_FIX", "trips", "--payload", "-")
    assert json.loads(made.given) == {
        "rationale": "why\nnot",
        "strike_examples": ["one", "two"],
        "fix_artifacts": {"implementation/__init__.py": "x = 1\n"},
        "new_tasks": [{"name": "n"}],
    }
    with pytest.raises(InputError, match="no JSON"):
        command_of("resolve", FormFields(Path("trips"), [*fields[:3], ("json.new_tasks", "[")]))


@pytest.mark.slow
def test_an_old_page_decides_nothing(folder: Path, studio: OPEN_STUDIO) -> None:
    """The spec was amended since the page was opened: no button of it counts (D48) (D-48-04)."""
    browser = studio(folder)
    shown = shown_of(browser.get("/p/waits/spec").text)
    (folder / "acceptance.md").write_text(EXAMPLES)
    assert specwright("amend", folder / "waits", "--examples", folder / "acceptance.md").code == 3
    for action in ("approve", "amend", "reject", "amend-examples"):
        form = {"sha256": shown, "words": "Shorter.", "examples": EXAMPLES}
        answer = send(browser, f"/p/waits/do/{action}", form)
        assert answer.status_code == 409, action
        assert "is not what was shown" in answer.text or "not approved" in answer.text, answer.text
    assert specwright("status", folder / "waits", "--json").document["where"] == "approval"


@pytest.mark.slow
def test_an_approval_in_the_browser_builds_the_product(folder: Path, studio: OPEN_STUDIO) -> None:
    """The answer comes as soon as the approval is in the log; the command goes on (D48) (D-48-03)."""
    browser = studio(folder)
    answer = send(browser, "/p/waits/do/approve", {"sha256": shown_of(browser.get("/p/waits/spec").text)})
    assert (answer.status_code, answer.headers["location"]) == (303, "/p/waits/run")
    assert "waits for approval" not in browser.get("/p/waits/run").text


@pytest.mark.nightly
def test_a_module_is_retired_on_its_page(folder: Path, studio: OPEN_STUDIO) -> None:
    """As `deprecate` does it, and `deprecate --undo` (D48, F§13)."""
    browser = studio(folder)
    page = browser.get("/p/done/module/initials").text
    (ref,) = re.findall(r'name="module" value="(MM-[0-9a-f]{8}@[0-9.]+)"', page)
    form = {"module": ref, "reason": "Too few.", "migration_note": "Take them all.", "next": f"module/{ref}"}
    answer = send(browser, "/p/done/do/deprecate", form)
    assert (answer.status_code, unquote(answer.headers["location"])) == (303, f"/p/done/module/{ref}")
    after = browser.get(f"/p/done/module/{ref}").text
    assert "Too few." in after
    assert "Retire this version" not in after
    undo = {"module": ref, "undo": "1", "reason": "It was the wrong one."}
    assert send(browser, "/p/done/do/deprecate", undo).status_code == 303
    assert "Sealed again" in browser.get(f"/p/done/module/{ref}").text


@pytest.mark.slow
def test_edited_examples_are_handed_in_at_the_gate(folder: Path, studio: OPEN_STUDIO) -> None:
    """What `amend --examples` refuses is refused in its words, under the name of the file (D48)."""
    browser = studio(folder)
    page = browser.get("/p/waits/spec").text
    answer = send(browser, "/p/waits/do/amend-examples", {"sha256": shown_of(page), "examples": EXAMPLES})
    assert answer.status_code == 303, answer.text
    after = browser.get("/p/waits/spec").text
    assert "Two words" in after
    assert "(a person's)" in after
    answer = send(browser, "/p/waits/do/amend-examples", {"sha256": shown_of(after), "examples": "nothing"})
    assert answer.status_code == 422
    assert "acceptance.md" in answer.text
    assert "Where: <code>/dev/stdin" not in answer.text


def escalation_in(page: str) -> str:
    """The id of the one escalation that a page names."""
    (name,) = set(re.findall(r"ESC-[0-9a-f]{8}", page))
    return name


@pytest.mark.slow
def test_of_two_answers_one_counts_and_the_other_person_is_told(folder: Path, studio: OPEN_STUDIO) -> None:
    """At the same moment, from two browsers (D48) (D-48-04)."""
    first, second = studio(folder), studio(folder)
    name = escalation_in(first.get("/").text)
    shown = shown_of(first.get(f"/p/halted/escalation/{name}").text)
    answers = list[tuple[int, str]]()

    def answer(browser: TestClient, why: str) -> None:
        form = {"escalation": name, "action": "ABANDON_TASK", "text.rationale": why, "sha256": shown}
        got = send(browser, "/p/halted/do/resolve", form)
        answers.append((got.status_code, got.text))

    threads = [
        threading.Thread(target=answer, args=(browser, why))
        for browser, why in ((first, "It is not worth it."), (second, "Nobody asked for it."))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    told = next(text for status, text in answers if status == 409)
    assert sorted(status for status, _ in answers) == [303, 409]
    record = json.loads((folder / f"halted/state_store/resolutions/{name}.json").read_text())
    assert "Somebody decided before you" in told
    assert record["payload"]["rationale"] in told
