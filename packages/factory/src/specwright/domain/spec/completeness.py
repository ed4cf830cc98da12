"""Checks whether a product spec is complete: criteria 1-10 are errors, 11-14 warnings (design: product-spec).

The input is raw JSON, so that an unfinished draft gets a full list of deficiencies. The record's own validation covers
the shape (criteria 6 and 10, id formats, unknown fields); the rest is checked here. Without errors, the record accepts
the data and every dependency exists.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from itertools import islice
from typing import NamedTuple, TypeVar

from pydantic import Field, ValidationError

from agent_wire.canonical_json import JsonObject, JsonValue
from ship_gate.base.record import Record
from ship_gate.contract.rules import OUT_OF_SCOPE, SCOPE_WORDS
from specwright.domain.acceptance.records import (
    AcceptanceExample,
    AcceptanceProperty,
    TaskAcceptance,
    name_of,
)
from specwright.domain.acceptance.rules import TaskPromise, acceptance_problems
from specwright.domain.base.graph import describe_cycle, find_cycles
from specwright.domain.base.slugs import import_name, slugify
from specwright.domain.interfaces.records import Interfaces
from specwright.domain.interfaces.rules import interface_problems, interface_warnings
from specwright.domain.spec.product_spec import LEVELS, ProductSpecDraft

_R = TypeVar("_R", bound=Record)

_OBSERVABLE = re.compile(
    r"\b(?:return|rais|reject|refus|display|show|print|emit|writ|read|validat|check|accept|contain|creat|delet|remov|keep|"
    r"kept|giv|gave|fail|leav|sort|convert|round|skip|ignor|stop|exit|sav|stor|send|sent|call|ask|equal|stand|hold|prevent|"
    r"produc|updat|add|match|report|mov|tak|pass|set|join|split|open|clos|us(?:e|es|ed|ing)\b|retr(?:y|i))\w*",
    re.IGNORECASE,
)
"""The stems of verbs for observable behaviour, from F§3.2.3 and others."""

_ERROR_NAME = re.compile(r"[A-Z]\w*(?:Error|Exception|Warning)\b|\b[45]\d\d\b")
_NAMES_NOTHING = re.compile(
    r"(?i)^\W*(?:none|nothing|may fail)\b|\b(?:errors?|exceptions?|failures?|something)\b.*\b(?:may|might|can|occur|arise)\b"
    r"|^\W*(?:(?:all|any|some|several|unexpected|unknown|unspecified|various) )?(?:errors?|exceptions?|failures?)\W*$"
)
"""Phrases that name no specific error: "errors may occur" (F§3.2.3), "various errors"."""

_ARTICLES = frozenset(("a", "an", "the"))
_NEARLY = 0.8
"""The share of common words from which two subtasks count as duplicates."""


def near_duplicates(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs (earlier, later) of texts that share nearly all words, at most one for each later text (criterion 13)."""
    bags = [frozenset(re.findall(r"\w+", text.casefold())) - _ARTICLES for text in texts]
    for later, bag in enumerate(bags):
        for earlier in range(later):
            if len(bags[earlier] & bag) >= _NEARLY * len(bags[earlier] | bag):
                yield earlier, later
                break


MIN_DESCRIPTION = 20
"""The minimum length of a description in characters (criterion 11)."""

MOST_CRITERIA = 10
"""The number of a task's criteria above which it should be split."""

_CYCLES_REPORTED = 20


class Severity(StrEnum):
    """The severity of a deficiency: an error blocks the draft, a warning is shown at the approval (design: product-spec)."""

    ERROR = "ERROR"
    WARNING = "WARNING"


class Deficiency(Record):
    """A deficiency of a spec (design: product-spec).

    `path` names the object (`pillars[0].epics[1].stories[0].tasks[2]`, empty for the spec itself), `field` its field.
    """

    path: str
    field: str
    severity: Severity
    message: str

    def __str__(self) -> str:
        place = ".".join(part for part in (self.path, self.field) if part) or "the spec"
        return f"{self.severity} {place}: {self.message}"


_STEP = re.compile(r"(\w+)\[([0-9]+)\]")
_IDS = [f"{kind}_id" for _, kind in reversed(LEVELS)]


def in_words(data: JsonValue, deficiency: Deficiency) -> str:
    """Describe a deficiency, with the id of the object and the field.

    Args:
        data: The spec.
        deficiency: A deficiency of the spec.
    """
    place = " ".join(part for part in (place_in(data, deficiency.path), deficiency.field) if part)
    return f"{place or 'the spec'}: {deficiency.message}"


def place_in(data: JsonValue, path: str) -> str:
    """Replace the leading part of a path in a spec by the id of the innermost object that has one."""
    found, part = path, data
    for field, index in _STEP.findall(path):
        children = part.get(field) if isinstance(part, dict) else None
        if not isinstance(children, list) or int(index) >= len(children):
            return found
        part = children[int(index)]
        ids = [part[name] for name in _IDS if name in part] if isinstance(part, dict) else []
        found = ids[0] if ids and isinstance(ids[0], str) and ids[0].isprintable() else path
    rest = path.rpartition("]")[2].lstrip(".")
    return f"{found} {rest}".strip() if found != path else found


class ValidationReport(Record):
    """All deficiencies of a spec."""

    errors: list[Deficiency] = Field(default_factory=list)
    warnings: list[Deficiency] = Field(default_factory=list)


class _Node(NamedTuple):
    """An object of the spec's hierarchy, not validated.

    Args:
        level: Its level.
        path: Its path in the spec.
        data: The object.
        acceptance: The valid part of a task's acceptance.
    """

    level: str
    path: str
    data: JsonObject
    acceptance: TaskAcceptance | None = None

    def error(self, field: str, message: str) -> Deficiency:
        return Deficiency(path=self.path, field=field, severity=Severity.ERROR, message=message)

    def warning(self, field: str, message: str) -> Deficiency:
        return Deficiency(path=self.path, field=field, severity=Severity.WARNING, message=message)

    def sketched(self, dimension: str) -> str:
        """Return the text of a dimension in a task's sketch; empty if there is none."""
        sketch = self.data.get("io_contract_sketch")
        value = sketch.get(dimension) if isinstance(sketch, dict) else None
        return value if isinstance(value, str) else ""

    def texts(self, field: str) -> list[tuple[int, str]]:
        value = self.data.get(field)
        items = value if isinstance(value, list) else []
        return [(index, item) for index, item in enumerate(items) if isinstance(item, str)]


_MINIMUMS = (
    ("spec", "pillars", 1),
    ("pillar", "epics", 1),
    ("epic", "stories", 1),
    ("epic", "success_criteria", 1),
    ("story", "tasks", 1),
    ("task", "subtasks", 2),
    ("task", "acceptance_criteria", 2),
)
"""Level, field, minimum number of entries."""

_COUNTED = {field for _, field, _ in _MINIMUMS}


def validate(data: JsonValue, schema: type[ProductSpecDraft] = ProductSpecDraft) -> ValidationReport:
    """Report the deficiencies of a spec, in the order of its hierarchy; never raises on any JSON value.

    Args:
        data: A JSON value.
        schema: `ProductSpecDraft` for a researcher's answer, `ProductSpec` for a stored spec.
    """
    nodes = list(_nodes("spec", "", data, LEVELS))
    tasks = [node for node in nodes if node.level == "task"]
    stated = _Node("interfaces", "interfaces", {})
    interfaces = _parsed(Interfaces, data.get("interfaces")) if isinstance(data, dict) else None
    return ValidationReport(
        errors=[
            *_shape_errors(data, schema),
            *_too_few(nodes),
            *_reference_errors(tasks),
            *_acceptance_errors(nodes),
            *(stated.error(*found) for found in _interface_problems(interfaces, tasks)),
        ],
        warnings=[
            *(stated.warning(*found) for found in (interface_warnings(interfaces) if interfaces else ())),
            *(warning for node in nodes for warning in _warnings(node)),
        ],
    )


def _parsed(record: type[_R], value: JsonValue) -> _R | None:
    """Parse a part of the spec; None if it is missing or not valid."""
    with suppress(ValidationError):
        return record.model_validate(value)
    return None


def _acceptance(value: JsonValue) -> TaskAcceptance | None:
    """Parse a task's acceptance without its invalid examples and properties, so that the valid ones are checked too."""
    shaped = dict(value) if isinstance(value, dict) else {}
    for field, record in (("examples", AcceptanceExample), ("properties", AcceptanceProperty)):
        if isinstance(items := shaped.get(field), list):
            shaped[field] = [one for one in items if _parsed(record, one)]
    return _parsed(TaskAcceptance, shaped)


def _nodes(level: str, path: str, data: JsonValue, levels: Sequence[tuple[str, str]]) -> Iterator[_Node]:
    if not isinstance(data, dict):
        return
    acceptance = _acceptance(data.get("acceptance")) if level == "task" else None
    yield _Node(level, path, data, acceptance)
    for field, child_level in levels[:1]:
        children = data.get(field)
        for index, child in enumerate(children if isinstance(children, list) else ()):
            yield from _nodes(child_level, f"{path}.{field}[{index}]".lstrip("."), child, levels[1:])


def _shape_errors(data: JsonValue, schema: type[Record]) -> Iterator[Deficiency]:
    """Criteria 6 and 10, id formats, types and unknown fields."""
    try:
        schema.model_validate(data)
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_context=False):
            counted = fault["type"] == "too_short" and fault["loc"][-1] in _COUNTED
            if not counted:  # `_too_few` reports these, even if an entry is also invalid
                path, field, item = _place(fault["loc"])
                message = _message(fault["type"], fault["msg"], fault["input"])
                yield Deficiency(path=path, field=field, severity=Severity.ERROR, message=item + message)


def _place(loc: tuple[int | str, ...]) -> tuple[str, str, str]:
    """Return path, field, and `[2] ` if the location is an entry of the field."""
    *parents, last = loc or ("",)
    if isinstance(last, int):
        *parents, field = parents
        return _path(parents), str(field), f"[{last}] "
    return _path(parents), last, ""


def _path(parts: Iterable[int | str]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).lstrip(".")


def _message(kind: str, message: str, value: JsonValue) -> str:
    match kind:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a field of the schema; leave it out"
        case "string_too_short":
            return "is empty"
        case _:
            text = message.removeprefix("Value error, ")
            if kind != "value_error" or not isinstance(value, dict):  # a record's own message is enough
                text += f", got {_shortened(value)}"
            return text


def _shortened(value: JsonValue) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    # ascii(): a lone surrogate in the data must not make the report unwritable
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _too_few(nodes: Iterable[_Node]) -> Iterator[Deficiency]:
    """Criteria 1-5, and at least one pillar."""
    for node in nodes:
        for level, field, minimum in _MINIMUMS:
            value = node.data.get(field)
            if node.level == level and isinstance(value, list) and len(value) < minimum:
                message = f"needs at least {minimum}, has {len(value)}"
                yield node.error(field, message)


def _reference_errors(tasks: list[_Node]) -> Iterator[Deficiency]:
    """Criteria 7-9: unique ids, known references, no cycle."""
    first: dict[str, _Node] = {}
    for task in tasks:
        task_id = task.data.get("task_id")
        if isinstance(task_id, str) and (other := first.setdefault(task_id, task)) is not task:
            yield task.error("task_id", f"{_shortened(task_id)} is also the id of {other.path}")
    for task in tasks:
        for index, ref in task.texts("depends_on"):
            if ref not in first:
                yield task.error("depends_on", f"[{index}] {_shortened(ref)} is the id of no task")
    edges = {task_id: [ref for _, ref in task.texts("depends_on")] for task_id, task in first.items()}
    for cycle in islice(find_cycles(edges), _CYCLES_REPORTED):
        yield first[cycle[0]].error("depends_on", f"the dependencies form a cycle: {describe_cycle(cycle)}")


def _acceptance_errors(nodes: Sequence[_Node]) -> Iterator[Deficiency]:
    """Report faults of examples and properties."""
    title, epic = nodes[0].data.get("title") if nodes else None, ("", 0)
    promises, places, edges = list[TaskPromise](), dict[str, _Node](), dict[str, list[str]]()
    for node in nodes:
        if node.level == "epic":
            epic = str(node.data.get("epic_id")), len(node.texts("success_criteria"))
        elif node.level == "task":
            name, criteria = node.data.get("task_id"), node.data.get("acceptance_criteria")
            edges[str(name)] = [ref for _, ref in node.texts("depends_on")]
            if node.acceptance and isinstance(name, str) and isinstance(criteria, list):
                promises.append(TaskPromise(name, len(criteria), node.acceptance, epic))
                places.setdefault(name, node)
    package = import_name(slugify(title)) if isinstance(title, str) else ""
    for problem in acceptance_problems(package, promises, edges) if package else ():
        yield places[problem.where].error(problem.code, problem.message)


def _interface_problems(interfaces: Interfaces | None, tasks: Sequence[_Node]) -> Sequence[tuple[str, str]]:
    if interfaces is None:
        return ()
    provided = [(public, task) for task in tasks if task.acceptance for public in task.acceptance.provides]
    with_effects = [name_of(public) for public, task in provided if not _PURE.match(task.sketched("effects"))]
    return interface_problems(interfaces, [public for public, _ in provided], with_effects)


_PURE = re.compile(r"\s*((none|no|nothing|pure)\b|$)", re.IGNORECASE)


_WHY_NOT = "in `unexecutable`, which is `Not executable:` in acceptance.md"


def _unshown_criteria(task: _Node) -> Iterator[Deficiency]:
    """Report criteria that no example of their task shows, without a stated reason."""
    criteria, acceptance = task.data.get("acceptance_criteria"), task.acceptance
    if acceptance is None or not isinstance(criteria, list):
        return
    told = acceptance.shown | {one.criterion for one in acceptance.unexecutable}
    for number in range(1, len(criteria) + 1):
        if number not in told:
            message = f"criterion {number} is shown by no example and no property; add one, or say why not: {_WHY_NOT}"
            yield task.warning("acceptance_criteria", message)


def _short_limits(task: _Node) -> Iterator[Deficiency]:
    """Report scope limits that are too short: contracts copy them, and would then be invalid."""
    for _, text in task.texts("decisions"):
        start, values = text[: len(OUT_OF_SCOPE)], text[len(OUT_OF_SCOPE) :]
        if start.casefold() == OUT_OF_SCOPE and len(values.split()) < SCOPE_WORDS:
            message = f"{text!r} names no values that are out of scope; say which ones, in {SCOPE_WORDS} words or more"
            yield task.warning("decisions", message)


def _warnings(node: _Node) -> Iterator[Deficiency]:
    """Criteria 11-14."""
    description = node.data.get("description")
    if isinstance(description, str) and 0 < len(description.strip()) < MIN_DESCRIPTION:
        yield node.warning("description", f"has fewer than {MIN_DESCRIPTION} characters")
    if node.level != "task":
        return
    criteria = node.texts("acceptance_criteria")
    if len(criteria) > MOST_CRITERIA:
        yield node.warning("acceptance_criteria", f"has over {MOST_CRITERIA}: cut the task along them")
    for index, text in criteria:
        if not _OBSERVABLE.search(text):  # criterion 12
            yield node.warning(
                "acceptance_criteria",
                f"criterion {index + 1} has no verb of what can be observed, such as returns, raises, writes or rejects",
            )
    yield from _unshown_criteria(node)
    yield from _short_limits(node)
    subtasks = [text for _, text in node.texts("subtasks")]
    for earlier, later in near_duplicates(subtasks):
        yield node.warning("subtasks", f"{subtasks[later]!r} says nearly the same as {subtasks[earlier]!r}")
    surfaces = node.sketched("error_surfaces")
    if surfaces and _NAMES_NOTHING.search(surfaces) and not _ERROR_NAME.search(surfaces):  # criterion 14
        place = node._replace(path=f"{node.path}.io_contract_sketch")
        yield place.warning("error_surfaces", "names no specific error condition")
