"""What SPEC.md asks for and cannot be built is told at the gate, also where the researcher passed over it."""

import pytest

from specwright.domain.interfaces.records import OutsideScope
from specwright.domain.spec.departures import OutsideKind, passed_over
from testkit.paths import ROOT

ASKED = {
    OutsideKind.CONCURRENCY: (
        "It downloads the pages in parallel.",
        "Up to eight threads read the files.",
        "Checks run concurrently, so that a slow host holds nobody up.",
        "The index is built by a pool of four workers.",
        "It uses all cores of the machine.",
        "Two users can edit a list at the same time.",
        "Parsing is multithreaded.",
        "Large folders are parallelised over several processes.",
        "It handles race conditions between writers.",
        "All hosts are asked simultaneously.",
    ),
    OutsideKind.SERVICE: (
        "It runs as a daemon and mails me what is new.",
        "Every ten minutes it looks for new notes.",
        "A scheduler starts the report each Monday at nine.",
        "It keeps running and watches the folder.",
        "The program stays resident and answers at once.",
        "As soon as a file in the inbox changes, the index is updated.",
        "It polls the server for new messages.",
        "Clients get live updates over a WebSocket.",
        "The clean-up is a background job.",
        "It should work 24/7.",
    ),
    OutsideKind.WINDOWS: (
        "A window shows the list, with a button for each entry.",
        "The GUI is made with Tkinter.",
        "I drag and drop files onto it.",
        "A click on a row opens the note.",
        "There is a dashboard with charts.",
        "It has a tray icon.",
        "An Android app shows the same.",
        "A dialog asks for the name.",
        "I want a web UI for my recipes.",
        "Errors are shown in a pop-up.",
    ),
}
BUILT = (
    "It reads all files below a folder and counts the words of each.",
    "At most one request a second goes to a host.",
    "A window of seven days slides over the dates.",
    "The command prints a table, one row at a time.",
    "The HTTP API has a route for each list.",
    "There is no GUI.",
    "It does not run in the background.",
    "Amounts are Decimals, rounded half to even.",
    "It asks each web page by HEAD, and follows redirects.",
    "It sends at most one request every second.",
    "It works without a window, a button or a mouse.",
    "Times are given in UTC.",
)


def scopes(*quotes: str) -> list[OutsideScope]:
    """What a researcher said of sentences."""
    return [OutsideScope(quote=quote, why="It cannot be built.") for quote in quotes]


@pytest.mark.parametrize("kind", OutsideKind)
def test_ten_sentences_of_each_kind_are_told_unless_the_researcher_named_them(kind: OutsideKind):
    """D-45-09: with the line and the sentence; what `outside` quotes is told there."""
    text = "# Thing\n\n" + "\n".join(f"- {sentence}" for sentence in ASKED[kind])
    found = passed_over(text, [])
    assert {(one.field, kind.what in one.message) for one in found if kind.what in one.message} == {
        (f"SPEC.md line {line}", True) for line in range(3, 13)
    }
    assert all(one.severity == "WARNING" for one in found)
    assert passed_over(text, scopes(*ASKED[kind])) == []
    assert passed_over(text, scopes(*ASKED[kind][1:]))[0].message.endswith(ASKED[kind][0])


def test_two_programs_at_one_moment_have_an_entry_that_says_what_is_built():
    """D-45-09: the words of the warning are those of the researcher's request."""
    sentence = "Two commands that are started at the same moment lose nothing."
    (told,) = passed_over(f"# Thing\n\n{sentence}\n", [])
    assert (
        f"this asks for {OutsideKind.CONCURRENCY.what}, which is not built or cannot be shown" in told.message
    )
    entry = OutsideScope(quote=sentence, why="No test shows it.", instead="Each call waits for a lock.")
    assert passed_over(f"# Thing\n\n{sentence}\n", [entry]) == []


@pytest.mark.parametrize("sentence", BUILT)
def test_what_can_be_built_or_is_not_wanted_is_not_told(sentence: str):
    """D-45-09: a warning that is wrong makes the others worth less."""
    assert passed_over(f"# Thing\n\n{sentence}\n", []) == []


def test_a_section_of_what_is_not_wanted_is_passed_over():
    """D-45-09: as SPEC.md files end."""
    assert passed_over("# Thing\n\n## Out of scope\n\n- A GUI with buttons.\n", []) == []


def test_the_examples_ask_for_nothing_of_the_kind():
    """D-45-09: measured on the SPEC.md files that are here."""
    found = {
        path.parent.name: [one.message for one in passed_over(path.read_text(encoding="utf-8"), [])]
        for path in sorted((ROOT / "examples").glob("*/SPEC.md"))
    }
    assert len(found) >= 8
    assert {name: told for name, told in found.items() if told} == {}
