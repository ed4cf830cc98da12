"""Where the requests of a process end: at the gate, which has the answers of the script, or at a script in the same process
(design: contracts, ship-gate, release).

The module's process asks the gate. What the gate is told of a request, and who scripts its answer, stands outside of this
process: the module can ask, and neither read the script nor write what was asked. Mutants, and the installed product on
trial, have the script in their own process.
"""

from ship_gate.inside.frames import Link
from ship_gate.inside.observation.audit import Report, locator
from ship_gate.inside.observation.clock import ModuleClock, offer
from ship_gate.inside.web import connections
from ship_gate.inside.web.connections import HostRequest
from ship_gate.inside.web.script import Answer, Web


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


def lead_to(web: Web, clock: ModuleClock) -> None:
    """Let every connection of this process end at a script, which code finds by its import."""
    offer(web=web)

    def ask(asked: HostRequest, data: bytes) -> Answer:
        return web.asked(asked.scheme, asked.host, asked.port, data, asked.at)

    connections.install(ask, clock, lambda kind, what: None)
