"""Amendments: what their targets may be, and whether they were applied, seen from the files (F§9.6, D14)."""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from specwright.domain.answers import Amendment
from specwright.domain.contract import MicroModuleContract
from specwright.domain.json_pointer import resolve

__all__ = ["applied_problems", "contract_problems", "target_problems"]

_MIN_WORDS = 5
_VAGUE = {
    "improve", "better", "clean", "up", "cleanup", "error", "handling", "the", "code", "tests", "test", "make",
    "it", "more", "robust", "fix", "issues", "issue", "and", "quality", "a", "bit", "add", "some", "docs",
}  # fmt: skip


def target_problems(amendments: Sequence[Amendment], *, contracts: bool) -> list[str]:
    """Why amendments are too vague, or aim at the wrong kind of thing."""
    problems: list[str] = []
    for i, amendment in enumerate(amendments):
        words = re.findall(r"[\w']+", amendment.detail.lower())
        if len(words) < _MIN_WORDS or set(words) <= _VAGUE:
            problems.append(f"amendments.{i}.detail: say exactly what changes, in {_MIN_WORDS} words or more")
        if contracts != amendment.target.startswith("contract:"):
            wanted = "contract:<name>#<json pointer>" if contracts else "function:, test:, example: or file:"
            problems.append(f"amendments.{i}.target: here a target is {wanted}")
    return problems


def applied_problems(
    amendments: Sequence[Amendment], before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> list[str]:
    """What the files contradict: MODIFY changed, ADD present, REMOVE absent (F§9.6).

    Args:
        amendments: Of an implementation.
        before: The module's files as they were approved.
        after: As they are now.
    """
    problems: list[str] = []
    for i, amendment in enumerate(amendments):
        kind, _, name = amendment.target.partition(":")
        old, new = _find(kind, name.strip(), before), _find(kind, name.strip(), after)
        if amendment.action == "ADD" and new is None:
            problems.append(f"amendment {i}: {amendment.target} should have been added and is not there")
        elif amendment.action == "REMOVE" and new is not None:
            problems.append(f"amendment {i}: {amendment.target} should have been removed and is still there")
        elif amendment.action == "MODIFY" and (old is None or new is None or old == new):
            why = "does not exist" if old is None or new is None else "is unchanged"
            problems.append(f"amendment {i}: {amendment.target} should have been changed and {why}")
    return problems


def contract_problems(
    amendments: Sequence[Amendment],
    before: Mapping[str, MicroModuleContract],
    after: Mapping[str, MicroModuleContract],
) -> list[str]:
    """What the contracts of a plan contradict; a pointer that ends in `/-` is the end of a list (RFC 6902).

    Args:
        amendments: Of a contract debate.
        before: The contracts as they were approved, by name.
        after: As they are now.
    """
    problems: list[str] = []
    for i, amendment in enumerate(amendments):
        name, _, pointer = amendment.target.removeprefix("contract:").partition("#")
        appends = pointer.endswith("/-")
        pointer = pointer.removesuffix("/-")
        was, now = _at(before, name, pointer), _at(after, name, pointer)
        changed = was != now
        shown = {
            "ADD": now is not _NOTHING and (changed or not appends),
            "REMOVE": now is _NOTHING or changed,
            "MODIFY": now is not _NOTHING and changed,
        }[amendment.action]
        if not shown:
            problems.append(
                f"amendment {i}: {amendment.action} {amendment.target} does not show in the contract"
            )
    return problems


_NOTHING: Any = object()


def _at(contracts: Mapping[str, MicroModuleContract], name: str, pointer: str) -> Any:
    return resolve(contracts[name].to_json(), pointer, _NOTHING) if name in contracts else _NOTHING


def _find(kind: str, name: str, files: Mapping[str, bytes]) -> str | None:
    """The element's text, None if there is none."""
    if kind == "file":
        return files[name].decode(errors="replace") if name in files else None
    if kind == "example":
        return _section(files.get("examples.md", b"").decode(errors="replace"), name)
    prefix = "tests/" if kind == "test" else "implementation/"
    for path, data in sorted(files.items()):
        if path.startswith(prefix) and path.endswith(".py") and (found := _function(data, name)) is not None:
            return found
    return None


def _function(source: bytes, name: str) -> str | None:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return ast.unparse(node)
    return None


def _section(text: str, heading: str) -> str | None:
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        if title.strip() == heading:
            return body
    return None
