"""Attacks on the network and on other processes: there are none that can be reached."""
# ruff: noqa: E501 - an attack stands in one line, however long

import os

import pytest

from gate_testkit.hostile import SYSCALL, come_through

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


def test_there_is_no_network(kind, place):
    """D-S8-11: `socket` is denied for every family, since AF_VSOCK would leave a network namespace."""
    number = "41" if os.uname().machine == "x86_64" else "198"
    deeds = {name: deed.replace("{port}", "22").replace("{socket}", number) for name, deed in NETWORK.items()}
    assert come_through(deeds, kind, place) == []


PROCESSES = {
    "fork": "import os\nif os.fork() == 0: os._exit(0)",
    "a command": "import subprocess; subprocess.run(['/bin/true'])",
    "a shell": "import os; assert os.system('true') == 0",
    "posix_spawn": "import os, sys; os.posix_spawn(sys.executable, [sys.executable, '-c', ''], {})",
    "multiprocessing": "import multiprocessing as m; p = m.Process(target=print); p.start(); p.join()",
    "exec": "import os, sys; os.execv(sys.executable, [sys.executable, '-c', ''])",
    "a daemon": "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        import select; select.select((), (), (), 600)\n    os._exit(0)",
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
    "a watch on others' files": SYSCALL + "assert call(294, 0) >= 0",
    "its priority": "import os; os.nice(5)",
}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86_64")
def test_there_are_no_other_processes(kind, place):
    """D-S8-11: nothing is started, nothing is executed, and nothing else is reached."""
    deeds = {name: deed.replace("{pid}", str(os.getpid())) for name, deed in PROCESSES.items()}
    assert come_through(deeds, kind, place) == []
