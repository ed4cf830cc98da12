"""`examples.md`: its grammar, its placeholders, and what makes an example true (design: role-access, module-directory).

An example is a `## ` heading, a sentence, a fenced `python` block that runs by itself and ends in an expression, and a
fenced `text` block: the `repr` of that expression's value, or `ErrorName: text` where the message starts with the text.
The text before the first heading is the file's own title. `coverage_faults` says which examples are required.
"""

import ast
import builtins
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ship_gate.base.text import is_placeholder
from ship_gate.contract.contract import EffectType, ErrorSurface, MicroModuleContract, SurfaceKind
from ship_gate.contract.docstring import entry_points
from ship_gate.contract.error_classes import is_os_error
from ship_gate.contract.rules import is_untested, raised_errors
from ship_gate.findings import Finding
from ship_gate.syntax_tree import parse_module


class Example(NamedTuple):
    """One example.

    Args:
        heading: Without the marks.
        prose: What it shows.
        code: The python block.
        expected: The text block.
        line: Of the heading, from 1.
    """

    heading: str
    prose: str
    code: str
    expected: str
    line: int


class Outcome(NamedTuple):
    """What executing an example's code gave.

    Args:
        value: The `repr` of the last expression, None if an exception came instead.
        errors: The names of the exception's class and its bases, the class first.
        message: `str` of the exception.
    """

    value: str | None = None
    errors: tuple[str, ...] = ()
    message: str = ""


class Fence(NamedTuple):
    """A fenced block; one that is not closed has the language `unclosed`."""

    language: str
    text: str


_OPENING = re.compile(r"(?P<fence>`{3,})(?P<language>[A-Za-z]*)")
ERROR_TEXT = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*):(?: (?P<text>.*))?", re.DOTALL)
_PLACEHOLDER = re.compile(
    r"\.\.\.|(?i:<(your[a-z]*|value|argument|placeholder|[a-z]+([_ -][a-z]+)+)>|(some|your)_[a-z_]+|placeholder)"
    r"|(TODO|TBD|FIXME)(:.*)?",
    re.DOTALL,
)
"""No tag of HTML is among them."""


def parse_examples(text: str) -> tuple[tuple[Example, ...], tuple[Finding, ...]]:
    """Read the file.

    Returns:
        The examples that are whole, and what is wrong with the others: the place is the heading or line.
    """
    examples: list[Example] = []
    faults: list[Finding] = []
    seen: set[str] = set()
    for heading, line, body in chapters(text):
        example = _example(heading, line, body)
        if isinstance(example, Finding):
            faults.append(example)
        elif heading in seen:
            message = "the heading occurs twice; give each example its own"
            faults.append(Finding("examples.form", heading, message))
        else:
            examples.append(example)
        seen.add(heading)
    if not examples and not faults:
        message = "there is no example; start each with a `## ` heading"
        faults.append(Finding("examples.form", "examples.md", message))
    return tuple(examples), tuple(faults)


def examples_in_short(text: str) -> str:
    """The examples for a reader who knows their form: heading, call and result, without the imports of the product.

    A file that is not in the form is told as it stands.
    """
    examples, faults = parse_examples(text)
    return text if faults else "\n\n".join(map(in_short, examples))


def in_short(example: Example) -> str:
    """One of them: heading, call and result."""
    code = [line for line in example.code.splitlines() if line and not line.startswith("from modules.")]
    return "\n".join((f"## {example.heading}", *code, f"gives {example.expected}"))


def placeholder_faults(examples: tuple[Example, ...]) -> tuple[Finding, ...]:
    """Examples with placeholders for values (design: role-access)."""
    return tuple(
        Finding(
            "examples.placeholder", example.heading, f"{value!r} is a placeholder; write a concrete value"
        )
        for example in examples
        for value in _values(example)
        if _PLACEHOLDER.fullmatch(value.strip()) or (value == "…" and value not in example.expected)
    )


def mismatch(example: Example, outcome: Outcome) -> str:
    """How an outcome differs from what the example says; empty if it does not.

    Errors match by exact class; a subclass of OSError counts as OSError as well.
    """
    if outcome.value is not None:
        if outcome.value == example.expected:
            return ""
        return f"it gives {_short(outcome.value)}, the text block says {_short(example.expected)}"
    error = ERROR_TEXT.fullmatch(example.expected)
    came = f"it raises {outcome.errors[0]}: {_short(outcome.message)}"
    if error is None or not same_error(error["name"], outcome.errors):
        return f"{came}, the text block says {_short(example.expected)}"
    if not outcome.message.startswith((error["text"] or "").rstrip("\n")):
        return f"{came}; its message does not start with {_short(error['text'] or '')}"
    return ""


def same_error(name: str, errors: Sequence[str]) -> bool:
    """Whether an exception, by the names of its class and bases, is the declared one (design: module-directory)."""
    return name == errors[0] or (name == "OSError" and "OSError" in errors)


def _short(text: str) -> str:
    return repr(text if len(text) <= 300 else text[:300] + "...")


def chapters(text: str, mark: str = "## ") -> Iterator[tuple[str, int, list[str]]]:
    """Each heading of a level with its line and what follows it; a heading within a fence does not count."""
    lines = text.replace("\r\n", "\n").split("\n")
    heading, start, body, fence = "", 0, list[str](), ""
    for number, line in enumerate(lines, 1):
        if not fence and line.startswith(mark):
            if start:
                yield heading, start, body
            heading, start, body = line.removeprefix(mark).strip(), number, []
            continue
        if not fence and (match := _OPENING.fullmatch(line.rstrip())):
            fence = match["fence"]
        elif fence and line.rstrip() == fence:
            fence = ""
        body.append(line)
    if start:
        yield heading, start, body


def _example(heading: str, line: int, body: list[str]) -> Example | Finding:
    prose, fences = prose_and_fences(body)
    languages = [fence.language for fence in fences]
    problem = ""
    if not heading or is_placeholder(heading):
        problem = "the heading is empty; say what the example shows"
    elif not prose or is_placeholder(prose):
        problem = "there is no sentence; say what the example demonstrates"
    elif languages != ["python", "text"]:
        problem = f"it has the fenced blocks {languages}; write one `python` block, then one `text` block"
    elif not fences[1].text.strip():
        problem = "the text block is empty; write the repr of the result, or `ErrorName: text`"
    else:
        problem = _code_problem(fences[0].text)
    if problem:
        return Finding("examples.form", heading or f"examples.md:{line}", problem)
    return Example(heading, prose, fences[0].text, fences[1].text.rstrip("\n"), line)


def prose_and_fences(body: Sequence[str]) -> tuple[str, list[Fence]]:
    """What stands below a heading: its text on one line, and its fenced blocks."""
    prose: list[str] = []
    fences: list[Fence] = []
    open_: tuple[str, str, list[str]] | None = None
    for line in body:
        if open_ is None:
            if match := _OPENING.fullmatch(line.rstrip()):
                open_ = (match["fence"], match["language"], [])
            elif line.strip():
                prose.append(line.strip())
        elif line.rstrip() == open_[0]:
            fences.append(Fence(open_[1], "\n".join(open_[2])))
            open_ = None
        else:
            open_[2].append(line)
    if open_ is not None:
        fences.append(Fence("unclosed", ""))
    return " ".join(prose), fences


def _code_problem(code: str) -> str:
    tree = python_tree(code)
    if tree is None:
        return "the python block is not Python; correct it"
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return (
            "the last line of the python block is no expression; end with the value that the text block shows"
        )
    return ""


def python_tree(code: str) -> ast.Module | None:
    """The syntax tree of a python block; None if it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parse_module(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def undefined_names(tree: ast.Module) -> set[str]:
    """The names that a block uses and nothing in it defines."""
    used, defined = set[str](), {*dir(builtins), "__name__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else defined).add(node.id)
        elif isinstance(node, ast.alias):
            defined.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler):
            defined.add(node.name or "")
    return used - defined


def _values(example: Example) -> Iterator[str]:
    """The concrete values of an example: its texts, `...` anywhere but in a subscript, and what it expects."""
    tree = python_tree(example.code)
    nodes = list(ast.walk(tree)) if tree else []
    subscripts = {
        inner for node in nodes if isinstance(node, ast.Subscript) for inner in ast.walk(node.slice)
    }
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.Constant) and node.value is ... and node not in subscripts:
            yield "..."
    yield example.expected.strip("'\"")
    if match := ERROR_TEXT.fullmatch(example.expected):
        yield match["text"] or ""


def coverage_faults(examples: tuple[Example, ...], contract: MicroModuleContract) -> tuple[Finding, ...]:
    """What the examples of a contract do not show; those of definitions may show any of them."""
    if is_untested(contract):
        return ()
    messages = [
        *_entry_faults(examples, contract),
        *_error_faults(examples, contract),
        *_effect_faults(examples, contract),
    ]
    return tuple(Finding("examples.uncovered", "examples.md", message) for message in messages)


def _calls(example: Example, name: str) -> bool:
    tree = python_tree(example.code)
    return tree is not None and any(
        isinstance(node, ast.Call) and _names(node.func, name) for node in ast.walk(tree)
    )


def _names(node: ast.expr, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name) or (
        isinstance(node, ast.Attribute) and node.attr == name
    )


def _error_name(example: Example, contract: MicroModuleContract) -> str:
    """The error that an example shows; empty if it shows a result."""
    declared = {error.name for error in contract.error_surfaces}
    match = ERROR_TEXT.fullmatch(example.expected)
    name = match["name"] if match else ""
    return (
        name
        if name in declared or re.fullmatch(r"[A-Z]\w*(Error|Exception|Exists|Warning|Exit)", name)
        else ""
    )


def _entry_faults(examples: tuple[Example, ...], contract: MicroModuleContract) -> Iterator[str]:
    for entry in entry_points(contract):
        if not any(
            _calls(example, entry.name) and not _error_name(example, contract) for example in examples
        ):
            yield f"no example calls {entry.name} and shows what it returns; add one that shows the purpose"


def _error_faults(examples: tuple[Example, ...], contract: MicroModuleContract) -> Iterator[str]:
    for name in raised_errors(contract):
        due = [error for error in contract.error_surfaces if error.name == name]
        shown = sum(_shows(example, due[0], contract) for example in examples)
        if shown < len(due):
            conditions = "; ".join(error.when for error in due)
            yield f"{shown} of {len(due)} error surfaces {name} have an example; add one each: {conditions}"


def _shows(example: Example, error: ErrorSurface, contract: MicroModuleContract) -> bool:
    if error.surface is SurfaceKind.EXCEPTION:
        shown = _error_name(example, contract)
        return shown == error.name or (error.name == "OSError" and is_os_error(shown))
    return (
        re.search(rf"(?<![A-Za-z0-9_]){re.escape(error.name)}(?![A-Za-z0-9_])", example.expected) is not None
    )


def _effect_faults(examples: tuple[Example, ...], contract: MicroModuleContract) -> Iterator[str]:
    due = [effect for effect in contract.effects if effect.type in {EffectType.WRITE, EffectType.MUTATION}]
    shown = sum(_reads_back(example, contract) for example in examples if not _error_name(example, contract))
    if shown < len(due):
        targets = ", ".join(effect.target for effect in due)
        yield f"{shown} of {len(due)} effects have an example that reads back; add one each: {targets}"


def _reads_back(example: Example, contract: MicroModuleContract) -> bool:
    """Whether the code goes on after the call: its last expression is more than the call itself."""
    if not any(_calls(example, entry.name) for entry in entry_points(contract)):
        return False
    tree = python_tree(example.code)
    last = tree.body[-1] if tree else None
    names = [entry.name for entry in entry_points(contract)]
    return not (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Call)
        and (any(_names(last.value.func, name) for name in names) or _is_awaited_call(last.value, names))
    )


def _is_awaited_call(call: ast.Call, names: list[str]) -> bool:
    """`asyncio.run(entry(...))`."""
    inner = call.args[0] if _names(call.func, "run") and call.args else None
    return isinstance(inner, ast.Call) and any(_names(inner.func, name) for name in names)
