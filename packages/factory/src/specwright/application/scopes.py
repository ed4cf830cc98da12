"""Names of journal scopes that are used in more than one place (design: journal).

Other scopes are named where they are used. A scope's name must be unique in the project and the same when the step is
repeated. It begins with the run of an attempt, `TSK-003.1`, or with the `run_id` of a role's invocation,
`TSK-003.1/split_evenly/round-1/proposer`, and ends with the step.
"""

from specwright.ports import Role

APPROVAL = "product/approval"
INITIALISE = "project/init"


def emission(restart: int, number: int, change: int = 0) -> str:
    """Return the scope of a product spec that the researcher submitted, optionally for a change."""
    return f"{product_change(change) if change else 'product'}.{restart}/emission-{number}"


def research(restart: int, change: int = 0) -> str:
    """Return the scope of a conversation with the researcher, optionally for a change."""
    return f"{product_change(change) if change else 'product'}.{restart}/{Role.RESEARCHER}"


def product_change(number: int) -> str:
    """Return the name of a change: the task of its researcher, and the first part of its scopes."""
    return f"change-{number}"


def release(number: int, change: int = 0) -> str:
    """Return the scope of a release; that of a change's release begins with the change."""
    return f"{product_change(change)}/release/{number}" if change else f"release/{number}"


def plan_by_code(place: str) -> str:
    """Return the scope of a plan whose amendments code applied."""
    return f"{place}/by-code"
