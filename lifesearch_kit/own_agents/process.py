"""An agent as a process in any language, one process a run: JSON Lines on its standard input and output, in UTF-8.

The kit writes one line that opens the run. `cutoff` is null where the question sets none; `tools` holds function
schemas as chat-completions requests carry them::

    {"task": {"task_id": "ferries", "language": "en", "query": "As of ...?", "cutoff": "2026-03-31"},
     "today": "2026-10-15", "run": 1, "tools": [{"type": "function", "function": {"name": "search", ...}}]}

Then the process writes, each object on a line of its own and flushed::

    {"call": {"id": 1, "tool": "search", "arguments": {"query": "..."}}}
    {"draft": "the report as it stands"}
    {"report": {"text": "...", "output_tokens": 123}}

A call is answered by ``{"id": 1, "ok": true, "content": "..."}`` with the id that it came with, whatever that is. Calls
may be under way together, eight at a time are run, and answers come as calls end. Where `ok` is false, `content` says
what went wrong, as it says it to a model in the kit's harness.

A draft replaces the one before it, and is the text of a run that meets its time limit. The report ends the run. Beside
`text` it may hold what `lifesearch_kit.own_agents.run.Handed` lists. Nothing else may stand on standard output;
standard error is free, and its end is shown where the process fails.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from lifesearch_kit.own_agents.calls import AgentError
from lifesearch_kit.own_agents.link import LINE_BYTES, Link
from lifesearch_kit.own_agents.settings import OwnAgent
from lifesearch_kit.transcripts import ToolResult

AT_ONCE = 8
GRACE_SECONDS = 5.0
OUTPUT_BYTES = 100_000_000
LINES = 100_000
_SHOWN = 300
Answer = Callable[[str, Any], Awaitable[ToolResult]]


@asynccontextmanager
async def conversation(agent: OwnAgent, opening: dict[str, Any], answer: Answer) -> AsyncIterator[Conversation]:
    """Start an agent's command on one task; nothing of it is left behind.

    Parameters
    ----------
    agent
        With a command.
    opening
        The first line.
    answer
        Makes one call of a tool, by its name and arguments.

    Raises
    ------
    AgentError
        When the process does not start.
    """
    link = Link()
    talk = Conversation(agent, link, answer)
    try:
        try:
            await link.start(agent.command, agent.environment)
        except (OSError, ValueError) as error:
            raise AgentError(f"does not start: {error}") from None
        link.send(opening)
        yield talk
        await talk.close()
        link.close_input()
        await link.wait_for_end(GRACE_SECONDS)
    finally:
        link.kill()
        await talk.close()
        await link.close()


class Conversation:
    """What a process writes, read message by message."""

    def __init__(self, agent: OwnAgent, link: Link, answer: Answer) -> None:
        self._agent, self._link, self._answer = agent, link, answer
        self._draft = ""
        self._places = asyncio.Semaphore(AT_ONCE)
        self._calls: set[asyncio.Task[None]] = set()
        self._is_over = False

    async def report(self) -> dict[str, Any]:
        """Make the process's calls until its report comes.

        Raises
        ------
        AgentError
            When it ends without a report, or breaks the protocol.
        """
        async for line in self._lines():
            try:
                kind, content = self._read(line)
            except AgentError as error:
                if line.endswith(b"\n"):
                    raise
                raise AgentError(f"{await self._how_it_ended()}; in the middle of a line, it {error}") from None
            if kind == "report":
                return content
            if kind == "draft":
                self._draft = content
            elif not self._is_over:
                await self._places.acquire()
                task = asyncio.create_task(self._call(content))
                self._calls.add(task)
                task.add_done_callback(self._calls.discard)
        raise AgentError(await self._how_it_ended())

    async def last_words(self) -> dict[str, Any]:
        """Ask the process to end; its report if that still comes, or its draft. Not beside a call of `report`."""
        await self.close()
        self._link.signal(signal.SIGTERM)
        with suppress(TimeoutError, AgentError):
            async with asyncio.timeout(GRACE_SECONDS):
                return await self.report()
        self._link.kill()
        return {"text": self._draft}

    async def close(self) -> None:
        """Give up the calls that are under way, and take no more."""
        self._is_over = True
        calls = set(self._calls)
        for task in calls:
            task.cancel()
        if calls:
            await asyncio.wait(calls, timeout=GRACE_SECONDS)

    async def _call(self, call: dict[str, Any]) -> None:
        try:
            result = await self._answer(call["tool"], call.get("arguments"))
            self._link.send({"id": call.get("id"), "ok": result.ok, "content": result.content})
            await self._link.room.wait()
        finally:
            self._places.release()

    async def _lines(self) -> AsyncIterator[bytes]:
        count = size = 0
        ended = False
        while not ended:
            try:
                line = await self._link.output.readuntil()
            except asyncio.IncompleteReadError as error:
                line, ended = error.partial, True
            except asyncio.LimitOverrunError:
                raise AgentError(f"wrote a line of more than {LINE_BYTES:,} bytes") from None
            count, size = count + 1, size + len(line)
            if count > LINES or size > OUTPUT_BYTES:
                raise AgentError(f"wrote more than {LINES:,} lines or {OUTPUT_BYTES:,} bytes on standard output")
            if line.strip():
                yield line

    def _read(self, line: bytes) -> tuple[str, Any]:
        """One message as its kind and content."""
        why = "it is no call, draft or report of the protocol"
        try:
            message = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            why = "it is no UTF-8" if isinstance(error, UnicodeDecodeError) else f"it is no JSON ({error})"
            message = None
        if isinstance(message, dict) and len(message) == 1:
            kind, content = next(iter(message.items()))
            if kind == "call" and isinstance(content, dict) and isinstance(content.get("tool"), str):
                return kind, content
            if (kind == "draft" and isinstance(content, str)) or (kind == "report" and isinstance(content, dict)):
                return kind, content
        shown = self._agent.redact(line.decode("utf-8", "replace").strip())
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        raise AgentError(f"wrote a line on standard output that cannot be used, {why}: {shown}")

    async def _how_it_ended(self) -> str:
        code = await self._link.wait_for_end()
        if code is None:
            how = "closed its standard output without a report"
        elif code < 0:
            how = f"was ended by signal {-code} ({signal.strsignal(-code)}) before its report"
        else:
            how = f"ended with exit code {code} before its report"
        # The last line first: where an error is told, it stands there.
        told = [self._agent.redact(line)[-_SHOWN:] for line in reversed(await self._link.told())]
        return f"{how}; on standard error, from its end: {' | '.join(told)}" if told else how
