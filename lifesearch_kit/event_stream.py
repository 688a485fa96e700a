"""A completion that came as a stream of server-sent events, put together into the body that it would have been.

Some endpoints answer in no other way. The stream is read whole, so an error in its middle is an error like any other.
"""

from __future__ import annotations

import json
from typing import Any

_BEGINNINGS = (b"data:", b"event:", b"id:", b"retry:", b":")
_DONE = "[DONE]"
# Fields of a part that say what it is; all other strings are pieces of one text.
_WHOLE = ("role", "type", "id", "name", "finish_reason", "index", "model", "object", "format")


def is_stream(content: bytes) -> bool:
    """Whether a body is a stream of events, whatever its header says; no JSON begins like one."""
    return content[:100].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_BEGINNINGS)


def read_stream(content: bytes) -> dict[str, Any] | None:
    """The body that a stream's chunks make; None where it holds no chunk, or one that is no JSON object.

    A stream that says neither how it ended nor that it is done was broken off: its body holds an error.
    """
    whole: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    done = seen = False
    for data in _events(content):
        if data.strip() == _DONE:
            done = True
            continue
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            return None
        if not isinstance(chunk, dict):
            return None
        if chunk.get("error"):
            return chunk
        seen = True
        choices = chunk.pop("choices", None)
        whole |= {name: value for name, value in chunk.items() if value is not None}
        for part in choices if isinstance(choices, list) else []:
            if isinstance(part, dict) and part.get("index") in (0, None):
                delta = part.pop("delta", None) or part.pop("message", None)
                choice |= {name: value for name, value in part.items() if value is not None}
                if isinstance(delta, dict):
                    choice["message"] = _joined(choice.get("message", {}), delta)
    if not seen:
        return None
    message = choice.get("message", {})
    if message.get("tool_calls"):
        # The number of a call orders its pieces; endpoints that get it back refuse it.
        message["tool_calls"] = [_without_index(call) for call in message["tool_calls"]]
    if not done and not choice.get("finish_reason"):
        return {"error": {"message": "the stream was broken off"}}
    return {**whole, "choices": [choice] if choice else []}


def _events(content: bytes) -> list[str]:
    """The data of each event (HTML standard, server-sent events)."""
    events: list[str] = []
    lines: list[str] = []
    text = content.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for line in (*text.split("\n"), ""):
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line and lines:
            events.append("\n".join(lines))
            lines = []
    return events


def _joined(whole: dict[str, Any], piece: dict[str, Any]) -> dict[str, Any]:
    """A message with one more piece: texts grow, lists of numbered parts are joined by their numbers."""
    joined = dict(whole)
    for name, value in piece.items():
        before = joined.get(name)
        if value is None:
            joined.setdefault(name, None)
        elif isinstance(before, str) and isinstance(value, str):
            joined[name] = (before if name in _WHOLE and before else before + value) if value else before
        elif isinstance(before, dict) and isinstance(value, dict):
            joined[name] = _joined(before, value)
        elif isinstance(value, list):
            joined[name] = _joined_parts(before if isinstance(before, list) else [], value)
        else:
            joined[name] = value
    return joined


def _without_index(call: Any) -> Any:
    return {name: value for name, value in call.items() if name != "index"} if isinstance(call, dict) else call


def _joined_parts(whole: list[Any], pieces: list[Any]) -> list[Any]:
    parts = list(whole)
    for piece in pieces:
        number = piece.get("index") if isinstance(piece, dict) else None
        numbers = [part.get("index") if isinstance(part, dict) else None for part in parts]
        place = numbers.index(number) if number is not None and number in numbers else None
        if place is None:
            parts.append(piece)
        else:
            parts[place] = _joined(parts[place], piece)
    return parts
