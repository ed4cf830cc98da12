"""Weak answers over a provider's client: what it makes of them before the factory sees them (DESIGN §6).

The endpoint is a real server on loopback. A call whose arguments are no JSON reaches the factory as an unread call, an
answer of nothing as an empty text: neither is an error of the client.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from specwright.bootstrap.project import Composition, Silent, open_project
from specwright.settings import Settings
from testkit.endpoint import Endpoint, Fault, serving
from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK
from testkit.roles.overheard import Lenient


def asked(directory: Path, *faults: Fault) -> Counter[str]:
    """How often each role was asked in a run over a misbehaving endpoint; it reaches its release all the same."""
    project = directory / "project"
    project.mkdir()
    with serving(PLAYBOOK) as endpoint:
        endpoint.misbehave(*faults)
        settings = Settings(model="openai:test", base_url=endpoint.base_url, retry_seconds=0)
        composition = Composition(lambda adapters: replace(adapters, gate=Lenient(adapters.gate)))
        with open_project(project, settings, Silent(), NAMEPLATE_SPEC.read_text(), composition) as opened:
            opened.driver.advance()
            opened.driver.advance({"action": "APPROVE", "by": "human:operator"})
        assert list((project / "state_store/modules").iterdir())
        return _by_role(endpoint)


def _by_role(endpoint: Endpoint) -> Counter[str]:
    return Counter(f"{one.place.role} {one.place.subject}".strip() for one in endpoint.log)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """How often each role is asked by an endpoint that behaves."""
    return asked(tmp_path_factory.mktemp("usual"))


@pytest.mark.slow
def test_arguments_that_can_be_read_cost_no_call(usual: Counter[str], tmp_path: Path) -> None:
    """A trailing comma, arguments in arguments, prose: understood as they came (D-S6-04)."""
    told = asked(
        tmp_path,
        Fault("trailing comma", "challenger", "contracts"),
        Fault("wrapped arguments", "challenger", "initials"),
        Fault("prose", "arbiter", "contracts"),
        Fault("reasoning", "arbiter", "initials"),
    )
    assert told == usual


@pytest.mark.slow
def test_arguments_that_break_off_and_empty_answers_cost_one_call_each(
    usual: Counter[str], tmp_path: Path
) -> None:
    """Nothing is guessed of half a verdict; an answer of nothing is no answer (D-S6-04, D-11-04)."""
    told = asked(
        tmp_path,
        Fault("cut arguments", "challenger", "contracts"),
        Fault("empty", "challenger", "initials"),
        Fault("empty", "arbiter", "contracts"),
    )
    once_more = ("challenger contracts", "challenger initials", "arbiter contracts")
    assert told == usual + Counter(once_more)
