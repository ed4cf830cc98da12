"""System call numbers, and which of them a confined process may not make (design: ship-gate).

Tables for x86_64 and aarch64, the two that Landlock and seccomp are used on here.
"""

import platform

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

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

NUMBERS = {**_SAME, **{"x86_64": _X86_64, "aarch64": _AARCH64}.get(platform.machine(), {})}
"""Of this machine; a name that its kernel does not have is missing."""

PRETENDED = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes",
    "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr",
    "fremovexattr", "setxattrat", "removexattrat",
)  # fmt: skip
"""Changes of a file's metadata, which Landlock does not see: there they report success and do nothing, and
`metadata_calls` has them made. In a mount namespace the read-only mounts refuse them."""

SELF_ONLY = ("kill", "tgkill", "prlimit64", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
"""May be aimed at the process itself alone (their first argument)."""

FORKING = ("clone", "clone3", "fork", "vfork", "kill")
"""What a script of the gate needs that runs each variant of a module in a fork; its forks may not."""

_OF_THEIR_OWN = {"clone", "clone3", "socketpair", "close", "dup2", "dup3", "close_range"}

DENIED = tuple(
    name for name in NUMBERS if name not in {*PRETENDED, *SELF_ONLY, *_OF_THEIR_OWN}
)  # fmt: skip
"""Fail with EPERM: sockets of every family, processes, other processes' memory, namespaces, kernel state, shared
memory that would outlive the process. `execve` is among them: nothing is executed after the start."""
