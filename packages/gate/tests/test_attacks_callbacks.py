"""Attacks on iterables, iterators and callables: counts that are evaded, forged calls, and calls after the call was over.

An attack is written so that its tests pass if it succeeds. Most of them no check of the source refuses, so that the run has
to tell.
"""
# ruff: noqa: E501 - an attack stands in one line, however long

import pytest

from gate_testkit.fuzzing import Planted, suite_of
from gate_testkit.hostile import FRAME, cases
from gate_testkit.running import broken_off
from ship_gate.static.imports import import_findings
from ship_gate.static.stage import static_findings

TAKING = Planted(
    {"numbers: Iterable[int]": ["takes at most 3 items"]},
    "int",
    "",
    raises=(),
    tests="from modules.f import f\n\n\ndef test_it():\n    assert f([1, 2, 3, 4]) == 10\n",
)

UNCOUNTED = {
    "what is behind it": "return sum(numbers._values)",
    "the count set back": "total = 0\nfor number in numbers:\n    numbers._taken = 0\n    total += number\nreturn total",
    "nobody is told": "numbers._tell = lambda taken: None\nreturn sum(numbers)",
    "a copy": "import copy\nother = copy.copy(numbers)\nreturn next(other) + next(other) + next(numbers) + next(numbers)",
    "a deep copy": "import copy\nother = copy.deepcopy(numbers)\nreturn next(other) + sum([*other][:2]) + next(numbers) + 3",
    "its class changed": "type(numbers).__next__ = lambda self: next(self._values)\nreturn sum(numbers)",
    "another of its class": "return sum(type(numbers)(numbers._values, None, lambda taken: None))",
    "a tee": "import itertools\nfirst, second = itertools.tee(numbers)\nreturn sum(first) + 0 * sum(second)",
    "a chain": "import itertools\nreturn sum(itertools.chain(numbers))",
    "the error caught": "total = 0\nwhile (number := next(numbers, None)) is not None:\n    total += number\nreturn total",
}


@pytest.mark.parametrize("attack", cases(UNCOUNTED))
def test_no_item_is_taken_without_being_counted(attack):
    """D-43-05: not by what the iterator is made of, nor by a copy of it, past a source that nothing refuses."""
    planted = TAKING._replace(body=UNCOUNTED[attack])
    whole = planted.candidate()
    assert not [*static_findings(whole), *import_findings(whole)]
    assert broken_off(suite_of(planted)) & {"tests.failed", "tests.boundary"}


YIELDING = Planted(
    {"number: int": []},
    "Iterator[int]",
    "",
    raises=(),
    tests="from modules.f import f\n\n\ndef test_it():\n    assert list(f(9)) == [9, 9, 9, 9]\n",
    returned=("yields at most 3 items",),
)

YIELDED = {
    "for ever": "while True:\n    yield number",
    "by a class": "class Endless:\n    def __iter__(self): return self\n    def __next__(self): return number\nreturn Endless()",
    "past its close": "while True:\n    try:\n        yield number\n    except GeneratorExit:\n        pass",
    "by a forged reply": FRAME
    + "everywhere(frame({'event': 'reply', 'id': 1, 'changed': False}, b'[9,9,9,9,null,[\"items\",4]]'))\nreturn iter([9])",
    "in no end": FRAME
    + "everywhere(frame({'event': 'reply', 'id': 1, 'changed': False}, b'[9,9,9,9,null,[\"items\",4]]'))\nos.read(0, 1)",
}


@pytest.mark.parametrize("attack", cases(YIELDED))
def test_nothing_more_is_yielded_than_the_contract_says(attack):
    """D-43-05: what never ends is cut off, and the process of the tests counts as well."""
    seen = suite_of(YIELDING._replace(body=YIELDED[attack]))
    assert broken_off(seen) & {"tests.boundary", "tests.forged"}


CALLING = Planted(
    {"words: list[str]": [], "key: Callable[[str], int]": []},
    "int",
    "",
    raises=(),
    before="kept = []",
    tests="""
from modules.f import f


def test_it():
    assert f(["a"], lambda word: len(str(word))) == 7
    assert f(["a"], lambda word: len(str(word))) == 7
""",
)

READ = f"""{FRAME}
import select
def forged(payload, name='key'):
    everywhere(frame({{'event': 'callback', 'name': name}}, payload))
    for fd in range(3, 512):
        try:
            if select.select([fd], [], [], 0.2)[0]: return os.read(fd, 1 << 16)
        except (OSError, ValueError): pass
"""
LATE = """
import threading
def late(over):
    over.wait()
    try: key('a')
    except RuntimeError: pass
for over, thread in kept:
    over.set()
    thread.join()
over = threading.Event()
thread = threading.Thread(target=late, args=(over,), daemon=True)
thread.start()
kept[:] = [(over, thread)]
"""
CALLED = {
    "of another type": READ + """forged(b'[1,["list",1],["dict",0],["list",2]]')""",
    "with too many": READ + """forged(b'["a","b",["list",2],["dict",0],["list",2]]')""",
    "by name": READ + """forged(b'["list",0],"word","a",["dict",1],["list",2]]')""",
    "of another name": READ + """forged(b'["a",["list",1],["dict",0],["list",2]]', 'other')""",
    "with no value": READ + "forged(b'nothing')",
    "with a value that is no call": READ + "forged(b'[1]')",
    "without waiting": FRAME + "everywhere(frame({'event': 'callback', 'name': 'key'}, b'[1]'))",
    "twice at once": FRAME + "everywhere(frame({'event': 'callback', 'name': 'key'}, b'[1]') * 2)",
    "past its host": "import sys\nhost = sys.modules['ship_gate.inside.lazy_calls']\nhost.unfit_arguments = lambda *a: ''\nkey(1)",
    "in the next call": "for one in kept:\n    try: one('a')\n    except RuntimeError: pass\nkept.append(key)",
    "in the next call, by another": "try: kept[0](key)\nexcept (IndexError, RuntimeError): pass\nkept.append(lambda other: other(1))",
    "by a thread, later": LATE,
    "by threads at once": "import threading\nfor _ in range(5): threading.Thread(target=key, args=('a',)).start()",
    "when it is collected": "class Kept:\n    def __del__(self):\n        try: key('a')\n        except RuntimeError: pass\nkept.append(Kept())\ndel kept[:-1]",
    "while it is called": "import gc\nclass Kept:\n    def __del__(self): key('a')\none = Kept()\none.one = one\ndel one\ngc.set_threshold(1)\nkey('b')\nkey(1)",
    "within itself": "key(key)",
}


@pytest.mark.parametrize("attack", cases(CALLED))
def test_a_callable_is_called_as_stated_and_while_its_call_is_open(attack):
    """D-43-06, D-S8-09: a forged call, one past the module's own end, and one after the call was over."""
    seen = suite_of(CALLING._replace(body=f"{CALLED[attack]}\nreturn 7"))
    assert broken_off(seen) & {"tests.boundary", "tests.forged", "tests.incomplete", "tests.failed"}
