"""What the static stage refuses in an implementation, and what it leaves alone."""

from typing import Any

from gate_testkit.judging import candidate
from gate_testkit.observing import observed
from gate_testkit.static_judging import cases, codes_of_source
from ship_gate.static.stage import static_findings

HEAD = "from pathlib import Path\n"


def body(*lines: Any, before: Any = ""):
    """A module whose entry point has these lines."""
    return f"{HEAD}{before}\ndef f(path: Path, text: str) -> int:\n" + "".join(
        f"    {line}\n" for line in lines
    )


def only_codes(source: Any, effects: Any = (), **more: Any):
    """The codes that the source alone gives."""
    return {code for code, _ in codes_of_source(source, effects, **more)}


def refusals(source: Any, effects: Any = ()):
    """The codes that the source alone gives, or else what a run shows."""
    return only_codes(source, effects) or {
        finding.code.replace("effects.undeclared", "static.effect")
        for finding in observed(source).findings(effects)
    }


WRITES = {
    "open to write": body("open(path, 'w').write(text)", "return 1"),
    "open by keyword": body("open(path, mode='a')", "return 1"),
    "open exclusively": body("with open(path, 'xb') as handle:", "    handle.write(b'x')", "return 1"),
    "io.open": body("io.open(path, 'w')", "return 1", before="import io\n"),
    "gzip": body("gzip.open(path, 'wb')", "return 1", before="import gzip\n"),
    "pathlib's open": body("path.open('w')", "return 1"),
    "write_text": body("return path.write_text(text)"),
    "write_text of a made path": body("return (path / 'x').write_text(text)"),
    "write_bytes as a function": body("return Path.write_bytes(path, b'')"),
    "a method passed around": body("return sum(map(path.write_text, [text]))"),
    "unlink": body("path.unlink(missing_ok=True)", "return 1"),
    "touch of a path": body("Path(text).touch()", "return 1"),
    "touch of a child": body("for child in [path / text]:", "    child.touch()", "return 1"),
    "replace of a path": body("path.replace(text)", "return 1"),
    "mkdir": body("path.parent.mkdir()", "return 1"),
    "os.remove": body("os.remove(path)", "return 1", before="import os\n"),
    "os under another name": body("o.rename(path, text)", "return 1", before="import os as o\n"),
    "a function of os": body("makedirs(text)", "return 1", before="from os import makedirs\n"),
    "a function under another name": body("gone(text)", "return 1", before="from os import remove as gone\n"),
    "an alias": body("(w := os.remove)(path)", "return 1", before="import os\n"),
    "shutil": body("shutil.copy(path, text)", "return 1", before="import shutil\n"),
    "tempfile": body("tempfile.mkdtemp()", "return 1", before="import tempfile\n"),
    "a database in a file": body("sqlite3.connect(text)", "return 1", before="import sqlite3\n"),
    "in a helper": body("return _save(path)") + "def _save(target):\n    return target.write_text('x')\n",
    "at import": HEAD + "Path('x').write_text('x')\ndef f(path: Path, text: str) -> int:\n    return 1\n",
    "in a default": HEAD + "def f(path: Path, text: str = open('x', 'w').name) -> int:\n    return 1\n",
    "in an annotation": HEAD + "def f(path: Path, text: open('x', 'w')) -> int:\n    return 1\n",
    "in a decorator": body("return 1") + "@open('x', 'w').write\ndef _g():\n    pass\n",
    "in a comprehension that binds the name": body("[0 for open in ()]", "open(path, 'w')", "return 1"),
    "under a name that might be bound": body(
        "open(path, 'w')", "return 1", before="if False:\n    open = None\n"
    ),
}


def test_an_undeclared_write_is_refused_and_a_declared_one_is_not():
    """D-S8-05, D-S8-20: `PTH123 refuses open even where a WRITE is declared` is not inherited."""
    found = {case: (refusals(one), codes_of_source(one, ["WRITE path"])) for case, one in WRITES.items()}
    assert {case: codes for case, codes in found.items() if codes != ({"static.effect"}, [])} == {}


CALLS = {
    "open to read": ("path", body("return len(open(path).read())")),
    "read_text": ("path", body("return len(path.read_text())")),
    "iterdir": ("folder", body("return len(list(path.iterdir()))")),
    "a walk of a folder": ("path", body("return len(list(os.walk(path)))", before="import os\n")),
    "a look at a file": ("path", body("return int(path.exists())")),
    "os.path": ("path", body("return os.path.getsize(path)", before="import os\n")),
    "the working directory": ("path", body("return len(str(Path.cwd()))")),
    "the module's own file": ("data file", body("return len(__file__)")),
    "the environment": ("environment", body("return len(os.environ['HOME'])", before="import os\n")),
    "getenv": ("environment variable", body("return len(getenv('HOME'))", before="from os import getenv\n")),
    "the platform": ("environment", body("return len(platform.node())", before="import platform\n")),
    "the clock": ("clock", body("return int(time.time())", before="import time\n")),
    "today": ("today's date", body("return date.today().year", before="from datetime import date\n")),
    "the time that gzip notes": ("clock", body("return len(gzip.compress(b''))", before="import gzip\n")),
    "now": ("clock", body("return datetime.datetime.now().year", before="import datetime\n")),
    "the zone of the machine": (
        "environment",
        body(
            "return datetime.fromisoformat(text).astimezone().hour", before="from datetime import datetime\n"
        ),
    ),
    "chance": ("randomness", body("return random.randint(1, 6)", before="import random\n")),
    "a random identifier": ("randomness", body("return uuid4().int", before="from uuid import uuid4\n")),
    "secrets": ("randomness", body("return secrets.randbelow(6)", before="import secrets\n")),
    "a generator without a seed": (
        "randomness",
        body("return Random().randint(1, 6)", before="from random import Random\n"),
    ),
    "standard input": ("standard input", body("return len(input())")),
    "sys.stdin": ("stdin", body("return len(sys.stdin.read())", before="import sys\n")),
    "printing": ("standard output", body("print(text)", "return 1")),
    "print passed around": ("printing", body("return len(list(map(print, text)))")),
    "logging": ("log", body("logging.getLogger('x').warning(text)", "return 1", before="import logging\n")),
}


def test_an_undeclared_call_is_refused_and_a_declared_one_is_not():
    """D-S8-20: files, environment, clock, randomness, standard input and printing, one module each; whoever declares the
    clock has declared no dice and no files."""
    found = {
        case: (refusals(source), codes_of_source(source, [f"CALL {target}"]))
        for case, (target, source) in CALLS.items()
    }
    assert {case: codes for case, codes in found.items() if codes != ({"static.effect"}, [])} == {}
    source = body("return random.randint(1, 6) + len(path.read_text())", before="import random\n")
    assert len(codes_of_source(source, ["CALL clock", "MUTATION environment"])) == 2


MUTATIONS = {
    "the environment": body("os.environ['X'] = text", "return 1", before="import os\n"),
    "the environment by a method": body("os.environ.update(X=text)", "return 1", before="import os\n"),
    "putenv": body("os.putenv('X', text)", "return 1", before="import os\n"),
    "the working directory": body("os.chdir(path)", "return 1", before="import os\n"),
    "the locale": body("locale.setlocale(locale.LC_ALL, text)", "return 1", before="import locale\n"),
    "the decimal context": body("decimal.getcontext().prec = 3", "return 1", before="import decimal\n"),
    "the recursion limit": body("sys.setrecursionlimit(10**6)", "return 1", before="import sys\n"),
    "a library's attribute": body("json.loads = None", "return 1", before="import json\n"),
}


def test_an_undeclared_change_of_the_process_is_refused():
    """D-S8-20: environment and process state are MUTATION effects."""
    declared = ["MUTATION process state", "CALL environment"]
    found = {case: (refusals(one), codes_of_source(one, declared)) for case, one in MUTATIONS.items()}
    assert {case: codes for case, codes in found.items() if "static.effect" not in codes[0] or codes[1]} == {}


REFUSED = {
    "a socket": "import socket\n",
    "http": "from http.client import HTTPConnection\n",
    "urllib": "import urllib.request\n",
    "a process": "import subprocess\n",
    "os.system": "import os\nos.system('true')\n",
    "os.fork": "from os import fork\nfork()\n",
    "threads": "import threading\n",
    "a pool": "from concurrent.futures import ThreadPoolExecutor\n",
    "native code": "import ctypes\n",
    "signals": "import signal\n",
    "at exit": "import atexit\n",
    "sys.exit": "import sys\nsys.exit(0)\n",
    "exit": "exit()\n",
    "asyncio's connections": "import asyncio\nasyncio.open_connection('x', 1)\n",
    "an executor": "import asyncio\nasyncio.get_event_loop().run_in_executor(None, len)\n",
    "the collector": "import gc\n",
}


def test_network_processes_threads_and_native_code_are_refused_whatever_is_declared():
    """D-S8-05, D23: no contract can declare them."""
    every = ["WRITE path", "CALL clock", "CALL path", "MUTATION process state"]
    found = {case: only_codes(source + body("return 1"), every) for case, source in REFUSED.items()}
    assert {case: codes for case, codes in found.items() if codes != {"static.refused"}} == {}


DYNAMIC = {
    "eval": "eval('1')\n",
    "exec": "exec('1')\n",
    "compile": "compile('1', 'x', 'eval')\n",
    "__import__": "__import__('os')\n",
    "importlib": "import importlib\n",
    "builtins": "import builtins\n",
    "globals": "globals()['x'] = 1\n",
    "pickle": "from pickle import loads\n",
    "inspect": "import inspect\n",
    "subclasses": "().__class__.__subclasses__\n",
    "a function's globals": "len.__globals__\n",
    "a builtin's module": "print.__self__\n",
    "an attribute of a module by name": "import os\ngetattr(os, 're' + 'move')\n",
    "a module as a value": "import os\nm = os\n",
    "a made name": "getattr(len, '__se' + 'lf__')\n",
    "a hidden name": "getattr(len, '__self__')\n",
    "a name from elsewhere": "getattr(len, input)\n",
    "setattr": "setattr(len, input, 1)\n",
    "attrgetter": "from operator import attrgetter\nattrgetter('__globals__')\n",
    "the loaded modules": "import sys\nsys.modules['os']\n",
    "frames": "import sys\nsys._getframe()\n",
    "the builtins' dictionary": "__builtins__\n",
    "a made function": "import types\ntypes.FunctionType\n",
}


def test_code_and_names_made_at_run_time_are_refused():
    """D-S8-05: what cannot be read cannot be vouched for."""
    found = {case: only_codes(source + body("return 1"), ["CALL stdin"]) for case, source in DYNAMIC.items()}
    assert {case: codes for case, codes in found.items() if "static.dynamic" not in codes} == {}


LOOP = "def sizes(line, fn):\n    for name in ('width', 'height'):\n        yield getattr(line, name)\n"
NAMED_OTHERWISE = {
    "a list of its caller": LOOP.replace("('width', 'height')", "fn"),
    "a name behind a value": LOOP.replace("'height'", "'__globals__'"),
    "an effect by name": LOOP.replace("'height'", "'write_text'"),
    "a made name in the list": LOOP.replace("'height'", "'a' + fn"),
    "bound again": LOOP.replace("        yield", "        name += '__'\n        yield"),
    "unpacked": LOOP.replace("        yield", "        name, *_ = fn\n        yield"),
    "a parameter of a function within": LOOP.replace(
        "yield getattr(line, name)", "yield lambda name: getattr(line, name)"
    ),
    "captured": LOOP.replace(
        "        yield", "        match fn:\n            case [name]: pass\n        yield"
    ),
    "of the file": LOOP.replace("    for", "    global name\n    for"),
    "rebound by a function within": LOOP.replace(
        "    for", "    def other():\n        nonlocal name\n        name = fn\n    for"
    ),
    "read after a comprehension": (
        "name = '__self__'\ndef f(x):\n    [name for name in ('a',)]\n    return getattr(x, name)\n"
    ),
    "read in the first list of a comprehension": (
        "name = '__self__'\ndef f(x):\n    return [y for y in getattr(x, name) for name in ('a',)]\n"
    ),
    "a loop of a class": LOOP.replace("    for", "    class C:\n     for").replace(
        "        yield getattr(line, name)", "      def get(self, x): return getattr(x, name)"
    ),
    "a loop of the file": "for name in ('a', 'b'):\n    getattr(len, name)\n",
}
NAMED = {
    "a loop": LOOP,
    "a comprehension": "def f(x):\n    return [getattr(x, name) for name in ['a', 'b'] if x]\n",
    "a dictionary, twice": (
        "def f(x):\n    some = {n: getattr(x, n) for n in ('a', 'b')}\n"
        "    return some, any(getattr(x, n) for n in {'c', 'd'})\n"
    ),
    "a function within": LOOP.replace("yield getattr(line, name)", "yield (lambda: getattr(line, name))()"),
}


def test_an_attribute_by_a_name_that_may_be_another_is_refused():
    """D-S8-05: a loop over written names shows them only if nothing else can bind the name, as plain as constants."""
    found = {case: only_codes(source + body("return 1")) for case, source in NAMED_OTHERWISE.items()}
    assert {case: codes for case, codes in found.items() if "static.dynamic" not in codes} == {}
    found = {case: only_codes(source + body("return 1")) for case, source in NAMED.items()}
    assert {case: codes for case, codes in found.items() if codes} == {}


RAISES = cases("static/raises.md")


def test_an_undeclared_exception_that_leaves_the_module_is_refused():
    """D-S8-05: it is told at the `raise`, and is no fault once the contract declares it."""
    wrong = {}
    for case, source in RAISES.items():
        name = case.partition(":")[0]
        declared = (name,) if name != "_Bad" else ("_Bad", "ValueError")
        found = only_codes(source), only_codes(source, raises=declared)
        if found != ({"static.raise"}, set()):
            wrong[case] = found
    assert wrong == {}


SOUND = cases("static/sound_sources.md")


def test_style_is_no_fault():
    """D-S8-05: the known faults of the trials, and ways to write that are merely unusual."""
    assert {case: codes for case, source in SOUND.items() if (codes := only_codes(source))} == {}


def test_a_finding_has_the_line_of_what_it_is_about():
    """D-S8-05: a repair needs the place."""
    source = body("x = 1", "open(path, 'w')", "raise KeyError(text)")
    assert codes_of_source(source) == [
        ("static.effect", "implementation/__init__.py:5"),
        ("static.raise", "implementation/__init__.py:6"),
    ]


def test_a_comment_in_the_module_excuses_nothing():
    """D-S8-05: noqa and configuration in the module do not help."""
    for comment in ("noqa", "noqa: TID251", "ruff: noqa", "type: ignore", "pragma: no mutate", "nosec"):
        source = f"# {comment}\n" + body(f"open(path, 'w')  # {comment}", "return 1")
        assert [code for code, _ in codes_of_source(source)] == ["static.effect"], comment


def test_every_file_of_the_implementation_is_looked_at():
    """D-S8-05: effects, state and exceptions in a second file, reached through a relative import."""
    second = "_SEEN = []\ndef help(x):\n    _SEEN.append(x)\n    open(x, 'w')\n    raise KeyError(x)\n"
    source = "from .more import help\n" + body("return help(text)")
    found = codes_of_source(source, more={"implementation/more.py": second})
    assert found == [
        ("static.effect", "implementation/more.py:4"),
        ("static.raise", "implementation/more.py:5"),
    ]


def test_an_own_exception_of_another_file_is_followed_to_its_base():
    """D-S8-05: what a handler catches is decided over all files."""
    more = {"implementation/more.py": "class Stop(KeyError):\n    pass\ndef go():\n    raise Stop\n"}
    source = "from .more import go\n" + body("try:", "    return go()", "except LookupError:", "    return 1")
    assert codes_of_source(source, more=more) == []


def test_a_subclass_of_oserror_counts_as_oserror():
    """D-S8-18: the one exception from exact classes."""
    source = body("raise FileNotFoundError(text)")
    assert codes_of_source(source, raises=("OSError",)) == []
    assert [code for code, _ in codes_of_source(source)] == ["static.raise"]


def test_the_static_stage_has_nothing_to_say_about_sound_modules():
    """D-S8-01: it comes first, and a sound module passes through it."""
    for name in ("tally_words", "save_tally", "shorten"):
        assert static_findings(candidate(name)) == []
