"""The limits that constraints of a contract state and the source guards: tests call at each and one beyond (design:
contracts, ship-gate).

Where a condition before a `raise` compares with a number that a constraint names, the comparison's fault at its edge, and
the number's by one, must be noticed, however many other mutants die. Of a constraint with two ends one must be noticed
both ways, and the other one way at least.

Left out: limits in patterns, and numbers that are worked out.
"""

from collections.abc import Iterable, Iterator

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.obligations import CLAIMS_FILE
from ship_gate.contract.rules import DEFAULT, OUT_OF_SCOPE
from ship_gate.contract.statements import StatementKind, statements
from ship_gate.findings import Finding, FindingCode
from ship_gate.fuzz.limits import numbers
from ship_gate.strength.mutants import Mutant


def unshown_limits(
    judged: Iterable[Mutant], alive: Iterable[Mutant], contract: MicroModuleContract
) -> Iterator[Finding]:
    """A finding for each constraint of which a limit that the source guards could be another one.

    Args:
        judged: The mutants that were run.
        alive: Those of them that no test noticed.
        contract: States the constraints.
    """
    moved = [mutant for mutant in alive if mutant.limit]
    noticed = {float(mutant.limit) for mutant in judged if mutant.limit and mutant not in moved}
    guarded = {float(mutant.limit) for mutant in moved} | noticed
    for one in statements(contract):
        # nothing is promised of values out of scope; and a default is no end of what may be given
        if one.kind is StatementKind.CONSTRAINT and not one.text.startswith((OUT_OF_SCOPE, DEFAULT)):
            stated = guarded.intersection(map(float, numbers([one.text])))
            found = [mutant for mutant in moved if float(mutant.limit) in stated]
            limits = {float(mutant.limit) for mutant in found}
            if limits and (limits == stated or limits - noticed):
                faults = "; ".join(f"{mutant.location}: {mutant.listed}" for mutant in found)
                message = (
                    f"no test shows where the limit of the {one.kind} {one.sentence} ({one.pointer}) is; call it "
                    f"with the value at the limit and with the next one beyond it, and assert what comes of both. The "
                    f"tests pass with {faults}"
                )
                yield Finding(FindingCode.OBLIGATIONS_UNSEEN, CLAIMS_FILE, message, one.pointer)
