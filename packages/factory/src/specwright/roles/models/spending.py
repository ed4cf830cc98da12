"""What is spent and reserved, against the budgets, derived from the journal at each start; and the prices that providers
publish, from `genai-prices`, which is kept by others and works offline (design: models).
"""

import json
import os
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from agent_wire.canonical_json import JsonValue
from specwright.domain.costs import (
    RESERVED_OUTPUT,
    TIMES_THE_MOST,
    Budgets,
    Cost,
    Usage,
    allowance,
    shortage,
    tokens_in,
)
from specwright.errors import BudgetError
from specwright.ports import AnswerBought, Place, Role, characters_of, paid_for, provider_of, usage_of

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation


_PROVIDERS = {
    "azure_ai": "azure",
    "azure_openai": "azure",
    "bedrock": "aws",
    "bedrock_converse": "aws",
    "google_anthropic_vertex": "google",
    "google_genai": "google",
    "google_vertexai": "google",
    "mistralai": "mistral",
    "xai": "x-ai",
}
"""What `genai-prices` calls the providers that LangChain names otherwise."""

_ADDRESSES = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "anthropic": ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"),
}
"""Variables by which the clients of providers are sent to another server."""

_MILLION = 1_000_000
_AT = " at "


def model_label(name: str, base_url: str) -> str:
    """How the journal names a model: with the address, without its secrets, if another server answers for it."""
    variables = _ADDRESSES.get(name.partition(":")[0], ())
    url = base_url or next(filter(None, map(os.environ.get, variables)), "")
    address = re.sub(r"(?<=://)[^/@]*@|[?#].*", "", url)
    return f"{name}{_AT}{address}" if url else name


class PublishedPrices:
    """What an answer of a model costs: first what the settings say, then the published prices.

    A server at an address of its own sets its own prices, so those of the model's maker are not taken for it.

    Args:
        own: US dollars for a million tokens in and out, by `provider:model`.
    """

    def __init__(self, own: Mapping[str, tuple[float, float]] | None = None) -> None:
        self._own = own or {}

    def usd(self, model: str, usage: Usage) -> Decimal | None:
        """What an answer costs; None if no price is known."""
        name, _, address = model.partition(_AT)
        if (own := self._own.get(name)) is not None:
            paid = usage.input_tokens * Decimal(str(own[0])) + usage.output_tokens * Decimal(str(own[1]))
            return paid / _MILLION
        found = _found(name, address, usage)
        return found.total_price if found else None

    def context_window(self, model: str) -> int | None:
        """The tokens that a model takes at once; None if that is not known."""
        name, _, address = model.partition(_AT)
        found = _found(name, address, Usage())
        return found.model.context_window if found else None


def _found(name: str, address: str, usage: Usage) -> "PriceCalculation | None":
    if not name:
        return None
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price  # its table takes a while to read

    provider, _, model = name.partition(":")
    tokens = Tokens(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
    )
    try:
        if address:
            return calc_price(tokens, model, provider_api_url=address)
        return calc_price(tokens, model, provider_id=_PROVIDERS.get(provider, provider))
    except (LookupError, ValueError):
        return None


class StageEstimate(NamedTuple):
    """What a run without a budget sets out to do.

    Args:
        stage: That it is at; another one has another estimate.
        most: Tokens of the estimate's dearest case.
    """

    stage: str
    most: int


class Spending:
    """What the models of a project have cost, and whether the next call may be made.

    There is no second book: the sums are made of the journal's answers, and each new answer is added once it is
    journalled. Scripted answers are not bought, so they are not in it.

    Args:
        budgets: The limits.
        prices: Of the models.
        models: As the journal names them, by role.
    """

    def __init__(self, budgets: Budgets, prices: PublishedPrices, models: Mapping[Role, str]) -> None:
        self._budgets = budgets
        self._prices = prices
        self._models = models
        self._lock = threading.Lock()
        self._spent: dict[str, Cost] = defaultdict(Cost)
        self._reserved: dict[Place, Cost] = {}
        self._refusal: BudgetError | None = None
        self._answered: set[str] = set()
        self._expected: Callable[[str], StageEstimate | None] | None = None
        self._stage = StageEstimate("", 0)
        self._began = 0
        self.total = Cost()

    def expect(self, expected: Callable[[str], StageEstimate | None]) -> None:
        """Pause a run that has no budget at a multiple of its estimate (design: models).

        Args:
            expected: The stage that the project is at by now, if it is not the one that is named.
        """
        self._expected = expected

    def read(self, answers: Iterable[tuple[str, JsonValue]]) -> None:
        """Add the journal's model answers, each with its scope, `TSK-003.1/...`."""
        for scope, answer in answers:
            self._add(scope.partition(".")[0], answer)

    def model_of(self, role: Role) -> str:
        """The model that answers for a role, as the journal names it."""
        return self._models.get(role, "")

    def has_answered(self, model: str) -> bool:
        """Whether a model, as the journal names it, has ever answered for this project."""
        return model in self._answered

    def price(self, model: str, answer: JsonValue) -> Decimal | None:
        """What an answer of a model costs now; None if that is not known."""
        return self._prices.usd(model, counted(answer))

    def reserve(self, place: Place, size: int, model: str = "") -> None:
        """Reserve what the next call of an invocation may take.

        Args:
            place: The invocation.
            size: Of its request, in bytes.
            model: That is asked; empty for the role's own.

        Once a call was refused every further one is, since libraries may go on after an error.

        Raises:
            BudgetError: a budget may be exceeded; nothing was asked.
        """
        with self._lock:
            if self._refusal is None:
                self._refusal = self._refused(place, size, model or self.model_of(place.role))
            if self._refusal is not None:
                raise self._refusal

    def settle(self, place: Place, answer: JsonValue) -> AnswerBought | None:
        """Replace a reservation by what the journalled answer took; by nothing if none came."""
        with self._lock:
            if self._reserved.pop(place, None) is None or answer is None:
                return None
            cost = self._add(place.task or "product", answer)
            return AnswerBought(cost, self.total, self._budgets.project)

    def _refused(self, place: Place, size: int, model: str) -> BudgetError | None:
        usage = Usage(tokens_in(size), RESERVED_OUTPUT)
        usd = self._prices.usd(model, usage) if self._budgets.in_money else Decimal(0)
        if usd is None or (self._budgets.in_money and self.total.unpriced):
            return _unknown_price(model if usd is None else "an earlier model")
        needed = Cost(1, size, *usage[:2], usd)
        project, task = self.total, self._spent[place.task]
        for other, reserved in self._reserved.items():
            project = project.plus(reserved)
            task = task.plus(reserved) if other.task == place.task else task
        if paused := self._beyond_estimate(place, project, needed):
            return paused
        short = shortage(self._budgets, project, task if place.task else None, needed)
        if short is None:
            self._reserved[place] = needed
            return None
        option = "--" + short.setting.replace("_", "-")
        return BudgetError(
            f"paused before the next call: it may exceed `{short.setting}`, {short.limit}",
            where=f"{place.run_id}: {short.spent} spent, the call may take {short.needed}",
            remedy=f"nothing is lost; `specwright run {option} {short.enough}`, or more, goes on",
            setting=short.setting,
            enough=short.enough,
        )

    def _beyond_estimate(self, place: Place, project: Cost, needed: Cost) -> BudgetError | None:
        """Why a run without a budget pauses; each command, and each stage of it, begins to count anew."""
        if self._expected is None:
            return None
        if (now := self._expected(self._stage.stage)) is not None:
            self._stage, self._began = now, self.total.tokens
        limit, taken = allowance(self._stage.most), project.tokens - self._began
        if taken + needed.tokens <= limit:
            return None
        return BudgetError(
            f"paused before the next call: no budget is set, and it may exceed {limit:,} tokens, {TIMES_THE_MOST} times the "
            "most that was estimated",
            where=f"{place.run_id}: {taken:,} tokens taken since it began, the call may take {needed.tokens:,}",
            remedy="nothing is lost; `specwright run` goes on for as much again, `specwright run --budget-tokens N` sets a "
            "budget for the whole project, and `specwright run --budget-tokens 0` no limit at all",
        )

    def _add(self, task: str, answer: JsonValue) -> Cost:
        model = provider_of(answer)
        if not model:
            return Cost()
        self._answered.add(model)
        usage = counted(answer)
        paid = paid_for(answer)
        usd = self._prices.usd(model, usage) if paid is None else paid
        cost = Cost(1, characters_of(answer), *usage[:2], usd or Decimal(0), int(usd is None))
        self._spent[task] = self._spent[task].plus(cost)
        self.total = self.total.plus(cost)
        return cost


def counted(answer: JsonValue) -> Usage:
    """The tokens of an answer; estimated from its characters where the provider reports none."""
    usage = usage_of(answer)
    if usage.input_tokens + usage.output_tokens:
        return usage
    data: dict[str, Any] = cast(Any, answer)["message"].get("data", {})
    spoken = json.dumps([data.get("content", ""), data.get("tool_calls", [])])
    return Usage(tokens_in(characters_of(answer)), tokens_in(len(spoken)))


def _unknown_price(model: str) -> BudgetError:
    return BudgetError(
        "paused before the next call: a budget in money cannot be enforced",
        where=f"the price of {model} is unknown",
        remedy="set a budget in tokens instead, or the price: `prices` in specwright.toml",
    )
