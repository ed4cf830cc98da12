"""What a module does when it is run, held against the effects that its contract declares.

Nothing here depends on the static stage: the modules of `corpus/observed` are run past it.
"""

from typing import Any

import pytest

from gate_testkit.observing import observed
from gate_testkit.static_judging import cases
from testkit.sampling import spread

EFFECTS = cases("observed/effects.md")
DECLARED = sorted({case.partition(":")[0] for case in EFFECTS})


def codes(found: Any, effects: Any):
    """The codes of what is observed."""
    return {finding.code for finding in found.findings(effects)}


@pytest.mark.parametrize("case", spread(EFFECTS, fast=10, slow=12))
def test_an_effect_that_no_contract_declares_is_observed(case: Any):
    """Issue 13.1: through the library, handed on, at import; a declared one is none."""
    found = observed(EFFECTS[case])
    assert codes(found, []) == {"effects.undeclared"}
    assert codes(found, DECLARED) == set()


CODE = cases("observed/code.md")


@pytest.mark.parametrize("case", spread(CODE, fast=10, slow=12))
def test_what_is_called_is_what_was_read(case: Any):
    """Issue 13.1: code, defaults, annotations and docstring are compared with the source, after import and calls."""
    assert "effects.code" in codes(observed(CODE[case]), DECLARED)


REFUSED = cases("observed/refused.md")


@pytest.mark.parametrize("case", spread(REFUSED, fast=10, slow=12))
def test_what_no_contract_can_declare_is_observed(case: Any):
    """Issue 13.1: network, processes, native code, code made at run time, and ways around the static checks to them."""
    assert "effects.refused" in codes(observed(REFUSED[case]), DECLARED)


STATE = cases("observed/state.md")


@pytest.mark.parametrize("case", spread(STATE, fast=10, slow=12))
def test_what_a_call_leaves_behind_is_observed(case: Any):
    """Issue 13.3: what the module's objects hold is compared before and after calls, deeply."""
    more = {"implementation/_t.py": b"_SEEN = []\ndef push(x):\n    _SEEN.append(x)\n"}
    assert "effects.state" in codes(observed(STATE[case], more=more), DECLARED)


SOUND = cases("observed/sound.md")


@pytest.mark.parametrize("case", spread(SOUND, fast=10, slow=12))
def test_what_everyday_modules_do_is_no_effect(case: Any):
    """Issue 13.1, 13.3: caches, classes made by the library, values in memory, methods that only share a name."""
    found = observed(SOUND[case], more={"implementation/_t.py": b"NAMES = ['a']\n"})
    assert [reply for reply in found.replies if "error" in reply] == []
    assert found.findings() == []


BESIDE = cases("observed/beside.md")


@pytest.mark.parametrize("case", spread(BESIDE, fast=10, slow=12))
def test_a_file_beside_the_declared_one_is_observed(case: Any):
    """Issue 13.1: a WRITE effect declares its target, and no other file; a target that names no input declares any."""
    found = observed(BESIDE[case], effects=["WRITE path"])
    assert codes(found, ["WRITE path"]) == {"effects.undeclared"}
    assert codes(observed(BESIDE[case], effects=["WRITE the folder"]), ["WRITE the folder"]) == set()


def test_a_file_beside_the_declared_one_is_observed_in_every_sandbox(kind: str):
    """Issue 13.1: what is compared is a folder that both sandboxes let the module write to."""
    found = observed(BESIDE["a copy with another suffix"], kind=kind, effects=["WRITE path"])
    assert codes(found, ["WRITE path"]) == {"effects.undeclared"}


SOUND_WRITES = cases("observed/sound_writes.md")


@pytest.mark.parametrize("case", spread(SOUND_WRITES, fast=10, slow=12))
def test_what_becomes_the_declared_file_is_no_other(case: Any):
    """Issue 13.6: files that are gone or have taken the target's place when the call returns are none beside it."""
    found = observed(SOUND_WRITES[case], effects=["WRITE path"])
    assert [reply for reply in found.replies if "error" in reply] == []
    assert codes(found, ["WRITE path"]) == set()


FORGERIES = {
    "the pipe is closed": "os.closerange(3, 64)",
    "the pipe is replaced": "[*map(os.dup2, [os.open('/dev/null', os.O_WRONLY)] * 61, range(3, 64))]",
    "each is closed": "[*map(_close, range(3, 64))]",
    "the host's functions are replaced": "_host().Link.send = lambda *args: None",
    "the host's tables are emptied": "vars(_inside('observation.audit'))['_EVENTS'].clear()",
    "the hook's names are taken away": "vars(_inside('observation.audit')).clear()",
    "the builtins are replaced": "vars(builtins).update(len=id, type=id, str=id, set=list)",
    "what the system offers is replaced": "vars(os).update(write=len, devnull=1, stat=len)",
    "frames are hidden": "vars(sys).update(_getframe=len)",
}


@pytest.mark.parametrize("case", spread(FORGERIES, fast=10, slow=12))
def test_a_module_cannot_keep_an_effect_from_being_told(case: Any, kind: str):
    """Issue 13.1: past the static checks, with any name at hand, the effect is told before it happens."""
    source = f"""
import builtins, os, sys
from pathlib import Path


def _inside(name):
    return sys.modules["ship_gate.inside." + name]


def _host():
    return _inside("frames")


def _close(descriptor):
    try:
        os.close(descriptor)
    except OSError:
        pass


def f(path: Path, text: str) -> int:
    try:
        {FORGERIES[case]}
    except Exception:
        pass
    open("deed", "w").close()
    return 1
"""
    found = observed(source, kind=kind, texts=("a",), must_end=False)
    assert any(effect.what.startswith("open 'deed'") for effect in found.effects)
