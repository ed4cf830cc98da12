"""Amendments: allowed targets, checks that they were applied, those of contracts that code applies, and the exact changes
that a Challenger proposes and an Arbiter accepts by number (design: amendments).

Code applies an amendment whose detail is the new text itself. If the detail reads as an instruction, or the target is not
a text of a contract, the planner applies it.
"""

import ast
import copy
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from pydantic import ValidationError

from ship_gate.contract.contract import MISSING, MicroModuleContract
from ship_gate.contract.error_classes import own_exceptions
from ship_gate.contract.examples import chapters
from ship_gate.contract.types import class_names
from ship_gate.syntax_tree import parse_module
from specwright.domain.answers import (
    MIN_WORDS,
    Amendment,
    ArbiterAnswer,
    Decision,
    Failure,
    PlanAnswer,
    PlannedModule,
    is_vague,
)
from specwright.domain.debate.records import Challenge
from specwright.domain.modules.evidence import WRITABLE

_INTERNAL = re.compile(r"\.__\w+__")
"""Attributes that no test may read, so that no ruling may ask for them."""


def target_problems(amendments: Sequence[Amendment], *, contracts: bool) -> list[str]:
    """Report amendments that are too vague or have the wrong kind of target."""
    problems: list[str] = []
    for i, amendment in enumerate(amendments):
        if is_vague(amendment.detail):
            problems.append(f"amendments.{i}.detail: say exactly what changes, in {MIN_WORDS} words or more")
        if contracts != amendment.target.startswith("contract:"):
            wanted = "contract:<name>#<json pointer>" if contracts else "function:, test:, example: or file:"
            problems.append(f"amendments.{i}.target: here a target is {wanted}")
        if amendment.target.startswith("test:") and (hidden := _INTERNAL.search(amendment.detail)):
            problems.append(
                f"amendments.{i}.detail: the gate refuses a test that reads {hidden[0]!r}; ask for what a call shows"
            )
    return problems


def unreachable_targets(
    amendments: Sequence[Amendment], listed: Mapping[str, bytes], contracts: Mapping[str, MicroModuleContract]
) -> list[str]:
    """Report amendments that could never be applied, judged by what an Arbiter sees: tests, examples and contracts
    (design: amendments).

    Args:
        amendments: The amendments.
        listed: The module's files; empty in a contract debate.
        contracts: The contracts of the module or plan, by name.
    """
    elements, problems = _elements(listed), list[str]()
    for i, amendment in enumerate(amendments):
        kind, _, name = amendment.target.partition(":")
        adds, is_there = amendment.action == "ADD", _key(amendment) in elements
        wrong = ""
        if kind == "contract":
            wrong = _pointer_problem(amendment, contracts)
        elif kind == "file" and not _path(name).startswith(WRITABLE):
            wrong = f"{name} is no file that a Proposer writes"
        elif kind == "test" and amendment.action == "REMOVE" and "[" in name:
            wrong = "a parameter is not a test; MODIFY the test, named without brackets"
        elif kind == "function":
            wrong = _function_problem(name, contracts)
        if kind != "contract" and not wrong and adds == is_there:
            there_is = f"there is no {kind} {name!r}; name one, or ADD it"
            wrong = f"{kind} {name!r} is there already; MODIFY it" if adds else there_is
        problems += [f"amendments.{i}.target: {wrong}"] if wrong else []
    return problems


def _function_problem(name: str, contracts: Mapping[str, MicroModuleContract]) -> str:
    """Report a function or class that the contract does not name; judges see no others."""
    name = _bare_name("function", name)
    for contract in contracts.values():
        types = [part.type for part in (*contract.inputs, *contract.outputs)]
        stated = {n for text in types for n in class_names(text)}
        if name in {contract.name, f"{contract.name}_async", *stated, *own_exceptions(contract)}:
            return ""
    known = ", ".join(contracts)
    return f"{name} is no function or class of the contract; say what {known} does for its callers"


_FIXED = ("module_id", "module_version", "name", "compatibility")
"""The fields of a contract that identify it or that the factory sets."""


def _pointer_problem(amendment: Amendment, contracts: Mapping[str, MicroModuleContract]) -> str:
    name, pointer = _place(amendment)
    if name not in contracts:
        return f"there is no contract {name}; another module needs its own debate, so REJECT"
    if _field(pointer) in _FIXED:
        return f"{pointer} is not the planner's to change"
    owner = pointer.rpartition("/")[0] if amendment.action == "ADD" else pointer.removesuffix("/-")
    return "" if _at(contracts, name, owner) is not MISSING else f"the contract of {name} has no {owner}"


def _place(amendment: Amendment) -> tuple[str, str]:
    """Return the contract's name and the pointer in an amendment's target."""
    name, _, pointer = amendment.target.removeprefix("contract:").partition("#")
    return name, pointer


def _field(pointer: str) -> str:
    return pointer.split("/")[1] if pointer else ""


def lost_problems(
    amendments: Sequence[Amendment], before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> list[str]:
    """Report tests and examples that were removed without an amendment; the approval rests on them (design: amendments).

    `before` holds the module's files as approved.
    """
    targets, left = {*map(_key, amendments)}, _elements(after)

    def is_asked_for(kind: str, name: str, files: Sequence[tuple[str, str]]) -> bool:
        return (kind, name) in targets or targets.issuperset(files)

    return [
        f"{kind}:{name} is gone, and no amendment asks for that; put it back as it was"
        for (kind, name), element in _elements(before).items()
        if kind == "example" or (kind == "test" and name.startswith("test"))
        if (kind, name) not in left and not is_asked_for(kind, name, element.files)
    ]


def applied_problems(
    amendments: Sequence[Amendment], before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> list[str]:
    """Report amendments that the files do not show: MODIFY must change, ADD must add, REMOVE must remove the target
    (design: amendments).

    Python is compared without comments and without the docstrings of functions and classes.

    `before` holds the module's files as approved.
    """
    was, now = _elements(before), _elements(after)
    shown = [
        tuple(each[key].text() if key in each else MISSING for each in (was, now))
        for key in map(_key, amendments)
    ]
    return _unapplied(amendments, shown, "; comments and the docstrings of functions do not count")


def _unapplied(
    amendments: Sequence[Amendment], shown: Sequence[tuple[Any, ...]], uncounted: str = ""
) -> list[str]:
    """Report amendments whose targets did not change as asked.

    Args:
        amendments: The amendments.
        shown: The target of each, before and after; `MISSING` if it does not exist.
        uncounted: An addition to the message about changes that do not count.
    """
    problems: list[str] = []
    for i, (amendment, (was, now)) in enumerate(zip(amendments, shown, strict=True)):
        match amendment.action:
            case "ADD" if now is MISSING:
                wrong = "added and is not there"
            case "REMOVE":
                wrong = "" if now is MISSING else "removed and is still there"
            case "MODIFY" if MISSING in (was, now):
                wrong = "changed and does not exist"
            case action:
                done = "added" if action == "ADD" else "changed"
                wrong = f"{done} and is unchanged{uncounted}" if was == now else ""
        problems += [f"amendment {i}: {amendment.target} should have been {wrong}"] if wrong else []
    return problems


def contract_problems(
    amendments: Sequence[Amendment],
    before: Mapping[str, MicroModuleContract],
    after: Mapping[str, MicroModuleContract],
) -> list[str]:
    """Report amendments that the contracts of a plan do not show. A pointer that ends in `/-` is the end of a list
    (RFC 6902).

    An amended list must change, and its length must change by the number of entries added and removed. Positions of
    entries do not count, because they shift. `before` holds the contracts as approved, by name.
    """
    grows = Counter[tuple[str, str]]()
    for amendment in amendments:
        grows[_list_of(amendment)] += {"ADD": 1, "REMOVE": -1}.get(amendment.action, 0)
    shown: list[tuple[Any, Any]] = []
    for amendment in amendments:
        name, pointer = _place(amendment)
        was, now = (_at(contracts, name, pointer.removesuffix("/-")) for contracts in (before, after))
        if amendment.action != "MODIFY" and (place := _list_of(amendment))[1]:
            lists = [_entries(_at(contracts, *place)) for contracts in (before, after)]
            applied = lists[0] != lists[1] and len(lists[1]) - len(lists[0]) == grows[place]
            now = lists if applied == (amendment.action == "ADD") else MISSING
        elif amendment.action == "REMOVE" and was != now:
            now = MISSING
        shown.append((was, now))
    return _unapplied(amendments, shown)


def _list_of(amendment: Amendment) -> tuple[str, str]:
    """Return the contract and the list of the entry that an amendment names; an empty list pointer if it names none."""
    name, pointer = _place(amendment)
    within, _, entry = pointer.rpartition("/")
    return name, within if entry == "-" or entry.isdecimal() else ""


def _entries(value: Any) -> list[Any]:
    """Return the entries of a dimension; empty if it is a sentence that says why there are none."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def strayed_problems(amendments: Sequence[Amendment], before: PlanAnswer, after: PlanAnswer) -> list[str]:
    """Report changes to a plan that no amendment asks for, because nobody debated them (design: amendments).

    `before` is the plan as approved.
    """
    targets: dict[str, set[str]] = {}
    for name, pointer in map(_place, amendments):
        targets.setdefault(name, set()).add(_PLANNED_AS.get(_field(pointer), _field(pointer)))
    was, now = ({module.name: _planned(module) for module in plan.modules} for plan in (before, after))
    whole = {name for name, fields in targets.items() if "" in fields}
    problems = [f"modules: {name} is gone" for name in was.keys() - now.keys() - whole]
    problems += [f"modules: {name} is new" for name in now.keys() - was.keys()]
    problems += [
        f"modules.{name}.{field}: it is another one"
        for name in sorted(was.keys() & now.keys() - whole)
        for field, value in was[name].items()
        if now[name][field] != value and field not in targets.get(name, ())
    ]
    if before.task_facing != after.task_facing:
        problems.append(f"task_facing: it was {before.task_facing!r}")
    return [
        f"{problem}, and no amendment asks for that; put it back as it was" for problem in sorted(problems)
    ]


_PLANNED_AS = {"dependencies": "depends_on"}


def _planned(module: PlannedModule) -> dict[str, Any]:
    """Return the binding part of a planned module: its contract and its reuse."""
    return {**module.to_json(), "reuse": module.reuse.reuse_ref}


def _at(contracts: Mapping[str, MicroModuleContract], name: str, pointer: str) -> Any:
    return contracts[name].at(pointer) if name in contracts else MISSING


class _Element(NamedTuple):
    """A possible target of an amendment.

    Args:
        parts: The functions of one name, or a text with its path.
        files: The files that contain it.
    """

    parts: Sequence[ast.AST | tuple[str, bytes]]
    files: Sequence[tuple[str, str]] = ()

    def text(self) -> str:
        """The text, or for Python the code without comments."""
        return "\n".join(_file_text(*one) if isinstance(one, tuple) else _code(one) for one in self.parts)


def _elements(files: Mapping[str, bytes]) -> dict[tuple[str, str], _Element]:
    """Return the files, tests, functions and examples of a module; functions with the same name are one element."""
    found: dict[tuple[str, str], _Element] = {}
    for path, data in sorted(files.items()):
        found["file", path] = _Element([(path, data)])
        kind = {"tests": "test", "implementation": "function"}.get(path.partition("/")[0], "")
        for node in _functions(data) if kind and path.endswith(".py") else ():
            before = found.get((kind, node.name), _Element([]))
            found[kind, node.name] = _Element([*before.parts, node], [*before.files, ("file", path)])
    for heading, _, body in chapters(files.get("examples.md", b"").decode(errors="replace")):
        found["example", heading] = _Element([("", "\n".join(body).encode())], [("file", "examples.md")])
    return found


def _key(amendment: Amendment) -> tuple[str, str]:
    """Return the key of an amendment's target in `_elements`."""
    kind, _, name = amendment.target.partition(":")
    return kind, _bare_name(kind, name)


def _file_text(path: str, data: bytes) -> str:
    """Return a file's text, or for Python its code without comments."""
    try:
        return _code(parse_module(data)) if path.endswith(".py") else data.decode(errors="replace")
    except (SyntaxError, ValueError):
        return data.decode(errors="replace")


def _code(node: ast.AST) -> str:
    """Return source without comments, layout and docstrings of functions and classes."""
    return ast.unparse(_WithoutDocstrings().visit(copy.deepcopy(node)))


class _WithoutDocstrings(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, _Named) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return super().generic_visit(node)


def _bare_name(kind: str, name: str) -> str:
    """Strip a target's name of decoration that models add: `/tests/x.py`, `test_x.py::test_y[2]`, `double()`, `## Two`."""
    name = name.strip().strip("`")
    if kind == "file":
        return _path(name)
    if kind == "example":
        return name.lstrip("#").strip()
    return re.split(r"[\[(]", name, maxsplit=1)[0].rpartition("::")[2].rpartition(".")[2].strip()


def _path(name: str) -> str:
    return name.strip().strip("`").removeprefix("./").lstrip("/")


_Named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _functions(source: bytes) -> list[_Named]:
    """Return the functions and classes of a file, nested ones included."""
    try:
        tree = parse_module(source)
    except (SyntaxError, ValueError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, _Named)]


_LIST = r"/(error_cases|inputs/\d+/constraints|outputs/\d+/invariants)"
_BY_CODE = {
    "MODIFY": re.compile(
        rf"/purpose|/modes/notes|{_LIST}/\d+|/error_surfaces/\d+(/when)?|/effects/\d+/(target|description)"
    ),
    "REMOVE": re.compile(rf"({_LIST}|/error_surfaces|/effects)/\d+"),
    "ADD": re.compile(rf"{_LIST}/-"),
}
"""The pointers that code can change, by action, in the order of application: positions in lists shift last."""

_INSTRUCTION = re.compile(
    r"(?i)^(add|append|change|clarify|cut|declare|define|delete|describe|drop|extend|fix|insert|let|make|mention|modify|move"
    r"|name|put|reduce|remove|rename|reorder|replace|restate|reword|rewrite|say|set|shorten|specify|split|state|strike"
    r"|swap|turn|update|use|write)\b"
    r"|\b(instead of|should (be|say|read)|must (be changed|say|read)|to read|the (text|statement|constraint|sentence))\b"
)


def applied_by_code(
    amendments: Sequence[Amendment], answer: PlanAnswer, contracts: Mapping[str, MicroModuleContract]
) -> PlanAnswer | None:
    """Return a plan with amendments applied; None if code cannot apply all of them.

    Args:
        amendments: Amendments whose targets exist.
        answer: The plan as approved.
        contracts: The contracts as judged, in normal form, to which the pointers refer.
    """
    by_name: dict[str, list[tuple[str, str, str]]] = {}
    for amendment in amendments:
        name, pointer = _place(amendment)
        if name not in contracts or not _is_simple(amendment, pointer):
            return None
        change = _of_surface(contracts[name], amendment, pointer)
        if change[0] != "ADD" and change[1] in [known for _, known, _ in by_name.get(name, ())]:
            return None  # two amendments of one statement
        by_name.setdefault(name, []).append(change)
    modules: list[Any] = []
    for module in answer.modules:
        changes = by_name.get(module.name, [])
        fields = _changed(contracts[module.name], changes) if changes else {}
        if not all(fields.values()):
            return None  # only the planner can give the reason for an empty dimension
        modules.append({**module.to_json(), **fields})
    try:
        return PlanAnswer.model_validate({**answer.to_json(), "modules": modules})
    except ValidationError:
        return None


def _of_surface(contract: MicroModuleContract, amendment: Amendment, pointer: str) -> tuple[str, str, str]:
    """Return action, pointer and text. For an error surface, the target becomes its `when`, and the error's name before
    the text is dropped."""
    action, surface = amendment.action, contract.at(pointer)
    if action != "MODIFY" or not isinstance(surface, dict):
        return action, pointer, _text(amendment.detail)
    return action, f"{pointer}/when", _text(_text(amendment.detail).removeprefix(f"{surface['name']}: "))


def _is_simple(amendment: Amendment, pointer: str) -> bool:
    instructs = amendment.action != "REMOVE" and _INSTRUCTION.search(amendment.detail)
    return bool(_BY_CODE[amendment.action].fullmatch(pointer)) and not instructs


def _changed(contract: MicroModuleContract, changes: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    """Return the changed fields of a contract."""
    fields, shortened = contract.to_json(), list[list[Any]]()
    for action, pointer, text in sorted(changes, key=lambda change: [*_BY_CODE].index(change[0])):
        *path, last = pointer.split("/")[1:]
        owner: Any = fields
        for token in path:
            owner = cast(Any, owner[int(token)] if isinstance(owner, list) else owner[token])
        if action == "ADD":
            owner.insert(_end(owner), text)
            continue
        owner[int(last) if isinstance(owner, list) else last] = text if action == "MODIFY" else None
        shortened += [owner] if action == "REMOVE" else []
    for statements in shortened:
        statements[:] = [one for one in statements if one is not None]
    return {field: fields[field] for field in {pointer.split("/")[1] for _, pointer, _ in changes}}


def _end(texts: list[str]) -> int:
    """Return the position for a new statement: the end, but before a default."""
    return len(texts) - bool(texts and (texts[-1] or "").startswith("defaults to "))


def _text(detail: str) -> str:
    """Strip the quotes around a whole detail."""
    for quote in "\"'`":
        if len(detail) > 1 and detail[0] == detail[-1] == quote and quote not in detail[1:-1]:
            return detail[1:-1]
    return detail


class OfferedChange(NamedTuple):
    """A change that an Arbiter may accept.

    Args:
        amendment: The change.
        about: The failure that it corrects.
    """

    amendment: Amendment
    about: Failure


def changes_of(failures: Sequence[Failure]) -> list[Amendment]:
    """Return the distinct exact changes of failures."""
    found: list[Amendment] = []
    for change in (change for failure in failures for change in failure.exact_changes):
        if change not in found:
            found.append(change)
    return found


def offered_changes(
    failures: Sequence[Failure], contracts: Mapping[str, MicroModuleContract]
) -> list[OfferedChange]:
    """Return the changes that failures propose, without those that do not fit the contracts.

    Args:
        failures: The failures of the last challenge.
        contracts: The judged contracts, by name.
    """
    offers: dict[str, OfferedChange] = {}
    for failure in failures:
        for change in failure.exact_changes:
            if not target_problems([change], contracts=True) + unreachable_targets([change], {}, contracts):
                offers.setdefault(str(change.to_json()), OfferedChange(change, failure))
    return list(offers.values())


def accepted_problems(answer: ArbiterAnswer, offers: Sequence[OfferedChange]) -> Iterator[str]:
    """Report numbers of accepted changes that were not offered."""
    for number in answer.accepted_changes:
        if number > len(offers):
            known = f"1 to {len(offers)}" if offers else "there are none"
            yield f"accepted_changes: no exact change has the number {number}; {known}"


def with_accepted(answer: ArbiterAnswer, offers: Sequence[OfferedChange]) -> ArbiterAnswer:
    """Return a ruling with its accepted changes among the amendments; unknown numbers are ignored."""
    accepted = [offers[n - 1].amendment for n in dict.fromkeys(answer.accepted_changes) if n <= len(offers)]
    amendments = [*accepted, *(one for one in answer.amendments if one not in accepted)]
    return answer.model_copy(update={"amendments": amendments})


def uncorrected(answer: ArbiterAnswer, challenge: Challenge) -> list[Failure]:
    """Return the failures whose exact changes are not all among a ruling's amendments (see `with_accepted`)."""
    targets = {one.target for one in answer.amendments}
    return [one for one in challenge.failures if any(c.target not in targets for c in one.exact_changes)]


def may_amend(answer: ArbiterAnswer, challenge: Challenge) -> bool:
    """Whether a ruling may correct the failures of a FAIL itself instead of asking for a revision."""
    corrects = challenge.mendable and answer.decision is Decision.APPROVE_WITH_AMENDMENTS
    return corrects and not uncorrected(answer, challenge)
