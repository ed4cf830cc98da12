"""Amendments: what they may aim at, and what may change beside them (F§9.6, D14)."""

from typing import Any

from specwright.domain.answers import Amendment, PlanAnswer
from specwright.domain.debate.amendments import (
    applied_problems,
    contract_problems,
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


TARGETS = [
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
    ("ADD", "file:tests/test_double.py", "file 'tests/test_double.py' is there already"),
    ("ADD", "file:/implementation/__init__.py", "file '/implementation/__init__.py' is there already"),
    ("ADD", "file:tests/test_more.py", ""),
    ("REMOVE", "file:tests/test_more.py", "there is no file 'tests/test_more.py'"),
    ("ADD", "function:double", "function 'double' is there already"),
    ("ADD", "function:double_async", ""),
    ("MODIFY", "function:double_async", "there is no function 'double_async'"),
    ("MODIFY", "function:double()", ""),
    ("MODIFY", "function:ValueError", "ValueError is no function or class of the contract"),
    ("MODIFY", "function:_never_seen", "_never_seen is no function or class of the contract"),
    ("MODIFY", "contract:double#/inputs/0/constraints/0", ""),
    ("ADD", "contract:double#/error_surfaces/-", ""),
    ("MODIFY", "contract:double#/inputs/4", "the contract of double has no /inputs/4"),
    ("ADD", "contract:double#/inputs/4/constraints/-", "the contract of double has no /inputs/4/constraints"),
    ("MODIFY", "contract:double#/module_version", "/module_version is not the planner's to change"),
    ("ADD", "contract:treble#", "there is no contract treble"),
]


def test_an_amendment_aims_at_what_is_there():
    """F-9.6-01, F-9.6-04, D-14-01: what can never be applied is told to the Arbiter, not to the Proposer; of source
    nothing is told."""
    for action, target, wrong in TARGETS:
        found = unreachable_targets([amendment(action, target)], FILES, CONTRACTS)
        assert bool(found) is bool(wrong), target
        assert all(problem.startswith(f"amendments.0.target: {wrong}") for problem in found)


def test_a_test_that_stands_in_two_files_may_go_only_with_both():
    """F-9.6-03: an amendment of one of the files does not ask for the loss of what the other holds."""
    both = {f"tests/test_{name}.py": b"def test_one():\n    assert True\n" for name in ("a", "b")}
    asked = amendment("REMOVE", "file:tests/test_a.py")
    (lost,) = lost_problems([asked], both, {})
    assert lost.startswith("test:test_one")


def test_an_amendment_names_a_change_of_this_module():
    """F-9.6-01, D-14-01, D-14-02: a few words are no change, nor are many that fit everything."""
    for detail, vague in (
        ("Improve the error handling.", True),
        ("Improve error handling.", True),
        ("Fix it.", True),
        ("Clean up the code, and make it better.", True),
        ("Improve the error handling of it.", True),
        ("Refactor and clean up the code.", True),
        ("Improve the quality and the documentation of this function.", True),
        ("Make the implementation more robust, and simplify it where appropriate.", True),
        ("Handle errors and edge cases better.", True),
        ("Raise the declared error for edge cases below zero.", False),
        ("Handle errors of the parser by skipping the line.", False),
        ("Refactor double so that it adds the number twice.", False),
        ("Clean up the code of double, and make it better.", False),
        ("Add a test that doubles three.", False),
        ("Let double(-1) raise a ValueError, too.", False),
    ):
        asked = amendment("MODIFY", "function:double").model_copy(update={"detail": detail})
        found = target_problems([asked], contracts=False)
        assert ["say exactly what changes" in problem for problem in found] == [True] * vague, detail


def test_a_target_is_found_however_it_is_written():
    """F-9.6-04: a leading slash, brackets and quotes are no part of the name."""
    changed = entry("def double(number):\n    return number + number\n")
    for target in (
        *("file:/implementation/__init__.py", "file:./implementation/__init__.py", "function:double()"),
        *("function:double(number)", "function:`double`"),
    ):
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


def test_what_the_approval_rests_on_does_not_get_lost():
    """F-9.6-02, F-9.6-03: nobody debates the amended files, so that listed tests and examples stay in them."""
    for after, target, lost in (
        (LOST_TEST, "function:double", "test:test_a_negative_number_is_refused is gone"),
        (LOST_TEST, "test:test_a_negative_number_is_refused", ""),
        (LOST_TEST, "file:tests/test_double.py", ""),
        (LOST_EXAMPLE, "function:double", "example:A negative number is gone"),
        (LOST_EXAMPLE, "example:A negative number", ""),
        (FILES, "function:double", ""),
    ):
        found = lost_problems([amendment("REMOVE", target)], FILES, after)
        assert bool(found) is bool(lost), target
        assert all(problem.startswith(lost) for problem in found)


OTHER_WORDS = {**planned("double")["reuse"], "justification": "What was found halves instead."}
REUSED = {**OTHER_WORDS, "conclusion": "REUSE_EXISTING", "reuse_ref": "MM-0000000a@1.0.0"}


def answer(*more: Any, facing: str = "double", halve: Any = (), **changes: Any) -> PlanAnswer:
    """The plan with its first module changed."""
    second = [] if halve is None else [planned("halve", *(halve or ("double",)))]
    return PlanAnswer.model_validate(plan(planned("double", **changes), *second, *more, task_facing=facing))


ALONE = PlanAnswer.model_validate(plan(planned("double"), planned("halve"), task_facing="double"))


def test_an_amended_plan_changes_nothing_else():
    """F-9.6-02, F-9.6-03, D-10-04, D-14-01: contracts lock that were debated, but for what the Arbiter amended;
    `/dependencies` of a contract is `depends_on` of a plan."""
    before = PlanAnswer.model_validate(APPROVED)
    counting = "none: it only counts"
    for after, strays in (
        (answer(purpose="Double a number that is given."), []),
        (answer(reuse=OTHER_WORDS), []),
        (answer(reuse=REUSED), ["modules.double.reuse"]),
        (answer(error_cases=["Minus two"]), ["modules.double.error_cases"]),
        (answer(purpose="Double it for us.", effects=counting), ["modules.double.effects"]),
        (answer(halve=None), ["modules: halve is gone"]),
        (answer(facing="halve"), ["task_facing: it was 'double'"]),
        (answer(planned("treble")), ["modules: treble is new"]),
        (ALONE, ["modules.halve.depends_on"]),
    ):
        found = strayed_problems([amendment("MODIFY", "contract:double#/purpose")], before, after)
        assert len(found) == len(strays), strays
        assert all(problem.startswith(stray) for problem, stray in zip(found, strays, strict=True))
    asked = [amendment("REMOVE", "contract:halve#/dependencies/0")]
    assert strayed_problems(asked, before, ALONE) == []


def entry(source: str) -> dict[str, bytes]:
    """The module's files with another entry file."""
    return {**FILES, "implementation/__init__.py": source.encode()}


def test_what_is_claimed_as_applied_shows_in_the_code():
    """F-9.6-04: docstring, comment and layout are no change of the code; the factory writes the docstring anew."""
    source, line = FILES["implementation/__init__.py"].decode(), "    return number * 2"
    for old, new, applied in (
        ('    """"""\n', '    """Now it says three."""\n', False),
        (line, f"{line}  # now it says three", False),
        (line, "    return (number\n            * 2)", False),
        (line, "    return number + number", True),
    ):
        assert old in source
        for target in ("function:double", "file:implementation/__init__.py"):
            asked = [amendment("MODIFY", target)]
            assert (applied_problems(asked, FILES, entry(source.replace(old, new))) == []) is applied, new


def test_an_entry_of_a_list_is_added_or_gone():
    """F-9.6-04: at its place there may be another entry, so the list itself has to be longer or shorter."""
    one, two, end = (
        "contract:double#/error_cases/0",
        "contract:double#/error_cases/1",
        "contract:double#/error_cases/-",
    )
    wrong = []
    for asked, was, now, applied in (
        ([("ADD", one)], ["a"], ["a"], False),
        ([("ADD", one)], ["a"], ["b"], False),
        ([("ADD", one)], ["a"], ["b", "a"], True),
        ([("ADD", end)], ["a"], ["b"], False),
        ([("ADD", end)], ["a"], ["a", "b"], True),
        ([("ADD", end), ("ADD", end)], ["a"], ["a", "b"], False),
        ([("ADD", end), ("ADD", end)], ["a"], ["a", "b", "c"], True),
        ([("ADD", end)], [], ["a"], True),
        ([("REMOVE", one)], ["a", "b"], ["a2", "b"], False),
        ([("REMOVE", one)], ["a", "b"], ["b"], True),
        ([("REMOVE", one)], ["a"], [], True),
        ([("REMOVE", one), ("ADD", end)], ["a"], ["a"], False),
        ([("REMOVE", one), ("ADD", end)], ["a"], ["b"], True),
        ([("MODIFY", two)], ["a", "b"], ["a", "b"], False),
        ([("MODIFY", two)], ["a", "b"], ["a", "c"], True),
        ([("REMOVE", "contract:double#/error_cases")], ["a"], [], True),
        ([("ADD", "contract:double#/error_cases")], ["a"], ["a"], False),
        ([("ADD", "contract:double#/error_cases")], [], ["a"], True),
    ):
        before, after = ({"double": DOUBLE.model_copy(update={"error_cases": cases})} for cases in (was, now))
        if (contract_problems([amendment(*one) for one in asked], before, after) == []) is not applied:
            wrong.append((asked, was, now))
    assert wrong == []
