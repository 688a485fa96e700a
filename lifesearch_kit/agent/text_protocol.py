"""Tool calls as JSON in the text of messages, for endpoints and models without a field for them.

Every reply of the model is exactly one JSON object:

- ``{"tool": "<name>", "arguments": {...}}`` calls a tool. It is run like any tool call, and what comes back goes to the
  model as a user message that begins "Result of <name>:".
- ``{"report": "..."}``, its value the whole report in Markdown, ends the work.

A code fence, reasoning or other words around the object are tolerated and noted. Any other reply breaks the protocol:
the model is told what was wrong, which costs a step. Prose right after that is taken for the report, since a model that
writes its report as prose has written a report; so it is in the last turn, without telling. What was meant as an object
is never taken for prose. A report that repeats, to the letter, an object of the prompt or of a tool's result is a
quotation and breaks the protocol too. A tool that does not exist and arguments that do not fit are ordinary failed
calls, and an empty reply ends the run as it always does. A report that was cut at the output limit is read as far as it
goes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from lifesearch_kit import prompts
from lifesearch_kit.agent.text_actions import ARGUMENTS, REPORT, TOOL, Action, read_action
from lifesearch_kit.agent.tool_calls import LAST_TURN_PROMPT, ToolCall, Turn
from lifesearch_kit.chat.reply import CALLS_NOT_RUN, Reply
from lifesearch_kit.tools import Tool
from lifesearch_kit.transcripts import ToolResult

TEXT_PROMPT = "agent_text_protocol"
BROKEN_PROMPT = "agent_text_protocol_broken"
TEXT_LAST_TURN_PROMPT = "agent_text_protocol_last_turn"
_EXAMPLE_VALUES = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
# Words of a made-up example would find their way into small models' searches and reports.
_EXAMPLE_TEXT = "<what you want to know>"
_CALL_FIELDS = ("tool_calls", "function_call")
_IN_THE_FIELD = "calls outside its text are not read"


class TextProtocol:
    """How one run calls tools through text; with `constrained`, each reply is held to the form by a JSON Schema."""

    prompt_names = (TEXT_PROMPT, BROKEN_PROMPT, TEXT_LAST_TURN_PROMPT)

    def __init__(self, tools: Sequence[Tool], *, constrained: bool) -> None:
        self._tools, self._constrained = tools, constrained
        self._calls = self._breaks = 0
        self._last_broke = False
        self._handed_back: list[str] = []

    @cached_property
    def instructions(self) -> str:
        """What the system prompt says of the protocol."""
        first = self._tools[0] if self._tools else None
        name, arguments = (first.name, _example_arguments(first)) if first else ("example_tool", {})
        return prompts.render(
            TEXT_PROMPT,
            tools="\n".join(_listed(tool) for tool in self._tools) or "(none)",
            example_tool=name,
            example_call=json.dumps({TOOL: name, ARGUMENTS: arguments}),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of the whole run."""
        return (f"replies that broke the text protocol: {self._breaks}",) if self._breaks else ()

    def request(self, messages: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
        """What goes to the endpoint."""
        if last:  # Some servers insist that user and assistant take turns, so no second user message follows.
            said = [prompts.render(name).strip() for name in (LAST_TURN_PROMPT, TEXT_LAST_TURN_PROMPT)]
            content = f"{messages[-1]['content']}\n\n{' '.join(said)}"
            messages = [*messages[:-1], {"role": "user", "content": content}]
        if not self._constrained:
            return {"messages": messages}
        schema = action_schema([] if last else self._tools)
        return {
            "messages": messages,
            "response_format": {"type": "json_schema", "json_schema": {"name": "action", "schema": schema}},
        }

    def read(self, reply: Reply, *, last: bool) -> Turn:
        """The reply as a call, a report, or something to be told."""
        reply = replace(reply, notes=tuple(note for note in reply.notes if note not in CALLS_NOT_RUN))
        message = {name: value for name, value in reply.message.items() if name not in _CALL_FIELDS}
        if len(message) < len(reply.message):
            message["content"] = message.get("content") or ""  # endpoints refuse a message with neither
            reply = replace(reply, notes=(*reply.notes, "calls outside the text were not run"))
        if reply.is_refused:
            return Turn(message, reply)
        if not reply.text.strip():
            calls = bool(reply.tool_calls)
            return self._broken(message, reply, Action(fault=_IN_THE_FIELD), last) if calls else Turn(message, reply)
        action = read_action(reply.text, truncated=reply.is_truncated)
        if action.report is not None and not action.cut and self._was_given(action.source):
            action = Action(fault="its JSON object is a quotation of words that you were given")
        if action.fault:
            return self._broken(message, reply, action, last)
        self._last_broke = False
        answer = replace(reply, text=action.report or "", notes=(*reply.notes, *action.notes))
        if action.tool is not None:
            self._calls += 1
            return Turn(message, answer, [ToolCall(f"call_{self._calls}", action.tool, action.arguments)])
        if reply.is_truncated and not action.cut:
            beyond = "the output limit cut off words after the report"
            answer = replace(answer, finish_reason="stop", notes=(*answer.notes, beyond))
        return Turn(message, answer)

    def hand_back(self, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
        """The results as messages."""
        self._handed_back += [one.content for one in results]
        return [{"role": "user", "content": f"Result of {one.tool}:\n{one.content}"} for one in results]

    def _was_given(self, words: str) -> bool:
        return any(words in content for content in (self.instructions, *self._handed_back))

    def _broken(self, message: dict[str, Any], reply: Reply, action: Action, last: bool) -> Turn:
        self._breaks += 1
        note = f"the reply broke the text protocol: {action.fault}"
        if action.is_prose and (last or self._last_broke):
            taken = "the report was taken from a reply outside the text protocol"
            return Turn(message, replace(reply, notes=(*reply.notes, note, taken)))
        answer = replace(reply, text="", notes=(*reply.notes, note))
        if last:
            return Turn(message, answer)
        self._last_broke = True
        known = ", ".join(tool.name for tool in self._tools) or "there is none"
        told = prompts.render(BROKEN_PROMPT, fault=action.fault, tools=known).strip()
        return Turn(message, answer, told=[{"role": "user", "content": told}])


def action_schema(tools: Sequence[Tool]) -> dict[str, Any]:
    """The JSON Schema of one reply: a call of one of the tools, or the report."""
    forms = [
        _object({TOOL: {"type": "string", "enum": [tool.name]}, ARGUMENTS: _arguments_schema(tool)}) for tool in tools
    ]
    report = _object({REPORT: {"type": "string"}})
    return {"anyOf": [*forms, report]} if forms else report


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _arguments_schema(tool: Tool) -> dict[str, Any]:
    """The tool's own schema of its arguments, unless it refers to a place that is another one inside this schema."""
    parameters = tool.schema["function"].get("parameters") or {}
    usable = parameters.get("type") == "object" and '"$ref"' not in json.dumps(parameters)
    return parameters if usable else {"type": "object"}


def _listed(tool: Tool) -> str:
    function = tool.schema["function"]
    parameters = function.get("parameters") or {}
    required = parameters.get("required", [])
    properties = parameters.get("properties", {})
    names = [f"{name}{'' if name in required else '?'}: {rule.get('type', 'any')}" for name, rule in properties.items()]
    about = [f"{name}: {rule['description']}" for name, rule in properties.items() if rule.get("description")]
    return " ".join([f"- {tool.name}({', '.join(names)})", function.get("description", ""), *about]).rstrip()


def _example_arguments(tool: Tool) -> dict[str, Any]:
    parameters = tool.schema["function"].get("parameters") or {}
    properties = parameters.get("properties", {})
    return {name: _example(properties.get(name, {})) for name in parameters.get("required", [])}


def _example(rule: dict[str, Any]) -> Any:
    if rule.get("type") == "array" and rule.get("items", {}).get("type") == "string":
        return [_EXAMPLE_TEXT]
    return _EXAMPLE_VALUES.get(str(rule.get("type")), _EXAMPLE_TEXT)
