"""Lets a model draft what an adopted function lacks; what it drafts counts as far as the sandbox bears it out (design:
adoption).

One request for each function that lacks something, and at most one correction, which is told what was dropped and why. A
budget in tokens bounds all requests together. Without a project there is no journal: nothing of this is repeated.
"""

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from specwright.bootstrap.gate.ship_gate import gate_of
from specwright.bootstrap.models import model_sources_of
from specwright.canonical_json import JsonValue
from specwright.domain.adoption.drafted_answer import DraftAnswer
from specwright.domain.base.text import shortened
from specwright.domain.contract.obligations import obligations
from specwright.domain.costs.budget import RESERVED_OUTPUT, tokens_in
from specwright.errors import AnswerError, BudgetError, SpecwrightError
from specwright.gate.adopt.adoption import AdoptedModule, Adopter
from specwright.gate.drafted.parts import DraftedModule, with_drafted
from specwright.gate.ship_gate import SandboxedShipGate
from specwright.ports.journal import usage_of
from specwright.ports.roles import Place, Role
from specwright.roles.drafting import draft_answer
from specwright.roles.models.provider_call import CallLimits, ask_provider
from specwright.roles.models.sources import ModelSource
from specwright.settings import Settings, load_settings

_MOST_CHARACTERS = 60_000


class DraftCost(NamedTuple):
    """What the requests took.

    Args:
        requests: Answered ones.
        tokens_in: Of the requests, as the provider counts.
        tokens_out: Of the answers.
    """

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class Drafting:
    """Has what is missing drafted.

    Args:
        source: Of the model.
        gate: Tries what was drafted.
        limits: Of a request.
        budget: Tokens of all requests together; 0 for no limit.
    """

    def __init__(
        self,
        source: ModelSource,
        gate: SandboxedShipGate,
        limits: CallLimits = CallLimits(),  # noqa: B008 - immutable
        budget: int = 0,
    ) -> None:
        self._source = source
        self._gate = gate
        self._limits = limits
        self._budget = budget
        self._lock = threading.Lock()
        self._reserved = 0
        self.taken = DraftCost()

    @classmethod
    def of(cls, settings: Settings, budget: int) -> "Drafting":
        """The one that the settings name: the Proposer's model.

        Raises:
            InputError: no model is named, or there is none of that name.
        """
        sources, _ = model_sources_of(settings)
        limits = CallLimits(settings.timeout_seconds, settings.max_retries)
        return cls(sources[Role.PROPOSER], gate_of(settings), limits, budget)

    @classmethod
    def of_folder(cls, folder: Path, model: str, budget: int) -> "Drafting":
        """The one that the settings of a folder name, or a model that is named instead.

        Raises:
            InputError: as `of`.
        """
        return cls.of(load_settings(folder, {"model": model} if model else {}), budget)

    def drafted(self, adopter: Adopter, module: AdoptedModule) -> AdoptedModule:
        """A module with what was drafted and holds; as it was, with the reason, if nothing could be had.

        Raises:
            SpecwrightError: there is no sandbox.
        """
        if not module.files or not module.record.gaps:
            return module
        tried: list[DraftedModule] = []

        def check(answer: DraftAnswer) -> Sequence[str]:
            tried.append(with_drafted(self._gate, adopter, module, answer))
            left = tried[-1].module.record.gaps
            # what is dropped and leaves no gap need not be drafted again; what does not hold after a correction is dropped
            return [*tried[-1].dropped, *(one.what for one in left)] if len(tried) == 1 and left else ()

        place = Place("adopt", 1, module.draft.function.node.name, "round-1", Role.PROPOSER)
        try:
            model = self._source.model(place)
            draft_answer(model, place.run_id, _message(module), check, self._ask, self._count)
        except (AnswerError, BudgetError) as error:
            return tried[-1].module if tried else _without(module, error)
        except SpecwrightError as error:
            if tried:
                return tried[-1].module
            return _without(module, error)
        return tried[-1].module

    def _ask(self, live: Callable[[], JsonValue], size: int) -> JsonValue:
        with self._reservation(size):
            return ask_provider(live, size, self._limits, lambda _: None)

    def _count(self, answer: JsonValue) -> None:
        used = usage_of(answer)
        with self._lock:
            requests, before, after = self.taken
            self.taken = DraftCost(requests + 1, before + used.input_tokens, after + used.output_tokens)

    @contextmanager
    def _reservation(self, size: int) -> Generator[None]:
        needed = tokens_in(size) + RESERVED_OUTPUT
        with self._lock:
            spent = self.taken.tokens_in + self.taken.tokens_out + self._reserved
            if self._budget and spent + needed > self._budget:
                raise BudgetError(
                    f"the budget of {self._budget:,} tokens does not reach for a request of up to {needed:,}",
                    remedy="raise --budget-tokens, or name one function of the source",
                )
            self._reserved += needed
        try:
            yield
        finally:
            with self._lock:
                self._reserved -= needed


def _without(module: AdoptedModule, error: SpecwrightError) -> AdoptedModule:
    remark = shortened(f"nothing was drafted: {error.what}", 300)
    record = module.record._replace(remarks=(*module.record.remarks, remark))
    return module._replace(record=record)


def _message(module: AdoptedModule) -> str:
    """What a model is told of a function."""
    contract = module.draft.contract
    assert contract is not None  # a module with files has one
    stated = [
        f"- {one.pointer or 'the empty pointer'}: {one.category}: {one.text}" for one in obligations(contract)
    ]
    inputs = [f"- {slot.name}: {slot.type}" for slot in contract.inputs]
    outputs = [f"- returns {slot.type}" for slot in contract.outputs]
    missing = [f"- {one.what}" for one in module.record.gaps]
    files = [
        f"## {path}\n\n{data.decode()}"
        for path, data in sorted(module.files.items())
        if path.endswith((".py", ".md", "obligations.json"))
    ]
    parts = [
        f"# {contract.name}",
        f"Purpose: {contract.purpose}",
        "\n".join([*inputs, *outputs]),
        "What tests must show, each after its pointer:\n\n" + "\n".join(stated),
        "What is missing:\n\n" + "\n".join(missing),
        *files,
    ]
    return "\n\n".join(parts)[:_MOST_CHARACTERS]
