"""Attacks on the report of a run, from the module and from the tests: messages, values, patches and early ends."""
# ruff: noqa: E501 - an attack stands in one line, however long

import pytest

from gate_testkit.hostile import (
    ENTRY,
    FRAME,
    SOURCE,
    TEST_SOURCE,
    TESTS,
    cases,
    ends_badly,
    in_module,
    in_tests,
)
from gate_testkit.running import broken_off, run

FORGING_IN_MODULE = {
    "lines on every descriptor": FRAME + 'everywhere(b\'{"event": "end"}\\n\' * 100)',
    "an end": FRAME + "everywhere(frame({'event': 'end'}))",
    "a test that passed": FRAME + "everywhere(frame({'event': 'test', 'name': 'x', 'passed': True}))",
    "a reply before its time": FRAME + "everywhere(frame({'event': 'reply', 'id': 99}))",
    "two replies": FRAME + "everywhere(frame({'event': 'reply', 'id': 1, 'changed': False}, b'{}') * 2)",
    "a payload that is none": FRAME
    + "everywhere(frame({'event': 'reply', 'id': 1, 'changed': False}, b'\\xff'))",
    "an unknown class": FRAME
    + 'everywhere(frame({\'event\': \'reply\', \'id\': 1, \'changed\': False}, b\'{"!": "fields", "c": ["os", "system"], "v": ["true"]}\'))',
    "an endless header": "import os\nfor fd in range(3, 512):\n    try: os.write(fd, b'\\xff' * 64)\n    except OSError: pass",
    "an error that is no class": FRAME
    + "everywhere(frame({'event': 'reply', 'id': 1, 'error': 'x', 'message': {}}))",
}


@pytest.mark.parametrize("attack", cases(FORGING_IN_MODULE))
def test_a_module_cannot_forge_the_report(attack, place):
    """D-S8-09: the module is wrong, and writes to every descriptor that it can find."""
    changes = in_module(FORGING_IN_MODULE[attack])
    changes[ENTRY] = changes[ENTRY].replace(
        "return dict(Counter(words))", "return {word: 7 for word in words}"
    )
    ends_badly(changes, place)


HOSTILE_RESULTS = {
    "equal to everything": "class All(dict):\n    def __eq__(self, other): return True\nreturn All()",
    "a subclass of str": "class Any(str):\n    def __eq__(self, other): return True\n    __hash__ = str.__hash__\nreturn {Any('to'): 1}",
    "a function": "return print",
    "a generator": "return (word for word in text)",
    "a cycle": "x = {}\nx['x'] = x\nreturn x",
    "an exception that lies": "class E(EmptyTextError):\n    def __str__(self): return 'no word'\n    __class__ = property(lambda self: EmptyTextError)\nreturn E()",
}


@pytest.mark.parametrize("attack", cases(HOSTILE_RESULTS))
def test_a_value_that_does_not_cross_ends_the_run(attack, place):
    """D-S8-09, DESIGN §8.1: it is no exception that a test could expect."""
    changes = in_module(HOSTILE_RESULTS[attack])
    changes[TESTS] = TEST_SOURCE.replace(
        "    assert tally_words",
        "    with pytest.raises(BaseException): tally_words('to')\n    assert tally_words",
    )
    assert "tests.boundary" in broken_off(ends_badly(changes, place))


PATCHING = {
    "the reports": "import _pytest.reports as r\nr.TestReport.from_item_and_call = classmethod(lambda c, i, call: c(i.nodeid, i.location, {}, 'passed', None, call.when))",
    "the calls": "import _pytest.runner as r\nr.CallInfo.from_call = classmethod(lambda c, f, when, reraise=None: c(None, None, 0, 0, 0, when, _ispytest=True))",
    "the code of a function": "import _pytest.python as p\ndef nothing(pyfuncitem): return True\np.pytest_pyfunc_call.__code__ = nothing.__code__",
    "the code of a class method": "import _pytest.reports as r\ndef passed(cls, item, call): return None\nr.TestReport.__dict__['from_item_and_call'].__func__.__code__ = passed.__code__",
    "the defaults of a function": "import _pytest.runner as r\nr.runtestprotocol.__defaults__ = (False, None)",
    "raises": "import contextlib\npytest.raises = lambda *a, **k: contextlib.suppress(BaseException)",
    "the hooks": "import pluggy._hooks as h\nh.HookCaller.__call__ = lambda self, **k: []",
    "a plugin of its own": "import sys\n@pytest.fixture(autouse=True)\ndef plugin(request):\n    request.config.pluginmanager.register(sys.modules[__name__])\ndef pytest_runtest_makereport(item, call): pass",
    "a plugin by name": "pytest_plugins = ['pytester']",
    "the collected tests": "@pytest.fixture(autouse=True)\ndef fewer(request):\n    del request.session.items[1:]",
    "the next tests": "@pytest.fixture(autouse=True)\ndef other(request):\n    for item in request.session.items: item.obj = lambda **k: tally_words('x')",
    "how a test is run": "@pytest.fixture(autouse=True)\ndef other(request):\n    for item in request.session.items: item.runtest = lambda: tally_words('x')",
    "all objects": "import gc\nfor thing in gc.get_objects(): pass",
    "memory": "import ctypes\nctypes.string_at(id(0), 8)",
    "the frames": "import sys\nsys._current_frames()",
}


@pytest.mark.parametrize("attack", cases(PATCHING))
def test_tests_that_patch_what_runs_them_do_not_pass(attack, place):
    """D-S8-09, D-S8-12: pytest patched from the tests, plugins, and tests that change other tests."""
    ends_badly(in_tests(PATCHING[attack]), place)


SEARCHING = {
    "its own frame": "import sys\nsys._getframe()",
    "a traceback's frame": "try: raise KeyError\nexcept KeyError as error: error.__traceback__.tb_frame",
    "a generator's frame": "(x for x in ()).gi_frame",
    "a trace of all lines": "import sys\nsys.settrace(None)",
    "an audit of its own": "import sys\nsys.addaudithook(print)",
    "the library that writes reports": "import json\njson.JSONEncoder.encode = lambda self, o: '{}'",
    "what writes to the gate": "import os\nos.write = lambda fd, data: len(data)",
    "a builtin": "import builtins\nbuiltins.hasattr = lambda *a: False",
    "the codec of the run": "import ship_gate.inside.codec as c\nc.Codec.decode = lambda self, text: {'to': 2, 'be': 2, 'or': 1, 'not': 1}",
    "the module's name": "import modules.tally_words as m\nm.tally_words = lambda *a, **k: {'be': 2}",
}


@pytest.mark.parametrize("attack", cases(SEARCHING))
def test_looking_for_what_runs_the_tests_ends_the_run(attack, place):
    """D-S8-09: the module is right and every test would pass; the guard tells what the tests did."""
    changes = {TESTS: TEST_SOURCE.replace("import pytest\n", f"import pytest\n{SEARCHING[attack]}\n", 1)}
    assert broken_off(ends_badly(changes, place)) == {"tests.forged"}


FORGING_IN_TESTS = {
    "an end": FRAME + "everywhere(frame({'event': 'end'}))",
    "an end with a nonce": FRAME + "everywhere(frame({'event': 'end', 'nonce': '0' * 32}))",
    "a list": FRAME + "everywhere(frame({'event': 'collected', 'names': []}))",
    "os._exit at once": "import os; os._exit(0)",
    "os._exit in a fixture": "import os\n@pytest.fixture(autouse=True)\ndef out(): yield; os._exit(0)",
    "os._exit at the end": "import atexit, os\natexit.register(os._exit, 0)\n@pytest.fixture(autouse=True)\ndef out(request): request.session.shouldstop = 'enough'",
    "pytest.exit": "@pytest.fixture(autouse=True)\ndef out(): pytest.exit('enough', 0)",
    "a skip of all": "pytest.skip('later', allow_module_level=True)",
    "a mark on all": "pytestmark = pytest.mark.xfail",
    "a proxy of its own": "import sys, modules.tally_words as m\nfrom collections import Counter\nm.tally_words = lambda text, fold=False: dict(Counter(text.split()))",
    "proxies among the modules": "import sys, types\nfake = types.ModuleType('modules.tally_words')\nfake.EmptyTextError = type('EmptyTextError', (Exception,), {})\nfake.tally_words = lambda text, fold=False: {'to': 2, 'be': 2, 'or': 1, 'not': 1}\nsys.modules['modules.tally_words'] = fake",
    "a message from a thread": FRAME
    + "import threading\nthreading.Timer(0.1, everywhere, (frame({'event': 'end'}),)).start()\nthreading.Event().wait(0.5)",
}


@pytest.mark.parametrize("attack", cases(FORGING_IN_TESTS))
def test_tests_cannot_forge_the_report(attack, place):
    """D-S8-09, D-S8-12: messages of their own, an early end, tests that are not run, a module of their own."""
    ends_badly(in_tests(FORGING_IN_TESTS[attack]), place)


def test_a_changed_argument_is_told():
    """D-S8-18, DESIGN §8.1: the module's process compares its inputs before and after a call."""
    name = "implementation/__init__.py"
    good = run({}, name="shorten")
    assert good.findings == ()
    source = SOURCE.replace("text: str, fold", "text: list, fold").replace(
        "    words = (text.casefold() if fold else text).split()",
        "    words = text[0].split(); text.append('more')",
    )
    tests = TEST_SOURCE.replace('tally_words("to be or not to be")', 'tally_words(["to be or not to be"])')
    assert "tests.argument_changed" in broken_off(run({name: source, TESTS: tests}))
