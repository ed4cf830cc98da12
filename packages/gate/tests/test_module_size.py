"""A module is as large as one reader can judge."""

from gate_testkit.static_judging import contract_of
from ship_gate.contract.rules import ReadingLimit
from ship_gate.static.stage import static_findings
from ship_gate.verdict import Candidate

ENTRY = "implementation/__init__.py"


def findings(count, *, others=""):
    """Those of a module of so many statements, most of them in one function."""
    lines = "".join(f"    number += {place}\n" for place in range(count - 4))
    source = f'def _sum(number: int) -> int:\n    """Count."""\n{lines}    return number\n'
    entry = (
        'def f(path: Path, text: str) -> int:\n    """Docstrings are no statements."""\n    return _sum(1)\n'
    )
    files = {ENTRY: entry + others, "implementation/code.py": source}
    return [
        one
        for one in static_findings(
            Candidate(contract_of(), {path: text.encode() for path, text in files.items()})
        )
        if one.code == "source.size"
    ]


def test_the_finding_names_the_largest_parts_and_says_how_to_split():
    """Issue 22: all files count together, docstrings do not; a statement more than the limit is refused."""
    most = ReadingLimit.MODULE.most
    assert findings(most) == []
    (found,) = findings(most + 1)
    assert found.message.startswith(
        f"the implementation has {most + 1} statements, and one reader judges {most} at most; its largest parts are "
        f"`_sum` at implementation/code.py:1 ({most - 1}), `f` at implementation/__init__.py:1 (2). Make a module of a part"
    )
    assert [one.where for one in findings(most, others="X = 1\n")] == [ENTRY]
