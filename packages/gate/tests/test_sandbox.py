"""Which sandbox is used, what is refused without one, and what tests see of a module from the other side of it."""

import logging
import os
import tempfile

import pytest

from gate_testkit.judging import MODULES, NO_FUZZ, candidate
from gate_testkit.running import broken_off, run
from ship_gate.errors import InputError, ShipGateError
from ship_gate.sandbox.kind import (
    UNCONFINED,
    AvailableSandbox,
    available_sandbox,
    chosen_sandbox,
    fault_of,
    find_sandbox,
)
from ship_gate.sandbox.process import SandboxKind, start
from ship_gate.sandbox.staging import workspace
from ship_gate.ship_gate import SandboxedShipGate
from testkit.sampling import spread

NONE = AvailableSandbox(SandboxKind.NONE, "bubblewrap is not installed; Landlock is off")


def _faults(**told):
    return lambda kind: told.get(kind, "")


def test_bubblewrap_comes_first_and_landlock_where_it_does_not_work():
    """D-S8-10: with each facility off, the next one is taken, and the reason says why."""
    assert find_sandbox("linux", "x86_64", _faults()) == ("bubblewrap", "bubblewrap works")
    found = find_sandbox("linux", "aarch64", _faults(bubblewrap="user namespaces are off"))
    assert found == ("landlock", "user namespaces are off; landlock works")
    found = find_sandbox("linux", "x86_64", _faults(bubblewrap="not installed", landlock="too old"))
    assert found == ("none", "not installed; too old")
    assert "riscv64" in find_sandbox("linux", "riscv64", _faults()).reason


def test_without_a_sandbox_it_is_refused_with_what_to_install():
    """D-S8-10: never silently none; a misspelt setting is no setting."""
    with pytest.raises(ShipGateError) as refused:
        chosen_sandbox("auto", NONE)
    assert "Landlock is off" in refused.value.what
    assert "apt install bubblewrap" in refused.value.remedy
    assert 'sandbox = "none"' in refused.value.remedy
    with pytest.raises(InputError, match="firejail") as told:
        chosen_sandbox("firejail")
    assert "bubblewrap" in told.value.remedy


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_elsewhere_a_playbook_that_ships_with_specwright_alone_runs_labelled(system, caplog):
    """D-S8-16: macOS and Windows, with the platform faked: the refusal names the options; what runs is unconfined, said
    loudly and in the verdict's notes, which are evidence; on Linux never."""
    with pytest.raises(ShipGateError, match=system) as refused:
        SandboxedShipGate(system=system).judge(candidate("tally_words"))
    for option in ("container", "virtual machine", "WSL", "bubblewrap", 'sandbox = "none"'):
        assert option in refused.value.remedy
    gate = SandboxedShipGate(system=system, shipped=True, strength=0, fuzz=NO_FUZZ)
    with caplog.at_level(logging.WARNING, "ship_gate"):
        verdict = gate.judge(candidate("tally_words"))
    assert verdict.passed
    assert verdict.notes[0] == UNCONFINED
    assert f"{system} offers no sandbox" in caplog.text
    with pytest.raises(ShipGateError, match="Landlock is off"):
        chosen_sandbox("auto", NONE, system="linux", shipped=True)


def test_none_is_taken_only_when_it_is_asked_for_and_loudly(caplog):
    """D-S8-10: whoever accepts the risk says so, and it is written down."""
    with caplog.at_level(logging.WARNING, "ship_gate"):
        verdict = SandboxedShipGate(sandbox="none", strength=0, fuzz=NO_FUZZ).judge(candidate("tally_words"))
    assert verdict.passed
    assert "sandbox: none; the code ran unconfined" in verdict.notes
    assert "unconfined" in caplog.text


@pytest.mark.parametrize("name", spread(["tally_words", "save_tally", "shorten"], fast=3))
def test_the_good_modules_pass_in_each_kind(kind, name):
    """D-S8-10: a kind that is asked for by name is used."""
    seen = run({}, name=name, kind=kind)
    assert seen.findings == ()
    assert seen.tests


def test_a_workspace_does_not_remove_the_trial_of_a_sandbox(tmp_path, monkeypatch):
    """D-S8-10: on a busy machine a trial takes long, and nothing holds a lock on its folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def started_late(plan, kind):
        os.utime(plan.scratch, (1, 1))
        with workspace():
            assert plan.scratch.exists()
        return start(plan, kind)

    monkeypatch.setattr("ship_gate.sandbox.kind.start", started_late)
    fault_of.__wrapped__(available_sandbox().kind)


def test_this_machine_offers_one():
    """D-S8-10: else nothing of the gate can be shown here."""
    assert available_sandbox().kind is not SandboxKind.NONE, available_sandbox().reason


SHORTEN = (MODULES / "shorten/implementation/__init__.py").read_text(encoding="utf-8")


def _tested(*bodies, source=SHORTEN, name="shorten", imports="shorten"):
    test = f"import pytest\nfrom modules.{name} import {imports}\n"
    for number, body in enumerate(bodies):
        test += f"\ndef test_it_{number}(tmp_path, capsys):\n"
        test += "".join(f"    {line}\n" for line in body.split("\n"))
    files = {f"tests/test_{name}.py": test, "implementation/__init__.py": source}
    return run(files, name=name)


BEHAVIOUR = [
    "import modules.shorten as m; shorten('a', 1)\nassert m.__all__ == ['shorten', 'shorten_async']",
    "import modules.shorten as m; shorten('a', 1)\nassert not hasattr(m, '__file__') and not hasattr(m, 'Literal')",
    "import inspect; shorten('a', 1)\nwith pytest.raises(Exception): inspect.getsource(shorten).index('limit < 1')",
    "with pytest.raises(TypeError, match='argument'): shorten()",
    "with pytest.raises(TypeError, match='colour'): shorten('a', colour=1)",
    "import asyncio\nfrom modules.shorten import shorten_async\nassert asyncio.run(shorten_async('abc', 2))[0] == 'ab'",
    "assert type(shorten('abc', 2)) is tuple",
    "assert shorten('\\ud83d\\ude00', 1) == ('\\ud83d', 'E_CUT')",
    "from concurrent.futures import ThreadPoolExecutor as Pool\n"
    "with Pool(4) as pool: assert [short for short, _ in pool.map(shorten, 'abcd')] == [*'abcd']",
]


def test_a_proxy_behaves_like_the_function():
    """D-S8-09, F§5.4: calls, keywords, coroutines, types, threads; and nothing but `__all__`."""
    assert _tested(*BEHAVIOUR).findings == ()


def test_errors_cross_by_class_and_message():
    """D-S8-09: own classes, Python's, the operating system's, those of other modules, with what they derive from."""
    source = SHORTEN.replace(
        "    if limit < 1:",
        "    import json, decimal\n"
        "    class _Private(KeyError): pass\n"
        "    errors = {2: _Private('p'), 3: json.JSONDecodeError('bad', 'doc', 0), 4: decimal.InvalidOperation('no'),\n"
        "        5: FileNotFoundError(2, 'No such file', 'here'), 6: UnicodeDecodeError('utf-8', b'x', 0, 1, 'odd')}\n"
        "    if limit in errors and text == 'raise':\n        raise errors[limit]\n"
        "    if limit < 1:",
    )
    body = (
        "import json, decimal\n"
        "with pytest.raises(KeyError) as e: shorten('raise', 2)\n"
        "assert type(e.value).__name__ == '_Private' and e.value.args == ('p',)\n"
        "with pytest.raises(json.JSONDecodeError, match='bad'): shorten('raise', 3)\n"
        "with pytest.raises(decimal.InvalidOperation): shorten('raise', 4)\n"
        "with pytest.raises(FileNotFoundError) as e: shorten('raise', 5)\n"
        "assert (e.value.errno, e.value.filename) == (2, 'here')\n"
        "with pytest.raises(UnicodeDecodeError) as e: shorten('raise', 6)\n"
        "assert e.value.object == b'x'"
    )
    seen = _tested(body, source=source)
    assert "tests.failed" not in broken_off(seen), seen.findings
    assert ("FileNotFoundError", "OSError", "Exception", "BaseException", "object") in seen.seen[
        "test_shorten.py::test_it_0"
    ]


def test_what_a_module_prints_is_seen_by_its_tests():
    """DESIGN §8.1: printing is an effect, and its test reads it back."""
    source = SHORTEN.replace("    if limit < 1:", "    print('cut', text)\n    if limit < 1:", 1)
    seen = _tested("shorten('abc')\nassert capsys.readouterr().out == 'cut abc\\n'", source=source)
    assert "tests.failed" not in broken_off(seen)


def test_files_are_shared_between_both_sides():
    """D-S8-11: one scratch directory, also by relative names and after a change of directory."""
    body = (
        "import os\nfrom pathlib import Path\nos.chdir(tmp_path)\n"
        "saved = save_tally('to be', Path('tally.txt'))\n"
        "assert saved == Saved(Path('tally.txt'), 2) and repr(saved).startswith('Saved(target=')\n"
        "assert Path('tally.txt').read_text() == 'to 1\\nbe 1\\n'"
    )
    source = (MODULES / "save_tally/implementation/__init__.py").read_text(encoding="utf-8")
    assert _tested(body, source=source, name="save_tally", imports="Saved, save_tally").findings == ()


def test_a_class_is_the_same_one_wherever_it_is_imported_from():
    """D-S8-22: a class of a dependency that is passed on is the dependency's."""
    body = (
        "import modules.save_tally, modules.tally_words\n"
        "assert modules.save_tally.EmptyTextError is modules.tally_words.EmptyTextError\n"
        "with pytest.raises(modules.tally_words.EmptyTextError): save_tally('', tmp_path / 'x')"
    )
    source = (MODULES / "save_tally/implementation/__init__.py").read_text(encoding="utf-8")
    assert _tested(body, source=source, name="save_tally", imports="save_tally").findings == ()


def test_what_shows_nothing_or_cannot_cross_ends_badly():
    """D-S8-09, DESIGN §8.1: the gate counts the calls itself; an argument that cannot cross is no error of the module, so no
    test can expect it; of a module that cannot be imported the tests are not blamed."""
    assert broken_off(_tested("assert True")) == {"tests.uncalled"}
    unsent = _tested("with pytest.raises(BaseException): shorten(object())")
    assert broken_off(unsent) == {"tests.boundary"}
    seen = run({"implementation/__init__.py": "1 / 0\n" + SHORTEN}, name="shorten")
    assert broken_off(seen) == {"tests.uncollected", "examples.broken"}
    assert "ZeroDivisionError" in seen.findings[0].message


def test_a_call_in_a_shared_fixture_serves_all_tests():
    """D-S8-09: a sound suite may ask once and look at the answer often."""
    tests = (
        "import pytest\nfrom modules.shorten import shorten\n"
        "@pytest.fixture(scope='module')\ndef result(): return shorten('abc', 2)\n"
        "def test_first(result): assert result[0] == 'ab'\ndef test_second(result): assert result[1] == 'E_CUT'\n"
    )
    assert run({"tests/test_shorten.py": tests}, name="shorten").findings == ()
