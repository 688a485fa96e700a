"""One interpreter of the python tool and the exchange with it: a request, then output and a reply at its end."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
from weakref import WeakKeyDictionary

from lifesearch_kit.errors import ToolError
from lifesearch_kit.tools.sandbox import Sandbox, Worker

OUTPUT_BYTES = 20_000
# More than is shown may be printed, so that a big table costs no names; this much ends the interpreter.
_PRINTED_BYTES = 16 * 1024 * 1024
_START_SECONDS = 60.0
_REPLY = re.compile(rb"\x00([0-9a-f]{32})([+-])\n")
_REPLY_BYTES = 35
_READY = b"0" * 32
_CHUNK_BYTES = 65_536
_GONE = "The interpreter ended by itself: it crashed, was out of memory or processor time, or was made to exit."
_NOTHING = "(The program printed nothing; print what you want to see.)"
_LOST = " What earlier programs defined or wrote is gone, and the next one starts afresh."
_processors: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Interpreter:
    """An interpreter that starts with its first program and keeps what programs define until it is closed.

    A program that breaks its limits ends the interpreter; the next one gets another. What runs inside is not trusted:
    it can forge a reply, but not the next one's id, and every wait has a deadline.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._turn = asyncio.Lock()
        self._worker: Worker | None = None
        self._streams: _Streams | None = None

    async def call(self, code: str) -> str:
        """What a program prints and the value of its last expression.

        Raises
        ------
        ToolError
            When it fails or breaks a limit (told with what it printed), and when the interpreter does not start.
        """
        async with self._turn, _processor():
            printed = _Printed()
            try:
                streams = self._streams or await self._start()
                async with asyncio.timeout(self._sandbox.seconds):
                    succeeded = await _exchange(streams, code, printed)
            except TimeoutError:
                self.close()
                told = f"The program was stopped after {self._sandbox.seconds:g} seconds."
                raise self._ended(printed, told) from None
            except _BrokenError as error:
                self.close()
                raise self._ended(printed, str(error)) from None
            except BaseException:
                self.close()
                raise
        if not succeeded:
            raise ToolError(printed.text() or "the program failed")
        return printed.text() or _NOTHING

    def close(self) -> None:
        """End the interpreter, if it runs, with all that it started."""
        worker, self._worker = self._worker, None
        streams, self._streams = self._streams, None
        if streams:
            streams[1].transport.abort()
        if worker:
            worker.kill()

    async def _start(self) -> _Streams:
        printed = _Printed()
        try:
            self._worker = Worker(self._sandbox)
            self._streams = await asyncio.open_unix_connection(sock=self._worker.socket)
            async with asyncio.timeout(_START_SECONDS):
                await _read_reply(self._streams[0], _READY, printed)
        except (OSError, _BrokenError) as error:
            told = printed.text() or str(error) or f"no answer in {_START_SECONDS:g} seconds"
            told = f"the python tool is off here: its interpreter does not start ({told})"
            raise ToolError(told, service_failed=True) from None
        return self._streams

    def _ended(self, printed: _Printed, told: str) -> ToolError:
        lost = _LOST if self._sandbox.persistent else ""
        return ToolError("\n".join(filter(None, [printed.text(), told + lost])))


def _processor() -> asyncio.Semaphore:
    """A turn on a processor: what a program gets done within its seconds must not depend on how many runs there are."""
    return _processors.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(os.cpu_count() or 1))


class _BrokenError(Exception):
    """The interpreter cannot be used any more; the model is told the message."""


class _Printed:
    """What a program printed: the beginning, and how much it was."""

    def __init__(self) -> None:
        self._shown = bytearray()
        self._size = 0

    def add(self, part: bytes) -> None:
        self._shown += part[: OUTPUT_BYTES - len(self._shown)]
        self._size += len(part)
        if self._size > _PRINTED_BYTES:
            raise _BrokenError(f"The program was stopped: it printed more than {_PRINTED_BYTES} bytes.")

    def text(self) -> str:
        shown = self._shown.decode("utf-8", "ignore" if self._size > OUTPUT_BYTES else "replace").rstrip("\n")
        if self._size <= OUTPUT_BYTES:
            return shown
        return f"{shown}\n(The first {OUTPUT_BYTES} of {self._size} bytes of output; print less.)"


async def _exchange(streams: _Streams, code: str, printed: _Printed) -> bool:
    """Have one program run; whether it ended without an error."""
    reader, writer = streams
    request_id = secrets.token_hex(16)
    try:
        writer.write(json.dumps({"id": request_id, "code": code}).encode() + b"\n")
        await writer.drain()
        return await _read_reply(reader, request_id.encode(), printed)
    except ConnectionError:
        raise _BrokenError(_GONE) from None


async def _read_reply(reader: asyncio.StreamReader, request_id: bytes, printed: _Printed) -> bool:
    pending = b""
    while True:
        chunk = await reader.read(_CHUNK_BYTES)
        pending += chunk
        reply = _REPLY.search(pending)
        if reply:
            printed.add(pending[: reply.start()])
            if reply[1] != request_id or reply.end() < len(pending):
                raise _BrokenError("The program was stopped: it wrote in the interpreter's name.")
            return reply[2] == b"+"
        # A reply may stand at the edge of what has come so far.
        settled = len(pending) if not chunk else max(0, len(pending) - _REPLY_BYTES)
        printed.add(pending[:settled])
        pending = pending[settled:]
        if not chunk:
            raise _BrokenError(_GONE)
