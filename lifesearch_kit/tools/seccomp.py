"""The filter of system calls in the python tool's sandbox, as the kernel's packet-filter bytecode (Linux's seccomp(2)).

Numbers are those of the kernel's headers asm/unistd_64.h and asm-generic/unistd.h.
"""

from __future__ import annotations

import struct

from lifesearch_kit.errors import InputError

# Name, number on x86_64, number on aarch64. What starts a process or thread, reaches others or beyond the machine,
# holds memory that no limit counts, or opens parts of the kernel that a calculation has no use for.
_DENIED = """
fork 57 -, vfork 58 -, clone 56 220, socket 41 198, mq_open 240 180, mq_unlink 241 181, memfd_create 319 279,
memfd_secret 447 447, shmget 29 194, shmat 30 196, shmctl 31 195, shmdt 67 197, semget 64 190, semop 65 193,
semctl 66 191, semtimedop 220 192, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187, ptrace 101 117,
process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272, process_madvise 440 440,
process_mrelease 448 448, pidfd_open 434 434, pidfd_getfd 438 438, pidfd_send_signal 424 424, userfaultfd 323 282,
umount2 166 39, pivot_root 155 41, chroot 161 51, unshare 272 97, setns 308 268, open_tree 428 428,
move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442,
name_to_handle_at 303 264, open_by_handle_at 304 265, bpf 321 280, perf_event_open 298 241, io_uring_setup 425 425,
io_uring_enter 426 426, io_uring_register 427 427, io_setup 206 0, io_submit 209 2, add_key 248 217,
request_key 249 218, keyctl 250 219, kexec_load 246 104, kexec_file_load 320 294, init_module 175 105,
finit_module 313 273, delete_module 176 106, reboot 169 142, swapon 167 224, swapoff 168 225, syslog 103 116,
acct 163 89, settimeofday 164 170, clock_settime 227 112, adjtimex 159 171, clock_adjtime 305 266, quotactl 179 60,
quotactl_fd 443 443, lookup_dcookie 212 18, iopl 172 -, ioperm 173 -, modify_ldt 154 -, uselib 134 -, sysfs 139 -,
nfsservctl 180 42, personality 135 92, vhangup 153 58, sethostname 170 161, setdomainname 171 162, vmsplice 278 75,
fanotify_init 300 262, fanotify_mark 301 263, inotify_init 253 -, inotify_init1 294 26, mbind 237 235,
set_mempolicy 238 237, migrate_pages 256 238, move_pages 279 239, remap_file_pages 216 234, timer_create 222 107
"""
# Machine: its number in the kernel (AUDIT_ARCH), its column above, its number of mount.
_MACHINES = {"x86_64": (0xC000003E, 1, 165), "aarch64": (0xC00000B7, 2, 40), "arm64": (0xC00000B7, 2, 40)}
_CLONE3 = 435
# Newer calls than this filter's table knows (450: set_mempolicy_home_node) are absent; so are x86_64's x32 twins.
_LAST = 449
# What the worker asks for while it still may (MS_REMOUNT, MS_NOSUID, MS_NODEV), to cap the number of files.
REMOUNT = 32 | 2 | 4

_EPERM, _ENOSYS = 1, 38
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _GREATER, _RETURN = 0x20, 0x15, 0x25, 0x06
_NEXT = ""
_NUMBER, _ARCHITECTURE, _FOURTH_ARGUMENT = 0, 4, 16 + 3 * 8
# Code, operand, and where to go on when a comparison holds and when it does not: the name of an ending, or just on.
_Instruction = tuple[int, int, str, str]


def seccomp_program(machine: str) -> bytes:
    """The filter for a machine as `platform.machine()` names it.

    Denied calls fail with EPERM, those that the table does not know yet with ENOSYS. A call by another architecture's
    numbers kills the process.

    Raises
    ------
    InputError
        For a machine whose numbers are not known here.
    """
    if machine not in _MACHINES:
        known = ", ".join(_MACHINES)
        raise InputError(f"the python tool's bubblewrap sandbox knows {known}, not {machine!r}; choose sandbox: monty")
    architecture, column, mount = _MACHINES[machine]
    numbers = [row.split()[column] for row in _DENIED.split(",")]
    denied: list[_Instruction] = [(_EQUAL, int(one), "deny", _NEXT) for one in numbers if one != "-"]
    instructions: list[_Instruction] = [
        (_LOAD, _ARCHITECTURE, _NEXT, _NEXT),
        (_EQUAL, architecture, _NEXT, "kill"),
        (_LOAD, _NUMBER, _NEXT, _NEXT),
        (_GREATER, _LAST, "unknown", _NEXT),
        (_EQUAL, _CLONE3, "unknown", _NEXT),
        (_EQUAL, mount, "mount", _NEXT),
        *denied,
        (_RETURN, _ALLOW, _NEXT, _NEXT),
    ]
    endings: dict[str, list[_Instruction]] = {
        "mount": [(_LOAD, _FOURTH_ARGUMENT, _NEXT, _NEXT), (_EQUAL, REMOUNT, "allow", "deny")],
        "allow": [(_RETURN, _ALLOW, _NEXT, _NEXT)],
        "deny": [(_RETURN, _ERRNO | _EPERM, _NEXT, _NEXT)],
        "unknown": [(_RETURN, _ERRNO | _ENOSYS, _NEXT, _NEXT)],
        "kill": [(_RETURN, _KILL_PROCESS, _NEXT, _NEXT)],
    }
    places: dict[str, int] = {}
    for name, ending in endings.items():
        places[name] = len(instructions)
        instructions += ending
    return b"".join(
        struct.pack("=HBBI", code, *(places[to] - index - 1 if to else 0 for to in (hit, miss)), value)
        for index, (code, value, hit, miss) in enumerate(instructions)
    )
