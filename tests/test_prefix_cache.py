"""What the order of judging saves at an endpoint with a prompt cache, and what it costs in time."""

from __future__ import annotations

import asyncio
import random
import time

import pytest
from prefix_cache_server import CHARACTERS_A_TOKEN, LEAST_TOKENS, STEP_TOKENS, PrefixCacheServer, serving

from lifesearch_kit.collect.collect import grade
from lifesearch_kit.collect.plan import plan_checks
from lifesearch_kit.collect.store import Store
from lifesearch_kit.judge.checks import Check, judge_messages
from lifesearch_kit.records import Judgment, Report, Rubric, Task
from lifesearch_kit.settings import JudgeSettings

RUBRICS = tuple(Rubric(rubric_id=f"R{n}", criterion=f"Criterion {n} of this task.", weight=0.5) for n in range(20))
TASK = Task(task_id="t", language="en", domain="d", query="Which ports grew?", rubrics=RUBRICS)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any word")


def reports_of(count: int) -> list[Report]:
    words = random.Random(1)
    return [
        Report(system="s", task_id="t", run=run, text=f"Report {run}. {words.randbytes(5_000).hex()}")
        for run in range(1, count + 1)
    ]


def graded(folder, server: PrefixCacheServer, reports: list[Report], concurrency: int) -> tuple[list[Judgment], float]:
    async def measure() -> tuple[list[Judgment], float]:
        async with serving(server):
            judge = JudgeSettings(name="j", model="m", base_url=server.url, structured_output=False)
            plan = plan_checks([TASK], reports, [judge])
            started = time.perf_counter()
            with Store(folder) as store:
                await grade(plan, store, concurrency=concurrency)
                judgments = list(store.select_judgments(check.key for check in plan))
            return judgments, time.perf_counter() - started

    return asyncio.run(measure())


def best_share(reports: list[Report]) -> float:
    """The cached share when each report is read once: its other rubrics share all up to where the criteria differ."""
    judge = JudgeSettings(name="j", model="m")
    cached = total = 0
    for report in reports:
        prompts = ["".join(one["content"] for one in judge_messages(TASK, report, rubric, judge)) for rubric in RUBRICS]
        shared = prompts[0].index("Criterion 0") // CHARACTERS_A_TOKEN
        steps = (shared - LEAST_TOKENS) // STEP_TOKENS
        cached += (len(prompts) - 1) * (LEAST_TOKENS + steps * STEP_TOKENS)
        total += sum(-(-len(prompt) // CHARACTERS_A_TOKEN) for prompt in prompts)
    return cached / total


def test_the_cached_share_is_close_to_the_best_and_the_time_to_that_of_all_at_once(tmp_path, monkeypatch):
    reports, concurrency = reports_of(40), 32
    ordered = PrefixCacheServer(latency=0.3)
    judgments, seconds = graded(tmp_path / "ordered", ordered, reports, concurrency)
    assert ordered.requests == 40 * 20
    assert sum(one.cached_tokens for one in judgments) == ordered.cached_tokens, "recorded as the endpoint tells it"
    assert ordered.cached_share >= best_share(reports) - 0.03

    monkeypatch.setattr(Check, "prefix", property(lambda check: check.key))
    at_once = PrefixCacheServer(latency=0.3)
    _, seconds_at_once = graded(tmp_path / "at_once", at_once, reports, concurrency)
    # 800 calls, 32 at once, 0.3 s each: 7.5 s at the least. All at once, a report's 20 rubrics go out together.
    assert at_once.cached_share < 0.6 * ordered.cached_share
    assert seconds <= 1.15 * seconds_at_once


def test_a_cache_that_expires_is_used_while_it_lasts(tmp_path):
    # Four workers begin four reports, whose 80 requests are done before a fifth is begun. Were all 12 begun first, the
    # last one's other rubrics would come 11 x 19 = 209 requests after it.
    short = PrefixCacheServer(latency=0.0, lifetime=90, counts_requests=True)
    reports = reports_of(12)
    graded(tmp_path, short, reports, 4)
    assert short.requests == 12 * 20
    assert short.cached_share >= best_share(reports) - 0.03
