"""The process of an agent of one's own: how it is started and ended, and our ends of its pipes."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lifesearch_kit.own_agents.descendants import MARK, Watcher, kill_marked
from lifesearch_kit.paths import ROOT
from lifesearch_kit.redaction import add_key_variable
from lifesearch_kit.text import encode

LINE_BYTES = 10_000_000
# Answers that wait for a process to read them: with more, no further call of its is taken.
_UNREAD_BYTES = 16_000_000
_TOLD_BYTES = 16_384
_TOLD_LINES = 8
# For what is left in the pipes of a process that has ended, and for the kernel to end one that was killed.
_SETTLE_SECONDS = 2.0
# LD_LIBRARY_PATH: some Pythons do not start without it.
_INHERITED = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH")


def environment_of(names: Iterable[str]) -> dict[str, str]:
    """The environment that a command starts with: these variables, and what any program needs.

    ``python`` is found beside the Python that runs the kit.
    """
    own = {name: os.environ[name] for name in (*_INHERITED, *names) if name in os.environ}
    path = os.pathsep.join([str(Path(sys.executable).parent), own.get("PATH", os.defpath)])
    return {"LANG": "C.UTF-8", "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1", **own, "PATH": path}


class Link(asyncio.SubprocessProtocol):
    """A process and our ends of its pipes.

    Attributes
    ----------
    output
        Its standard output; ends at the latest soon after the process itself, whoever else holds the pipe.
    room
        Set while answers that it has not read yet are few enough.
    """

    def __init__(self) -> None:
        self.output = asyncio.StreamReader(limit=LINE_BYTES)
        self.room = asyncio.Event()
        self.room.set()
        self._ended = asyncio.Event()
        self._has_output = True
        self._told = b""
        self._told_all = asyncio.Event()
        self._mark = secrets.token_hex(8)
        self._transport: asyncio.SubprocessTransport | None = None
        self._watcher: Watcher | None = None

    async def start(self, command: Sequence[str], environment: Sequence[str]) -> None:
        """Start it at the checkout's root, in a session and process group of its own.

        Where the kit itself is killed, a watcher ends it with all that it started (on Linux).

        Raises
        ------
        OSError, ValueError
            When it cannot be started.
        """
        for name in environment:
            add_key_variable(name)
        marked = {**environment_of(environment), MARK: self._mark}
        loop = asyncio.get_running_loop()
        self._watcher = Watcher(self._mark)
        await loop.subprocess_exec(lambda: self, *command, cwd=ROOT, env=marked, start_new_session=True)

    def send(self, message: dict[str, Any]) -> None:
        """Write a line; a process that has closed its input gets nothing more."""
        pipe = self._pipe(0)
        if pipe is not None and not pipe.is_closing():
            pipe.write(encode(message) + b"\n")

    def close_input(self) -> None:
        """Tell the process that nothing more will come."""
        pipe = self._pipe(0)
        if pipe is not None:
            pipe.close()

    async def wait_for_end(self, seconds: float = _SETTLE_SECONDS) -> int | None:
        """The process's exit code as soon as it has ended; None when it has not in so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()
        return self._transport.get_returncode() if self._transport else None

    async def told(self) -> list[str]:
        """The last lines of its standard error that hold anything; of a process that has ended, to the very end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_SETTLE_SECONDS if self._ended.is_set() else 0):
                await self._told_all.wait()
        lines = [" ".join(line.split()) for line in self._told.decode("utf-8", "replace").splitlines()]
        # The first may have lost its beginning, and with it what a key is known by.
        lines = lines[1:] if len(self._told) == _TOLD_BYTES and len(lines) > 1 else lines
        return [line for line in lines if line][-_TOLD_LINES:]

    def signal(self, number: int) -> None:
        """Send a signal to its process group, as long as the process itself runs."""
        if self._transport and not self._ended.is_set():
            _signal_group(self._transport.get_pid(), number)

    def kill(self) -> None:
        """Kill it with all that it started."""
        self.signal(signal.SIGKILL)
        kill_marked(self._mark)
        if self._watcher is not None:
            self._watcher.end()
            self._watcher = None

    async def close(self) -> None:
        """Close the pipes of a process that was killed."""
        if not self._transport:
            return
        try:
            await self.wait_for_end()
        finally:
            self._end_output()
            # What was never read would keep the pipe open for as long as anybody holds its other end.
            if self._pipe(0).get_write_buffer_size():
                self._pipe(0).abort()
            self._transport.close()

    def _pipe(self, number: int) -> Any:
        return self._transport.get_pipe_transport(number) if self._transport else None

    def _end_output(self) -> None:
        if self._has_output:
            self._has_output = False
            self.output.feed_eof()

    # The event loop calls these.

    def connection_made(self, transport: Any) -> None:
        """Take the pipes."""
        self._transport = transport
        self.output.set_transport(self._pipe(1))
        self._pipe(0).set_write_buffer_limits(high=_UNREAD_BYTES)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep all of standard output, and the end of standard error."""
        if fd == 2:
            self._told = (self._told + data)[-_TOLD_BYTES:]
        elif self._has_output:
            self.output.feed_data(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Let nobody wait for what will not come."""
        if fd == 0:
            self.room.set()
        elif fd == 1:
            self._end_output()
        else:
            self._told_all.set()

    def process_exited(self) -> None:
        """Kill what it left behind, which may hold the pipes open."""
        if self._transport:
            _signal_group(self._transport.get_pid(), signal.SIGKILL)
        kill_marked(self._mark)
        self._ended.set()
        asyncio.get_running_loop().call_later(_SETTLE_SECONDS, self._end_output)

    def pause_writing(self) -> None:
        """Too many answers are unread."""
        self.room.clear()

    def resume_writing(self) -> None:
        """Enough of them were read."""
        self.room.set()


def _signal_group(leader: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
