"""The normal form of a contract: what has one obvious repair is repaired (design: contracts).

Types, defaults and class statements are written as code is; exceptions come before other surfaces; what is said of an error
class stands in its first surface; a class is stated in
the slot that names it first, after other statements and before a default; a text has single spaces, and writes more within
quotes as `\\x20`. What can be read in
two ways is left for `rules.problems`.
"""

import re
from collections.abc import Sequence
from typing import Any

from ship_gate.contract.class_statement import looks_like_statement, parse_statement, placed
from ship_gate.contract.contract import MicroModuleContract, SurfaceKind
from ship_gate.contract.error_classes import stated_once
from ship_gate.contract.rules import ANY_NUMBER, DEFAULT, KEYWORD_ONLY, OUT_OF_SCOPE
from ship_gate.contract.types import normal_or_same, normal_type

_QUOTED = re.compile(r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|`[^`]*`")


def normalise(contract: MicroModuleContract) -> MicroModuleContract:
    """The same contract in normal form."""
    stated = {"inputs": "constraints", "outputs": "invariants"}
    types = [slot.type for slot in (*contract.inputs, *contract.outputs)]
    texts = [[_normal(text) for text in p.constraints] for p in contract.inputs]
    texts += [[_normal(text) for text in output.invariants] for output in contract.outputs]
    texts = [_passing_in_place(slot) for slot in _classes_in_place(types, texts)]
    slots = {
        dimension: [
            slot.model_copy(update={"type": normal_type(slot.type), field: texts.pop(0)})
            for slot in getattr(contract, dimension)
        ]
        for dimension, field in stated.items()
    }
    errors = [
        error.model_copy(
            update={
                "when": single_spaced(error.when),
                "shared": single_spaced(error.shared),
                "fields": [f.model_copy(update={"type": normal_type(f.type)}) for f in error.fields],
            }
        )
        for error in contract.error_surfaces
    ]
    effects = [
        effect.model_copy(
            update={"target": single_spaced(effect.target), "description": single_spaced(effect.description)}
        )
        for effect in contract.effects
    ]
    rest: dict[str, Any] = {
        "purpose": single_spaced(contract.purpose),
        "error_surfaces": stated_once(
            sorted(errors, key=lambda error: error.surface is not SurfaceKind.EXCEPTION)
        ),
        "effects": effects,
        "modes": contract.modes.model_copy(update={"notes": single_spaced(contract.modes.notes)}),
        "error_cases": [single_spaced(case) for case in contract.error_cases],
    }
    return contract.model_copy(update={**slots, **rest})


def single_spaced(text: str) -> str:
    """A text without repeated spaces and spaces at its ends; within quotes they may be meant, and are written as `\\x20`."""
    meant = _QUOTED.sub(lambda quoted: re.sub("(?<= ) ", r"\\x20", quoted[0]), text)
    return re.sub(" {2,}", " ", meant).strip(" ")


def _normal(text: str) -> str:
    """A default or a class statement as code is written; any other text with single spaces."""
    if text.startswith(DEFAULT):
        return DEFAULT + normal_or_same(text.removeprefix(DEFAULT))
    if statement := parse_statement(text):
        fields, properties = (
            tuple(f._replace(type=normal_type(f.type)) if f.type else f for f in of)
            for of in (statement.fields, statement.properties)
        )
        return statement._replace(fields=fields, properties=properties).render()
    if text.lower().startswith(OUT_OF_SCOPE):
        text = OUT_OF_SCOPE + text[len(OUT_OF_SCOPE) :]
    return single_spaced(text)


def _passing_in_place(texts: list[str]) -> list[str]:
    """How a parameter is passed, after all but a default."""
    found = [text for text in texts if text in (KEYWORD_ONLY, ANY_NUMBER)]
    if len(found) != 1:
        return texts
    others = [text for text in texts if text not in found]
    default = others[-1:] if others and others[-1].startswith(DEFAULT) else []
    return [*others[: len(others) - len(default)], *found, *default]


def _classes_in_place(types: Sequence[str], texts: Sequence[list[str]]) -> list[list[str]]:
    """The statements of each slot with the classes where they belong; as they are where one cannot be read, is stated
    in two ways, or is named by no type."""
    said = [text for slot in texts for text in slot if looks_like_statement(text)]
    statements = [parse_statement(text) for text in said]
    known = {statement.name: statement for statement in statements if statement}
    due = placed(types, known)
    if None in statements or len({*said}) != len(known) or sum(map(len, due)) != len(known):
        return list(texts)
    ordered = list[list[str]]()
    for slot, classes in zip(texts, due, strict=True):
        others = [text for text in slot if not looks_like_statement(text)]
        default = others[-1:] if others and others[-1].startswith(DEFAULT) else []
        others = others[: len(others) - len(default)]
        ordered.append([*others, *(statement.render() for statement in classes), *default])
    return ordered
