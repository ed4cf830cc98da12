"""The clock and the hosts that tests set for the product, which has no others then.

Nobody waits: a sleep puts the clock forward. A host that no test scripts is not there.
"""

import pytest

from ship_gate.inside.observation.clock import ModuleClock
from ship_gate.inside.observation.clock import install as install_clock
from ship_gate.inside.web.connections import HostRequest
from ship_gate.inside.web.connections import install as install_connections
from ship_gate.inside.web.script import Answer, Web

clock = ModuleClock()
web = Web(clock.stand)


def _ask(asked: HostRequest, data: bytes) -> Answer:
    return web.asked(asked.scheme, asked.host, asked.port, data, asked.at)


install_clock(clock)
install_connections(_ask, clock, lambda kind, what: None)


@pytest.fixture(autouse=True)
def clear() -> None:
    """The clock and the hosts of one test are not those of the next."""
    clock.clear()
    web.clear()
