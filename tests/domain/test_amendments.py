"""Amendments: what they may aim at, and what may change beside them (F§9.6, D14)."""

from typing import Any

import pytest

from specwright.domain.answers import Amendment, PlanAnswer
from specwright.domain.debate.amendments import (
    applied_problems,
    lost_problems,
    strayed_problems,
    target_problems,
    unreachable_targets,
)
from testkit.domain.doubling import DOUBLE
from testkit.loop.role_answers import draft, plan, planned

FILES = {path: text.encode() for path, text in draft("double").items()}
CONTRACTS = {"double": DOUBLE}
APPROVED = plan(planned("double"), planned("halve", "double"), task_facing="double")


def amendment(action: str, target: str) -> Amendment:
    """One with a detail that says something."""
    return Amendment.model_validate(
        {"action": action, "target": target, "detail": "Say three where it says two now."}
    )


def without(path: str, start: str, end: str = "") -> dict[str, bytes]:
    """The module's files, of one of them a part left out."""
    head, _, rest = FILES[path].decode().partition(start)
    tail = rest.partition(end)[2] if end else ""
    return {**FILES, path: (head + (end + tail if tail else "")).encode()}


@pytest.mark.parametrize(
    ("action", "target", "wrong"),
    [
        ("MODIFY", "test:test_it_is_the_number_twice", ""),
        ("MODIFY", "test:tests/test_double.py::test_it_is_the_number_twice[2-4]", ""),
        ("ADD", "test:test_three", ""),
        ("MODIFY", "test:test_three", "there is no test 'test_three'"),
        ("REMOVE", "test:test_it_is_the_number_twice[2-4]", "a parameter is not a test"),
        ("MODIFY", "example:## Two", ""),
        ("REMOVE", "example:Three", "there is no example 'Three'"),
        ("MODIFY", "file:/implementation/__init__.py", ""),
        ("MODIFY", "file:contract.json", "contract.json is no file that a Proposer writes"),
        ("ADD", "test:test_it_is_the_number_twice", "test 'test_it_is_the_number_twice' is there already"),
        ("MODIFY", "function:double()", ""),
        ("MODIFY", "function:ValueError", ""),
        ("MODIFY", "function:_never_seen", "_never_seen is no function or class of the contract"),
        ("MODIFY", "contract:double#/inputs/0/constraints/0", ""),
        ("ADD", "contract:double#/error_surfaces/-", ""),
        ("MODIFY", "contract:double#/inputs/4", "the contract of double has no /inputs/4"),
        (
            "ADD",
            "contract:double#/inputs/4/constraints/-",
            "the contract of double has no /inputs/4/constraints",
        ),
        ("MODIFY", "contract:double#/module_version", "/module_version is not the planner's to change"),
        ("ADD", "contract:treble#", "there is no contract treble"),
    ],
)
def test_an_amendment_aims_at_what_is_there(action: str, target: str, wrong: str):
    """F-9.6-01, F-9.6-04, D-14-01: what can never be applied is told to the Arbiter, not to the Proposer; of source
    nothing is told."""
    found = unreachable_targets([amendment(action, target)], FILES, CONTRACTS)
    assert bool(found) is bool(wrong)
    assert all(problem.startswith(f"amendments.0.target: {wrong}") for problem in found)


def test_a_test_that_stands_in_two_files_may_go_only_with_both():
    """F-9.6-03: an amendment of one of the files does not ask for the loss of what the other holds."""
    both = {f"tests/test_{name}.py": b"def test_one():\n    assert True\n" for name in ("a", "b")}
    asked = amendment("REMOVE", "file:tests/test_a.py")
    (lost,) = lost_problems([asked], both, {})
    assert lost.startswith("test:test_one")


@pytest.mark.parametrize(
    ("detail", "vague"),
    [
        ("Improve the error handling.", True),
        ("Add a test that doubles three.", False),
        ("Let double(-1) raise a ValueError, too.", False),
    ],
)
def test_an_amendment_names_a_change_of_this_module(detail: str, vague: bool):
    """F-9.6-01, D-14-01: a few words are no change."""
    asked = amendment("MODIFY", "test:test_it_is_the_number_twice").model_copy(update={"detail": detail})
    assert bool(target_problems([asked], contracts=False)) is vague


@pytest.mark.parametrize(
    "target",
    [
        "file:/implementation/__init__.py",
        "file:./implementation/__init__.py",
        "function:double()",
        "function:double(number)",
        "function:`double`",
    ],
)
def test_a_target_is_found_however_it_is_written(target: str):
    """F-9.6-04: a leading slash, brackets and quotes are no part of the name."""
    changed = {**FILES, "implementation/__init__.py": b"def double(number):\n    return number + number\n"}
    assert applied_problems([amendment("MODIFY", target)], FILES, changed) == []
    assert applied_problems([amendment("MODIFY", target)], FILES, FILES) != []


def test_a_name_that_stands_in_two_files_is_looked_for_in_both():
    """F-9.6-04: a change in the second is a change, and what is removed from one is still in the other."""
    twice = {**FILES, "implementation/again.py": FILES["implementation/__init__.py"]}
    changed = {**twice, "implementation/again.py": b"def double(number):\n    return number + number\n"}
    assert applied_problems([amendment("MODIFY", "function:double")], twice, changed) == []
    assert applied_problems([amendment("REMOVE", "function:double")], twice, FILES) != []


def test_code_that_nests_deeply_is_looked_up():
    """D-14-01: a sum of 600 terms nests too deeply for Python to write it out again."""
    deep = b"def test_sum():\n    assert " + b" + ".join([b"1"] * 600) + b" == 600\n"
    files = {**FILES, "tests/test_deep.py": deep}
    assert not unreachable_targets([amendment("MODIFY", "test:test_sum")], files, {})


def test_a_heading_within_a_block_is_no_example():
    """F-9.6-04, F-12-04: `## ` in code is a comment."""
    files = {"examples.md": b"## Two\n\nIt is.\n\n```python\n## Three\n2\n```\n\n```text\n2\n```\n"}
    assert applied_problems([amendment("ADD", "example:Three")], files, files) != []


LOST_TEST = without("tests/test_double.py", "def test_a_negative")
LOST_EXAMPLE = without("examples.md", "## A negative number")


@pytest.mark.parametrize(
    ("after", "target", "lost"),
    [
        (LOST_TEST, "function:double", "test:test_a_negative_number_is_refused is gone"),
        (LOST_TEST, "test:test_a_negative_number_is_refused", ""),
        (LOST_TEST, "file:tests/test_double.py", ""),
        (LOST_EXAMPLE, "function:double", "example:A negative number is gone"),
        (LOST_EXAMPLE, "example:A negative number", ""),
        (FILES, "function:double", ""),
    ],
)
def test_what_the_approval_rests_on_does_not_get_lost(after: dict[str, bytes], target: str, lost: str):
    """F-9.6-02, F-9.6-03: nobody debates the amended files, so that listed tests and examples stay in them."""
    found = lost_problems([amendment("REMOVE", target)], FILES, after)
    assert bool(found) is bool(lost)
    assert all(problem.startswith(lost) for problem in found)


OTHER_WORDS = {**planned("double")["reuse"], "justification": "What was found halves instead."}
REUSED = {**OTHER_WORDS, "conclusion": "REUSE_EXISTING", "reuse_ref": "MM-0000000a@1.0.0"}


def answer(**changes: Any) -> PlanAnswer:
    """The plan with its first module changed."""
    return PlanAnswer.model_validate(
        plan(planned("double", **changes), planned("halve", "double"), task_facing="double")
    )


@pytest.mark.parametrize(
    ("after", "strays"),
    [
        (answer(purpose="Double a number that is given."), []),
        (answer(reuse=OTHER_WORDS), []),
        (answer(reuse=REUSED), ["modules.double.reuse"]),
        (answer(error_cases=["Minus two"]), ["modules.double.error_cases"]),
        (answer(purpose="Double it for us.", effects="none: it only counts"), ["modules.double.effects"]),
        (
            PlanAnswer.model_validate(plan(planned("double"), task_facing="double")),
            ["modules: halve is gone"],
        ),
        (PlanAnswer.model_validate({**APPROVED, "task_facing": "halve"}), ["task_facing: it was 'double'"]),
        (
            PlanAnswer.model_validate({**APPROVED, "modules": [*APPROVED["modules"], planned("treble")]}),
            ["modules: treble is new"],
        ),
        (
            PlanAnswer.model_validate(plan(planned("double"), planned("halve"), task_facing="double")),
            ["modules.halve.depends_on"],
        ),
    ],
)
def test_an_amended_plan_changes_nothing_else(after: PlanAnswer, strays: list[str]):
    """F-9.6-02, F-9.6-03, D-10-04: contracts lock that were debated, but for what the Arbiter amended."""
    before = PlanAnswer.model_validate(APPROVED)
    found = strayed_problems([amendment("MODIFY", "contract:double#/purpose")], before, after)
    assert len(found) == len(strays)
    assert all(problem.startswith(stray) for problem, stray in zip(found, strays, strict=True))


def test_a_dependency_is_amended_under_its_name_in_a_contract():
    """D-14-01: `/dependencies` of a contract is `depends_on` of a plan."""
    after = PlanAnswer.model_validate(plan(planned("double"), planned("halve"), task_facing="double"))
    asked = [amendment("REMOVE", "contract:halve#/dependencies/0")]
    assert strayed_problems(asked, PlanAnswer.model_validate(APPROVED), after) == []


def entry(source: str) -> dict[str, bytes]:
    """The module's files with another entry file."""
    return {**FILES, "implementation/__init__.py": source.encode()}


@pytest.mark.parametrize("target", ["function:double", "file:implementation/__init__.py"])
@pytest.mark.parametrize(
    ("old", "new", "applied"),
    [
        ('    """"""\n', '    """Now it says three."""\n', False),
        ("    return number * 2", "    return number * 2  # now it says three", False),
        ("    return number * 2", "    return (number\n            * 2)", False),
        ("    return number * 2", "    return number + number", True),
    ],
    ids=["docstring", "comment", "layout", "code"],
)
def test_what_is_claimed_as_applied_shows_in_the_code(target: str, old: str, new: str, applied: bool):
    """F-9.6-04: the factory writes the docstring anew, so that a change in it alone is none."""
    source = FILES["implementation/__init__.py"].decode()
    assert old in source
    problems = applied_problems([amendment("MODIFY", target)], FILES, entry(source.replace(old, new)))
    assert (problems == []) is applied


@pytest.mark.parametrize(
    "detail",
    [
        "Improve error handling.",
        "Fix it.",
    ],
)
def test_a_detail_names_a_change(detail: str):
    """F-9.6-01, D-14-02: a few words are none."""
    vague = amendment("MODIFY", "function:double").model_copy(update={"detail": detail})
    assert "say exactly what changes" in target_problems([vague], contracts=False)[0]
