"""Effects on hosts in a contract: which can be locked, and which requests they allow."""

from itertools import product

from ship_gate.contract.contract import (
    Effect,
    EffectType,
    ErrorSurface,
    MicroModuleContract,
    Modes,
    host_patterns,
    is_covered,
    is_network,
)
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


def test_an_effect_on_a_host_that_it_names_can_be_locked():
    """D-44-02, F-11.1-02: POST, PUT, PATCH, and CALL on an address; any host where an input names it."""
    hosts = ("https://api.example.org", "https://*", "http://*, https://*", "https://*.example.org")
    for kind, target in product(("POST", "PUT", "PATCH", "CALL"), (*hosts, "http://localhost:8080/rates")):
        assert problems(contract_with((kind, target, WAITS))) == []


def test_an_effect_that_names_no_host_is_refused():
    """D-23-03, D-44-02: hosts that the contract names; D-44-04: a timeout, and a declared error for the ways in which the
    other side fails."""
    for kind, target in (
        ("POST", "the server"), ("CALL", "the network"), ("CALL", "https://"), ("PUT", "api.example.org"),
        ("CALL", "https://Api.example.org"), ("CALL", "https://a.example and others"), ("CALL", "https://{host of url}"),
        ("CALL", "ftp://h.org/list"), ("CALL", "smtp://mail.example.org"),
    ):  # fmt: skip
        (problem,) = problems(contract_with((kind, target, WAITS)))
        assert problem.startswith("effects.0.target: ")
        assert "write `https://api.example.org`, or `https://*, http://*`" in problem
    (problem,) = problems(contract_with(("MUTATION", "https://api.example.org", WAITS)))
    assert problem.startswith("effects.0.type: a request that changes something is a POST")
    (problem,) = problems(contract_with(("CALL", "https://api.example.org", "asks for the rate")))
    assert problem.startswith("effects.0.description: it does not say how long")
    (problem,) = problems(contract_with(("POST", "https://api.example.org", WAITS), errors=False))
    assert problem.startswith("effects.0.type: a host can be unreachable, slow or wrong")


def test_a_request_is_one_that_an_effect_names():
    """D-44-02: scheme, host, port and method count; CALL is for methods that are no effect of their own, as POST, PUT and
    PATCH are (F-11.1-02)."""
    for kind, target, request, allowed in (
        ("CALL", "https://a.example", ("GET", "https", "a.example", 443), True),
        ("CALL", "https://a.example", ("HEAD", "https", "a.example", 443), True),
        ("CALL", "https://a.example", ("POST", "https", "a.example", 443), False),
        ("CALL", "https://a.example", ("GET", "http", "a.example", 443), False),
        ("CALL", "https://a.example", ("GET", "https", "a.example", 8443), False),
        ("CALL", "https://a.example", ("GET", "https", "b.a.example", 443), False),
        ("CALL", "https://a.example", ("GET", "https", "xa.example", 443), False),
        ("CALL", "https://*.a.example", ("GET", "https", "b.a.example", 443), True),
        ("CALL", "https://*.a.example", ("GET", "https", "a.example", 443), False),
        ("CALL", "https://a.example:8443/x", ("DELETE", "https", "a.example", 8443), True),
        ("CALL", "https://*", ("GET", "https", "b.example", 9000), True),
        ("CALL", "http://*, https://a.example", ("GET", "https", "a.example", 443), True),
        ("CALL", "http://*, https://a.example", ("GET", "https", "b.example", 443), False),
        ("POST", "https://a.example", ("POST", "https", "a.example", 443), True),
        ("POST", "https://a.example", ("GET", "https", "a.example", 443), False),
        ("POST", "https://a.example", ("PUT", "https", "a.example", 443), False),
    ):
        assert is_covered([(kind, target)], *request) is allowed, (kind, target, request)


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
