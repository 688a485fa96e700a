"""What the benches of judging share: a server with a verdict for every call, in a process of its own, and a report."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

CHINESE, ENGLISH = (
    "该报告说明了港口吞吐量的变化及其原因。",
    "The port handled more containers than in the year before. ",
)
TEXT = (CHINESE * 195 + ENGLISH * 110)[:10_000]
# The reply holds the verdict in the words of each judge that is measured.
_PROGRAM = """
import asyncio, json
from aiohttp import web

VERDICT = {"satisfied": True, "reason": "stated", "criterion_status": "MET", "explanation": "stated"}
BODY = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0,
    "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(VERDICT)}}],
    "usage": {"prompt_tokens": 3000, "completion_tokens": 12, "total_tokens": 3012}}).encode()

async def answer(request):
    await request.read()
    return web.Response(body=BODY, content_type="application/json")

async def start():
    application = web.Application(client_max_size=2**26)
    application.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()

asyncio.run(start())
"""


@contextmanager
def judged_server() -> Iterator[str]:
    """Run the server and give its address."""
    server = subprocess.Popen([sys.executable, "-c", _PROGRAM], stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
    finally:
        server.kill()
