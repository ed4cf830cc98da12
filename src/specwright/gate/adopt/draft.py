"""The draft of a module: a function's source as an implementation, and the contract that its text states (design:
adoption).

The contract's five dimensions are read back from the implementation, as the gate reads them: what a draft says of names,
types, defaults and classes is what the source says. Errors are those that the docstring names, and those that a `raise`
lets out.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pydantic import ValidationError

from specwright.domain.adoption.report import Gap, Obstacle, Origin
from specwright.domain.base.ids import module_id
from specwright.domain.base.record import validation_messages
from specwright.domain.base.stated_text import text_problem
from specwright.domain.base.text import one_line
from specwright.domain.contract.contract import (
    ErrorSurface,
    Input,
    MicroModuleContract,
    Modes,
    Output,
    SurfaceKind,
)
from specwright.domain.contract.docstring import public_names, signature_parameters
from specwright.domain.contract.error_classes import is_builtin_exception
from specwright.domain.contract.rules import (
    DEFAULT,
    module_name_problem,
    problems,
)
from specwright.gate.adopt.docstrings import Described, DocstringText, docstring_text
from specwright.gate.adopt.signatures import RESULT, UNKNOWN, Signature, read_signature
from specwright.gate.adopt.slices import Line, Slice, SlicedFile, cut_out, joined
from specwright.gate.adopt.source_tree import PublicFunction, SourceTree, Target, bound_names
from specwright.gate.adopt.types import crossing, imports_for
from specwright.gate.findings import FindingCode
from specwright.gate.source.files import Definition, ParsedFiles, SourceError
from specwright.gate.source.program import read_program
from specwright.gate.static.raises import UndeclaredError, undeclared_errors
from specwright.gate.surface.splice import spliced_files
from specwright.gate.surface.surface import extract_surface
from specwright.ports.gate import ENTRY_FILE
from specwright.syntax_tree import parse_module

_MOST_CONDITIONS = 3
_MOST_TEXT = 200
_MOST_DESCRIBED = 300
_LIMIT = re.compile(
    r"\b(must|may not|cannot|can't|at (?:least|most)|between -?\d|up to \d|non-?empty|positive|negative|one of|"
    r"(?:no more|less|greater|larger|smaller) than)\b",
    re.IGNORECASE,
)
"""How a docstring speaks of a limit."""
_LINE = re.compile(r"\bline (\d+)\b")


class Draft(NamedTuple):
    """A draft.

    Args:
        function: Of which function.
        docstring: What its docstring says.
        contract: What the source states; None with an obstacle.
        files: The implementation.
        lines: Where each line of its files comes from.
        origins: Whose word each part of the contract is, by pointer.
        gaps: What nobody states.
        obstacles: What no contract can say.
        remarks: What is stated otherwise than it is written.
        inferred: The types that were seen and that it states.
        bounds: Of its iterables and iterators, as `read_signature` takes them.
    """

    function: PublicFunction
    docstring: DocstringText
    contract: MicroModuleContract | None
    files: dict[str, bytes]
    lines: dict[str, tuple[Line, ...]]
    origins: dict[str, Origin]
    gaps: tuple[Gap, ...]
    obstacles: tuple[Obstacle, ...]
    remarks: tuple[str, ...]
    inferred: Mapping[str, str] = MappingProxyType({})
    bounds: Mapping[str, int] = MappingProxyType({})

    def place(self, where: str) -> str:
        """A place in the implementation, `implementation/__init__.py:12`, as a place in the source that it comes from."""
        path, _, number = where.partition(":")
        lines = self.lines.get(path, ())
        at = int(number) if number.isdecimal() else 0
        known = [line for line in lines[max(0, at - 1) :: -1] if line.number] if at else []
        return f"{known[0].label}:{known[0].number}" if known else self.function.where

    def at_source(self, message: str, where: str) -> str:
        """A message that names lines of an implementation's file, with those of the source."""
        path = where.partition(":")[0]
        message = message.replace(
            "cannot cross the boundary", "cannot be given to a function or come back from it"
        )
        return _LINE.sub(lambda found: f"line {self.place(f'{path}:{found[1]}').rpartition(':')[2]}", message)


def draft_of(
    tree: SourceTree,
    function: PublicFunction,
    inferred: Mapping[str, str] = MappingProxyType({}),
    bounds: Mapping[str, int] = MappingProxyType({}),
) -> Draft:
    """Draft the module of a function; nothing is run.

    Args:
        tree: Of the function's module.
        function: Which one.
        inferred: Types that were seen, as `read_signature` takes them.
        bounds: Likewise.
    """
    docstring = docstring_text(function.node)
    signature = read_signature(tree, function, docstring, inferred, bounds)
    empty = Draft(
        function,
        docstring,
        None,
        {},
        {},
        {},
        signature.gaps,
        signature.obstacles,
        signature.remarks,
        inferred,
        signature.bounds,
    )
    name = function.node.name
    try:
        first = _contract(function, docstring, signature, _claimed(docstring))
    except ValidationError as error:
        what = f"{name!r} cannot be a module's name: {validation_messages(error)[0]}"
        return empty._replace(obstacles=(*empty.obstacles, Obstacle(what, function.where)))
    if problem := module_name_problem(name):
        return empty._replace(obstacles=(*empty.obstacles, Obstacle(problem, function.where)))
    if empty.obstacles:
        return empty
    try:
        return _Drafting(tree, function, signature, empty).draft(first)
    except SourceError as error:
        where = error.finding.where
        return empty._replace(obstacles=(*empty.obstacles, Obstacle(error.finding.message, where)))


class _Drafting:
    def __init__(
        self, tree: SourceTree, function: PublicFunction, signature: Signature, empty: Draft
    ) -> None:
        self._tree = tree
        self._function = function
        self._signature = signature
        self._empty = empty

    def draft(self, first: MicroModuleContract) -> Draft:
        """The draft from a contract that declares what the docstring claims."""
        part = cut_out(self._tree, self._function)
        if part.obstacles:
            return self._empty._replace(obstacles=(*self._empty.obstacles, *part.obstacles))
        files, lines = self._implementation(part, first, [])
        parsed = ParsedFiles(files)
        errors = [*first.error_surfaces, *_raised(parsed, first)]
        errors += self._refusals({error.name for error in errors})
        contract = _with_errors(first, errors)
        found = [*self._signature.classes, *self._exceptions(part, contract)]
        part = cut_out(
            self._tree, self._function, tuple(t.name for t in found if t.module is self._function.module)
        )
        for target in found:
            if target.module.name not in part.names:
                part = cut_out(self._tree, self._function, (target.name,))
        files, lines = self._implementation(part, contract, found)
        draft = self._empty._replace(files=files, lines=lines)
        return self._stated(draft, contract, claimed=len(first.error_surfaces))

    def _refusals(self, known: set[str]) -> list[ErrorSurface]:
        """The errors that classes of the signature raise when they refuse their fields, and nothing else does."""
        stated = crossing({target.name: target for target in self._signature.classes})
        refused = {error: name for name, one in stated.items() for error in one.raises if error not in known}
        return [
            ErrorSurface(
                name=error, when=f"a {name} is made of fields that it refuses", surface=SurfaceKind.EXCEPTION
            )
            for error, name in refused.items()
        ]

    def _exceptions(self, part: Slice, contract: MicroModuleContract) -> list[Target]:
        """Where the exceptions that a contract names are defined in the tree."""
        found: list[Target] = []
        names = [e.name for e in contract.error_surfaces if not is_builtin_exception(e.name)]
        for name in dict.fromkeys(names):
            target = self._tree.resolve(self._function.module, name)
            if target is None:
                homes = [self._tree.module(module) for module in part.names]
                target = next((Target(home, name) for home in homes if home and name in home.bindings), None)
                target = target and (self._tree.resolve(target.module, name) or target)
            if target is not None and target.name:
                found.append(target)
        return found

    def _implementation(
        self, part: Slice, contract: MicroModuleContract, found: Sequence[Target]
    ) -> tuple[dict[str, bytes], dict[str, tuple[Line, ...]]]:
        bound = _bound([*part.before, *part.after])
        imports = [_import_of(part, target) for target in found if target.name not in bound]
        header, needed = self._header(contract)
        lacking = [line for line in dict.fromkeys(needed) if _bound_in(line) not in bound]
        variables = [line for line in lacking if not line.startswith(("import ", "from "))]
        listed = ", ".join(f'"{name}"' for name in public_names(contract) if name != UNKNOWN)
        future = ", ".join(dict.fromkeys(["annotations", *part.future]))
        head = [
            f"from __future__ import {future}",
            *dict.fromkeys([*(line for line in lacking if line not in variables), *imports]),
            f"__all__ = [{listed}]",
        ]
        entry = joined(
            [
                *(SlicedFile(text.encode(), (Line("", 0),)) for text in head),
                *part.before,
                *(SlicedFile(text.encode(), (Line("", 0),)) for text in variables),
                _with_header(part.function, header),
                *part.after,
            ]
        )
        made = {ENTRY_FILE: entry}
        made |= {f"implementation/{name}.py": file for name, file in part.files.items()}
        return {path: f.text for path, f in made.items()}, {path: f.lines for path, f in made.items()}

    def _header(self, contract: MicroModuleContract) -> tuple[str, list[str]]:
        """The first line of the function, and the imports that its types need."""
        imports: list[str] = []

        def written(text: str) -> str:
            spelled, more, problem = imports_for(text, self._function.module)
            if problem:
                raise SourceError(FindingCode.SURFACE_NAME, self._function.where, problem)
            imports.extend(more)
            return spelled

        parameters = signature_parameters(contract, written)
        keyword = "async def" if contract.modes.async_ else "def"
        returns = written(self._signature.returns)
        return f"{keyword} {contract.name}({', '.join(parameters)}) -> {returns}:", imports

    def _stated(self, draft: Draft, contract: MicroModuleContract, *, claimed: int) -> Draft:
        """The draft with the contract that its source states."""
        try:
            files = spliced_files(ParsedFiles(draft.files), contract)
            read = {**contract.to_json(), **extract_surface(files, contract.name)}
            stated = MicroModuleContract.model_validate({name: read[name] for name in contract.to_json()})
        except SourceError as error:
            where, message = error.finding.where, error.finding.message
            obstacle = Obstacle(draft.at_source(message, where), draft.place(where))
            return draft._replace(obstacles=(*draft.obstacles, obstacle))
        lines = {path: _shifted(draft.files[path], data, draft.lines[path]) for path, data in files.items()}
        gaps = [
            Gap(
                f"the contract breaks a rule: {problem}",
                self._function.where,
                "what the rule asks for, in the docstring or the signature",
                in_module="in contract.json",
            )
            for problem in problems(stated)
            if f"'{UNKNOWN}'" not in problem
        ]
        return draft._replace(
            contract=stated,
            files=dict(files),
            lines=lines,
            origins=_origins(self._signature, stated, claimed),
            gaps=(*draft.gaps, *_unstated(draft, stated), *gaps),
        )


def _bound(parts: Iterable[SlicedFile]) -> set[str]:
    """The names that statements of the entry file bind."""
    return {name for part in parts for node in parse_module(part.text).body for name in bound_names(node)}


def _bound_in(line: str) -> str:
    """The name that an import binds, or an assignment."""
    name, is_assigned, _ = line.partition(" = ")
    return name if is_assigned else line.rpartition(" ")[2]


def _import_of(part: Slice, target: Target) -> str:
    """The import that brings a class of another file into the entry file."""
    return f"from .{part.names.get(target.module.name, target.module.name)} import {target.name}"


def _contract(
    function: PublicFunction, docstring: DocstringText, signature: Signature, errors: list[ErrorSurface]
) -> MicroModuleContract:
    bounds = signature.bounds
    inputs = [
        Input(
            name=one.name,
            type=one.type,
            constraints=[
                *([one.passing] if one.passing else []),
                *([] if one.default is None else [DEFAULT + one.default]),
                *([f"takes at most {bounds[one.name]} items"] if bounds.get(one.name) else []),
            ],
        )
        for one in signature.parameters
    ]
    name = next((one.name for one in docstring.returns if one.name.isidentifier()), "result")
    invariants = [f"yields at most {bounds[RESULT]} items"] if bounds.get(RESULT) else []
    result = Output(name=name, type=signature.returns, invariants=invariants)
    outputs = [] if signature.returns == "None" else [result]
    is_async = isinstance(function.node, ast.AsyncFunctionDef)
    return MicroModuleContract(
        module_id=module_id(hashlib.sha256(function.name.encode()).hexdigest()[:8]),
        name=function.node.name,
        purpose=_purpose(function, docstring, signature),
        inputs=inputs,
        outputs=outputs,
        error_surfaces=errors,
        effects=[],
        modes=Modes.model_validate({"sync": not is_async, "async": is_async}),
    )


def _purpose(function: PublicFunction, docstring: DocstringText, signature: Signature) -> str:
    """What the docstring says the function is for, then what it says of parameters and result. A description states
    nothing that a test could show, so it is no constraint; who calls the function needs it all the same."""
    purpose = docstring.purpose
    said = [purpose if purpose and not text_problem(purpose) else _unstated_purpose(function)]
    described = {one.name: _usable(docstring.parameters.get(one.name)) for one in signature.parameters}
    said += [f"`{name}`: {text}" for name, text in described.items() if text]
    if signature.returns != "None" and (result := next(map(_usable, docstring.returns), "")):
        said.append(f"Returns: {result}")
    if len(said) == 1:
        return said[0]
    return " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in said)


def _usable(described: Described | None) -> str:
    """A description that says something; of a long one its first sentence."""
    text = described.text if described else ""
    text = text if len(text) <= _MOST_DESCRIBED else text.partition(". ")[0][:_MOST_DESCRIBED].rstrip()
    return "" if not text or text_problem(text) else text


def _unstated_purpose(function: PublicFunction) -> str:
    return f"The function `{function.name}`"


def _unstated(draft: Draft, contract: MicroModuleContract) -> Iterator[Gap]:
    """What only a person can put into words: what it is for, and what limits the docstring sets."""
    if not draft.docstring.purpose:
        write = "a first line of the docstring that says what it does"
        yield Gap("what it is for", draft.function.where, write)
    for n, slot in enumerate(contract.inputs):
        said = draft.docstring.parameters.get(slot.name)
        # an error that names the parameter states what a breach of the limit meets
        word = re.compile(rf"\b{slot.name}\b")
        is_met = any(word.search(error.when) for error in contract.error_surfaces)
        if said and _LIMIT.search(said.text) and not is_met:
            what = f"a constraint of `{slot.name}`: the docstring says {said.text!r}"
            write = f"the error that a breach meets, naming `{slot.name}`, under `Raises` in the docstring, with a test"
            in_module = f"the limit itself at /inputs/{n}/constraints in contract.json"
            yield Gap(what, draft.function.where, write, in_module=in_module)


def _claimed(docstring: DocstringText) -> list[ErrorSurface]:
    """The errors that a docstring names."""
    found: list[ErrorSurface] = []
    for error in docstring.raises:
        when = (
            error.text if error.text and not text_problem(error.text) else "the docstring does not say when"
        )
        if error.name.isidentifier():
            found.append(ErrorSurface(name=error.name, when=when, surface=SurfaceKind.EXCEPTION))
    return found


def _raised(files: ParsedFiles, contract: MicroModuleContract) -> list[ErrorSurface]:
    """The errors that a `raise` lets out and that the docstring does not name, one for each class."""
    conditions: dict[str, list[str]] = {}
    for error in undeclared_errors(read_program(files), contract):
        conditions.setdefault(error.name, []).append(_condition(files, error, contract.name))
    return [
        ErrorSurface(name=name, when=_together(dict.fromkeys(said)), surface=SurfaceKind.EXCEPTION)
        for name, said in conditions.items()
    ]


def _together(conditions: Iterable[str]) -> str:
    said = list(conditions)
    more = f"; and in {len(said) - _MOST_CONDITIONS} other cases" if len(said) > _MOST_CONDITIONS else ""
    return "; or ".join(said[:_MOST_CONDITIONS]) + more


def _condition(files: ParsedFiles, error: UndeclaredError, entry: str) -> str:
    """When a `raise` is reached, as the source says it."""
    names = files.names(error.path)
    node = next(
        one
        for one in ast.walk(files.tree(error.path))
        if isinstance(one, ast.Raise) and one.lineno == error.line
    )
    inner: ast.AST = node
    for above in names.above(node):
        if isinstance(above, ast.If):
            test = ast.unparse(above.test)
            text = f"`not ({test})`" if any(part is inner for part in above.orelse) else f"`{test}`"
            return _clean(text, _function_of(names.above(node)), entry)
        if isinstance(above, ast.ExceptHandler) and above.type is not None:
            text = f"{ast.unparse(above.type)} is met while it is worked out"
            return _clean(text, _function_of(names.above(node)), entry)
        if isinstance(above, Definition):
            break
        inner = above
    return _clean("the end of the function is reached", _function_of(names.above(node)), entry)


def _function_of(above: Iterable[ast.AST]) -> str:
    return next((one.name for one in above if isinstance(one, Definition)), "")


def _clean(text: str, function: str, entry: str) -> str:
    line = one_line(text)
    line = line if len(line) <= _MOST_TEXT else f"{line[:_MOST_TEXT].rstrip('`')}...`"
    line = line if function in {"", entry} else f"{line} in {function}"
    return line if not text_problem(line) else f"a check in {function or entry} fails"


def _with_errors(contract: MicroModuleContract, errors: Sequence[ErrorSurface]) -> MicroModuleContract:
    return contract.model_copy(update={"error_surfaces": list(errors)})


def _with_header(function: SlicedFile, header: str) -> SlicedFile:
    """A function's text with another first line, without its decorators."""
    node = parse_module(function.text).body[0]
    assert isinstance(node, Definition)  # it was cut out as one
    lines = function.text.split(b"\n")
    first = node.body[0]
    row = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))])
    start = max(row - 1, 0)
    # comments between the header and the body go with the body
    while start > node.lineno and lines[start - 1].lstrip().startswith(b"#"):
        start -= 1
    if row == node.lineno or lines[row - 1][: first.col_offset].strip():
        lines[row - 1] = b"    " + lines[row - 1][first.col_offset :]
        start = row - 1
    head = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
    numbers = (*function.lines[:head], function.lines[node.lineno - 1], *function.lines[start:])
    return SlicedFile(b"\n".join([*lines[:head], header.encode(), *lines[start:]]), numbers)


def _shifted(before: bytes, after: bytes, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Where the lines of a file come from after its docstring was written."""
    old, new = before.split(b"\n"), after.split(b"\n")
    if old == new:
        return lines
    head = next((n for n, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), 0)
    tail = next(
        (n for n, pair in enumerate(zip(old[::-1], new[::-1], strict=False)) if pair[0] != pair[1]), 0
    )
    tail = min(tail, len(old) - head, len(new) - head)
    padded = [*lines, *[Line("", 0)] * max(0, len(old) - len(lines))]
    middle = [padded[min(head, len(padded) - 1)]] * (len(new) - head - tail)
    return (*padded[:head], *middle, *padded[len(padded) - tail :])


def _origins(signature: Signature, contract: MicroModuleContract, claimed: int) -> dict[str, Origin]:
    """Whose word each part of a contract is."""
    found = {"": Origin.DOCSTRING}
    found |= {f"/inputs/{n}": one.origin for n, one in enumerate(signature.parameters)}
    found |= {f"/outputs/{n}": signature.returns_origin for n in range(len(contract.outputs))}
    found |= {
        f"/error_surfaces/{n}": Origin.DOCSTRING if n < claimed else Origin.SOURCE
        for n in range(len(contract.error_surfaces))
    }
    return found
