"""Acceptance examples and properties: the executable part of a task's criteria (design: executable-spec).

A task may list the public names that it provides, with their parameters, and show its criteria by examples and properties.
They import these names as a user of the installed package would, `from tabkeeper import settle`. They are written before
any plan exists and approved with the spec. The records check themselves; `rules` checks them against other tasks.
`amended_acceptance` updates them when the criteria change (design: escalation).
"""

import ast
import builtins
import inspect
import keyword
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, ValidationError, model_validator

from ship_gate.base.boundary_values import CALLABLE
from ship_gate.base.record import OmittedIfEmpty, Record, Text, validation_messages
from ship_gate.base.text import did_you_mean
from ship_gate.contract.examples import python_tree
from ship_gate.contract.types import is_class_name, is_generic, named, normal_type, type_problem
from specwright.errors import InputError

Author = Literal["researcher", "person"]
"""The author; only a person may strike what a person wrote."""

Criterion = Annotated[
    int, Field(ge=1, description="The number of an acceptance criterion of the task, from 1.")
]


def _check_code(code: str) -> str:
    tree = python_tree(code)
    if tree is None:
        raise ValueError("the code is not Python; correct it")
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        raise ValueError("the last line of the code is no expression; end with the value that is looked at")
    return code


Code = Annotated[str, AfterValidator(_check_code)]
"""A block that runs by itself and ends in an expression, as in `examples.md`."""


def error_in(gives: str) -> str:
    """Return `ValueError` for `ValueError: how its message begins`; empty for the `repr` of a value."""
    name, colon, _ = gives.partition(":")
    return name if colon and name.isidentifier() else ""


def _check_gives(text: str) -> str:
    if not error_in(text) and "<" not in text and python_tree(text) is None:  # `<Side.LEFT: 1>` is not Python
        raise ValueError(f"{text[:80]!r} is no `repr` of a value, and no `ErrorName: start of its message`")
    shown = text
    with suppress(
        ValueError, SyntaxError, TypeError, RecursionError, MemoryError
    ):  # other expressions stay as they are
        shown = repr(ast.literal_eval(text))
    if shown != text and "{" not in text:  # a set has no order
        raise ValueError(f"{text[:80]!r} is not how Python shows that value; write {shown[:80]}")
    return text


def _check_public_name(text: str) -> str:
    signature_of(text)
    return text


PublicName = Annotated[
    str,
    AfterValidator(_check_public_name),
    Field(
        description="`settle(expenses: list[Expense]) -> list[Payment]`; of a record or an error its name alone."
    ),
]
"""A name that the package exports: a function with its parameters, or a class."""


class _Showing(OmittedIfEmpty):
    """Python code that shows criteria of its task; a scenario if it shows success criteria of the task's epic as well."""

    omitted = ("success_criteria",)

    title: Annotated[Text, Field(description="What it shows; no two of a task have the same.")]
    criteria: Annotated[list[Criterion], Field(min_length=1)]
    success_criteria: Annotated[
        list[Annotated[int, Field(ge=1)]],
        Field(
            description="Numbers of the success criteria of its epic that it shows, of a use over several tasks."
        ),
    ] = Field(default_factory=list)
    code: Annotated[Code, Field(description="Imports, then an expression: `from tabkeeper import settle`.")]

    @property
    def heading(self) -> str:
        """The name that findings use: `criteria 1, 2, Title`."""
        numbers = ", ".join(map(str, self.criteria))
        return f"{'criterion' if len(self.criteria) == 1 else 'criteria'} {numbers}, {self.title}"

    @property
    def call(self) -> str:
        """Its last line."""
        return self.code.strip().splitlines()[-1]

    @property
    def tree(self) -> ast.Module:
        """The syntax tree of its code."""
        tree = python_tree(self.code)
        assert tree is not None  # `Code` is Python
        return tree

    @property
    def statements(self) -> list[ast.stmt]:
        """Its statements without imports."""
        return [one for one in self.tree.body if not isinstance(one, ast.Import | ast.ImportFrom)]

    @property
    def body(self) -> str:
        """Its source without imports, as written."""
        parts = (ast.get_source_segment(self.code, one, padded=True) for one in self.statements)
        return "\n".join(part or "" for part in parts)


class AcceptanceExample(_Showing):
    """A use of the product, and what comes out."""

    gives: Annotated[
        str,
        Field(min_length=1, description="The `repr` of the last line, or `ErrorName: start of its message`."),
        AfterValidator(_check_gives),
    ]
    author: Author = "researcher"


class AcceptanceProperty(_Showing):
    """Something that holds for all values of its variables."""

    variables: Annotated[
        dict[str, str],
        Field(min_length=1, description="Each variable with its type: `Decimal`, `list[str]`."),
    ]
    errors: list[str] = Field(default_factory=list, description="Errors that may come out instead.")
    author: Author = "researcher"

    @model_validator(mode="after")
    def _variables_are_used(self) -> "AcceptanceProperty":
        for name, kind in self.variables.items():
            if not name.isidentifier() or keyword.iskeyword(name) or name in dir(builtins):
                raise ValueError(f"{name!r} cannot be the name of a variable")
            normal = normal_type(kind)
            if problem := type_problem(normal, taken=normal.startswith(f"{CALLABLE}[")):
                raise ValueError(f"the variable {name}: {problem}")
            if is_generic(normal):
                raise ValueError(f"the variable {name}: values are drawn of one type; name it in place of T")
        used = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}
        if unused := [name for name in self.variables if name not in used]:
            raise ValueError(f"its code does not use {', '.join(unused)}")
        return self


AcceptanceItem: TypeAlias = AcceptanceExample | AcceptanceProperty
"""An example or a property."""


class UnexecutableCriterion(Record):
    """A criterion that nothing executable shows."""

    criterion: Criterion
    why: Annotated[Text, Field(description="Why no example and no property can show it.")]


class TaskAcceptance(Record):
    """What code holds a task to."""

    provides: Annotated[list[PublicName], Field(min_length=1, description="The public names of this task.")]
    examples: list[AcceptanceExample] = Field(default_factory=list)
    properties: list[AcceptanceProperty] = Field(default_factory=list)
    unexecutable: list[UnexecutableCriterion] = Field(default_factory=list)

    @model_validator(mode="after")
    def _titles_are_unique(self) -> "TaskAcceptance":
        seen = set[str]()
        for one in self.items:
            if one.title in seen:
                raise ValueError(f"the title {one.title!r} occurs twice; give each its own")
            seen.add(one.title)
        return self

    @property
    def items(self) -> tuple[AcceptanceItem, ...]:
        """All examples, then all properties."""
        return (*self.examples, *self.properties)

    @property
    def scripts_hosts(self) -> bool:
        """Whether an example or property scripts the responses of HTTP hosts."""
        nodes = (node for one in self.items for node in ast.walk(one.tree))
        return any(isinstance(node, ast.ImportFrom) and node.module == "modules.testing" for node in nodes)

    @property
    def shown(self) -> frozenset[int]:
        """The criteria that an example or property shows."""
        return frozenset(n for one in self.items for n in one.criteria)


def name_of(public: PublicName) -> str:
    """Return `settle` for `settle(expenses: list[Expense]) -> list[Payment]`."""
    return public.partition("(")[0].strip()


def signature_of(public: PublicName) -> inspect.Signature | None:
    """Return the signature of a public function; None for a class.

    Raises:
        ValueError: the text is neither.
    """
    name = name_of(public)
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise ValueError(f"{public!r} begins with no public name")
    if "(" not in public:
        return None
    tree = python_tree(f"def {public}: ...")
    if tree is None or len(tree.body) != 1 or not isinstance(found := tree.body[0], ast.FunctionDef):
        raise ValueError(f"{public!r} is no signature; write `name(parameter: type) -> type`")
    return _signature(found)


def variable_classes(item: AcceptanceProperty) -> set[str]:
    """Return the classes of the product in the types of a property's variables."""
    return {
        name for kind in item.variables.values() for name in named(normal_type(kind)) if is_class_name(name)
    }


def annotated_names(public: PublicName) -> list[str]:
    """Return the distinct names in the annotations of a public function; empty for a class."""
    tree = python_tree(f"def {public}: ...") if "(" in public else None
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)] if tree else []
    return list(dict.fromkeys(node.id for node in nodes))


def _signature(function: ast.FunctionDef) -> inspect.Signature:
    """Build a signature whose annotations and defaults are source texts."""
    given = function.args
    if given.kwarg:
        raise ValueError("`**` parameters take anything; name each parameter")
    plain = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults]
    kinds = [inspect.Parameter.POSITIONAL_ONLY] * len(given.posonlyargs)
    kinds += [inspect.Parameter.POSITIONAL_OR_KEYWORD] * len(given.args)
    parameters = [*map(_parameter, plain, kinds, defaults)]
    if given.vararg:
        parameters.append(_parameter(given.vararg, inspect.Parameter.VAR_POSITIONAL, None))
    for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        parameters.append(_parameter(one, inspect.Parameter.KEYWORD_ONLY, default))
    returned = ast.unparse(function.returns) if function.returns else ""
    return inspect.Signature(parameters, return_annotation=returned)


def _parameter(given: ast.arg, kind: Any, default: ast.expr | None) -> inspect.Parameter:
    stated = inspect.Parameter.empty if default is None else ast.unparse(default)
    annotation = ast.unparse(given.annotation) if given.annotation else ""
    return inspect.Parameter(given.arg, kind, default=stated, annotation=annotation)


def amended_acceptance(
    acceptance: TaskAcceptance | None,
    before: Sequence[str],
    after: Sequence[str],
    changes: Mapping[str, Any] = {},
) -> TaskAcceptance | None:
    """Return the acceptance of a task with the numbers of its amended criteria.

    An example or property follows its criterion to the new number if the text is unchanged. If the number of criteria is
    unchanged, a reworded criterion keeps its number.

    Args:
        acceptance: The acceptance of the task.
        before: The old criteria.
        after: The new criteria.
        changes: By title of an example or property, the fields that a person corrects, or None to strike it.

    Raises:
        InputError: there is no such title, an example of a removed criterion was not struck, or a correction is not valid.
    """
    _check_titles(acceptance, changes)
    if acceptance is None:
        return None
    numbers = _numbers(before, after)

    def renumbered(items: Sequence[Any]) -> list[Any]:
        return [
            _changed(one, {"criteria": _left(one, numbers)}, changes.get(one.title))
            for one in items
            if changes.get(one.title, {}) is not None
        ]

    return acceptance.model_copy(
        update={
            "examples": renumbered(acceptance.examples),
            "properties": renumbered(acceptance.properties),
            "unexecutable": [
                one.model_copy(update={"criterion": numbers[one.criterion]})
                for one in acceptance.unexecutable
                if one.criterion in numbers
            ],
        }
    )


def _changed(item: AcceptanceItem, numbers: Mapping[str, Any], changes: Any) -> AcceptanceItem:
    """Apply new criterion numbers and corrections; a corrected item has a person as its author."""
    if not changes:
        return item.model_copy(update=numbers)
    try:
        return type(item).model_validate({**item.to_json(), "author": "person", **changes, **numbers})
    except ValidationError as error:
        problems = "; ".join(validation_messages(error))
        raise InputError(f"the corrected {item.title!r}: {problems}", where="payload.corrections") from error


def _check_titles(acceptance: TaskAcceptance | None, struck: Collection[str]) -> None:
    titles = [one.title for one in acceptance.items] if acceptance else []
    if unknown := next((title for title in struck if title not in titles), None):
        raise InputError(
            f"no approved example or property has the title {unknown!r}",
            where="payload",
            remedy=f"{did_you_mean(unknown, titles)}the task has {', '.join(map(repr, titles)) or 'none'}",
        )


def _left(item: AcceptanceItem, numbers: Mapping[int, int]) -> list[int]:
    """Return the new numbers of the criteria that an example or property still shows."""
    left = [numbers[number] for number in item.criteria if number in numbers]
    if not left:
        raise InputError(
            f"the approved {item.title!r} shows a criterion that was removed",
            where="payload.amended_acceptance_criteria",
            remedy=f"keep that criterion, or name {item.title!r} in `strike_examples`",
        )
    return left


def _numbers(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Map the old number of each criterion to its new one, without removed criteria."""
    found = {old: after.index(text) + 1 for old, text in enumerate(before, 1) if text in after}
    if len(before) == len(after):
        found |= {
            old: old for old in range(1, len(before) + 1) if old not in found and old not in found.values()
        }
    return found
