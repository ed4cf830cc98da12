"""Rules for the acceptance of all tasks together (design: executable-spec).

An example may use only names that some task provides, must pass the stated parameters, cite existing criteria, and agree
with the other examples. All this is checked without running code. Each message names the fault, and the corrected text
where that is unambiguous.
"""

import ast
import builtins
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ship_gate.contract.examples import undefined_names
from ship_gate.contract.rules import module_name_problem
from ship_gate.contract.types import BOUNDARY_IMPORTS, class_name_problem, normal_type, type_problem
from ship_gate.findings import Finding
from specwright.domain.acceptance.records import (
    AcceptanceExample,
    AcceptanceItem,
    AcceptanceProperty,
    PublicName,
    TaskAcceptance,
    annotated_names,
    error_in,
    name_of,
    signature_of,
    variable_classes,
)
from specwright.domain.base.graph import reachable

_LATER = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Expressions that may leave some of their parts unevaluated."""


class Code(NamedTuple):
    """The code of an example or property.

    Args:
        statements: The statements without imports.
        calls: The calls of the product's functions in them, with their public names.
    """

    statements: Sequence[ast.stmt]
    calls: Sequence[tuple[str, ast.Call]]

    @property
    def last(self) -> ast.expr:
        """The last line, whose value is checked."""
        last = self.statements[-1]
        assert isinstance(last, ast.Expr)  # `records.Code` ends in an expression
        return last.value


def arguments(public: PublicName, call: ast.Call) -> Mapping[str, Any] | None:
    """Return the argument for each parameter of a public function, defaults included; None if it cannot be determined.

    Raises:
        TypeError: the call does not fit the parameters.
    """
    signature, keywords = signature_of(public), {one.arg: one.value for one in call.keywords}
    if signature is None or None in keywords or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    defaults = {
        name: ast.parse(one.default, mode="eval").body
        for name, one in signature.parameters.items()
        if one.default is not inspect.Parameter.empty
    }
    return {
        **defaults,
        **signature.bind(*call.args, **{str(key): one for key, one in keywords.items()}).arguments,
    }


def _given(name: str, call: ast.Call, stated: Mapping[str, PublicName]) -> Mapping[str, Any] | None:
    with suppress(TypeError):  # reported elsewhere
        return arguments(stated.get(name, name), call)
    return None


def same_call(code: Code, stated: Mapping[str, PublicName]) -> str:
    """Return a key for the code of an example; two ways to write the same call give the same key."""
    for name, call in code.calls if len(code.statements) == 1 else ():
        if code.last is call and (given := _given(name, call, stated)) is not None:
            return f"{name}({', '.join(f'{key}={_dumped(given[key])}' for key in sorted(given))})"
    return ast.dump(ast.Module([*code.statements], []))


def _dumped(value: Any) -> str:
    return ast.dump(value) if isinstance(value, ast.AST) else str([*map(_dumped, value or ())])


def contradict(one: str, other: str) -> bool:
    """Whether two outcomes of the same code contradict each other. One error message may be a prefix of the other."""
    if error_in(one) and error_in(one) == error_in(other):
        return not (one.startswith(other) or other.startswith(one))
    return one != other


def property_problems(
    item: AcceptanceProperty,
    code: Code,
    examples: Sequence[tuple[AcceptanceExample, Code]],
    stated: Mapping[str, PublicName],
    declared: Sequence[str],
) -> Iterator[str]:
    """Yield the problems of a property.

    Args:
        item: The property.
        code: Its code.
        examples: The examples that are approved with it.
        stated: The public functions, by name.
        declared: The errors that its task declares.
    """
    last, own = code.last, {id(call) for _, call in code.calls}
    inner, form, word = last, "{}", " or "
    if isinstance(last, ast.UnaryOp) and isinstance(last.op, ast.Not):  # not (a and b) is not a, or not b
        inner, form, word = last.operand, "not ({})", " and "
    is_series = isinstance(inner, ast.BoolOp) and isinstance(inner.op, ast.And if word == " and " else ast.Or)
    parts = inner.values if isinstance(inner, ast.BoolOp) and is_series else [last]
    before, called = _called_before(item, code, own)
    calling = [part for part in parts if own & set(map(id, ast.walk(part))) or before & _names(part)]
    excluding = [part for part in parts if part not in calling]
    is_late = called or (calling and excluding and parts.index(calling[0]) < parts.index(excluding[-1]))
    if is_late and excluding and declared and not item.errors:
        reordered = form.format(word.join(_source(item, part) for part in (*excluding, *calling)))
        yield (
            f"the call comes before what excludes values, and may raise {' or '.join(declared)} for them; put the exclusion "
            f"first: `{reordered}`{', with the call in the place of what it gave' if called else ''}"
        )
    elif parts[0] in calling and not item.errors:
        yield from _undeclared_error(item, code, parts[0], examples, stated)


def _called_before(item: AcceptanceProperty, code: Code, own: set[int]) -> tuple[set[str], bool]:
    """Return the names that earlier statements set from calls of the product, and whether one of these calls is always made
    with drawn values."""
    given, drawn, called = set[str](), set(item.variables), False
    for one in code.statements[:-1]:
        names = _names(one)
        stored = {n.id for n in ast.walk(one) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        calls = own & set(map(id, _always(one) if isinstance(one, _SIMPLE) else ()))
        called |= bool(calls and names & drawn)
        given |= stored if calls or names & given else set()
        drawn |= stored if names & drawn else set()
    return given, called


_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr)
"""Statements that always evaluate their expressions."""


def _names(part: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}


def _undeclared_error(
    item: AcceptanceProperty,
    code: Code,
    first: ast.expr,
    examples: Sequence[tuple[AcceptanceExample, Code]],
    stated: Mapping[str, PublicName],
) -> Iterator[str]:
    """Yield examples that give an error for values that the property neither excludes nor lists the error for."""
    always = {id(one) for one in _always(first)} if len(code.statements) == 1 else set[int]()
    wanted = [(name, _given(name, call, stated)) for name, call in code.calls if id(call) in always]
    for example, shown in examples:
        error = error_in(example.gives)
        for of, call in shown.calls if error and len(shown.statements) == 1 else ():
            given = _given(of, call, stated) if call is shown.last else None
            for own in (own for name, own in wanted if name == of and own and given):
                if _values(item, own, given or {}):
                    yield (
                        f"the example {example.title!r} of such a call gives {error}; exclude such values first, or add "
                        f'`"errors": ["{error}"]`'
                    )


def _source(item: AcceptanceProperty, part: ast.expr) -> str:
    """Return the source of a part of a property. `ast.unparse` could fail on deep nesting."""
    text = ast.get_source_segment(item.code, part) or ""
    return f"({text})" if isinstance(part, ast.IfExp | ast.Lambda | ast.NamedExpr | ast.BoolOp) else text


def _always(part: ast.AST) -> list[ast.AST]:
    """Return the nodes that are evaluated whenever the expression is."""
    nodes = [part]
    for node in nodes:
        nodes += () if isinstance(node, _LATER) else ast.iter_child_nodes(node)
    return nodes


def _values(
    item: AcceptanceProperty, wanted: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, ast.expr]:
    """Return values of the variables that make a property's call equal to an example's; empty if there are none."""
    values: dict[str, ast.expr] = {}
    for key in {**wanted, **given}:
        own, shown = wanted.get(key), given.get(key)
        if isinstance(own, ast.Name) and own.id in item.variables and isinstance(shown, ast.expr):
            own = values.setdefault(own.id, shown)
        if _dumped(own) != _dumped(shown):
            return {}
    return values


EXAMPLE_IMPORTS = {
    *BOUNDARY_IMPORTS.values(),
    *("base64", "collections", "copy", "csv", "dataclasses", "enum", "fractions", "functools"),
    *("io", "itertools", "json", "math", "operator", "re"),
    *("statistics", "string", "tempfile", "textwrap", "unicodedata", "zoneinfo"),
}
"""The standard modules that an example may import, as listed in the researcher's prompt. The approval page leaves out
imports, so none may have side effects."""


_OFFERED = "modules.testing"
"""The module that offers tests and examples the clock and scripted hosts."""


class TaskPromise(NamedTuple):
    """A task with its acceptance.

    Args:
        task_id: The task's id in the spec.
        criteria: The number of its criteria.
        acceptance: Its examples and properties.
        epic: The epic's id and the number of its success criteria.
    """

    task_id: str
    criteria: int
    acceptance: TaskAcceptance
    epic: tuple[str, int] = ("", 0)


def acceptance_problems(
    package: str, tasks: Sequence[TaskPromise], depends_on: Mapping[str, Sequence[str]]
) -> list[Finding]:
    """Return all faults, in the order of the tasks. A finding's code is the faulty field, its place the task.

    Args:
        package: The product's import name.
        tasks: The tasks that have examples or properties.
        depends_on: The dependencies of each task.
    """
    owners, stated = dict[str, list[str]](), dict[str, PublicName]()
    for task in tasks:
        for public in task.acceptance.provides:
            owners.setdefault(name_of(public), []).append(task.task_id)
            stated.setdefault(name_of(public), public)
    return [
        *(one for task in tasks for one in _foreign_classes(task, owners, depends_on)),
        *(one for task in tasks for one in _of_task(package, task, owners, stated)),
        *_among_examples(package, tasks, stated),
    ]


def _of_task(
    package: str, task: TaskPromise, owned: Mapping[str, Sequence[str]], stated: Mapping[str, PublicName]
) -> Iterator[Finding]:
    for message in _provided(task, owned):
        yield Finding("acceptance.provides", task.task_id, message)
    for one in task.acceptance.unexecutable:
        message = ""
        if one.criterion > task.criteria:
            message = _no_criterion(one.criterion, task)
        elif one.criterion in task.acceptance.shown:
            message = f"criterion {one.criterion} is shown by an example or a property; leave it out here"
        if message:
            yield Finding("acceptance.unexecutable", task.task_id, message)
    for item in task.acceptance.items:
        field = "examples" if isinstance(item, AcceptanceExample) else "properties"
        for message in _of_item(package, task, item, stated):
            yield Finding(f"acceptance.{field}", task.task_id, f"{item.title!r}: {message}")


def _provided(task: TaskPromise, owned: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for name in dict.fromkeys(map(name_of, task.acceptance.provides)):
        owners = owned[name]
        if owners[0] != task.task_id or owners.count(task.task_id) > 1:
            yield f"{name} is provided by {owners[0]} already; one task provides it"
    for public in task.acceptance.provides:
        if problem := _unlockable(public):
            yield f"`{public}`: {problem}"


def _unlockable(public: PublicName) -> str:
    """Return why no contract with this public name could be locked; empty if one could."""
    signature = signature_of(public)
    if signature is None:
        return class_name_problem(public)
    return next(filter(None, _unlockable_parts(public, signature)), "")


def _unlockable_parts(public: PublicName, signature: inspect.Signature) -> Iterator[str]:
    yield module_name_problem(name_of(public))
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            yield (
                f"{parameter.name} is passed by position alone, which no contract can say; leave `/` out, and if "
                "SPEC.md asks for it, say so in `outside`"
            )
        if parameter.annotation:
            yield type_problem(normal_type(parameter.annotation), taken=True)
    if signature.return_annotation:
        yield type_problem(normal_type(signature.return_annotation), returned=True)


def _foreign_classes(
    task: TaskPromise, owners: Mapping[str, Sequence[str]], depends_on: Mapping[str, Sequence[str]]
) -> Iterator[Finding]:
    """Report classes in signatures that belong to a task on which this one does not depend."""
    for public in task.acceptance.provides:
        for name in annotated_names(public):
            owner = owners.get(name, [task.task_id])[0]
            if owner not in (task.task_id, *reachable([task.task_id], lambda one: depends_on.get(one, ()))):
                message = f"`{public}` names {name} of {owner}; add {owner} to `depends_on` of {task.task_id}"
                yield Finding("acceptance.provides", task.task_id, message)


def _no_criterion(number: int, task: TaskPromise) -> str:
    return f"there is no criterion {number}; {task.task_id} has {task.criteria}"


def _numbers(task: TaskPromise, item: AcceptanceItem) -> Iterator[str]:
    """Report criteria that do not exist."""
    yield from (_no_criterion(number, task) for number in item.criteria if number > task.criteria)
    epic, most = task.epic
    for number in item.success_criteria:
        if number > most:
            yield f"there is no success criterion {number}; {epic} has {most}"


def _of_item(
    package: str, task: TaskPromise, item: AcceptanceItem, stated: Mapping[str, PublicName]
) -> Iterator[str]:
    yield from _numbers(task, item)
    used = Uses.of(item.tree, package)
    yield from used.problems
    for name in used.imported.values():
        if name not in stated:
            yield f"no task provides {name}; add it to `provides` of the task that makes it, or use another name"
    own = set(map(name_of, task.acceptance.provides))
    if not own & set(used.imported.values()):
        yield f"it uses no name of {task.task_id}; move it to the task whose criteria it shows"
    variables = set[str]()
    if isinstance(item, AcceptanceProperty):
        variables, known = set(item.variables), {*stated, *dir(builtins)}
        yield from (f"nothing provides the error {name}" for name in item.errors if name not in known)
        for name in sorted(variable_classes(item) - set(stated)):
            yield f"no task provides {name}, the type of a variable; add it to `provides` of the task that makes it"
    if unknown := sorted(used.unknown - variables):
        yield f"it uses names that nothing defines: {', '.join(unknown)}"
    yield from _calls(used, stated)


def _calls(used: "Uses", stated: Mapping[str, str]) -> Iterator[str]:
    """Report calls that do not fit the stated parameters."""
    for name, call in used.calls:
        try:
            arguments(stated.get(name, name), call)
        except TypeError as error:
            yield f"{ast.unparse(call)} does not fit `{stated[name]}`: {error}"


class Uses(NamedTuple):
    """The names that a block of code uses.

    Args:
        imported: Names imported from the product, by their local names.
        calls: Calls of these names.
        unknown: Undefined names.
        problems: Imports that are not allowed.
    """

    imported: Mapping[str, str]
    calls: Sequence[tuple[str, ast.Call]]
    unknown: frozenset[str]
    problems: Sequence[str]

    @classmethod
    def of(cls, tree: ast.Module, package: str) -> "Uses":
        """Collect the names of a block.

        Args:
            tree: The block's syntax tree.
            package: The product's import name.
        """
        imported, problems = dict[str, str](), list[str]()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                problems += [
                    _wrong_import(one.name, package) for one in node.names if not _is_value_module(one.name)
                ]
            elif isinstance(node, ast.ImportFrom):
                if node.level == 0 and node.module == package:
                    imported |= {one.asname or one.name: one.name for one in node.names}
                elif node.level or not _is_value_module(node.module or ""):
                    problems.append(_wrong_import("." * node.level + (node.module or ""), package))
        calls = [
            (imported[node.func.id], node)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in imported
        ]
        return cls(imported, calls, frozenset(undefined_names(tree)), problems)


def _wrong_import(module: str, package: str) -> str:
    return (
        f"it imports {module}; import public names by `from {package} import ...`, and of the standard library what "
        f"makes values: {', '.join(sorted(EXAMPLE_IMPORTS))}"
    )


def _is_value_module(module: str) -> bool:
    return module == _OFFERED or module.partition(".")[0] in EXAMPLE_IMPORTS


def is_standard(module: str) -> bool:
    """Whether a module is in the standard library, or is the one that the gate offers to tests and examples."""
    return module == _OFFERED or module.partition(".")[0] in sys.stdlib_module_names


def _among_examples(
    package: str, tasks: Sequence[TaskPromise], stated: Mapping[str, PublicName]
) -> Iterator[Finding]:
    """Report examples that contradict each other, and properties that contradict an example."""
    first: dict[str, tuple[str, AcceptanceExample]] = {}
    examples = [(task, one, _code(one, package)) for task in tasks for one in task.acceptance.examples]
    for task, one, code in examples:
        owner, earlier = first.setdefault(same_call(code, stated), (task.task_id, one))
        if contradict(earlier.gives, one.gives):
            message = (
                f"{one.title!r} says that the same code gives {one.gives!r}, {earlier.title!r} of {owner} "
                f"says {earlier.gives!r}; only one can be right"
            )
            yield Finding("acceptance.examples", task.task_id, message)
    shown = [(one, code) for _, one, code in examples]
    for task in tasks:
        declared = sorted(
            {
                *(error_in(one.gives) for one in task.acceptance.examples),
                *(error for one in task.acceptance.properties for error in one.errors),
                *(name for name in task.acceptance.provides if name.endswith(("Error", "Exception"))),
            }
            - {""}
        )
        for item in task.acceptance.properties:
            for problem in property_problems(item, _code(item, package), shown, stated, declared):
                yield Finding("acceptance.properties", task.task_id, f"{item.title!r}: {problem}")


def _code(item: AcceptanceItem, package: str) -> Code:
    tree, imports = item.tree, ast.Import | ast.ImportFrom
    return Code([one for one in tree.body if not isinstance(one, imports)], Uses.of(tree, package).calls)
