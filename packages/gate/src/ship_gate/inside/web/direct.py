"""Leads a module's connections to a script that is in the same process: mutants, and the installed product on trial
(design: ship-gate, release)."""

from ship_gate.inside.observation.clock import ModuleClock, offer
from ship_gate.inside.web import connections
from ship_gate.inside.web.connections import HostRequest
from ship_gate.inside.web.script import Answer, Web


def lead_to(web: Web, clock: ModuleClock) -> None:
    """Let every connection of this process end at a script, which code finds by its import."""
    offer(web=web)

    def ask(asked: HostRequest, data: bytes) -> Answer:
        return web.asked(asked.scheme, asked.host, asked.port, data, asked.at)

    connections.install(ask, clock, lambda kind, what: None)
