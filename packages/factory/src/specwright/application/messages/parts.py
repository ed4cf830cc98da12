"""The parts that requests are made of: contracts, criteria, failures, amendments, fenced texts, and what roles are told
of hosts, databases, iterables and callables where a module has to do with them (design: role-access, module-scope).

The researcher and the planner read what can be asked of such a module; whoever writes or judges its tests reads, after the
contract, how a test goes about it.
"""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from ship_gate.base.allowed_packages import AllowedPackage
from ship_gate.base.markdown_text import printable
from ship_gate.contract.boundary.lazy_types import is_callable, is_iterable
from ship_gate.contract.contract import EffectType, MicroModuleContract
from ship_gate.contract.contract_text import contract_text, text_for_callers
from ship_gate.contract.examples_file import examples_in_short
from ship_gate.contract.network import network_effects
from specwright.application.criteria import CriterionRuling
from specwright.application.store.modules import DependencyView
from specwright.domain.acceptance.calls import for_all
from specwright.domain.acceptance.records import AcceptanceExample, AcceptanceProperty, TaskAcceptance
from specwright.domain.answers import Amendment, Failure
from specwright.domain.debate.amendments import OfferedChange

LONGEST_FILE = 12_000
"""Of a file that stands in a request; a longer one is read with the file tools."""


def as_contract(contract: MicroModuleContract) -> str:
    """A contract, each statement after its pointer."""
    return as_block(f"Contract of `{contract.name}`", contract_text(contract), "text")


def as_dependency(view: DependencyView) -> str:
    """A sealed module that may be called: what its contract says to callers, its status, its examples."""
    return f"{as_surface(view)}\n\n{as_fenced(examples_in_short(view.examples), 'markdown')}"


def as_surface(view: DependencyView) -> str:
    """A sealed module for those who judge what calls it: what its contract says to callers, and its status. Its examples
    show what the contract says already, and are there to be queried."""
    title = f"Dependency `{view.contract.name}` ({view.contract.ref}, {view.status})"
    return as_block(title, text_for_callers(view.contract), "text")


def as_criteria(
    criteria: Sequence[str], rulings: Mapping[int, CriterionRuling] = MappingProxyType({})
) -> str:
    """The acceptance criteria of the task by their numbers, with the rulings on them."""
    lines = (f"{n}. {text}{_ruling(n, rulings)}" for n, text in enumerate(criteria, start=1))
    return "# Acceptance criteria of the task\n\n" + "\n".join(lines)


def as_acceptance(acceptance: TaskAcceptance | None) -> list[str]:
    """The approved examples and properties of a task for those who judge, if it has any (design: executable-spec)."""
    if acceptance is None or not acceptance.items:
        return []
    told = (
        "A person approved them with the spec, and nobody can strike them: what contradicts one is wrong, and what one asks "
        "for is right. Code runs the examples on the module and the release, and tries many values on what is true for all."
    )
    return [f"# Approved examples\n\n{told}\n\n" + "\n\n".join(map(_approved, acceptance.items))]


def _approved(item: AcceptanceExample | AcceptanceProperty) -> str:
    title = f"## {item.heading}"
    if isinstance(item, AcceptanceExample):
        return "\n".join((title, item.code, f"gives {item.gives}"))
    return "\n".join((title, item.code, for_all(item.variables, item.errors)))


def as_description(description: str) -> list[str]:
    """What a task is about, in short, for those who judge its contracts and do not see its file."""
    return [f"# What the task is about\n\n{description}"] if description else []


def as_decided(decided: Sequence[str]) -> list[str]:
    """What was decided where SPEC.md leaves a case of a task open, if anything was."""
    listed = "\n".join(f"- {one}" for one in decided)
    return [f"# Decisions of the task\n\n{listed}"] if decided else []


def _ruling(number: int, rulings: Mapping[int, CriterionRuling]) -> str:
    return f"\n   criterion {number}: {rulings[number].text}" if number in rulings else ""


def as_packages(packages: Sequence[AllowedPackage]) -> list[str]:
    """The packages that modules may import beside the standard library, if there are any (design: module-scope)."""
    listed = "\n".join(f"- {printable(package.requirement)}" for package in packages)
    return [f"# Packages that modules may use\n\n{listed}"] if listed else []


_PLACE_IN_PRODUCT = re.compile(r"\A(# [^\n]*\n)## Task ID: [^\n]*\n(?:\n## Context\n(?:- [^\n]*\n)+)?")
"""The lines of a task file below its title that tell nothing of what the task is to do."""


def task_text(task_file: str) -> str:
    """A task file as a request holds it: criteria by their numbers, without its place in the product, and without the
    section Error Cases where it only repeats the error surfaces of the sketch."""
    task_file = _PLACE_IN_PRODUCT.sub(r"\1", task_file)
    head, found, cases = task_file.partition("\n## Error Cases\n")
    listed, more, tail = cases.partition("\n\n## ")
    repeated = all(line.removeprefix("- ") in head for line in listed.splitlines())
    return with_numbers(f"{head.rstrip()}\n{more and more[1:]}{tail}" if found and repeated else task_file)


def with_numbers(task_file: str) -> str:
    """A task file whose acceptance criteria have the numbers by which they are cited."""
    head, found, rest = task_file.partition("\n## Acceptance Criteria\n")
    listed, end, tail = rest.partition("\n\n## ")
    lines = [f"{n}. {line.removeprefix('- ')}" for n, line in enumerate(listed.splitlines(), start=1)]
    return "".join([head, found, "\n".join(lines), end, tail]) if found else task_file


def as_left(revisions: int | None) -> str:
    """How many revisions are left after the one that is asked for; nothing of a first version."""
    return "" if revisions is None else f" Revisions left after this one: {revisions}."


def as_files(files: Mapping[str, bytes]) -> str:
    """The files of a module as they are; a long one is only named."""
    parts = [
        as_block(f"/{path}", data.decode(errors="replace"), "text")
        if len(data) <= LONGEST_FILE
        else f"# /{path}\n\n{len(data):,} bytes; read it."
        for path, data in sorted(files.items())
    ]
    return "\n\n".join(parts)


def without_docstring(source: bytes, name: str) -> str:
    """Source without the docstring of a function, which is the contract once more."""
    text = source.decode(errors="replace")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    lines = text.splitlines()
    for node in reversed(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(name):
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None:
                lines[first.lineno - 1 : first.end_lineno] = []
    return "\n".join(lines)


def as_list(failures: Sequence[Failure]) -> str:
    """Failures, numbered."""
    return "\n".join(f"{n}. {f.invariant}\n{_shown(f)}" for n, f in enumerate(failures, start=1))


def _shown(failure: Failure) -> str:
    """Evidence and change, or once what is both: a ruling's rationale, a finding of the gate."""
    evidence = "" if failure.evidence == failure.required_change else f"   Evidence: {failure.evidence}\n"
    fault = "" if failure.fault == "module" else f"   Fault: {failure.fault}\n"
    return f"{evidence}{fault}   Required: {failure.required_change}"


def as_offers(offers: Sequence[OfferedChange]) -> list[str]:
    """The exact changes that an Arbiter may take over, by number, if there are any (design: exact-changes)."""
    lines = (
        f"{n}. {one.amendment.action} {one.amendment.target}: {one.amendment.detail}\n   For: {one.about.invariant}"
        for n, one in enumerate(offers, start=1)
    )
    return ["# Exact changes that the challenges propose\n\n" + "\n".join(lines)] if offers else []


def as_amendments(amendments: Sequence[Amendment]) -> str:
    """Amendments by their index."""
    return "\n".join(f"{i}. {a.action} {a.target}: {a.detail}" for i, a in enumerate(amendments))


def as_block(title: str, text: str, language: str) -> str:
    """A titled text, fenced."""
    return f"# {title}\n\n{as_fenced(text, language)}"


def as_fenced(text: str, language: str) -> str:
    """A text, fenced."""
    return f"````{language}\n{text.rstrip()}\n````"


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


READ_ONLY = "`sqlite3.connect(f'file:{quote(str(path))}?mode=ro', uri=True)`, with `urllib.parse.quote`"
"""The one way of opening a database that counts as reading it."""

NOT_SHOWN = "a lock that is given back while a call waits for it, and two programs that write at one moment"
"""What no test of a module, and no example, can show of a database."""

OF_LOCKS = f"""# Databases

A database is an SQLite file, opened by its path. What is in it after a call can be shown, and what comes of a file that is \
none, of another schema, and of a lock that another program holds for longer than a call waits: "for 5 seconds" is shown \
at its limit. No test shows {NOT_SHOWN}: no criterion and no contract asks for it. Functions that use one file are built \
and tried each alone: the sketch and the contract of each have its tables to the letter, in the same words."""

_FOR_FILES = """A database is a file: `sqlite3.connect(path)` writes it, whatever is done then, and needs WRITE on it. \
One that is only read is opened by {read_only}. Close each connection. A file that is no database, \
has another schema or is locked comes to a declared error: catch `sqlite3.Error`. Extensions and authorizers are refused. \
A test may make and read one with `sqlite3` itself; for a relative path it calls within `contextlib.chdir(tmp_path)`. \
A test locks a database by `begin exclusive` on a connection of its own. Nobody waits: the seconds of `timeout` pass on the \
module's clock, and `clock.slept` lists them (`from modules.testing import clock`, also where no clock is declared). No \
test shows {not_shown}."""


def databases_of(contracts: Iterable[MicroModuleContract]) -> list[str]:
    """What follows contracts of which one writes a file, or reads one that it is given; nothing for others."""
    if not any(_uses_file(contract) for contract in contracts):
        return []
    return [_FOR_FILES.format(read_only=READ_ONLY, not_shown=NOT_SHOWN)]


def _uses_file(contract: MicroModuleContract) -> bool:
    names = {one.name for one in contract.inputs}
    return any(
        one.type is EffectType.WRITE
        or (one.type is EffectType.CALL and names.intersection(re.findall(r"\w+", one.target)))
        for one in contract.effects
    )


_TAKEN = """What is declared `Iterable[...]` or `Iterator[...]` comes to the module as an iterator, whatever a test \
passes, an endless generator too: it has no length and is read once. Code counts the items that are taken, so that no \
test has to. Of a generator that a test counts, one item more than the bound is read, whatever the module takes."""

_YIELDED = """Before the call comes back, code takes one item more of such a result than its bound, so that nothing \
may depend on when an item is taken; it counts them, and no test has to. A test gets an iterator over them, and what \
iterating raises where it is reached."""

_CALLED = """A callable is called by place, with values of its declared types, while the call is open, and 10,000 \
times at most; tests pass plain functions that call nothing of the product, and count the calls. What it raises passes \
through, and a test may raise an error of a class of its own."""


def lazy_slots_of(contracts: Sequence[MicroModuleContract]) -> list[str]:
    """What follows contracts with an iterable, an iterator or a callable; nothing for others."""
    inputs = [slot.type for contract in contracts for slot in contract.inputs]
    outputs = [slot.type for contract in contracts for slot in contract.outputs]
    said = [
        *([_TAKEN] if any(map(is_iterable, inputs)) else []),
        *([_YIELDED] if any(map(is_iterable, outputs)) else []),
        *([_CALLED] if any(map(is_callable, inputs)) else []),
    ]
    return [" ".join(said)] if said else []
