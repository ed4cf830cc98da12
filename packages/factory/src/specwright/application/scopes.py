"""Names of journal scopes that are spelled in more than one place (design: journal).

Every other step spells its scope where it enters it. A scope's name must be unique in the project and the same when the
step is repeated. It begins with a run of a task's attempt, `TSK-003.1`, or with the `run_id` of a role's invocation,
`TSK-003.1/split_evenly/round-1/proposer`, under which the role's answers are journalled; what is added names the step.
"""

from specwright.ports import Role

APPROVAL = "product/approval"
INITIALISE = "project/init"


def emission(restart: int, number: int, change: int = 0) -> str:
    """A product spec that the researcher emitted; of a change by its number."""
    return f"{product_change(change) if change else 'product'}.{restart}/emission-{number}"


def research(restart: int, change: int = 0) -> str:
    """A conversation with the researcher; of a change by its number."""
    return f"{product_change(change) if change else 'product'}.{restart}/{Role.RESEARCHER}"


def product_change(number: int) -> str:
    """A change of the product: the task by which its researcher is asked, and the first part of its scopes."""
    return f"change-{number}"


def release(number: int, change: int = 0) -> str:
    """A release of the product; the one that a change comes to has the scope of that change."""
    return f"{product_change(change)}/release/{number}" if change else f"release/{number}"


def plan_by_code(place: str) -> str:
    """A plan whose amendments code applied."""
    return f"{place}/by-code"
