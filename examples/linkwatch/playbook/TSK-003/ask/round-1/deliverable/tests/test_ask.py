import pytest
from modules.ask import Answer, ask
from modules.testing import web

PAGE = "https://a.example/page"


@pytest.mark.parametrize("status", [200, 204, 404, 429, 500])
@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_an_answer_has_its_status(status: int, method: str) -> None:
    web.serve(PAGE, status=status, body="" if status == 204 else "text")
    assert ask(PAGE, method, {}) == Answer(status, "", "")
    assert [one.method for one in web.requests] == [method]


def test_a_redirect_is_not_followed() -> None:
    web.serve(PAGE, status=301, headers={"Location": "/other"})
    assert ask(PAGE, "HEAD", {}) == Answer(301, "/other", "")
    assert [one.url for one in web.requests] == [PAGE]


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("no such host", "no such host"),
        ("refused", "refused"),
        ("timeout", "timeout"),
        ("certificate", "certificate"),
        ("reset", "no answer"),
        ("closed", "no answer"),
        ("malformed", "no answer"),
    ],
)
def test_each_failure_has_its_reason(how: str, reason: str) -> None:
    web.fail(PAGE, how)
    assert ask(PAGE, "GET", {}) == Answer(None, "", reason)


def test_a_slow_answer_comes_in_time_or_not() -> None:
    web.serve(PAGE, delay=9.5)
    assert ask(PAGE, "GET", {}) == Answer(200)
    web.serve("http://b.example/", delay=10.5)
    assert ask("http://b.example", "GET", {}) == Answer(None, "", "timeout")
    assert ask("http://b.example", "GET", {}, 11.0) == Answer(200)


def test_one_request_is_sent() -> None:
    web.serve("http://a.example:8080/b%20c%C3%B6?q=%20(x", body="text")
    assert ask("http://A.example:8080/b c\u00f6?q=%20(x#part", "GET", {"X-Mark": "mine"}) == Answer(200)
    (one,) = web.requests
    assert (one.method, one.headers["X-Mark"]) == ("GET", "mine")
    assert one.url == "http://a.example:8080/b%20c%C3%B6?q=%20(x"


def test_an_address_without_a_path_asks_for_the_root() -> None:
    web.serve("https://a.example/")
    web.serve("https://a.example/?q=1")
    assert ask("https://a.example", "HEAD", {}) == Answer(200)
    assert ask("https://a.example?q=1", "HEAD", {}) == Answer(200)


@pytest.mark.parametrize(
    "url", ["", "a", "ftp://a.example", "https://", "http:///x", "http://[x/", "http://a.example:99999", "http://a..b/", "http://a.example/\ud800"]
)
def test_what_is_no_address_sends_nothing(url: str) -> None:
    answer = ask(url, "GET", {})
    assert (answer.status, answer.location) == (None, "")
    assert answer.reason.startswith("cannot be asked: ")
    assert web.requests == []


@pytest.mark.parametrize("headers", [{"a:b": "c"}, {"A": "b\nc"}, {"A": "\u20ac"}])
def test_headers_that_cannot_be_send_nothing(headers: dict[str, str]) -> None:
    web.serve(PAGE)
    assert ask(PAGE, "GET", headers).reason.startswith("cannot be asked: ")
    assert web.requests == []


@pytest.mark.parametrize("method", ["POST", "get", ""])
def test_other_methods_are_refused(method: str) -> None:
    with pytest.raises(ValueError, match="is neither HEAD nor GET"):
        ask(PAGE, method, {})


@pytest.mark.parametrize("seconds", [0.0, -1.0, 60.1, float("nan")])
def test_a_timeout_out_of_range_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="the timeout is not above 0 and at most 60 seconds"):
        ask(PAGE, "GET", {}, seconds)


def test_a_timeout_at_its_ends() -> None:
    web.serve(PAGE, delay=59.0)
    assert ask(PAGE, "GET", {}, 60.0) == Answer(200)
    assert ask(PAGE, "GET", {}, 0.001) == Answer(None, "", "timeout")
