"""Names that fight back: the right result, or an error that names tasks and ids, and no file written (F§4.1, D1)."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specwright.application import tasks
from specwright.domain.spec.product_spec import ProductSpec
from specwright.errors import InputError
from testkit.domain.product_specs import (
    epic_data,
    pillar_data,
    spec_data,
    spec_of,
    spec_of_stories,
    story_data,
    task_data,
)
from testkit.loop.initialisation import files_of, initialised, refused
from testkit.loop.project_workbench import ProjectWorkbench, chain_spec, halt_stub
from testkit.memory_tree import MemoryTree

_LOGIN = [("Login", ["a"]), ("Login", ["b"]), ("Login 2", ["c"])]


@pytest.mark.parametrize(
    ("stories", "folders"),
    [
        (_LOGIN, ["login", "login-2", "login-3"]),
        ([("日本語", ["a"]), ("中文", ["b"])], ["n-77710ae", "n-72726d8"]),
        ([("🎉", ["a"]), ("🎉 party", ["b"])], ["n-acda35f", "party"]),
        ([("..", ["a"]), (".", ["b"])], ["n-5ec1f7e", "n-cdb4ee2"]),
        ([("CON", ["a"]), ("con.", ["b"]), ("con...", ["c"])], ["con", "con-2", "con-3"]),
        ([("../../etc/passwd", ["a"]), ("C:\\Windows", ["b"])], ["etc-passwd", "c-windows"]),
        ([("a/b", ["a"]), ("a\\b", ["b"]), ("a\x00b", ["c"])], ["a-b", "a-b-2", "a-b-3"]),
        ([("trailing. . .", ["a"]), (" trailing", ["b"])], ["trailing", "trailing-2"]),
    ],
)
def test_a_name_becomes_a_folder_of_its_own(tmp_path: Path, stories, folders):
    """F-4.1-02, F-4.1-04, F-4.1-05, F-4.1-06: one folder for each story below its epic, nothing anywhere else."""
    found = initialised(tmp_path, spec_of_stories(*stories))
    assert len(found) == len(folders)
    assert {Path(name).parts[:2] for name in found} == {("core", "tables")}
    assert sorted(Path(name).parts[2] for name in found) == sorted(_computed(stories, folders))
    assert all(Path(name).name.startswith(f"T-core-tables-{Path(name).parts[2]}-001") for name in found)


def _computed(stories, folders):
    """A hashed folder is recomputed here, from the name itself, as D1 says."""
    return [
        f"n-{hashlib.sha256(name.encode()).hexdigest()[:7]}" if folder.startswith("n-") else folder
        for (name, _), folder in zip(stories, folders, strict=True)
    ]


def test_seventy_characters_twice_under_one_parent(tmp_path: Path):
    """F-4.1-02, F-4.1-03, D-01: 56 characters and a hash, the sibling's suffix within 64."""
    found = initialised(tmp_path, spec_of([("P", [("E", [("x" * 70, ["a"]), ("x" * 70, ["b"])])])]))
    stories = sorted({Path(name).parts[2] for name in found})
    assert [len(story) for story in stories] == [64, 64]
    assert all(story.startswith("x" * 56 + "-") for story in stories)
    assert any(story.endswith("-2") for story in stories)


def test_a_suffix_takes_no_slug_that_a_sibling_owns(tmp_path: Path):
    """F-4.1-04, D-01: of the tasks "Login", "Login", "Login 2" the second gets `login-3`."""
    found = initialised(tmp_path, spec_of_stories(("S", ["Login", "Login", "Login 2"])))
    assert {name.split("/")[-1]: name.split("/")[-2] for name in found} == {
        "T-core-tables-s-001.md": "login",
        "T-core-tables-s-002.md": "login-3",
        "T-core-tables-s-003.md": "login-2",
    }


def test_an_id_of_128_characters_is_a_file_and_one_more_is_refused(tmp_path: Path):
    """F-4.1-07: the error names the task, its id and the length."""
    names = ("p" * 50, "e" * 50, "s" * 20)
    (found,) = initialised(tmp_path / "fits", spec_of([(names[0], [(names[1], [(names[2], ["Parse it"])])])]))
    assert len(Path(found).stem) == 128
    error = refused(tmp_path / "long", spec_of([(names[0], [(names[1], [(names[2] + "s", ["Parse it"])])])]))
    for told in ("'Parse it'", "TSK-001", "129 characters", f"T-{'p' * 50}-"):
        assert told in str(error)


def test_a_story_of_1000_tasks_is_refused_before_any_file(tmp_path: Path):
    """F-3.3-03: the error names the story and the count; the command line exits 2 for it."""
    error = refused(tmp_path, spec_of_stories(("Import", [f"Task {n}" for n in range(1000)])))
    assert "'Import' has 1000 tasks" in str(error)
    assert error.exit_code == 2


def test_ids_that_collide_across_parents_are_refused_with_both(tmp_path: Path):
    """F-3.3-04: "a-b"/"c" and "a"/"b-c" make one id; both tasks and the id are named."""
    error = refused(
        tmp_path,
        spec_of([("a-b", [("c", [("s", ["First task"])])]), ("a", [("b-c", [("s", ["Second task"])])])]),
    )
    for told in (
        "T-a-b-c-s-001",
        "'First task'",
        "TSK-001",
        "'Second task'",
        "TSK-002",
        "a-b / c",
        "a / b-c",
    ):
        assert told in str(error)


class Damaged:
    """A projection whose spec was made past its validation."""

    def __init__(self, projection, spec) -> None:
        self._projection = projection
        self.spec = spec

    def __getattr__(self, name):
        return getattr(self._projection, name)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"description": " "}, "description"),
        ({"subtasks": []}, "subtasks"),
        ({"acceptance_criteria": ["TBD"]}, "acceptance_criteria"),
        ({"io_contract_sketch": None}, "io_contract_sketch"),
    ],
)
def test_a_field_that_is_missing_is_named_with_its_task(tmp_path: Path, changes, told):
    """F-4.1-13, F-4.1-14: a spec made past its validation; the last of many tasks is enough, and nothing is written."""
    spec = spec_of_stories(("Import", ["One", "Two", "Three"]))
    story = spec.pillars[0].epics[0].stories[0]
    broken = story.tasks[2].model_copy(update=changes)
    damaged = story.model_copy(update={"tasks": [*story.tasks[:2], broken]})
    epic = spec.pillars[0].epics[0].model_copy(update={"stories": [damaged]})
    pillar = spec.pillars[0].model_copy(update={"epics": [epic]})
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(spec)
        damaged = Damaged(bench.projection, spec.model_copy(update={"pillars": [pillar]}))
        before = files_of(tmp_path)
        with pytest.raises(InputError) as caught:
            tasks.initialise(replace(bench.factory, projection=damaged))
        assert files_of(tmp_path) == before
    for part in (told, "T-core-tables-import-003", "Three"):
        assert part in str(caught.value)


def test_two_initialisations_of_one_spec_are_byte_identical(tmp_path: Path):
    """F-3.3-01, F-4.1-01: the same folders, names and bytes; the path ends in the task's slug and id."""
    spec = chain_spec(12, story_size=5)
    first, second = (initialised(tmp_path / name, spec) for name in ("a", "b"))
    assert first == second
    assert first[0] == "core/tables/story-0/task-1/T-core-tables-story-0-001.md"
    for name in first:
        assert (tmp_path / "a/project" / name).read_bytes() == (tmp_path / "b/project" / name).read_bytes()


_PIECES = st.sampled_from(
    ["Login", "login", "Login 2", "..", "CON", "a-b", "a", "b", "日本", "🎉", "x" * 60, "nul. ", "a/b"]
)
_NAMES = st.one_of(_PIECES, st.text(min_size=1, max_size=12).filter(lambda name: name.strip()))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(_NAMES, _NAMES, st.lists(_NAMES, min_size=1, max_size=3)), min_size=1, max_size=4))
def test_whatever_the_names_every_task_has_its_file_or_nothing_is_written(
    tmp_path_factory: pytest.TempPathFactory, drawn
):
    """F-3.3-01, F-4.1-03, F-4.1-14: right or refused; never outside `project/`, never half."""
    directory = tmp_path_factory.mktemp("names")
    number = iter(range(1, 100))
    try:
        pillars = [
            pillar_data(
                [epic_data([story_data([task_data(next(number), name) for name in tasks], epic)], epic)],
                pillar,
            )
            for pillar, epic, tasks in drawn
        ]
        spec = ProductSpec.model_validate(spec_data(pillars))
        expected = sum(1 for _ in spec.tasks())
    except ValueError:
        return  # a placeholder or half a character: no spec in the first place
    found, told = [], ""
    try:
        found = initialised(directory, spec)
    except InputError as error:
        told = str(error)
    if told:
        assert "T-" in told
        assert not (directory / "project").exists()
        return
    assert len(found) == expected
    for name in found:
        assert os.sep not in Path(name).name
        assert all(len(part) <= 64 for part in Path(name).parts[:-1])
        assert len(Path(name).stem) <= 128


class CountingTree:
    """A file tree that remembers what was written."""

    def __init__(self, tree, written: list[str]) -> None:
        self._tree = tree
        self._written = written

    def __getattr__(self, name):
        return getattr(self._tree, name)

    def replace(self, path, data):
        self._written.append(path)
        self._tree.replace(path, data)


@pytest.mark.parametrize(
    "count", [60, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.timeout(600)])]
)
def test_at_dispatch_only_the_file_of_the_dispatched_task_is_touched(tmp_path: Path, count):
    """F-4.1-10, D-02: it holds the contracts and examples of what its dependencies shipped; the others stay."""
    written: list[str] = []
    trees: list[MemoryTree] = []

    def counted(_) -> CountingTree:
        trees.append(MemoryTree())
        return CountingTree(trees[-1], written)

    with ProjectWorkbench(tmp_path, wrap=counted) as bench:
        bench.approve(chain_spec(count, back=(1, 2)))
        tasks.initialise(bench.factory)
        assert sum(path.startswith("project/core") for path in written) == count
        touched: list[str] = []
        for _ in range(3):
            task = tasks.next_dispatch(bench.factory)
            assert task is not None
            written.clear()
            tasks.begin(bench.factory, task)
            touched += [path for path in written if path.endswith(".md")]
            result = bench.work(bench.factory, task)
            tasks.shipped(bench.factory, task, result["module_refs"], result["module_ref"])
        assert touched == [
            f"project/core/tables/story-0/task-{n}/T-core-tables-story-0-00{n}.md" for n in (1, 2, 3)
        ]
    (folder,) = [tree for tree in trees if touched[2] in tree.files]
    text = folder.read(touched[2]).decode()
    section = text.split("## Dependency Contracts\n")[1].split("\n## Error Cases")[0]
    assert section.count("(shipped by T-core-tables-story-0-00") == 2
    assert section.count("## It answers") == 2
    waiting = folder.read("project/core/tables/story-0/task-4/T-core-tables-story-0-004.md")
    assert b"sketch, nothing shipped yet" in waiting


def test_a_halted_projects_files_stay_as_they_were(tmp_path: Path):
    """D-02: what is blocked keeps the sketches that it was told."""
    with ProjectWorkbench(tmp_path, work=halt_stub) as bench:
        bench.approve(chain_spec(3))
        bench.run()
    text = next((tmp_path / "project/core/tables/story-0/task-2").glob("*.md")).read_text()
    assert "sketch, nothing shipped yet" in text
