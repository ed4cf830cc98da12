"""What an invocation used, read from its journalled answers."""

from collections.abc import Callable
from typing import Any, cast

from specwright.canonical_json import JsonValue
from specwright.ports.journal import Scope
from specwright.ports.progress import RoleDone

__all__ = ["Meter", "tokens_of"]


def tokens_of(answer: JsonValue) -> tuple[int, int]:
    """Input and output tokens of a journalled model answer; zeros where the provider told none."""
    message = cast(dict[str, Any], cast(dict[str, Any], answer)["message"])
    usage = cast(dict[str, Any], message.get("data", {}).get("usage_metadata") or {})
    return int(usage.get("input_tokens") or 0), int(usage.get("output_tokens") or 0)


class Meter:
    """Counts the model answers that pass through a scope."""

    def __init__(self) -> None:
        self._calls = 0
        self._live = 0
        self._tokens = {True: [0, 0], False: [0, 0]}

    def watching(self, scope: Scope) -> Scope:
        """The scope, counted."""
        return _Watched(scope, self)

    def count(self, answer: JsonValue, *, live: bool) -> None:
        """Take notice of an answer."""
        self._calls += 1
        self._live += live
        for i, tokens in enumerate(tokens_of(answer)):
            self._tokens[live][i] += tokens

    def total(self, run_id: str) -> RoleDone:
        """The sum: the tokens of what was asked now, or of what was kept if nothing was."""
        kept = self._calls - self._live
        tokens = self._tokens[self._live > 0]
        return RoleDone(run_id, self._calls, *tokens, replayed=self._calls == kept > 0, kept=kept)


class _Watched:
    """A scope that tells a meter of every model answer."""

    def __init__(self, scope: Scope, meter: Meter) -> None:
        self._scope = scope
        self._meter = meter
        self.name = scope.name
        self.hex8, self.now, self.stamps, self.readings = scope.hex8, scope.now, scope.stamps, scope.readings

    def recall(self, kind: str, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        asked: list[bool] = []

        def ask() -> JsonValue:
            asked.append(True)
            return live()

        answer = self._scope.recall(kind, request, ask)
        if kind == "model":
            self._meter.count(answer, live=bool(asked))
        return answer
