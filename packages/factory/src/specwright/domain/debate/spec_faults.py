"""What a Proposer says of the approved spec: an example or a property that is wrong itself (design: contract-at-fault).

Code has just run them on the draft. It confirms a fault where the call raises an error that the contract declares. What does
not fail on the draft, or fails in another way, it refuses.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

from ship_gate.findings import Finding
from specwright.domain.acceptance.records import AcceptanceExample, AcceptanceItem
from specwright.domain.answers import Failure

_RAISES = re.compile(r"an approved .*(?:fails: it|its code) raises (\w+)", re.DOTALL)

Correction: TypeAlias = tuple[dict[str, Any] | None, Failure]
"""The fields that correct an example or a property, or None to leave it out; and the same for a person to read."""


def corrections(
    items: Sequence[AcceptanceItem], findings: Sequence[Finding], declared: Collection[str]
) -> dict[str, Correction]:
    """What corrects everything approved whose call raises a declared error on a draft, by title.

    Args:
        items: That are approved.
        findings: Of the draft, on which they were run.
        declared: The errors of the contract.
    """
    found, by_heading = dict[str, Correction](), {item.heading: item for item in items}
    for one in findings:
        raised, item = _RAISES.match(one.message), by_heading.get(one.where.partition(": ")[2])
        if raised and item and raised[1] in declared:
            changes = _changes(item, raised[1])
            now = "".join(f"{name}: {value}" for name, value in (changes or {}).items()) or "it is left out"
            said = f"{one.message.removesuffix('; correct the module')}. Corrected, {now}"
            place = f"{one.code} at {one.where}"
            found[item.title] = changes, Failure(invariant=place, evidence=said, required_change=said)
    return found


def _changes(item: AcceptanceItem, error: str) -> dict[str, Any] | None:
    """The error as the outcome, or among those that may come out; a property that allows it raises it by itself."""
    if isinstance(item, AcceptanceExample):
        return {"gives": f"{error}:"}
    return {"errors": [*item.errors, error]} if error not in item.errors else None


def unconfirmed(titles: Collection[str], items: Sequence[AcceptanceItem]) -> list[str]:
    """Why code confirms nothing of what a Proposer says of approved examples and properties.

    Args:
        titles: That it names.
        items: That are approved.
    """
    calls = {one.title: one.call for one in items}
    return [
        f"spec_at_fault: not confirmed for {one!r}: on this draft {calls[one]} raises no error that the contract declares, "
        "which is all that code confirms; correct the module"
        if one in calls
        else f"spec_at_fault: no approved example or property has the title {one!r}; each key is a title, its text says why"
        for one in titles
    ]
