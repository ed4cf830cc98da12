"""Examples and properties as code on the approval page, and in a file that a person can edit (design: executable-spec)."""

import copy
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError

from ship_gate.base.text import fenced, printable
from ship_gate.contract.examples import chapters, prose_and_fences
from specwright.domain.acceptance.records import (
    AcceptanceExample,
    AcceptanceItem,
    AcceptanceProperty,
    TaskAcceptance,
)
from specwright.domain.spec.product_spec import ProductSpecDraft, TaskSpec
from specwright.errors import InputError

FORM = "docs/command-line.md#the-form-of-acceptancemd"
"""The section that documents the file's form, with an example."""


def summary(spec: ProductSpecDraft) -> str:
    """Count criteria, executable ones, and examples: `27 criteria, 24 executable: 30 examples.`"""
    tasks = list(spec.tasks())
    total = sum(len(task.acceptance_criteria) for task in tasks)
    executable = sum(len(task.acceptance.shown) for task in tasks if task.acceptance)
    return f"{total} criteria, {executable} executable: {number_of_examples(*tasks)}."


def number_of_examples(*tasks: TaskSpec) -> str:
    """Count examples and properties: `2 examples, 1 property`."""
    held = [task.acceptance for task in tasks if task.acceptance]
    examples, properties = sum(len(one.examples) for one in held), sum(len(one.properties) for one in held)
    more = f", {properties} propert{'y' if properties == 1 else 'ies'}" if properties else ""
    return f"{examples} example{'' if examples == 1 else 's'}{more}"


def criteria(task: TaskSpec) -> str:
    """List the criteria by number, with a note on each that no example or property shows, and the stated reason."""
    numbered, held = list(enumerate(task.acceptance_criteria, 1)), task.acceptance
    marks = {n: " (no example shows it)" for n, _ in numbered if not held or n not in held.shown}
    judged = held.unexecutable if held else ()
    marks |= {one.criterion: f" (judged by models alone: {printable(one.why)})" for one in judged}
    return "\n".join(f"{n}. {printable(text)}{marks.get(n, '')}" for n, text in numbered)


def _items(acceptance: TaskAcceptance | None) -> Sequence[AcceptanceItem]:
    return acceptance.items if acceptance else ()


def examples_as_code(acceptance: TaskAcceptance) -> str:
    """Render examples and properties as interactive sessions below their titles. Escaping keeps a text from looking like
    anything else on the page."""
    lines: list[str] = []
    for item in acceptance.items:
        lines += [f"# {printable(item.title)}. {sentences(item)}", *as_session(item, item.body)]
    return fenced("\n".join(lines), "python")


def as_session(item: AcceptanceItem, code: str) -> Iterator[str]:
    """Yield the lines of an interactive session: the code of an example or property, and its result."""
    for line in code.splitlines():
        indent = " " * (len(line) - len(line.lstrip(" ")))
        yield f"{'...' if line[:1] in ' )]}' else '>>>'} {indent}{printable(line)}"
    yield from printable(item.gives if isinstance(item, AcceptanceExample) else "True").splitlines()


def sentences(item: AcceptanceItem) -> str:
    """Say which criteria an example or property shows, and for which values it holds."""
    said = [
        f"Shows {what}criteri{'on' if len(numbers) == 1 else 'a'} {', '.join(map(str, numbers))}."
        for what, numbers in (("", item.criteria), ("success ", item.success_criteria))
        if numbers
    ]
    if isinstance(item, AcceptanceProperty):
        variables = ", ".join(f"`{name}: {kind}`" for name, kind in item.variables.items())
        said.append(f"Holds for all {variables}.")
        if item.errors:
            said.append(f"May raise {', '.join(f'`{name}`' for name in item.errors)}.")
    if item.author == "person":
        said.append("Yours.")
    return " ".join(said)


def task_acceptance(acceptance: TaskAcceptance) -> str:
    """Render a task's acceptance for the roles, with headings of level four. Imports are left out: they are only the public
    names and standard modules."""
    provides = "\n".join(f"- `{public}`" for public in acceptance.provides)
    parts = [
        "They bind, and are run at the ship gate and at the release; their imports are left out here. Public names:"
        f"\n\n{provides}"
    ]
    for item in acceptance.items:
        lines = item.body.splitlines()
        if isinstance(item, AcceptanceExample):
            lines += f"gives {item.gives}".splitlines()
        block = "\n".join(f"    {line}" for line in lines)
        parts.append(f"#### {printable(item.title)}\n\n{sentences(item)}\n\n{block}")
    return "\n\n".join(parts)


_TASK = re.compile(r"(TSK-[0-9]+)\b")
_SHOWS = re.compile(r"Shows (success )?criteri(?:on|a) ([0-9]+(?:(?:, | and )[0-9]+)*)\.")
_HOLDS = re.compile(r"Holds for all (`[^`]+`(?:, `[^`]+`)*)\.")
_RAISES = re.compile(r"May raise (`[^`]+`(?:, `[^`]+`)*)\.")
_WHY = re.compile(r"- criterion ([0-9]+): (.+)")
_PROVIDED = re.compile(r"- `(.+)`\s*")


def read_acceptance(text: str, where: str) -> dict[str, TaskAcceptance]:
    """Parse an edited `acceptance.md`, by task; a task without public names has no entry.

    Args:
        text: The text of the file.
        where: Its path, for messages.

    Raises:
        InputError: the file is not valid; the message has the line.
    """
    found: dict[str, TaskAcceptance] = {}
    for number, (heading, line, body) in enumerate(chapters(text, "# ")):
        if task := _TASK.match(heading):
            if acceptance := _read_task(body, where, line):
                found[task[1]] = acceptance
        elif number:  # the first is the title of the file
            problem = f"the heading {heading!r} names no task, as `# TSK-001 Name` does"
            raise _unreadable(problem, f"{where}:{line}")
    if not found:
        raise _unreadable("no task of it has an example", where)
    return found


def _unreadable(problem: str, where: str) -> InputError:
    return InputError(
        f"the examples cannot be read: {problem}",
        where=where,
        remedy=f"keep the form of `acceptance.md`; {FORM} has a whole task",
    )


def _read_task(body: Sequence[str], where: str, line: int) -> TaskAcceptance | None:
    """Parse the chapter of a task, whose heading is in the given line."""
    text = "\n".join(body)
    head = text.partition("\n## ")[0].splitlines()
    provides = [found[1] for one in head if (found := _PROVIDED.fullmatch(one))]
    whys = [found for one in head if (found := _WHY.fullmatch(one))]
    items = list[AcceptanceItem]()
    for title, below, lines in chapters(text):
        with _error_place(f"{where}:{line + below}"):
            items.append(_read_item(title, lines))
    if not provides and not items:
        return None
    if not provides:
        place = next((number for number, one in enumerate(head, 1) if one.startswith("Provides")), 0)
        raise _unreadable(
            "no public name is listed; below `Provides:` write each in a line, ``- `initials(name: str) -> str` ``",
            f"{where}:{line + place}",
        )
    with _error_place(f"{where}:{line}"):
        return TaskAcceptance.model_validate(
            {
                "provides": provides,
                "examples": [item for item in items if isinstance(item, AcceptanceExample)],
                "properties": [item for item in items if isinstance(item, AcceptanceProperty)],
                "unexecutable": [{"criterion": int(why[1]), "why": why[2]} for why in whys],
            }
        )


@contextmanager
def _error_place(where: str) -> Generator[None]:
    """Turn errors in the block into an `InputError` with the line of the heading."""
    try:
        yield
    except ValidationError as error:
        said = [(one["type"], one["msg"].removeprefix("Value error, ")) for one in error.errors()]
        raise _unreadable("; ".join(_FAULTS.get(kind, text) for kind, text in said), where) from error
    except ValueError as error:
        raise _unreadable(str(error), where) from error


_FAULTS = {"string_too_short": "a heading or a block is empty", "greater_than_equal": "criteria count from 1"}


def placed(problem: str, text: str, where: str) -> str:
    """Add to a problem, which begins with a task id, the line of the example that it names, or else of the task.

    Args:
        problem: A problem of a spec with the file's examples, from `in_words`.
        text: The text of the file.
        where: Its path.
    """
    for heading, line, body in chapters(text, "# "):
        if heading.partition(" ")[0] == problem.partition(" ")[0]:
            items = chapters("\n".join(body))
            line += next((below for title, below, _ in items if repr(title) in problem), 0)
            return f"{where}:{line}: {problem}"
    return f"{where}: {problem}"


def _read_item(title: str, body: Sequence[str]) -> AcceptanceItem:
    prose, fences = prose_and_fences(body)
    shows = {one[1]: re.findall("[0-9]+", one[2]) for one in reversed([*_SHOWS.finditer(prose)])}
    languages = [fence.language for fence in fences]
    if None not in shows:
        raise ValueError(f"{title!r} does not say what it shows: `Shows criterion 1.`")
    if languages not in (["python", "text"], ["python"]):
        raise ValueError(
            f"{title!r} has the fenced blocks {languages}; write `python`, and for an example `text`"
        )
    item: dict[str, Any] = {
        "title": title,
        "criteria": shows[None],
        "success_criteria": shows.get("success ", []),
        "code": fences[0].text,
        "author": "person",
    }
    if len(fences) > 1:
        return AcceptanceExample.model_validate({**item, "gives": fences[1].text.rstrip("\n")})
    holds, raises = _HOLDS.search(prose), _RAISES.search(prose)
    if holds is None:
        raise ValueError(
            f"{title!r} is no example without a text block, and no property without `Holds for all ...`"
        )
    pairs = [one.partition(":") for one in _quoted(holds[1])]
    item["variables"] = {name.strip(): kind.strip() for name, _, kind in pairs}
    return AcceptanceProperty.model_validate({**item, "errors": _quoted(raises[1]) if raises else []})


def own_items(text: str) -> str:
    """Return the examples and properties of an edited file whose author is the person."""
    return "\n".join(own for _, own, _ in _by_author(text) if own)


def edited_items(text: str) -> str:
    """Return the person's items of an edited file by task, with the titles of the researcher's items that it still has."""
    return "\n\n".join(
        f"# {task}\n\nOf yours stay, and no others: {', '.join(map(repr, others)) or 'none'}.\n\n{own}".strip()
        for task, own, others in _by_author(text)
        if own or others
    )


def _by_author(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each task's heading in an edited file, the person's items, and the titles of the others."""
    for task, _, lines in chapters(text, "# "):
        items = [*chapters("\n".join(lines))]
        own = [(title, body) for title, _, body in items if "Yours." in prose_and_fences(body)[0]]
        others = [title for title, _, _ in items if title not in dict(own)]
        yield task, "\n".join(f"## {title}\n" + "\n".join(body) for title, body in own), others


def _quoted(text: str) -> list[str]:
    return re.findall("`([^`]+)`", text)


def with_acceptance(spec: dict[str, Any], text: str, where: str) -> dict[str, Any]:
    """Return a spec with the examples and properties of an edited file; unchanged ones keep their author.

    Args:
        spec: The spec as JSON, as shown to the person.
        text: The text of the file.
        where: Its path, for messages.

    Raises:
        InputError: the file is not valid, or names a task that the spec does not have.
    """
    found, edited = copy.deepcopy(spec), read_acceptance(text, where)
    tasks = {task["task_id"]: task for task in tasks_of(found)}
    if unknown := sorted(set(edited) - set(tasks)):
        places = "\n    ".join(placed(name, text, where) for name in unknown)
        raise InputError("the spec has no such task", where=places, remedy=f"it has {', '.join(tasks)}")
    for name, task in tasks.items():
        before = task.pop("acceptance", None)
        if name in edited:
            task["acceptance"] = _with_authors(
                edited[name], TaskAcceptance.model_validate(before) if before else None
            )
    return found


def tasks_of(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a spec in JSON, in order."""
    for pillar in spec["pillars"]:
        for epic in pillar["epics"]:
            for story in epic["stories"]:
                yield from story["tasks"]


def _with_authors(after: TaskAcceptance, before: TaskAcceptance | None) -> dict[str, Any]:
    known = [(item.model_copy(update={"author": "person"}), item.author) for item in _items(before)]
    data = after.to_json()
    for one, item in zip((*data["examples"], *data["properties"]), after.items, strict=True):
        one["author"] = next((author for same, author in known if same == item), item.author)
    return data


def authorship_problems(before: ProductSpecDraft | None, after: ProductSpecDraft) -> list[str]:
    """Report items of a person that the researcher's next draft drops or changes, and new items that it falsely attributes
    to a person (design: executable-spec)."""
    old, new = _persons(before), _persons(after)
    gone, come = [one for one in old if one not in new], [one for one in new if one not in old]
    said = [(one, 'was written by the person; keep it exactly, with `author` "person"') for one in gone]
    said += [(one, "is not the person's; leave `author` out") for one in come]
    return [f"acceptance of {task}: {title!r} {what}" for (task, title, _), what in said]


def _persons(spec: ProductSpecDraft | None) -> list[tuple[str, str, str]]:
    return [
        (task.task_id, item.title, item.model_dump_json())
        for task in (spec.tasks() if spec else ())
        for item in _items(task.acceptance)
        if item.author == "person"
    ]
