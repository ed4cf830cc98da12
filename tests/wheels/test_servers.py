"""The HTTP API and the MCP server of a product: made from its contracts, asked rightly and wrongly (D45)."""

import importlib
import importlib.util
import json
import re
import signal
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastapi.testclient import TestClient
from jsonschema_rs import validator_for
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters

from specwright.domain.interfaces.records import Interfaces
from specwright.wheels.wheel import build_wheel
from testkit.interfaces.market import INTERFACES, market
from testkit.interfaces.notebook import notebook
from testkit.wheels.packaged import exercised, unpacked

JSON = {"content-type": "application/json"}
REVISIONS = ("legacy", "2026-07-28")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the wheel is unpacked."""
    return unpacked(market(), tmp_path_factory.mktemp("site"))


@pytest.fixture
def shell(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Any]:
    """Imports a module of the shell of the market, in a folder of its own."""
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.chdir(tmp_path)

    def imported(name: str) -> Any:
        return importlib.import_module(f"market._shell.{name}")

    yield imported
    for name in [one for one in sys.modules if one.split(".")[0] == "market"]:
        del sys.modules[name]


Ask = Callable[..., tuple[int, Any]]


def client(application: Any) -> Ask:
    """Sends requests to an application in this process; the status and the JSON of each answer."""
    http = TestClient(application)

    def ask(line: str, body: bytes | str | None = None) -> tuple[int, Any]:
        method, target = line.split(" ", 1)
        answer = http.request(method, target, content=body, headers=JSON)
        return answer.status_code, answer.json() if answer.status_code != 413 else answer.text

    return ask


@pytest.fixture
def ask(shell: Any) -> Ask:
    """The API of the market."""
    return client(shell("http_api").application())


def called(server: Any, *calls: tuple[str, dict[str, Any]], mode: str = "legacy") -> list[tuple[str, Any]]:
    """The text and the object of each answer of a tool."""

    async def ask() -> list[tuple[str, Any]]:
        async with Client(server, mode=mode) as tools:
            answers: list[Any] = [await tools.call_tool(name, given) for name, given in calls]
        return [(one.content[0].text, None if one.is_error else one.structured_content) for one in answers]

    return anyio.run(ask)


def test_the_wheel_needs_nothing_and_has_an_extra():
    """Each program is a script, what servers need an extra; a product without servers has neither (D-45-02, D-45-03)."""
    assert build_wheel(market()).content == build_wheel(market()).content
    with zipfile.ZipFile(BytesIO(build_wheel(market()).content)) as archive:
        names = {name: archive.read(name).decode() for name in archive.namelist()}
    metadata = names["market-2.0.0.dist-info/METADATA"]
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    assert [line.partition("; ")[2] for line in required] == ['extra == "interfaces"'] * 3
    assert [re.findall(r"Requires-Dist: (\w+)", line)[0] for line in required] == [
        "fastapi",
        "mcp",
        "uvicorn",
    ]
    points = names["market-2.0.0.dist-info/entry_points.txt"]
    assert points.split()[1:] == [
        "market=market._shell.command:main",
        "market-http=market._shell.servers:http",
        "market-mcp=market._shell.servers:mcp",
    ]
    assert "### `GET /items/{item}`" in metadata
    with zipfile.ZipFile(BytesIO(build_wheel(notebook()).content)) as archive:
        servers = ("http_api.py", "mcp_server.py", "models.py", "served.py", "servers.py")
        assert [name for name in archive.namelist() if name.endswith(servers)] == []


BILLS = {"bills": [{"amount": "2.50", "due": "2999-01-31"}], "mode": "DOWN", "wait": 86400}


def test_each_route_gives_what_its_function_gives(ask: Ask, tmp_path: Path):
    """Path, query and body are values of the contract's types; errors have the status that the spec states (D-45-12)."""
    assert ask("GET /items/milk?count=3&tags=a&tags=b") == (200, {"item": "milk-a-b", "total": "3.30"})
    status, answer = ask("GET /items/saffron")
    assert (status, answer["error"], answer["message"][:11]) == (404, "NoSuchItem", "there is no")
    assert ask("POST /settle", json.dumps(BILLS)) == (200, {"2999-02": "-2.50"})
    assert ask("PUT /kept", '{"line": "a"}') == (200, None)
    assert (tmp_path / "kept.txt").read_text() == "a\n"


def test_what_the_contract_does_not_declare_is_500_and_shows_nothing(
    ask: Ask, capsys: pytest.CaptureFixture[str]
):
    """The client gets an id, and stderr has the traceback under it (D-45-12)."""
    status, answer = ask("GET /items/boom")

    assert (status, answer["error"]) == (500, "InternalError")
    assert "secret" not in json.dumps(answer)
    said = capsys.readouterr().err
    assert answer["message"].split()[-1] in said
    assert "KeyError: '/secret/place'" in said


def test_a_result_that_cannot_be_written_is_a_fault_as_well(ask: Ask, monkeypatch: pytest.MonkeyPatch):
    """One that is nested too deeply, for example (D-45-12)."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    def quote(**given: Any) -> Any:
        return deep

    monkeypatch.setattr(importlib.import_module("market.quote"), "quote", quote)

    status, answer = ask("GET /items/milk")
    assert (status, answer["error"]) == (500, "InternalError")


WRONG_AMOUNT = '{"bills": [{"amount": true, "due": "2026-01-31"}], "mode": "up"}'
WRONG_REQUESTS: list[tuple[str, bytes | str | None, int, str]] = [
    ("GET /items/a?count=x", None, 422, "count: Input should be a valid integer"),
    ("GET /items/a?cout=1", None, 422, "cout: Extra inputs are not permitted"),
    ("GET /items/gold", None, 403, "not for sale"),
    ("GET /items/a/b", None, 404, "Not Found"),
    ("GET /items/", None, 404, "Not Found"),
    ("DELETE /items/a", None, 405, "Method Not Allowed"),
    ("POST /settle", "{", 422, "the arguments: JSON decode error"),
    ("POST /settle", b'"\xff"', 400, "error parsing the body"),
    ("POST /settle", "[" * 100_000, 400, "error parsing the body"),
    ("POST /settle", "[]", 422, "the arguments: Input should be a valid dictionary"),
    ("POST /settle", "{}", 422, "bills: Field required; mode: Field required"),
    ("POST /settle", '{"bills": [], "mode": "UP"}', 422, "there are no bills"),
    (
        "POST /settle",
        WRONG_AMOUNT,
        422,
        "bills.0.amount: Decimal input should be an integer, float, string or Decimal object; "
        "mode: Value error, it is none of UP, DOWN",
    ),
]


def test_a_wrong_request_is_told_in_json(ask: Ask):
    """The status says whose fault it is, the message where (D-45-12)."""
    for line, body, status, told in WRONG_REQUESTS:
        code, answer = ask(line, body)
        assert (code, set(answer)) == (status, {"error", "message"}), line
        assert told in answer["message"]


def test_bodies_are_bounded_and_no_page_of_another_site_can_ask(shell: Any):
    """A body is JSON of at most so many bytes; a name that points here is not enough (D-45-12)."""
    application = shell("http_api").application
    assert client(application())("POST /settle", " " * (1024 * 1024 + 1))[0] == 413
    assert client(application(most_body=5))("PUT /kept", '{"line": "a"}')[0] == 413
    assert TestClient(application()).post("/settle", content="{}").status_code == 422
    for host, status in (("localhost:8000", 200), ("127.0.0.1", 200), ("evil.example", 400)):
        http = TestClient(application(hosts=("localhost", "127.0.0.1")))
        assert http.get("/items/a", headers={"host": host}).status_code == status


def test_a_body_that_does_not_come_is_not_waited_for(shell: Any, monkeypatch: pytest.MonkeyPatch):
    """The server is bounded in time as well (D-45-12)."""
    module, sent = shell("http_api"), list[Any]()
    monkeypatch.setattr(module, "_BODY_SECONDS", 0.05)
    headers = [(b"content-type", b"application/json"), (b"host", b"localhost")]
    scope = {"type": "http", "method": "POST", "path": "/settle", "raw_path": b"/settle", "query_string": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    anyio.run(module.application(), {**scope, "headers": headers}, anyio.sleep_forever, send)
    assert sent[0]["status"] == 400


def test_the_api_describes_itself_and_the_answers_are_of_its_schemas(ask: Ask):
    """OpenAPI has the parameters, bodies, results and errors of the contracts (D-45-12, D-45-02)."""
    document = ask("GET /openapi.json")[1]
    quote, settle = document["paths"]["/items/{item}"]["get"], document["paths"]["/settle"]["post"]

    assert [(one["name"], one["in"], one["required"]) for one in quote["parameters"]] == [
        ("item", "path", True),
        ("count", "query", False),
        ("tags", "query", False),
    ]
    assert quote["responses"]["404"]["description"] == "NoSuchItem: there is no such item"
    assert quote["responses"]["403"]["description"] == "PermissionError: it is not for sale"
    schemas = {"components": document["components"]}
    body = validator_for({**settle["requestBody"]["content"]["application/json"]["schema"], **schemas})
    result = validator_for({**quote["responses"]["200"]["content"]["application/json"]["schema"], **schemas})
    assert body.is_valid(BILLS)
    assert not body.is_valid({"bills": [{"amount": "1", "due": "2026-01-31", "more": 1}], "mode": "UP"})
    assert not body.is_valid({"bills": []})
    assert result.is_valid(ask("GET /items/milk")[1])


@pytest.mark.parametrize("mode", REVISIONS)
def test_a_tool_takes_what_the_contract_says_and_its_errors_are_text(
    shell: Any, capsys: pytest.CaptureFixture[str], mode: str
):
    """Schemas, results, declared errors, wrong arguments, faults, in both ways of the protocol (D-45-11)."""
    server = shell("mcp_server").server()

    async def listed() -> Any:
        async with Client(server, mode=mode) as tools:
            with pytest.raises(MCPError, match="Unknown tool: 'nothing'; tools are price, settle, keep"):
                await tools.call_tool("nothing", {})
            return (await tools.list_tools()).tools

    price, settle, keep = anyio.run(listed)
    assert price.description.startswith("Say what some of an item cost.\n\nErrors:\nNoSuchItem: there is no")
    assert price.input_schema["properties"]["item"]["description"] == "is a name"
    assert settle.input_schema["required"] == ["bills", "mode", "wait"]
    assert [one.annotations.read_only_hint for one in (price, settle, keep)] == [True, True, False]

    (text, result), (_, months), kept = called(
        server,
        ("price", {"item": "milk", "count": 2}),
        ("settle", {"bills": [{"amount": 2.5, "due": "2999-01-31"}], "mode": 1, "wait": "1h"}),
        ("keep", {"line": "a"}),
        mode=mode,
    )
    assert (json.loads(text), result) == (
        {"item": "milk", "total": "2.20"},
        {"price": {"item": "milk", "total": "2.20"}},
    )
    assert validator_for(price.output_schema).is_valid(result)
    assert (months, kept) == ({"months": {"2999-01": "2.5"}}, ("null", {}))
    wrong = called(
        server,
        *(("price", one) for one in ({"item": "saffron"}, {}, {"item": 1}, {"item": "a", "colour": "red"})),
        *(("price", {"item": one}) for one in ("end", "boom")),
        mode=mode,
    )
    assert [result for _, result in wrong] == [None] * 6
    for (text, _), told in zip(
        wrong,
        (
            "NoSuchItem: there is no saffron",
            "the arguments of price are wrong: item: Field required",
            "item: Input should be a valid string",
            "colour: Extra inputs are not permitted",
            "a fault of the server; its log has the id ",
            "a fault of the server; its log has the id ",
        ),
        strict=True,
    ):
        assert told in text
    assert "secret" not in wrong[-1][0]
    assert "KeyError: '/secret/place'" in capsys.readouterr().err


def with_options() -> Interfaces:
    """Those of the market; no request says which day it is."""
    stated = INTERFACES.model_dump(mode="json", exclude_defaults=True)
    del stated["http"]["routes"][1]["defaults"]["today"], stated["mcp"]["tools"][1]["defaults"]
    stated["http"]["options"] = stated["mcp"]["options"] = {"today": "today"}
    return Interfaces.model_validate(stated)


def test_what_the_person_says_who_starts_a_server_no_request_says(shell: Any):
    """It is an option of the program, is in no schema, and the clock is read at each request (D-45-12, D-45-11)."""
    stated = market(interfaces=with_options()).interface
    assert stated is not None
    application, server = shell("http_api").application, shell("mcp_server").server
    body = {"bills": [{"amount": "2.50", "due": "2026-01-31"}], "mode": "UP", "wait": 0}

    def answers(**options: str) -> list[Any]:
        http = client(application(stated, options))("POST /settle", json.dumps(body))[1]
        return [http, called(server(stated, options), ("settle", body))[0][1]]

    assert answers() == [{}, {"months": {}}]
    assert answers(today="2026-01-01") == [{"2026-01": "2.50"}, {"months": {"2026-01": "2.50"}}]
    asked = {**body, "today": "2020-01-01"}
    told = "today: Extra inputs are not permitted"
    refused = client(application(stated))("POST /settle", json.dumps(asked))
    assert refused == (422, {"error": "InvalidInput", "message": told})
    assert told in called(server(stated), ("settle", asked))[0][0]
    guide = market(interfaces=with_options()).guide
    assert guide.count("- `--today`: `today: date`, default the day of each request") == 2


@pytest.mark.parametrize("program", ["http", "mcp"])
def test_an_option_that_is_no_value_ends_a_server_at_once(tmp_path: Path, program: str):
    """One line that names it, exit code 2; help has it with its default (D-45-12, D-45-11)."""
    unpacked(market(interfaces=with_options()), tmp_path)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(started(program, tmp_path, *words), capture_output=True, text=True, check=False)

    done = run("--today", "yesterday")
    assert done.returncode == 2
    assert "error: --today: " in done.stderr.splitlines()[-1]
    assert "default: the clock, at each request" in " ".join(run("--help").stdout.split())


def started(program: str, site: Path, *words: str) -> list[str]:
    """The command line of a program as its script runs it."""
    code = f"from market._shell.servers import {program}; sys.exit({program}())"
    start = f"import sys; sys.path[0:0] = [{str(site)!r}, *{sys.path!r}]; {code}"
    return [sys.executable, "-I", "-c", start, *words]


@contextmanager
def listening(site: Path, port: str = "0") -> Generator[tuple[subprocess.Popen[str], str]]:
    """The program of the API, once it answers; with its address, which it says."""
    command = started("http", site, "--port", port)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        address = next(found[0] for one in lines if (found := re.search(r"http://127\.0\.0\.1:\d+", one)))
        with urllib.request.urlopen(f"{address}/items/milk", timeout=20) as answer:
            assert json.load(answer) == {"item": "milk", "total": "1.10"}
        yield process, address


def test_the_program_of_the_api_listens_at_the_loopback_interface_and_ends_by_a_signal(site: Path):
    """It says where, and ends with exit code 0 (D-45-12)."""
    with listening(site) as (process, _):
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        said = process.stderr.read()
    assert (process.returncode, "Traceback" in said) == (0, False)


def test_a_server_that_was_killed_starts_again_at_its_port(site: Path):
    """Nothing of a process that got SIGKILL is in the way of the next one (D-45-08)."""
    port = "0"
    for _ in range(2):
        with listening(site, port) as (process, address):
            port = address.rpartition(":")[2]
            process.kill()
        assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("mode", REVISIONS)
def test_the_program_of_the_tools_speaks_over_standard_input_and_output(site: Path, mode: str):
    """As clients start it, in both ways of the protocol (D-45-11)."""
    program, *words = started("mcp", site)
    (answer,) = called(
        StdioServerParameters(command=program, args=words), ("price", {"item": "milk"}), mode=mode
    )
    assert answer[1] == {"price": {"item": "milk", "total": "1.10"}}


def test_half_of_a_character_pair_in_a_result_is_written_otherwise(shell: Any):
    """File names have such, and no message can carry it (D-45-12, D-45-11)."""
    server = shell("mcp_server").server()
    (text, result), (error, _) = called(
        server, ("price", {"item": "\ud800"}), ("price", {"item": "saffron\ud800"})
    )
    assert json.loads(text)["item"] == "?"
    assert result == {"price": {"item": "?", "total": "1.10"}}
    assert error == "NoSuchItem: there is no saffron?"


@pytest.mark.parametrize("program", ["http", "mcp"])
def test_without_its_extra_a_server_says_what_to_install(site: Path, tmp_path: Path, program: str):
    """One line, no traceback; help and version need nothing (D-45-03)."""
    code = f"from market._shell.servers import {program}; sys.exit({program}())"
    start = f"import sys; sys.path.insert(0, {str(site)!r}); {code}"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", "-c", start, *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = run()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"market-{program}: it needs more packages; pip install 'market[interfaces]'\n"
    assert run("--version").stdout == f"market-{program} 2.0.0\n"
    done = run("--no-such-option")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


@pytest.mark.slow
def test_a_release_asks_the_servers_wrongly():
    """In the sandbox, each kind of use in turn (D-45-08, D-45-12, D-45-11)."""
    report = exercised(market())

    assert [(one.heading, one.detail) for one in report.examples if not one.passed] == []
    tried = {(one.kind, one.heading) for one in report.examples}
    for one in (
        ("command", "market --help"),
        ("http", "GET /openapi.json"),
        ("http", "GET /items/1?no-such-parameter=1"),
        ("http", 'POST /settle {"a":'),
        ("mcp", "its tools"),
        ("mcp", "price, an unknown argument"),
    ):
        assert one in tried
    assert report.result == "PASS", report.detail
    assert "uses of the HTTP API: " in report.detail


def test_servers_whose_packages_are_missing_here_fail_the_release(monkeypatch: pytest.MonkeyPatch):
    """What nobody tried is not released; everything else was tried before, and is told (D-45-08)."""
    find = importlib.util.find_spec

    def find_spec(name: str) -> Any:
        return None if name == "fastapi" else find(name)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    alone = INTERFACES.model_copy(update={"command": None, "http": None})

    report = exercised(market(interfaces=alone))

    assert report.result == "FAIL"
    assert report.detail == (
        "its servers cannot be tried, since fastapi cannot be imported here; install them with "
        "`python -m pip install 'specwright-factory[interfaces]'` and release again"
    )
    assert [one.passed for one in report.examples] == [True, True, True]
