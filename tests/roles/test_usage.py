"""What an invocation used (D-S6-05), and what journalling leaves of a model."""

from pathlib import Path

from langchain_openai import ChatOpenAI

from specwright.journal.journal import FileJournal
from specwright.roles.models.journalled_model import Meter, journalled


def answer(tokens_in: int, tokens_out: int) -> dict[str, object]:
    """A journalled answer."""
    usage = {"input_tokens": tokens_in, "output_tokens": tokens_out}
    return {"message": {"data": {"usage_metadata": usage}}}


def test_a_journalled_model_is_its_providers_own_and_does_not_stream(tmp_path: Path) -> None:
    """Class and profile stay, so that the provider's structured output does; the model that was given streams as before
    (D-S4-04)."""
    given = ChatOpenAI(model="test", api_key=lambda: "local", profile={"max_input_tokens": 900})
    made = journalled(given, FileJournal(tmp_path / "journal.jsonl").scope("a/place"), Meter())
    assert isinstance(made, ChatOpenAI)
    assert made.profile == given.profile == {"max_input_tokens": 900}
    assert (made.disable_streaming, given.disable_streaming) == (True, False)
    told = made.with_structured_output({"title": "Ruling", "type": "object", "properties": {}}).first  # pyright: ignore
    assert told.kwargs["response_format"]["type"] == "json_schema"


def test_answers_that_the_journal_gave_are_not_paid_for_again() -> None:
    """Of an invocation that goes on, as an amended spec does, the new tokens count (D-S6-05)."""
    meter = Meter()
    meter.count(answer(5000, 900), live=False)
    meter.count(answer(700, 30), live=True)
    done = meter.total("product.1/researcher")
    assert (done.calls, done.kept, done.replayed) == (2, 1, False)
    assert (done.input_tokens, done.output_tokens) == (700, 30)


def test_an_invocation_that_was_only_repeated_tells_what_it_once_took() -> None:
    """So that its line shows something; it is marked as kept (D-S6-05)."""
    meter = Meter()
    meter.count(answer(5000, 900), live=False)
    done = meter.total("product.1/researcher")
    assert (done.replayed, done.input_tokens, done.output_tokens) == (True, 5000, 900)
