"""Each example of one function per task is built from its playbook, and its wheel is used.

The answers of these playbooks were given by readers of the requests alone. Annotations of helpers were added later.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from testkit.loop.acceptance_reports import holds_against_the_spec, report_of
from testkit.paths import ROOT

EXAMPLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "linkform": (  # with approved examples for each criterion
        "from linkform import TemplateError, expand, expand_part\n"
        "print(expand('{/path*}{?q}', {'path': ['a b', 'c'], 'q': 'ö'}), expand_part('/{a}{?b}', {'b': '1'}))\n"
        "try:\n    expand('{a', {})\nexcept TemplateError as error:\n    print(error.position, error.problem)",
        ("/a%20b/c?q=%C3%B6 /{a}?b=1", "0 brace not closed"),
    ),
    "jsonamend": (  # a contract was sent back
        "from jsonamend import apply_patch, make_patch\n"
        "one, other = {'a': [1, {'b': None}]}, {'a': [1, {'c': True}], 'd': []}\n"
        "print(apply_patch(one, make_patch(one, other)) == other, make_patch(one, one))",
        ("True []",),
    ),
    "fieldtext": (
        "from fieldtext import read_amount, read_table\n"
        "print(read_table('a,\"b\\n\"\"c\"\\n', ','), read_amount('(1,234.50)'))",
        ("[['a', 'b\\n\"c']]", "-1234.50"),
    ),
    "dueplan": (  # a contract was amended
        "import datetime\nfrom decimal import Decimal\nfrom dueplan import make_plan\n"
        "plan = make_plan(Decimal('100.00'), datetime.date(2026, 1, 31), 3, [])\n"
        "print(*('{due} {amount}'.format(**one) for one in plan))",
        ("2026-02-02 33.34 2026-03-02 33.33 2026-03-31 33.33",),
    ),
    "leftout": (  # a class of its own with a name that the library has too
        "from leftout import is_ignored, parse_pattern\n"
        "print(parse_pattern('!/a/b/'), is_ignored('build/\\n!build/keep.txt\\n', 'build/keep.txt', False))",
        ("Pattern(body='a/b', negated=True, folder_only=True, anchored=True) True",),
    ),
}
"""Each with a use of its wheel, and what that must answer."""


@pytest.mark.nightly
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_ships_and_its_wheel_answers(name: str, tmp_path: Path):
    """D-S6-02: the gate and the wheel are real. What the roles said of each criterion by its number leads to tests
    (D-41-06)."""
    use, says = EXAMPLES[name]
    folder = ROOT / "examples" / name
    command = [
        *(sys.executable, "-m", "specwright.cli", "run", str(tmp_path / "project"), "--approve", "--json"),
        *("--spec", str(folder / "SPEC.md"), "--model", f"playbook:{folder / 'playbook'}"),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    document = json.loads(ended.stdout)
    assert document["where"] == "released"
    assert document["scripted"] is True
    used = subprocess.run(
        [sys.executable, "-c", use],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": document["release"]["wheel"]},
        cwd=tmp_path,
        check=False,
    )
    assert [answer for answer in says if answer not in used.stdout] == [], used.stderr
    report = report_of(tmp_path / "project")
    holds_against_the_spec(tmp_path / "project", report)
    counts = report["counts"]
    assert counts["shown"] + counts["tested"] == counts["criteria"]
