"""A provider that misbehaves: what is tried again, what is told, what is counted (DESIGN §6).

The server is a real one on loopback in the OpenAI wire format; the client is the product's.
"""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from specwright.domain.answers import ModuleRuling
from specwright.errors import AnswerError, SpecwrightError, UnreachableError
from specwright.journal.journal import FileJournal
from specwright.ports import Assignment, Place, Role, usage_of
from specwright.roles.agent.agent import Invocation, RaisedException, Toolset, converse, submit_tool
from specwright.roles.agent.submission import Form, Submission
from specwright.roles.agent.workspace import Workspace
from specwright.roles.models.journalled_model import Meter, journalled
from specwright.roles.models.provider_call import CallLimits, Clock, ask_provider, without_secrets
from specwright.roles.models.sources import model_sources
from specwright.settings import Settings
from specwright.storage.context_pack import ContextPackBackend
from testkit.loopback import Asked, Reply, answering
from testkit.sampling import spread

PLACE = Place("TSK-001", 1, "shout", "round-1", Role.ARBITER)
KEY = "sk-planted-0123456789abcdef"
SCHEMA = {
    "title": "Ruling",
    "type": "object",
    "properties": {"decision": {"type": "string"}},
    "required": ["decision"],
}


def completion(content: str | None, finish: str = "stop", refusal: str | None = None) -> dict[str, Any]:
    """An answer as a provider sends it."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "test",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107},
    }  # fmt: skip


def refusal_of(code: str | int, message: str) -> dict[str, Any]:
    """An error as a provider sends it."""
    return {"error": {"message": message, "type": "error", "code": code}}


SOUND = Reply(body=completion('{"decision": "APPROVE"}'))


@contextmanager
def server(*replies: Reply) -> Iterator[tuple[str, list[int]]]:
    """A server that gives these answers, the last one for ever; its base URL, and a list that grows with each request."""
    coming, asked = itertools.chain(replies, itertools.repeat(replies[-1])), list[int]()

    def reply(_: Asked) -> Reply:
        said = next(coming)
        asked.append(said.status)
        return said

    with answering(reply) as address:
        yield f"{address}/v1", asked


class Caller:
    """Asks the server of a test as the Arbiter is asked; its clock is at once where somebody sleeps until."""

    def __init__(self, directory: Path, url: str, provider: str = "openai", **limits: Any) -> None:
        self.directory = directory / "work"
        self.journal = FileJournal(directory / "journal.jsonl")
        self.waits: list[str] = []
        self.slept: list[float] = []
        self.meter = Meter()
        source = model_sources(Settings(model=f"{provider}:test", base_url=url))[Role.ARBITER]
        clock = Clock(lambda: sum(self.slept), self.slept.append)
        ask = partial(ask_provider, limits=CallLimits(**limits), waits=self.waits.append, clock=clock)
        self.model = journalled(source.model(PLACE), self.journal.scope(PLACE.run_id), self.meter, ask)

    def ruling(self) -> dict[str, Any]:
        """The accepted answer."""

        def read(raw: dict[str, Any]) -> dict[str, Any]:
            return {"decision": raw["decision"]}

        submission = Submission(Form(read, lambda _: ()), 3, PLACE.run_id)
        workspace = Workspace(self.directory, Assignment(PLACE, ModuleRuling, ""), ContextPackBackend)
        work = Invocation(self.model, "You judge.", Toolset.NONE, workspace, (), 60, RaisedException())
        submit = submit_tool("judge", "Judge.", SCHEMA, submission)
        converse(work, [submit], [HumanMessage("Judge this.")], submission)
        return submission.accepted

    def call(self) -> tuple[str, dict[str, Any]]:
        """The tool that it calls, with its arguments."""
        tool = {
            "type": "function",
            "function": {"name": "judge", "description": "Judge.", "parameters": SCHEMA},
        }
        (call,) = self.model.bind_tools([tool]).invoke("Judge this.").tool_calls
        assert isinstance(call["id"], str)
        return call["name"], call["args"]

    def bought(self) -> list[tuple[int, int]]:
        """The tokens of each journalled answer."""
        return [usage_of(record.answer)[:2] for record in self.journal.records("model")]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.mark.parametrize("status", spread([408, 429, 500, 503, 529], fast=3))
def test_a_fault_that_passes_is_tried_again(status: int, tmp_path: Path) -> None:
    """D-S6-11: and the wait is told before it begins."""
    with server(Reply(status, refusal_of("busy", "busy")), SOUND) as (url, asked):
        caller = Caller(tmp_path, url)
        assert caller.ruling() == {"decision": "APPROVE"}
    assert asked == [status, 200]
    what = "the rate limit of the endpoint is reached" if status == 429 else f"the endpoint answers {status}"
    assert caller.waits == [f"{what}; asked again in 0.5 s"]
    assert caller.bought() == [(100, 7)]


WAITS = {
    "a header": (429, "7", "slow down", 7),
    "words": (429, "", "Please try again in 20s.", 20),
    "minutes in words": (429, "", "Please retry in 1m30.5s.", 90.5),
    "milliseconds in words": (429, "", "Please try again in 1400ms.", 1.4),
    "a unit in full": (429, "", "Try again after 2 minutes", 120),
    "both, which differ": (429, "2", "Please try again in 20s.", 20),
    "less than our own": (503, "0.01", "busy", 0.5),
    "a day that there is not": (503, "Wed, 21 Oct 99999 07:28:00 GMT", "busy", 0.5),
}


def test_the_wait_that_an_endpoint_asks_for_is_respected(tmp_path: Path) -> None:
    """D-S6-11: in a header or in words; a header that cannot be read changes nothing."""
    slept: dict[str, list[float]] = {}
    for kind, (status, header, words, _) in WAITS.items():
        busy = Reply(status, refusal_of("busy", words), {"Retry-After": header} if header else {})
        with server(busy, SOUND) as (url, _):
            caller = Caller(tmp_path / kind, url)
            caller.ruling()
            slept[kind] = caller.slept
    assert slept == {kind: [seconds] for kind, (*_, seconds) in WAITS.items()}


BUSY = Reply(503, refusal_of("x", "busy"))
HOURLY = Reply(429, refusal_of("x", "slow down"), {"Retry-After": "3600"})
ENDS = {
    "a rate limit for an hour": (HOURLY, {}, 0, "slow down"),
    "errors without end": (Reply(500, {"error": "the runner is gone"}), {}, 120, "the runner is gone"),
    "none is wanted": (BUSY, {"retry_seconds": 0}, 0, "busy"),
    "the time of the call": (BUSY, {"seconds": 20}, 15, "busy"),
}


def test_a_call_is_tried_again_for_two_minutes_and_not_for_ever(tmp_path: Path) -> None:
    """D-S6-11: with longer and longer waits, as the settings say; a wait that nobody would sit through ends it at once. The
    error has what the server says."""
    for kind, (reply, limits, least, words) in ENDS.items():
        with server(reply) as (url, asked):
            caller = Caller(tmp_path / kind, url, **limits)
            with pytest.raises(UnreachableError) as caught:
                caller.ruling()
        assert least <= sum(caller.slept) <= least * 2, kind
        assert caller.slept == sorted(caller.slept), kind
        assert len(asked) == len(caller.slept) + 1, kind
        assert caught.value.exit_code == 5, kind
        assert words in str(caught.value.where), kind


def test_a_server_on_this_machine_that_refuses_is_not_waited_for(tmp_path: Path) -> None:
    """D-S6-11: after a few seconds the error says that nothing listens there, and to start the server."""
    with server(SOUND) as (url, _):
        pass
    for kind, address in {"number": url, "name": url.replace("127.0.0.1", "localhost")}.items():
        caller = Caller(tmp_path / kind, address)
        with pytest.raises(UnreachableError, match="nothing listens") as caught:
            caller.ruling()
        assert caller.slept == [0.5, 1, 2]
        assert "start its server" in str(caught.value.remedy)
        assert "--base-url" in str(caught.value.remedy)


PASSING = {
    "a rate limit that speaks of billing": (429, "rate_limit_exceeded", "Limit 3 per min. Raise it at account/billing."),
    "a rate limit of tokens": (429, "rate_limit", "Too many tokens, please wait before trying again."),
    "a quota by the minute": (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota. Please retry in 12s."),
    "a gateway that gave up": (524, "timeout", "a timeout occurred"),
    "a gateway's own status in a reply of 200": (200, 429, "rate limited upstream"),
    "a failure behind a gateway": (200, 502, "the backend is restarting"),
}  # fmt: skip


@pytest.mark.parametrize("kind", spread(PASSING, fast=3))
def test_what_a_provider_says_of_limits_does_not_make_a_passing_fault_last(kind: str, tmp_path: Path) -> None:
    """D-S6-11: the status counts, also one that stands in the body, and the next call is answered."""
    status, code, message = PASSING[kind]
    with server(Reply(status, refusal_of(code, message)), SOUND) as (url, asked):
        assert Caller(tmp_path, url).ruling() == {"decision": "APPROVE"}
    assert asked == [status, 200]


TOO_LONG, QUOTA = "maximum context length is 8192 tokens", "You exceeded your current quota"
LASTING = {
    "a bad request": (400, "invalid", "no such field", "refuses the request"),
    "a context that is too long": (400, "context_length_exceeded", TOO_LONG, "longer than this model takes"),
    "a body that is too large": (413, "x", "too large", "longer than this model takes"),
    "no credit": (429, "insufficient_quota", QUOTA, "no credit left"),
    "an error with status 200": (200, "x", "the backend is gone", "refuses the request"),
}


def test_a_fault_that_lasts_is_asked_once_and_says_what_to_change(tmp_path: Path) -> None:
    """D-S6-11: running again without a change would meet it again, so nobody is told to."""
    for kind, (status, code, said, words) in LASTING.items():
        fault = pytest.raises(SpecwrightError, match=words)
        with server(Reply(status, refusal_of(code, said))) as (url, asked), fault as caught:
            Caller(tmp_path / kind, url).ruling()
        assert len(asked) == 1, kind
        assert caught.value.remedy, kind
        assert "run again to go on" not in caught.value.remedy, kind


def test_an_answer_that_drips_is_given_up_when_our_own_time_is_over(tmp_path: Path) -> None:
    """D-S6-12: the client's timeout bounds a read, and each read of this answer is quick."""
    with (
        server(SOUND._replace(drip=0.05)) as (url, asked),
        pytest.raises(UnreachableError, match="did not answer in time") as caught,
    ):
        Caller(tmp_path, url, seconds=0.6).ruling()
    assert caught.value.where == "there was no whole answer after 0.6 seconds"
    assert asked == [200]


BELOW_NOTHING = {"prompt_tokens": -5, "completion_tokens": -9, "total_tokens": -14}
BROKEN = {
    "cut by length": (completion('{"decision": "APPR', "length"), "was cut off where the model's output ends", (100, 7)),
    "cut by a filter": (completion("", "content_filter"), "the provider's filter stopped the answer", (100, 7)),
    "refused": (completion(None, refusal="I cannot judge weapons."), "the model refuses: I cannot judge weapons.", (100, 7)),
    "no choice": ({**completion(""), "choices": []}, "holds no JSON object", (100, 7)),
    "empty": (completion(""), "holds no JSON object", (100, 7)),
    "reasoning alone": (
        {**completion(""), "choices": [{"finish_reason": "stop", "message": {"content": "", "reasoning": "hm"}}]},
        "only the model's reasoning came back", (100, 7),
    ),
    "usage below nothing": ({**completion(""), "usage": BELOW_NOTHING}, "no JSON", (0, 0)),
    "no usage": ({**completion(""), "usage": None}, "no JSON", (0, 0)),
}  # fmt: skip


def test_an_answer_that_is_none_is_counted_and_not_bought_again(tmp_path: Path) -> None:
    """D-S6-13: three in a row end the role; a second run asks for none of them again; the advice is one that fits."""
    for kind, (body, words, tokens) in BROKEN.items():
        with server(Reply(body=body)) as (url, asked):
            for _ in range(2):
                caller = Caller(tmp_path / kind, url)
                with pytest.raises(AnswerError, match=words) as caught:
                    caller.ruling()
                assert caller.bought() == [tokens] * 3, kind
                caller.journal.close()
        assert len(asked) == 3, kind
        assert kind != "refused" or "another wording of SPEC.md" in str(caught.value.remedy)


def test_an_answer_after_a_cut_one_counts(tmp_path: Path) -> None:
    """D-S6-13: the role hears what happened, and may answer again."""
    with server(Reply(body=completion('{"deci', "length")), SOUND) as (url, asked):
        assert Caller(tmp_path, url).ruling() == {"decision": "APPROVE"}
    assert len(asked) == 2


def calling(**changed: Any) -> dict[str, Any]:
    """An answer in the OpenAI format that calls the tool of `Caller.call`, with changed fields of that call."""
    function = {"name": "judge", "arguments": '{"decision": "APPROVE"}'} | changed.pop("function", {})
    body = completion(None, "tool_calls")
    call = {"id": "call_1", "type": "function", "function": function} | changed
    body["choices"][0]["message"]["tool_calls"] = [
        {name: given for name, given in call.items() if given != "missing"}
    ]
    return body


def using(**changed: Any) -> dict[str, Any]:
    """The same in Anthropic's format."""
    block = {"type": "tool_use", "id": "toolu_1", "name": "judge", "input": {"decision": "APPROVE"}} | changed
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "test", "content": [block],
        "stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 100, "output_tokens": 7},
    }  # fmt: skip


def without_role() -> dict[str, Any]:
    """An answer whose message does not say whose it is."""
    body = calling()
    del body["choices"][0]["message"]["role"]
    return body


CARELESS = {
    "sound": ("openai", calling()),
    "an id that is null": ("openai", calling(id=None)),
    "no id": ("openai", calling(id="missing")),
    "an id that is a number": ("openai", calling(id=0)),
    "an empty id": ("openai", calling(id="")),
    "no type": ("openai", calling(type="missing")),
    "no role": ("openai", without_role()),
    "an object for arguments": ("openai", calling(function={"arguments": {"decision": "APPROVE"}})),
    "arguments encoded twice": ("openai", calling(function={"arguments": '"{\\"decision\\": \\"APPROVE\\"}"'})),
    "a namespace": ("openai", calling(function={"name": "functions.judge"})),
    "a channel": ("openai", calling(function={"name": "judge<|channel|>commentary"})),
    "spaces": ("openai", calling(function={"name": " judge "})),
    "fractional usage": (
        "openai", {**calling(), "usage": {"prompt_tokens": 100.4, "completion_tokens": 7.2, "total_tokens": 107.6}},
    ),
    "Anthropic, sound": ("anthropic", using()),
    "Anthropic, an id that is null": ("anthropic", using(id=None)),
    "Anthropic, arguments as text": ("anthropic", using(input='{"decision": "APPROVE"}')),
    "Anthropic, fractional usage": ("anthropic", {**using(), "usage": {"input_tokens": 100.4, "output_tokens": 7.2}}),
}  # fmt: skip


def test_a_careless_reply_is_read_and_never_spoils_the_journal(tmp_path: Path) -> None:
    """D-S6-13: what has one reading is read, and the next run reads the same from the journal."""
    read: dict[str, Any] = {}
    for kind, (provider, body) in CARELESS.items():
        for run in ("first", "second"):
            with server(Reply(body=body)) as (url, asked):
                caller = Caller(tmp_path / kind, url, provider)
                try:
                    read[kind, run] = (*caller.call(), *caller.bought(), len(asked))
                except SpecwrightError as error:
                    read[kind, run] = f"{error}"
                caller.journal.close()
    right = ("judge", {"decision": "APPROVE"}, (100, 7))
    assert read == {(kind, run): (*right, run == "first") for kind in CARELESS for run in ("first", "second")}


def test_a_reply_that_cannot_be_read_is_not_journalled(tmp_path: Path) -> None:
    """D-S6-13: every later run would stop at it."""
    body = {**calling(), "usage": {"prompt_tokens": "many", "completion_tokens": 7, "total_tokens": 7}}
    with (
        server(Reply(body=body)) as (url, _),
        pytest.raises(SpecwrightError, match="does not follow its protocol"),
    ):
        (caller := Caller(tmp_path, url)).call()
    assert caller.bought() == []


SHAPES = (
    "sk-ant-api03-hidden4711_0123456789-AA", "sk-proj-hidden4711abcdefgh", "AIzaSyHidden4711abcdefghijklmnopqrstuv",
    "gsk_hidden4711abcdefgh", "xai-hidden4711abcdefgh", "tvly-dev-hidden4711abcd", "hf_hidden4711abcdefgh",
    "ghp_hidden4711abcdefgh", "AKIAHIDDEN4711ABCDEF", "eyJhidden4711abc.eyJhidden4711abc.hidden4711-abc",
    "Bearer hidden4711", "x-api-key: hidden4711", "https://hidden4711:hidden4711@host/v1",
)  # fmt: skip


def test_what_looks_like_a_key_is_masked_wherever_it_comes_from() -> None:
    """D-S6-15: also one that is in no variable here; the words around it stay."""
    shown = [without_secrets(f"the key ({shape}) is wrong") for shape in SHAPES]
    assert [one for one in shown if "hidden4711" in one.lower()] == []
    assert {(one[:9], one[-8:]) for one in shown} == {("the key (", "is wrong")}


def test_a_key_that_an_error_repeats_is_not_shown(tmp_path: Path) -> None:
    """D-S6-15: neither the one of the environment nor what looks like one."""
    said = f"incorrect API key provided: {KEY}; or sk-another-9876543210"
    with (
        server(Reply(400, refusal_of("invalid_key", said))) as (url, _),
        pytest.raises(SpecwrightError) as caught,
    ):
        Caller(tmp_path, url).ruling()
    assert "***" in str(caught.value.where)
    assert KEY not in f"{caught.value} {caught.value.where} {caught.value.remedy}"
    assert "sk-another" not in str(caught.value.where)
