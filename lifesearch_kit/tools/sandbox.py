"""Where the python tool's interpreter runs: a bubblewrap sandbox, or a plain process. How it is started and ended."""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lifesearch_kit.errors import InputError
from lifesearch_kit.tools.packages import package_mounts
from lifesearch_kit.tools.seccomp import REMOUNT, seccomp_program

FILES_BYTES = 256 * 1024 * 1024
_FILES = 10_000
# Debian reserves 65000 to 65533 and gives them to nobody.
_UNUSED_UID = 65_533
# Between calls a signal handler can go on computing, so an interpreter's life is bounded too, to this many calls' time.
_CALLS_OF_CPU = 60
_WORKER = Path(__file__).with_name("python_worker.py")
_CALM = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
_ENVIRONMENT = {"PATH": "/usr/bin", "HOME": "/work", "LANG": "C.UTF-8", "LD_LIBRARY_PATH": "/python/lib", **_CALM}
# bubblewrap sets PWD, and Python may set LC_CTYPE.
VARIABLES = (*_ENVIRONMENT, "PWD", "LC_CTYPE")


@dataclass(frozen=True)
class Sandbox:
    """Where and within which limits an interpreter runs.

    Parameters
    ----------
    kind
        ``bubblewrap``, or ``none``: a plain process of this user, which is no sandbox; its only limits are time and
        output.
    seconds
        Wall-clock time of one call.
    memory_bytes
        Address space of the interpreter; its files come on top, in a memory of their own.
    persistent
        Whether an interpreter serves more than one call.
    """

    kind: Literal["bubblewrap", "none"]
    seconds: float
    memory_bytes: int
    persistent: bool


class Worker:
    """A started interpreter process and our end of its socket."""

    def __init__(self, sandbox: Sandbox) -> None:
        """Start it.

        Raises
        ------
        OSError
            When it cannot be started.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="python-tool-") if sandbox.kind == "none" else None
        self.socket, theirs = socket.socketpair()
        try:
            with theirs, _descriptors(sandbox) as descriptors:
                self._process = subprocess.Popen(
                    _command(sandbox, *descriptors),
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=theirs.fileno(),
                    cwd=self._folder.name if self._folder else "/",
                    env=dict(_CALM) if self._folder else {},  # bubblewrap itself holds no keys either
                    pass_fds=descriptors,
                    start_new_session=True,
                )
        except BaseException:
            self._close()
            raise

    def kill(self) -> None:
        """End it with all its descendants."""
        # By group: bubblewrap's child dies with its parent, but not yet in the first moment.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._close()

    def _close(self) -> None:
        self.socket.close()
        if self._folder:
            self._folder.cleanup()


@contextmanager
def _descriptors(sandbox: Sandbox) -> Iterator[tuple[int, ...]]:
    """What bubblewrap reads by number: the filter of system calls."""
    if sandbox.kind == "none":
        yield ()
        return
    reading, writing = os.pipe()
    with open(reading, "rb"):
        with open(writing, "wb") as pipe:
            pipe.write(seccomp_program(platform.machine()))
        yield (reading,)


def _command(sandbox: Sandbox, *descriptors: int) -> list[str]:
    mounts, paths = package_mounts() if sandbox.kind == "bubblewrap" else ((), ())
    settings = {
        "confined": sandbox.kind == "bubblewrap",
        "paths": paths,
        "remount": REMOUNT,
        "uid": _UNUSED_UID,
        "memory_bytes": sandbox.memory_bytes,
        "files_bytes": FILES_BYTES,
        "files": _FILES,
        "cpu_seconds": max(1, round(sandbox.seconds * (_CALLS_OF_CPU if sandbox.persistent else 1) + 1)),
    }
    options = ["-I", "-X", "utf8"]
    if sandbox.kind == "none":
        return [sys.executable, *options, str(_WORKER), json.dumps(settings)]
    program = shutil.which("bwrap") or "bwrap"
    inside = ["/python/bin/python3", *options, "-S", "/worker.py", json.dumps(settings)]
    return [program, *_namespaces(), *_files(mounts), "--seccomp", str(descriptors[0]), "--", *inside]


def _namespaces() -> list[str]:
    unshared = [f"--unshare-{name}" for name in ("ipc", "pid", "net", "uts", "cgroup-try")]
    # The worker gives these up before it reads the first program: SYS_ADMIN caps the number of files, the others step
    # down from root to a user that owns nothing.
    kept = ["CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID"] if os.geteuid() == 0 else ["CAP_SYS_ADMIN"]
    rights = ["--cap-drop", "ALL", *(part for name in kept for part in ("--cap-add", name))]
    if os.geteuid() != 0:
        rights += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
    variables = [part for name, value in _ENVIRONMENT.items() for part in ("--setenv", name, value)]
    return [*unshared, *rights, "--new-session", "--die-with-parent", "--clearenv", *variables]


def _files(mounts: tuple[tuple[Path, str], ...]) -> list[str]:
    """The mounts: system libraries, Python and packages read-only; /work, also as /tmp; no /proc, no /sys, no /etc."""
    base = Path(sys.base_prefix).resolve()
    shown = [(Path("/usr", name), f"/usr/{name}") for name in ("lib", "lib64", "share/zoneinfo")]
    shown += [(base / name, f"/python/{name}") for name in ("lib", "lib64")]
    shown += [(Path(sys.executable).resolve(), "/python/bin/python3"), *mounts, (_WORKER, "/worker.py")]
    # bubblewrap makes parents that nobody names unreadable for the stepped-down user.
    parents = ("/usr", "/usr/share", "/python", "/python/bin", "/packages", "/dev")
    arguments = [part for folder in parents for part in ("--perms", "0755", "--dir", folder)]
    for name in ("lib", "lib64"):
        system = Path("/", name)
        if system.is_symlink():
            arguments += ["--symlink", os.readlink(system), str(system)]
        else:
            shown.append((system, str(system)))
    for outside, inside in shown:
        arguments += ["--ro-bind-try", str(outside), inside]
    for device in ("/dev/null", "/dev/urandom"):
        arguments += ["--dev-bind", device, device]
    work = ["--size", str(FILES_BYTES), "--perms", "1777", "--tmpfs", "/work", "--symlink", "/work", "/tmp"]
    return [*arguments, *work, "--remount-ro", "/", "--chdir", "/work"]


def require_posix() -> None:
    """Raise InputError where processes are not ended by group."""
    if os.name != "posix":
        raise InputError("this sandbox of the python tool needs Linux or another POSIX system; choose sandbox: monty")
