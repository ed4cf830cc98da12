"""What of each request a provider can have in its cache, and what a run costs with and without
(docs/design.md#testing).

`python benchmarks/provider_cache.py [EXAMPLE ...]` runs examples from their playbooks and looks at each request as providers
do: tools, then system prompt, then messages. Some providers cache the beginning of every request: what a request has in
common, from its beginning, with an earlier one of the same role can be read from there, if it is 1,024 tokens or more; it is
counted in steps of 128 tokens. Anthropic caches what is marked, tools and system prompt, and charges for it the first time.
Tokens are a quarter of the characters. Money is by published prices, as if all roles had the model. Nothing is lost with
time here; a provider forgets what was not asked for in some minutes.
"""

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from langchain_core.messages import BaseMessage

from specwright.bootstrap.project import Composition, Silent, open_project
from specwright.domain.costs import Usage
from specwright.journal import read_records
from specwright.ports import Place, Role
from specwright.roles.models.spending import PublishedPrices
from specwright.settings import Settings
from testkit.paths import ROOT
from testkit.roles.overheard import Lenient, ObservedSource

EXAMPLES = ("jsonamend", "fieldtext", "dueplan")
MODELS = ("openai:gpt-5", "openai:gpt-5-mini", "anthropic:claude-sonnet-4-5")
"""Models with a published price."""

CHARACTERS = 4
LEAST, STEP = 1_024, 128


class Request(NamedTuple):
    """A request's size and what of it a cache can hold, in tokens.

    Args:
        role: That asks.
        tokens: Of the whole request.
        common: What it has in common with an earlier one.
        marked: Its tools and system prompt; 0 if that is too little for a cache.
        is_known: Whether an earlier one had these.
    """

    role: Role
    tokens: int
    common: int
    marked: int
    is_known: bool


class Listener:
    """Notes each request of a run."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._earlier: dict[Role, list[str]] = defaultdict(list)

    def note(self, place: Place, messages: list[BaseMessage], tools: Any) -> None:
        """Compare a request with those of its role before it."""
        head = json.dumps(tools, default=str) + _text(messages[0])
        text = head + "".join(_text(message) for message in messages[1:])
        earlier = self._earlier[place.role]
        common = max((_in_common(text, other) for other in earlier), default=0) // CHARACTERS
        marked = len(head) // CHARACTERS
        self.requests.append(
            Request(
                place.role,
                len(text) // CHARACTERS,
                common // STEP * STEP if common >= LEAST else 0,
                marked if marked >= LEAST else 0,
                any(other.startswith(head) for other in earlier),
            )
        )
        earlier.append(text)


def _in_common(one: str, other: str) -> int:
    """The characters from the beginning that two texts share."""
    differ = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differ, min(len(one), len(other)))


def _text(message: BaseMessage) -> str:
    calls = getattr(message, "tool_calls", None)
    return f"{message.type}{message.text}{json.dumps(calls, default=str) if calls else ''}"


def listen(name: str, directory: Path) -> tuple[list[Request], int]:
    """Run an example: its requests, and the tokens of its answers."""
    folder, heard = ROOT / "examples" / name, Listener()
    composition = Composition(
        wrap_adapters=lambda adapters: replace(adapters, gate=Lenient(adapters.gate)),
        wrap_models=lambda models: {role: ObservedSource(m, heard.note) for role, m in models.items()},
    )
    settings = Settings(model=f"playbook:{folder / 'playbook'}")
    with open_project(directory, settings, Silent(), (folder / "SPEC.md").read_text(), composition) as opened:
        opened.driver.advance()
        opened.driver.advance({"action": "APPROVE", "by": "human:operator"})
    return heard.requests, _written(directory / ".specwright/journal.jsonl") // CHARACTERS


def _written(journal: Path) -> int:
    """The characters of all answers of a run."""
    answers: list[Any] = [record.answer for record in read_records(journal, "model")]
    messages = [answer["message"]["data"] for answer in answers]
    return sum(len(one["content"]) + len(json.dumps(one["tool_calls"])) for one in messages)


def tell(name: str, requests: Sequence[Request], written: int) -> None:
    """Print the figures of a run."""
    print(f"{name}: {len(requests)} requests")
    for role in Role:
        own = [request for request in requests if request.role is role]
        if own:
            print(f"  {role:<12}{_share(own)}")
    print(f"  {'all':<12}{_share(requests)}")
    prices = PublishedPrices()
    for model in MODELS:
        without = prices.usd(model, Usage(sum(one.tokens for one in requests), written))
        cache = prices.usd(model, _used(requests, written, marks=model.startswith("anthropic:")))
        if without is None or cache is None:
            print(f"  {model}: no published price")
        else:
            print(f"  {model}: ${without:.2f} without a cache, ${cache:.2f} with one, {cache / without:.3f}")


def _used(requests: Sequence[Request], written: int, *, marks: bool) -> Usage:
    """What a run takes with a cache, of a provider that caches what is marked or one that caches by itself."""
    read = sum(one.tokens for one in requests)
    if not marks:
        return Usage(read, written, sum(one.common for one in requests))
    known = sum(one.marked for one in requests if one.is_known)
    return Usage(read, written, known, sum(one.marked for one in requests) - known)


def _share(requests: Sequence[Request]) -> str:
    read, common = sum(one.tokens for one in requests), sum(one.common for one in requests)
    marked = sum(one.marked for one in requests if one.is_known)
    shares = f"{common:9,}, {common / read:4.0%}, or what is marked {marked:9,}, {marked / read:4.0%}"
    return f"{read:9,} tokens in, of which a cache can hold {shares}"


def main() -> None:
    """Measure."""
    for name in sys.argv[1:] or EXAMPLES:
        with tempfile.TemporaryDirectory() as directory:
            tell(name, *listen(name, Path(directory)))


if __name__ == "__main__":
    main()
