"""HTTP APIs and MCP servers of a spec: what maps a function to a route or a tool, and what cannot (D45)."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from specwright.application.pages import acceptance_file, spec_page, spec_patch
from specwright.domain.interfaces.document import ProductHead, interface_document
from specwright.domain.interfaces.records import (
    Interfaces,
    Route,
    Tool,
    function_of_contract,
    function_of_signature,
)
from specwright.domain.interfaces.rules import (
    method_of,
    option_problems,
    parameters_of_route,
    route_problems,
    status_of,
    unfit_contracts,
)
from specwright.domain.spec.acceptance_text import with_acceptance
from specwright.domain.spec.completeness import validate
from specwright.domain.spec.product_spec import ProductSpecDraft
from testkit.domain.product_specs import NOW, draft_data
from testkit.interfaces.market import INTERFACES as MARKET
from testkit.interfaces.market import contracts

SCAN = "scan(root: str, limit: int = 3, marks: list[str] | None = None) -> list[str]"
HEAD = ProductHead("market", "market", "1.0.0", "Prices.")


def spec(interfaces: dict[str, Any], *, effects: str = "none: pure") -> dict[str, Any]:
    """A draft whose first task provides `scan`."""
    data = draft_data()
    task = data["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    task["acceptance"] = {"provides": [SCAN]}
    task["io_contract_sketch"]["effects"] = effects
    return {**data, "interfaces": interfaces}


def api(**route: Any) -> dict[str, Any]:
    """An API of one route."""
    return {"http": {"name": "watch-http", "routes": [{"calls": "scan", **route}]}}


def problems(public: str, **stated: Any) -> list[str]:
    """Of one route that calls a function."""
    function = function_of_signature(public)
    assert function is not None
    return route_problems(Route.model_validate({"calls": function.name, **stated}), function)


def errors(data: dict[str, Any]) -> list[str]:
    """What keeps a spec from the gate."""
    return [f"{one.field}: {one.message}" for one in validate(data).errors]


METHODS = {
    SCAN: "GET",
    "scan()": "GET",
    "scan(a: Literal['x', 1], b: frozenset[date] = None)": "GET",
    "scan(a: dict[str, int])": "POST",
    "scan(a: list[list[int]])": "POST",
    "scan(a: Mode)": "POST",
    "scan(a: bytes)": "POST",
    "scan(a: Sequence[int], *, b: Fraction, c: ZoneInfo)": "GET",
    "scan(a: Mapping[str, int])": "POST",
}


def test_words_stand_in_the_query_and_anything_else_in_a_body():
    """The rule is the same before and after there is a contract, so that what was approved stays (D-45-12)."""
    for public, method in METHODS.items():
        function = function_of_signature(public)
        assert function is not None
        assert (method_of(Route(calls="scan"), function), problems(public)) == (method, []), public


UNCARRIED: list[tuple[str, dict[str, Any], str]] = [
    ("scan(root)", {}, "it has no type"),
    ("scan(*roots: str)", {}, "stands for any number of arguments, which no interface can pass"),
    ("scan(root: Path)", {}, "a client would name files of the server"),
    ("scan(roots: list[Path])", {"method": "POST"}, "a client would name files of the server"),
    ("scan(a: dict[str, int])", {"method": "GET"}, "let the `method` be POST"),
    ("scan(a: int)", {"path": "/x/{b}"}, "the path names b, and scan has a"),
    ("scan(a: int)", {"path": "/{a}/{a}"}, "the path names a parameter twice"),
    ("scan(a: list[int])", {"path": "/{a}"}, "a part of the path is one word"),
    ("scan(a: int)", {"defaults": {"b": "1"}}, "scan has no parameter b; it has a"),
    ("scan(a: dict)", {"defaults": {"a": "1"}}, "the default of a: dict has fields"),
    ("scan(a: date)", {"defaults": {"a": "now"}, "method": "GET"}, ""),
]


def test_what_no_request_can_carry_is_said_with_what_to_do():
    """Types, places, defaults (D-45-12)."""
    found = [("\n".join(problems(public, **stated)), said) for public, stated, said in UNCARRIED]
    assert [(told, said) for told, said in found if said not in told] == []


def test_what_is_wrong_with_servers_is_an_error_with_its_field():
    """Before the gate (D-45-12, D-45-11)."""
    routes, tools = [{"calls": "scan"}, {"calls": "scan", "path": "/scan"}], [{"calls": "scan"}] * 2
    unknown = "http.routes[0].calls: no task provides the function scann; did you mean `scan`?"
    for wrong, problem in (
        (api(calls="scann"), unknown),
        (
            {"http": {"name": "w", "routes": routes}},
            "http.routes[1].path: GET /scan is the route of scan already",
        ),
        (api(path="/openapi.json"), "GET /openapi.json is the description of the API already"),
        (
            {"mcp": {"name": "w", "tools": tools}},
            "mcp.tools[1]: scan is the name of an earlier tool; give it another `name`",
        ),
    ):
        (told,) = errors(spec(wrong))
        assert problem in told


OPTIONS: list[tuple[dict[str, str], dict[str, Any], str]] = [
    (
        {"depth": "1"},
        {},
        "http.options: no function that is called has a parameter depth; there is limit, marks, root",
    ),
    ({"limit": ""}, {}, "http.options: limit has no default; a program starts without being told anything"),
    (
        {"marks": "a"},
        {},
        "the parameter marks of scan: list[str] | None is no word, so it cannot be one of the `options`",
    ),
    (
        {"limit": "3"},
        {"defaults": {"limit": "2"}},
        "limit is one of the `options`, which no request gives; leave it out",
    ),
    (
        {"root": "a"},
        {"path": "/in/{root}"},
        "root is one of the `options`, which no request gives; leave it out of the path",
    ),
]


def test_what_is_wrong_with_the_options_of_a_server_is_said():
    """A parameter that is called, one word, with a default, and in no request (D-45-12)."""
    for options, more, problem in OPTIONS:
        stated = api(**more)
        stated["http"]["options"] = options
        assert problem in "\n".join(errors(spec(stated)))


def test_an_option_of_a_server_has_one_type_and_a_name_of_its_own():
    """Two functions mean the same by it; the program's own options stay (D-45-12, D-45-11)."""
    one, other = function_of_signature("scan(port: int)"), function_of_signature("find(port: str)")
    assert one is not None
    assert other is not None
    assert list(option_problems({"port": "1"}, [one, other])) == [
        "port is int here and str there; one option has one type",
        "every program has an option --port of its own; rename the parameter",
    ]


def test_a_function_may_take_a_path_that_only_who_starts_the_server_names():
    """No client names files of the server (D-45-12)."""
    function = function_of_signature("scan(root: Path, word: str)")
    assert function is not None
    route = Route(calls="scan")
    assert "a client would name files of the server" in route_problems(route, function)[0]
    assert route_problems(route, function, {"root": "notes"}) == []
    places = [one.place for one in parameters_of_route(route, function, {"root": "notes"})]
    assert places == ["server", "query"]


def test_a_function_with_effects_needs_its_method_stated():
    """GET changes nothing: the sketch tells it before the gate, the contract in the plan (D-45-12)."""
    (told,) = errors(spec(api(), effects="Writes the file `seen.txt`."))
    assert told == (
        "http.routes[0].method: the task of scan has effects, and GET changes nothing; state `method`, POST or GET"
    )
    assert errors(spec(api(method="POST"), effects="Writes the file `seen.txt`.")) == []
    keep = contracts()[2]
    get = Interfaces.model_validate({"http": {"name": "m", "routes": [{"calls": "keep", "method": "GET"}]}})
    assert unfit_contracts(get, {"keep": keep}) == [
        "modules.keep: the route `/keep` calls it, and keep has effects (WRITE), and GET changes nothing; state `method`, "
        "such as POST"
    ]
    assert unfit_contracts(MARKET, {one.name: one for one in contracts()}) == []


def test_interfaces_name_at_least_one_and_programs_differ():
    """What a record knows of itself (D-45-01)."""
    tools = {"mcp": {"name": "a", "tools": [{"calls": "scan"}]}}
    wrong: list[dict[str, Any]] = [
        {},
        {"http": {"name": "a", "routes": []}},
        {"http": {"name": "a", "routes": [{"calls": "scan", "path": "scan"}]}},
        {"http": {"name": "a", "routes": [{"calls": "scan", "errors": {"X": 200}}]}},
        {"mcp": {"name": "a", "tools": [{"calls": "scan", "name": "a b"}]}},
        {"command": {"name": "a", "calls": "scan"}, **tools},
    ]
    for stated in wrong:
        with pytest.raises(ValidationError):
            Interfaces.model_validate(stated)


def test_an_error_has_the_status_of_its_kind_unless_the_spec_says_otherwise():
    """The table holds for Python's own errors, 422 for all others (D-45-12)."""
    route = Route.model_validate({"calls": "scan", "errors": {"KeyError": 410, "*": 409}})
    assert [status_of(Route(calls="scan"), one) for one in ("KeyError", "Gone", "FileExistsError")] == [
        404,
        422,
        409,
    ]
    assert [status_of(route, one) for one in ("KeyError", "Gone", "LookupError")] == [410, 409, 404]


def test_one_document_has_all_three_and_is_the_same_on_every_render():
    """Functions once, each interface with what it maps (D-45-02, D-45-12, D-45-11)."""
    document = interface_document(MARKET, contracts(), HEAD)

    assert json.dumps(document) == json.dumps(interface_document(MARKET, contracts(), HEAD))
    assert set(document["functions"]) == {"keep", "quote", "settle"}
    assert [(one["method"], one["path"]) for one in document["http"]["uses"]] == [
        ("GET", "/items/{item}"),
        ("POST", "/settle"),
        ("PUT", "/kept"),
    ]
    assert document["http"]["uses"][0]["errors"] == {"NoSuchItem": 404, "PermissionError": 403}
    assert [one["name"] for one in document["mcp"]["uses"]] == ["price", "settle", "keep"]
    assert function_of_contract(contracts()[2]).effects == ("WRITE",)
    assert Tool(calls="quote").called == "quote"


def test_the_page_the_file_of_acceptance_and_the_changes_have_routes_and_tools():
    """What is started, each route, each tool; the file is read back (D-45-01, D-45-12)."""
    interfaces = {
        **api(path="/find/{root}", help="Find marks."),
        "mcp": {"name": "watch-mcp", "tools": [{"calls": "scan"}]},
    }
    data = spec(interfaces)
    assert errors(data) == []
    draft = ProductSpecDraft.model_validate(data)
    page = spec_page(draft)
    for part in (
        "To start: the HTTP API watch-http: /find/{root}; the MCP server watch-mcp: scan\n",
        "### `GET /find/{root}`\n\nFind marks. (`scan`)\n\n- path `root: str`\n",
        "- query `limit: int`, may be left out, default `3`\n",
        "- `scan(root: str, limit: int, marks: list[str] | None)` (`scan`)",
    ):
        assert part in page, page
    assert (
        with_acceptance(data, acceptance_file(draft), "acceptance.md")
        == ProductSpecDraft.model_validate(data).to_json()
    )
    before = draft.stamped(NOW, NOW)
    after = ProductSpecDraft.model_validate(spec(api(path="/f/{root}")))
    told = spec_patch(before, after.stamped(NOW, NOW))
    assert "-To start: the HTTP API watch-http: /find/{root}; the MCP server watch-mcp: scan" in told
    assert {"-### `GET /find/{root}`", "+### `GET /f/{root}`"} <= {*told}
