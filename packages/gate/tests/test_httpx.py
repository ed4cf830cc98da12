"""Modules that ask hosts by httpx, where the settings allow it: what fails there is what fails at real hosts."""

import importlib
import json
import socket
import ssl
import sys
import types

import pytest

from gate_testkit.hosts import LocalServer
from gate_testkit.modules_by_httpx import CONTRACT, FILES
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.inside.observation.clock import ModuleClock
from ship_gate.inside.web.client import lead_to
from ship_gate.inside.web.script import FAILURES, Web
from ship_gate.sandbox.packages import allowed_packages, import_names
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.verdict import Candidate
from testkit.sampling import nightly, slow

pytest.importorskip("httpx", reason="modules that use httpx need it beside the gate")

CLIENTS = ("httpx", "httpx2")
RAISED = {
    "no such host": "ConnectError",
    "refused": "ConnectError",
    "certificate": "ConnectError",
    "no TLS": "ConnectError",
    "timeout": "ReadTimeout",
    "reset": "ReadError",
    "closed": "RemoteProtocolError",
    "malformed": "RemoteProtocolError",
    "cut off": "RemoteProtocolError",
    "reset in body": "ReadError",
    "timeout in body": "ReadTimeout",
}


@pytest.fixture
def web(monkeypatch):
    """Hosts in place of the network, for one test."""
    monkeypatch.setattr(socket, "create_connection", socket.create_connection)
    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", ssl.SSLContext.wrap_socket)
    for name in ("modules", "modules.testing"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    found = Web()
    lead_to(found, ModuleClock())
    return found


def asked(name, url, timeout=5.0, **options):
    """What comes of a GET: status and body, or the class of the error and its message."""
    client = importlib.import_module(name)
    try:
        with client.Client(timeout=timeout, trust_env=False, **options) as session:
            answer = session.get(url)
            return answer.status_code, answer.text
    except (client.HTTPError, client.InvalidURL) as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("name", CLIENTS)
def test_answers_redirects_and_each_failure_come_as_httpx_tells_them(web, name):
    """D-44-02, D-44-03: the library's own errors, by one class for each way in which a host fails."""
    for place, how in enumerate(FAILURES):
        web.fail(f"https://f{place}.example/", how)
    assert {how: asked(name, f"https://f{at}.example/")[0] for at, how in enumerate(FAILURES)} == RAISED
    web.serve("https://a.example/x", status=301, headers={"Location": "/y"})
    web.serve("https://a.example/y", body="there")
    web.serve("https://loop.example/", status=302, headers={"Location": "/"})
    web.serve("https://slow.example/", delay=6)
    assert asked(name, "https://a.example/x") == (301, "")
    assert asked(name, "https://a.example/x", follow_redirects=True) == (200, "there")
    assert asked(name, "https://loop.example/", follow_redirects=True)[0] == "TooManyRedirects"
    assert asked(name, "https://slow.example/")[0] == "ReadTimeout"
    assert asked(name, "https://none.example/") == ("ConnectError", "[Errno -2] Name or service not known")
    assert asked(name, "nowhere")[0] == "UnsupportedProtocol"
    client = importlib.import_module(name)
    with client.Client(timeout=5) as session:
        assert session.post("https://a.example/y", json={"b": [1]}).text == "there"
    assert (web.requests[-1].method, json.loads(web.requests[-1].body)) == ("POST", {"b": [1]})


@pytest.mark.parametrize("how", ["reset", "closed", "malformed", "cut off", "timeout", "timeout in body"])
def test_a_scripted_host_fails_as_a_real_one_does(request, how):
    """D-44-03: the same library, once against a server on loopback, and once against the script."""
    timeout = 0.2 if how.startswith("timeout") else 5.0
    with LocalServer(how) as server:
        url = f"http://127.0.0.1:{server.port}/"
        real = asked("httpx", url, timeout)
    refused = asked("httpx", url, timeout)
    scripted = request.getfixturevalue("web")
    scripted.fail(url, how)
    assert asked("httpx", url, timeout) == real
    scripted.clear()
    scripted.fail(url, "refused")
    assert asked("httpx", url, timeout) == refused


def verdict_of(packages=("httpx>=0.28",), contract=None, **changes):
    """Of the module with other files, or another contract."""
    files = {**FILES, **changes}
    stated = MicroModuleContract.model_validate({**CONTRACT, **(contract or {})})
    gate = SandboxedShipGate(packages=import_names(allowed_packages(list(packages))))
    return gate.judge(Candidate(stated, {path: text.encode() for path, text in files.items()}))


ENTRY = "implementation/__init__.py"


@pytest.mark.parametrize("name", [slow("httpx"), nightly("httpx2")])
def test_a_module_that_asks_by_httpx_ships(name):
    """D-44-02, D-44-05: static checks, tests, mutants, observed effects, and hosts that do all that breaks programs."""
    source = FILES[ENTRY].replace("httpx", name)
    verdict = verdict_of((f"{name}>=0.28",), **{ENTRY: source})
    assert verdict.findings == ()


@pytest.mark.slow
def test_what_httpx_raises_and_no_contract_declares_is_found():
    """D-44-05: a module that forgets one way in which a host fails is refused with that way."""
    source = FILES[ENTRY].replace("except httpx.HTTPError", "except httpx.NetworkError")
    assert source != FILES[ENTRY]
    verdict = verdict_of(**{ENTRY: source})
    told = " ".join(finding.message for finding in verdict.findings)
    assert "ReadTimeout" in told


@pytest.mark.parametrize(
    ("right", "wrong", "code", "told"),
    [
        ("httpx.Client(", "httpx.AsyncClient(", "static.refused", "ask them by `httpx.Client`"),
        (
            "bytearray()",
            "bytearray(str(answer.elapsed).encode())",
            "static.effect",
            "`.elapsed` depends on the clock",
        ),
    ],
)
def test_what_of_httpx_no_test_can_script_is_refused(right, wrong, code, told):
    """D-44-02: before anything is run."""
    assert right in FILES[ENTRY]
    findings = verdict_of(**{ENTRY: FILES[ENTRY].replace(right, wrong)}).findings
    assert [told in one.message for one in findings if one.code == code] == [True]


def test_httpx_needs_a_host_that_the_contract_names():
    """D-44-02: as urllib.request does."""
    findings = verdict_of(contract={"effects": []}).findings
    assert {one.code for one in findings} >= {"static.refused"}
    assert "names no host" in findings[0].message


def test_httpx_is_refused_where_the_settings_do_not_allow_it():
    """D-44-02, D-23-02."""
    (finding,) = verdict_of(()).findings
    assert (finding.code, "`packages`" in finding.message) == ("source.import", True)
