"""The inputs that the fuzz draws, for a module and for the variables of a property: Hypothesis strategies from the
annotations (design: module-directory, ship-gate, executable-spec).

Loaded by the runners, which run without the module and load nothing else of the project. The same request draws the same
values.

Annotations alone find half of the faults. So every leaf is drawn from one of: the constants of the tests, as
they are or changed a little; what the contract's texts mention, with its neighbours; what was drawn for
another place of the same call (equal names, keys that hit and miss); what breaks programs (unpaired
surrogates, digits that are not decimal, texts over 4,300 digits, NaN, the ends of datetime); and anything.

Left out: integers beyond 64 bits and deeply nested JSON, which every plain program refuses in its own way, and
paths that hold NUL or lie outside the scratch directory.

Some calls are always tried (`sweep`): those of the tests with one thing replaced by what breaks programs. Nothing of them is
drawn.
"""

import contextlib
import copy
import datetime
import importlib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import reject, strategies
from hypothesis import strategies as st

from ship_gate.base.boundary_values import (
    CLASSES,
    CONSTRUCTORS,
    ROWS,
    SCALARS,
    Drawing,
    Scalar,
    full_repr,
    scalar_of,
)
from ship_gate.inside.drawing import read_no_sources
from ship_gate.inside.fuzz.dangerous_values import Sources, confined, dangerous_values, is_ordinary
from ship_gate.inside.values import (
    BUILD,
    GIVEN_AS,
    Classes,
    DrawnFunction,
    RefusedError,
    Shape,
    instance_of,
    is_endless,
    is_hashable,
    is_json,
    measure,
    members_of,
    mismatch,
    of_variable,
)

_Draw = Callable[[st.SearchStrategy[Any]], Any]

_LENGTHS = [2, 3, 10, 63, 64, 255, 256, 1000, 1001, 5000]
_MOST_LENGTH = 20_000
_JSON_DEPTH = 3
_MOST_REFUSED = 6
"""So often fields are drawn anew for a class that refuses them."""
_MOST_NESTED = 2
"""A class that is so often within itself is drawn without itself again, where its type lets it."""


def leaves_of(values: Sequence[Any]) -> dict[str, list[Any]]:
    """The leaves of some values by kind, each once."""
    found: dict[str, dict[str, Any]] = {}
    waiting = list(values)
    while waiting:
        value = waiting.pop(0)
        if (members := members_of(value)) is not None:
            waiting += members
        elif value is not None:
            row = scalar_of(value)
            found.setdefault(row.name if row else type(value).__name__, {})[full_repr(value)] = value
    return {kind: list(of.values()) for kind, of in found.items()}


def drawn_arguments(
    shapes: Mapping[str, Shape], defaults: frozenset[str], sources: Sources
) -> st.SearchStrategy[dict[str, Any]]:
    """The arguments of one call, by name.

    Args:
        shapes: The types of the parameters.
        defaults: Parameters that may be left out.
        sources: What to draw from.
    """
    kinds = _strategies(sources)
    candidates = {
        name: [
            value
            for value in (*sources.by_parameter.get(name, ()), *filter(_fits_bare(shape), sources.whole))
            if not mismatch(value, shape)
        ]
        for name, shape in shapes.items()
    }

    @st.composite
    def call(draw: _Draw) -> dict[str, Any]:
        maker = _Maker(draw, kinds, sources)
        drawn: dict[str, Any] = {}
        for name, shape in shapes.items():
            if name in defaults and draw(_ONE_IN_FOUR) == 3:
                continue
            if (whole := candidates[name]) and draw(_ONE_IN_FOUR) == 3:
                drawn[name] = maker.noted(copy.deepcopy(draw(st.sampled_from(whole))))
            else:
                drawn[name] = maker.value(shape, 0)
        return drawn

    return call()


def _fits_bare(shape: Shape) -> Callable[[Any], bool]:
    """Of the values that tests mention, those that may go where `list` or `dict` stands alone: they hold JSON values, as
    what is drawn for them does. A list of tuples is more often a table of cases than an input."""
    parts = shape.parts if shape.kind == "union" else (shape,)
    bare = any(part.kind in {"list", "dict"} and not part.parts for part in parts)
    return is_json if bare else lambda value: True


_ONE_IN_FOUR = st.integers(0, 3)
_RESULTS = st.integers(1, 3)
_ONE_IN_TEN = st.integers(0, 9)
_SMALL = st.sampled_from([1, 2, 0, 3, 1, 2, 4, 6])
# not `st.characters()`: its tables of Unicode take a second to make, and there is no place to keep them
_LETTERS = st.one_of(
    st.integers(32, 126).map(chr), st.integers(0, 0x2FFF).map(chr), st.integers(0, 0x10FFFF).map(chr)
)
_JSON_KEYS = st.sampled_from(["a", "b", "id", "", "name"])


class _Maker:
    """Draws the values of one call, and remembers them for its other places."""

    def __init__(
        self,
        draw: _Draw,
        kinds: Mapping[str, st.SearchStrategy[Any]],
        sources: Sources,
    ) -> None:
        self._draw = draw
        self._kinds = kinds
        self._sources = sources
        self._seen: dict[str, list[Any]] = {}
        self._within: list[str] = []

    def noted(self, value: Any) -> Any:
        """The value, with its leaves remembered."""
        for kind, leaves in leaves_of([value]).items():
            self._seen.setdefault(kind, []).extend(leaves[:20])
        return value

    def value(self, shape: Shape, depth: int) -> Any:
        """A value of a type."""
        match shape.kind:
            case "none":
                return None
            case "union":
                parts = [part for part in shape.parts if not self._is_too_deep(part)]
                return self.value(self._draw(st.sampled_from(parts or shape.parts)), depth)
            case "literal":
                return self._draw(st.sampled_from(shape.values))
            case "class":
                return self._instance(shape, depth)
            case "named":
                self._within.append(shape.name)
                drawn = self.value(shape.parts[0], depth)
                self._within.pop()
                return drawn
            case "tuple":
                return tuple(self.value(part, depth + 1) for part in shape.parts)
            case "list" | "dict" if not shape.parts:
                return self._json(shape.kind, 0)
            case "list" | "tuple..." | "set" | "frozenset" | "dict":
                return self._container(shape, depth)
            case "Callable" | "Mapping" | "Sequence" | "Collection" | "Iterable" | "Iterator":
                return self._abstract(shape, depth)
            case kind:
                return self._leaf(kind)

    def _abstract(self, shape: Shape, depth: int) -> Any:
        if shape.kind == "Callable":
            results = range(self._draw(_RESULTS))
            return DrawnFunction([self.value(shape.parts[0], depth + 1) for _ in results])
        given = self._draw(st.sampled_from(GIVEN_AS[shape.kind]))
        return self._container(shape._replace(kind=given), depth)

    def _leaf(self, kind: str) -> Any:
        seen = self._seen.setdefault(kind, [])
        if seen and self._draw(_ONE_IN_FOUR) == 3:
            return self._draw(st.sampled_from(list(seen)))
        value = copy.copy(self._draw(self._kinds[kind]))
        seen.append(value)
        return value

    def _instance(self, shape: Shape, depth: int) -> Any:
        if shape.instances and self._draw(_ONE_IN_FOUR) == 3:
            return copy.deepcopy(self._draw(st.sampled_from(shape.instances)))
        for _ in range(_MOST_REFUSED):
            self._within.append(shape.name)
            drawn = {
                field: self.value(part, depth + 1)
                for field, part in zip(shape.fields, shape.parts, strict=True)
            }
            self._within.pop()
            with contextlib.suppress(RefusedError):
                return instance_of(shape._replace(instances=()), drawn)
        return copy.deepcopy(self._draw(st.sampled_from(shape.instances))) if shape.instances else reject()

    def _is_too_deep(self, shape: Shape) -> bool:
        """Whether a value would hold one more of a class that it is within often enough."""
        often = frozenset(name for name in self._within if self._within.count(name) > _MOST_NESTED)
        return bool(often) and is_endless(shape, often)

    def _container(self, shape: Shape, depth: int) -> Any:
        if any(map(self._is_too_deep, shape.parts)):
            return BUILD[shape.kind]()
        length = self._draw(_SMALL)
        if self._sources.huge and depth == 0 and self._draw(_ONE_IN_TEN) == 9:
            length = self._draw(st.sampled_from([20, 100, *self._sources.lengths]))
        distinct = min(length, 6)
        if shape.kind == "dict":
            pairs = [
                (self.value(shape.parts[0], depth + 1), self.value(shape.parts[1], depth + 1))
                for _ in range(distinct)
            ]
            return {key: value for key, value in pairs if is_hashable(key)}
        parts = [self.value(shape.parts[0], depth + 1) for _ in range(distinct)]
        if parts and self._draw(_ONE_IN_FOUR) == 3:
            parts[-1] = copy.deepcopy(parts[0])
        while parts and len(parts) < length:
            parts += copy.deepcopy(parts[: length - len(parts)])
        return BUILD[shape.kind](filter(is_hashable, parts) if "set" in shape.kind else parts)

    def _json(self, kind: str, depth: int) -> Any:
        length = self._draw(_SMALL) if depth < _JSON_DEPTH else 0
        if kind == "list":
            return [self._json_value(depth + 1) for _ in range(length)]
        return {self._json_key(): self._json_value(depth + 1) for _ in range(length)}

    def _json_key(self) -> str:
        return self._leaf("str") if self._draw(_ONE_IN_FOUR) else self._draw(_JSON_KEYS)

    def _json_value(self, depth: int) -> Any:
        kind = self._draw(st.sampled_from(["str", "int", "float", "bool", "none", "list", "dict"]))
        if kind in {"list", "dict"}:
            return self._json(kind, depth)
        return None if kind == "none" else self._leaf(kind)


def _strategies(sources: Sources) -> dict[str, st.SearchStrategy[Any]]:
    dangers = dangerous_values(sources)
    zones = st.sampled_from([None, datetime.UTC]) if sources.aware else st.none()
    drawing = Drawing(st, zones, sources.ordinary)

    def kind(row: Scalar) -> st.SearchStrategy[Any]:
        known = (sources.leaves.get(row.name), dangers[row.name])
        return st.one_of(*(st.sampled_from(list(found)) for found in known if found), *row.drawn(drawing))

    return {
        **{row.name: kind(row) for row in SCALARS},
        "str": _texts(sources, dangers["str"]),
        "bool": st.booleans(),
        "Path": st.sampled_from(dangers["Path"]),
    }


def _texts(sources: Sources, dangers: list[str]) -> st.SearchStrategy[str]:
    own = [text for text in sources.leaves.get("str", ()) if len(text) <= _MOST_LENGTH]
    alphabet = st.sampled_from(sorted({letter for text in own for letter in text[:200]} | set("a0 -.")))
    any_letter = _LETTERS.filter(is_ordinary) if sources.ordinary else _LETTERS
    written, free = (st.lists(letters, max_size=16).map("".join) for letters in (alphabet, any_letter))
    branches: list[st.SearchStrategy[str]] = [st.sampled_from(own)] if own else []
    branches += [st.sampled_from(dangers), written, free, _changed(own or ["a"], dangers)]
    if sources.huge:
        lengths = [length for length in (*sources.lengths, *_LENGTHS) if 0 < length <= _MOST_LENGTH]
        units = st.one_of(alphabet, st.sampled_from([*own, "a"]))
        branches.append(st.builds(_filled, units, st.sampled_from(lengths)))
    return st.one_of(*branches).map(confined) if sources.confined else st.one_of(*branches)


@st.composite
def _changed(draw: _Draw, own: list[str], dangers: list[str]) -> str:
    """A text of the tests with one thing changed."""
    text = draw(st.sampled_from(own))
    place = draw(st.integers(0, min(len(text), 60)))
    other = draw(st.sampled_from([*own, *dangers]))
    how = draw(st.sampled_from(["cut", "put", "drop", "twice", "swap", "join", "lines"]))
    changed = {
        "cut": text[:place],
        "put": text[:place] + other[:40] + text[place:],
        "drop": text[:place] + text[place + 1 :],
        "twice": text[:place] + text,
        "swap": text[:place] + other[:1] + text[place + 1 :],
        "join": text + draw(st.sampled_from(["", " ", ",", "-", ":", "=", "\n"])) + other[:40],
        "lines": f"{text}\n{other[:40]}\n",
    }
    return changed[how]


def _filled(unit: str, length: int) -> str:
    return (unit * (length // max(1, len(unit)) + 1))[:length] if unit else ""


class CounterexampleError(Exception):
    """Tells Hypothesis that inputs are a counterexample; each kind of fault has a subclass of its own."""


class OverTimeError(BaseException):
    """The budget is used up; no bare `except Exception` keeps it."""


class HangError(BaseException):
    """A call does not end."""


def stop(number: int, frame: object) -> None:
    """Handle the alarm of a call."""
    raise HangError


def _evaluated(texts: list[str], names: dict[str, Any]) -> list[Any]:
    """The values of expressions; one with more members than can be drawn from in time is left out."""
    found: list[Any] = []
    for text in texts:
        with contextlib.suppress(Exception):
            value = eval(text, {"__builtins__": _BUILTINS}, names)  # noqa: S307 - closed expressions of the tests
            if not _holds_over(value, _MOST_MEMBERS):
                found.append(value)
    return found


def _holds_over(value: Any, most: int) -> bool:
    waiting, seen = [value], 0
    while waiting and seen <= most:
        waiting += members_of(waiting.pop()) or ()
        seen += 1
    return seen + len(waiting) > most


_MOST_MEMBERS = 10_000
_BUILTINS = {**CLASSES, "bytes": bytes}


def classes_of(request: dict[str, Any]) -> Classes:
    """The exported classes, made anew by `install`."""
    stated: dict[str, Any] = request["classes"]
    found = {name: getattr(importlib.import_module(of["module"]), name) for name, of in stated.items()}
    instances: dict[str, list[Any]] = {name: [] for name in stated}
    for text in request["constants"]:
        for value in (
            _evaluated([text], {**CONSTRUCTORS, **found}) if any(map(text.__contains__, found)) else ()
        ):
            _note_instances(value, instances)
    classes = Classes(stated, found, instances)
    return of_variable(classes, request["variable"]) if "variable" in request else classes


def _note_instances(value: Any, instances: Mapping[str, list[Any]]) -> None:
    """Keep the values of exported classes that a value holds, by their class."""
    waiting = [value]
    while waiting:
        whole: Any = waiting.pop()
        waiting += members_of(whole) or ()
        if type(whole).__name__ in instances:
            instances[type(whole).__name__].append(whole)


def sources_of(request: dict[str, Any], names: dict[str, Any], folder: Path) -> Sources:
    """What there is to draw from.

    Args:
        request: Of `gate.fuzz`.
        names: What its constants use.
        folder: Where paths lie.
    """
    whole = _evaluated(request["constants"], names)
    arguments = {name: _evaluated(texts, names) for name, texts in request["given"].items()}
    numbers = [Decimal(number) for number in request["numbers"]]
    leaves = leaves_of([*whole, *arguments.values(), list(request["texts"])])
    near = [number + step for number in numbers for step in (0, -1, 1)]
    leaves.setdefault("int", []).extend(int(number) for number in near if number == int(number))
    leaves.setdefault("float", []).extend(map(float, near))
    cents = [
        number + step for number in numbers for step in (Decimal("0.01"), Decimal("-0.01"), Decimal("0.001"))
    ]
    leaves.setdefault("Decimal", []).extend([*near, *cents])
    lengths = [int(number) for number in near if number == int(number) and 0 <= number <= 10_000]
    return Sources(
        leaves,
        whole,
        arguments,
        lengths,
        folder,
        request["aware"],
        request["confined"],
        request["huge"],
        request["ordinary"],
        request.get("web", False),
        {name: range(low, high + 1) for name, (low, high) in request["ranges"].items()},
        request["found"],
    )


def explore(drawn: Any, examine: Callable[[dict[str, Any]], None], *, seed: int, examples: int) -> None:
    """Draw inputs and shrink what was found.

    Args:
        drawn: The strategy of the inputs.
        examine: Reports a fault as it sees it, and raises CounterexampleError.
        seed: Of what is drawn.
        examples: How many inputs at most.
    """

    @hypothesis.seed(seed)
    @hypothesis.settings(
        database=None,
        deadline=None,
        max_examples=examples,
        suppress_health_check=list(hypothesis.HealthCheck),  # pyright: ignore[reportArgumentType]  # its metaclass hides the members
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
        report_multiple_bugs=True,
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(drawn)
    def explored(inputs: dict[str, Any]) -> None:
        examine(inputs)

    read_no_sources()
    try:
        explored()
    except (CounterexampleError, ExceptionGroup) as found:
        # they were reported when they were seen, flaky ones too; any other error is a fault of the gate
        if isinstance(found, ExceptionGroup) and (ours := found.split(CounterexampleError)[1]):
            raise ours from None


def _load_all() -> None:
    """Draw once: Hypothesis loads late what it draws with, and is wanted whole before there is a candidate."""

    @hypothesis.settings(database=None, max_examples=2, phases=[hypothesis.Phase.generate])
    @hypothesis.given(strategies.text(strategies.sampled_from("ab")))
    def drawn(text: str) -> None:
        pass

    drawn()


_load_all()


_LARGE = 2500
"""Characters or elements: more than twice as many as Python nests calls, and few enough for a plain program."""
_MOST_SWEPT = 200
_MOST_GIVEN = 8

_Within = tuple[str, ...]
"""The classes that a value lies in, from the outermost on."""
_TIMES = 3
_FEW = 4
_LONGEST = 200
_MOST_RECOMBINED = 60
_PIECES = re.compile(r"\w+|\W+")
_WORD = re.compile(r"\w+")
_DIGITS = re.compile("[0-9]+")
_MANY_DIGITS = ("9" * 12, "9" * 18)


def sweep(shapes: Mapping[str, Shape], sources: Sources) -> Iterator[dict[str, Any]]:
    """Arguments by name, call by call.

    Args:
        shapes: The types of the parameters.
        sources: What the tests give, and what the contract mentions.
    """
    dangers = dangerous_values(sources)
    try:
        usual = _usual(shapes, sources)
    except RefusedError:
        # nothing is known that a class takes; what is drawn may find something
        return
    for name, shape in shapes.items():
        tested = _tested(name, shape, sources)
        swept = itertools.islice(_unless_refused(_dangerous(shape, dangers)), _MOST_SWEPT)
        values = itertools.chain(
            _overlarge_numbers(tested), _recombined(tested), sources.ranges.get(name, ()), swept
        )
        yield from ({**copy.deepcopy(usual), name: value} for value in values)


def _unless_refused(values: Iterator[Any]) -> Iterator[Any]:
    """The values, as far as classes take what they are made of."""
    with contextlib.suppress(RefusedError):
        yield from values


def calls_of_tests(shapes: Mapping[str, Shape], sources: Sources) -> Iterator[dict[str, Any]]:
    """Calls with what the tests give, a few."""
    try:
        usual = _usual(shapes, sources)
    except RefusedError:
        return
    yield usual
    for name, shape in shapes.items():
        tested = [value for value in _tested(name, shape, sources) if value != usual.get(name)]
        yield from ({**copy.deepcopy(usual), name: value} for value in tested[:_FEW])


def _recombined(tested: Sequence[Any]) -> Iterator[str]:
    """Texts out of the words of the tests' texts: more of them, others beside one another, and in another order."""
    texts = [value for value in tested if isinstance(value, str) and len(value) <= _LONGEST]
    pieces = [_PIECES.findall(text) for text in texts]
    words = list(dict.fromkeys(piece for found in pieces for piece in found if _WORD.fullmatch(piece)))
    marks = list(dict.fromkeys(piece for found in pieces for piece in found if not _WORD.fullmatch(piece)))
    made: dict[str, None] = {}
    for text, found in zip(texts, pieces, strict=True):
        own = [piece for piece in found if _WORD.fullmatch(piece)]
        between = [piece for piece in found if not _WORD.fullmatch(piece)] or [" "]
        for mark in dict.fromkeys(between[:_FEW]):
            made |= dict.fromkeys(mark.join([text] * often) for often in (2, 4))
            made |= dict.fromkeys((mark.join(own[::-1]), mark.join(sorted(own))))
            made |= dict.fromkeys(text + mark + word for word in words[:_FEW])
    for (one, other), mark in itertools.product(
        itertools.permutations(words[:_FEW], 2), marks[:_FEW] or [" "]
    ):
        made[one + mark + other] = None
    yield from itertools.islice((text for text in made if text not in texts), _MOST_RECOMBINED)


def enlarged(shapes: Mapping[str, Shape], sources: Sources) -> Iterator[dict[str, Any]]:
    """What the tests give, made large: texts and lists repeated, one element or character alone, many times.

    A program that calls itself for each element ends here, whatever it was drawn.
    """
    for name, shape in shapes.items():
        for value, at in itertools.product(_tested(name, shape, sources)[:_MOST_GIVEN], (0, -1)):
            usual = _usual(shapes, sources, at)
            for large in _large(value):
                if not mismatch(large, shape):
                    yield {**copy.deepcopy(usual), name: large}


def overlong(
    shapes: Mapping[str, Shape], sources: Sources, bounds: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """Calls as the tests make them, with one item of an iterable more than its bound, and with as many.

    Args:
        shapes: The types of the parameters.
        sources: What the tests give.
        bounds: Of some parameters.
    """
    for name, bound in bounds.items():
        for at in (0, -1):
            try:
                usual = _usual(shapes, sources, at)
            except RefusedError:
                return
            items: list[Any] = [*(usual[name] or ())] or [*(_plainest(shapes[name]) or ())]
            for length in (bound + 1, bound) if items else ():
                yield {**copy.deepcopy(usual), name: [*itertools.islice(itertools.cycle(items), length)]}


def _tested(name: str, shape: Shape, sources: Sources) -> list[Any]:
    return [value for value in sources.by_parameter.get(name, ()) if not mismatch(value, shape)]


def _usual(shapes: Mapping[str, Shape], sources: Sources, at: int = 0) -> dict[str, Any]:
    """A call as the tests make it, the first one's arguments or the last one's."""
    tested = {name: _tested(name, shape, sources) for name, shape in shapes.items()}
    return {name: tested[name][at] if tested[name] else _plainest(shape) for name, shape in shapes.items()}


def _overlarge_numbers(tested: Sequence[Any]) -> Iterator[str]:
    """The texts of the tests with one number in them larger than what most things hold."""
    for text in [value for value in tested if isinstance(value, str)][:_MOST_GIVEN]:
        for number in _DIGITS.finditer(text):
            yield from (text[: number.start()] + digits + text[number.end() :] for digits in _MANY_DIGITS)


def _large(value: Any) -> Iterator[Any]:
    """A value made large, in a few ways."""
    if measure(value) > _LARGE:
        return
    if isinstance(value, (str, bytes)) and value:
        yield (value * _LARGE)[:_LARGE]
        yield value[:1] * _LARGE
    elif isinstance(value, list) and value:
        whole: list[Any] = [*value]
        yield [copy.deepcopy(part) for part in (whole * _LARGE)[:_LARGE]]
        yield from ([large] for large in _large(whole[0]))


def _plainest(shape: Shape, within: frozenset[str] = frozenset()) -> Any:
    match shape.kind:
        case "none" | "literal":
            return shape.values[0] if shape.values else None
        case "union":
            return _plainest(next(part for part in shape.parts if not is_endless(part, within)), within)
        case "named":
            return _plainest(shape.parts[0], within | {shape.name})
        case "class":
            inner = within | {shape.name}
            parts = zip(shape.fields, shape.parts, strict=True)
            return instance_of(shape, {field: _plainest(part, inner) for field, part in parts})
        case "tuple" | "Callable":
            parts = tuple(_plainest(part, within) for part in shape.parts)
            return DrawnFunction(parts) if shape.kind == "Callable" else parts
        case "list" | "dict" if not shape.parts:
            return [] if shape.kind == "list" else {}
        case kind if kind in GIVEN_AS:
            return _plainest(shape._replace(kind=GIVEN_AS[kind][0]), within)
        case "list" | "tuple..." | "set" | "frozenset" | "dict":
            parts = [] if any(is_endless(part, within) for part in shape.parts) else [*shape.parts]
            if shape.kind == "dict":
                return {_plainest(parts[0], within): _plainest(parts[1], within)} if parts else {}
            return BUILD[shape.kind]([_plainest(part, within) for part in parts])
        case kind:
            return ROWS[kind].plain()


def _dangerous(shape: Shape, dangers: Mapping[str, Sequence[Any]], within: _Within = ()) -> Iterator[Any]:
    """Values of a type that hold one dangerous leaf."""
    match shape.kind:
        case "none" | "literal":
            yield from shape.values or (None,)
        case "union":
            for part in shape.parts:
                yield from _dangerous(part, dangers, within)
        case "Callable":
            yield from (DrawnFunction([found]) for found in _dangerous(shape.parts[0], dangers, within))
        case kind if kind in GIVEN_AS:
            for given in GIVEN_AS[kind]:
                yield from _dangerous(shape._replace(kind=given), dangers, within)
        case "class" | "tuple" | "named":
            yield from _dangerous_instances(shape, dangers, within)
        case "list" | "tuple..." | "set" | "frozenset" if shape.parts:
            yield from _dangerous_containers(shape, dangers, within)
        case "dict" if shape.parts:
            yield {}
            key = _plainest(shape.parts[0])
            yield from (
                {found: value}
                for value in _plainest(shape, frozenset(within)).values()
                for found in filter(is_hashable, _dangerous(shape.parts[0], dangers, within))
            )
            yield from ({key: found} for found in _dangerous(shape.parts[1], dangers, within))
        case kind:
            yield from dangers.get(kind, ())


def _dangerous_instances(
    shape: Shape, dangers: Mapping[str, Sequence[Any]], within: _Within
) -> Iterator[Any]:
    """Of a class, a tuple or a named type; one within itself comes to an end."""
    if shape.kind != "tuple":
        if within.count(shape.name) >= _MOST_NESTED:
            return
        within = (*within, shape.name)
    if shape.kind == "named":
        yield from _dangerous(shape.parts[0], dangers, within)
        return
    whole = [_plainest(part, frozenset(within)) for part in shape.parts]
    for place, part in enumerate(shape.parts):
        for value in _dangerous(part, dangers, within):
            parts = [*copy.deepcopy(whole[:place]), value, *copy.deepcopy(whole[place + 1 :])]
            if shape.kind == "tuple":
                yield tuple(parts)
                continue
            with contextlib.suppress(RefusedError):
                yield instance_of(shape._replace(instances=()), dict(zip(shape.fields, parts, strict=True)))


def _dangerous_containers(
    shape: Shape, dangers: Mapping[str, Sequence[Any]], within: _Within
) -> Iterator[Any]:
    build = BUILD[shape.kind]
    yield build([])
    others = _plainest(shape, frozenset(within))
    found = _dangerous(shape.parts[0], dangers, within)
    for value in filter(is_hashable, found) if "set" in shape.kind else found:
        yield build([value])
        yield build([*copy.deepcopy(others), value])
        yield build([copy.deepcopy(value) for _ in range(_TIMES)])
