"""Names that want out of their folder: every one gets a folder of its own, or an error, and then no file (F§4.1, D1).

Each is the name of stories and tasks at once; what `test_names` shows with words is shown here with whatever Unicode,
file systems, shells and terminals make of a name.
"""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from specwright.domain.spec.product_spec import ProductSpec
from specwright.domain.tasks.task_file import lay_out
from specwright.errors import InputError
from testkit.domain.product_specs import spec_of, spec_of_stories
from testkit.loop.initialisation import initialised, refused


@pytest.mark.parametrize(
    ("names", "folders"),
    [
        (["\u202elogin\u202c", "login"], ["login", "login-2"]),  # right to left
        (["\u2066Log in\u2069", "Log in"], ["log-in", "log-in-2"]),
        (["Log\u200bin", "Log\ufeffin", "Log\u00adin"], ["log-in", "log-in-2", "log-in-3"]),  # zero width
        (["Cafe\u0301", "Caf\u00e9"], ["cafe", "caf"]),  # combining and composed
        (["\u0301", "\u0302"], ["n-", "n-"]),
        (["👩\u200d👩\u200d👧", "👩👩👧"], ["n-", "n-"]),  # joined and not
        (["👩\u200d🚀 crew", "👨\u200d🚀 crew"], ["crew", "crew-2"]),
        (["🇩🇪", "🇩🇪"], ["n-", "n-"]),  # the second gets a suffix
        (["Ｌｏｇｉｎ", "Login"], ["n-", "login"]),  # full width
        (
            ["ıstanbul", "İstanbul", "Istanbul"],
            ["stanbul", "i-stanbul", "istanbul"],
        ),  # with and without a dot
        (["\u212aelvin", "Kelvin"], ["kelvin", "kelvin-2"]),  # the sign for it is lowered to a letter
        (["ß", "ẞ"], ["n-", "n-"]),
        (["ﬁle", "file"], ["le", "file"]),  # a ligature
        (["Ωmega", "Ωmega"], ["mega", "mega-2"]),  # ohm and omega
        (["aux.txt", "AUX.TXT ", "aux txt"], ["aux-txt", "aux-txt-2", "aux-txt-3"]),  # reserved on Windows
        (["NUL.tar.gz", "COM1.log", "LPT9"], ["nul-tar-gz", "com1-log", "lpt9"]),
        (["con:", "prn\u00a0", "CLOCK$"], ["con", "prn", "clock"]),
        (["file::$DATA", "file.::$data"], ["file-data", "file-data-2"]),
        (["-rf", "--help", "rf"], ["rf", "help", "rf-2"]),  # options
        (["@file", "~root", "$HOME", "`id`"], ["file", "root", "home", "id"]),
        (["*?", "|"], ["n-", "n-"]),
        (["%2e%2e%2f", "%00", "%"], ["2e-2e-2f", "00", "n-"]),  # percent
        (["line\nbreak", "line\r\nbreak"], ["line-break", "line-break-2"]),
        (["tab\there", "\x1b[31mred\x1b[0m", "a\u2028b"], ["tab-here", "31mred-0m", "a-b"]),
        (["a\x00b", "a\u2400b"], ["a-b", "a-b-2"]),
        (["x" * 4000, "x" * 4001], ["x" * 56 + "-", "x" * 56 + "-"]),
        (["a" * 64, "a" * 64], ["a" * 64, "a" * 62 + "-2"]),  # the suffix stays within 64
        (["T-core-tables-s-001", "001", "1"], ["t-core-tables-s-001", "001", "1"]),  # looks like an id
        (["a-2", "a", "a"], ["a-2", "a", "a-3"]),
        (["b", "b", "b-2"], ["b", "b-3", "b-2"]),
        (["\u3000name\u3000", "na\u00efve", "{name}", "%s"], ["name", "na-ve", "name-2", "s"]),
        (["https://x.y/z?q=1#f", "C:", "\\\\host\\share"], ["https-x-y-z-q-1-f", "c", "host-share"]),
        (["مرحبا", "שלום", "\u202eשלום"], ["n-", "n-", "n-"]),
        (["٣", "³", "3"], ["n-", "n-", "3"]),  # digits that are none here
        (["state_machine.json", ".specwright", ".git"], ["state-machine-json", "specwright", "git"]),
    ],
)
def test_no_name_leads_out_of_its_folder_or_into_another(tmp_path: Path, names, folders):
    """F-4.1-02, F-4.1-04, F-4.1-05, D-01: tasks and stories by such names, each in a folder of its own; twice the same."""
    spec = spec_of([("Core", [("Tables", [(name, names) for name in names])])])
    found = initialised(tmp_path, spec)
    places = [Path(name).parts for name in found]
    assert len(set(found)) == len(names) ** 2
    assert {place[:2] for place in places} == {("core", "tables")}
    for level in (2, 3):
        shown = list(dict.fromkeys(place[level] for place in lay_out_paths(spec)))
        assert len(shown) == len(set(shown)) == len(names)
        assert all(_SLUG.fullmatch(folder) for folder in shown)
        assert [_matches(*pair) for pair in zip(shown, folders, strict=True)] == [True] * len(names)
    assert found == sorted("/".join(place) for place in lay_out_paths(spec))
    assert [folder.name for folder in (tmp_path / "project").iterdir()] == ["core"]


_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


def lay_out_paths(spec: ProductSpec) -> list[tuple[str, ...]]:
    """Where the task files of a spec go, in declaration order."""
    return [Path(place.path).parts for place in lay_out(spec)]


def _matches(folder: str, expected: str) -> bool:
    """A hashed folder is given by its beginning."""
    return folder.startswith(expected) if expected.endswith("-") else folder == expected


@pytest.mark.parametrize("name", ["\u202e\u202c", "\u200b", "\u2060\ufeff", "\x1b"])
def test_a_name_of_which_nothing_can_be_seen_is_refused(name):
    """F-4.1-13, F-4.1-14: the error says by which ids and levels the task is found, since its name says nothing."""
    with pytest.raises(ValidationError, match="no visible character"):
        spec_of_stories(("Import", ["One", name]))
    spec = spec_of_stories(("Import", ["One", "Two"]))
    tasks = spec.pillars[0].epics[0].stories[0].tasks
    tasks[1] = tasks[1].model_copy(update={"name": name})
    with pytest.raises(InputError) as caught:
        lay_out(spec)
    for told in ("missing: name", "T-core-tables-import-002", "TSK-002", "Import"):
        assert told in str(caught.value)


@pytest.mark.parametrize(
    "hostile",
    ["\u202eevil\u202c", "two\nlines", "a" * 4000, "\x1b[2J", "zero\u200bwidth", "👩\u200d🚀" * 400],
)
def test_an_error_about_a_hostile_name_is_short_and_shows_both_tasks(tmp_path: Path, hostile):
    """F-3.3-04, F-4.1-14: what is printed steers no terminal, fits on a page, and names both tasks with their ids."""
    first = [("c", [("s", [f"First {hostile}"])])]
    second = [("b-c", [("s", [f"Second {hostile}"])])]
    error = refused(tmp_path, spec_of([("a-b", first), ("a", second)]))
    told = str(error)
    assert len(told) < 1000
    assert told.count("\n") == 2
    assert all(c.isprintable() or c == "\n" for c in told)
    for part in ("T-a-b-c-s-001", "'First ", "'Second ", "TSK-001", "TSK-002", "a-b / c / s", "a / b-c / s"):
        assert part in told
