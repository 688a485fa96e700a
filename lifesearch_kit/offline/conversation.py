"""What the offline baselines know: the messages of one chat-completions request, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Completion:
    """An assistant turn: a text, or tool calls as (name, arguments), with a line that says what they are for."""

    content: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()


@dataclass(frozen=True)
class Call:
    """A tool call of an earlier turn and the text that came back."""

    name: str
    arguments: Mapping[str, Any]
    result: str


@dataclass(frozen=True)
class Conversation:
    """A request as read: the question is the first user message; `tools` are the names that may still be called."""

    question: str
    calls: tuple[Call, ...]
    tools: frozenset[str]
    seed: int
    model: str = field(default="")

    def made(self, name: str) -> tuple[Call, ...]:
        """The calls of one tool so far, in order."""
        return tuple(call for call in self.calls if call.name == name)


def text_of(content: Any) -> str:
    """The text of a message's content: a string, a list of text parts, or nothing."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _arguments(written: Any) -> Mapping[str, Any]:
    try:
        arguments = json.loads(written)
    except (TypeError, ValueError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


def read_conversation(body: Mapping[str, Any]) -> Conversation:
    """Read a chat-completions body; tool results are matched to their calls by id."""
    messages = [message for message in body.get("messages") or () if isinstance(message, dict)]
    results = {
        str(one.get("tool_call_id")): text_of(one.get("content")) for one in messages if one.get("role") == "tool"
    }
    asked = (text_of(one.get("content")) for one in messages if one.get("role") == "user")
    calls = tuple(
        Call(
            str(function.get("name")),
            _arguments(function.get("arguments")),
            results.get(str(call.get("id")), ""),
        )
        for message in messages
        if message.get("role") == "assistant"
        for call in message.get("tool_calls") or ()
        if isinstance(function := call.get("function"), dict)
    )
    offered = () if body.get("tool_choice") == "none" else body.get("tools") or ()
    tools = frozenset(str(tool.get("function", {}).get("name")) for tool in offered if isinstance(tool, dict))
    seed = body.get("seed")
    return Conversation(
        question=next(asked, ""),
        calls=calls,
        tools=tools,
        seed=seed if isinstance(seed, int) else 0,
        model=str(body.get("model")),
    )
