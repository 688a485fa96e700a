"""The agent: decide, run tools, observe, until the report (a ReAct loop). How calls are written is the protocol's."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any

from lifesearch_kit import prompts
from lifesearch_kit.chat import Chat, Reply
from lifesearch_kit.clarification import asks_back
from lifesearch_kit.errors import ChatError
from lifesearch_kit.records import Report, ReportStatus, Task
from lifesearch_kit.settings import SystemSettings
from lifesearch_kit.text_protocol import TextProtocol
from lifesearch_kit.tool_calls import LAST_TURN_PROMPT, ToolCallsProtocol, Turn, run_calls
from lifesearch_kit.tools import Tool
from lifesearch_kit.transcripts import Step, ToolResult, Transcript
from lifesearch_kit.usage import cost, total

SYSTEM_PROMPT = "agent_system"
_CALLS_TO_WAIT_FOR = 3
_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")


async def research(
    task: Task, system: SystemSettings, chat: Chat, tools: Sequence[Tool], *, run: int, today: date
) -> tuple[Report, Transcript]:
    """Let a model work on one task until it writes its report or meets a limit.

    At a limit of the system (steps, output tokens, seconds) it is told so and gets one more turn without tools. A
    conversation that outgrows the model's context, or that the endpoint's moderation turns down, ends without a report.

    Returns
    -------
    tuple of Report and Transcript
        `iterations` counts model decisions: each may hold several tool calls or the final answer. Token counts are sums
        over all of them, None where one is unknown.

    Raises
    ------
    ChatError
        When the endpoint gives no usable reply, or the service behind a tool never answered (network, key, quota):
        there is no report then, and the run is to be made again.
    """
    loop = _Loop(task, system, chat, tools, run, today)
    limit: ReportStatus | None = None
    try:
        while not await loop.step(limit):
            loop.require_tools(calls=_CALLS_TO_WAIT_FOR)
            limit = loop.limit()
    except ChatError as error:
        if error.cause is None:
            raise
        return loop.cut_off(error), loop.transcript()
    loop.require_tools(calls=1)
    return loop.report(limit), loop.transcript()


def prompt_names(system: SystemSettings) -> tuple[str, ...]:
    """The prompts that a system's runs use."""
    return (SYSTEM_PROMPT, LAST_TURN_PROMPT, *_protocol(system, ()).prompt_names)


def _protocol(system: SystemSettings, tools: Sequence[Tool]) -> ToolCallsProtocol | TextProtocol:
    if system.protocol == "tool_calls":
        return ToolCallsProtocol(tools)
    return TextProtocol(tools, constrained=system.protocol == "constrained_text")


class _Loop:
    """The conversation of one run and what it has taken so far."""

    def __init__(
        self, task: Task, system: SystemSettings, chat: Chat, tools: Sequence[Tool], run: int, today: date
    ) -> None:
        self.task, self.system, self.chat, self.run = task, system, chat, run
        self.tools = {tool.name: tool for tool in tools}
        self.protocol = _protocol(system, tools)
        system_prompt = prompts.render(SYSTEM_PROMPT, today=today.isoformat())
        self.system_prompt = "\n".join(filter(None, [system_prompt, self.protocol.instructions]))
        self.messages: list[dict[str, Any]] = [
            {"role": "system", "content": self.system_prompt},
            {"role": "user", "content": task.query},
        ]
        self.replies: list[Reply] = []
        self.steps: list[Step] = []
        self.started = time.perf_counter()

    async def step(self, limit: ReportStatus | None) -> bool:
        """One model decision and its tool calls; whether the run ends with it."""
        last = limit is not None
        request = self.protocol.request(self.messages, last=last)
        reply = await self.chat.complete(**request, seed=self.run if self.system.seed_by_run else None)
        turn = self.protocol.read(reply, last=last)
        results = [] if last else await run_calls(turn.calls, self.tools)
        self.messages += [self._echo(turn.message), *self.protocol.hand_back(results), *turn.told]
        self.replies.append(turn.answer)
        self.steps.append(self._record(turn, results, limit))
        return last or not (turn.calls or turn.told)

    def require_tools(self, calls: int) -> None:
        """Give the run up where a tool was called so often at least and its service failed every time."""
        results = [one for step in self.steps for one in step.results]
        for tool in self.tools:
            own = [one for one in results if one.tool == tool]
            if len(own) >= calls and all(one.service_failed for one in own):
                raise ChatError(f"the tool {tool} never worked: {own[-1].content}", "transient")

    def limit(self) -> ReportStatus | None:
        """The limit that is reached, if any."""
        system = self.system
        if len(self.replies) >= system.max_steps:
            return "step_limit"
        spent = sum(reply.usage.output_tokens or 0 for reply in self.replies)
        if system.max_output_tokens_total is not None and spent >= system.max_output_tokens_total:
            return "token_limit"
        return "time_limit" if time.perf_counter() - self.started >= system.max_seconds else None

    def report(self, limit: ReportStatus | None) -> Report:
        """The run as a report; its text is the last message's, whatever the status."""
        last = self.replies[-1]
        return self._report(last.text, final_status(limit, last, self.task.query), self._notes())

    def cut_off(self, error: ChatError) -> Report:
        """The run as a report without text: the endpoint took the conversation no further."""
        status: ReportStatus = "refused" if error.cause == "refused" else "token_limit"
        return self._report("", status, (*self._notes(), str(error)))

    def _report(self, text: str, status: ReportStatus, notes: tuple[str, ...]) -> Report:
        results = [one for step in self.steps for one in step.results]
        return Report(
            system=self.system.name,
            task_id=self.task.task_id,
            run=self.run,
            text=text,
            status=status,
            iterations=len(self.replies),
            input_tokens=total([reply.usage.input_tokens for reply in self.replies]),
            output_tokens=total([reply.usage.output_tokens for reply in self.replies]),
            reasoning_tokens=total([reply.usage.reasoning_tokens for reply in self.replies]),
            tool_calls=dict(Counter(one.tool for one in results)),
            failed_tool_calls=dict(Counter(one.tool for one in results if not one.ok)),
            seconds=time.perf_counter() - self.started,
            cost=total([cost(reply.usage, self.system) for reply in self.replies]),
            model=self.replies[-1].model if self.replies else None,
            notes=notes,
        )

    def transcript(self) -> Transcript:
        """Everything that was said and done."""
        return Transcript(
            system=self.system.name,
            task_id=self.task.task_id,
            run=self.run,
            system_prompt=self.system_prompt,
            question=self.task.query,
            steps=tuple(self.steps),
        )

    def _echo(self, message: dict[str, Any]) -> dict[str, Any]:
        if self.system.echo_reasoning:
            return message
        return {name: value for name, value in message.items() if name not in _REASONING_FIELDS}

    def _record(self, turn: Turn, results: list[ToolResult], limit: ReportStatus | None) -> Step:
        reply, calls = turn.answer, turn.calls
        notes = list(reply.notes)
        if limit:
            notes.append(f"last turn, without tools: {limit}")
        if limit and calls:
            notes.append(f"{len(calls)} tool call(s) of the last turn were not run")
        return Step(
            number=len(self.steps) + 1,
            message=turn.message,
            results=tuple(results),
            finish_reason=reply.finish_reason,
            input_tokens=reply.usage.input_tokens,
            output_tokens=reply.usage.output_tokens,
            reasoning_tokens=reply.usage.reasoning_tokens,
            seconds=reply.seconds,
            notes=tuple(notes),
        )

    def _notes(self) -> tuple[str, ...]:
        counted = Counter(note for step in self.steps for note in step.notes)
        notes = [note if count == 1 else f"{note} ({count} steps)" for note, count in counted.items()]
        notes += self.protocol.notes
        models = sorted({reply.model for reply in self.replies if reply.model})
        if len(models) > 1:
            notes.append(f"more than one model answered: {', '.join(models)}")
        return tuple(notes)


def final_status(limit: ReportStatus | None, last: Reply, question: str = "") -> ReportStatus:
    """How a run ended: refusals and questions back first, then a limit, then what the last message says by itself.

    A blank message that was cut at the output limit met that limit before any answer.
    """
    if last.is_refused:
        return "refused"
    if not last.text.strip():
        return limit or ("token_limit" if last.is_truncated else "empty")
    if asks_back(last.text, question):
        return "asked_back"
    return limit or ("truncated" if last.is_truncated else "answered")
