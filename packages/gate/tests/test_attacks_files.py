"""Attacks on files: what is not a run's own can be neither read nor changed, by the module, the tests or the examples."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from gate_testkit.hostile import TEST_SOURCE, TESTS, come_through, ends_badly
from gate_testkit.judging import MODULES
from gate_testkit.running import broken_off, run
from testkit.sampling import spread

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
    "the gate's code": "import ship_gate.errors",
    "other packages": "import pytest",
}


def test_what_is_not_its_own_cannot_be_read(kind: str, place: Path, secret: Path):
    """D-S8-11: secrets, the store, the environment, other processes, and the tests."""
    named = {"secret": str(secret), "folder": str(secret.parent), "pid": os.getpid(), "place": str(place)}
    deeds = {name: deed.format(**named) for name, deed in READING.items()}
    assert come_through(deeds, kind, place) == []


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
    "its mode": "import os; os.chmod({secret!r}, 0o777)",
    "its times": "import os; os.utime({secret!r}, (1, 1))",
    "its attributes": "import os; os.setxattr({secret!r}, 'user.a', b'1')",
}


def test_nothing_outside_its_scratch_can_be_changed(kind: str, place: Path, secret: Path):
    """D-S8-11: the root is read-only, whatever way is taken; nor does metadata change, which Landlock does not see."""
    before = secret.stat()
    named = {"secret": str(secret), "folder": str(secret.parent)}
    assert come_through({name: deed.format(**named) for name, deed in CHANGING.items()}, kind, place) == []
    assert secret.read_text() == "secret"
    assert sorted(path.name for path in secret.parent.iterdir()) == ["gate", "state.db"]
    after = secret.stat()
    assert (stat.S_IMODE(after.st_mode), after.st_mtime, after.st_ctime) == (
        0o644,
        before.st_mtime,
        before.st_ctime,
    )


@pytest.mark.parametrize(
    "deed",
    spread(
        [
            READING["a file of the factory"],
            CHANGING["a file of the factory"],
            "import socket; socket.socketpair()[0].bind('x')",
            "import os\nif os.fork() == 0: os._exit(0)",
        ],
        fast=4,
    ),
    ids=["reading", "writing", "network", "fork"],
)
def test_tests_are_confined_like_the_module(deed: Any, kind: str, place: Path, secret: Path):
    """D-S8-11: tests are written by a model too."""
    deed = deed.format(secret=str(secret)) if "{secret" in deed else deed
    changes = {TESTS: TEST_SOURCE.replace("import pytest\n", f"import pytest\n{deed}\n", 1)}
    ends_badly(changes, place, kind)
    assert secret.read_text() == "secret"


def test_examples_are_confined_like_the_module(kind: str, place: Path, secret: Path):
    """D-S8-11: examples are code too."""
    text = (MODULES / "tally_words/examples.md").read_text(encoding="utf-8")
    changes = {
        "examples.md": text.replace(
            '\ntally_words("to', f'\nopen({str(secret)!r}).read()\ntally_words("to', 1
        )
    }
    assert "examples.false" in broken_off(run(changes, kind=kind))
    assert not list(place.iterdir())
