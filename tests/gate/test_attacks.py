"""Hostile modules and hostile tests: each ends in a refusal or an honest FAIL, in bounded time, and leaves nothing.

Everything here is run past the static checks, which refuse most of it before. An attack is written so that the tests pass
if it succeeds: one inside the module does its deed and then gives the right answer, one inside the tests claims a pass
for a module that is wrong. So a run without findings is an attack that came through.

The last test runs the same attacks as an unprivileged user.
"""
# ruff: noqa: E501 - an attack stands in one line, however long

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from gate.judging import MODULES
from gate.running import broken_off, run, survivors
from specwright.gate.sandbox_kind import SandboxKind, fault_of

ENTRY = "implementation/__init__.py"
TESTS = "tests/test_tally_words.py"
SOURCE = (MODULES / "tally_words" / ENTRY).read_text(encoding="utf-8")
TEST_SOURCE = (MODULES / "tally_words" / TESTS).read_text(encoding="utf-8")
WRONG = SOURCE.replace("return dict(Counter(words))", "return {word: 7 for word in words}")


@pytest.fixture(params=["bubblewrap", "landlock"])
def kind(request):
    """Each kind of sandbox that this machine offers."""
    if fault := fault_of(SandboxKind(request.param)):
        pytest.skip(fault)
    return request.param


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Where the gate puts its directories."""
    folder = tmp_path / "gate"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def secret(tmp_path, monkeypatch):
    """Something of the factory's: a file, and a variable."""
    path = tmp_path / "state.db"
    path.write_text("secret")
    path.chmod(0o644)
    monkeypatch.setenv("SPECWRIGHT_SECRET", "secret")
    return path


def _in_module(deed):
    """A module that does a deed before it gives the right answer."""
    indented = "".join(f"    {line}\n" for line in deed.strip("\n").split("\n"))
    return {ENTRY: SOURCE.replace("    words = ", f"{indented}    words = ", 1)}


def _in_tests(deed):
    """Tests that do a deed before a wrong module is asked."""
    return {ENTRY: WRONG, TESTS: TEST_SOURCE.replace("import pytest\n", f"import pytest\n{deed}\n", 1)}


def _ends_badly(changes, kind, place, timeout_seconds=10.0):
    began = time.monotonic()
    seen = run(changes, kind=kind, timeout_seconds=timeout_seconds)
    assert time.monotonic() - began < 90
    assert broken_off(seen)
    assert any(code.startswith("tests.") for code in broken_off(seen))
    assert not survivors(place)
    assert not list(place.iterdir())
    return seen


def _cases(table):
    """The names of attacks; all but the first of each table are for the slow run."""
    return [
        name if place == 0 else pytest.param(name, marks=pytest.mark.slow) for place, name in enumerate(table)
    ]


SYSCALL = "import ctypes; call = ctypes.CDLL(None, use_errno=True).syscall\n"

READING = {
    "a file of the factory": "open({secret!r}).read()",
    "the file's directory": "import os; assert 'state.db' in os.listdir({folder!r})",
    "through a symbolic link": "import os\nos.symlink({secret!r}, 'link-%s' % id(text))\nopen('link-%s' % id(text)).read()",
    "through a hard link": "import os\nos.link({secret!r}, 'hard-%s' % id(text))",
    "by climbing": "open('../' * 20 + {secret!r}.lstrip('/')).read()",
    "the users": "open('/etc/passwd').read()",
    "the passwords": "open('/etc/shadow').read()",
    "a home": "import os; os.listdir(os.path.expanduser('~root'))",
    "the environment": "import os; os.environ['SPECWRIGHT_SECRET']",
    "the gate's environment": "open('/proc/{pid}/environ').read()",
    "its parent's environment": "import os; open(f'/proc/{{os.getppid()}}/environ').read()",
    "its own process": "open('/proc/self/environ').read()",
    "its own memory": "open('/proc/self/mem', 'rb').read(1)",
    "the tests": "import os; os.listdir({place!r} + '/' + os.getcwd().split('/gate/')[1].split('/')[0] + '/tests')",
    "the factory's code": "import specwright.errors",
    "other packages": "import pytest",
}


@pytest.mark.parametrize("attack", _cases(READING))
def test_what_is_not_its_own_cannot_be_read(attack, kind, place, secret):
    """D-S8-11: secrets, the store, the environment, other processes, and the tests."""
    deed = READING[attack].format(
        secret=str(secret), folder=str(secret.parent), pid=os.getpid(), place=str(place)
    )
    _ends_badly(_in_module(deed), kind, place)


CHANGING = {
    "a file of the factory": "open({secret!r}, 'w').write('changed')",
    "by appending": "open({secret!r}, 'a').write('changed')",
    "its length": "import os; os.truncate({secret!r}, 0)",
    "its name": "import os; os.rename({secret!r}, {secret!r} + '.old')",
    "its place": "import os; os.rename({secret!r}, 'mine')",
    "its existence": "import os; os.remove({secret!r})",
    "a new file beside it": "open({folder!r} + '/new', 'w').close()",
    "a new directory beside it": "import os; os.mkdir({folder!r} + '/new')",
    "its own source": "open(__file__, 'a').write('#')",
    "the standard library": "import os; open(os.path.dirname(os.__file__) + '/new.py', 'w').close()",
    "through a symbolic link": "import os; os.symlink({folder!r}, 'there'); open('there/new', 'w').close()",
    "the runner's folder": "import os; os.mkdir(os.path.dirname(os.getcwd()) + '/new')",
}


@pytest.mark.parametrize("attack", _cases(CHANGING))
def test_nothing_outside_its_scratch_can_be_changed(attack, kind, place, secret):
    """D-S8-11: the root is read-only, whatever way is taken."""
    _ends_badly(
        _in_module(CHANGING[attack].format(secret=str(secret), folder=str(secret.parent))), kind, place
    )
    assert secret.read_text() == "secret"
    assert sorted(path.name for path in secret.parent.iterdir()) == ["gate", "state.db"]


@pytest.mark.parametrize(
    "deed",
    [
        "os.chmod({secret!r}, 0o777)",
        "os.utime({secret!r}, (1, 1))",
        "os.setxattr({secret!r}, 'user.a', b'1')",
    ],
)
def test_nor_can_its_metadata(deed, kind, place, secret):
    """D-S8-11: under Landlock such calls seem to succeed, and change nothing."""
    before = secret.stat()
    run(_in_module("import os; " + deed.format(secret=str(secret))), kind=kind)
    after = secret.stat()
    assert stat.S_IMODE(after.st_mode) == 0o644
    assert after.st_mtime == before.st_mtime
    assert after.st_ctime == before.st_ctime


ANY_SOCKET = """
import socket
made = 0
for family in range(0, 50):
    for kind in (1, 2, 3, 5):
        for protocol in (0, 1, 16):
            try:
                socket.socket(family, kind, protocol)
                made += 1
            except OSError:
                pass
assert made
"""
NETWORK = {
    "a socket of any family": ANY_SOCKET,
    "a connection": "import socket; socket.create_connection(('127.0.0.1', {port}), 2)",
    "a name": "import socket; socket.getaddrinfo('localhost', 80); socket.socket()",
    "a datagram pair": "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "a server": "import socket; a, b = socket.socketpair(); a.bind('name'); a.listen()",
    "another end of a pair": "import socket; a, b = socket.socketpair(); a.connect('/run/systemd/notify')",
    "a socket by number": SYSCALL + "assert call({socket}, 2, 1, 0) >= 0",
    "the old way of 32 bits": SYSCALL + "assert call(0x40000000 + {socket}, 2, 1, 0) >= 0",
    "a ring": SYSCALL + "assert call(425, 8, ctypes.create_string_buffer(120)) >= 0",
}


@pytest.mark.parametrize("attack", _cases(NETWORK))
def test_there_is_no_network(attack, kind, place):
    """D-S8-11: `socket` is denied for every family, since AF_VSOCK would leave a network namespace."""
    number = 41 if os.uname().machine == "x86_64" else 198
    _ends_badly(
        _in_module(NETWORK[attack].replace("{port}", "22").replace("{socket}", str(number))), kind, place
    )


PROCESSES = {
    "fork": "import os\nif os.fork() == 0: os._exit(0)",
    "a command": "import subprocess; subprocess.run(['/bin/true'])",
    "a shell": "import os; assert os.system('true') == 0",
    "posix_spawn": "import os, sys; os.posix_spawn(sys.executable, [sys.executable, '-c', ''], {})",
    "multiprocessing": "import multiprocessing as m; p = m.Process(target=print); p.start(); p.join()",
    "exec": "import os, sys; os.execv(sys.executable, [sys.executable, '-c', ''])",
    "a daemon": "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        import time; time.sleep(600)\n    os._exit(0)",
    "a session": "import os; os.setsid()",
    "a pseudo terminal": "import pty; pty.fork()",
    "vfork by number": SYSCALL + "assert call(58) >= 0",
    "clone by number": SYSCALL + "assert call(56, 17, 0, 0, 0, 0) >= 0",
    "clone3 by number": SYSCALL + "assert call(435, ctypes.create_string_buffer(88), 88) >= 0",
    "another namespace": SYSCALL + "assert call(272, 0x10000000) >= 0",
    "a trace": SYSCALL + "assert call(101, 16, {pid}, 0, 0) >= 0",
    "another's memory": SYSCALL + "assert call(310, {pid}, 0, 0, 0, 0, 0) >= 0",
    "a mount": SYSCALL + "assert call(165, b'none', b'/tmp', b'tmpfs', 0, 0) >= 0",
    "shared memory that stays": SYSCALL + "assert call(29, 7, 4096, 0o1666) >= 0",
    "a queue that stays": SYSCALL + "assert call(240, b'left', 0o102, 0o666, 0) >= 0",
    "shared memory of Python": "from multiprocessing import shared_memory as s; s.SharedMemory('left', True, 4096)",
    "a signal to the gate": "import os; os.kill({pid}, 0)",
    "a signal to its parent": "import os; os.kill(os.getppid(), 0)",
    "a signal to everybody": "import os; os.kill(-1, 0)",
    "a signal to its group": "import os; os.killpg(0, 0)",
    "a limit of the gate": "import resource; resource.prlimit({pid}, resource.RLIMIT_NOFILE, (1, 1))",
    "a limit of its own": "import resource; resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))",
    "its priority": "import os; os.nice(5)",
}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86_64")
@pytest.mark.parametrize("attack", _cases(PROCESSES))
def test_there_are_no_other_processes(attack, kind, place):
    """D-S8-11: nothing is started, nothing is executed, and nothing else is reached."""
    _ends_badly(_in_module(PROCESSES[attack].replace("{pid}", str(os.getpid()))), kind, place)


EXHAUSTION = {
    "memory at once": "x = bytearray(4 << 30)",
    "memory bit by bit": "x = []\nwhile True: x.append(bytearray(1 << 20))",
    "threads": "import threading, time\nfor _ in range(100_000): threading.Thread(target=time.sleep, args=(60,)).start()",
    "processor": "while True: pass",
    "processor in a regular expression": "import re; re.match('(a+)+$', 'a' * 40 + 'b')",
    "time": "import time; time.sleep(600)",
    "time without an interrupt": "import threading; threading.Lock().acquire(); l = threading.Lock(); l.acquire(); l.acquire()",
    "output": "import os\nwhile True: os.write(1, b'x' * 65536)",
    "errors": "import os\nwhile True: os.write(2, b'x' * 65536)",
    "printed output": "while True: print('x' * 65536)",
    "a large file": "open('big-%s' % id(text), 'wb').write(b'x' * (32 << 20))",
    "a sparse file": "import os; os.truncate(open('sparse', 'wb').name, 1 << 40)",
    "many descriptors": "x = [open('/dev/null') for _ in range(100_000)]",
    "a deep stack": "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
    "a huge result": "return {'x' * (17 << 20): 1}",
    "a deep result": "x = []\nfor _ in range(100_000): x = [x]\nreturn x",
}


@pytest.mark.parametrize("attack", _cases(EXHAUSTION))
def test_what_it_may_use_is_limited(attack, kind, place):
    """Rule 4, D-S8-11: memory, processor, time, output, disk, descriptors."""
    _ends_badly(_in_module(EXHAUSTION[attack]), kind, place, timeout_seconds=2.0)


ENDING = {
    "os._exit": "import os; os._exit(0)",
    "sys.exit": "import sys; sys.exit(0)",
    "abort": "import os; os.abort()",
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "a crash": "import ctypes; ctypes.string_at(0)",
    "an interrupt": "raise KeyboardInterrupt",
    "its descriptors closed": "import os; os.closerange(0, 200)",
    "a skip": "import unittest; raise unittest.SkipTest",
    "a thread that ends it": "import os, threading, time; threading.Timer(0.05, os._exit, (0,)).start(); time.sleep(1)",
    "no more builtins": "import builtins; del builtins.isinstance, builtins.len, builtins.type",
}


@pytest.mark.parametrize("attack", _cases(ENDING))
def test_a_module_that_ends_early_does_not_pass(attack, kind, place):
    """D-S8-09: what is missing is no pass."""
    _ends_badly(_in_module(ENDING[attack]), kind, place)


FRAME = """
import json, os, struct
def frame(header, payload=b''):
    text = json.dumps(header).encode()
    return struct.pack('>II', len(text), len(payload)) + text + payload
def everywhere(data):
    for fd in range(3, 64):
        try: os.write(fd, data)
        except OSError: pass
"""
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
    "an endless header": "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'\\xff' * 64)\n    except OSError: pass",
    "an error that is no class": FRAME
    + "everywhere(frame({'event': 'reply', 'id': 1, 'error': 'x', 'message': {}}))",
}


@pytest.mark.parametrize("attack", _cases(FORGING_IN_MODULE))
def test_a_module_cannot_forge_the_report(attack, kind, place):
    """D-S8-09: the module is wrong, and writes to every descriptor that it can find."""
    changes = _in_module(FORGING_IN_MODULE[attack])
    changes[ENTRY] = changes[ENTRY].replace(
        "return dict(Counter(words))", "return {word: 7 for word in words}"
    )
    _ends_badly(changes, kind, place)


HOSTILE_RESULTS = {
    "equal to everything": "class All(dict):\n    def __eq__(self, other): return True\nreturn All()",
    "a subclass of str": "class Any(str):\n    def __eq__(self, other): return True\n    __hash__ = str.__hash__\nreturn {Any('to'): 1}",
    "a function": "return print",
    "a generator": "return (word for word in text)",
    "a cycle": "x = {}\nx['x'] = x\nreturn x",
    "a counter": "return Counter(text.split())",
    "an exception that lies": "class E(EmptyTextError):\n    def __str__(self): return 'no word'\n    __class__ = property(lambda self: EmptyTextError)\nreturn E()",
}


@pytest.mark.parametrize("attack", _cases(HOSTILE_RESULTS))
def test_a_value_that_does_not_cross_ends_the_run(attack, kind, place):
    """D-S8-09, DESIGN §8.1: it is no exception that a test could expect."""
    changes = _in_module(HOSTILE_RESULTS[attack])
    changes[TESTS] = TEST_SOURCE.replace(
        "    assert tally_words",
        "    with pytest.raises(BaseException): tally_words('to')\n    assert tally_words",
    )
    assert "tests.boundary" in broken_off(_ends_badly(changes, kind, place))


PATCHING = {
    "the reports": "import _pytest.reports as r\nr.TestReport.from_item_and_call = classmethod(lambda c, i, call: c(i.nodeid, i.location, {}, 'passed', None, call.when))",
    "the calls": "import _pytest.runner as r\nr.CallInfo.from_call = classmethod(lambda c, f, when, reraise=None: c(None, None, 0, 0, 0, when, _ispytest=True))",
    "the code of a function": "import _pytest.python as p\ndef nothing(pyfuncitem): return True\np.pytest_pyfunc_call.__code__ = nothing.__code__",
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


@pytest.mark.parametrize("attack", _cases(PATCHING))
def test_tests_that_patch_what_runs_them_do_not_pass(attack, kind, place):
    """D-S8-09, D-S8-12: pytest patched from the tests, plugins, and tests that change other tests."""
    _ends_badly(_in_tests(PATCHING[attack]), kind, place)


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
    + "import threading\nthreading.Timer(0.1, everywhere, (frame({'event': 'end'}),)).start()\nimport time; time.sleep(0.5)",
}


@pytest.mark.parametrize("attack", _cases(FORGING_IN_TESTS))
def test_tests_cannot_forge_the_report(attack, kind, place):
    """D-S8-09, D-S8-12: messages of their own, an early end, tests that are not run, a module of their own."""
    _ends_badly(_in_tests(FORGING_IN_TESTS[attack]), kind, place)


@pytest.mark.parametrize(
    "deed",
    [READING["a file of the factory"], CHANGING["a file of the factory"], ANY_SOCKET, PROCESSES["fork"]],
    ids=["reading", "writing", "network", "fork"],
)
def test_tests_are_confined_like_the_module(deed, kind, place, secret):
    """D-S8-11: tests are written by a model too."""
    deed = deed.format(secret=str(secret)) if "{secret" in deed else deed
    changes = {TESTS: TEST_SOURCE.replace("import pytest\n", f"import pytest\n{deed}\n", 1)}
    _ends_badly(changes, kind, place)
    assert secret.read_text() == "secret"


def test_examples_are_confined_like_the_module(kind, place, secret):
    """D-S8-11: examples are code too."""
    text = (MODULES / "tally_words/examples.md").read_text(encoding="utf-8")
    changes = {
        "examples.md": text.replace(
            '\ntally_words("to', f'\nopen({str(secret)!r}).read()\ntally_words("to', 1
        )
    }
    assert "examples.false" in broken_off(run(changes, kind=kind))
    assert not list(place.iterdir())


def test_a_changed_argument_is_told(kind):
    """D-S8-18, DESIGN §8.1: the module's process compares its inputs before and after a call."""
    name = "implementation/__init__.py"
    good = run({}, kind=kind, name="shorten")
    assert good.findings == ()
    source = SOURCE.replace("text: str, fold", "text: list, fold").replace(
        "    words = (text.casefold() if fold else text).split()",
        "    words = text[0].split(); text.append('more')",
    )
    tests = TEST_SOURCE.replace('tally_words("to be or not to be")', 'tally_words(["to be or not to be"])')
    assert "tests.argument_changed" in broken_off(run({name: source, TESTS: tests}, kind=kind))


def _python_for(user):
    """An interpreter of this version that another user may execute."""
    for path in (
        sys.executable,
        f"/usr/bin/python3.{sys.version_info.minor}",
        f"/usr/local/bin/python3.{sys.version_info.minor}",
    ):
        code = "import sys; print(sys.version_info[:2])"
        try:
            done = subprocess.run(
                [path, "-c", code], user=user, capture_output=True, text=True, cwd="/", check=False
            )
        except OSError:
            continue
        if done.stdout.strip() == str(sys.version_info[:2]):
            return path
    return None


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(os.getuid() != 0, reason="the suite runs as an unprivileged user already")
def test_the_attacks_end_the_same_for_an_unprivileged_user():
    """D-S8-11: all of the above once more, as nobody."""
    nobody = 65534
    python = _python_for(nobody)
    if python is None:
        pytest.skip("no Python here may be executed by another user")
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))  # another user may reach it
    try:
        folder.chmod(0o755)
        home = folder / "home"
        home.mkdir()
        os.chown(home, nobody, nobody)
        checkout = Path(__file__).parents[2]
        for part in ("src", "tests"):
            shutil.copytree(checkout / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(checkout / "pyproject.toml", folder)
        places = [str(folder / "src"), *(path for path in sys.path if path.endswith("site-packages"))]
        options = [
            "-q",
            "-p",
            "no:cacheprovider",
            "-n",
            "4",
            f"--basetemp={home}/tmp",
            "-k",
            "not unprivileged",
        ]
        done = subprocess.run(
            [python, "-B", "-m", "pytest", *options, "tests/gate/test_attacks.py"],
            cwd=folder,
            user=nobody,
            group=nobody,
            extra_groups=[],
            env={
                "PATH": os.defpath,
                "HOME": str(home),
                "TMPDIR": str(home),
                "PYTHONPATH": os.pathsep.join(places),
            },
            capture_output=True,
            text=True,
            timeout=800,
            check=False,
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        assert " passed" in done.stdout
    finally:
        shutil.rmtree(folder)
