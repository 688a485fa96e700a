"""From an assistant's tool calls to tool messages: ids set right on both sides, each call answered, order kept."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lifesearch_kit import prompts
from lifesearch_kit.chat.reply import Reply
from lifesearch_kit.errors import ToolError
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.redaction import redact_secrets
from lifesearch_kit.tools import Tool
from lifesearch_kit.transcripts import ToolResult

LAST_TURN_PROMPT = "agent_last_turn"
_NAME_CHARACTERS = 64
_AT_ONCE = 8
CALL_SECONDS = 180.0


@dataclass(frozen=True)
class ToolCall:
    """One call: a usable id, the name that the model wrote, and its arguments as received."""

    call_id: str
    name: str
    arguments: Any


class Turn(NamedTuple):
    """A reply as a protocol reads it: calls to run, or messages that tell the model what was wrong; neither ends a run.

    `message` is to be sent back; `answer` is the reply with the report for its text.
    """

    message: dict[str, Any]
    answer: Reply
    calls: Sequence[ToolCall] = ()
    told: Sequence[dict[str, Any]] = ()


class ToolCallsProtocol:
    """How one run calls tools through the endpoint's own field for them."""

    prompt_names: tuple[str, ...] = ()
    instructions = ""
    notes: tuple[str, ...] = ()

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._schemas = [tool.schema for tool in tools]
        self._used_ids: set[str] = set()

    def request(self, messages: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
        """What goes to the endpoint."""
        if last:
            messages = [*messages, {"role": "user", "content": prompts.render(LAST_TURN_PROMPT).strip()}]
        choice = "none" if last and self._schemas else None
        return {"messages": messages, "tools": self._schemas, "tool_choice": choice}

    def read(self, reply: Reply, *, last: bool) -> Turn:
        """The reply as calls or a report; the last turn is read like any other."""
        message, calls = read_calls(reply, self._used_ids)
        self._used_ids.update(call.call_id for call in calls)
        return Turn(message, reply, calls)

    def hand_back(self, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
        """The results as messages."""
        return [{"role": "tool", "tool_call_id": one.call_id, "content": one.content} for one in results]


def read_calls(reply: Reply, used_ids: set[str]) -> tuple[dict[str, Any], list[ToolCall]]:
    """The calls of a reply, and its message with the same ids.

    A missing or repeated id gets a fresh one; the rest of the message stays as received.
    """
    if not reply.tool_calls:
        return reply.message, []
    taken = set(used_ids)
    entries: list[dict[str, Any]] = []
    calls: list[ToolCall] = []
    for raw in reply.tool_calls:
        entry = dict(raw) if isinstance(raw, dict) else {}
        function = entry.get("function")
        if not isinstance(function, dict):
            function = {"name": "unknown", "arguments": "{}"}
        call_id = entry.get("id")
        if not isinstance(call_id, str) or not call_id.strip() or call_id in taken:
            call_id = _fresh_id(taken)
        taken.add(call_id)
        entries.append({**entry, "id": call_id, "type": entry.get("type") or "function", "function": function})
        calls.append(ToolCall(call_id, str(function.get("name") or "unknown"), function.get("arguments")))
    return {**reply.message, "tool_calls": entries}, calls


def _fresh_id(taken: Collection[str]) -> str:
    """The same in a run that goes on as in the one that was interrupted."""
    # Nine letters or digits: the one form that every vendor takes.
    ids = (fingerprint("call", number)[:9] for number in itertools.count(len(taken)))
    return next(one for one in ids if one not in taken)


async def run_calls(calls: Sequence[ToolCall], tools: Mapping[str, Tool]) -> list[ToolResult]:
    """Run the calls of one step side by side, a few at a time; the results are in the order of the calls.

    A failure is a result too, and so is a call that takes too long.
    """
    if len(calls) == 1:
        return [await _answer(calls[0], tools)]
    places = asyncio.Semaphore(_AT_ONCE)
    return list(await asyncio.gather(*(_run(call, tools, places) for call in calls)))


async def _run(call: ToolCall, tools: Mapping[str, Tool], places: asyncio.Semaphore) -> ToolResult:
    async with places:
        return await _answer(call, tools)


async def _answer(call: ToolCall, tools: Mapping[str, Tool]) -> ToolResult:
    started = time.perf_counter()
    service_failed = False
    try:
        tool = tools.get(call.name)
        if tool is None:
            known = ", ".join(tools) or "none"
            raise ToolError(f"there is no tool {call.name[:_NAME_CHARACTERS]!r}; the tools are {known}")
        async with asyncio.timeout(CALL_SECONDS):
            content, ok = await tool.run(call.arguments), True
    except TimeoutError:
        content, ok = f"Error: {call.name} took longer than {CALL_SECONDS:g} seconds and was given up", False
    except ToolError as error:
        content, ok, service_failed = f"Error: {error}", False, error.service_failed
    except Exception as error:  # A tool of one's own may fail in any way; the run goes on and the failure is counted.
        content, ok = f"Error: {call.name} failed with {type(error).__name__}: {error}", False
    return ToolResult(
        call_id=call.call_id,
        tool=call.name[:_NAME_CHARACTERS],
        arguments=call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False),
        content=redact_secrets(content),
        ok=ok,
        service_failed=service_failed,
        seconds=time.perf_counter() - started,
    )
