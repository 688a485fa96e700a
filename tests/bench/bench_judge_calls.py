"""What a judge call costs this process: ``python tests/bench/bench_judge_calls.py [calls] [--grade-only]``.

Milliseconds of CPU a call at 32, 128 and 512 at once, against a loopback server in a process of its own: `grade` with
everything on (schema, prefix order, records, results on disk) beside the plain openai client's `create` with the same
messages. Single runs spread on a shared machine: trust the ratio. Target: 0.9 ms, and no more at 512 than at 32.
Last comes the most memory that the process took, reports included: 144000 calls are a whole benchmark (12 systems, 200
tasks, 3 runs, 20 rubrics), which is to stay below 400 MB; ``--grade-only`` leaves out the plain client, which would
take ten minutes.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import openai

from lifesearch_kit.collect.collect import grade
from lifesearch_kit.collect.plan import plan_checks
from lifesearch_kit.collect.store import Store
from lifesearch_kit.judge.checks import judge_messages
from lifesearch_kit.records import Report, Rubric, Task
from lifesearch_kit.settings import JudgeSettings

SERVER = """
import json
from aiohttp import web
BODY = json.dumps({"id": "c", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {
    "role": "assistant", "content": json.dumps({"satisfied": True, "reason": "stated"})}}],
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
    await __import__("asyncio").Event().wait()

__import__("asyncio").run(start())
"""
CHINESE, ENGLISH = (
    "该报告说明了港口吞吐量的变化及其原因。",
    "The port handled more containers than in the year before. ",
)
TEXT = (CHINESE * 195 + ENGLISH * 110)[:10_000]
RUBRICS = tuple(Rubric(rubric_id=f"R{n}", criterion=f"States figure {n} for the port.", weight=0.5) for n in range(20))
TASK = Task(task_id="t", language="en", domain="d", query="Which ports grew, and why?", rubrics=RUBRICS)


async def by_grade(judge: JudgeSettings, calls: int, concurrency: int) -> None:
    reports = [Report(system="s", task_id="t", run=run, text=f"{run}. {TEXT}") for run in range(1, calls // 20 + 1)]
    with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
        summary = await grade(plan_checks([TASK], reports, [judge]), store, concurrency=concurrency)
    if summary.done != calls:
        raise SystemExit(f"only {summary}")


async def by_openai(judge: JudgeSettings, calls: int, concurrency: int) -> None:
    report = Report(system="s", task_id="t", text=TEXT)
    numbers = itertools.count()
    async with openai.AsyncOpenAI(base_url=judge.base_url, api_key="any word") as client:

        async def work() -> None:
            while (number := next(numbers)) < calls:
                messages = judge_messages(TASK, report, RUBRICS[number % 20], judge)
                reply = await client.chat.completions.create(model="m", messages=messages, temperature=0)
                json.loads(reply.choices[0].message.content)

        await asyncio.gather(*(work() for _ in range(concurrency)))


def main() -> None:
    numbers = [int(one) for one in sys.argv[1:] if one.isdigit()]
    calls = numbers[0] if numbers else 4000
    ways = {"grade": by_grade} if "--grade-only" in sys.argv else {"openai create": by_openai, "grade": by_grade}
    os.environ["OPENAI_API_KEY"] = "any word"
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    try:
        judge = JudgeSettings(name="j", model="m", base_url=f"http://127.0.0.1:{server.stdout.readline().strip()}/v1")
        for concurrency in (32, 128, 512):
            took = {}
            for name, way in ways.items():
                start, cpu = time.perf_counter(), time.process_time()
                asyncio.run(way(judge, calls, concurrency))
                took[name] = 1000 * (time.process_time() - cpu) / calls
                seconds = time.perf_counter() - start
                print(f"{concurrency:>4} at once, {name}: {took[name]:.2f} ms of CPU a call, {seconds:.1f} s")
            if len(took) > 1:
                print(f"     ratio {took['grade'] / took['openai create']:.2f}")
        print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    finally:
        server.kill()


if __name__ == "__main__":
    main()
