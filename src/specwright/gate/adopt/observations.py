"""What runs show of a draft: the type that values have in common, how many items an iterable or iterator has, and what
contradicts it (design: adoption).
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from specwright.domain.adoption.report import Gap, Obstacle
from specwright.domain.base.text import shortened
from specwright.domain.contract.boundary.types import type_problem
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.examples_file import same_error
from specwright.gate.adopt.documented import DocumentedExample
from specwright.gate.adopt.draft import Draft
from specwright.gate.adopt.probes import MANY
from specwright.gate.adopt.signatures import NO_BOUND, RESULT, WIDEST_BOUND
from specwright.gate.runs.example_run import Observed
from specwright.syntax_tree import parse_expression

_MOST_STRAYS = 3
_STOPPED = "was stopped: "
_NOT_BEGUN = "was not begun"
_OF_THE_MACHINE = {"MemoryError", "RecursionError"}
"""Errors that come of how large a value is, and of no rule of the function."""
_ROUND = 100
_LEAST = 1
_CALLS = {"Decimal": "Decimal", "frozenset": "frozenset", "UUID": "UUID", "PosixPath": "Path", "Path": "Path"}
_DATES = {
    "datetime.datetime": "datetime",
    "datetime.date": "date",
    "datetime.time": "time",
    "datetime.timedelta": "timedelta",
}


class Trial(NamedTuple):
    """A call, and what came of it."""

    code: str
    seen: Observed
    document: DocumentedExample | None = None

    @property
    def error(self) -> str:
        """The class of the error that came out; empty if a value did."""
        outcome = self.seen.outcome
        return outcome.errors[0] if outcome is not None and outcome.value is None else ""

    @property
    def value(self) -> str | None:
        """The `repr` of what came out."""
        return self.seen.outcome.value if self.seen.outcome is not None else None

    @property
    def call(self) -> str:
        """Its last line."""
        return self.code.rstrip().rpartition("\n")[2]


def run_obstacles(trials: Sequence[Trial], draft: Draft) -> Iterator[Obstacle]:
    """What runs show that no contract can say."""
    where = draft.function.where
    for trial in trials:
        if not trial.seen.loads:
            yield Obstacle(
                f"it cannot be imported in the sandbox: {shortened(trial.seen.problem, 300)}", where
            )
            return
    if changing := next((one for one in trials if one.seen.changed), None):
        yield Obstacle(f"it changes its argument, as `{changing.call}` shows; work on a copy", where)
    # what a document passes may be of no type of the boundary where a list would do
    broken = [one for one in trials if one.document is None and one.seen.problem.startswith(_STOPPED)]
    if broken and not any(one.value is not None for one in trials):
        yield Obstacle(f"`{broken[0].call}` {shortened(broken[0].seen.problem, 300)}", where)


def document_gaps(trials: Sequence[Trial]) -> Iterator[Gap]:
    """The documented examples that are not true."""
    for one in trials:
        if one.document and one.seen.outcome and (problem := one.document.problem(one.seen.outcome)):
            yield Gap(
                f"the documented example `{shortened(one.call)}` is not true: {problem}",
                one.document.where,
                "the example as it is, or the function as the example says",
                refuted=True,
            )


def error_gaps(trials: Sequence[Trial], contract: MicroModuleContract, draft: Draft) -> Iterator[Gap]:
    """Errors that came out of calls with values of the declared types and that nothing states."""
    declared = [error.name for error in contract.error_surfaces]
    met: dict[str, Trial] = {}
    for one in trials:
        errors = one.seen.outcome.errors if one.seen.outcome and one.document is None else ()
        is_declared = errors and any(same_error(name, errors) for name in declared)
        if errors and not is_declared and errors[0] not in _OF_THE_MACHINE:
            met.setdefault(errors[0], one)
    for name, one in [*met.items()][:_MOST_STRAYS]:
        yield Gap(
            f"`{shortened(one.call)}` raises {name}, and nothing states it",
            draft.function.where,
            f"{name} under `Raises` with when it is raised, or a check that refuses such a value",
        )


def endless_gaps(trials: Sequence[Trial], draft: Draft) -> Iterator[Gap]:
    """The first call that did not come back."""
    for one in trials:
        problem = one.seen.problem
        if one.seen.outcome is None and problem not in ("", _NOT_BEGUN) and not problem.startswith(_STOPPED):
            yield Gap(
                f"`{shortened(one.call)}` {shortened(problem, 200)}",
                draft.function.where,
                "a limit of what it takes, with the error that a breach meets",
            )
            return


def item_bounds(draft: Draft, trials: Sequence[Trial], in_tests: Mapping[str, int]) -> dict[str, int]:
    """A bound of each iterable and iterator of a draft, a round number above the most that was seen; `NO_BOUND` where a
    function takes all that it is given, or yields more than any that is tried.

    Args:
        draft: With the widest bounds.
        trials: Its runs.
        in_tests: The most items of each that its tests saw.
    """
    return {name: _bound(name, trials, in_tests.get(name, 0)) for name in draft.bounds}


def _bound(name: str, trials: Sequence[Trial], in_tests: int) -> int:
    counts = [one.seen.items.get(name, 0) for one in trials]
    over = "yields more than" if name == RESULT else f"items of {name},"
    is_over = any(over in one.seen.problem for one in trials)
    if is_over or (name != RESULT and any(count >= MANY for count in counts)):
        return NO_BOUND
    return _ROUND if max(in_tests, *counts, 0) < _ROUND else WIDEST_BOUND


def unbounded_result(trials: Sequence[Trial], draft: Draft, bounds: Mapping[str, int]) -> Iterator[Obstacle]:
    """That a result has more items than a contract would state."""
    if bounds.get(RESULT, 1) == NO_BOUND:
        call = next(one.call for one in trials if "yields more than" in one.seen.problem)
        what = f"`{shortened(call)}` yields more than {WIDEST_BOUND} items; return a list, or end at a limit"
        yield Obstacle(what, draft.function.where)


def unbounded_remarks(bounds: Mapping[str, int]) -> Iterator[str]:
    """Why an iterable is stated as something else."""
    for name, bound in bounds.items():
        if bound == NO_BOUND and name != RESULT:
            yield f"`{name}` has no bound of its items: all that is given is taken"


def inferred_type(values: Sequence[str]) -> str:
    """The type of values; a union where they differ, empty where one of them has no type of the boundary."""
    found: dict[str, None] = {}
    for value in values:
        try:
            text = _type_of(parse_expression(value).body)
        except (SyntaxError, ValueError, RecursionError):
            return ""
        if text is None:
            return ""
        found[text] = None
    if len(found) > 1:
        # an empty container is of whatever type the others are
        found = {text: None for text in found if "?" not in text}
    ordered = sorted(found, key=lambda text: text == "None")
    text = " | ".join(ordered)
    return "" if len(values) < _LEAST or "?" in text or type_problem(text) else text


def _type_of(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=None):
            return "None"
        case ast.Constant(value=value):
            return type(value).__name__ if isinstance(value, bool | int | float | str | bytes) else None
        case ast.UnaryOp(operand=operand):
            return _type_of(operand)
        case ast.Name(id="nan" | "inf"):
            return "float"
        case ast.List(elts=parts) | ast.Set(elts=parts):
            inner = _together(parts)
            return None if inner is None else f"{type(node).__name__.lower()}[{inner}]"
        case ast.Tuple(elts=parts):
            types = [_type_of(part) for part in parts]
            return f"tuple[{', '.join(map(str, types))}]" if parts and None not in types else None
        case ast.Dict(keys=keys, values=parts):
            key, inner = _together([one for one in keys if one]), _together(parts)
            return None if key is None or inner is None else f"dict[{key}, {inner}]"
        case ast.Call(func=function):
            name = ast.unparse(function)
            return _DATES.get(name) or _CALLS.get(name.rpartition(".")[2])
        case _:
            return None


def _together(parts: Sequence[ast.expr]) -> str | None:
    types = list(dict.fromkeys(_type_of(part) for part in parts))
    if None in types:
        return None
    return " | ".join(str(one) for one in types) or "?"
