"""What the same judging costs by other ways: ``python tests/bench/bench_peers.py [calls]``; a Markdown table comes out.

Each way asks a loopback server for the same number of verdicts on reports of 10,000 characters, 20 criteria each, at
32, 128 and 512 at once, in a process of its own: calls a second, CPU of that process a call, its most memory. Two ways
call and read the reply, no more: the plain openai client, and a pool of threads over its synchronous twin. Three are
whole frameworks with their own prompts, which keep what they got: `grade` here (SQLite), inspect_ai's `eval` (its log)
and autorubric's grader (in memory). They come from the extra ``bench``; one that is not installed is said to be
missing. Single runs spread on a shared machine: trust the ratios within one table.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from judged_server import TEXT, judged_server

LEVELS = (32, 128, 512)
CRITERIA = 20
QUERY = "Which ports grew, and why?"


def criterion(number: int) -> str:
    return f"States figure {number % CRITERIA} for the port."


def messages(number: int) -> list[dict[str, str]]:
    """The question, a report and a criterion, as whoever writes it by hand would send them."""
    asked = f"Question: {QUERY}\n\nReport {number // CRITERIA}. {TEXT}\n\nCriterion: {criterion(number)}\n\nReply with"
    return [{"role": "user", "content": asked + ' JSON: {"satisfied": true or false, "reason": "..."}.'}]


def by_grade(url: str, calls: int, at_once: int) -> None:
    from lifesearch_kit.collect.collect import grade
    from lifesearch_kit.collect.plan import plan_checks
    from lifesearch_kit.collect.store import Store
    from lifesearch_kit.records import Report, Rubric, Task
    from lifesearch_kit.settings import JudgeSettings

    rubrics = tuple(Rubric(rubric_id=f"R{n}", criterion=criterion(n), weight=0.5) for n in range(CRITERIA))
    task = Task(task_id="t", language="en", domain="d", query=QUERY, rubrics=rubrics)
    reports = [Report(system="s", task_id="t", run=n, text=f"{n}. {TEXT}") for n in range(1, calls // CRITERIA + 1)]
    judge = JudgeSettings(name="j", model="m", base_url=url)
    with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
        summary = asyncio.run(grade(plan_checks([task], reports, [judge]), store, concurrency=at_once))
    if summary.done != calls or summary.unjudged:
        raise SystemExit(f"only {summary}")


def by_openai(url: str, calls: int, at_once: int) -> None:
    import openai

    async def ask_all() -> None:
        numbers = itertools.count()
        async with openai.AsyncOpenAI(base_url=url) as client:

            async def work() -> None:
                while (number := next(numbers)) < calls:
                    reply = await client.chat.completions.create(model="m", messages=messages(number), temperature=0)
                    json.loads(reply.choices[0].message.content)

            await asyncio.gather(*(work() for _ in range(at_once)))

    asyncio.run(ask_all())


def by_threads(url: str, calls: int, at_once: int) -> None:
    import openai

    with openai.OpenAI(base_url=url) as client, ThreadPoolExecutor(at_once) as pool:

        def ask(number: int) -> bool:
            reply = client.chat.completions.create(model="m", messages=messages(number), temperature=0)
            return json.loads(reply.choices[0].message.content)["satisfied"]

        if sum(pool.map(ask, range(calls))) != calls:
            raise SystemExit("verdicts are missing")


def by_inspect(url: str, calls: int, at_once: int) -> None:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import GenerateConfig, get_model
    from inspect_ai.scorer import Score, Target, accuracy, scorer
    from inspect_ai.solver import TaskState, solver

    settings = GenerateConfig(temperature=0, max_connections=at_once)
    judge = get_model("openai/m", base_url=url, config=settings, responses_api=False)

    @solver
    def written() -> Callable[..., object]:
        async def solve(state: TaskState, generate: object) -> TaskState:
            return state

        return solve

    @scorer(metrics=[accuracy()])
    def judged() -> Callable[..., object]:
        async def score(state: TaskState, target: Target) -> Score:
            reply = await judge.generate(state.input_text)
            return Score(value=json.loads(reply.completion)["satisfied"])

        return score

    samples = [Sample(id=number, input=messages(number)[0]["content"]) for number in range(calls)]
    task = Task(dataset=samples, solver=written(), scorer=judged())
    with tempfile.TemporaryDirectory() as folder:
        (log,) = eval(
            task, model="mockllm/model", log_dir=folder, display="none", max_samples=at_once, max_connections=at_once
        )
    if log.status != "success" or log.results.completed_samples != calls:
        raise SystemExit(f"inspect_ai: {log.status} {log.error}")


def by_autorubric(url: str, calls: int, at_once: int) -> None:
    from autorubric import LLMConfig, Rubric
    from autorubric.graders import CriterionGrader

    settings = LLMConfig(
        model="openai/m", api_base=url, api_key="any word", temperature=0.0, max_parallel_requests=at_once
    )
    grader = CriterionGrader(judge_model_config=settings)
    rubric = Rubric.from_dict([{"weight": 1.0, "requirement": criterion(number)} for number in range(CRITERIA)])

    async def grade_all() -> None:
        numbers = itertools.count()

        async def work() -> None:
            while (number := next(numbers)) < calls // CRITERIA:
                result = await rubric.grade(to_grade=f"{number}. {TEXT}", grader=grader, query=QUERY)
                if result.score != 1.0:
                    raise SystemExit(f"autorubric: {result.error}")

        # It asks for all criteria of a report at once, so that fewer reports under way already fill the limit.
        await asyncio.gather(*(work() for _ in range(-(-2 * at_once // CRITERIA))))

    asyncio.run(grade_all())


WAYS = {
    "lifesearch_kit grade": (by_grade, "lifesearch_kit"),
    "openai, asynchronous": (by_openai, "openai"),
    "openai, pool of threads": (by_threads, "openai"),
    "inspect_ai eval": (by_inspect, "inspect_ai"),
    "autorubric grader": (by_autorubric, "autorubric"),
}


def measure(name: str, url: str, calls: int, at_once: int) -> None:
    """Do the work in this process and print its figures as JSON."""
    way, module = WAYS[name]
    importlib.import_module(module)
    way(url, CRITERIA, 4)  # what happens only once is no cost of a call
    start, cpu = time.perf_counter(), time.process_time()
    way(url, calls, at_once)
    seconds, milliseconds = time.perf_counter() - start, 1000 * (time.process_time() - cpu) / calls
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"calls_a_second": calls / seconds, "cpu_ms": milliseconds, "memory_mb": memory}))


def run(name: str, url: str, calls: int, at_once: int) -> dict[str, float]:
    command = [sys.executable, __file__, name, url, str(calls), str(at_once)]
    environment = {**os.environ, "OPENAI_API_KEY": "any word", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tempfile.gettempdir())
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    calls -= calls % CRITERIA
    with judged_server() as url:
        print(f"{calls} calls. Calls a second; CPU milliseconds a call; most memory, MB.\n")
        print("| way | " + " | ".join(f"{level} at once" for level in LEVELS) + " |")
        print("|---|" + "---|" * len(LEVELS))
        for name, (_, module) in WAYS.items():
            if importlib.util.find_spec(module) is None:
                print(f"| {name}: not installed (pip install -e '.[bench]') |")
                continue
            version = importlib.metadata.version(module)
            found = [run(name, url, calls, level) for level in LEVELS]
            cells = [f"{one['calls_a_second']:,.0f}; {one['cpu_ms']:.2f}; {one['memory_mb']:.0f}" for one in found]
            print(f"| {name} {version} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 5:
        measure(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
