"""A loopback endpoint that models a provider's prompt cache: what it keeps, when, and what that saves."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

CHARACTERS_A_TOKEN = 4
LEAST_TOKENS = 1024
STEP_TOKENS = 128
_VERDICT = json.dumps({"satisfied": True, "reason": "r"})


@dataclass
class PrefixCacheServer:
    """Keeps the beginning of each prompt, in steps of 128 tokens from 1,024 on, once its request has finished.

    An entry expires `lifetime` seconds after its last use, or so many requests after it where `counts_requests` makes
    the clock independent of the machine. A request takes `latency` seconds, and `seconds_a_token` for
    each token of its prompt that is not in the cache.
    """

    latency: float = 0.05
    seconds_a_token: float = 0.0
    lifetime: float = 300.0
    counts_requests: bool = False
    url: str = ""
    input_tokens: int = 0
    cached_tokens: int = 0
    requests: int = 0
    _used: dict[int, float] = field(default_factory=dict)

    @property
    def cached_share(self) -> float:
        """Share of all input tokens that came from the cache."""
        return self.cached_tokens / self.input_tokens

    def _now(self) -> float:
        return self.requests if self.counts_requests else time.monotonic()

    def _steps(self, prompt: str) -> list[int]:
        """Hashes of the prompt's beginnings, the shortest first."""
        step = STEP_TOKENS * CHARACTERS_A_TOKEN
        first = LEAST_TOKENS * CHARACTERS_A_TOKEN
        return [hash(prompt[:end]) for end in range(first, len(prompt) + 1, step)]

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        prompt = "".join(message["content"] for message in body["messages"])
        now, cached = self._now(), 0
        steps = self._steps(prompt)
        for number, step in enumerate(steps):
            if now - self._used.get(step, -math.inf) >= self.lifetime:
                break
            self._used[step] = now
            cached = LEAST_TOKENS + number * STEP_TOKENS
        tokens = -(-len(prompt) // CHARACTERS_A_TOKEN)
        await asyncio.sleep(self.latency + self.seconds_a_token * (tokens - cached))
        self._used.update(dict.fromkeys(steps, self._now()))
        self.requests += 1
        self.input_tokens += tokens
        self.cached_tokens += cached
        message = {"role": "assistant", "content": _VERDICT}
        usage = {
            "prompt_tokens": tokens,
            "completion_tokens": 10,
            "total_tokens": tokens + 10,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response({"id": "c", "model": "m", "choices": [choice], "usage": usage})


@asynccontextmanager
async def serving(server: PrefixCacheServer) -> AsyncIterator[PrefixCacheServer]:
    """Serve on a free port of 127.0.0.1 in the running event loop."""
    application = web.Application(client_max_size=2**24)
    application.router.add_post("/v1/chat/completions", server._answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()
