"""Scripted hosts: what a module meets there is what it meets at real ones, without a network and without waiting."""

import http.client
import json
import socket
import ssl
import sys
import types
import urllib.error
import urllib.request

import pytest

from gate_testkit.hosts import LocalServer, run_with_hosts
from ship_gate.inside.observation.clock import ModuleClock
from ship_gate.inside.web.client import lead_to
from ship_gate.inside.web.connections import Connection
from ship_gate.inside.web.script import FAILURES, Web

REAL = ("closed", "malformed", "cut off", "reset", "timeout", "timeout in body", "")


@pytest.fixture
def clock():
    """Of a module."""
    return ModuleClock()


@pytest.fixture
def web(monkeypatch, clock):
    """Hosts in place of the network, for one test."""
    monkeypatch.setattr(socket, "create_connection", socket.create_connection)
    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", ssl.SSLContext.wrap_socket)
    for name in ("modules", "modules.testing"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    found = Web()
    lead_to(found, clock)
    return found


def get(url, timeout=5.0, **more):
    """What comes of a GET: status and body, or the classes of the error."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, **more), timeout=timeout) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except (OSError, http.client.HTTPException) as error:
        return type(error), type(getattr(error, "reason", None))


def test_a_page_is_answered_in_turn_and_the_last_again(web):
    """D-44-03: answers given, as data."""
    web.serve("https://a.example/x", body="one")
    web.serve("https://a.example/x", status=404, body={"a": 1})
    assert get("https://a.example/x") == (200, b"one")
    assert get("https://a.example/x") == (404, b'{"a": 1}')
    assert get("https://a.example/x") == (404, b'{"a": 1}')
    assert get("https://a.example/y") == (404, b"")
    assert get("https://b.example/")[1] is socket.gaierror


def test_what_was_asked_can_be_read(web):
    """D-44-03: requests expected, whose log tests can read: method, address, headers, body."""
    web.serve("http://a.example:8080/form?q=%20", method="POST")
    assert get("http://A.example:8080/form?q=%20#x", data=b"a=b", headers={"x-one": "1"}, method="POST") == (
        200,
        b"",
    )
    (request,) = web.requests
    assert (request.method, request.url, request.body) == ("POST", "http://a.example:8080/form?q=%20", b"a=b")
    assert request.headers["X-One"] == "1"
    assert get("http://a.example:8080/form?q=%20")[0] == 405
    web.clear()
    assert web.requests == []


def test_head_has_no_body_and_a_connection_serves_twice(web):
    """D-44-03: one connection, two requests."""
    web.serve("https://a.example/", body="text")
    connection = http.client.HTTPSConnection("a.example", timeout=3)
    connection.request("HEAD", "/")
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("Content-Length"), answer.read()) == (200, "4", b"")
    connection.request("GET", "/")
    assert connection.getresponse().read() == b"text"
    connection.request("POST", "/", iter([b"a", b"b"]))
    connection.getresponse().read()
    connection.close()
    assert [one.method for one in web.requests] == ["HEAD", "GET", "POST"]


NO_REASON = type(None)
RAISED = {
    "no such host": (urllib.error.URLError, socket.gaierror),
    "refused": (urllib.error.URLError, ConnectionRefusedError),
    "certificate": (urllib.error.URLError, ssl.SSLCertVerificationError),
    "no TLS": (urllib.error.URLError, ssl.SSLError),
    "timeout": (TimeoutError, NO_REASON),
    "reset": (ConnectionResetError, NO_REASON),
    "closed": (http.client.RemoteDisconnected, NO_REASON),
    "malformed": (http.client.BadStatusLine, NO_REASON),
    "cut off": (http.client.IncompleteRead, NO_REASON),
    "reset in body": (ConnectionResetError, NO_REASON),
    "timeout in body": (TimeoutError, NO_REASON),
}


def test_every_failure_comes_as_the_library_raises_it(web):
    """D-44-03: delay, reset, bad certificate: faults injected."""
    for number, how in enumerate(FAILURES):
        web.fail(f"https://a{number}.example/x", how)
    assert {how: get(f"https://a{n}.example/x") for n, how in enumerate(FAILURES)} == RAISED


@pytest.mark.parametrize("how", REAL)
def test_a_scripted_host_fails_as_a_real_one_does(how, request):
    """D-44-03: the same library, once against a server on loopback, and once against the script."""
    timeout = 0.2 if how.startswith("timeout") else 5.0
    with LocalServer(how) as server:
        port = server.port
        real = get(f"http://127.0.0.1:{port}/", timeout)
    scripted = request.getfixturevalue("web")
    if how:
        scripted.fail(f"http://127.0.0.1:{port}/", how)
    else:
        scripted.serve(f"http://127.0.0.1:{port}/", body="ok")
    assert get(f"http://127.0.0.1:{port}/", timeout) == real


def test_nobody_waits_and_the_clock_goes_forward(web, clock):
    """D-44-06: no test waits in real time: a delay beyond the timeout is a TimeoutError at once."""
    web.serve("https://a.example/", delay=9_000)
    web.serve("https://b.example/", delay=2)
    assert get("https://a.example/", 600)[0] is TimeoutError
    clock.sleep(100)
    assert get("https://b.example/", 2)[0] == 200
    assert get("https://b.example/", 2)[0] == 200
    assert (clock.seconds, clock.slept) == (704, [100])
    assert [one.at for one in web.requests] == [0, 700, 702]


def test_a_script_that_says_nothing_is_refused():
    """D-44-03: a test that misspells a failure or an address does not pass by it."""
    web = Web()
    with pytest.raises(ValueError, match="these are known: no such host, refused"):
        web.fail("https://a.example/", "broken")
    with pytest.raises(ValueError, match="no address of a host"):
        web.serve("a.example")
    with pytest.raises(ValueError, match="no status"):
        web.serve("https://a.example/", status=7)
    with pytest.raises(ValueError, match="one line"):
        web.serve("https://a.example/", headers={"A": "b\nC: d"})


def test_a_name_or_a_port_that_is_none(web):
    """D-44-03: what is no name is no failure of a host; a port that none has is no service."""
    for name in (".example", "a..example", "a" * 64 + ".example"):
        with pytest.raises(UnicodeError):
            urllib.request.urlopen(f"https://{name}/", timeout=1)
    for port in (65_536, 99_999):
        with pytest.raises(urllib.error.URLError, match="Servname not supported"):
            urllib.request.urlopen(f"https://a.example:{port}/", timeout=3)
    assert web.requests == []


def test_a_connection_sends_nothing_when_it_is_closed(web):
    """D-44-03: as a socket."""
    connection = socket.create_connection(("a.example", 80), 1)
    assert isinstance(connection, Connection)
    connection.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")


ASKING = """
import json
from urllib.request import urlopen
def f(path, text):
    with urlopen("https://a.example/" + text, timeout=5) as answer:
        return json.loads(answer.read())["number"]
"""


def test_a_test_and_its_module_are_in_two_processes():
    """D-44-03: the script crosses the boundary of the gate, each test begins with none, and nothing is found beside it."""
    ran = run_with_hosts(
        ASKING,
        """
def test_one():
    web.serve("https://a.example/x", body={"number": 7}, delay=3)
    assert f(Path("a"), "x") == 7
    assert f(Path("a"), "x") == 7
    assert [(one.method, one.url, one.at) for one in web.requests] == [
        ("GET", "https://a.example/x", 0), ("GET", "https://a.example/x", 3)]

def test_two():
    assert web.requests == []
    with pytest.raises(OSError, match="Name or service not known"):
        f(Path("a"), "x")
""",
    )
    assert ran.codes() == set()
    assert [test.result for test in ran.run.tests] == ["PASS", "PASS"]


def test_a_call_that_asks_without_end_is_stopped():
    """D-44-05: whatever is waited for passes at once, so what never stops is counted."""
    source = ASKING.replace("    with", "    while True:\n     with").replace("        return ", "        ")
    test = (
        'def test_one():\n    web.serve("https://a.example/x", body={"number": 7})\n    f(Path("a"), "x")\n'
    )
    (finding,) = run_with_hosts(source, test).run.findings
    assert finding.code == "tests.timeout"
    assert "asked hosts more than 1000 times" in finding.message


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (", timeout=5", "`a.example:443` is asked without a timeout"),
        ("https://a.example/", "`GET https://b.example` is no request that the contract names"),
    ],
)
def test_what_no_contract_allows_is_told(given, named):
    """D-44-02, D-44-05: a module that calls out has a timeout, and asks the hosts that the contract names."""
    source = ASKING.replace(given, "" if "timeout" in given else "https://b.example/")
    test = 'def test_one():\n    web.serve("https://a.example/x", body={"number": 7})\n    try:\n        f(Path("a"), "x")\n'
    ran = run_with_hosts(source, f"{test}    except OSError:\n        pass\n")
    assert [named in one.message for one in ran.findings] == [True]
    assert json.dumps([one.where for one in ran.findings]) == '["implementation/__init__.py:6"]'


PACED = """
import time
from urllib.request import urlopen
def f(path, text):
    begun = None
    for _ in range(3):
        if begun is not None:
            time.sleep(max(0.0, begun + 1 - time.monotonic()))
        begun = time.monotonic()
        with urlopen("https://a.example/" + text, timeout=5) as answer:
            answer.read()
        sum(range(300_000))
"""


def test_a_module_that_paces_its_requests_is_seen_to():
    """D-44-03: with scripted hosts nothing passes but what they and sleeps take, so that what a module measures of a second
    is what a test reads of it."""
    test = """
def test_one():
    web.serve("https://a.example/x", delay=0.25)
    f(Path("a"), "x")
    assert [one.at for one in web.requests] == [0, 1, 2]
"""
    ran = run_with_hosts(PACED, test, ("CALL https://a.example", "CALL clock"))
    assert [one.result for one in ran.run.tests] == ["PASS"]


def test_a_host_may_be_an_address_of_ip(web):
    """D-44-03: of six in brackets, as it stands in an address."""
    web.serve("http://[2001:db8::1]/x", body="six")
    web.serve("http://192.0.2.7:8080/", body="four")
    assert get("http://[2001:db8::1]/x") == (200, b"six")
    assert get("http://192.0.2.7:8080/") == (200, b"four")
    assert [one.url for one in web.requests] == ["http://[2001:db8::1]/x", "http://192.0.2.7:8080/"]
