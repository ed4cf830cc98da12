"""Contracts drawn at random within everything that §8.1 allows."""

import keyword

from hypothesis import strategies as st

from ship_gate.base.boundary_values import SCALARS
from ship_gate.base.text import is_placeholder, text_problem
from ship_gate.contract.class_statement import ClassStatement, Field, placed
from ship_gate.contract.contract import (
    Dependency,
    Effect,
    EffectType,
    ErrorField,
    ErrorSurface,
    Input,
    MicroModuleContract,
    Modes,
    Output,
    SurfaceKind,
)
from ship_gate.contract.error_classes import ERROR_BASES
from ship_gate.contract.rules import ANY_NUMBER, KEYWORD_ONLY
from ship_gate.contract.types import is_class_name, is_generic, is_iterable, is_lazy, named

__all__ = ["SIBLING", "contracts", "dependency_classes", "plain_contracts", "texts"]

SIBLING = "sibling"
"""The module that exports every class which a drawn contract names without a statement."""

_DETAILS = (
    "```",
    "- ",
    "Args:",
    "Returns:",
    "x: y",
    "(a)",
    '"""',
    "\\",
    "'",
    "#",
    "[code]",
    "é€漢",
    "👨\u200d👩",
    "`q`",
)


def texts():
    """One-line texts, seasoned with what a docstring could misread."""
    words = st.one_of(
        st.sampled_from(_DETAILS),
        st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8),
    )
    joined = st.lists(words, min_size=1, max_size=5).map(lambda parts: " ".join(" ".join(parts).split()))
    return joined.filter(lambda text: not text_problem(text) and not text.lower().startswith("defaults to"))


def _names():
    plain = st.from_regex(r"_?[a-z][a-z0-9_]{0,6}", fullmatch=True)
    return plain.filter(lambda name: not keyword.iskeyword(name))


_SCALARS = ["dict", "list", "tuple[()]", *(row.name for row in SCALARS)]
_SCALARS += ["Literal['a', \"it's\", -1, None]", "Literal[b'x', True]"]
_UNHASHABLE = {"dict", "list", *(row.name for row in SCALARS if not row.is_hashable)}


def _types(classes, *, taken=False):
    scalar = st.sampled_from([*_SCALARS, *classes])
    # those of a dependency may be hashed, as far as this contract knows
    hashed = [*(one for one in _SCALARS if one not in _UNHASHABLE), *({*classes} & {"Tab", "Q2"})]
    keys = st.one_of(
        st.sampled_from(sorted(hashed)),
        st.sampled_from(["tuple[int, ...]", "frozenset[str | None]", "tuple[date, UUID]"]),
    )
    lists = ["list", *(["Sequence", "Collection"] if taken else [])]
    dicts = st.sampled_from(["dict", *(["Mapping"] if taken else [])])
    return st.recursive(
        scalar,
        lambda inner: st.one_of(
            st.sampled_from(lists).flatmap(lambda base: inner.map(lambda t: f"{base}[{t}]")),
            st.tuples(dicts, keys, inner).map(lambda all_: f"{all_[0]}[{all_[1]}, {all_[2]}]"),
            st.tuples(st.sampled_from(["set", "frozenset"]), keys).map(lambda both: f"{both[0]}[{both[1]}]"),
            st.lists(inner, min_size=1, max_size=3).map(lambda all_: f"tuple[{', '.join(all_)}]"),
            inner.map(lambda t: f"tuple[{t}, ...]"),
            inner.map(lambda t: f"{t} | None"),
        ),
        max_leaves=4,
    )


def _whole_inputs(classes, *, lazy):
    """Types of parameters; with lazy ones also those that are no part of another type."""
    if not lazy:
        return _types(classes, taken=True)
    value = _types(classes)
    return st.one_of(
        _types(classes, taken=True),
        _types(classes, taken=True),
        st.tuples(st.sampled_from(_ITERABLES), _types(classes, taken=True)).map(
            lambda all_: all_[0].format(all_[1])
        ),
        st.tuples(st.lists(value, max_size=2), value | st.just("None")).map(
            lambda all_: f"Callable[[{', '.join(all_[0])}], {all_[1]}]"
        ),
    )


_ITERABLES = ("Iterable[{}]", "Iterator[{}]", "Iterable[{}] | None", "None | Iterator[{}]")


@st.composite
def _statements_of(draw, type_, verb):
    """What is said of a slot; of an iterable also how many items there are at most."""
    said = draw(st.lists(texts(), max_size=2))
    if is_iterable(type_):
        said.insert(draw(st.integers(0, len(said))), f"{verb} at most {draw(st.integers(1, 100_000))} items")
    return said


def _literals():
    scalar = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=6),
        st.binary(max_size=4),
    )
    literal = st.one_of(scalar, st.lists(scalar, max_size=3).map(tuple)).map(repr)
    return st.one_of(literal, st.sampled_from(_CONSTANTS))


_CONSTANTS = [
    "Decimal('0.5')",
    "date(2024, 1, 31)",
    "Path('a')",
    "frozenset()",
    "frozenset({1, 'a'})",
    "ZoneInfo('UTC')",
]
_CONSTANTS += ["(Fraction(1, 2), None)", "timedelta(days=7, seconds=-1)", "complex(0, -1.5)"]


_RAISED = ["KeyError", "LedgerError", "OddError", "ValueError"]
_CLASS_NAMES = ["Receipt", "Row", "Mode", "Tab", "Q2"]


@st.composite
def _statements(draw):
    """Classes of the module itself; each field may name a class drawn before it."""
    known: dict[str, ClassStatement] = {}
    for name in draw(st.lists(st.sampled_from(_CLASS_NAMES[:3]), unique=True, max_size=2)):
        kinds = ["frozen dataclass", "NamedTuple", "TypedDict", "Enum", "StrEnum", "IntEnum", "type"]
        kind = draw(st.sampled_from(kinds))
        names = draw(
            st.lists(st.from_regex(r"[a-z]{2,6}", fullmatch=True), unique=True, min_size=1, max_size=3)
        )
        names = [n for n in names if not keyword.iskeyword(n)] or ["only"]
        if kind == "type":
            own = st.sampled_from(
                ["int | list[{0}]", "None | dict[str, {0}]", "str | tuple[{0}, {0}]", "tuple[int, ...]"]
            )
            fields = (Field("", draw(own).format(name)),)
        elif kind.endswith("Enum"):
            value = st.integers(0, 9) if kind == "IntEnum" else st.text(max_size=4)
            fields = tuple(Field(n.upper(), "", repr(draw(value))) for n in names)
        else:
            # a field may also hold more of its own class, where that comes to an end
            own = st.sampled_from([f"list[{name}]", f"{name} | None", f"dict[str, {name}]"])
            fields = tuple(Field(n, draw(_types(list(known)) | own)) for n in names)
            if kind in {"frozen dataclass", "NamedTuple"} and draw(st.booleans()):
                fields = (*fields[:-1], fields[-1]._replace(default=draw(_literals())))
        known[name] = ClassStatement(name, kind, fields)
        if kind == "frozen dataclass":
            derived = draw(st.lists(st.sampled_from(["is_paid", "total_2", "x1"]), unique=True, max_size=2))
            plain = st.sampled_from(["int", "bool | None", "tuple[Decimal, ...]", "dict[str, date]", "Path"])
            known[name] = known[name]._replace(
                properties=tuple(Field(one, draw(plain)) for one in sorted(derived)),
                raises=tuple(sorted(draw(st.sets(st.sampled_from(_RAISED), max_size=2)))),
            )
    return known


def _error_fields():
    names = st.lists(st.sampled_from(["index", "reason", "at_2"]), unique=True, max_size=2)
    return names.flatmap(
        lambda chosen: st.tuples(
            *(_types([]).map(lambda text, n=n: ErrorField(name=n, type=text)) for n in chosen)
        )
    ).map(list)


@st.composite
def _error_class(draw):
    """What the first surface of an error class states of the class."""
    return {
        "base": draw(st.just("") | st.sampled_from(ERROR_BASES)),
        "shared": draw(st.just("") | texts()),
        "fields": draw(_error_fields()),
    }


@st.composite
def contracts(draw):
    """A contract without problems."""
    return draw(_contracts_of(["Tab", "Q2"]))


@st.composite
def plain_contracts(draw):
    """A contract without dependencies and effects, whose classes run no code and whose values are all there at once."""
    drawn = draw(_contracts_of([]))
    return drawn.model_copy(update={"effects": [], "dependencies": []})


@st.composite
def _contracts_of(draw, foreign):
    """A contract whose types may name classes of a dependency.

    Args:
        draw: Of Hypothesis.
        foreign: Their names; without any, classes run no code either.
    """
    known = draw(_statements())
    if not foreign:
        known = {name: one._replace(properties=(), raises=()) for name, one in known.items()}
    parameter_names = draw(st.lists(_names(), unique=True, max_size=3))
    output_names = draw(st.lists(_names(), unique=True, max_size=3))
    scalars = [*known, *foreign]
    # where values come out of a table, none of the caller's type does
    variable = ["T"] if parameter_names and draw(st.integers(0, 3)) == 3 else []
    input_types = [draw(_whole_inputs([*scalars, *variable], lazy=bool(foreign))) for _ in parameter_names]
    if variable:
        input_types[0] = draw(st.sampled_from(["T", "list[T]", "dict[T, int] | None", "tuple[set[T], ...]"]))
    output_types = [draw(_types([*scalars, *(variable if foreign else [])])) for _ in output_names]
    coded = (
        draw(st.lists(st.sampled_from(["E_EMPTY", "404", "not-found", "a.b"]), max_size=2))
        if output_names
        else []
    )
    output_types[:1] = ["str"] if coded else output_types[:1]
    if foreign and not coded and len(output_types) == 1 and draw(st.booleans()):
        output_types = [f"{draw(st.sampled_from(['Iterable', 'Iterator']))}[{output_types[0]}]"]
    found = placed([*input_types, *output_types], known)
    due = [[s.render() for s in of_slot] for of_slot in found]
    stated = known.values() if foreign else [s for of_slot in found for s in of_slot]
    optional_from, keyword_from = draw(st.integers(0, 3)), draw(st.integers(0, 6))
    many_at = keyword_from - 1 if draw(st.booleans()) else -1
    members = [f"{s.name}.{f.name}" for s in stated if s.is_enum for f in s.fields]
    defaults = _literals() | st.sampled_from(members or ["None"])
    inputs = []
    for place, (name, type_) in enumerate(zip(parameter_names, input_types, strict=True)):
        own = draw(_statements_of(type_, "takes")) + due[place]
        if place == many_at and not is_lazy(type_):
            own.append(ANY_NUMBER)
        elif place >= keyword_from:
            own.append(KEYWORD_ONLY)
        if place >= optional_from and own[-1:] != [ANY_NUMBER]:
            own.append(f"defaults to {'None' if is_generic(type_) else draw(defaults)}")
        inputs.append(Input(name=name, type=type_, constraints=own))
    outputs = [
        Output(name=name, type=type_, invariants=draw(_statements_of(type_, "yields")) + stated)
        for name, type_, stated in zip(output_names, output_types, due[len(inputs) :], strict=True)
    ]
    exceptions = st.sampled_from(["ValueError", "OSError", "KeyError", "LedgerError", "OddError"])
    raised = draw(st.lists(exceptions, max_size=3, unique=True))
    again = [name for name in raised if name in {"LedgerError", "OddError"} and draw(st.booleans())]
    return MicroModuleContract(
        module_id="MM-0123abcd",
        name="entry",
        purpose=draw(texts().filter(lambda text: bool(text.strip()) and not is_placeholder(text))),
        inputs=inputs,
        outputs=outputs,
        error_surfaces=[
            *(
                ErrorSurface(
                    name=name,
                    when=draw(texts()),
                    surface=SurfaceKind.EXCEPTION,
                    **(draw(_error_class()) if name in {"LedgerError", "OddError"} else {}),
                )
                for name in raised
            ),
            *(ErrorSurface(name=name, when=draw(texts()), surface=SurfaceKind.EXCEPTION) for name in again),
            *(
                ErrorSurface(name=n, when=draw(texts()), surface=draw(st.sampled_from(["code", "variant"])))
                for n in coded
            ),
        ],
        effects=[
            Effect(
                type=draw(st.sampled_from([EffectType.WRITE, EffectType.CALL, EffectType.MUTATION])),
                target=draw(
                    st.sampled_from(["os.environ['X Y']", "the clock (UTC)", "path: the file", "x] y"])
                ),
                description=draw(texts()),
            )
            for _ in range(draw(st.integers(0, 2)))
        ],
        dependencies=[Dependency(ref="MM-0000000a@1.0.0", why="It exports what is not stated here.")],
        modes=draw(
            st.builds(
                lambda which, notes: Modes(sync=which != "async", async_=which != "sync", notes=notes),
                st.sampled_from(["sync", "async", "both"]),
                st.one_of(st.just(""), texts()),
            )
        ),
    )


def dependency_classes(contract):
    """Which of a drawn contract's classes and where the stub imports them from."""
    types = [slot.type for slot in (*contract.inputs, *contract.outputs)]
    texts_ = [text for slot in contract.inputs for text in slot.constraints]
    texts_ += [text for slot in contract.outputs for text in slot.invariants]
    stated = {text.split(" ")[0] for text in texts_ if " is a" in text}
    names = {name for type_ in types for name in named(type_) if is_class_name(name)}
    names |= {name for name in ("Tab", "Q2") if any(name in text for text in texts_)}
    return dict.fromkeys(names & {"Tab", "Q2"} - stated, SIBLING)
