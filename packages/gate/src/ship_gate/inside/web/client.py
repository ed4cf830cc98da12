"""The end of the module's process: its requests go to the gate, and the answers of the script come back (design:
contracts, ship-gate).

What the gate is told of a request, and who scripts its answer, stands outside of this process: the module can ask, and
neither read the script nor write what was asked.
"""

from ship_gate.inside.frames import Link
from ship_gate.inside.observation.audit import Report, locator
from ship_gate.inside.observation.clock import ModuleClock
from ship_gate.inside.web import connections
from ship_gate.inside.web.connections import HostRequest
from ship_gate.inside.web.script import Answer


class WebClient:
    """Asks the gate.

    Args:
        link: To the gate.
        folder: Of the modules, with a slash at its end.
        clock: Of the module.
    """

    def __init__(self, link: Link, folder: str, clock: ModuleClock) -> None:
        self._link = link
        self._line = locator(folder)
        self._clock = clock

    def connect(self, tell: Report) -> None:
        """Lead connections to the gate from here on."""
        connections.install(self._ask, self._clock, tell)

    def _ask(self, asked: HostRequest, data: bytes) -> Answer:
        self._link.send({"event": "web", **asked._asdict(), "line": self._line()}, data)
        answer, payload = self._link.receive()
        return Answer(payload, float(answer["delay"]), str(answer["failure"]))
