"""Examples and properties of a spec: what their record accepts, what all of them must keep together, and the file in which
a person edits them (D40; DESIGN §13.2)."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ship_gate.contract.types import is_class_name
from specwright.application.pages import acceptance_file, spec_page, spec_patch
from specwright.domain.acceptance.calls import imported_names
from specwright.domain.acceptance.records import AcceptanceExample, TaskAcceptance, amended_acceptance
from specwright.domain.spec.acceptance_text import (
    FORM,
    authorship_problems,
    own_items,
    read_acceptance,
    summary,
    with_acceptance,
)
from specwright.domain.spec.completeness import validate
from specwright.domain.spec.draft_history import GateAction, GateAnswer
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft, spec_difference
from specwright.errors import InputError
from testkit.domain.product_specs import NOW, draft_data, epic_data, pillar_data, story_data, task_data
from testkit.paths import ROOT

IMPORT = "from table_keeper import parse_header\n"


def example(
    title="A plain header", code=f"{IMPORT}parse_header('a,b')", gives="['a', 'b']", criteria=(1,), **more
):
    """An example of the first task."""
    return {"title": title, "criteria": list(criteria), "code": code, "gives": gives, **more}


def held(
    title="Any name comes back", variables=None, code="parse_header(name) == [name]", errors=("ValueError",)
):
    """A property of the first task."""
    return {
        "title": title,
        "criteria": [1, 2],
        "variables": variables or {"name": "str"},
        "code": f"{IMPORT}{code}",
        "errors": list(errors),
    }


def acceptance(*examples, properties=(), provides=("parse_header(text: str) -> list[str]",), **more):
    """Of the first task."""
    return {"provides": list(provides), "examples": list(examples), "properties": list(properties), **more}


def spec(first=None, second=None):
    """A draft of two tasks with their acceptance; its package is `table_keeper`."""
    tasks = [task_data(1), task_data(2, "Parse the rows", ["TSK-001"])]
    for task, one in zip(tasks, (first, second), strict=True):
        if one is not None:
            task["acceptance"] = one
    return draft_data([pillar_data([epic_data([story_data(tasks)])])])


def faults(*tasks):
    """What `validate` says of the acceptance of tasks."""
    return [f"{error.field}: {error.message}" for error in validate(spec(*tasks)).errors]


def test_a_spec_may_have_none_and_says_so():
    """The fields of F stay as they are; a spec without examples is stored without the field (D-40-01)."""
    draft = ProductSpecDraft.model_validate(spec())
    assert "acceptance" not in draft.to_json()["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    assert summary(draft) == "4 criteria, 0 executable: 0 examples."


def test_good_examples_and_properties_are_no_fault():
    """Also an example that uses the names of another task, keywords, defaults, the standard library, and one that gives an
    error (D-40-01, D-40-02)."""
    rows = acceptance(
        example(
            "Rows", f"{IMPORT}from table_keeper import Row, rows\nrows(parse_header('a'), sep=';')", "[]"
        ),
        example(
            "An error",
            "import datetime\nfrom table_keeper import rows\nrows('', sep='')",
            "ValueError: empty",
        ),
        provides=["rows(names: list[str], sep: str = ',') -> list[Row]", "Row"],
    )
    assert faults(acceptance(example(), properties=[held()]), rows) == []


def test_parameters_passed_by_keyword_only_and_any_number_of_arguments_are_approved():
    """What a contract can say of how a parameter is passed, a public name can: a call that passes one otherwise is a fault
    of its example, and the file that a person edits gives the name back as it was (D-40-02, D-40-05)."""
    public = "rows(*names: str, sep: str = ',') -> list[str]"
    provides = ["parse_header(text: str, *, most: int = 9) -> list[str]", public]
    by_name = example(code=f"{IMPORT}parse_header('a,b', most=2)")
    many = example("Rows", "from table_keeper import rows\nrows('a', 'b', sep=';')", "['a;b']")
    one = acceptance(by_name, many, provides=provides)
    assert faults(one) == []
    draft = ProductSpecDraft.model_validate(spec(one))
    assert with_acceptance(spec(one), acceptance_file(draft), "acceptance.md") == draft.to_json()
    (found,) = faults(acceptance(example(code=f"{IMPORT}parse_header('a,b', 2)"), provides=provides))
    assert f"does not fit `{provides[0]}`: too many positional arguments" in found


def test_an_example_may_script_hosts():
    """What it imports for that is no name of the product (D-40-02, D-44-03)."""
    code = "from modules.testing import web\nweb.serve('https://a.example/', status=404)\n"
    scripted = example("Gone", f"{IMPORT}{code}parse_header('https://a.example/')", "[]")
    assert faults(acceptance(example(), scripted)) == []
    assert imported_names(AcceptanceExample.model_validate(scripted)) == {"parse_header"}


PLANTED = {
    "from table_keeper import parse_header, heads\nheads(parse_header(''))": "no task provides heads",
    f"{IMPORT}import requests\nparse_header('')": "it imports requests",
    f"{IMPORT}import subprocess\nparse_header('')": "it imports subprocess",
    f"{IMPORT}from modules.parse_header import rows\nparse_header(rows)": "by `from table_keeper import ...`",
    "1 + 1": "it uses no name of TSK-001",
    f"{IMPORT}parse_header(text)": "nothing defines: text",
}


def test_a_planted_fault_is_found_before_the_gate():
    """With the task's field, what is wrong, and what to do: foreign names and packages, what reaches beyond the product, a
    criterion shown and said to be not executable, a name twice (D-40-02, D-40-05)."""
    twice = ["parse_header(text: str) -> list[str]", "parse_header(a) -> int"]
    planted = [(acceptance(example(code=code)), words) for code, words in PLANTED.items()] + [
        (
            acceptance(example(), unexecutable=[{"criterion": 1, "why": "it looks nice"}]),
            "criterion 1 is shown",
        ),
        (acceptance(example(), provides=twice), "parse_header is provided by TSK-001 already"),
    ]
    for given_, words in planted:
        (found,) = faults(given_)
        assert words in found
        assert found.startswith("acceptance.")


def test_a_criterion_that_nothing_shows_and_nobody_explains_is_a_warning():
    """Only where the task has examples at all: prose criteria stay as they are (D-40-04)."""
    why = {"unexecutable": [{"criterion": 2, "why": "a person has to look"}]}
    for more, count in (({}, 1), (why, 0)):
        warnings = [one.message for one in validate(spec(acceptance(example(), **more))).warnings]
        assert [one[:11] for one in warnings if "shown by no" in one] == ["criterion 2"] * count
    assert validate(spec()).warnings == []


def test_a_scenario_names_success_criteria_of_its_epic():
    """They come back from the file as they were (D-41-02)."""
    one = acceptance(example(success_criteria=[1]))
    draft = ProductSpecDraft.model_validate(spec(one))
    assert faults(one) == []
    assert "Shows criterion 1. Shows success criterion 1." in acceptance_file(draft)
    edited_ = with_acceptance(spec(one), acceptance_file(draft), "acceptance.md")
    assert edited_ == draft.to_json()
    assert faults(acceptance(example(success_criteria=[9]))) == [
        "acceptance.examples: 'A plain header': there is no success criterion 9; EPC-001 has 1"
    ]


def test_one_title_and_one_provider_of_a_name_are_meant():
    """Which one, and nothing else (D-40-02, D-40-05)."""
    found = faults(acceptance(example(), example(code=f"{IMPORT}parse_header('c')")))
    assert found == ["acceptance: the title 'A plain header' occurs twice; give each its own"]
    other = acceptance(example("Other", gives="[]", code=f"{IMPORT}parse_header('')"))
    assert faults(acceptance(example()), other) == [
        "acceptance.provides: parse_header is provided by TSK-001 already; one task provides it"
    ]


UNLOCKABLE = {
    "Counter": "'Counter' is a name of Python's own; choose another",
    "date": "'date' is no name of a class; write it like `PaidBill`",
    "list(text: str) -> str": "'list' would hide a name of Python's own; choose another",
    "pick(text: str, /, most: int) -> str": "text is passed by position alone, which no contract can say; leave `/` out",
    "pick(rows: AsyncIterator[str]) -> str": "AsyncIterator",
    "pick(rows: list[Iterator[str]]) -> str": "Iterator",
    "pick(rows: str) -> Sequence[str]": "is for parameters alone",
    "pick(row: str) -> Any": "Any",
}


def test_a_name_that_no_contract_could_lock_is_refused_before_any_plan():
    """Approved names bind the plan, so that one which the planner's contract cannot have would have no way out; what lives
    in another module of the library is a good name for a class of one's own (D-40-05)."""
    for public, words in UNLOCKABLE.items():
        (found,) = faults(acceptance(example(), provides=["parse_header(text: str) -> list[str]", public]))
        assert words in found
    for name in ("Pattern", "Match", "Text"):
        own = [f"parse_header(text: str) -> {name} | None", name]
        assert faults(acceptance(example(), provides=own)) == []
        assert is_class_name(name)


def test_an_example_that_is_none_is_refused():
    """It parses and ends in a value, and names criteria (D-40-02, D-40-04)."""
    for changes, words in (
        ({"code": "x ="}, "not Python"),
        ({"code": "x = 1"}, "the last line of the code is no expression"),
        ({"code": ""}, "the last line of the code is no expression"),
        ({"criteria": []}, ""),  # how many there are at least is no error of the report
        ({"criteria": [0]}, "greater than or equal to 1"),
        ({"title": "TBD"}, "placeholder"),
        ({"gives": ""}, "empty"),
        ({"author": "somebody"}, "researcher"),
    ):
        errors = [str(error) for error in validate(spec(acceptance({**example(), **changes}))).errors]
        assert not words or words in errors[0]
        with pytest.raises(ValidationError):
            TaskAcceptance.model_validate(acceptance({**example(), **changes}))


def test_a_property_has_variables_that_can_be_drawn():
    """Of the types that cross a module's boundary, all of them used (D-40-03)."""
    for variables, words in (
        ({"name": "Iterator[str]"}, "the variable name"),
        ({"name": "str", "other": "int"}, "does not use other"),
        ({"list": "str"}, "cannot be the name of a variable"),
        ({"a b": "str"}, "cannot be the name of a variable"),
    ):
        with pytest.raises(ValidationError, match=words):
            TaskAcceptance.model_validate(acceptance(properties=[held(variables=variables)]))


def test_a_public_name_is_a_class_or_a_signature():
    """Names and signatures bind the plan (D-40-09)."""
    for public in ("", "2x", "_own(a)", "f(", "f(a): pass\ndef g()", "class", "f(**k)", "f(a) ->"):
        with pytest.raises(ValidationError):
            TaskAcceptance.model_validate(acceptance(provides=[public]))


def test_what_comes_out_is_a_value_or_an_error():
    """A text that no `repr` gives could never be shown (D-40-06)."""
    for gives in (
        "Fraction(2, 1)",
        "<Side.LEFT: 'l'>",
        "ValueError:",
        "ValueError: no (number",
        "nan",
        "{'a': 1}",
    ):
        TaskAcceptance.model_validate(acceptance(example(gives=gives)))
    wrong = {"Fraction(2, 1": "is no `repr`", "'open": "is no `repr`", "two words": "is no `repr`"}
    for gives, why in {
        **wrong,
        '"AL"': "write 'AL'",
        "[1,2]": r"write \[1, 2\]",
        "1.50": "write 1.5",
    }.items():
        with pytest.raises(ValidationError, match=why):
            TaskAcceptance.model_validate(acceptance(example(gives=gives)))


def test_of_an_edited_file_only_what_is_the_person_s_outlives_a_rejection():
    """The rest is the rejected draft's, and a new conversation begins without it (F-3.2.4-04, D-40-06)."""
    bars = example("Bars", f"{IMPORT}x = '# a|b'\nparse_header(x)", "['# a|b']", author="person")
    edited = acceptance_file(
        ProductSpec.model_validate(
            {**spec(acceptance(example(), bars, properties=[held()])), "created_at": NOW, "updated_at": NOW}
        )
    )
    own = own_items(edited)
    assert own.startswith("## Bars\n\nShows criterion 1. Yours.")
    assert "x = '# a|b'" in own
    assert not any(other in own for other in ("A plain header", "Holds for all", "Provides"))
    told = GateAnswer(action=GateAction.AMEND, examples=edited).message
    assert own.strip() in told
    assert "Of yours stay, and no others: 'A plain header', " in told
    assert not any(other in told for other in ("Holds for all", "Provides", "hand the file back"))


def test_the_page_shows_each_criterion_with_its_examples():
    """Folded below it; and how many are executable, and why one is not (D-40-06)."""
    first = acceptance(
        example(),
        example("Bars", f"{IMPORT}x = 'a|b'\nparse_header(x)", "['a|b']", author="person"),
        properties=[held()],
    )
    second = acceptance(
        provides=["rows(text: str) -> list[str]"],
        unexecutable=[{"criterion": 2, "why": "only a person sees it."}],
    )
    page = spec_page(
        ProductSpec.model_validate({**spec(first, second), "created_at": NOW, "updated_at": NOW})
    )
    for part in (
        "4 criteria, 2 executable: 2 examples, 1 property.",
        "```python\ndef rows(text: str) -> list[str]\n```\n\n1. ",
        "<details><summary>2 examples, 1 property</summary>\n\n```python\n# A plain header. Shows criterion 1.\n",
        ">>> parse_header('a,b')\n['a', 'b']\n# Bars. Shows criterion 1. Yours.\n>>> x = 'a|b'\n>>> parse_header(x)\n",
        "# Any name comes back. Shows criteria 1, 2. Holds for all `name: str`. May raise `ValueError`.\n",
        "2. Raises ValueError for an empty file (judged by models alone: only a person sees it.)",
        "1. Returns the column names in order (no example shows it)\n2. Raises",
    ):
        assert part in page


def test_a_person_sees_the_whole_of_a_call_that_is_approved():
    """Three of four long calls were once cut on the page (D-40-06)."""
    text = "x" * 5_000
    one = spec(acceptance(example(code=f"{IMPORT}parse_header('{text}')")))
    assert text in spec_page(ProductSpec.model_validate({**one, "created_at": NOW, "updated_at": NOW}))


_TITLES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=3, max_size=12).filter(
    lambda text: not text.startswith("#")
)
_VALUES = st.one_of(st.text(max_size=20), st.integers(), st.lists(st.text(max_size=5), max_size=3))


@settings(max_examples=60)
@given(
    titles=st.lists(_TITLES, min_size=3, max_size=3, unique=True),
    value=_VALUES,
    criteria=st.lists(st.sampled_from([1, 2]), min_size=1, unique=True),
    author=st.sampled_from(["researcher", "person"]),
)
def test_what_is_not_edited_comes_back_as_it_was(titles, value, criteria, author):
    """The file says everything; reading it changes nothing, authors included (D-40-07)."""
    try:
        first = acceptance(
            example(titles[0], f"{IMPORT}parse_header({value!r})", repr(value), criteria, author=author),
            example(
                titles[1],
                f"{IMPORT}parse_header(```\n```)" if False else f"{IMPORT}parse_header('`````')",
                "[]",
            ),
            properties=[held(titles[2])],
            unexecutable=[],
        )
        TaskAcceptance.model_validate(first)
    except ValidationError:  # a title that is a placeholder
        return
    draft = ProductSpecDraft.model_validate(spec(first, acceptance(provides=["Row"])))
    assert with_acceptance(draft.to_json(), acceptance_file(draft), "acceptance.md") == draft.to_json()


def edited(text):
    """A spec whose only example is the researcher's, after a person edited the file so."""
    draft = ProductSpecDraft.model_validate(spec(acceptance(example())))
    changed = with_acceptance(draft.to_json(), text(acceptance_file(draft)), "acceptance.md")
    return changed["pillars"][0]["epics"][0]["stories"][0]["tasks"][0].get("acceptance")


def test_what_a_person_corrects_or_adds_is_theirs():
    """A changed example and a new one; the others stay the researcher's (D-40-07)."""
    corrected = edited(lambda text: text.replace("['a', 'b']", "['A']"))
    assert [(one["gives"], one["author"]) for one in corrected["examples"]] == [("['A']", "person")]
    added = (
        "\n## Mine\nShows criterion 2.\n\n"
        "```python\nfrom table_keeper import parse_header\nparse_header('')\n```\n\n```text\nValueError: empty\n```\n"
    )
    more = edited(lambda text: text.replace("\n# TSK-002", f"{added}\n# TSK-002"))
    assert [(one["title"], one["author"]) for one in more["examples"]] == [
        ("A plain header", "researcher"),
        ("Mine", "person"),
    ]
    assert edited(
        lambda text: text.replace("\n# TSK-002", f"{added}\n# TSK-002").replace("A plain header", "Mine 2")
    )


def test_a_file_that_cannot_be_read_is_told_with_its_line():
    """One error, what and where (D-40-07)."""
    for replaced, by, words in (
        ("Shows criterion 1.", "", "does not say what it shows"),
        ("```text", "```yaml", "fenced blocks"),
        ("['a', 'b']", "", "a heading or a block is empty"),
        ("criterion 1.", "criterion 0.", "criteria count from 1"),
        ("# TSK-002", "# Settle up", "the heading 'Settle up .*' names no task"),
        ("parse_header('a,b')", "parse_header(", "not Python"),
        ("# TSK-001", "# TSK-009", r"no such task\n  where: acceptance.md:5: TSK-009"),
        ("# TSK-001", "# The first", "the heading 'The first .*' names no task"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            edited(lambda text, old=replaced, new=by: text.replace(old, new))
        assert "acceptance.md" in str(caught.value)


def told_form():
    """The task that the documentation shows."""
    page = (ROOT / "docs/command-line.md").read_text()
    told = (
        page.partition("## The form of acceptance.md")[2].partition("````markdown\n")[2].partition("````")[0]
    )
    assert told
    return told


def test_the_form_that_is_told_can_be_read():
    """The page of the documentation, the head of the file and its errors lead there (D-40-07, D-S9-04)."""
    read = read_acceptance(told_form(), "acceptance.md")["TSK-001"]
    assert read.provides == ["initials(name: str) -> str"]
    assert [one.gives for one in read.examples] == ["'AL'", "ValueError: no letter"]
    assert [one.variables for one in read.properties] == [{"name": "str"}]
    assert [one.criterion for one in read.unexecutable] == [3]
    assert FORM in acceptance_file(ProductSpecDraft.model_validate(spec()))


def test_the_line_of_what_cannot_be_read_is_told():
    """Not that of the task, and no word of how it is checked (D-40-07, D-S9-04)."""
    listed = "`initials(name: str) -> str`\n"
    for replaced, by, at, words in (
        (f"- {listed}", listed, "Provides:", "no public name is listed"),
        ("Shows criterion 2.", "", "## No letter", "does not say what it shows"),
        ("`name: str`", "`name: text`", "## Twice is once", "the variable name"),
        ("text\n'AL'", "text", "## Two words", "a heading or a block is empty"),
        ("initials(name: str) ->", "initials(name: str ->", "# TSK-001", "is no signature"),
    ):
        text = f"# Acceptance of Nameplate\n\n{told_form()}".replace(replaced, by, 1)
        line = next(number for number, one in enumerate(text.splitlines(), 1) if one.startswith(at))
        with pytest.raises(InputError, match=words) as caught:
            read_acceptance(text, "acceptance.md")
        assert caught.value.where == f"acceptance.md:{line}"
        assert FORM in caught.value.remedy


def test_nobody_strikes_what_a_person_wrote():
    """A later draft keeps it to the letter, and passes nothing off as a person's (D-40-08)."""
    before = ProductSpecDraft.model_validate(
        spec(acceptance(example(author="person"), example("B", gives="[]")))
    )
    kept, struck, changed, forged = (copy.deepcopy(before.to_json()) for _ in range(4))

    def first(data):
        return data["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]["acceptance"]["examples"]

    first(kept).pop(1)
    first(struck).pop(0)
    first(changed)[0]["gives"] = "[]"
    first(forged)[1]["author"] = "person"
    problems = [
        authorship_problems(before, ProductSpecDraft.model_validate(data))
        for data in (kept, struck, changed, forged)
    ]
    assert problems[0] == []
    assert ["was written by the person" in one for one in problems[1]] == [True]
    assert len(problems[2]) == 2
    assert ["is not the person's" in one for one in problems[3]] == [True]


def test_a_changed_example_is_a_change_of_its_task():
    """Shown at the gate as the page has it, and the task is built again (D-40-07, D-38-03)."""
    stamped = {"created_at": NOW, "updated_at": NOW}
    before = ProductSpec.model_validate({**spec(), **stamped})
    after = ProductSpec.model_validate({**spec(acceptance(example())), **stamped})
    assert spec_difference(before, after).changed == {
        "TSK-001": ("acceptance: + parse_header(text: str) -> list[str]", "acceptance: + A plain header")
    }
    shown = spec_patch(before, after)
    assert {"+def parse_header(text: str) -> list[str]", "+['a', 'b']"} <= {*shown}
    assert spec_patch(before, before) == []
    other = ProductSpec.model_validate({**spec(acceptance(example(gives="[]"))), **stamped})
    assert spec_difference(after, other).changed == {
        "TSK-001": ("acceptance: A plain header: gives: ['a', 'b'] -> []",)
    }
    assert [line for line in spec_patch(after, other) if line[:1] in "+-"] == ["-['a', 'b']", "+[]"]


def test_a_class_of_another_task_is_named_by_a_task_that_comes_after_it():
    """A record has one definition, of the task that provides it (D-40-05)."""
    first = acceptance(example(), provides=["parse_header(text: str) -> Header", "Header"])
    second = {"provides": ["rows(header: list[Header]) -> list[str]"]}
    assert faults(first, second) == []
    alone = spec(first, second)
    task = alone["pillars"][0]["epics"][0]["stories"][0]["tasks"][1]
    task["depends_on"] = []
    assert [error.message for error in validate(alone).errors] == [
        "`rows(header: list[Header]) -> list[str]` names Header of TSK-001; add TSK-001 to `depends_on` of TSK-002"
    ]


def test_what_shows_a_criterion_follows_it():
    """To its new number, also where it is reworded in its place; what a person approved goes away by its title alone
    (D-41-04)."""
    shown = [example("A", criteria=(1,)), example("B", criteria=(1, 2))]
    whole = TaskAcceptance.model_validate(acceptance(*shown, properties=[{**held("C"), "criteria": [2]}]))
    for after, struck, left in (
        (["One", "Two"], (), {"A": [1], "B": [1, 2], "C": [2]}),
        (["Two", "One"], (), {"A": [2], "B": [2, 1], "C": [1]}),
        (["One", "Two, said otherwise"], (), {"A": [1], "B": [1, 2], "C": [2]}),
        (["New", "One", "Two"], (), {"A": [2], "B": [2, 3], "C": [3]}),
        (["One", "Three", "Four"], ("C",), {"A": [1], "B": [1]}),
        (["One", "Two"], ("A", "B"), {"C": [2]}),
    ):
        found = amended_acceptance(whole, ["One", "Two"], after, dict.fromkeys(struck))
        assert found is not None
        assert {one.title: one.criteria for one in found.items} == left
    two = TaskAcceptance.model_validate(acceptance(example("A"), example("B", criteria=(2,))))
    for after, struck, words in (
        (["One", "Three", "Four"], (), "the approved 'B' shows a criterion that was removed"),
        (["One", "Two"], ("b",), "no approved example or property has the title 'b'"),
    ):
        with pytest.raises(InputError, match=words):
            amended_acceptance(two, ["One", "Two"], after, dict.fromkeys(struck))
