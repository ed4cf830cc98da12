"""The whole loop over a provider that misbehaves, in the wire formats of OpenAI and Anthropic (DESIGN §6).

The server is a real one on loopback, the clients are the product's. The gate of most runs here says yes, for speed: what it
thinks of a module is no matter of who wrote it.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specwright.application.stages.status import ProjectStatus
from specwright.bootstrap.costs import costs, spending_of
from specwright.bootstrap.project import Composition, Silent, open_project
from specwright.bootstrap.stores import DirectoryStore
from specwright.errors import SpecwrightError
from specwright.ports import RunEvent
from specwright.roles.models.spending import PublishedPrices
from specwright.settings import Settings
from testkit.endpoint import Endpoint, Fault, serving
from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK
from testkit.roles.overheard import Lenient
from testkit.sampling import spread

PROVIDERS = ("openai", "anthropic")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that answers for the nameplate, in both formats."""
    with serving(PLAYBOOK) as served:
        yield served


class Notes(Silent):
    """Keeps the messages about waits."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, event: object) -> None:
        """Keep a note."""
        if isinstance(event, RunEvent) and event.kind == "waiting":
            self.told.append(event.text)


class Runs:
    """Runs of the nameplate in one directory, over one endpoint.

    Args:
        directory: The project.
        endpoint: That answers.
        settings: Beside the model and its address.
    """

    def __init__(self, directory: Path, endpoint: Endpoint, provider: str, **settings: Any) -> None:
        given: dict[str, Any] = {
            "model": f"{provider}:test",
            "base_url": endpoint.base_url,
            "retry_seconds": 0,
            **settings,
        }
        self.settings = Settings(**given)
        self.directory = directory
        self.endpoint = endpoint
        self.notes = Notes()

    def run(self, *faults: Fault, seconds: float = 60.0) -> ProjectStatus | SpecwrightError:
        """Go on as far as it goes while the endpoint misbehaves; the spec is approved. The stop, or the error.

        Args:
            faults: Of the endpoint.
            seconds: That a call may take.
        """
        self.endpoint.misbehave(*faults)
        settings = self.settings.model_copy(update={"timeout_seconds": seconds})
        text = NAMEPLATE_SPEC.read_text()
        composition = Composition(lambda adapters: replace(adapters, gate=Lenient(adapters.gate)))  # pyright: ignore
        try:
            with open_project(self.directory, settings, self.notes, text, composition) as opened:
                return opened.run(approve=True)
        except SpecwrightError as error:
            return error

    def modules(self) -> int:
        """How many are sealed."""
        return len(list(self.directory.glob("state_store/modules/*/*/ship.json")))

    def check_costs(self) -> None:
        """What went out in full was asked once, and is what the project counts."""
        assert set(self.endpoint.answered.values()) <= {1}
        total = spending_of(self.settings, DirectoryStore(self.directory)).total
        assert total.requests == sum(self.endpoint.answered.values())
        assert total.tokens == self.endpoint.tokens["total_tokens"] > 0


PASSING = (
    Fault("429", "researcher"),
    Fault("429 wait 0.05", "planner"),
    Fault("529", "challenger", "contracts"),
    Fault("cut connection", "arbiter", "contracts"),
    Fault("500", "proposer"),
    Fault("503", "challenger", "initials"),
    Fault("cut connection", "arbiter", "initials"),
)


@pytest.mark.parametrize("provider", spread(PROVIDERS, slow=2))
def test_a_run_survives_every_fault_that_passes(provider: str, endpoint: Endpoint, tmp_path: Path) -> None:
    """One at each role: each is asked once more, and nothing else (D-S6-11, D-S4-03)."""
    runs = Runs(tmp_path, endpoint, provider, retry_seconds=2)
    assert runs.run(*PASSING) is ProjectStatus.RELEASED
    assert runs.modules() == 1
    runs.check_costs()
    assert len(runs.notes.told) == len(PASSING)
    assert "the rate limit of the endpoint is reached; asked again in 0.5 s" in runs.notes.told
    assert {asked.dialect for asked in endpoint.log} == {provider}
    assert len(endpoint.log) == len(endpoint.answered) + len(PASSING)


STOPS = (
    (Fault("401", "researcher"), 4, "refuses the key"),
    (Fault("malformed", "researcher"), 1, "does not follow its protocol"),
    (Fault("404", "planner"), 4, "does not know the model"),
    (Fault("403", "planner"), 4, "refuses the key"),
    (Fault("hang", "planner"), 5, "did not answer in time"),
    (Fault("no fields", "challenger", "contracts"), 1, "does not follow its protocol"),
    (Fault("413", "challenger", "contracts"), 1, "longer than this model takes"),
    (Fault("500", "arbiter", "contracts"), 5, "the endpoint answers 500"),
    (Fault("cut connection", "proposer"), 5, "cannot be reached"),
    (Fault("402", "proposer"), 6, "no credit left"),
    (Fault("another page", "challenger", "initials"), 1, "does not follow its protocol"),
    (Fault("400", "arbiter", "initials"), 1, "refuses the request"),
    (Fault("error", "arbiter", "initials"), 1, ""),
    (Fault("429 wait 3600", "arbiter", "initials"), 5, "asks to wait 3600 seconds"),
)
"""Faults that end a run cleanly: the exit code of the command, and words of the message."""


@pytest.mark.parametrize("provider", spread(reversed(PROVIDERS), slow=2))
def test_a_run_that_a_fault_stops_goes_on_where_it_was(
    provider: str, endpoint: Endpoint, tmp_path: Path
) -> None:
    """Fault upon fault in one project: each is told with what to do, costs nothing that was answered, and the last run
    releases (D-S6-11, D-S4-03, D-S9-02)."""
    runs = Runs(tmp_path, endpoint, provider)
    for fault, code, words in STOPS:
        told = runs.run(fault, seconds=1.0 if fault.kind == "hang" else 60.0)
        assert isinstance(told, SpecwrightError), fault
        assert (told.exit_code, words in told.what) == (code, True), (fault, str(told))
        assert told.where
        assert told.remedy
    assert runs.run() is ProjectStatus.RELEASED
    runs.check_costs()
    assert len(endpoint.log) == len(endpoint.answered) + len(STOPS)


def ever(kind: str, role: str, subject: str = "") -> Fault:
    """A fault that never ends."""
    return Fault(kind, role, subject, times=99)


LOOP = "made the same calls with the same results in 5 turns in a row"
CUT = "was cut off where the model's output ends"
NO_TOOL = "no call that works in 3 turns in a row"
HALTS = (
    (ever("refusal", "planner"), 3, "the model refuses: "),
    (ever("empty", "planner"), 3, "no JSON object"),
    (ever("no message", "planner"), 3, "no JSON object"),
    (ever("cut", "planner"), 3, CUT),
    (ever("cut arguments", "planner"), 4, CUT),  # one call of another tool
    (ever("unknown tool", "planner"), 3, NO_TOOL),
    (ever("loop", "planner"), 5, LOOP),
    (ever("refusal", "arbiter", "contracts"), 3, "the model refuses: "),
    (ever("cut", "arbiter", "contracts"), 3, CUT),
    (ever("no message", "arbiter", "contracts"), 3, "no JSON object"),
    (ever("empty", "challenger", "contracts"), 3, "no JSON object"),
    (ever("unknown tool", "challenger", "contracts"), 3, NO_TOOL),
    (ever("loop", "challenger", "contracts"), 5, LOOP),
)
"""Answers of a role that are none, again and again; how often it is asked before its task halts; words of the escalation."""
BOTH = [
    pytest.param(provider, *halt, id=f"{provider} {halt[0].role} {halt[0].kind}")
    for provider in reversed(PROVIDERS)
    for halt in HALTS
]


@pytest.mark.parametrize(("provider", "fault", "asked", "words"), spread(BOTH, fast=len(BOTH), slow=6))
def test_a_role_without_a_usable_answer_halts_its_task_after_few_calls(
    provider: str, fault: Fault, asked: int, words: str, endpoint: Endpoint, tmp_path: Path
) -> None:
    """Refusals, nothing, half answers, tools that nobody has, calls without an end: a person is asked, no verdict is made
    up, every answer is counted (D-S6-06, D-S6-13, D-S6-14)."""
    runs = Runs(tmp_path, endpoint, provider)
    assert runs.run(fault) is ProjectStatus.HALTED
    assert sum(map(fault.applies_to, endpoint.log)) == asked
    (escalation,) = tmp_path.glob("state_store/escalations/*.json")
    assert words in escalation.read_text()
    assert not runs.modules()
    runs.check_costs()
    sent = len(endpoint.log)
    assert runs.run(fault) is ProjectStatus.HALTED
    assert len(endpoint.log) == sent


@pytest.mark.parametrize("kind", spread(["negative usage", "no usage"], fast=2))
@pytest.mark.parametrize("provider", spread(PROVIDERS, fast=2))
def test_an_answer_whose_tokens_nobody_can_believe_is_estimated(
    kind: str, provider: str, endpoint: Endpoint, tmp_path: Path
) -> None:
    """Below nothing, or none: never taken for nothing, and the run goes on (D-S6-08, D-S6-09)."""
    runs = Runs(tmp_path, endpoint, provider)
    assert runs.run(ever(kind, "planner"), ever("refusal", "challenger")) is ProjectStatus.HALTED
    planner = costs(tmp_path, "role", PublishedPrices())["planner"]
    assert planner.input_tokens > 1_000
    assert planner.output_tokens > 100
    assert {*endpoint.answered.values()} == {1}
