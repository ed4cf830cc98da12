"""The file of a bug report: what its block may import (D39). `test_reports.py` has what else is refused."""

import pytest

from specwright.domain.spec.change_request import read_example, statement_of, statements
from specwright.errors import InputError
from testkit.examples.tabkeeper_playbook import contracts

CONTRACT = contracts()["parse_money"]


def code_of(block: str) -> str:
    """The block of a report as it is read."""
    text = f"## An amount\n\nWith a sign.\n\n```python\n{block}\n```\n\n```text\n1250\n```\n"
    return read_example(text, CONTRACT, "bug.md", "tabkeeper").code


@pytest.mark.parametrize(
    ("block", "read"),
    [
        (
            'from tabkeeper import parse_money\n\nparse_money("12.50")  # ö',
            'from modules.parse_money import parse_money\n\nparse_money("12.50")  # ö',
        ),
        (
            'x = "ö"; from tabkeeper import (\n    parse_money as parsed,\n    parse_money,\n)\nparse_money("12.50")',
            'x = "ö"; from modules.parse_money import parse_money as parsed, parse_money\nparse_money("12.50")',
        ),
        (
            'import tabkeeper\n\ntabkeeper.parse_money("12.50")',
            'import modules.parse_money as tabkeeper\n\ntabkeeper.parse_money("12.50")',
        ),
        (
            'import sys, tabkeeper as tk\n\ntk.parse_money("12.50")',
            'import sys, modules.parse_money as tk\n\ntk.parse_money("12.50")',
        ),
        (
            'from modules.parse_money import parse_money\n\nparse_money("12.50")',
            'from modules.parse_money import parse_money\n\nparse_money("12.50")',
        ),
    ],
    ids=["a name", "renamed", "the package", "the package renamed", "the module"],
)
def test_an_example_may_import_the_product(block: str, read: str) -> None:
    """As a user of the wheel writes it; the module's examples have it as the gate runs it (D-39-01)."""
    assert code_of(block).rstrip("\n") == read


@pytest.mark.parametrize(
    ("block", "named"),
    [
        (
            'from tabkeeper import parse_money, settle_up\n\nparse_money("1")',
            "imports settle_up from tabkeeper",
        ),
        ("import tabkeeper\n\ntabkeeper.parse_money(tabkeeper.rate)", "imports rate from tabkeeper"),
    ],
    ids=["imported", "used"],
)
def test_what_another_module_of_the_product_provides_is_refused_by_name(block: str, named: str) -> None:
    """The example is run with its module alone (D-39-06)."""
    with pytest.raises(InputError, match=named):
        code_of(block)


def test_a_report_points_at_what_was_approved_of_the_task():
    """Criteria and decisions are listed beside the statements of the contract, and each is found by its number."""
    task = {
        "criterion": ["It reads 12.50."],
        "decision": ["A sign may stand in front.", "A comma parts thousands."],
    }
    listed = statements(CONTRACT, task)
    assert listed[-3:] == [
        ("criterion 1", "It reads 12.50."),
        ("decision 1", "A sign may stand in front."),
        ("decision 2", "A comma parts thousands."),
    ]
    assert [statement_of(CONTRACT, task, pointer) for pointer in ("1", "Decision 2", listed[0][0])] == [
        listed[-3],
        listed[-1],
        listed[0],
    ]
    assert not any(
        statement_of(CONTRACT, task, pointer) for pointer in ("2", "decision 3", "decision 0", "decision")
    )
