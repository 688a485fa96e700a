"""Chat completions answered inside the process by the baselines: JSON in, JSON out, no port and no key.

The token counts are estimates, since nothing here has a tokenizer: a quarter token for an ASCII character, three
quarters for any other, rounded up for each text. Tool calls count with their JSON.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from lifesearch_kit.offline.building import BUILDERS, answer_builder
from lifesearch_kit.offline.conversation import Completion, text_of
from lifesearch_kit.offline.judge import JUDGES, answer_judge
from lifesearch_kit.offline.researcher import answer_researcher
from lifesearch_kit.offline.variants import VARIANTS

BASELINES: dict[str, Callable[[Mapping[str, Any]], Completion]] = {
    **dict.fromkeys(VARIANTS, answer_researcher),
    **dict.fromkeys(JUDGES, answer_judge),
    **dict.fromkeys(BUILDERS, answer_builder),
}


def http_client() -> httpx.AsyncClient:
    """An HTTP client whose chat-completions requests the baselines answer."""
    return httpx.AsyncClient(transport=BaselineTransport(), base_url="http://baselines.invalid/v1")


class BaselineTransport(httpx.AsyncBaseTransport):
    """Answers ``POST .../chat/completions`` by the request's `model`; the same body always gets the same reply."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request; faults of the request are OpenAI-style errors with status 400 or 404."""
        if request.method != "POST" or not request.url.path.endswith("/chat/completions"):
            return _error(
                404, f"the baselines answer only POST /chat/completions, not {request.method} {request.url.path}"
            )
        content = await request.aread()
        try:
            body = json.loads(content)
        except ValueError:
            body = None
        if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
            return _error(400, "the request's body is no JSON object with a list of messages")
        answer = BASELINES.get(str(body.get("model")))
        if answer is None:
            known = ", ".join(BASELINES)
            return _error(
                404,
                f"model {body.get('model')!r} is none of the offline baselines; choose from {known}",
                "model_not_found",
            )
        if body.get("stream"):
            return _error(400, "the baselines do not stream; leave 'stream' out")
        identity = hashlib.sha256(content).hexdigest()[:24]
        return httpx.Response(200, json=_reply(body, answer(body), identity))


def estimate_tokens(text: str) -> int:
    """Estimate a text's tokens: a quarter for an ASCII character, three quarters for any other, rounded up."""
    # Counting by encoding runs at C speed, which matters for thousands of long reports.
    ascii_characters = len(text.encode("ascii", "ignore"))
    return -(-(ascii_characters + 3 * (len(text) - ascii_characters)) // 4)


def _prompt_tokens(body: Mapping[str, Any]) -> int:
    total = 0
    for message in body["messages"]:
        total += estimate_tokens(text_of(message.get("content")))
        if message.get("tool_calls"):
            total += estimate_tokens(json.dumps(message["tool_calls"], ensure_ascii=False))
    return total + (estimate_tokens(json.dumps(body["tools"], ensure_ascii=False)) if body.get("tools") else 0)


def _cut(text: str, limit: int) -> str:
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(text[:middle]) <= limit else (low, middle - 1)
    return text[:low]


def _reply(body: Mapping[str, Any], completion: Completion, identity: str) -> dict[str, Any]:
    """The reply's object; a text longer than the request's output limit is cut and ends with ``length``."""
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    content, finish_reason = completion.content, "stop"
    calls = [
        {
            "id": f"call_{identity[:12]}_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
        }
        for number, (name, arguments) in enumerate(completion.calls, start=1)
    ]
    if calls:
        finish_reason = "tool_calls"
    elif isinstance(limit, int) and estimate_tokens(content) > limit:
        content, finish_reason = _cut(content, limit), "length"
    message: dict[str, Any] = {"role": "assistant", "content": content or None} | (
        {"tool_calls": calls} if calls else {}
    )
    spent = estimate_tokens(content) + (estimate_tokens(json.dumps(calls, ensure_ascii=False)) if calls else 0)
    asked = _prompt_tokens(body)
    return {
        "id": f"chatcmpl-{identity}",
        "object": "chat.completion",
        # A time of day would make equal requests differ.
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}],
        "usage": {"prompt_tokens": asked, "completion_tokens": spent, "total_tokens": asked + spent},
    }


def _error(status: int, message: str, code: str | None = None) -> httpx.Response:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return httpx.Response(status, json={"error": error})
