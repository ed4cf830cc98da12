"""Takes away, irrevocably, what a process inside the sandbox does not need (design: ship-gate).

Called by our own code before anything of a candidate is loaded. Limits and the system call filter always; Landlock
where no mount namespace does its part. What is taken cannot be had again by anything that runs in the process.

Left out, because only a mount namespace can do it: hiding that a file exists, under Landlock. `stat` finds it, and opening
it raises PermissionError.

The tables of system calls are those of x86_64 and aarch64, the two that Landlock and seccomp are used on here.
"""

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
from collections.abc import Iterable
from typing import Any

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_SAME = {
    "clone3": 435, "pidfd_open": 434, "pidfd_getfd": 438, "pidfd_send_signal": 424, "process_madvise": 440,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442, "memfd_secret": 447,
    "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "quotactl_fd": 443, "process_mrelease": 448,
    "close_range": 436, "statmount": 457, "listmount": 458, "open_tree_attr": 467,
}  # fmt: skip

_X86_64 = {
    "close": 3, "dup2": 33, "dup3": 292,
    "socket": 41, "connect": 42, "accept": 43, "bind": 49, "listen": 50, "socketpair": 53, "accept4": 288,
    "clone": 56, "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "ptrace": 101, "kill": 62, "tkill": 200,
    "tgkill": 234, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "prlimit64": 302, "setpriority": 141,
    "setpgid": 109, "setsid": 112,
    "sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203, "sched_setattr": 314,
    "ioprio_set": 251, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272,
    "setns": 308, "keyctl": 250, "add_key": 248, "request_key": 249, "bpf": 321, "perf_event_open": 298,
    "userfaultfd": 323, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "open_by_handle_at": 304,
    "name_to_handle_at": 303, "memfd_create": 319, "seccomp": 317, "shmget": 29, "shmat": 30, "shmctl": 31,
    "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "semget": 64, "semop": 65, "semctl": 66,
    "semtimedop": 220, "mq_open": 240, "mq_unlink": 241, "fanotify_init": 300, "inotify_init": 253,
    "inotify_add_watch": 254, "inotify_init1": 294, "quotactl": 179, "swapon": 167,
    "swapoff": 168, "reboot": 169, "sethostname": 170, "setdomainname": 171, "init_module": 175,
    "finit_module": 313, "delete_module": 176, "kexec_load": 246, "kexec_file_load": 320, "acct": 163,
    "settimeofday": 164, "clock_settime": 227, "adjtimex": 159, "clock_adjtime": 305, "syslog": 103,
    "personality": 135, "iopl": 172, "ioperm": 173, "vhangup": 153, "modify_ldt": 154, "move_pages": 279,
    "migrate_pages": 256, "chmod": 90, "fchmod": 91, "fchmodat": 268, "chown": 92, "fchown": 93, "lchown": 94,
    "fchownat": 260, "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "setxattr": 188,
    "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
}  # fmt: skip

_AARCH64 = {
    "close": 57, "dup3": 24,
    "socket": 198, "socketpair": 199, "bind": 200, "listen": 201, "accept": 202, "connect": 203, "accept4": 242,
    "clone": 220, "execve": 221, "execveat": 281, "ptrace": 117, "kill": 129, "tkill": 130, "tgkill": 131,
    "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240, "prlimit64": 261, "setpriority": 140, "setpgid": 154, "setsid": 157,
    "sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122, "sched_setattr": 274,
    "ioprio_set": 30, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "unshare": 97, "setns": 268,
    "keyctl": 219, "add_key": 217, "request_key": 218, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282,
    "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "open_by_handle_at": 265,
    "name_to_handle_at": 264, "memfd_create": 279, "seccomp": 277, "shmget": 194, "shmctl": 195, "shmat": 196,
    "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189, "semget": 190, "semctl": 191, "semtimedop": 192,
    "semop": 193, "mq_open": 180, "mq_unlink": 181, "fanotify_init": 262, "inotify_init1": 26,
    "inotify_add_watch": 27, "quotactl": 60, "swapon": 224,
    "swapoff": 225, "reboot": 142, "sethostname": 161, "setdomainname": 162, "init_module": 105,
    "delete_module": 106, "finit_module": 273, "kexec_load": 104, "kexec_file_load": 294, "acct": 89,
    "settimeofday": 170, "clock_settime": 112, "adjtimex": 171, "clock_adjtime": 266, "syslog": 116,
    "personality": 92, "vhangup": 58, "move_pages": 239, "migrate_pages": 238, "fchmod": 52, "fchmodat": 53,
    "fchownat": 54, "fchown": 55, "utimensat": 88, "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7,
    "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
}  # fmt: skip

_NUMBERS = {**_SAME, **{"x86_64": _X86_64, "aarch64": _AARCH64}.get(platform.machine(), {})}
"""Of this machine; a name that its kernel does not have is missing."""

_PRETENDED = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes",
    "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr",
    "fremovexattr", "setxattrat", "removexattrat",
)  # fmt: skip
"""Changes of a file's metadata, which Landlock does not see: there they report success and do nothing, and
`metadata_calls` has them made. In a mount namespace the read-only mounts refuse them."""

_SELF_ONLY = ("kill", "tgkill", "prlimit64", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
"""May be aimed at the process itself alone (their first argument)."""

_FORKING = ("clone", "clone3", "fork", "vfork", "kill")
"""What a script of the gate needs that runs each variant of a module in a fork; its forks may not."""

_OF_THEIR_OWN = {"clone", "clone3", "socketpair", "close", "dup2", "dup3", "close_range"}

_DENIED = tuple(
    name for name in _NUMBERS if name not in {*_PRETENDED, *_SELF_ONLY, *_OF_THEIR_OWN}
)  # fmt: skip
"""Fail with EPERM: sockets of every family, processes, other processes' memory, namespaces, kernel state, shared
memory that would outlive the process. `execve` is among them: nothing is executed after the start."""


LEAST_LANDLOCK = 3
"""The first version that also guards truncation (Linux 6.2)."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_SECCOMP, _BOUNDING_DROP, _NO_NEW_PRIVILEGES = 1, 4, 22, 24, 38
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _DEVICES = 1, 2, 4, 8, 1 << 14, 1 << 15
_MAKE_SPECIAL = 1 << 6 | 1 << 9 | 1 << 11  # character devices, sockets, block devices
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICES


def confine(plan: dict[str, Any], *, pretend: bool = True) -> None:
    """Confine this process as its plan says.

    Args:
        plan: `sandbox` its kind; `reads` and `writes` paths; `limits` by name of `RLIMIT_`; `forks` if it may fork.
        pretend: Whether changes of metadata do nothing under Landlock.

    Raises:
        OSError: the kernel refuses; nothing of a candidate may then be loaded.
    """
    _limit(plan["limits"])
    if plan["sandbox"] == "none":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    _checked(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _drop_capabilities(libc)
    if plan["sandbox"] == "landlock":
        _checked(libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0))
        _restrict_files(libc, plan["reads"], plan["writes"])
    _checked(libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0))
    forks = bool(plan.get("forks"))
    # what a module's process tells of the module goes this way, and cannot be cut off
    link = (plan["from_gate"], plan["to_gate"]) if plan["role"] == "module_host" else ()
    pretend = pretend and plan["sandbox"] == "landlock"
    _filter_calls(libc, pretend=pretend, forks=forks, link=link)
    if forks:
        # only our own code forks; what it forks may not
        os.register_at_fork(after_in_child=lambda: _filter_calls(libc, pretend=False, forks=False))


def forbid_signals() -> None:
    """Let this process, which may fork, and its forks send no signal but to itself: what it loads next is a candidate's."""
    if platform.machine() not in _AUDIT_ARCH:
        return
    steps = [_step(_LOAD, _NUMBER), *_argument("kill", _ARGUMENT_0, [_step(_EQUAL, os.getpid(), yes=1)])]
    _install(ctypes.CDLL(None, use_errno=True), b"".join([*steps, _step(_RETURN, _ALLOW)]))


def landlock_version() -> int:
    """Of the running kernel; 0 or less without Landlock."""
    return ctypes.CDLL(None, use_errno=True).syscall(_CREATE_RULESET, None, 0, 1)


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _limit(limits: dict[str, int]) -> None:
    for name, most in limits.items():
        number = getattr(resource, f"RLIMIT_{name}", None)
        if number is not None:
            hard = resource.getrlimit(number)[1]
            if hard != resource.RLIM_INFINITY:
                most = min(most, hard)
            # a process that uses up its processor time gets a signal a second before its end
            soft = most - 1 if name == "CPU" else most
            resource.setrlimit(number, (soft, most))


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Also root owns no more than its files then. Without capabilities there is nothing to drop."""
    for capability in range(64):
        if libc.prctl(_BOUNDING_DROP, capability, 0, 0, 0) < 0:
            break
    header = ctypes.create_string_buffer(struct.pack("=Ii", 0x20080522, 0))
    _checked(libc.capset(header, ctypes.create_string_buffer(24)))


def _restrict_files(libc: ctypes.CDLL, reads: Iterable[str], writes: Iterable[str]) -> None:
    version = landlock_version()
    if version < LEAST_LANDLOCK:
        raise OSError(errno.ENOSYS, "Landlock is too old")
    every = (1 << (15 if version < 5 else 16)) - 1
    parts = (every, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _checked(libc.syscall(_CREATE_RULESET, struct.pack("=QQQ", *parts)[:size], size, 0))
    for paths, rights in (
        (reads, _READ_FILE | _READ_DIR),
        (writes, every & ~_EXECUTE & ~_MAKE_SPECIAL & ~_DEVICES),
    ):
        for path in paths:
            _allow(libc, ruleset, path, rights & every)
    _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    if not os.path.exists(path):  # noqa: PTH110 - nothing more is loaded here than is needed
        return
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not os.path.isdir(path):  # noqa: PTH112 - pathlib is not loaded in here
        rights &= _OF_FILES
    _checked(libc.syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, place), 0))
    os.close(place)


# --- The filter: a program for the kernel's packet filter over (call number, architecture, arguments) ---

_LOAD, _EQUAL, _AT_LEAST, _SET, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENT_0, _ARGUMENT_1 = 0, 4, 16, 24
_THREAD = 0x00010000  # CLONE_THREAD
_STREAM = 1
_X32 = 0x40000000
_TIOCSTI = 0x5412
_IOCTL = {"x86_64": 16, "aarch64": 29}


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _program(*, pretend: bool, forks: bool, link: tuple[int, ...] = ()) -> bytes:
    machine = platform.machine()
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, _AUDIT_ARCH[machine], yes=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        steps += [_step(_AT_LEAST, _X32, no=1), _step(_RETURN, _KILL)]
    allowed = _FORKING if forks else ()
    steps += _numbers((name for name in _DENIED if name not in allowed), _FAIL | errno.EPERM)
    if not forks:
        # the library falls back to `clone`, whose flags can be read
        steps += _numbers(("clone3",), _FAIL | errno.ENOSYS)
        steps += _argument("clone", _ARGUMENT_0, [_step(_SET, _THREAD, yes=1)])
    if pretend:
        steps += _numbers(_PRETENDED, _FAIL)
    # a connected stream can be aimed at nothing else, unlike a datagram
    steps += _argument("socketpair", _ARGUMENT_1, [_step(_AND, 0xF), _step(_EQUAL, _STREAM, yes=1)])
    if link:
        steps += _numbers(("close_range",), _FAIL | errno.ENOSYS)
        one, other = link
        not_kept = [_step(_EQUAL, one, yes=1), _step(_EQUAL, other, no=1)]
        for name, place in (("close", _ARGUMENT_0), ("dup2", _ARGUMENT_1), ("dup3", _ARGUMENT_1)):
            steps += _argument(name, place, not_kept) if name in _NUMBERS else []
    for name in [name for name in _SELF_ONLY if name not in allowed]:
        itself = [_step(_EQUAL, os.getpid(), yes=1)]
        if name == "prlimit64":
            itself = [_step(_EQUAL, 0, yes=2), *itself]
        steps += _argument(name, _ARGUMENT_0, itself)
    steps += [
        _step(_EQUAL, _IOCTL[machine], no=4),
        _step(_LOAD, _ARGUMENT_1),
        _step(_EQUAL, _TIOCSTI, no=1),
        _step(_RETURN, _FAIL | errno.EPERM),
        _step(_RETURN, _ALLOW),
    ]
    steps.append(_step(_RETURN, _ALLOW))
    return b"".join(steps)


def _numbers(names: Iterable[str], answer: int) -> list[bytes]:
    steps: list[bytes] = []
    for name in names:
        if name in _NUMBERS:
            steps += [_step(_EQUAL, _NUMBERS[name], no=1), _step(_RETURN, answer)]
    return steps


def _argument(name: str, place: int, allowed: list[bytes]) -> list[bytes]:
    """One call that is allowed where the last of these steps jumps over one, and fails elsewhere."""
    inner = [_step(_LOAD, place), *allowed, _step(_RETURN, _FAIL | errno.EPERM), _step(_RETURN, _ALLOW)]
    return [_step(_EQUAL, _NUMBERS[name], no=len(inner)), *inner]


def _filter_calls(libc: ctypes.CDLL, *, pretend: bool, forks: bool, link: tuple[int, ...] = ()) -> None:
    _install(libc, _program(pretend=pretend, forks=forks, link=link))


def _install(libc: ctypes.CDLL, program: bytes) -> None:
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    _checked(libc.prctl(_SET_SECCOMP, 2, ctypes.create_string_buffer(header), 0, 0))
