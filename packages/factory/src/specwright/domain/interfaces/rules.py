"""What is wrong with the interfaces of a product (design: shell).

Before there are contracts, a function is what a task provides: its name and its parameters. With the contract, its outputs,
errors and classes are known as well, and every type must be one that a command line carries.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from ship_gate.base.text import did_you_mean
from ship_gate.contract.boundary.types import class_names
from ship_gate.contract.contract import MicroModuleContract
from specwright.domain.acceptance.records import PublicName, name_of
from specwright.domain.interfaces.functions import PublicFunction, function_of_contract, function_of_signature
from specwright.domain.interfaces.records import (
    OTHER_ERRORS,
    ExitRule,
    FunctionUse,
    Interfaces,
    Subcommand,
)
from specwright.domain.interfaces.requests import (
    any_number_problem,
    api_problems,
    method_of,
    option_problems,
    route_problems,
    tool_problems,
)
from specwright.domain.interfaces.words import RESERVED, CommandWord, word_problem, words_of


class Use(NamedTuple):
    """A function that an interface calls.

    Args:
        field: In the interfaces.
        shown: How a message names it.
        calls: The function.
        problems: What keeps the interface from calling it, as far as it is known.
        defaults: What it passes for parameters that are not given, as words; of options of a server those of other
            functions as well.
    """

    field: str
    shown: str
    calls: str
    problems: Callable[[PublicFunction], Sequence[str]]
    defaults: Mapping[str, str] = MappingProxyType({})


def uses_of(interfaces: Interfaces) -> list[Use]:
    """All that interfaces call."""
    command, http, mcp = interfaces.command, interfaces.http, interfaces.mcp
    found = [
        Use(
            field,
            f"the command `{command.line(one)}`",
            one.calls,
            partial(use_problems, one),
            {word.parameter: word.default for word in one.parameters if word.default},
        )
        for field, one in _uses_by_field(interfaces)
        if command
    ]
    found += [
        Use(
            f"http.routes[{place}]",
            f"the route `{one.template}`",
            one.calls,
            partial(route_problems, one, options=http.options),
            {**http.options, **one.defaults},
        )
        for place, one in enumerate(http.routes if http else ())
        if http
    ]
    found += [
        Use(
            f"mcp.tools[{place}]",
            f"the tool `{one.called}`",
            one.calls,
            partial(tool_problems, mcp, place),
            {**mcp.options, **one.defaults},
        )
        for place, one in enumerate(mcp.tools if mcp else ())
        if mcp
    ]
    return found


def interface_problems(
    interfaces: Interfaces, provided: Sequence[PublicName], with_effects: Collection[str] = ()
) -> list[tuple[str, str]]:
    """The faults of interfaces before there is a contract: the field of each, and what is wrong and what to do.

    Args:
        interfaces: Of the spec.
        provided: The public names of all tasks.
        with_effects: The functions of tasks whose sketch says that they have effects.
    """
    stated = {name_of(public): public for public in reversed(provided)}
    functions = {name: one for name, public in stated.items() if (one := function_of_signature(public))}
    found = list(_double_names(interfaces))
    for one in uses_of(interfaces):
        if one.calls not in functions:
            found.append((f"{one.field}.calls", _not_provided(one.calls, stated)))
        else:
            found += [(one.field, message) for message in one.problems(functions[one.calls])]
    for field, server in (("http", interfaces.http), ("mcp", interfaces.mcp)):
        if server:
            called = [functions[name] for name in server.calls if name in functions]
            found += [(f"{field}.options", told) for told in option_problems(server.options, called)]
    if interfaces.http:
        for place, route in enumerate(interfaces.http.routes):
            is_get = route.calls in functions and method_of(route, functions[route.calls]) == "GET"
            if is_get and not route.method and route.calls in with_effects:
                told = f"the task of {route.calls} has effects, and GET changes nothing; state `method`, POST or GET"
                found.append((f"http.routes[{place}].method", told))
        for place, told in api_problems(interfaces.http, functions):
            found.append((f"http.routes[{place}].path", told))
    return found


def _double_names(interfaces: Interfaces) -> Iterator[tuple[str, str]]:
    names: set[str] = set()
    for field, one in _uses_by_field(interfaces):
        if isinstance(one, Subcommand):
            if one.name in names:
                yield f"{field}.name", f"{one.name} is the name of an earlier subcommand; choose another"
            names.add(one.name)


def _uses_by_field(interfaces: Interfaces) -> list[tuple[str, FunctionUse]]:
    command = interfaces.command
    return [
        (f"command.subcommands[{place}]" if command.subcommands else "command", one)
        for place, one in enumerate(command.uses if command else ())
        if command
    ]


def interface_warnings(interfaces: Interfaces) -> list[tuple[str, str]]:
    """What is allowed and probably not meant, a result and an error with one exit code: the field, and what it is."""
    command = interfaces.command
    return [
        (
            f"{field}.errors",
            f"exit code {rule.code} of `{command.line(one)}` says that {exit_condition(rule)}, and that "
            f"{'another error' if name == OTHER_ERRORS else name} was raised: a script cannot tell them apart; give "
            "one another code",
        )
        for field, one in _uses_by_field(interfaces)
        if command
        for rule in one.exits
        for name, code in one.errors.items()
        if code == rule.code
    ]


def exit_condition(rule: ExitRule) -> str:
    """When a rule holds, in words."""
    return f"{f'`{rule.of}`' if rule.of else 'the result'} is {'not empty' if rule.when == 'filled' else 'empty'}"


def _not_provided(name: str, stated: Mapping[str, PublicName]) -> str:
    if name in stated:
        return f"{name} is provided as a class; name a function, with its parameters in `provides`"
    functions = [one for one, public in stated.items() if "(" in public]
    like = did_you_mean(name, functions)
    return f"no task provides the function {name}; {like}tasks provide {', '.join(functions) or 'none'} in `acceptance`"


def use_problems(use: FunctionUse, function: PublicFunction) -> list[str]:
    """The faults of a command or subcommand that calls a function, as far as the function is known."""
    known = [one.name for one in function.parameters]
    problems = [
        f"{function.name} has no parameter {one.parameter}; {did_you_mean(one.parameter, known)}it has "
        f"{', '.join(known) or 'none'}"
        for one in use.parameters
        if one.parameter not in known
    ]
    if double := _first_double([one.parameter for one in use.parameters]):
        problems.append(f"the parameter {double} is mapped twice; map it once")
    if many := any_number_problem(function):
        return [*problems, many]
    words = words_of(use, function)
    problems += [
        f"the parameter {word.parameter.name} of {function.name}: {problem}"
        for word in words
        if (problem := word_problem(word, function.classes))
    ]
    return [*problems, *_line_problems(words), *_result_problems(use, function)]


def unfit_contracts(
    interfaces: Interfaces | None,
    contracts: Mapping[str, MicroModuleContract],
    others: Sequence[MicroModuleContract] = (),
) -> list[str]:
    """What of a plan's contracts the interfaces of the product cannot call.

    Args:
        interfaces: Of the product.
        contracts: Of the plan, by name.
        others: Whose classes they may name.
    """
    known = [*contracts.values(), *others]
    return [
        f"modules.{one.calls}: {one.shown} calls it, and {problem}"
        for one in (uses_of(interfaces) if interfaces else ())
        if one.calls in contracts
        for problem in one.problems(function_of_contract(contracts[one.calls], known))
    ]


def _first_double(names: Sequence[str]) -> str:
    return next((name for place, name in enumerate(names) if name in names[:place]), "")


def _line_problems(words: Sequence[CommandWord]) -> Iterator[str]:
    """What the command line as a whole cannot be."""
    options = [one.name for one in words if one.place == "option"]
    for name in options:
        if name in RESERVED or name.removeprefix("no-") in RESERVED:
            yield f"every command has an option --{name} of its own; give the parameter another `name`"
    options += [f"no-{one.name}" for one in words if one.flag]
    if double := _first_double(options):
        yield f"two options are called --{double}; give one another `name`"
    if double := _first_double([one.short for one in words if one.short]):
        yield f"two options are called -{double}; give one another `short`"
    for one in words:
        if one.short and one.place != "option":
            yield f"{one.parameter.name} is no option, so it cannot be called -{one.short}; leave `short` out"
    if sum(one.place == "stdin" for one in words) > 1:
        yield "two parameters come from stdin; a command has only one, so let the other name a file"
    arguments = [one for one in words if one.place == "argument"]
    for before, after in pairwise(arguments):
        if before.many or not before.needed:
            yield (
                f"after {before.name}, which takes any number of words or none, nothing tells where {after.name} begins; "
                "make one of them an option"
            )


def _result_problems(use: FunctionUse, function: PublicFunction) -> Iterator[str]:
    if function.returns is None:
        return
    parts = result_parts(function)
    shown = [*use.shows, *(rule.of for rule in use.exits if rule.of)]
    for name in shown:
        if name not in parts:
            listed = ", ".join(parts) or "none"
            yield f"the result of {function.name} has no part {name}; {did_you_mean(name, parts)}it has {listed}"
    if any(not rule.of for rule in use.exits) and len(function.returns) != 1:
        yield f"{function.name} has {len(function.returns)} outputs; `of` must name one for an exit code"
    for name in use.errors:
        if name not in (*function.errors, OTHER_ERRORS):
            listed = ", ".join(function.errors) or "none"
            yield f"{function.name} has no error {name}; {did_you_mean(name, function.errors)}its contract has {listed}"


def result_parts(function: PublicFunction) -> list[str]:
    """The outputs of a function, and the fields of the only one if it is a record."""
    returns, classes = function.returns or {}, function.classes or {}
    fields: list[str] = []
    if len(returns) == 1:
        (kind,) = returns.values()
        if kind in classes and class_names(kind) == (kind,):
            fields = [one.name for one in classes[kind].statement.fields]
    return [*returns, *fields]
