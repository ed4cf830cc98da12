"""Effects on hosts in a contract: which can be locked, and which requests they allow."""

import pytest

from ship_gate.contract.contract import Effect, EffectType, ErrorSurface, MicroModuleContract, Modes
from ship_gate.contract.network import host_patterns, is_covered, is_network
from ship_gate.contract.rules import problems

WAITS = "asks for the rate, waits at most 10 seconds"


def contract_with(*effects, errors=True):
    """A contract of these effects, each a type, a target and a description."""
    return MicroModuleContract(
        module_id="MM-00000001",
        name="rate",
        purpose="Ask for a rate.",
        inputs=[],
        outputs=[],
        error_surfaces=[ErrorSurface(name="OSError", when="no answer comes", surface="exception")]
        if errors
        else [],
        effects=[Effect(type=kind, target=target, description=text) for kind, target, text in effects],
        modes=Modes(sync=True, async_=False),
    )


@pytest.mark.parametrize("kind", ["POST", "PUT", "PATCH", "CALL"])
@pytest.mark.parametrize(
    "target",
    [
        "https://api.example.org",
        "https://*",
        "http://*, https://*",
        "https://*.example.org",
        "http://localhost:8080/rates",
    ],
)
def test_an_effect_on_a_host_that_it_names_can_be_locked(kind, target):
    """D-44-02, F-11.1-02: POST, PUT, PATCH, and CALL on an address; any host where an input names it."""
    assert problems(contract_with((kind, target, WAITS))) == []


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("POST", "the server"), ("CALL", "the network"), ("CALL", "https://"), ("PUT", "api.example.org"),
        ("CALL", "https://Api.example.org"), ("CALL", "https://a.example and others"), ("CALL", "https://{host of url}"),
    ],
)  # fmt: skip
def test_an_effect_that_names_no_host_is_refused(kind, target):
    """D-23-03, D-44-02: hosts that the contract names."""
    (problem,) = problems(contract_with((kind, target, WAITS)))
    assert problem.startswith("effects.0.target: ")
    assert "write `https://api.example.org`, or `https://*, http://*`" in problem


def test_an_effect_on_a_host_says_how_long_it_waits():
    """D-44-04: a module that calls out has by contract a timeout."""
    (problem,) = problems(contract_with(("CALL", "https://api.example.org", "asks for the rate")))
    assert problem.startswith("effects.0.description: it does not say how long")


def test_an_effect_on_a_host_has_an_error_surface():
    """D-44-04: a module that calls out has a declared error for the ways in which the other side fails."""
    (problem,) = problems(contract_with(("POST", "https://api.example.org", WAITS), errors=False))
    assert problem.startswith("effects.0.type: a host can be unreachable, slow or wrong")


@pytest.mark.parametrize(
    ("target", "request_", "allowed"),
    [
        ("https://a.example", ("GET", "https", "a.example", 443), True),
        ("https://a.example", ("HEAD", "https", "a.example", 443), True),
        ("https://a.example", ("POST", "https", "a.example", 443), False),
        ("https://a.example", ("GET", "http", "a.example", 443), False),
        ("https://a.example", ("GET", "https", "a.example", 8443), False),
        ("https://a.example", ("GET", "https", "b.a.example", 443), False),
        ("https://a.example", ("GET", "https", "xa.example", 443), False),
        ("https://*.a.example", ("GET", "https", "b.a.example", 443), True),
        ("https://*.a.example", ("GET", "https", "a.example", 443), False),
        ("https://a.example:8443/x", ("DELETE", "https", "a.example", 8443), True),
        ("https://*", ("GET", "https", "b.example", 9000), True),
        ("http://*, https://a.example", ("GET", "https", "a.example", 443), True),
        ("http://*, https://a.example", ("GET", "https", "b.example", 443), False),
    ],
)
def test_a_request_is_one_that_an_effect_names(target, request_, allowed):
    """D-44-02: scheme, host, port and method count; CALL is for methods that are no effect of their own."""
    assert is_covered([("CALL", target)], *request_) is allowed


def test_what_is_sent_needs_an_effect_of_its_method():
    """F-11.1-02: POST, PUT and PATCH are effects of their own."""
    assert is_covered([("POST", "https://a.example")], "POST", "https", "a.example", 443)
    assert not is_covered([("POST", "https://a.example")], "GET", "https", "a.example", 443)
    assert not is_covered([("POST", "https://a.example")], "PUT", "https", "a.example", 443)


def test_other_effects_are_none_on_hosts():
    """D-S8-20: files, clock and chance stay what they were."""
    for kind, target in (
        ("WRITE", "path"),
        ("CALL", "clock"),
        ("CALL", "the file at path"),
        ("MUTATION", "environment"),
    ):
        assert not is_network(Effect(type=EffectType(kind), target=target, description="it happens"))
    assert host_patterns("the file at path") == []
