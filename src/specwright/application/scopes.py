"""Names of journal scopes that are spelled in more than one place (design: journal).

Every other step spells its scope where it enters it. A scope's name must be unique in the project and the same when the
step is repeated. It begins with a run of a task's attempt, `TSK-003.1`, or with the `run_id` of a role's invocation,
`TSK-003.1/split_evenly/round-1/proposer`, under which the role's answers are journalled; what is added names the step.
"""

from specwright.ports.roles import Role

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


def advance_answer(run: str, step: str, module: str = "") -> str:
    """What a request about several tasks was answered about a task that came later, or about a module of it."""
    return f"{run}/ahead/{module}/{step}" if module else f"{run}/ahead/{step}"


def other_amendments(run: str, number: int) -> str:
    """What a ruling on contracts of another task amended, by number."""
    return f"{run}/ahead/amended/{number}"


def shared_request(run: str, role: str) -> str:
    """A role's request about a task and those that come next."""
    return f"{run}/together/{role}"


def drafts_together(run: str, task: str) -> str:
    """What a request for the drafts of several tasks tells of one, as a place for the answers about its criteria."""
    return f"{run}/together/drafts/{task}"


def judged_ahead(run: str, task: str) -> str:
    """The drafts of a later task as they are judged in the requests of a run, as a place."""
    return f"{run}/together/judged/{task}"


def judged_together(run: str, role: str) -> str:
    """What a judge's request about the modules of several tasks tells of them, as a place."""
    return f"{run}/together/modules/{role}/told"


def known_together(run: str, role: str) -> str:
    """The sealed modules as such a request about contracts takes them."""
    return f"{run}/together/{role}/known"


def part(place: str, module: str) -> str:
    """What a shared request was answered about one module, as a place of its own."""
    return f"{place}/{module}"


def plan_by_code(place: str) -> str:
    """A plan whose amendments code applied."""
    return f"{place}/by-code"


def implementation(place: str) -> str:
    """A Proposer's pack, its preflights, and the version that it makes."""
    return f"{place}/desk"
