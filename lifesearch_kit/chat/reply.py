"""One reply of a chat-completions endpoint, read without trusting its shape."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from lifesearch_kit.chat.usage import Usage, read_usage
from lifesearch_kit.text import repair, replace_lone_surrogates

_TRUNCATED = ("length", "max_tokens", "model_length", "model_context_window_exceeded")
_REFUSED = ("content_filter", "refusal", "safety", "sensitive")
_LEGACY_CALL = "the reply holds a legacy function_call, which was not run: the endpoint must send tool_calls"
_CALL_IN_TEXT = "the text holds what looks like a tool call; it was not run: the server must parse tool calls"
_NO_LIST = "tool_calls of the reply is no list, so no call was run"
_NO_CALL = "the endpoint says that the reply ends in tool calls, and it holds none"
# Notes that matter where calls are expected in a field of their own.
CALLS_NOT_RUN = (_LEGACY_CALL, _CALL_IN_TEXT, _NO_LIST, _NO_CALL)
_REASONING_PARTS = ("reasoning", "thinking", "redacted_thinking")
# Reasoning that a server left in the content. A lone closing tag further down may as well be what a report shows.
_INLINE_REASONING = re.compile(r"\A\s*<(think|thinking)>.*?(?:</\1>|\Z)", re.S)
_LONE_END = re.compile(r"^[ \t]*</(?:think|thinking)>[ \t]*$", re.M)
# Calls as models write them where a server does not parse them.
_WRITTEN_CALL = re.compile(
    r"^[ \t]*(?:<(?:tool_call|function_call|function=\w+|invoke name=[^>\n]{1,80})>|\[TOOL_CALLS\]"
    r"|<[|\uff5c](?:tool[_\u2581]calls?|python_tag|function_call))",
    re.M,
)


@dataclass(frozen=True)
class Reply:
    """What the model said.

    Parameters
    ----------
    message
        The assistant's message as received (lone surrogates replaced), to be sent back with the next turn.
    text
        Its visible text, without reasoning that the endpoint marks: in its own field or parts, or as a block at the
        very start.
    tool_calls
        Its calls as received, ids not yet checked.
    notes
        What was repaired or looks wrong, such as a call in a form that is not read.
    """

    message: dict[str, Any]
    text: str = ""
    tool_calls: tuple[Any, ...] = ()
    finish_reason: str | None = None
    refusal: str | None = None
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def is_truncated(self) -> bool:
        """Whether the reply was cut at the output limit."""
        return (self.finish_reason or "").lower() in _TRUNCATED

    @property
    def is_refused(self) -> bool:
        """Whether the model or a content filter refused to answer."""
        return bool(self.refusal) or (self.finish_reason or "").lower() in _REFUSED

    @property
    def shortcoming(self) -> tuple[Literal["truncated", "refused"], str] | None:
        """Status and reason of a reply that was cut off or refused, and so holds nothing, whatever it looks like."""
        if self.is_truncated:
            return "truncated", "the reply was cut at the output limit; raise max_output_tokens"
        if self.is_refused:
            return "refused", self.refusal or "the endpoint's content filter stopped the reply"
        return None


def read_reply(payload: dict[str, Any], seconds: float = 0.0) -> Reply:
    """Read a body that holds at least one choice with a message object."""
    choice = payload["choices"][0]
    message, halves = repair(choice["message"])
    message = {"role": "assistant", **message}
    usage = read_usage(payload.get("usage"))
    text, refusals, notes = _read_content(message.get("content"))
    calls = message.get("tool_calls")
    finish = _word(choice.get("finish_reason"))
    notes += _calls_not_run(message, text, finish) if not isinstance(calls, list) or not calls else []
    if halves:
        notes.append(f"{halves} lone surrogate(s) in the reply were replaced")
    said_no = message.get("refusal")
    return Reply(
        message=message,
        text=text,
        tool_calls=tuple(calls) if isinstance(calls, list) else (),
        finish_reason=finish,
        refusal=said_no if isinstance(said_no, str) and said_no.strip() else (" ".join(refusals) or None),
        model=_word(payload.get("model")),
        usage=usage,
        seconds=seconds,
        notes=(*notes, *usage.notes),
    )


def _word(value: Any) -> str | None:
    return replace_lone_surrogates(value)[0] if isinstance(value, str) else None


def _read_content(content: Any) -> tuple[str, list[str], list[str]]:
    """Visible text, refusals among the parts, and notes."""
    notes: list[str] = []
    refusals: list[str] = []
    texts: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and part.get("type") == "refusal":
            refusals.append(str(part.get("refusal") or "refused"))
        elif isinstance(part, dict) and part.get("type") not in _REASONING_PARTS and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif part is not None and not (isinstance(part, dict) and part.get("type") in _REASONING_PARTS):
            notes.append(f"a part of the content that is no text was left out: {part!r:.60}")
    text = "".join(texts)
    reasoning = _INLINE_REASONING.match(text)
    if reasoning:
        text = text[reasoning.end() :].lstrip()
        notes.append("reasoning inside the content was taken out of the text")
    elif _LONE_END.search(text):
        notes.append("the text holds the end of a reasoning block without its start, so reasoning may be part of it")
    return text, refusals, notes


def _calls_not_run(message: dict[str, Any], text: str, finish: str | None) -> list[str]:
    """Notes on calls in a form that is not read, so that a message without calls is not mistaken for a report."""
    notes = []
    if message.get("function_call"):
        notes.append(_LEGACY_CALL)
    if _WRITTEN_CALL.search(text):
        notes.append(_CALL_IN_TEXT)
    if message.get("tool_calls"):
        notes.append(_NO_LIST)
    elif finish == "tool_calls":
        notes.append(_NO_CALL)
    return notes
