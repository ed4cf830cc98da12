"""System calls end the same under bubblewrap and under Landlock, so that verdicts do not depend on the sandbox.

Left out, because only a mount namespace can do it: a file that the sandbox hides does not exist under bubblewrap, and
may not be opened under Landlock. Each raises an OSError of its own class.
"""

from gate_testkit.observing import observed

MODULE = """
import os, shutil, stat, tarfile, threading
from pathlib import Path

def mode(path, **options):
    return oct(stat.S_IMODE(os.stat(path, **options).st_mode))

def moment(path, **options):
    return os.stat(path, **options).st_mtime_ns

def made(name, text="text"):
    Path(name).write_text(text)
    return name

def f(path, text):
    folder = f"deed-{len(os.listdir('.'))}"
    os.mkdir(folder)
    os.chdir(folder)
    try:
        *steps, last = text.split("; ")
        names = dict(globals())
        exec("\\n".join(steps), names)
        print(eval(last, names), end="")
    except OSError as error:
        print(type(error).__name__, error.errno, end="")
    except Exception as error:
        print(type(error).__name__, end="")
"""

DEEDS = {
    # --- metadata, which Landlock does not see ---
    "Path('new').touch(); Path('new').read_text()": "",
    "made('a'); os.utime('a', (1, 1)); Path('a').touch(); moment('a') > 10**9": "True",
    "Path(made('a')).touch(exist_ok=False)": "FileExistsError 17",
    "os.utime('missing')": "FileNotFoundError 2",
    "os.utime('missing', (1, 1))": "FileNotFoundError 2",
    "os.utime(made('a') + '/b')": "NotADirectoryError 20",
    "os.symlink('loop', 'loop'); os.utime('loop')": "OSError 40",
    "os.utime(made('a'), (1, 2.5)); moment('a')": "2500000000",
    "os.utime(made('a'), ns=(1, 7)); moment('a')": "7",
    "os.utime(made('a'), (1, 1), ns=(1, 7))": "ValueError",
    "os.utime(made('a'), 5)": "TypeError",
    "f = open(made('a')); os.utime(f.fileno(), (1, 2)); moment('a')": "2000000000",
    "d = os.open('.', 0); made('a'); os.utime('a', (1, 2), dir_fd=d); moment('a')": "2000000000",
    "os.symlink(made('a'), 'b'); os.utime('b', (1, 2)); moment('a')": "2000000000",
    "os.symlink(made('a'), 'b'); os.utime('b', (1, 2), follow_symlinks=False);"
    " moment('b', follow_symlinks=False) == moment('a')": "False",
    "os.chmod(made('a'), 0o640); mode('a')": "0o640",
    "Path(made('a')).chmod(0o600); mode('a')": "0o600",
    "os.chmod(made('a'), 0); open('a')": "PermissionError 13",
    "os.mkdir('d'); os.chmod('d', 0o500); made('d/x')": "PermissionError 13",
    "f = open(made('a')); os.fchmod(f.fileno(), 0o604); mode('a')": "0o604",
    "f = open(made('a')); os.chmod(f.fileno(), 0o604); mode('a')": "0o604",
    "os.fchmod(99_999, 0o600)": "OSError 9",
    "os.chmod('missing', 0o600)": "FileNotFoundError 2",
    "os.chmod(made('a'), 'x')": "TypeError",
    "os.chmod(os.__file__, 0o777)": "OSError 30",
    "os.symlink(os.__file__, 'out'); os.chmod('out', 0o777)": "OSError 30",
    "os.utime(os.__file__, (1, 1))": "OSError 30",
    "os.setxattr(os.__file__, 'user.a', b'1')": "OSError 30",
    "f = open(os.__file__); os.fchmod(f.fileno(), 0o777)": "OSError 30",
    "os.chown(made('a'), os.getuid(), -1)": "None",
    "os.lchown(made('a'), -1, os.getgid())": "None",
    "os.chown(made('a'), 12345, -1)": "OSError 22",
    "os.chown('missing', -1, -1)": "FileNotFoundError 2",
    "made('a'); os.chmod('a', 0o640); os.utime('a', (1, 2)); shutil.copy2('a', 'b'); (mode('b'), moment('b'))":
    "('0o640', 2000000000)",
    "os.mkdir('d'); os.chmod(made('d/a'), 0o604); shutil.copytree('d', 'e'); mode('e/a')": "0o604",
    "made('a'); os.utime('a', (1, 9)); t = tarfile.open('t', 'w'); t.add('a'); t.close(); os.unlink('a');"
    " t = tarfile.open('t'); t.extractall('.'); moment('a')": "9000000000",
    "os.removexattr(made('a'), 'user.a')": "OSError 61",
    "os.setxattr(made('a'), 'user.a', b'\\xff'); os.getxattr('a', 'user.a')": "b'\\xff'",
    "os.setxattr(made('a'), 'user.a', b'1'); os.removexattr('a', 'user.a'); os.listxattr('a')": "[]",
    "os.setxattr(made('a'), 'trusted.a', b'1')": "PermissionError 1",
    "os.chmod in os.supports_fd, os.utime in os.supports_follow_symlinks": "(True, True)",
    "t = [threading.Thread(target=os.utime, args=(made(f'f{n}'), (n, n))) for n in range(30)];"
    " [x.start() for x in t]; [x.join() for x in t]; [moment(f'f{n}') // 10**9 for n in range(30)] == [*range(30)]":
    "True",
    # --- files ---
    "open('/missing/x')": "FileNotFoundError 2",
    "open('/missing/x', 'w')": "FileNotFoundError 2",
    "open(made('a') + '/b', 'w')": "NotADirectoryError 20",
    "os.mkdir('d'); open('d')": "IsADirectoryError 21",
    "os.mkdir('d'); open('d', 'w')": "IsADirectoryError 21",
    "os.mkdir('d'); made('d/a'); os.rmdir('d')": "OSError 39",
    "os.mkdir('d'); os.rename(made('a'), 'd/b'); os.listdir('d')": "['b']",
    "os.mkdir('d'); os.link(made('a'), 'd/b'); os.stat('a').st_nlink": "2",
    "os.mkfifo('p'); stat.S_ISFIFO(os.stat('p').st_mode)": "True",
    "made('a'); os.truncate('a', 1); Path('a').read_text()": "t",
    "open('n' * 300, 'w')": "OSError 36",
    "open('x\\0y')": "ValueError",
    "open('/dev/null', 'w').write('x')": "1",
    "open('/dev/urandom', 'rb').read(1) != b''": "True",
    "len(open(os.__file__).read()) > 0": "True",
    "Path(made('a')).owner()": "KeyError",
    "os.path.expanduser('~root')": "~root",
    "Path.home() == Path.cwd().parent": "True",
}  # fmt: skip
"""Statements before one expression, and the text of its value or of the error."""


def test_a_system_call_ends_the_same_in_each_sandbox(kind):
    """D-60-03, D-S8-10, D-S8-11: results and error classes, those of changed metadata first of all."""
    replies = observed(MODULE, kind=kind, texts=[*DEEDS]).replies
    found = {deed: reply["out"] for deed, reply in zip(DEEDS, replies, strict=True)}
    assert {deed: out for deed, out in found.items() if out != DEEDS[deed]} == {}
