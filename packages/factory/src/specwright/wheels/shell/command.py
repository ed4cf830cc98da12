"""The console command of a product: reads words and files, calls one function, prints what comes out.

Exit codes: 0, those that the interface states for results and errors, 2 for wrong usage or input, 70 for a fault of the
product, 130 when interrupted. No traceback is printed.
"""

import argparse
import contextlib
import errno
import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from io import BufferedReader
from pathlib import Path
from typing import Any, NoReturn, cast

from .calls import CLOCK, Function, clock_value, document, escaped, exit_code
from .results import is_single, json_text, lines_of, part_of
from .scalars import ValueProblem
from .types import read_json

__all__ = ["main", "print_result"]

USAGE, FAULT, INTERRUPTED, CLOSED = 2, 70, 130, 141
_LONGEST = 64 * 1024 * 1024
_PIECE = 64 * 1024
_SUBCOMMAND, _JSON = ".subcommand", ".json"
"""No parameter has these names."""


class _Failure(Exception):  # noqa: N818 - carries an exit code and its message to the top
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code.

    Args:
        arguments: Without the name of the program; by default those of the process.
    """
    name = "command"
    try:
        stated = document()
        name = stated["command"]["name"]
        return _run(stated, sys.argv[1:] if arguments is None else arguments)
    except _Failure as failure:
        _complain(f"{name}: {failure}")
        return failure.code
    except KeyboardInterrupt:
        _complain(f"{name}: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # whoever read the output wants no more; Python must not try again when it ends
        _drop_output()
        return CLOSED


def _drop_output() -> None:
    """Let nothing more be written to stdout, also by Python when it ends."""
    with contextlib.suppress(OSError, AttributeError):  # it may be closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str) -> None:
    """Say it on stderr; what an argument or an error brings along moves no terminal's cursor."""
    if cast("Any", sys.stderr) is None:  # it was closed before the program began
        return
    shown = "".join(one if one.isprintable() or one == "\n" else ascii(one)[1:-1] for one in message)
    with contextlib.suppress(OSError, ValueError):
        line = shown.encode(sys.stderr.encoding or "utf-8", "backslashreplace").decode(
            sys.stderr.encoding or "utf-8"
        )
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def _run(stated: Mapping[str, Any], arguments: Sequence[str]) -> int:
    parser, parsers = _parsers(stated)
    chosen = parser.parse_args(list(arguments))
    name = getattr(chosen, _SUBCOMMAND, "")
    one = next(one for one in stated["command"]["uses"] if one["subcommand"] == name)
    function = Function(one["calls"], stated["functions"][one["calls"]])
    try:
        values = _Words(function, chosen).values(one["words"])
    except ValueProblem as problem:
        parsers[name].error(str(problem))
    outputs = _outputs(function, values, one)
    _print_safely(one, outputs, as_json=getattr(chosen, _JSON))
    return exit_code(one["exits"], outputs)


def _check_open(stream: object) -> None:
    if stream is None:  # it was closed before the program began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def _print_safely(one: Mapping[str, Any], outputs: Mapping[str, Any], *, as_json: bool) -> None:
    """Print it, or say why that cannot be."""
    try:
        _check_open(sys.stdout)
        print_result(one, outputs, as_json=as_json)
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop_output()
        told = f"the result cannot be written: {error.strerror or error}"
        raise _Failure(one["other_errors"], told) from error
    except (RecursionError, ValueError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise _Failure(FAULT, f"the result of {one['calls']} cannot be printed: {why}") from error


def _outputs(function: Function, values: Mapping[str, Any], one: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return function.call(values)
    except (Exception, SystemExit) as error:  # what the function raises, declared or not
        name = function.declared(error)
        if name:
            raise _Failure(one["errors"][name], str(error) or name) from error
        if isinstance(error, OSError):
            raise _Failure(one["other_errors"], str(error)) from error
        told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise _Failure(FAULT, f"fault in {function.name}: {told}") from error


def print_result(one: Mapping[str, Any], outputs: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what a call gave, all of it or what the command shows (design: release).

    Args:
        one: The call, as the release describes it.
        outputs: By name.
        as_json: Whether `--json` was given.
    """
    if as_json:
        _write(json_text(outputs) if outputs else "null")
        return
    shown = [part_of(outputs, name) for name in one["shows"]] if one["shows"] else list(outputs.values())
    if len(shown) > 1 and all(is_single(value) and not isinstance(value, bytes) for value in shown):
        # several single values are read as a record is
        _write("\n".join(lines_of(dict(zip(one["shows"] or outputs, shown, strict=True)))))
        return
    for place, value in enumerate(shown):
        if isinstance(value, bytes):
            sys.stdout.flush()
            sys.stdout.buffer.write(value)
            sys.stdout.buffer.flush()
            continue
        lines = list(lines_of(value))
        if lines and place and len(lines) > 1:
            lines.insert(0, "")
        if lines:
            _write("\n".join(lines))


def _write(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(f"{text.encode(encoding, 'backslashreplace').decode(encoding)}\n")
    sys.stdout.flush()


class _Parser(argparse.ArgumentParser):
    """Complains in one line, and says how to learn more."""

    def error(self, message: str) -> NoReturn:
        if message.endswith("expected one argument"):
            # what begins with a dash is read as an option, unless it is a plain number
            message += "; write a value that begins with - after an equals sign, --option=-VALUE"
        _complain(f"{self.format_usage().rstrip()}\n{self.prog}: {message}")
        raise SystemExit(USAGE)


def _parsers(stated: Mapping[str, Any]) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of the command, and those of its subcommands by name; without any it is its own."""
    command, functions = stated["command"], stated["functions"]
    first = command["uses"][0]
    whole = {} if first["subcommand"] else _epilog(first, functions[first["calls"]])
    parser = _Parser(prog=command["name"], description=escaped(command["help"]), allow_abbrev=False, **whole)
    parser.add_argument("--version", action="version", version=f"{command['name']} {stated['version']}")
    if whole:
        _add_words(parser, first, functions)
        return parser, {"": parser}
    under = parser.add_subparsers(dest=_SUBCOMMAND, metavar="SUBCOMMAND", required=True)
    found: dict[str, argparse.ArgumentParser] = {}
    for one in command["uses"]:
        found[one["subcommand"]] = sub = under.add_parser(
            one["subcommand"],
            help=_escaped(one["help"]),
            description=escaped(one["help"]),
            allow_abbrev=False,
            **_epilog(one, functions[one["calls"]]),
        )
        _add_words(sub, one, functions)
    return parser, found


def _add_words(parser: argparse.ArgumentParser, one: Mapping[str, Any], functions: Mapping[str, Any]) -> None:
    function = Function(one["calls"], functions[one["calls"]])
    for word in one["words"]:
        _add(parser, word, function)
    parser.add_argument("--json", action="store_true", dest=_JSON, help="print the result as JSON")


def _epilog(one: Mapping[str, Any], function: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "epilog": escaped(_exit_codes(one, function)),
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


def _escaped(text: str) -> str:
    """A help text of an option, in which argparse formats whatever follows a percent sign."""
    return text.replace("%", "%%")


def _exit_codes(one: Mapping[str, Any], function: Mapping[str, Any]) -> str:
    lines = ["exit codes:", "  0   done"]
    for rule in one["exits"]:
        what = rule["of"] or "the result"
        lines.append(f"  {rule['code']:<3} {what} is {'not empty' if rule['when'] == 'filled' else 'empty'}")
    lines += [f"  {code:<3} {name}: {function['errors'][name]}" for name, code in one["errors"].items()]
    return "\n".join([*lines, "  2   wrong usage or input", "  130 interrupted"])


def _add(parser: argparse.ArgumentParser, word: Mapping[str, Any], function: Function) -> None:
    if word["place"] == "stdin":
        return
    told = _escaped(_help(word, function))
    written = ([f"-{word['short']}"] if word["short"] else []) + [f"--{word['name']}"]
    if word["flag"]:
        parser.add_argument(
            *written, dest=word["parameter"], action=argparse.BooleanOptionalAction, help=told
        )
        return
    if word["place"] == "argument":
        nargs = {(False, True): None, (False, False): "?", (True, True): "+", (True, False): "*"}[
            word["many"], word["needed"]
        ]
        parser.add_argument(word["parameter"], metavar=word["name"].upper(), nargs=nargs, help=told)
        return
    parser.add_argument(
        *written,
        dest=word["parameter"],
        metavar=word["metavar"],
        required=word["needed"],
        action="append" if word["many"] else "store",
        help=told,
    )


def _help(word: Mapping[str, Any], function: Function) -> str:
    parts = [word["help"]]
    if choices := function.types.choices(word["type"]) if word["content"] == "value" else []:
        parts.append(f"one of {', '.join(choices)}")
    if word["content"] != "value":
        parts.append(
            {"toml": "a TOML file", "json": "a JSON file, - for stdin"}.get(
                word["content"], "a file, - for stdin"
            )
        )
    default = word["default"] or word["python_default"]
    if default not in (None, "None", "False", "") and not word["needed"]:
        there = ", if it is there" if word["content"] == "toml" and word["python_default"] is not None else ""
        parts.append(f"default: {default}{there}")
    return "; ".join(part for part in parts if part)


def _has_no_settings(word: Mapping[str, Any]) -> bool:
    """Whether a word stands for a file of settings that is not there, and that the function can do without."""
    file, can_do_without = word["default"], word["python_default"] is not None
    return word["content"] == "toml" and bool(file) and can_do_without and not Path(file).exists()


class _Words:
    """The values of the words of one command line."""

    def __init__(self, function: Function, chosen: argparse.Namespace) -> None:
        self._types = function.types
        self._chosen = chosen

    def values(self, words: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The arguments of the function; a parameter with a default that is not written is left out.

        Raises:
            ValueProblem: a word is no value of its type, or a file cannot be read.
        """
        found: dict[str, Any] = {}
        for word in words:
            raw = "-" if word["place"] == "stdin" else getattr(self._chosen, word["parameter"])
            if raw is None or (raw == [] and not word["needed"]):
                raw = None if _has_no_settings(word) else word["default"] or None
                raw = [raw] if raw and word["many"] else raw
            if raw is None and word["flag"] and word["python_default"] is None:
                raw = False
            if raw is not None:
                found[word["parameter"]] = self._value(word, raw)
        return found

    def _value(self, word: Mapping[str, Any], raw: Any) -> Any:
        option = f"-{word['short']}/--{word['name']}" if word["short"] else f"--{word['name']}"
        shown = option if word["place"] == "option" else word["name"].upper()
        try:
            if word["flag"]:
                return raw if isinstance(raw, bool) else raw == "true"
            if word["content"] != "value":
                return self._of_file(word, raw)
            if word["many"]:
                return self._types.from_words(word["type"], raw)
            if raw in CLOCK and raw == word["default"]:
                return clock_value(raw)
            return self._types.from_word(word["type"], raw)
        except ValueProblem as problem:
            raise ValueProblem(f"{shown}: {problem}") from problem

    def _of_file(self, word: Mapping[str, Any], name: str) -> Any:
        content, kind = word["content"], word["type"]
        data = _bytes_of(name)
        if content == "text" and "bytes" in kind:
            return data
        try:
            text = data.decode("utf-8-sig" if content != "text" else "utf-8")
        except UnicodeDecodeError as error:
            raise ValueProblem(f"{name} is not UTF-8 text") from error
        if content == "text":
            return text
        if content == "lines":
            return text.splitlines()
        try:
            read = tomllib.loads(text, parse_float=Decimal) if content == "toml" else read_json(text)
            return self._types.from_data(kind, read)
        except RecursionError as error:
            raise ValueProblem(f"{name} is nested too deeply") from error
        except ValueProblem as problem:
            raise ValueProblem(f"{name}: {problem}") from problem
        except ValueError as error:
            raise ValueProblem(f"{name} is not {content.upper()}: {error}") from error


def _bytes_of(name: str) -> bytes:
    try:
        if name == "-":
            _check_open(sys.stdin)
            data = _whole(cast("BufferedReader", sys.stdin.buffer))
        else:
            with Path(name).open("rb") as file:
                data = _whole(file)
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ValueProblem(f"{name} cannot be read: {told}") from error
    if len(data) > _LONGEST:
        raise ValueProblem(f"{name} has more than {_LONGEST} bytes")
    return data


def _whole(file: BufferedReader) -> bytes:
    """All bytes, or a few more than the most; piece by piece, so that Ctrl-C counts between two."""
    found = bytearray()
    while len(found) <= _LONGEST and (piece := file.read1(_PIECE)):
        found += piece
    return bytes(found)
