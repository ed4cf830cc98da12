"""The journal scopes of a run, one function for each step (design: journal).

A scope's name must be unique in the project and the same when the step is repeated. `run` is a run of a task's attempt,
`TSK-003.1`; `place` is the `run_id` of a role's invocation, `TSK-003.1/split_evenly/round-1/proposer`. A role's answers
are journalled under the place itself, the draws of a step under what is added to it here.
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


def change_step(number: int, step: str) -> str:
    """A step of a change: it is asked for, approved, abandoned."""
    return f"{product_change(number)}/{step}"


def exception_cause(exception_id: str, number: int) -> str:
    """An approved exception gave a module a later version: the first part of the scopes of what follows for those that
    call it, as `product_change` is of a change."""
    return f"exception/{exception_id}-{number}"


def reseal(cause: str, ref: str) -> str:
    """A consumer is judged again and sealed by code."""
    return f"{cause}/reseal/{ref}"


def migration(cause: str, spec_task_id: str) -> str:
    """A task gets a migration."""
    return f"{cause}/migration/{spec_task_id}"


def supersession(cause: str, ref: str) -> str:
    """A version that was migrated is retired, outside of a change."""
    return f"{cause}/superseded/{ref}"


def release(number: int, change: int = 0) -> str:
    """A release of the product; the one that a change comes to has the scope of that change."""
    return f"{product_change(change)}/release/{number}" if change else f"release/{number}"


def deprecation(ref: str) -> str:
    """A module version is deprecated."""
    return f"deprecation/{ref}"


def resolution(escalation_id: str) -> str:
    """A person's answer to an escalation."""
    return f"resolution/{escalation_id}"


def exception_decision(exception_id: str, number: int) -> str:
    """A person's decision about an interface change exception."""
    return f"exception/{exception_id}/{number}"


def exception_outcome(label: str) -> str:
    """What came of an approved interface change."""
    return f"exception/{label}/outcome"


def dispatch(run: str) -> str:
    """A task begins."""
    return f"{run}/dispatch"


def shipped(run: str) -> str:
    """A task is complete."""
    return f"{run}/shipped"


def halt(run: str) -> str:
    """A task halts."""
    return f"{run}/halt"


def stall(run: str, number: int) -> str:
    """A task that has not run stalls; it may do so several times."""
    return f"{run}/stalled-{number}"


def nearest(run: str) -> str:
    """The search of the Code Index for a task, before its first plan."""
    return f"{run}/plan/nearest"


def human_plan(run: str) -> str:
    """A plan that a person's answer holds."""
    return f"{run}/plan/given"


def human_planner(run: str) -> str:
    """The `run_id` of a person who hands in a plan."""
    return f"{run}/plan/operator"


def human_proposer(run: str, module: str) -> str:
    """A person's part in the debate of a module: its scope and its `run_id`."""
    return f"{run}/{module}/operator"


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


def lock(run: str, plan_id: str) -> str:
    """A plan is locked."""
    return f"{run}/lock/{plan_id}"


def gate(run: str, module: str, version_id: str) -> str:
    """The ship gate judges a version."""
    return f"{run}/{module}/gate/{version_id}"


def measured(task: str, module: str, digest: str) -> str:
    """What the slow stages of the gate showed of these files, in whatever run of the task."""
    return f"{task}/{module}/measured/{digest}"


def gate_run(scope: str, digest: str) -> str:
    """When the gate began to judge these files in a step."""
    return f"{scope}/run/{digest}"


def gate_decision(run: str, deliverable: str, version_id: str) -> str:
    """The Wire of what a gate decided."""
    return f"{run}/{deliverable}/decided/{version_id}"


def amendments(run: str, deliverable: str, version_id: str) -> str:
    """The record of amendments that were applied."""
    return f"{run}/{deliverable}/amended/{version_id}"


def seal(run: str, module: str, version_id: str) -> str:
    """A module is sealed."""
    return f"{run}/{module}/seal/{version_id}"


def reuse(run: str, ref: str) -> str:
    """A sealed module is reused as it is."""
    return f"{run}/reuse/{ref}"


def halted_draft(run: str, module: str, version_id: str) -> str:
    """The files of a module that halted are kept."""
    return f"{run}/{module}/aside/{version_id}"


def refused_draft(run: str, module: str, stage: str) -> str:
    """The files of a draft that never became a proposal are kept."""
    return f"{run}/{module}/unproposed/{stage}"


def pack(place: str) -> str:
    """The context pack of a Challenger or an Arbiter."""
    return f"{place}/pack"


def index_statuses(place: str) -> str:
    """The statuses of modules in the Code Index, as a Challenger is shown them."""
    return f"{place}/index"


def rulings(place: str) -> str:
    """The answers to questions about criteria, as a role is shown them."""
    return f"{place}/rulings"


def question(ruling_id: str, criterion: int) -> str:
    """The question about a criterion that a ruling set aside."""
    return f"{ruling_id}/criterion-{criterion}"


def failed_release(release_id: str) -> str:
    """The escalation of a release whose product breaks what was approved."""
    return f"{release_id}/escalation"


def part(place: str, module: str) -> str:
    """What a shared request was answered about one module, as a place of its own."""
    return f"{place}/{module}"


def falsifying_tests(place: str) -> str:
    """The runs of a Challenger's tests."""
    return f"{place}/tests"


def regression_tests(run: str, module: str) -> str:
    """Which version of a module comes before the one that a task makes."""
    return f"{run}/{module}/regression-tests"


def record(place: str) -> str:
    """A challenge or an adjudication."""
    return f"{place}/record"


def plan(place: str) -> str:
    """A planner's pack and the plan that it makes."""
    return f"{place}/plan"


def plan_by_code(place: str) -> str:
    """A plan whose amendments code applied."""
    return f"{place}/by-code"


def implementation(place: str) -> str:
    """A Proposer's pack, its preflights, and the version that it makes."""
    return f"{place}/desk"


def proposal(place: str) -> str:
    """The proposal of a version."""
    return f"{place}/proposal"
