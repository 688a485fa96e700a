"""A chat endpoint on loopback with the quirks of vendors: it checks what comes back, refuses it, and can stream."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import serving

Body = dict[str, Any]
# Words for a request that is refused, or None.
Rule = Callable[["Vendor", Body], str | None]
REASONING = ("reasoning_content", "reasoning")


@dataclass(frozen=True)
class Stream:
    """Bytes sent as they are; `broken`: the connection is closed in the middle."""

    parts: Iterable[bytes]
    broken: bool = False


@dataclass
class Vendor:
    """The endpoint's script, its rules, and what it was asked.

    `turns` are bodies, pairs of status and body, streams, or functions of the request; the last one is said again where
    `endless`. A body is streamed by `write` where the request asks for a stream. A request that breaks a rule is
    refused with `status`; nobody's rules allow a call without its result.
    """

    url: str
    turns: list[Any] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    status: int = 400
    endless: bool = False
    write: Callable[[Body], Stream] = field(default=lambda body: Stream([sse(chunks(body))]))
    requests: list[Body] = field(default_factory=list)
    said: list[Body] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: Body) -> tuple[int, Any]:
        with self.lock:
            self.requests.append(request)
            words = next(filter(None, (rule(self, request) for rule in (pairs, *self.rules))), None)
            if words:
                return self.status, {"error": {"message": words, "code": None, "type": "invalid_request_error"}}
            turn = self.turns[0] if self.endless and len(self.turns) == 1 else self.turns.pop(0)
            turn = turn(request) if callable(turn) else turn
            status, body = turn if isinstance(turn, tuple) else (200, turn)
            if isinstance(body, dict) and body.get("choices") and body["choices"][0].get("message"):
                self.said.append(body["choices"][0]["message"])
                body = self.write(body) if request.get("stream") else body
            return status, body


def pairs(_: Vendor, request: Body) -> str | None:
    """Every call has its own id and is answered right after it, in order, by a text."""
    open_ids: list[Any] = []
    seen: set[str] = set()
    for message in request["messages"]:
        if message["role"] == "tool":
            if not open_ids or message["tool_call_id"] != open_ids.pop(0) or not isinstance(message["content"], str):
                return "tool messages must follow the calls that they answer"
            continue
        if open_ids:
            return f"an assistant message with 'tool_calls' must be followed by tool messages: {open_ids} have none"
        open_ids = [one.get("id") for one in message.get("tool_calls") or []]
        if any(not isinstance(one, str) or not one.strip() or one in seen for one in open_ids):
            return f"ids of tool calls must be texts, each its own: {open_ids}"
        seen.update(open_ids)
    return f"no result for {open_ids}" if open_ids else None


def unchanged(vendor: Vendor, request: Body) -> str | None:
    """What the endpoint said comes back to the letter: every field, known or not."""
    back = [one for one in request["messages"] if one["role"] == "assistant"]
    return None if back == vendor.said[: len(back)] and len(back) == len(vendor.said) else f"{back} was changed"


def reasoning_required(vendor: Vendor, request: Body) -> str | None:
    back = [one for one in request["messages"] if one["role"] == "assistant"]
    kept = all(
        one.get(name) == said.get(name) for one, said in zip(back, vendor.said, strict=True) for name in REASONING
    )
    return None if kept else "The reasoning_content in the thinking mode must be passed back to the API."


def reasoning_refused(_: Vendor, request: Body) -> str | None:
    held = any(name in one for one in request["messages"] for name in REASONING)
    return "messages[2].reasoning_content: this field is not permitted in the input" if held else None


def stream_only(words: str) -> Rule:
    """No answer in one piece."""
    return lambda _, request: None if request.get("stream") is True else words


def at_most(characters: int, words: str) -> Rule:
    """The model's context, in characters of the messages."""
    return lambda _, request: words if len(json.dumps(request["messages"])) > characters else None


# Streams


def chunks(body: Body, size: int = 3) -> list[Body]:
    """A completion in chunks, as most vendors cut it: texts in pieces, calls by their index, the usage at the end."""
    (choice,) = body["choices"]
    base = {**{name: body[name] for name in ("id", "model")}, "object": "chat.completion.chunk"}
    message = choice["message"]
    texts = [name for name in (*REASONING, "content") if isinstance(message.get(name), str)]
    whole = {name: value for name, value in message.items() if name not in (*texts, "tool_calls")}
    deltas: list[Body] = [whole]
    deltas += [{name: piece} for name in texts for piece in pieces(message[name], size)]
    for number, call in enumerate(message.get("tool_calls") or []):
        first = {**call, "index": number, "function": {**call["function"], "arguments": ""}}
        rest = [
            {"index": number, "function": {"arguments": one}} for one in pieces(call["function"]["arguments"], size)
        ]
        deltas += [{"tool_calls": [one]} for one in (first, *rest)]
    sent = [{**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    sent.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    return [*sent, {**base, "choices": [], "usage": body["usage"]}] if body.get("usage") else sent


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def sse(events: Iterable[Any], *, done: bool = True, line: str = "\n", comment: str = "") -> bytes:
    """Events as server-sent events; one that is a text is written as it is."""
    written = [one if isinstance(one, str) else f"data: {json.dumps(one, ensure_ascii=False)}" for one in events]
    written += ["data: [DONE]"] if done else []
    return "".join(f"{comment}{one}\n\n".replace("\n", line) for one in written).encode()


def cut(content: bytes, size: int) -> list[bytes]:
    return [content[at : at + size] for at in range(0, len(content), size)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    vendor: Vendor

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, body = self.vendor.answer(request)
        self.send_response(status)
        self.send_header("retry-after-ms", "1")
        if isinstance(body, Stream):
            self._stream(body)
            return
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, stream: Stream) -> None:
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in stream.parts:
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            self.wfile.flush()
        if stream.broken:
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


@contextmanager
def serve_vendor() -> Iterator[Vendor]:
    """Run the endpoint in a thread for as long as the block lasts."""

    class Handler(_Handler):
        """One class a server, so that several may run at once."""

    with serving(Handler) as url:
        Handler.vendor = vendor = Vendor(f"{url}/v1")
        yield vendor
