"""The interfaces of a spec: what maps a function to a command line, and what cannot (D45)."""

from typing import Any

import pytest
from pydantic import ValidationError

from specwright.application.pages import spec_page, spec_patch
from specwright.domain.interfaces.document import ProductHead, interface_document
from specwright.domain.interfaces.records import (
    Interfaces,
    OutsideScope,
    Subcommand,
    function_of_contract,
    function_of_signature,
)
from specwright.domain.interfaces.rules import interface_problems, unfit_contracts, use_problems
from specwright.domain.spec.completeness import validate
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft, outside_problems
from specwright.errors import RefusedError
from testkit.domain.product_specs import NOW, draft_data, spec_data
from testkit.interfaces.notebook import INTERFACES, contract, contracts

SCAN = "scan(root: Path, limit: int = 3, quiet: bool = False, since: date | None = None) -> list[str]"
HEAD = ProductHead("notebook", "notebook", "1.0.0", "Notes.")


def command(*subcommands: dict[str, Any]) -> Interfaces:
    """A command with subcommands."""
    return Interfaces.model_validate({"command": {"name": "watch", "subcommands": list(subcommands)}})


def problems(public: str, **stated: Any) -> list[str]:
    """Of one subcommand that calls a function."""
    function = function_of_signature(public)
    assert function is not None
    return use_problems(Subcommand.model_validate({"name": "go", "calls": function.name, **stated}), function)


def with_interfaces(**changes: Any) -> dict[str, Any]:
    """A draft whose first task provides `scan`, and a command that calls it."""
    data = draft_data()
    task = data["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    task["acceptance"] = {"provides": [SCAN], **changes}
    return {**data, "interfaces": command({"name": "scan", "calls": "scan"}).to_json()}


def test_a_spec_without_interfaces_is_what_it_was():
    """Neither field is written, so that its hash stays (D-45-01)."""
    spec = ProductSpec.model_validate(spec_data())

    assert {"interfaces", "outside"}.isdisjoint(spec.to_json())
    assert validate(draft_data()).errors == []


def test_a_function_that_no_task_provides_is_an_error_with_its_path():
    """What is there is said, and what is meant (D-45-01)."""
    data = with_interfaces()
    assert validate(data).errors == []
    data["interfaces"]["command"]["subcommands"][0]["calls"] = "scann"

    (error,) = validate(data).errors
    assert (error.path, error.field) == ("interfaces", "command.subcommands[0].calls")
    assert error.message == (
        "no task provides the function scann; did you mean `scan`? tasks provide scan in `acceptance`"
    )


def test_what_is_wrong_with_a_command():
    """Two subcommands of one name, a name that nobody provides (D-45-01)."""
    twice, nobody = command(*[{"name": "a", "calls": "scan"}] * 2), command({"name": "a", "calls": "link"})
    for interfaces, provided, problem in (
        (twice, [SCAN, "Link"], "a is the name of an earlier subcommand"),
        (nobody, [SCAN, "Link"], "no task provides the function link"),
        (nobody, ["link"], "provided as a class"),
    ):
        assert problem in "\n".join(message for _, message in interface_problems(interfaces, provided))


UNCARRIED: list[tuple[str, dict[str, Any], str]] = [
    *(
        (f"scan({parameters})", {}, problem)
        for parameters, problem in {
            "root": "it has no type",
            "root: dict[str, int]": "`content` toml for settings, or json",
            "*roots: str": "roots of scan stands for any number of arguments, which no interface can pass",
            "root: re.Pattern[str]": "cannot be written as words",
            "root: Mapping[str, int]": "`content` toml for settings, or json",
            "root: bytes": "`content` text, which reads a file",
            "root: int | str": "cannot say which of int | str",
            "root: tuple[int, str]": "fixed number of words",
            "root: list[list[int]]": "`content` json",
            "root: bool | None = None": "a flag is there or not",
            "a: list[str], b: int": "nothing tells where b begins",
            "json: int = 1": "every command has an option --json",
            "help: bool = False": "every command has an option --help",
            "quiet: bool = False, no_quiet: int = 1": "two options are called --no-quiet",
        }.items()
    ),
    *(
        (f"scan({parameters})", {"parameters": stated}, problem)
        for parameters, stated, problem in [
            ("a: int", [{"parameter": "b"}], "scan has no parameter b; it has a"),
            ("a: int", [{"parameter": "a"}] * 2, "a is mapped twice"),
            ("a: int", [{"parameter": "a", "content": "text"}], "it takes str or bytes"),
            ("a: int", [{"parameter": "a", "content": "toml"}], "it takes a record or a dict"),
            ("a: int = 1, b: int = 2", [{"parameter": "a", "name": "b"}], "two options are called --b"),
            ("n: int = 1, most: int = 2", [{"parameter": "most", "short": "n"}], "two options are called -n"),
            ("a: int", [{"parameter": "a", "short": "n"}], "a is no option"),
            (
                "a: str, b: str",
                [{"parameter": one, "place": "stdin", "content": "text"} for one in "ab"],
                "a command has only one",
            ),
        ]
    ),
]
CARRIED = [
    SCAN,
    "scan(a: Decimal, b: list[UUID] | None = None, c: Literal['x', 1] = 'x', d: Mode = None)",
    "scan(*, a: timedelta, b: frozenset[str] = ())",
    "scan(a: Iterable[str], *, b: ZoneInfo = None, c: Sequence[Fraction] = (), d: IPv4Network = None)",
    "scan()",
]


def test_what_a_command_line_cannot_carry_is_said_with_what_to_do():
    """Types, names, places; words, repeated words, choices and flags it can (D-45-01, D-45-04)."""
    found = [("\n".join(problems(public, **stated)), said) for public, stated, said in UNCARRIED]
    assert [(told, said) for told, said in found if said not in told] == []
    assert [problems(public) for public in CARRIED] == [[]] * len(CARRIED)


def test_exit_codes_and_names_are_kept_apart():
    """2 is wrong usage and 0 is success; no other meaning is allowed for them (D-45-05)."""
    wrong: list[dict[str, Any]] = [
        {"exits": [{"code": 2, "when": "filled"}]},
        {"errors": {"ValueError": 2}},
        {"errors": {"ValueError": 0}},
        {"parameters": [{"parameter": "a", "place": "stdin"}]},
        {"name": "Go"},
        {"name": "-x"},
        {"parameters": [{"parameter": "a", "short": "h"}]},
        {"parameters": [{"parameter": "a", "short": "ab"}]},
    ]
    for stated in wrong:
        with pytest.raises(ValidationError):
            Subcommand.model_validate({"name": "go", "calls": "scan", **stated})


def test_a_command_calls_one_function_or_has_subcommands():
    """One of the two, and what is said of a call stands where the call is (D-45-01)."""
    below: dict[str, Any] = {"subcommands": [{"name": "scan", "calls": "scan"}]}
    for wrong in ({}, {"calls": "scan", **below}, {**below, "exits": [{"code": 1, "when": "filled"}]}):
        with pytest.raises(ValidationError):
            Interfaces.model_validate({"command": {"name": "watch", **wrong}})


def alone(**stated: Any) -> dict[str, Any]:
    """A draft whose command is one function."""
    interfaces = {"command": {"name": "watch", "calls": "scan", **stated}}
    return {**with_interfaces(), "interfaces": interfaces}


def test_a_result_and_an_error_with_one_exit_code_are_a_warning_at_the_gate():
    """A script could not tell an alarm from an error; by rule they have two codes (D-45-05)."""
    filled = {"exits": [{"code": 1, "when": "filled"}]}
    told = validate(alone(**filled, errors={"ScanError": 1}))
    (warning,) = [one for one in told.warnings if one.path == "interfaces"]
    assert told.errors == []
    assert (warning.field, warning.message) == (
        "command.errors",
        "exit code 1 of `watch` says that the result is not empty, and that ScanError was raised: a script cannot tell "
        "them apart; give one another code",
    )
    assert [one for one in validate(alone(**filled)).warnings if one.path == "interfaces"] == []
    assert "- exit code 3 on an error that its contract declares" in spec_page(
        ProductSpecDraft.model_validate(alone(**filled))
    )


def test_the_page_says_what_is_to_be_started():
    """The command, or that there is nothing to start (D-45-01)."""
    plain = spec_page(ProductSpecDraft.model_validate(draft_data()))
    assert "To start: nothing; its functions are called from Python. No command was asked for." in plain
    data = alone(exits=[{"code": 1, "when": "filled"}])
    page = spec_page(ProductSpecDraft.model_validate(data))
    assert "To start: the command watch\n" in page
    assert "### `watch ROOT [--limit INT] [--quiet] [--since DATE] [--json]`" in page


def test_a_plan_that_the_command_cannot_call_is_refused():
    """With the contract, classes, outputs and errors are known (D-45-01)."""
    wrong = contract(
        "find",
        "Find words.",
        [("folder", "Path"), ("words", "Words", "Words is a frozen dataclass: all: list[str]")],
        ("hits", "list[str]"),
    )

    told = unfit_contracts(INTERFACES, {"find": wrong})
    assert told == [
        "modules.find: the command `notebook find` calls it, and the parameter words of find: Words has fields, which one "
        "word cannot carry; use `content` toml for settings, or json",
        "modules.find: the command `notebook find` calls it, and find has no error BadPattern; its contract has none",
    ]
    assert unfit_contracts(INTERFACES, {one.name: one for one in contracts()}) == []
    summary = contracts()[1]
    stated = Subcommand.model_validate({"name": "s", "calls": "summary", "shows": ["titel"]})
    (told,) = [one for one in use_problems(stated, function_of_contract(summary)) if "no part" in one]
    assert told == (
        "the result of summary has no part titel; did you mean `title`? it has summary, title, day, lines, missing"
    )


def test_a_release_without_the_function_or_with_another_contract_is_refused():
    """No wheel is made whose command cannot work (D-45-02)."""
    with pytest.raises(RefusedError, match="calls stamp, which no module of this release has"):
        interface_document(INTERFACES, contracts()[:2], HEAD)
    other = contract("stamp", "Write.", [("target", "Path"), ("lines", "int")], ("count", "int"))
    with pytest.raises(RefusedError, match="does not fit the contract of stamp"):
        interface_document(INTERFACES, [*contracts()[:2], other], HEAD)


def test_another_contract_gives_another_document():
    """Help and types follow the contract (D-45-04)."""
    before = interface_document(INTERFACES, contracts(), HEAD)
    changed = contracts()[0].model_copy(update={"purpose": "Find anything."})
    after = interface_document(INTERFACES, [changed, *contracts()[1:]], HEAD)

    assert before["command"]["uses"][0]["help"] == "Find 100% of the words in the notes of a folder."
    assert after["command"]["uses"][0]["help"] == "Find anything."
    assert before["command"]["uses"][1:] == after["command"]["uses"][1:]


def test_what_is_not_built_stands_first_with_its_sentence():
    """The page counts it; a quotation that SPEC.md does not have goes back to the researcher (D-45-09)."""
    text = "# Watch\n\nIt has **a window** with buttons. It runs as a service.\nIt checks 20 links at once.\n"
    window, service = "It has a window with buttons.", "It runs as a service."
    quoted = {window: "No window; the command is nearest.", service: "Nothing keeps running; a timer may."}
    outside = [OutsideScope(quote=quote, why=why) for quote, why in quoted.items()]
    assert outside_problems(outside, text) == []
    draft = ProductSpecDraft.model_validate({**draft_data(), "outside": [one.to_json() for one in outside]})
    page = spec_page(draft).splitlines()
    head = ["## Not built", "", "SPEC.md asks for this, and it will be missing (2 in all).", ""]
    assert page[2:7] == [*head, f'- "{window}": {quoted[window]}']
    assert "Built otherwise" not in spec_page(draft)
    wrong = [OutsideScope(quote="It has windows.", why="No windows."), OutsideScope(quote="It has", why="x")]
    assert [one.partition(": ")[2] for one in outside_problems([*wrong, *outside[1:] * 2], text)] == [
        "'It has windows.' does not stand in SPEC.md; quote its sentence to the letter",
        "'It has' is no sentence; quote the whole one",
        "'It runs as a service.' is quoted twice; say it in one entry",
    ]


def test_what_is_built_in_part_is_not_called_missing():
    """Two kinds, each with its sentence (D-45-09)."""
    mail, text = "It mails the result on Mondays.", "The text of the mail is made."
    outside = [
        {"quote": "It has a window with buttons.", "why": "No graphical interface is built."},
        {"quote": mail, "why": "Nothing is sent.", "instead": text},
    ]
    page = spec_page(ProductSpecDraft.model_validate({**draft_data(), "outside": outside}))
    missing, _, otherwise = page.partition("## Built otherwise\n\n")
    assert "No graphical interface is built." in missing
    assert "mails" not in missing
    assert otherwise.startswith(
        "SPEC.md asks for this, and it will be built in part, or otherwise (1 in all).\n\n"
        f'- "{mail}": Nothing is sent. Built: {text}\n\n'
    )
    assert "missing" not in otherwise.partition("## ")[0]
    in_part = ProductSpecDraft.model_validate({**draft_data(), "outside": outside[1:]})
    assert "Not built" not in spec_page(in_part)


def test_the_page_and_the_changes_show_the_command():
    """How it is called stands before the pillars; a change names the subcommand (D-45-01)."""
    before = ProductSpecDraft.model_validate(with_interfaces()).stamped(NOW, NOW)
    page = spec_page(before)
    assert "### `watch scan ROOT [--limit INT] [--quiet] [--since DATE] [--json]`" in page
    data = with_interfaces()
    data["interfaces"]["command"]["subcommands"].append({"name": "again", "calls": "scan"})
    after = ProductSpecDraft.model_validate(data).stamped(NOW, NOW)
    added = [line for line in spec_patch(before, after) if line.startswith("+###")]
    assert added == ["+### `watch again ROOT [--limit INT] [--quiet] [--since DATE] [--json]`"]
