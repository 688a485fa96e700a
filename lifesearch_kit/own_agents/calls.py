"""The tools as an agent of one's own calls them: each call is run and recorded as in the kit's harness."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lifesearch_kit.agent.tool_calls import ToolCall, run_calls
from lifesearch_kit.errors import ChatError, ChatErrorKind, ToolError
from lifesearch_kit.text import replace_lone_surrogates
from lifesearch_kit.tools import Tool
from lifesearch_kit.transcripts import Step, ToolResult

MOST_CALLS = 10_000
_AT_ONCE = 8
_CALLS_TO_WAIT_FOR = 3
_OVER = "Error: the run is over, no further call is made"


class AgentError(Exception):
    """An agent handed over no report. The message follows its name and says why; `kind` is as in ChatError."""

    def __init__(self, message: str, kind: ChatErrorKind = "transient") -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class RecordedTool(Tool):
    """A tool as a function gets it: `run` and `call` are recorded alike."""

    answer: Callable[[Any], Awaitable[str]] = field(kw_only=True)

    async def run(self, arguments: Any) -> str:
        """As `Tool.run`."""
        return await self.answer(arguments)


class Calls:
    """The calls of one run, by the order in which they were begun.

    Attributes
    ----------
    given_up
        Set to an error as soon as the run has to be given up: a tool whose service never worked, or calls without end.
    tool_seconds
        Wall time during which a call was under way.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._results: dict[int, ToolResult] = {}
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._begun = self._under_way = 0
        self._since = 0.0
        self._is_over = False
        self.tool_seconds = 0.0
        self.given_up: asyncio.Future[ChatError | AgentError] = asyncio.get_running_loop().create_future()

    @property
    def results(self) -> list[ToolResult]:
        """What came back, in the order of the calls."""
        return [self._results[number] for number in sorted(self._results)]

    def tools(self) -> list[Tool]:
        """The tools for a function: they return what the tool says, or raise ToolError."""
        return [self._recorded(tool) for tool in self._tools.values()]

    def close(self) -> None:
        """Make no further call."""
        self._is_over = True

    async def answer(self, name: str, arguments: Any) -> ToolResult:
        """Make and record one call; a failure is a result too."""
        call = ToolCall(f"call_{self._begun + 1}", replace_lone_surrogates(name)[0], _written(arguments))
        if self._is_over or self._begun == MOST_CALLS:
            if not self._is_over:
                self._give_up(AgentError(f"made more than {MOST_CALLS:,} tool calls"))
            return _failure(call, _OVER)
        self._begun += 1
        number, started = self._begun, time.perf_counter()
        self._since = self._since if self._under_way else started
        self._under_way += 1
        # What stays where the call is cancelled.
        result = _failure(call, "Error: the call was given up before an answer came")
        try:
            async with self._places:
                (result,) = await run_calls([call], self._tools)
        finally:
            now = time.perf_counter()
            self._results[number] = result.model_copy(update={"seconds": result.seconds or now - started})
            self._under_way -= 1
            self.tool_seconds += 0.0 if self._under_way else now - self._since
        if not self._under_way:
            self._look(_CALLS_TO_WAIT_FOR)
        return result

    def require_tools(self) -> None:
        """Raise ChatError where a tool was called and its service failed every time."""
        self._look(1)
        if self.given_up.done():
            raise self.given_up.result()

    def steps(self) -> list[Step]:
        """The transcript's steps, one a call."""
        return [
            Step(
                number=number,
                message={
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": result.call_id,
                            "type": "function",
                            "function": {"name": result.tool, "arguments": result.arguments},
                        }
                    ],
                },
                results=(result,),
                tool_seconds=result.seconds,
            )
            for number, result in enumerate(self.results, start=1)
        ]

    def _recorded(self, tool: Tool) -> RecordedTool:
        async def answer(arguments: Any) -> str:
            result = await self.answer(tool.name, arguments)
            if not result.ok:
                raise ToolError(result.content.removeprefix("Error: "), service_failed=result.service_failed)
            return result.content

        async def call(**arguments: Any) -> str:
            return await answer(arguments)

        return RecordedTool(tool.name, tool.schema, call, tool.backend, answer=answer)

    def _look(self, calls: int) -> None:
        for tool in self._tools:
            own = [one for one in self._results.values() if one.tool == tool]
            if len(own) >= calls and all(one.service_failed for one in own):
                self._give_up(ChatError(f"the tool {tool} never worked: {own[-1].content}", "transient"))

    def _give_up(self, error: ChatError | AgentError) -> None:
        if not self.given_up.done():
            self.given_up.set_result(error)


def _failure(call: ToolCall, content: str) -> ToolResult:
    return ToolResult(call_id=call.call_id, tool=call.name[:64], arguments=call.arguments, content=content, ok=False)


def _written(arguments: Any) -> str:
    """Arguments as a model writes them: JSON; what is none stays as it is, for the tool to refuse."""
    if not isinstance(arguments, str):
        try:
            arguments = "{}" if arguments is None else json.dumps(arguments, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            arguments = repr(arguments)
    return replace_lone_surrogates(arguments)[0]
