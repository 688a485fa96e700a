"""The python tool in CPython: attacks run as real programs, limits, state within a run, and that nothing is left."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Template

import pytest

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.tools import Tool, function_schema
from lifesearch_kit.tools import sandbox as sandbox_module
from lifesearch_kit.tools.probe import require_confinement
from lifesearch_kit.tools.python import python_tool
from lifesearch_kit.tools.seccomp import REMOUNT, seccomp_program

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
SECONDS = 5.0
GIB = 2**30
FRESH = "the next one starts afresh"
ALLOW_ALL = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)


@pytest.fixture(scope="module")
def once() -> Tool:
    """A tool whose calls share nothing."""
    return available(persistent=False)


@pytest.fixture(scope="module")
def kept() -> Tool:
    """A tool that keeps state within a run."""
    return available(persistent=True)


def available(**settings: object) -> Tool:
    try:
        return python_tool(sandbox="bubblewrap", **{"seconds": SECONDS, **settings})  # type: ignore[arg-type]
    except InputError as error:
        if "does not let this user make namespaces" not in str(error):
            raise
        pytest.skip(str(error))


async def outcome(tool: Tool, code: str) -> str:
    try:
        return await tool.run({"code": code})
    except ToolError as error:
        return f"FAILED: {error}"


def run(tool: Tool, code: str) -> str:
    return asyncio.run(outcome(tool, code))


def run_all(tool: Tool, *programs: str) -> list[str]:
    """The outcomes of programs in one run."""

    async def one_run() -> list[str]:
        assert tool.open is not None
        async with tool.open() as own:
            return [await outcome(own, code) for code in programs]

    return asyncio.run(one_run())


# Attacks


@dataclass(frozen=True)
class Canaries:
    """What stands outside to be reached: files, listeners, and this process."""

    folder: Path
    tcp: socket.socket
    unix: socket.socket
    abstract: socket.socket

    def fill(self, code: str) -> str:
        return Template(code).substitute(
            secret=self.folder / "secret",
            port=self.tcp.getsockname()[1],
            unix=self.folder / "socket",
            abstract=self.abstract.getsockname()[1:].decode(),
            parent=os.getpid(),
            home=Path.home(),
            project=Path(__file__).parents[1] / "README.md",
        )

    def untouched(self) -> bool:
        for listener in (self.tcp, self.unix, self.abstract):
            try:
                listener.accept()[0].close()
                return False
            except BlockingIOError:
                pass
        return (self.folder / "secret").read_text() == "stand-in" and len(list(self.folder.iterdir())) == 2


@pytest.fixture
def canaries(monkeypatch: pytest.MonkeyPatch) -> Iterator[Canaries]:
    monkeypatch.setenv("OPENAI_API_KEY", "stand-in-key")
    home = Path.home()
    where = home if os.access(home, os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(dir=where) as folder,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        Path(folder, "secret").write_text("stand-in")
        unix.bind(str(Path(folder, "socket")))
        abstract.bind(f"\0canary-{os.getpid()}")
        for listener in (tcp, unix, abstract):
            listener.listen()
            listener.setblocking(False)
        yield Canaries(Path(folder), tcp, unix, abstract)


# Each prints LET THROUGH where it gets what it is after; what it must end in stands beside it.
REACHING = {
    "file at home": ("print('LET THROUGH', open('$secret').read())", "FileNotFoundError"),
    "home": ("import os\nprint('LET THROUGH', os.listdir('$home'))", "FileNotFoundError"),
    "password file": ("print('LET THROUGH', open('/etc/passwd').read())", "FileNotFoundError"),
    "project": ("print('LET THROUGH', open('$project').read())", "FileNotFoundError"),
    "writing outside": ("open('$secret', 'a').write('!')\nprint('LET THROUGH')", "FileNotFoundError"),
    "parent's environment": (
        "import os\nprint('LET THROUGH', len(open(f'/proc/{os.getppid()}/environ').read()))",
        "FileNotFoundError",
    ),
    "any environment": (
        "import glob\nfound = glob.glob('/proc/*/environ')\n"
        "assert found, 'no process to be seen'\nprint('LET THROUGH', len(found))",
        "no process to be seen",
    ),
    "symlink out": (
        "import os\nos.symlink('$secret', 'link')\nprint('LET THROUGH', open('link').read())",
        "FileNotFoundError",
    ),
    "loopback": (
        "import socket\nsocket.create_connection(('127.0.0.1', $port), 1)\nprint('LET THROUGH')",
        "PermissionError",
    ),
    "unix socket": (
        "import socket\nsocket.socket(socket.AF_UNIX).connect('$unix')\nprint('LET THROUGH')",
        "PermissionError",
    ),
    "abstract socket": (
        "import socket\nsocket.socket(socket.AF_UNIX).connect('\\0$abstract')\nprint('LET THROUGH')",
        "PermissionError",
    ),
    "another program": (
        "import subprocess\nprint('LET THROUGH', subprocess.run(['/bin/sh', '-c', 'id']).returncode)",
        "Error",
    ),
    "thread": ("import threading\nthreading.Thread(target=print, args=('LET THROUGH',)).start()", "RuntimeError"),
}
BREAKING = {
    "keys": (
        "import os\nassert [name for name in os.environ if 'KEY' in name], 'no key'\nprint('LET THROUGH')",
        "no key",
    ),
    "root's home": ("import os\nprint('LET THROUGH', os.listdir('/root'))", "FileNotFoundError"),
    "system": ("import os\nprint('LET THROUGH', os.listdir('/sys'))", "FileNotFoundError"),
    "writing to the libraries": ("open('/usr/lib/x', 'w')\nprint('LET THROUGH')", "Read-only file system"),
    "writing to the packages": ("import numpy\nopen(numpy.__file__, 'a')\nprint('LET THROUGH')", "rror"),
    "writing to the root": ("open('/x', 'w')\nprint('LET THROUGH')", "rror"),
    "devices": (
        "import os\nos.mknod('/work/disk', 0o60666, os.makedev(8, 0))\nprint('LET THROUGH')",
        "PermissionError",
    ),
    "network out": (
        "import urllib.request\nprint('LET THROUGH', urllib.request.urlopen('http://192.0.2.1/', timeout=2))",
        "rror",
    ),
    "name server": ("import socket\nprint('LET THROUGH', socket.getaddrinfo('example.org', 80))", "rror"),
    "raw packets": ("import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW)\nprint('LET THROUGH')", "rror"),
    "killing the parent": (
        "import os\nfor one in range(1, 400):\n    if one != os.getpid():\n        try:\n            os.kill(one, 9)\n"
        "        except (ProcessLookupError, PermissionError): pass\nassert os.getppid() != 1 or os.getpid() > 1\n"
        "raise RuntimeError('still here')",
        "still here",
    ),
    "fork bomb": ("import os\nwhile True: os.fork()\nprint('LET THROUGH')", "PermissionError"),
    "thread bomb": (
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(9,)).start()",
        "can't start new thread",
    ),
    "daemon": (
        "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        import time\n        time.sleep(99)\nprint('LET THROUGH')",
        "PermissionError",
    ),
    "processes of a pool": (
        "import multiprocessing\nwith multiprocessing.Pool(4) as pool: print('LET THROUGH', pool.map(abs, [1]))",
        "rror",
    ),
    "memory in one piece": ("x = bytearray(8 * 2**30)\nprint('LET THROUGH')", "MemoryError"),
    "memory in pieces": ("x = []\nwhile True: x.append(bytearray(2**24))", "MemoryError"),
    "memory by numpy": ("import numpy\nx = numpy.ones(2**30)\nprint('LET THROUGH')", "Unable to allocate"),
    "memory by maps": (
        "import mmap\nx = []\nwhile len(x) < 512: x.append(mmap.mmap(-1, 2**24)); x[-1].write(b'1' * 2**24)\n"
        "print('LET THROUGH')",
        "Cannot allocate memory",
    ),
    "memory by memfd": ("import os\nos.memfd_create('x')\nprint('LET THROUGH')", "PermissionError"),
    "shared memory": (
        "from multiprocessing import shared_memory\nx = shared_memory.SharedMemory(create=True, size=8 * 2**30)\n"
        "print('LET THROUGH')",
        "rror",
    ),
    "folder of shared memory": ("open('/dev/shm/x', 'wb')\nprint('LET THROUGH')", "FileNotFoundError"),
    "System V shared memory": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nassert libc.shmget(1, 2**30, 0o1666) < 0\n"
        "raise OSError(ctypes.get_errno(), 'shmget')",
        "PermissionError",
    ),
    "one big file": (
        "with open('x', 'wb') as file:\n    for _ in range(8 * 1024): file.write(bytes(2**20))\nprint('LET THROUGH')",
        "File too large",
    ),
    "many big files": (
        "for number in range(200):\n    with open(f'{number}', 'wb') as file: file.write(bytes(60 * 2**20))\n"
        "print('LET THROUGH')",
        "No space left on device",
    ),
    "deleted files held open": (
        "import os\nx = []\nfor number in range(50):\n    x.append(open('f', 'wb'))\n    os.unlink('f')\n"
        "    x[-1].write(bytes(60 * 2**20))\nprint('LET THROUGH')",
        "No space left on device",
    ),
    "files without content": (
        "for number in range(10**6): open(f'{number}', 'x').close()\nprint('LET THROUGH')",
        "No space left on device: '99",
    ),
    "limits raised": (
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (2**34, 2**34))\nprint('LET THROUGH')",
        "not allowed to raise maximum limit",
    ),
    "root again": ("import os\nos.setresuid(0, 0, 0)\nprint('LET THROUGH')", "rror"),
    "endless loop": ("while True: pass", "stopped after 5 seconds"),
    "endless wait": (
        "try:\n    import time; time.sleep(10**6)\nfinally:\n    while True: pass",
        "stopped after 5 seconds",
    ),
    "endless output": ("while True: print('a' * 1000)", "printed more than 16777216 bytes"),
    "endless output past Python": ("import os\nwhile True: os.write(1, b'a' * 10**6)", "printed more than"),
    "endless line of errors": ("import sys\nwhile True: sys.stderr.write('a' * 1000)", "printed more than"),
    "endless recursion": ("def f(): return f()\nf()", "RecursionError"),
    "crash": ("import ctypes\nctypes.string_at(0)", "ended by itself"),
    "exit past Python": ("import os\nos._exit(0)", "ended by itself"),
}


@pytest.mark.parametrize("name", [*REACHING, *BREAKING])
def test_attack_fails(once: Tool, canaries: Canaries, name: str) -> None:
    code, words = {**REACHING, **BREAKING}[name]
    started = time.monotonic()
    told = run(once, canaries.fill(code))
    assert told.startswith("FAILED")
    assert words in told
    assert "LET THROUGH" not in told.splitlines()[0]
    assert len(told) < 21_000
    assert time.monotonic() - started < SECONDS + 5
    assert canaries.untouched()


@pytest.mark.parametrize("name", [name for name in REACHING if name != "home"])
def test_the_same_attack_succeeds_without_a_sandbox(canaries: Canaries, name: str) -> None:
    assert "LET THROUGH" in run(python_tool(sandbox="none"), canaries.fill(REACHING[name][0]))


# x86_64, aarch64; numbers of asm/unistd_64.h and asm-generic/unistd.h.
CALLS = {
    **{"ptrace": (101, 117), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39)},
    **{"pivot_root": (155, 41), "chroot": (161, 51), "keyctl": (250, 219), "add_key": (248, 217), "bpf": (321, 280)},
    **{"io_uring_setup": (425, 425), "userfaultfd": (323, 282), "perf_event_open": (298, 241), "clone": (56, 220)},
    **{"process_vm_readv": (310, 270), "pidfd_open": (434, 434), "fsopen": (430, 430), "open_tree": (428, 428)},
    **{"memfd_create": (319, 279), "memfd_secret": (447, 447), "init_module": (175, 105), "kexec_load": (246, 104)},
    **{"socket": (41, 198), "shmget": (29, 194), "msgget": (68, 186), "open_by_handle_at": (304, 265)},
    **{"fanotify_init": (300, 262), "syslog": (103, 116), "reboot": (169, 142), "mq_open": (240, 180)},
}
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}


@pytest.mark.skipif(
    platform.machine() not in MACHINES, reason="the numbers of this machine's system calls are not known"
)
def test_system_calls_are_denied(once: Tool) -> None:
    numbers = {name: both[MACHINES[platform.machine()][1]] for name, both in CALLS.items()}
    code = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
answers = {{}}
for name, number in {numbers}.items():
    ctypes.set_errno(0)
    answers[name] = (libc.syscall(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno())
[name for name, answer in answers.items() if answer != (-1, 1)], libc.syscall(435, 0, 0), ctypes.get_errno()
"""
    # Each answers -1 with EPERM = 1; clone3 with ENOSYS = 38, so that the C library falls back to clone.
    assert run(once, code) == "([], -1, 38)"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86_64 has a second set of numbers")
def test_system_calls_by_the_numbers_of_32_bits_end_the_interpreter(once: Tool) -> None:
    # mov eax, 20 (getpid); int 0x80; ret
    code = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex("b814000000cd80c3"))
print("LET THROUGH", ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""
    assert run(once, code).startswith("FAILED: The interpreter ended by itself")


def test_no_right_is_left(once: Tool) -> None:
    code = """
import ctypes, os, struct
libc = ctypes.CDLL(None)
sets = ctypes.create_string_buffer(24)
libc.capget(struct.pack("=Ii", 0x20080522, 0), sets)
ids = os.getuid() > 0, os.getgid() > 0, 0 in os.getgroups()
*ids, sets.raw == bytes(24), libc.prctl(39, 0, 0, 0, 0), libc.prctl(21)
"""
    # 39 asks for no-new-privileges (1: set), 21 for the filter (2: one is active).
    assert run(once, code) == "(True, True, False, True, 1, 2)"


def test_no_descriptor_is_inherited(once: Tool) -> None:
    code = """
import os
def is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False
[number for number in range(64) if is_open(number)]
"""
    # Nothing to read, output, errors, and the worker's own end of the requests.
    assert run(once, code) == "[0, 1, 2, 3]"


def test_without_the_filter_the_other_walls_stand(
    kept: Tool, canaries: Canaries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_module, "seccomp_program", lambda machine: ALLOW_ALL)
    names = [
        "loopback",
        "unix socket",
        "abstract socket",
        "another program",
        "thread",
        "fork bomb",
        "daemon",
        "devices",
    ]
    attacks = {**REACHING, **BREAKING}
    told = run_all(kept, *[canaries.fill(attacks[name][0]) for name in names])
    assert [name for name, one in zip(names, told, strict=True) if not one.startswith("FAILED") or FRESH in one] == []
    assert canaries.untouched()


# The filter's program, on a machine for it written here: five instructions of the kernel's packet filter.


def filtered(program: bytes, architecture: int, number: int, fourth: int = 0) -> int:
    data = struct.pack("=IIQ6Q", number, architecture, 0, 0, 0, 0, fourth, 0, 0)
    place = accumulator = 0
    while True:
        code, hit, miss, value = struct.unpack_from("=HBBI", program, place * 8)
        place += 1
        if code == 0x06:
            return value
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        else:
            place += hit if (accumulator == value if code == 0x15 else accumulator > value) else miss


@pytest.mark.parametrize("machine", MACHINES)
def test_filter_allows_calculations_alone(machine: str) -> None:
    architecture, column = MACHINES[machine]
    program = seccomp_program(machine)
    allow, denied, unknown, kill = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
    for both in CALLS.values():
        assert filtered(program, architecture, both[column]) == denied
    # read, write, mmap, futex, execve, socketpair, getrandom
    for both in [(0, 63), (1, 64), (9, 222), (202, 98), (59, 221), (53, 199), (318, 278)]:
        assert filtered(program, architecture, both[column]) == allow
    assert filtered(program, architecture, CALLS["mount"][column], REMOUNT) == allow
    assert filtered(program, architecture, CALLS["mount"][column], REMOUNT & ~32) == denied
    for number in (435, 450, 462, 0x40000000 + 41, 2**32 - 1):
        assert filtered(program, architecture, number) == unknown
    assert filtered(program, 0x40000003, 0) == kill


def test_filter_is_refused_for_a_machine_that_it_does_not_know() -> None:
    with pytest.raises(InputError, match="x86_64, aarch64, arm64, not 'riscv64'"):
        seccomp_program("riscv64")


# What programs can do


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("print(2)\n3 * 4", "2\n12"),
        ("x = 5", "(The program printed nothing; print what you want to see.)"),
        ("'镇江' * 2", "镇江镇江"),
        ("import numpy, pandas\nnumpy.arange(3).sum(), pandas.Series([1, 2]).mean()", "(np.int64(3), np.float64(1.5))"),
        ("from scipy import stats\nround(stats.norm.cdf(0), 3)", "0.5"),
        ("open('a.csv', 'w').write('x\\n1\\n')\nopen('/tmp/a.csv').read()", "x\n1\n".rstrip()),
        ("import asyncio\nasyncio.run(asyncio.sleep(0, 7))", "7"),
        ("from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\nA(1)", "A(x=1)"),
        ("import sys\nprint('a'); print('b', file=sys.stderr); print('c')", "a\nb\nc"),
        ("print('\\ud83d')", "\\ud83d"),
        ("print(1)\nexit()", "1"),
        ("import zoneinfo\nzoneinfo.ZoneInfo('Asia/Shanghai')", "Asia/Shanghai"),
    ],
)
def test_output_and_last_value(once: Tool, code: str, shown: str) -> None:
    assert run(once, code) == shown


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            "print('before')\n1 / 0",
            'before\nTraceback (most recent call last):\n  File "<program 1>", line 2, in <module>\n'
            "    1 / 0\n    ~~^~~\nZeroDivisionError: division by zero",
        ),
        ("def f(", "  File \"<program 1>\", line 1\n    def f(\n         ^\nSyntaxError: '(' was never closed"),
        ("exit('broken')", "SystemExit: broken"),
        ("import sys\nsys.stdout.close()\n1 / 0", "the program failed"),
    ],
)
def test_errors_are_those_of_the_program(once: Tool, code: str, told: str) -> None:
    assert run(once, code) == f"FAILED: {told}"


def test_much_output_is_cut_and_costs_no_names(kept: Tool) -> None:
    big, after = run_all(kept, "x = 1\nfor _ in range(100): print('a' * 999)", "x")
    # 100 lines of 1,000 bytes; 20 of them are shown.
    assert big == "\n".join(["a" * 999] * 20) + "\n(The first 20000 of 100000 bytes of output; print less.)"
    assert after == "1"


# State


def test_state_stays_within_a_run_and_is_no_other_runs(kept: Tool) -> None:
    async def runs() -> list[str]:
        assert kept.open is not None
        async with kept.open() as one, kept.open() as other:
            shown = [await outcome(one, "import math\nx = math.pi\nopen('f', 'w').write('kept')")]
            shown += [
                await outcome(one, "round(x, 2), open('f').read()"),
                await outcome(other, "import os\nos.listdir()"),
            ]
            return [*shown, await outcome(other, "x")]

    assert [one.splitlines()[-1] for one in asyncio.run(runs())] == [
        "4",
        "(3.14, 'kept')",
        "[]",
        "NameError: name 'x' is not defined",
    ]


def test_calls_share_nothing_without_persistence(once: Tool) -> None:
    run(once, "x = 1\nopen('f', 'w')")
    assert "NameError" in run(once, "x")
    assert run(once, "import os\nos.listdir()") == "[]"


def test_programs_of_one_run_go_one_after_another(kept: Tool) -> None:
    async def together() -> list[str]:
        assert kept.open is not None
        async with kept.open() as own:
            codes = ["x = 0", *["import time\ny = x\ntime.sleep(0.01)\nx = y + 1"] * 10]
            await asyncio.gather(*[outcome(own, code) for code in codes])
            return [await outcome(own, "x")]

    # Ten increments that would overwrite one another if two ran at once.
    assert asyncio.run(together()) == ["10"]


@pytest.mark.parametrize("name", ["crash", "exit past Python", "endless output", "endless loop"])
def test_a_bomb_loses_the_names_and_says_so(kept: Tool, name: str) -> None:
    first, bomb, after, works = run_all(kept, "x = 1\nx", BREAKING[name][0], "x", "1 + 1")
    assert first == "1"
    assert BREAKING[name][1] in bomb
    assert bomb.endswith("What earlier programs defined or wrote is gone, and the next one starts afresh.")
    assert "NameError" in after
    assert works == "2"


def test_an_interpreter_that_dies_between_calls_is_told(kept: Tool) -> None:
    slow = (
        "import signal, os\nsignal.signal(signal.SIGALRM, lambda *_: os._exit(1))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.2)"
    )

    async def wait() -> list[str]:
        assert kept.open is not None
        async with kept.open() as own:
            await outcome(own, slow)
            await asyncio.sleep(0.6)
            return [await outcome(own, "1"), await outcome(own, "2")]

    told, works = asyncio.run(wait())
    assert FRESH in told
    assert works == "2"


def test_a_persistent_tool_must_be_opened(kept: Tool) -> None:
    with pytest.raises(InputError, match="enter its open"):
        asyncio.run(kept.run({"code": "1"}))


# Replies in the interpreter's name

OWN_ID = "import sys, os\nid_ = sys._getframe(1).f_back.f_locals['request']['id']\n"


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.write(1, b'\\0' + b'0' * 32 + b'+\\n')",
        OWN_ID + "os.write(1, f'\\0{id_}+\\nmore'.encode())\nimport time\ntime.sleep(1)",
        OWN_ID + "os.write(1, f'\\0{id_}+\\n\\0{id_}+\\n'.encode())",
    ],
    ids=["guessed", "more after it", "twice"],
)
def test_a_forged_reply_ends_the_interpreter(kept: Tool, code: str) -> None:
    told, after = run_all(kept, code, "1")
    assert "wrote in the interpreter's name" in told
    assert FRESH in told
    assert after == "1"


def test_a_forged_reply_is_found_out_at_the_next_call(kept: Tool) -> None:
    code = OWN_ID + "os.write(1, f'forged\\0{id_}+\\n'.encode())\nimport time\ntime.sleep(0.3)"
    forged, next_, after = run_all(kept, code, "x = 1\nx", "1")
    assert forged == "forged"
    assert "wrote in the interpreter's name" in next_
    assert FRESH in next_
    assert after == "1"


def test_part_of_a_reply_meets_the_deadline(kept: Tool) -> None:
    told = run_all(kept, OWN_ID + "os.write(1, f'\\0{id_}'.encode())\nwhile True: pass")[0]
    assert "stopped after 5 seconds" in told


# Ends


def processes(mark: int) -> list[str]:
    """Command lines of the processes that carry a number, once they had a second to end."""
    for _ in range(50):
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            found += [line] if f'"memory_bytes": {mark}' in line else []
        if not found:
            return []
        time.sleep(0.02)
    return found


@pytest.mark.parametrize("persistent", [False, True])
def test_cancellation_at_any_moment_leaves_no_process(persistent: bool) -> None:
    mark = GIB + 1 + persistent
    tool = available(persistent=persistent, memory_bytes=mark)

    async def cancelled(delay: float) -> None:
        async def one_run() -> None:
            if tool.open is None:
                await tool.run({"code": "while True: pass"})
                return
            async with tool.open() as own:
                await own.run({"code": "while True: pass"})

        task = asyncio.create_task(one_run())
        await asyncio.sleep(delay)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def all_of_them() -> None:
        await asyncio.gather(*[cancelled(delay / 500) for delay in range(0, 100, 4)])

    asyncio.run(all_of_them())
    assert processes(mark) == []


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_user(sent: signal.Signals) -> None:
    mark = GIB + 3
    available(memory_bytes=mark)
    program = f"""
import asyncio
from lifesearch_kit.tools.python import python_tool
tool = python_tool(sandbox="bubblewrap", seconds=60, memory_bytes={mark})
print("ready", flush=True)
asyncio.run(tool.run({{"code": "while True: pass"}}))
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == b"ready\n"
        time.sleep(0.5)
        user.send_signal(sent)
        user.wait(10)
    assert processes(mark) == []


def test_computing_between_calls_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = GIB + 5
    monkeypatch.setattr(sandbox_module, "_CALLS_OF_CPU", 0)  # which leaves one second of processor time
    tool = available(persistent=True, memory_bytes=mark)
    code = """
import signal
def compute(*_):
    while True: pass
signal.signal(signal.SIGALRM, compute)
signal.setitimer(signal.ITIMER_REAL, 0.1)
"""

    async def wait() -> str:
        assert tool.open is not None
        async with tool.open() as own:
            await outcome(own, code)
            for _ in range(20):  # up to a second each
                if not processes(mark):
                    break
            return await outcome(own, "1")

    told = asyncio.run(wait())
    assert "ended by itself" in told
    assert FRESH in told


def test_an_interpreter_that_does_not_start_is_a_failed_service(kept: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "_namespaces", lambda: ["--no-such-option"])

    async def start() -> None:
        assert kept.open is not None
        async with kept.open() as own:
            await own.run({"code": "1"})

    with pytest.raises(
        ToolError, match=r"the python tool is off here.*bwrap: Unknown option --no-such-option"
    ) as caught:
        asyncio.run(start())
    assert caught.value.service_failed


def test_a_run_leaves_no_process(kept: Tool) -> None:
    mark = GIB + 4
    tool = available(persistent=True, memory_bytes=mark)
    assert run_all(tool, "1") == ["1"]
    assert processes(mark) == []


def test_fifty_at_once(once: Tool, kept: Tool) -> None:
    async def one_run(number: int) -> list[str]:
        assert kept.open is not None
        async with kept.open() as own:
            return [await outcome(own, f"x = {number}\nx"), await outcome(own, "x + 1")]

    async def together() -> list[object]:
        return await asyncio.gather(
            *[one_run(number) for number in range(50)], *[outcome(once, f"{number}") for number in range(50)]
        )

    shown = asyncio.run(together())
    assert shown[:50] == [[str(number), str(number + 1)] for number in range(50)]
    assert shown[50:] == [str(number) for number in range(50)]


def test_no_more_programs_than_processors_run_at_once(once: Tool) -> None:
    async def together() -> list[str]:
        code = "import time\nstart = time.time()\ntime.sleep(0.05)\nprint(start, time.time())"
        return await asyncio.gather(*[outcome(once, code) for _ in range(4 * (os.cpu_count() or 1))])

    spans = [tuple(map(float, shown.split())) for shown in asyncio.run(together())]
    at_once = [sum(start <= moment < end for start, end in spans) for moment, _ in spans]
    assert max(at_once) <= (os.cpu_count() or 1)


# Construction


def test_monty_is_the_default_and_as_it_was() -> None:
    tool = python_tool()
    assert (tool.schema, tool.backend, tool.open) == (function_schema("python"), "Monty", None)
    assert "no third-party packages" in tool.schema["function"]["description"]


def test_schema_and_backend_say_what_is_there(once: Tool, kept: Tool) -> None:
    assert "Each call starts afresh" in once.schema["function"]["description"]
    assert "stay for your later calls" in kept.schema["function"]["description"]
    assert "stopped after 5 seconds" in kept.schema["function"]["description"]
    none = python_tool(sandbox="none")
    assert none.backend.startswith("NO SANDBOX")
    assert "no network" not in none.schema["function"]["description"]
    others = [available(seconds=7), available(memory_bytes=2**29)]
    backends = [tool.backend for tool in (once, kept, none, *others)]
    assert len(set(backends)) == 5
    assert all(f"CPython {platform.python_version()}, numpy " in backend for backend in backends)
    assert "7 s" in others[0].backend
    assert "512 MiB of memory" in others[1].backend


def test_settings_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="choose from monty, bubblewrap, none"):
        python_tool(sandbox="docker")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Monty keeps nothing; choose sandbox: bubblewrap"):
        python_tool(persistent=True)
    with pytest.raises(InputError, match="memory_bytes of the python tool: a plain process has no such limit"):
        python_tool(sandbox="none", memory_bytes=GIB)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (None, "is not installed: on Linux, install it"),
        ("echo 'bwrap: Unknown option --size' >&2; exit 1", "it takes bubblewrap 0.8 or newer"),
        (
            "echo 'bwrap: No permissions to create new namespace' >&2; exit 1",
            r"No permissions to create new namespace; this machine or container does not let this user make namespaces",
        ),
        ("echo hello", "does not start: hello"),
        ("exit 0", "does not start"),
    ],
)
def test_a_sandbox_that_does_not_start_is_an_input_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, words: str
) -> None:
    if script:
        (tmp_path / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    require_confinement.cache_clear()
    with pytest.raises(InputError, match=words) as caught:
        python_tool(sandbox="bubblewrap")
    assert "choose sandbox: monty" in str(caught.value)


def test_the_probe_finds_open_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    available()
    files = sandbox_module._files
    monkeypatch.setattr(sandbox_module, "seccomp_program", lambda machine: ALLOW_ALL)
    walls = [one for one in sandbox_module._namespaces() if one != "--unshare-net"]
    monkeypatch.setattr(sandbox_module, "_namespaces", lambda: [*walls, "--setenv", "A_KEY", "x"])
    monkeypatch.setattr(sandbox_module, "_files", lambda mounts: ["--ro-bind", "/etc", "/etc", *files(mounts)])
    require_confinement.cache_clear()
    with pytest.raises(InputError, match="lets through: reading /etc/passwd, the network, the variable A_KEY;"):
        python_tool(sandbox="bubblewrap")
    require_confinement.cache_clear()


def test_the_probe_wants_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    available()
    monkeypatch.setattr(sandbox_module, "package_mounts", lambda: ((), ()))
    require_confinement.cache_clear()
    with pytest.raises(InputError, match="numpy, pandas, scipy cannot be imported"):
        python_tool(sandbox="bubblewrap")
    require_confinement.cache_clear()


NESTED = f"""
import asyncio
from lifesearch_kit.errors import InputError
from lifesearch_kit.tools.python import python_tool
try:
    print(asyncio.run(python_tool(sandbox="bubblewrap", seconds={SECONDS}).run({{"code": "1 + 1"}})))
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("rights", "words"),
    [
        (["--cap-add", "ALL"], "2\n"),
        (["--cap-drop", "ALL"], "this machine or container does not let this user make namespaces"),
    ],
    ids=["with rights", "without"],
)
@pytest.mark.skipif(os.geteuid() != 0, reason="a container with chosen rights takes root to make")
def test_in_a_container(once: Tool, rights: list[str], words: str) -> None:
    container = ["bwrap", "--unshare-pid", "--unshare-ipc", "--dev-bind", "/", "/", "--proc", "/proc", *rights]
    done = subprocess.run([*container, sys.executable, "-c", NESTED], capture_output=True, text=True, timeout=120)
    assert words in done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the tests run without privileges already")
def test_all_of_this_holds_for_an_unprivileged_user(once: Tool, tmp_path_factory: pytest.TempPathFactory) -> None:
    packages = os.pathsep.join(path for path in sys.path if path)
    with tempfile.TemporaryDirectory() as home:
        os.chown(home, 65_534, 65_534)
        environment = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "PYTHONDONTWRITEBYTECODE": "1"}
        environment |= {"HYPOTHESIS_STORAGE_DIRECTORY": home, "PYTHONPATH": packages}
        user = {"user": 65_534, "group": 65_534, "extra_groups": [], "cwd": home, "env": environment, "text": True}
        # Where root's own Python is out of the user's reach, the system's one may do, if it is the same.
        for program in (sys.executable, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"):
            ask = [program, "-c", "import numpy, pandas, pytest, lifesearch_kit; print('ready')"]
            try:
                ready = subprocess.run(ask, capture_output=True, **user).stdout  # type: ignore[call-overload]
            except OSError:
                continue
            if ready == "ready\n":
                break
        else:
            pytest.skip("no Python with the kit's packages that an unprivileged user may run")
        root = Path(__file__).parents[1]
        command = [
            program,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--rootdir={root}",
            f"-c{root}/pyproject.toml",
        ]
        command += [f"--basetemp={home}/tests", __file__]
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=600, **user)  # type: ignore[call-overload]
        assert done.returncode == 0, done.stdout
        assert "passed" in done.stdout
        if "does not let this user make namespaces" in done.stdout:
            pytest.skip("this machine permits no user namespaces to an unprivileged user")
