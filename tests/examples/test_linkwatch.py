"""The example linkwatch: SQLite, HTTP and a command, built whole and used on a folder of notes (`examples/linkwatch`)."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from testkit.cli.commands import Told
from testkit.examples.built import built
from testkit.examples.web_server import WebServer, pages
from testkit.paths import ROOT
from testkit.sampling import nightly, slow

__all__ = ["built"]

LINKWATCH = ROOT / "examples/linkwatch"


def command(wheel: str, folder: Path) -> Callable[..., Told]:
    """The installed command of the wheel, run in a folder."""

    def linkwatch(*words: str) -> Told:
        ran = subprocess.run(
            [sys.executable, "-m", "linkwatch", *words],
            capture_output=True,
            text=True,
            env={"PYTHONPATH": wheel},
            cwd=folder,
            timeout=120,
            check=False,
        )
        return Told(ran.returncode, ran.stdout, ran.stderr)

    return linkwatch


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The wheel that the playbook leads to past the real gate."""
    project = tmp_path_factory.mktemp("linkwatch") / "project"
    given = ("--spec", LINKWATCH / "SPEC.md", "--model", f"playbook:{LINKWATCH / 'playbook'}")
    command = [sys.executable, "-m", "specwright.cli"]
    command += map(str, ("run", project, "--approve", "--json", *given))
    told = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    if "too busy" in told.stderr + told.stdout:  # the gate ends such a run, and the next goes on from there
        told = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert told.returncode == 0, told.stderr[-4000:] + told.stdout[-2000:]
    document = json.loads(told.stdout)
    assert document["where"] == "released"
    return document["release"]["wheel"]


@pytest.fixture
def wheel(request: pytest.FixtureRequest, built: Callable[[str], Path]) -> str:
    """That wheel, or the one of the same source that a gate lets through which lets everything pass."""
    if request.param == "judged":
        return request.getfixturevalue("judged")
    (released,) = built("linkwatch").glob("state_store/releases/*/*.whl")
    return str(released)


@pytest.fixture
def hosts() -> Iterator[list[WebServer]]:
    """Ten hosts: each request of the test goes to another one, so that nothing is waited for."""
    with ExitStack() as stack:
        yield [stack.enter_context(pages(f"127.0.0.{place}")) for place in range(2, 12)]


@pytest.mark.parametrize("wheel", [slow("built", timeout=900), nightly("judged", timeout=900)], indirect=True)
def test_dead_moved_slow_refused_looping_and_rate_limited(
    wheel: str, hosts: list[WebServer], tmp_path: Path
) -> None:
    """The command on a folder of notes against hosts that do all that hosts do (D-45-10)."""
    paths = ["200", "404", "410", "301/200", "302/301/200", "no-head", "loop", "slow", "429", "500"]
    links = [f"{host.url}/{path}" for host, path in zip(hosts, paths, strict=True)]
    with pages("127.0.0.12") as closed:
        pass
    notes = tmp_path / "notes"
    (notes / "deep").mkdir(parents=True)
    (notes / "a.md").write_text(
        "\n".join(f"[{path}]({link})" for path, link in zip(paths, links, strict=True))
    )
    (notes / "deep/b.md").write_text(
        f"```\n{links[0]}/code\n```\n{closed.url}/x, http://no-such-host.invalid/"
    )
    (tmp_path / "linkwatch.toml").write_text(
        f'[headers."{hosts[0].url.split("/")[2].split(":")[0]}"]\nX-Mark = "mine"\n'
    )
    linkwatch = command(wheel, tmp_path)
    assert linkwatch("scan", "notes", "--json").document == {
        "files": 2,
        "links": 12,
        "new": 12,
        "forgotten": 0,
    }
    database = ("--db", "notes/linkwatch.db")
    assert linkwatch("report", *database) == Told(0, "", "")

    checked = linkwatch("check", *database, "--json")  # with linkwatch.toml of its folder
    assert checked.document == {"checked": 12, "failed": 8, "fresh": 0, "ignored": 0}, checked.err
    report = linkwatch("report", *database, "--json")
    found = report.document
    assert report.code == 1
    assert [(one["file"], one["line"], one["reason"]) for one in found["dead"]] == [
        ("a.md", 2, "404"),
        ("a.md", 3, "410"),
        ("deep/b.md", 4, "no such host"),
    ]
    assert [(one["line"], one["moved_to"]) for one in found["moved"]] == [(4, f"{hosts[3].url}/200")]
    assert "404" in linkwatch("report", *database).out
    asked = [[(one.method, one.path) for one in host.asked] for host in hosts]
    assert asked[0] == [("HEAD", "/200")]
    assert asked[5] == [("HEAD", "/no-head"), ("GET", "/no-head")]
    assert asked[6] == [("HEAD", "/loop")] * 6
    assert asked[8] == [("HEAD", "/429")]
    assert [one.headers.get("X-Mark") for one in hosts[0].asked] == ["mine"]
    assert [one.headers.get("X-Mark") for one in hosts[1].asked] == [None, None]

    assert linkwatch("check", *database, "--json").document["fresh"] == 12
    assert [len(host.asked) for host in hosts] == [len(one) for one in asked]
    (notes / "a.md").write_text("")
    assert linkwatch("scan", "notes", "--json").document["forgotten"] == 10


@pytest.mark.parametrize("wheel", [nightly("judged", timeout=900)], indirect=True)
def test_wrong_calls_end_with_a_line(wheel: str, tmp_path: Path) -> None:
    """Without a database, with another file, with wrong settings: one line each, no traceback."""
    linkwatch = command(wheel, tmp_path)
    (tmp_path / "diary.db").write_text("Dear diary " * 200)
    (tmp_path / "wrong.toml").write_text("dayz = 3\n")
    for words, code, said in (
        (("report",), 3, "there is no database linkwatch.db; scan a folder first"),
        (("report", "--db", "diary.db"), 3, "diary.db is no database of links"),
        (("scan", "nowhere"), 1, "nowhere is no folder"),
        (("check", "--settings", "wrong.toml"), 2, "dayz"),
        (("check", "--days", "soon"), 2, "soon"),
        ((), 2, "SUBCOMMAND"),
    ):
        ended = linkwatch(*words)
        assert (ended.code, said in ended.err, "Traceback" in ended.err) == (code, True, False), ended
    assert sorted(path.name for path in tmp_path.iterdir()) == ["diary.db", "wrong.toml"]
