"""Attacks of modules that may ask a host: none reaches another, or a network, and none writes what was asked.

`corpus/hostile_hosts.md` has the modules. Past the static checks they run beside a server that listens on this machine.
"""

import contextlib
import socket
import threading
from typing import Any

import pytest

from gate_testkit.hosts import run_with_hosts
from gate_testkit.static_judging import cases, contract_of
from ship_gate.static.imports import import_findings
from ship_gate.static.stage import static_findings
from ship_gate.verdict import Candidate
from testkit.sampling import spread

HOSTILE = cases("hostile_hosts.md")
BY_SOURCE = [case for case in HOSTILE if not case.startswith("effects.")]
BY_RUN = [case for case in HOSTILE if case.startswith("effects.")]
ASKS = ["CALL https://a.example"]
ATTEMPT = """
def test_an_attempt():
    web.serve("https://a.example/", body="x")
    web.serve("https://a.example/away", status=302, headers={"Location": "http://127.0.0.1:PORT/"})
    web.serve("http://127.0.0.1:PORT/", body="reached")
    web.serve("https://a.example:PORT/", body="reached")
    try:
        f(Path("here"), "a")
    except Exception:
        pass
    assert not [one for one in web.requests if "PORT" in one.url or one.body]
"""


def _due(case: Any):
    return case.partition(":")[0]


@pytest.fixture
def server():
    """A server outside of the sandbox: its port, and the connections that it got."""
    listening = socket.create_server(("127.0.0.1", 0))
    reached: list[socket.socket] = []

    def accept():
        with contextlib.suppress(OSError):
            while True:
                reached.append(listening.accept()[0])

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield str(listening.getsockname()[1]), reached
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join(5)


@pytest.mark.parametrize("case", BY_SOURCE)
def test_a_way_around_the_script_is_refused_by_its_source(case: Any):
    """D-S8-05: a contract that names a host allows HTTP, and no socket, other protocol or replaced function."""
    source = HOSTILE[case].replace("PORT", "9")
    whole = Candidate(contract_of(ASKS), {"implementation/__init__.py": source.encode()})
    assert _due(case) in {finding.code for finding in (*static_findings(whole), *import_findings(whole))}


@pytest.mark.parametrize("case", spread([*BY_RUN, *BY_SOURCE], fast=12, slow=8))
def test_nor_does_it_reach_anything_past_the_static_checks(case: Any, server: Any):
    """D-S8-11: nothing but the script answers, what was asked holds no more than that, and the run tells of the rest."""
    port, reached = server
    ran = run_with_hosts(HOSTILE[case].replace("PORT", port), ATTEMPT.replace("PORT", port), ASKS)
    assert reached == []
    if _due(case).startswith("effects."):
        assert _due(case) in ran.codes()
    assert ran.run.tests == () or "reached" not in str(ran.run.tests)


def test_a_request_that_no_contract_names_is_told_with_its_host():
    """D-44-02: hosts that the contract does not name are refused at run time with a finding that names the host."""
    source = HOSTILE["effects.refused: another host by its address"].replace("PORT", "8080")
    ran = run_with_hosts(source, ATTEMPT.replace("PORT", "8080"), ASKS)
    (finding,) = [one for one in ran.findings if one.code == "effects.refused"]
    assert "`GET http://127.0.0.1:8080` is no request that the contract names" in finding.message
    assert finding.where == "implementation/__init__.py:5"
