"""The HTTP API and the MCP server of a product: rendered from contracts, asked rightly and wrongly (D45)."""

import asyncio
import importlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Generator
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jsonschema_rs import validator_for

from specwright.domain.acceptance.exchanges import answer_problem, exchanges
from specwright.domain.interfaces.records import Interfaces
from specwright.gate import SandboxedShipGate
from specwright.ports.packaging import ExerciseReport, ProductPackage
from specwright.wheels import FlitPackager
from specwright.wheels.product_run import SandboxedTrials
from specwright.wheels.wheel import build_wheel
from testkit.interfaces.market import HTTP, INTERFACES, market
from testkit.interfaces.notebook import notebook


class Answer(NamedTuple):
    """What came back."""

    status: int
    json: Any
    headers: dict[str, str]


class Client:
    """Asks an ASGI application in this process."""

    def __init__(self, application: Any) -> None:
        self.application = application

    def __call__(
        self,
        line: str,
        body: bytes | str | None = None,
        *,
        headers: tuple[tuple[str, str], ...] = (("content-type", "application/json"),),
    ) -> Answer:
        method, target = line.split(" ", 1)
        path, _, query = target.partition("?")
        data = body.encode() if isinstance(body, str) else body or b""
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers],
        }
        pieces = [data[at : at + 1000] for at in range(0, len(data), 1000)] or [b""]
        messages = [
            {"type": "http.request", "body": piece, "more_body": at < len(pieces) - 1}
            for at, piece in enumerate(pieces)
        ]
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return messages.pop(0)

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.application(scope, receive, send))
        text = sent[1]["body"].decode()
        told = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], json.loads(text) if text else None, told)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the wheel is unpacked."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(BytesIO(build_wheel(market()).content)) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def shell(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Any]:
    """Imports a module of the shell of the market, in a folder of its own."""
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.chdir(tmp_path)

    def module(name: str) -> Any:
        return importlib.import_module(f"market._shell.{name}")

    yield module
    for name in [one for one in sys.modules if one.split(".")[0] == "market"]:
        del sys.modules[name]


@pytest.fixture
def ask(shell: Any) -> Client:
    """The API of the market."""
    return Client(shell("http_api").Application())


def test_the_wheel_needs_nothing_and_has_extras():
    """Each program is a script, each server an extra of its own; a product without servers has neither (D-45-02,
    D-45-03)."""
    assert build_wheel(market()).content == build_wheel(market()).content
    with zipfile.ZipFile(BytesIO(build_wheel(market()).content)) as archive:
        names = {name: archive.read(name).decode() for name in archive.namelist()}
    metadata = names["market-2.0.0.dist-info/METADATA"]
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    assert [line.partition("; ")[2] for line in required] == ['extra == "http"', 'extra == "mcp"']
    points = names["market-2.0.0.dist-info/entry_points.txt"]
    assert points.split()[1:] == [
        "market=market._shell.command:main",
        "market-http=market._shell.http_server:main",
        "market-mcp=market._shell.mcp_server:main",
    ]
    assert "### `GET /items/{item}`" in metadata
    with zipfile.ZipFile(BytesIO(build_wheel(notebook()).content)) as archive:
        assert [name for name in archive.namelist() if "http_" in name or "mcp_" in name] == []


def test_an_approved_session_of_requests_is_what_the_api_answers(ask: Client, tmp_path: Path):
    """Path, query and body are values of the contract's types; errors have the status that the spec states (D-45-10)."""
    for one in exchanges(HTTP):
        answer = ask(one.line, one.body or None)
        assert answer_problem(one, answer.status, json.dumps(answer.json)) == ""
        assert answer.headers["content-type"] == "application/json"
    assert (tmp_path / "kept.txt").read_text() == "a\n"


def test_what_the_contract_does_not_declare_is_500_and_shows_nothing(
    ask: Client, capsys: pytest.CaptureFixture[str]
):
    """The client gets an id, and stderr has the traceback under it (D-45-10)."""
    answer = ask("GET /items/boom")

    assert answer.status == 500
    assert set(answer.json) == {"error", "message", "id"}
    assert "secret" not in json.dumps(answer.json)
    said = capsys.readouterr().err
    assert answer.json["id"] in said
    assert "KeyError: '/secret/place'" in said


@pytest.mark.parametrize(
    ("line", "body", "status", "told"),
    [
        ("GET /items/a?count=x", None, 422, "count: 'x' is not a whole number"),
        ("GET /items/a?count=1&count=2", None, 422, "count: it is given twice"),
        ("GET /items/a?cout=1", None, 422, "cout: there is no such parameter; known are count, tags"),
        ("GET /items/a?%1b[31m=1", None, 422, "'\\x1b[31m': there is no such parameter"),
        ("GET /items/a?%", None, 400, "the query cannot be read"),
        ("GET /items/%ff", None, 400, "the path is not UTF-8"),
        ("GET /items/gold", None, 403, "not for sale"),
        ("GET /items/a/b", None, 404, "there is no such path"),
        ("GET /items", None, 404, "there is no such path"),
        ("GET /items/", None, 404, "there is no such path"),
        ("DELETE /items/a", None, 405, "this path takes GET, HEAD"),
        ("GET /settle", None, 405, "this path takes POST"),
        ("POST /settle", "{", 400, "the body is not JSON"),
        ("POST /settle", b'"\xff"', 400, "the body is not UTF-8"),
        ("POST /settle", "[" * 100_000, 400, "the body is nested too deeply"),
        ("POST /settle", '{"bills": [], "bills": []}', 400, "the key 'bills' twice"),
        ("POST /settle", "[]", 422, "the body must be an object"),
        ("POST /settle", "{}", 422, "bills: it is missing"),
        (
            "POST /settle",
            '{"bill": []}',
            422,
            "bill: there is no such parameter; known are bills, mode, wait, today",
        ),
        ("POST /settle", '{"bills": [], "mode": "UP"}', 422, "there are no bills"),
        (
            "POST /settle",
            '{"bills": [{"amount": true, "due": "2026-01-31"}], "mode": "UP"}',
            422,
            "bills[0].amount: expected a number, found True",
        ),
        ("POST /settle", " " * (1024 * 1024 + 1), 413, "more than 1048576 bytes"),
    ],
)
def test_a_wrong_request_is_told_in_json(
    ask: Client, line: str, body: bytes | str | None, status: int, told: str
):
    """The status says whose fault it is, the message where (D-45-10)."""
    answer = ask(line, body)

    assert (answer.status, set(answer.json)) == (status, {"error", "message"})
    assert told in answer.json["message"]


def test_a_form_of_another_page_and_another_host_are_refused(shell: Any):
    """A body is JSON alone, so that no page of another site can send one; a name that points here is not enough
    (D-45-10)."""
    ask = Client(shell("http_api").Application(hosts=("localhost",)))
    host = ("host", "localhost:8000")
    assert ask("POST /settle", "{}", headers=(host, ("content-type", "text/plain"))).status == 415
    assert ask("GET /items/a", headers=(host,)).status == 200
    assert ask("GET /items/a", headers=(("host", "evil.example"),)).status == 421
    answer = ask("PUT /items/a", headers=(host,))
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
    small = Client(shell("http_api").Application(most_body=5))
    assert small("PUT /kept", '{"line": "a"}').status == 413


def test_the_api_describes_itself_and_the_answers_are_of_its_schemas(ask: Client):
    """OpenAPI is rendered from the contracts: parameters, bodies, results, errors (D-45-10, D-45-02)."""
    document = ask("GET /openapi.json").json
    quote, settle = document["paths"]["/items/{item}"]["get"], document["paths"]["/settle"]["post"]

    assert document["openapi"] == "3.1.0"
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
    for one in exchanges(HTTP):
        if one.path == "/settle":
            assert body.is_valid(json.loads(one.body))
    assert not body.is_valid({"bills": [{"amount": "1", "due": "2026-01-31", "more": 1}], "mode": "UP"})
    assert result.is_valid(ask("GET /items/milk").json)
    assert settle["requestBody"]["content"]["application/json"]["schema"]["required"] == ["bills", "mode"]


def test_a_tool_takes_what_the_contract_says_and_its_errors_are_text(
    shell: Any, capsys: pytest.CaptureFixture[str]
):
    """Schemas, results, declared errors, wrong arguments, faults (D-45-11)."""
    stated = market().interface
    assert stated is not None
    calls = shell("mcp_server").ToolCalls(stated)
    price, settle = calls.tools["price"], calls.tools["settle"]

    assert price["description"].startswith(
        "Say what some of an item cost.\n\nErrors:\nNoSuchItem: there is no"
    )
    assert price["input_schema"]["properties"]["item"] == {"type": "string", "description": "is a name"}
    assert settle["input_schema"]["required"] == ["bills", "mode", "wait"]
    assert [one["reads_only"] for one in calls.tools.values()] == [True, True, False]
    text, result = calls.call("price", {"item": "milk", "count": 2})
    assert (json.loads(text), result) == (
        {"item": "milk", "total": "2.20"},
        {"price": {"item": "milk", "total": "2.20"}},
    )
    assert validator_for(price["output_schema"]).is_valid(result)
    bills = [{"amount": 2.5, "due": "2999-01-31"}]
    _, result = calls.call("settle", {"bills": bills, "mode": 1, "wait": "1h"})
    assert result == {"months": {"2999-01": "2.5"}}
    assert calls.call("keep", {"line": "a"}) == ("null", {})
    assert calls.call("price", {"item": "saffron"}) == ("NoSuchItem: there is no saffron", None)
    for given, told in (
        ({}, "item: it is missing"),
        ({"item": 1}, "item: expected a text, found 1"),
        ({"item": "a", "colour": "red"}, "'colour': there is no such argument; known are item, count, tags"),
    ):
        text, result = calls.call("price", given)
        assert (told in text, result) == (True, None), text
    text, result = calls.call("price", {"item": "milk", "tags": [float("nan")]})
    assert (text, result) == (
        "the arguments of price are wrong: they are not JSON: NaN is no number of JSON",
        None,
    )
    text, result = calls.call("price", {"item": "end"})
    assert (text.startswith("a fault of the server"), result) == (True, None)
    text, result = calls.call("price", {"item": "boom"})
    assert (result, "secret" in text) == (None, False)
    assert "KeyError: '/secret/place'" in capsys.readouterr().err


def with_options() -> Interfaces:
    """Those of the market; no request says which day it is."""
    stated = INTERFACES.model_dump(mode="json", exclude_defaults=True)
    del stated["http"]["routes"][1]["defaults"]["today"], stated["mcp"]["tools"][1]["defaults"]
    stated["http"]["options"] = stated["mcp"]["options"] = {"today": "today"}
    return Interfaces.model_validate(stated)


def test_what_the_person_says_who_starts_a_server_no_request_says(shell: Any):
    """It is an option of the program, is in no schema, and the clock is read at each request (D-45-10, D-45-11)."""
    stated = market(interfaces=with_options()).interface
    assert stated is not None
    application, calls = shell("http_api").Application, shell("mcp_server").ToolCalls
    body = {"bills": [{"amount": "2.50", "due": "2026-01-31"}], "mode": "UP", "wait": 0}

    def answers(**options: str) -> list[Any]:
        words = {"mode": 1, "wait": "0s"}
        http = Client(application(stated, options=options))("POST /settle", json.dumps(body)).json
        return [http, calls(stated, options).call("settle", {**body, **words})[1]]

    assert answers() == [{}, {"months": {}}]
    assert answers(today="2026-01-01") == [{"2026-01": "2.50"}, {"months": {"2026-01": "2.50"}}]
    refused = Client(application(stated))("POST /settle", json.dumps({**body, "today": "2020-01-01"}))
    assert (refused.status, refused.json["message"]) == (
        422,
        "today: there is no such parameter; known are bills, mode, wait",
    )
    text, result = calls(stated).call("settle", {**body, "today": "2020-01-01"})
    assert ("'today': there is no such argument" in text, result) == (True, None)
    assert '"today"' not in json.dumps([stated["http"]["openapi"], stated["mcp"]["tools"][1]["input_schema"]])
    guide = market(interfaces=with_options()).guide
    assert guide.count("- `--today`: `today: date`, default the day of each request") == 2


@pytest.mark.parametrize("program", ["http", "mcp"])
def test_an_option_that_is_no_value_ends_a_server_at_once(tmp_path: Path, program: str):
    """One line that names it, exit code 2; help has it with its default (D-45-10, D-45-11)."""
    with zipfile.ZipFile(BytesIO(build_wheel(market(interfaces=with_options())).content)) as archive:
        archive.extractall(tmp_path)
    code = f"from market._shell.{program}_server import main; sys.exit(main())"
    start = f"import sys; sys.path[0:0] = [{str(tmp_path)!r}, *{sys.path!r}]; {code}"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-c", start, *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = run("--today", "yesterday")
    assert done.returncode == 2
    assert "error: --today: " in done.stderr.splitlines()[-1]
    assert "default: the clock, at each request" in " ".join(run("--help").stdout.split())


@pytest.mark.slow
def test_a_session_starts_the_server_as_it_says():
    """With its options, in the sandbox (D-45-08, D-45-10)."""
    requests = """SERVE --today 2026-01-01

POST /settle
{"bills": [{"amount": 2.50, "due": "2026-01-31"}], "mode": "DOWN", "wait": 0}

200
{"2026-01": "-2.50"}
"""
    alone = with_options().model_copy(update={"command": None, "mcp": None})
    report = exercised(market(interfaces=alone, http=requests))
    assert [(one.heading, one.detail) for one in report.examples if not one.passed] == []
    assert report.result == "PASS", report.detail


def test_half_of_a_character_pair_in_a_result_is_written_as_its_escape(shell: Any):
    """File names have such; the protocol cannot carry it, and a client would wait for ever (D-45-11)."""
    stated = market().interface
    assert stated is not None
    calls = shell("mcp_server").ToolCalls(stated)

    text, result = calls.call("price", {"item": "\ud800"})
    assert json.loads(text)["item"] == "\ud800"
    assert result == {"price": {"item": "\\ud800", "total": "1.10"}}
    for item, told in (
        ("saffron\ud800", "NoSuchItem: there is no saffron\\ud800"),
        ("\udfff" * 6, "NoSuchItem: "),
    ):
        text, result = calls.call("price", {"item": item})
        assert (text.startswith(told), result) == (True, None)
    text, _ = calls.call("price", {"\ud800": 1})
    for one in (text, result):
        json.dumps(one, ensure_ascii=False).encode()


@pytest.mark.parametrize("program", ["http", "mcp"])
def test_without_its_extra_a_server_says_what_to_install(site: Path, tmp_path: Path, program: str):
    """One line, no traceback; help and version need nothing (D-45-03)."""
    code = f"from market._shell.{program}_server import main; sys.exit(main())"
    start = f"import sys; sys.path.insert(0, {str(site)!r}); {code}"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", "-c", start, *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = run()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"market-{program}: it needs more packages; pip install 'market[{program}]'\n"
    assert run("--version").stdout == f"market-{program} 2.0.0\n"
    done = run("--no-such-option")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def exercised(product: ProductPackage) -> ExerciseReport:
    """Build, install and try."""
    packager = FlitPackager(SandboxedTrials(SandboxedShipGate()))
    return packager.exercise(packager.build(product), product)


@pytest.mark.slow
def test_a_release_starts_the_servers_and_asks_them():
    """Installed with their extras, started in the sandbox, asked rightly and wrongly, ended; an answer that is another than
    the approved one fails the product (D-45-08, D-45-10, D-45-11)."""
    report = exercised(market(http=HTTP.replace('"3.30"', '"3.31"')))

    wrong = {one.heading: one.detail for one in report.examples if not one.passed}
    assert list(wrong) == ["criterion 1, Requests"], report.detail
    assert "`GET /items/milk?count=3&tags=a&tags=b` answers" in wrong["criterion 1, Requests"]
    tried = {(one.kind, one.heading) for one in report.examples}
    for one in (
        ("command", "market --help"),
        ("http", "it starts and ends"),
        ("http", "GET /items/{item}, a query that is none"),
        ("http", "POST /settle, nested too deeply"),
        ("http", "POST /settle, too large"),
        ("mcp", "it starts and ends"),
        ("mcp", "its tools"),
        ("mcp", "price, an unknown argument"),
    ):
        assert one in tried
    assert report.result == "FAIL"
    assert "uses of the HTTP API and uses of the MCP server fail" in report.detail


@pytest.mark.slow
def test_servers_whose_extra_cannot_be_installed_fail_the_release(monkeypatch: pytest.MonkeyPatch):
    """What nobody started is not released; everything else was tried before, and is told (D-45-08)."""
    for name in ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    alone = INTERFACES.model_copy(update={"command": None, "http": None})

    report = exercised(market(interfaces=alone, http=""))

    assert report.result == "FAIL"
    assert report.detail.startswith(
        "the servers cannot be tried, since the extra mcp (mcp>=2.3,<3) cannot be installed: "
    )
    assert "pip" in report.detail
    assert [one.passed for one in report.examples] == [True, True, True]
