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
import sys
import tempfile
import time

import openai
from judged_server import TEXT, judged_server

from lifesearch_kit.collect.collect import grade
from lifesearch_kit.collect.plan import plan_checks
from lifesearch_kit.collect.store import Store
from lifesearch_kit.judge.checks import judge_messages
from lifesearch_kit.records import Report, Rubric, Task
from lifesearch_kit.settings import JudgeSettings

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
    with judged_server() as url:
        judge = JudgeSettings(name="j", model="m", base_url=url)
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


if __name__ == "__main__":
    main()
