"""All that an agent's process started, known by a mark in the environment that it inherited; on Linux alone.

As a program, with a mark, it is the watcher of one run: its standard input ends when the kit does, in whatever way, and
then it kills what has the mark. It needs nothing but Python's own library.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

MARK = "LIFESEARCH_AGENT_RUN"
# Who is being killed may start others meanwhile.
_LOOKS = 10
# Some Pythons do not start without it.
_INHERITED = ("LD_LIBRARY_PATH",)


class Watcher:
    """A process that outlives the kit, for as long as it takes to kill what has a mark."""

    def __init__(self, mark: str) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if sys.platform == "linux":
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, mark],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in _INHERITED if name in os.environ},
                start_new_session=True,  # so that neither Ctrl-C nor the end of the kit's process group reaches it
            )

    def end(self) -> None:
        """There is nothing left to watch."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


def kill_marked(mark: str) -> None:
    """Kill every process whose environment holds the mark, in whatever session and process group it is."""
    wanted = f"{MARK}={mark}".encode()
    for _ in range(_LOOKS):
        marked = [pid for pid in _pids() if wanted in _environment(pid).split(b"\0")]
        if not marked:
            return
        for pid in marked:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _pids() -> list[int]:
    with suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return []


def _environment(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_bytes()
    return b""


if __name__ == "__main__":
    sys.stdin.buffer.read()
    kill_marked(sys.argv[1])
