"""What an agent costs this process: ``taskset -c 0 python tests/bench/bench_agent.py [repeats]``.

Against a loopback server in a process of its own, on any core. Targets:

1. 200 agents at once, ten pages of 10,000 characters each, with store and checkpoints: below 600 MB at the peak.
2. One step at a history of 60 messages and 100,000 characters: below 2.5 ms of CPU (beside it openai's typed `create`
   with the same messages).
3. The loop's own share: CPU of whole runs over that of the same requests and tool calls in a bare loop, with a tool
   that returns at once: below 10%, at few and many steps and short and long results, against two bare loops: openai's
   client as its manual shows it, and the leanest that sends these requests. Ways take turns; the median of each
   round's ratio, and its quartiles, since single rounds spread on a shared machine. A decision takes about a
   millisecond here and seconds with a real model.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import openai

from lifesearch_kit import prompts
from lifesearch_kit.agent.agent import SYSTEM_PROMPT, research
from lifesearch_kit.agent.checkpoints import Checkpoint, FinishedStep
from lifesearch_kit.agent.loop import Loop
from lifesearch_kit.agent.tool_calls import ToolCallsProtocol
from lifesearch_kit.chat.client import Chat
from lifesearch_kit.chat.reply import read_reply
from lifesearch_kit.collect.collect import run_agents
from lifesearch_kit.collect.plan import plan_runs
from lifesearch_kit.collect.store import Store
from lifesearch_kit.records import Rubric, Task
from lifesearch_kit.settings import SystemSettings
from lifesearch_kit.text import encode
from lifesearch_kit.tools import Tool, function_schema
from lifesearch_kit.tools.fetch import fetch_tool
from lifesearch_kit.transcripts import ToolResult

SERVER = """
import asyncio, itertools, json, os
from aiohttp import web
PAGE = os.environ["PAGE"]
os.sched_setaffinity(0, range(os.cpu_count()))
numbers = itertools.count()

def completion(message, finish):
    usage = {"prompt_tokens": 3000, "completion_tokens": 12, "total_tokens": 3012}
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **message}}
    return json.dumps({"id": "c", "model": "m", "choices": [choice], "usage": usage}).encode()

async def chat(request):
    body = await request.read()
    steps, goal = body.count(b'"role":"assistant"'), int(json.loads(body)["model"])
    url = json.dumps({"url": f"https://port.example/{next(numbers)}"})
    call = {"id": f"call_{steps}", "type": "function", "function": {"name": "fetch", "arguments": url}}
    goes_on = steps < goal
    body = completion({"tool_calls": [call]}, "tool_calls") if goes_on else completion({"content": PAGE}, "stop")
    return web.Response(body=body, content_type="application/json")

async def read(request):
    url = (await request.json())["url"]
    return web.Response(text=f"Title: Port\\n\\nURL Source: {url}\\n\\nMarkdown Content:\\n{PAGE}")

async def start():
    application = web.Application(client_max_size=2**26)
    application.router.add_post("/v1/chat/completions", chat)
    application.router.add_post("/reader", read)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()

asyncio.run(start())
"""
BY_HAND = """
"openai's create" is the bare loop that openai's manual shows: its client, and the messages as they are. By hand is the
leanest loop that sends these requests: through Chat.complete, each message encoded once by the kit's own encoder. Both
keep no transcript and no checkpoint, check no arguments, redact nothing and know no limits and no time-outs; the agent
does all of these. "Encoded anew": by hand too, with messages that the client encodes each time.
"""
CHINESE, ENGLISH = "该港口的吞吐量比上一年有所增长。", "The port handled more containers than in the year before. "
PAGE = (CHINESE * 240 + ENGLISH * 110)[:10_000]
TODAY = date(2026, 3, 31)
RUBRICS = (Rubric(rubric_id="R1", criterion="Names it.", weight=1.0),)
TASK = Task(task_id="t", language="en", domain="d", query="Which ports grew, and why?", rubrics=RUBRICS)
AGENTS, STEPS, MEGABYTES = 200, 10, 600
# 2 + 2 x 29 = 60 messages; 29 results of 3,400 characters are some 100,000.
EARLIER, RESULT, STEP_MS, OVERHEAD = 29, PAGE[:3_400], 2.5, 10.0
# Steps of a run, and characters of a result.
RUNS = ((10, 100), (10, 3_400), (40, 100), (40, 3_400))
SCHEMA = function_schema("fetch")


def tool_at_once(result: str) -> Tool:
    async def at_once(url: str, page: int = 1) -> str:
        return result

    return Tool("fetch", SCHEMA, at_once)


def verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def many_agents(system: SystemSettings, reader: str) -> None:
    tools = [fetch_tool(endpoint=reader, readers=("jina",))]
    tasks = [TASK.model_copy(update={"task_id": f"t{number}"}) for number in range(AGENTS)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start, cpu = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
        plan = plan_runs(tasks, [system], tools, runs=1, today=TODAY)
        reports, summary = asyncio.run(run_agents(plan, tools, store, today=TODAY, concurrency=AGENTS))
    if {(one.status, one.iterations) for one in reports} != {("answered", STEPS + 1)} or len(reports) != AGENTS:
        raise SystemExit(f"not all agents answered: {summary}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds, each = time.perf_counter() - start, 1000 * (time.process_time() - cpu) / AGENTS / STEPS
    print(f"{AGENTS} agents of {STEPS} pages at once: most memory {peak:.0f} MB ({before:.0f} MB before), ", end="")
    print(f"target {MEGABYTES} MB {verdict(peak < MEGABYTES)}; {seconds:.1f} s, {each:.1f} ms of CPU a step")


class Earlier(Checkpoint):
    """A checkpoint with the steps of an earlier part of the run; what is added is written to a file as ever."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        call = {"type": "function", "function": {"name": "fetch", "arguments": '{"url": "https://port.example/0"}'}}
        self._steps = []
        for number in range(EARLIER):
            message = {"role": "assistant", "content": None, "tool_calls": [{"id": f"call_{number}", **call}]}
            usage = {"prompt_tokens": 3000, "completion_tokens": 12}
            reply = read_reply({"model": "m", "choices": [{"message": message}], "usage": usage})
            result = ToolResult(call_id=f"call_{number}", tool="fetch", arguments="{}", content=RESULT, ok=True)
            self._steps.append(FinishedStep(reply, [result]))

    def steps(self) -> list[FinishedStep]:
        return self._steps


async def one_step(system: SystemSettings, repeats: int) -> None:
    prompt = prompts.render(SYSTEM_PROMPT, today=TODAY.isoformat())
    took: dict[str, list[float]] = {"step": [], "create": []}
    tool = tool_at_once(RESULT)
    with tempfile.TemporaryDirectory() as folder:
        earlier = Earlier(Path(folder, "steps.jsonl"))
        async with Chat(system) as chat, openai.AsyncOpenAI(base_url=system.base_url, api_key="any word") as client:
            for _ in range(repeats):
                loop = Loop(TASK, system, chat, [tool], 1, ToolCallsProtocol([tool]), prompt, earlier)
                messages = list(loop.conversation.messages)
                cpu = time.process_time()
                await loop.step(None)
                took["step"].append(time.process_time() - cpu)
                cpu = time.process_time()
                await client.chat.completions.create(model=system.model, messages=messages, tools=[SCHEMA])  # type: ignore[arg-type, list-item]
                took["create"].append(time.process_time() - cpu)
    size = sum(len(str(one["content"] or "")) for one in messages)
    step, create = (1000 * statistics.median(took[name]) for name in ("step", "create"))
    print(f"one step of {len(messages)} messages, {size:,} characters: {step:.2f} ms of CPU, ", end="")
    print(f"target {STEP_MS} ms {verdict(step < STEP_MS)}; openai create {create:.2f} ms, ratio {step / create:.2f}")


async def by_agent(system: SystemSettings, chat: Chat, tool: Tool, checkpoint: Checkpoint) -> None:
    await research(TASK, system, chat, [tool], run=1, today=TODAY, checkpoint=checkpoint)
    checkpoint.remove()


async def by_hand(
    system: SystemSettings, chat: Chat, tool: Tool, prepare: Callable[[dict[str, Any]], dict[str, Any] | bytes]
) -> None:
    prompt = prompts.render(SYSTEM_PROMPT, today=TODAY.isoformat())
    said = [prepare({"role": "system", "content": prompt}), prepare({"role": "user", "content": TASK.query})]
    while True:
        reply = await chat.complete(said, tools=[SCHEMA])
        said.append(prepare(reply.message))
        if not reply.tool_calls:
            return
        for call in reply.tool_calls:
            content = await tool.call(**json.loads(call["function"]["arguments"]))
            said.append(prepare({"role": "tool", "tool_call_id": call["id"], "content": content}))


async def by_openai(system: SystemSettings, client: openai.AsyncOpenAI, tool: Tool) -> None:
    prompt = prompts.render(SYSTEM_PROMPT, today=TODAY.isoformat())
    said: list[Any] = [{"role": "system", "content": prompt}, {"role": "user", "content": TASK.query}]
    while True:
        completion = await client.chat.completions.create(model=system.model, messages=said, tools=[SCHEMA])  # type: ignore[list-item]
        message = completion.choices[0].message
        said.append(message)
        if not message.tool_calls:
            return
        for call in message.tool_calls:
            content = await tool.call(**json.loads(call.function.arguments))  # type: ignore[union-attr]
            said.append({"role": "tool", "tool_call_id": call.id, "content": content})


async def overhead(system: SystemSettings, steps: int, characters: int, repeats: int) -> None:
    system = system.model_copy(update={"model": str(steps)})
    tool = tool_at_once(PAGE[:characters])
    with tempfile.TemporaryDirectory() as folder:
        ways: dict[str, Callable[[SystemSettings, Chat, Tool], Awaitable[None]]] = {
            "by hand": partial(by_hand, prepare=encode),
            "agent": partial(by_agent, checkpoint=Checkpoint()),
            "agent with its checkpoint file": partial(by_agent, checkpoint=Checkpoint(Path(folder, "steps.jsonl"))),
            "by hand, encoded anew": partial(by_hand, prepare=dict),
        }
        async with Chat(system) as chat, openai.AsyncOpenAI(base_url=system.base_url, api_key="any word") as client:
            ways["openai's create"] = lambda system, _, tool: by_openai(system, client, tool)
            took: dict[str, list[float]] = {name: [] for name in ways}
            for way in ways.values():
                await way(system, chat, tool)
            for turn in range(repeats):
                names = list(ways)
                for name in names[turn % len(names) :] + names[: turn % len(names)]:
                    cpu = time.process_time()
                    await ways[name](system, chat, tool)
                    took[name].append(1000 * (time.process_time() - cpu) / (steps + 1))
    print(f"runs of {steps} steps, results of {characters:,} characters, CPU a decision:")
    for name, own in took.items():
        print(f"  {name}: {statistics.median(own):.2f} ms", end="")
        for bare in ("openai's create", "by hand") if name.startswith("agent") else ():
            low, share, high = statistics.quantiles(
                [100 * (one / other - 1) for one, other in zip(own, took[bare], strict=True)], n=4
            )
            met = f"target {OVERHEAD:.0f}% {verdict(share < OVERHEAD)}"
            print(f"; over {bare} {share:+.0f}% (quartiles {low:+.0f} to {high:+.0f}), {met}", end="")
        print()


def main() -> None:
    repeats = int(sys.argv[1]) if sys.argv[1:] else 30
    os.environ["OPENAI_API_KEY"] = "any word"
    environment = {**os.environ, "PAGE": PAGE}
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        address = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        system = SystemSettings(name="s", model=str(STEPS), base_url=f"{address}/v1", max_retries=0)
        many_agents(system, f"{address}/reader")
        asyncio.run(one_step(system, 4 * repeats))
        print(BY_HAND)
        for steps, characters in RUNS:
            asyncio.run(overhead(system, steps, characters, 2 * repeats))
    finally:
        server.kill()


if __name__ == "__main__":
    main()
