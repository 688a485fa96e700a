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
    for event, data in _events(content):
        if data.strip() == _DONE:
            done = True
            continue
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            return {"error": {"message": data}} if event == "error" else None
        if not isinstance(chunk, dict):
            return None
        if chunk.get("error"):
            return chunk
        if "error" in (event, chunk.get("object"), chunk.get("type")):
            return {"error": chunk}
        seen = True
        choices = chunk.pop("choices", None)
        whole |= {name: value for name, value in chunk.items() if value is not None}
        for part in choices if isinstance(choices, list) else []:
            if isinstance(part, dict) and part.get("index") in (0, None):
                delta = part.pop("delta", None) or part.pop("message", None)
                choice |= {name: value for name, value in part.items() if value not in (None, "")}
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


def _events(content: bytes) -> list[tuple[str, str]]:
    """The name and data of each event (HTML standard, server-sent events)."""
    events: list[tuple[str, str]] = []
    name, lines = "", list[str]()
    text = content.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for line in (*text.split("\n"), ""):
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif not line:
            events += [(name, "\n".join(lines))] if lines else []
            name, lines = "", []
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
        place = _place(parts, piece)
        if place is None:
            parts.append(piece)
        else:
            parts[place] = _joined(parts[place], piece)
    return parts


def _place(parts: list[Any], piece: Any) -> int | None:
    """Which part a piece goes on with; None for a new one."""
    if not isinstance(piece, dict):
        return None
    function, number, call_id = piece.get("function"), piece.get("index"), piece.get("id")
    begins = isinstance(function, dict) and bool(function.get("name"))
    numbers = [part.get("index") if isinstance(part, dict) else None for part in parts]
    if number is None:
        # Without a number, arguments without a name are the rest of the call before.
        return len(parts) - 1 if parts and isinstance(function, dict) and not begins else None
    if number not in numbers:
        return None
    place = len(numbers) - 1 - numbers[::-1].index(number)
    # Some endpoints give every call the same number. An id alone tells nothing: others make a new one for each piece.
    return None if begins and call_id and parts[place].get("id") not in (None, "", call_id) else place
