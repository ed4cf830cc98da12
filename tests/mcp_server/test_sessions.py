"""A coding agent's session: from a module with faults to a green gate by tool calls alone."""

import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from specwright.mcp_server.call import FUNCTIONS
from specwright.mcp_server.tools import TOOLS
from testkit.mcp import Agent, with_agent
from testkit.paths import ROOT
from testkit.sampling import nightly

MODULES = ROOT / "tests/gate/modules"
TALLY = "modules/tally_words"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A root with a sound module."""
    module = Path(shutil.copytree(MODULES / "tally_words", tmp_path / TALLY))
    (module / "specwright.toml").write_text("gate_fuzz_examples = 50\n")
    return tmp_path


def test_tools_say_what_they_take_give_and_change(tmp_path: Path):
    """Each has a description, two schemas that are valid and hints; those that write are left out on demand (D-50-03)."""

    async def look(agent: Agent) -> None:
        listed = (await agent.client.list_tools()).tools
        assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
        assert {tool.name for tool in listed} == set(FUNCTIONS)
        for tool in listed:
            assert len(tool.description or "") > 40
            for schema in (tool.input_schema, tool.output_schema):
                assert schema is not None
                Draft202012Validator.check_schema(schema)
                assert schema["type"] == "object"
                assert "'title': '" not in str(schema)
            assert tool.input_schema["additionalProperties"] is False
            assert tool.annotations is not None
            destroys = tool.name in {"edit_files", "fix_docstring"}
            assert tool.annotations.destructive_hint is destroys
            assert tool.annotations.read_only_hint is not (destroys or tool.name == "adopt")
            assert tool.annotations.idempotent_hint is (tool.name != "adopt")

    async def look_at_fewer(agent: Agent) -> None:
        names = {tool.name for tool in (await agent.client.list_tools()).tools}
        assert names == {"gate", "gate_package", "explain", "search_index", "read_module", "read_files"}

    with_agent(tmp_path, look)
    with_agent(tmp_path, look_at_fewer, "--read-only")


@pytest.mark.slow
@pytest.mark.parametrize("http", [False, nightly(True)], ids=["stdio", "http"])
def test_an_agent_comes_from_faults_to_a_green_gate_by_tool_calls_alone(place: Path, http: bool):
    """A drifted docstring, a wrong comparison, a missing example: each finding leads to the call that mends it (D-50-03)."""
    entry = place / TALLY / "implementation/__init__.py"
    sound, text = (place / TALLY / "examples.md").read_text(), entry.read_text()
    entry.write_text(text.replace('"""Count', '"""Tell', 1).replace("if not words:", "if len(words) < 2:"))
    (place / TALLY / "examples.md").unlink()

    async def work(agent: Agent) -> None:
        verdict = await agent.gate(TALLY)
        (module,) = verdict["modules"]
        found = {finding["code"]: finding for finding in module["findings"]}
        assert verdict["verdict"] == "FAIL"
        assert set(found) >= {"docstring.drift", "tests.failed", "files.missing"}
        assert "`fix_docstring`" in found["docstring.drift"]["do"]
        assert "the tool `fix_docstring` puts it in" in found["docstring.drift"]["message"]
        assert (found["docstring.drift"]["file"], found["docstring.drift"]["line"]) == (
            "implementation/__init__.py",
            11,
        )
        assert found["tests.failed"]["file"] == "tests/test_tally_words.py"
        explained = await agent.call("explain", code="files.missing")
        assert "examples.md" in " ".join(explained.result["steps"])
        files = (await agent.call("read_module", directory=TALLY)).result["files"]
        assert "if len(words) < 2:" in next(
            one["text"] for one in files if one["path"] == "implementation/__init__.py"
        )
        mended = [{"old": "if len(words) < 2:", "new": "if not words:"}]
        edits = [
            {"path": f"{TALLY}/implementation/__init__.py", "replace": mended},
            {"path": f"{TALLY}/examples.md", "text": sound},
        ]
        written = (await agent.call("edit_files", files=edits)).result["files"]
        assert [one["existed"] for one in written] == [True, False]
        fixed = (await agent.call("fix_docstring", directory=TALLY)).result
        assert (fixed["written"], fixed["module"]["result"]) == ("implementation/__init__.py", "PASS")
        again = await agent.gate(".")
        assert (again["verdict"], again["next"]) == ("PASS", "Every module passes; nothing is left to do.")
        unchanged = (await agent.gate("."))["modules"][0]
        assert unchanged["result"] == "UNCHANGED"
        assert (unchanged["name"], unchanged["tests"], unchanged["tests_passed"]) == (
            "tally_words",
            None,
            None,
        )

    with_agent(place, work, http=http)
    assert entry.read_text() == text


def test_a_call_tells_how_far_it_is_and_gives_its_result_as_text_too(place: Path):
    """For a client that shows progress, and one without structured content (D-50-03)."""
    (place / TALLY / "contract.json").write_text("{}")
    heard = list[tuple[float, float | None, str | None]]()

    async def work(agent: Agent) -> None:
        async def hear(done: float, of: float | None, what: str | None) -> None:
            heard.append((done, of, what))

        told = await agent.client.call_tool("gate", {"directories": [TALLY]}, progress_callback=hear)
        assert json.loads(told.content[0].text) == told.structured_content
        assert told.structured_content["modules"][0]["findings"][0]["code"] == "contract.invalid"

    with_agent(place, work)
    assert [(done, of) for done, of, _ in heard] == [(1, 1)]


SOURCE = '''"""Page ranges, as a printing dialog takes them."""


def parse_ranges(text: str) -> list[int]:
    """The pages that a text such as `1-3,7` names, in order and each once.

    Args:
        text: Numbers and ranges of numbers, separated by commas.

    Returns:
        The pages.

    Raises:
        ValueError: a part is no number and no range, or a range runs backwards.

    >>> parse_ranges("1-3,7")
    [1, 2, 3, 7]
    """
    pages = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f"no page: {part!r}")
        begin, end = int(first), int(last or first)
        if end < begin:
            raise ValueError(f"it runs backwards: {part!r}")
        if end - begin > 9999:
            raise ValueError(f"more than 10000 pages: {part!r}")
        pages.update(range(begin, end + 1))
    return sorted(pages)
'''
REFUSALS = '''"""What parse_ranges refuses, and where its limits are."""

import pytest
from modules.parse_ranges import parse_ranges


@pytest.mark.parametrize("text", ["a", "1-b", "a-1", "1-", "-1", "", "1,,2", "1-2-3", "1" * 100])
def test_a_part_that_names_no_page_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no page"):
        parse_ranges(text)


def test_a_range_that_runs_backwards_is_refused() -> None:
    with pytest.raises(ValueError, match="backwards"):
        parse_ranges("3-1")


def test_a_range_of_ten_thousand_pages_is_the_longest() -> None:
    assert len(parse_ranges("1-10000")) == 10000
    with pytest.raises(ValueError, match="more than"):
        parse_ranges("1-10001")
    with pytest.raises(ValueError, match="more than"):
        parse_ranges("5-10005")


def test_parts_may_have_spaces_around_them_and_meet() -> None:
    assert parse_ranges(" 3 , 1-2,2 ") == [1, 2, 3]
    assert parse_ranges("4-4") == [4]
    assert parse_ranges("1" * 99) == [int("1" * 99)]
'''


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_repository_without_contracts_comes_to_a_green_gate_over_mcp_alone(tmp_path: Path):
    """`adopt` drafts a module; the gate finds what its tests do not show and an input that crashes it; what the findings
    name is written through the session, and the gate passes (D-50-01, D-50-03)."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/ranges.py").write_text(SOURCE)
    module = "modules/parse_ranges"
    entry = f"{module}/implementation/__init__.py"

    async def work(agent: Agent) -> None:
        adopted = (await agent.call("adopt", source="src/ranges.py", out="modules")).result
        (function,) = adopted["functions"]
        assert (function["status"], function["directory"]) == ("INCOMPLETE", str(tmp_path / module))
        assert "'/error_surfaces/0'" in function["missing"][0]["write"]
        assert "then call `gate`" in adopted["next"]

        found = (await agent.gate("modules"))["modules"][0]["findings"]
        by_code = {finding["code"]: finding for finding in found}
        assert set(by_code) >= {"obligations.uncovered", "strength.weak", "fuzz.counterexample"}
        assert "/error_surfaces/0" in by_code["obligations.uncovered"]["message"]
        assert "raise ValueError(f'it runs backwards" in by_code["strength.weak"]["message"]
        crash = by_code["fuzz.counterexample"]
        assert (crash["file"], "parse_ranges('1' * 43" in crash["message"]) == (
            "implementation/__init__.py",
            True,
        )

        read = (await agent.call("read_module", directory=module)).result["files"]
        files = {one["path"]: one["text"] for one in read}
        refused = "(dash and not last.isdecimal())"
        files["implementation/__init__.py"] = files["implementation/__init__.py"].replace(
            refused, f"{refused} or len(part) > 99"
        )
        claims = json.loads(files["tests/obligations.json"])
        claims["test_a_part_that_names_no_page_is_refused"] = ["/error_surfaces/0"]
        files |= {"tests/obligations.json": json.dumps(claims), "tests/test_refusals.py": REFUSALS}
        changed = ("implementation/__init__.py", "tests/obligations.json", "tests/test_refusals.py")
        edits = [{"path": f"{module}/{path}", "text": files[path]} for path in changed]
        answer = await agent.call("edit_files", files=edits)
        assert not answer.error, answer.error
        again = await agent.gate("modules")
        assert again["verdict"] == "PASS", again
        assert "copies that `adopt` made (parse_ranges): the source is as it was" in again["next"]
        assert "`gate_package`" in again["next"]

    with_agent(tmp_path, work, "--seconds", "200")
    assert (tmp_path / "src/ranges.py").read_text() == SOURCE
    assert "len(part) > 99" in (tmp_path / entry).read_text()


FIRST = '''"""Texts."""


def first(text: str) -> str:
    """Take the first character.

    >>> first("ab")
    'a'
    """
    return text[0]
'''


@pytest.mark.slow
def test_a_package_is_judged_where_it_lies_until_everything_is_shown(tmp_path: Path):
    """What is wrong stands at its line of the source, which is read and mended by tools alone (D-50-03, D-50-05)."""
    entry = tmp_path / "src/texts/__init__.py"
    entry.parent.mkdir(parents=True)
    entry.write_text(FIRST)

    async def work(agent: Agent) -> None:
        told = (await agent.call("gate_package", directory=".")).result
        (function,) = told["functions"]
        assert (told["verdict"], function["name"], function["result"]) == ("FAIL", "texts.first", "WRONG")
        wrong = [one for one in function["findings"] if one["is_wrong"]]
        assert [one["code"] for one in wrong] == ["fuzz.counterexample"]
        assert "IndexError" in wrong[0]["message"]
        assert wrong[0]["where"] == "src/texts/__init__.py:10"
        assert "(`read_files`, `edit_files`), then call `gate_package` again" in told["next"]
        same = (await agent.call("gate_package", directory=".")).result
        assert (same["verdict"], same["functions"], same["next"]) == ("FAIL", [], told["next"])
        assert same["unchanged"].startswith("unchanged since the last call: texts.first;")
        named = (await agent.call("gate_package", directory=".", functions=["first"])).result
        assert (named["functions"], named["unchanged"]) == (told["functions"], "")
        listed = (await agent.call("read_files", paths=["."])).result["folders"][0]["files"]
        assert listed == ["src/texts/__init__.py"]
        assert (await agent.call("read_files", paths=listed)).result["files"][0]["text"] == FIRST
        change = {"path": listed[0], "replace": [{"old": "text[0]", "new": "text[:1]"}]}
        assert not (await agent.call("edit_files", files=[change])).error
        again = (await agent.call("gate_package", directory=".", functions=["first"])).result
        assert (again["verdict"], again["shown"], again["functions"]) == ("PASS", ["texts.first"], [])
        assert again["next"] == "Everything that is judged is shown; nothing is left to do."
        assert again["counts"] == {"SHOWN": 1}
        assert again["tests"] == {"found": 0, "used": 0, "run": 1, "passed": 1}

    with_agent(tmp_path, work, "--write")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["src"]
    assert entry.read_text() == FIRST.replace("text[0]", "text[:1]")


@pytest.mark.slow
def test_a_package_is_judged_only_if_all_of_it_lies_below_a_root(tmp_path: Path):
    """And only with a sandbox; there is one clear error (D-50-05)."""
    outside = tmp_path / "outside.py"
    outside.write_text(FIRST)
    package = tmp_path / "root/texts"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "more.py").symlink_to(outside)

    async def work(agent: Agent) -> None:
        assert "not below a directory" in (await agent.call("gate_package", directory=".")).error
        assert "not below a directory" in (await agent.call("gate_package", directory="..")).error
        (package / "more.py").unlink()
        assert "no public function" in (await agent.call("gate_package", directory=".")).error
        (tmp_path / "root/specwright.toml").write_text('sandbox = "none"\n')
        assert "turn the sandbox off" in (await agent.call("gate_package", directory=".")).error

    with_agent(tmp_path / "root", work)
