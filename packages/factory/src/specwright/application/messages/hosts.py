"""What roles are told of modules that ask hosts over HTTP (design: module-scope).

The researcher, and the planner of a task whose examples script hosts, read what can be asked of a module;
whoever writes or judges its tests reads how hosts are scripted, after the contract.
"""

from collections.abc import Iterable

from ship_gate.base.allowed_packages import AllowedPackage
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.network import network_effects

FOR_SPEC = """# Hosts

A function may ask hosts over HTTP: those that SPEC.md names, or whatever host an address names. The sketch of its task \
says which, how many seconds it waits for an answer, how many redirects it follows, and what error or value comes of \
each way in which a host fails: no such host, refused, timeout, bad certificate, reset, a status, an answer that cannot \
be read. Pauses between requests are effects on the clock. Other protocols belong in `outside[]`.

No network is there when examples run: one scripts its hosts before the last line. `from modules.testing import web`, \
`web.serve("https://a.example/x", status=301, headers={"Location": "/y"}, body="text", delay=2.5)`, \
`web.fail("https://b.example/", "timeout")` (also "no such host", "refused", "certificate", "reset"); what is not scripted \
is no such host; `method="HEAD"` answers that method alone. `web.requests` lists what was asked, with the attributes \
`method`, `url`, `headers` (a dict), `body` (bytes) and `at`, in seconds; who finds no host, or is refused by it, asks \
nothing. Nobody waits: delays and sleeps put the function's clock forward."""

FOR_PLAN = """# Hosts

Hosts can be asked over HTTP, by no other protocol. \
The effect names them: CALL with the target `https://api.example.org` for GET, HEAD and \
such; POST, PUT or PATCH for requests of that method; `https://*, http://*` where an input, an answer or a redirect \
names the host. The `description` says how long it waits, `..., waits at most 10 seconds`. Error surfaces, or values of \
an output, say what comes of a host that cannot be reached, is slow, breaks off, answers with another status, or with \
what cannot be read: code has hosts do all of that, and whatever else comes out is refused. Pauses are CALL `clock`."""

FOR_TESTS = """The module asks hosts by `urllib.request` or `http.client`, each time with a timeout, and follows no \
redirect to a host that the effects do not name. Of `socket` only errors are imported: `from socket import gaierror`. \
No network is there: tests and examples script hosts as data, by `from modules.testing import web`, before the call. \
`web.serve("https://a.example/x", status=301, headers={"Location": "/y"}, body="text", delay=2.5, method="HEAD")` \
answers that address (all but the address may be left out; a dict or list as body is JSON); several for one address are \
given in turn, the last again and again. `web.fail("https://a.example/x", "timeout")` also knows "no such host", \
"refused", "certificate", "reset", "closed", "malformed", "cut off", "reset in body" and "timeout in body". What nobody \
scripted is no such host, or 404 on a host that is scripted. `web.requests` lists what was asked, with the attributes \
`method`, `url`, `headers`, `body` (bytes) and `at`, in seconds; a connection that fails (no such host, refused, \
certificate) asks nothing. Nobody waits: delays and sleeps put the module's clock forward, and nothing else does; \
`clock.slept`, from there too, lists the sleeps. A test \
that claims an effect on a host asserts what `web.requests` holds, of POST, PUT and PATCH the body too; one that claims \
an invariant asserts what came back as well: what was asked alone shows no result."""

_BY_HTTPX = """Hosts may be asked by `{name}.Client(timeout=5)` as well, and by the functions of {name}: what a host does \
wrong is an `{name}.HTTPError`; an address that is none is an `{name}.InvalidURL` or `{name}.UnsupportedProtocol`; \
redirects are followed only with `follow_redirects=True`; a body that may be too large is read from `client.stream`. \
`AsyncClient` and `Response.elapsed` are refused."""


def hosts_of(contracts: Iterable[MicroModuleContract]) -> list[str]:
    """What follows contracts of which one asks hosts; nothing for others."""
    return [FOR_TESTS] if any(map(network_effects, contracts)) else []


def clients_of_hosts(packages: Iterable[AllowedPackage]) -> list[str]:
    """How hosts are asked by a client that is allowed; nothing without one."""
    named = {name for package in packages for name in package.imports}
    return [_BY_HTTPX.format(name=name) for name in ("httpx", "httpx2") if name in named]
