"""The loop of one run: one model decision and its tool calls after another, counted, kept, bounded by limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lifesearch_kit.agent.checkpoints import Checkpoint, FinishedStep
from lifesearch_kit.agent.conversation import Conversation
from lifesearch_kit.agent.progress import Progress
from lifesearch_kit.agent.text_protocol import TextProtocol
from lifesearch_kit.agent.tool_calls import ToolCallsProtocol, Turn, run_calls
from lifesearch_kit.chat.asking import known_usage
from lifesearch_kit.chat.client import Chat
from lifesearch_kit.chat.reply import Reply
from lifesearch_kit.errors import ChatError
from lifesearch_kit.records import Report, ReportStatus, Task
from lifesearch_kit.settings import SystemSettings
from lifesearch_kit.tools import Tool
from lifesearch_kit.transcripts import Transcript

_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")


class Loop:
    """The conversation of one run and what it has taken so far.

    Parameters
    ----------
    task, system, chat, tools, run
        As for `lifesearch_kit.agent.agent.research`.
    protocol
        How calls are written.
    system_prompt
        With what the protocol has to say.
    checkpoint
        Its steps are taken as done; each finished step is added.
    """

    def __init__(
        self,
        task: Task,
        system: SystemSettings,
        chat: Chat,
        tools: Sequence[Tool],
        run: int,
        protocol: ToolCallsProtocol | TextProtocol,
        system_prompt: str,
        checkpoint: Checkpoint,
    ) -> None:
        self.task, self.system, self.chat, self.run = task, system, chat, run
        self.tools = {tool.name: tool for tool in tools}
        self.protocol, self.system_prompt = protocol, system_prompt
        asked = [{"role": "system", "content": system_prompt}, {"role": "user", "content": task.query}]
        self.conversation = Conversation(asked)
        self.progress = Progress(task, system, run)
        self.notes: list[str] = []
        self.ended = False
        self.met: ReportStatus | None = None
        self._taken_out = 0
        self.timed_out = False
        self._checkpoint = checkpoint
        earlier = checkpoint.steps()
        for step in earlier:
            for _ in range(step.taken_out):
                self.conversation.shorten()
            self._take(step)
        self.started = time.perf_counter() - (earlier[-1].elapsed if earlier else 0.0)

    @property
    def elapsed(self) -> float:
        """Seconds so far, those before an interruption included."""
        return time.perf_counter() - self.started

    async def step(self, limit: ReportStatus | None) -> None:
        """One model decision and its tool calls; then `ended` says whether the run has, `met` at which limit."""
        last, shortened = limit is not None, self._taken_out
        try:
            # The last turn is bounded by the endpoint's own time-out alone.
            async with asyncio.timeout(None if last else max(self.system.max_seconds - self.elapsed, 0.001)):
                reply = await self._decide(last)
        except TimeoutError:
            self.timed_out = True
            self.notes.append(f"a decision behind step {len(self.progress.replies)} was given up as the time was over")
            return
        reply = replace(reply, usage=known_usage(reply, self.conversation.messages))
        started = time.perf_counter()
        turn = self.protocol.read(reply, last=last)
        results = [] if last else await run_calls(turn.calls, self.tools)
        waited = time.perf_counter() - started if results else 0.0
        done = FinishedStep(reply, results, waited, self.elapsed, self._taken_out - shortened, limit)
        self._checkpoint.add(done)
        self._take(done, turn)

    async def _decide(self, last: bool) -> Reply:
        """Ask; where the conversation has outgrown the context, make room by the rule and ask again."""
        while True:
            request = self.protocol.request(self.conversation.messages, last=last)
            request["messages"] = self.conversation.encoded(request["messages"])
            try:
                return await self.chat.complete(**request, seed=self.run if self.system.seed_by_run else None)
            except ChatError as error:
                count = self.conversation.shorten() if error.cause == "too_long" else 0
                if not count:
                    raise
                self._taken_out += 1
                where = f"before step {len(self.progress.replies) + 1}"
                self.notes.append(
                    f"{count} older result(s) were taken out of the conversation {where}: it was too long"
                )

    def _take(self, done: FinishedStep, turn: Turn | None = None) -> None:
        last = done.limit is not None
        turn = turn or self.protocol.read(done.reply, last=last)
        self.conversation.add([self._echo(turn.message)])
        self.conversation.add(self.protocol.hand_back(done.results), results=True)
        self.conversation.add(turn.told)
        self.progress.add(turn, done)
        self.ended, self.met = last or not (turn.calls or turn.told), done.limit

    def require_tools(self, calls: int) -> None:
        """Give the run up where a tool was called so often at least and its service failed every time."""
        failed = self.progress.never_worked(calls)
        if failed is not None:
            self._checkpoint.remove()
            raise ChatError(f"the tool {failed.tool} never worked: {failed.content}", "transient")

    def limit(self) -> ReportStatus | None:
        """The limit that is reached, if any."""
        late = self.timed_out or self.elapsed >= self.system.max_seconds
        return self.progress.limit() or ("time_limit" if late else None)

    def report(self, text: str, status: ReportStatus, *notes: str) -> Report:
        """The run as a report."""
        return self.progress.report(text, status, self.elapsed, (*self.protocol.notes, *self.notes, *notes))

    def transcript(self) -> Transcript:
        """Everything that was said and done."""
        return self.progress.transcript(self.system_prompt)

    def _echo(self, message: dict[str, Any]) -> dict[str, Any]:
        if self.system.echo_reasoning:
            return message
        return {name: value for name, value in message.items() if name not in _REASONING_FIELDS}
