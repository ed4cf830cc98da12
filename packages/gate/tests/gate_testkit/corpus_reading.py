"""Reads the corpus: one text file per sound module, and a table of the faults that are put into them.

A file has four parts. The contract comes first: the purpose, then one line each for inputs, outputs, errors,
effects and modes, with constraints after ` -- `. Files of the implementation follow, then the tests, each with what it
shows beside its name (`happy`, `in0.1` for the second constraint of the first input, `out`, `err`, `eff`), and
examples, `code => outcome`, with `;;` between statements. Docstrings are spliced in by the gate. A module of `wider` ends
with a fault of its own: the codes, the text that is replaced, `>>>`, and the text instead of it.
"""

import json
import re
from typing import Any, NamedTuple

from ship_gate.contract.contract import Effect, ErrorSurface, Input, MicroModuleContract, Modes, Output
from ship_gate.verdict import Candidate
from testkit.paths import GATE_CORPUS

__all__ = ["Fault", "faults", "faulty", "sound", "sound_names", "wider", "wider_fault", "wider_names"]

_PART = re.compile(r"^--- (.+)\n", re.MULTILINE)
_SHOWN = re.compile(r"^(?:async )?def (test_\w+)\(.*\):  # (.+)$", re.MULTILINE)
_POINTERS = {
    "in": "/inputs/{}/constraints/{}",
    "out": "/outputs/{}/invariants/{}",
    "err": "/error_surfaces/{}",
}
_POINTERS["fld"] = "/error_surfaces/{}/fields/{}"
_POINTERS["eff"] = "/effects/{}"
_KINDS = {"raises": "exception", "code": "code"}


class Fault(NamedTuple):
    """One fault: where, what is replaced by what, its class, and the codes of which the gate must give one."""

    title: str
    module: str
    part: str
    codes: tuple[str, ...]
    kind: str
    changes: tuple[tuple[str, str], ...]


def sound_names():
    """The names of the sound modules."""
    return sorted(path.stem for path in (GATE_CORPUS / "sound").glob("*.txt"))


def sound(name: Any):
    """A sound module as a candidate."""
    return _candidate(name, _parts((GATE_CORPUS / "sound" / f"{name}.txt").read_text(encoding="utf-8")))


def faulty(fault: Any):
    """A sound module with a fault in it."""
    parts = _parts((GATE_CORPUS / "sound" / f"{fault.module}.txt").read_text(encoding="utf-8"))
    part = "implementation/__init__.py" if fault.part == "source" else fault.part
    if part == "claims":
        parts["claims"] = json.dumps(_claims(parts["tests"]))
    for old, new in fault.changes:
        assert old in parts[part], (fault.title, old)
        parts[part] = parts[part].replace(old, new, 1)
    return _candidate(fault.module, parts)


def wider_names():
    """The names of the modules whose contracts say what everyday Python says."""
    return sorted(path.stem for path in (GATE_CORPUS / "wider").glob("*.txt"))


def wider(name: Any):
    """One of them as a candidate."""
    return _candidate(name, _wider_parts(name))


def wider_fault(name: Any):
    """The same with the fault that its last part puts in, and the codes of which the gate must give one."""
    parts = _wider_parts(name)
    head, _, change = parts["fault"].rstrip("\n").partition("\n")
    old, _, new = change.partition("\n>>>")
    source = parts["implementation/__init__.py"]
    assert old in source, (name, old)
    parts["implementation/__init__.py"] = source.replace(old, new.removeprefix("\n"), 1)
    return _candidate(name, parts), head.split()


def _wider_parts(name: Any):
    return _parts((GATE_CORPUS / "wider" / f"{name}.txt").read_text(encoding="utf-8"))


def faults():
    """Every fault of the table, in its order."""
    text = (GATE_CORPUS / "faults.txt").read_text(encoding="utf-8")
    return [_fault(block) for block in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]]


def _fault(block: Any):
    head, _, rest = block.partition("\n")
    title, module, part, codes, kind = (field.strip() for field in head.split("|"))
    changes = [change.partition("\n>>>\n")[::2] for change in rest.rstrip("\n").split("\n~~\n")]
    # an empty replacement leaves nothing behind the mark
    changes = [(old.removesuffix("\n>>>"), new) for old, new in changes]
    return Fault(title, module, part, tuple(codes.split()), kind, tuple(changes))


def _claims(tests: Any):
    return {test: [_pointer(word) for word in shown.split()] for test, shown in _SHOWN.findall(tests)}


def _parts(text: Any):
    first, *others = _PART.split(text)
    parts = dict(zip(others[::2], others[1::2], strict=True))
    return {"contract": first, **parts}


def _candidate(name: Any, parts: Any):
    contract = _contract(name, parts["contract"])
    tests = parts["tests"]
    exported = _exports(name, parts["implementation/__init__.py"])
    imports = f"from modules.{name} import {', '.join(exported)}\n"
    header = ("import pytest\n" if "pytest." in tests else "") + ("" if "from modules" in tests else imports)
    files = {path: text for path, text in parts.items() if path.startswith("implementation/")}
    files["tests/obligations.json"] = parts.get("claims") or json.dumps(_claims(tests))
    if tests.strip():  # there are none of definitions
        files[f"tests/test_{name}.py"] = header + tests
    files["examples.md"] = _examples(imports, parts["examples"])
    return Candidate(contract, {path: text.encode("utf-8") for path, text in files.items()})


def _exports(name: Any, source: Any):
    found = re.search(r"^__all__ = \[(.*)\]", source, re.MULTILINE)
    return re.findall(r"\"(\w+)\"", found[1]) if found else [name]


def _pointer(word: Any):
    if word == "happy":
        return ""
    found: Any = re.fullmatch(r"([a-z]+)(\d+)(\.(\d+))?", word)
    kind, first, _, second = found.groups()
    return _POINTERS[kind].format(first, second)


def _examples(imports: Any, text: Any):
    blocks: list[str] = []
    lines: list[str] = [line for line in text.split("\n") if line]
    for number, line in enumerate(lines, 1):
        code, _, outcome = line.partition(" => ")
        called = "\n".join(statement.strip() for statement in code.split(";;"))
        blocks.append(
            f"## Example {number}\n\nThis is what comes out.\n\n"
            f"```python\n{imports}{called}\n```\n\n```text\n{outcome}\n```\n"
        )
    return "\n".join(blocks)


def _contract(name: Any, text: Any):
    lines = [line for line in text.split("\n") if line.strip()]
    fields: dict[str, Any] = {"inputs": [], "outputs": [], "error_surfaces": [], "effects": []}
    modes = Modes.model_validate({"sync": True, "async": False})
    for line in lines[1:]:
        kind, _, rest = line.partition(" ")
        first, *texts = rest.split(" -- ")
        subject, _, meaning = first.partition(": ")
        match kind:
            case "in":
                fields["inputs"].append(Input(name=subject, type=meaning, constraints=texts))
            case "out":
                fields["outputs"].append(Output(name=subject, type=meaning, invariants=texts))
            case "raises" | "code":
                stated: Any = [dict(zip(("name", "type"), text.split(": "), strict=True)) for text in texts]
                fields["error_surfaces"].append(
                    ErrorSurface(name=subject, when=meaning, surface=_KINDS[kind], fields=stated)  # pyright: ignore
                )
            case "effect":
                effect, _, target = subject.partition(" ")
                fields["effects"].append(Effect(type=effect, target=target, description=meaning))
            case "modes":
                modes = Modes.model_validate({word: word in rest.split() for word in ("sync", "async")})
            case "notes":
                modes = modes.model_copy(update={"notes": rest})
            case _:
                raise ValueError(line)
    return MicroModuleContract(module_id="MM-00000001", name=name, purpose=lines[0], modes=modes, **fields)
