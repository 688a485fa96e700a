"""A budget stops a collection cleanly: what was done is kept, nothing is begun that could not be paid."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import call, completion
from test_collect import REPORTS, TASKS, judge

from lifesearch_kit.collect.accounting import Budget
from lifesearch_kit.collect.collect import grade, run_agents
from lifesearch_kit.collect.plan import plan_checks, plan_runs
from lifesearch_kit.collect.store import Store
from lifesearch_kit.errors import ChatError, InputError
from lifesearch_kit.settings import JudgeSettings, SystemSettings
from lifesearch_kit.tools import Tool, function_schema

# 1,000 input and 100 output tokens at 500 and 5,000 a million: 0.5 + 0.5 = 1.00 a call.
PRICES = {"input_price": 500.0, "output_price": 5000.0}
YES = completion('{"satisfied": true, "reason": "r"}', usage={"prompt_tokens": 1000, "completion_tokens": 100})


def graded(folder, plan, budget, concurrency=4):
    with Store(folder) as store:
        summary = asyncio.run(grade(plan, store, concurrency=concurrency, budget=budget))
        return list(store.select_judgments(check.key for check in plan)), summary


def test_a_budget_that_cannot_be_kept_stops_behind_the_first_call(loopback, tmp_path):
    # 40 tokens in all, of which 25 are hidden: what they cost, nobody can tell.
    hidden = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 40}
    loopback.script[:] = [completion('{"satisfied": true, "reason": "r"}', usage=hidden)] * 8
    plan = plan_checks(TASKS, REPORTS, [judge(loopback, **PRICES)])
    _, summary = graded(tmp_path, plan, Budget(100.0))
    assert (summary.done, len(loopback.requests)) == (1, 1)
    assert "what a call costs is unknown" in str(summary)


def test_a_spent_budget_stops_with_all_kept_and_a_larger_one_goes_on(loopback, tmp_path):
    plan = plan_checks(TASKS, REPORTS, [judge(loopback, **PRICES)])
    loopback.script[:] = [YES] * 8
    judgments, summary = graded(tmp_path, plan, Budget(3.5))
    assert (len(judgments), len(loopback.requests), summary.cost) == (3, 3, pytest.approx(3.0))
    assert "stopped by the budget 3.50, spent 3.00, 5 left" in str(summary)
    judgments, summary = graded(tmp_path, plan, Budget(5.0))
    assert (len(judgments), summary.done, summary.stopped) == (8, 5, "")


def test_one_budget_spans_several_collections(loopback, tmp_path):
    plan = plan_checks(TASKS, REPORTS, [judge(loopback, **PRICES)])
    loopback.script[:] = [YES] * 8
    budget = Budget(6.0)
    graded(tmp_path / "first", plan[:4], budget)
    judgments, summary = graded(tmp_path / "second", plan[4:], budget)
    assert (len(judgments), budget.spent) == (2, pytest.approx(6.0))
    assert "2 left" in str(summary)


def test_no_budget_stops_nothing_and_no_money_begins_nothing(loopback, tmp_path):
    plan = plan_checks(TASKS, REPORTS, [judge(loopback, **PRICES)])
    loopback.script[:] = [YES] * 8
    assert graded(tmp_path / "none", plan, Budget(0.0))[1].done == 0
    assert graded(tmp_path / "all", plan, Budget())[1].done == 8


def test_failures_cost_nothing(loopback, tmp_path):
    plan = plan_checks(TASKS, REPORTS, [judge(loopback, **PRICES)])
    loopback.script[:] = [YES, (503, {"error": {"message": "busy"}}), *[YES] * 6]
    _, summary = graded(tmp_path, plan, Budget(7.0), concurrency=1)
    assert (summary.done, summary.failed.total(), summary.stopped) == (7, 1, "")


def test_a_budget_without_prices_is_refused_before_any_call(loopback, tmp_path):
    plan = plan_checks(TASKS, REPORTS, [judge(loopback, name="free of charge?"), judge(loopback, **PRICES)])
    with pytest.raises(InputError, match=r"'free of charge\?' has no prices.*set input_price and output_price"):
        graded(tmp_path, plan, Budget(1.0))
    assert loopback.requests == []
    with pytest.raises(InputError, match="budget -1 is no limit"):
        Budget(-1)


def test_baselines_cost_nothing(tmp_path):
    baseline = JudgeSettings(name="b", model="baseline-judge", base_url="offline")
    _, summary = graded(tmp_path, plan_checks(TASKS, REPORTS, [baseline]), Budget(0.01))
    assert (summary.done, summary.stopped) == (8, "")


@given(st.lists(st.floats(0.01, 2.0), min_size=1, max_size=40), st.floats(0.01, 20.0), st.integers(1, 8))
def test_a_limit_is_passed_only_by_what_units_cost_beyond_the_dearest_before(costs, limit, workers):
    budget, waiting, begun = Budget(limit), list(costs), []

    async def work() -> None:
        while waiting:
            if not await budget.admit():
                return
            if not waiting:
                budget.settle(0.0)
                return
            begun.append((cost := waiting.pop(0), budget._dearest))
            await asyncio.sleep(0)
            budget.settle(cost)

    async def all_of_them() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(work())

    asyncio.run(all_of_them())
    assert budget.spent == pytest.approx(sum(cost for cost, _ in begun))
    beyond = sum(max(0.0, cost - (dearest or 0.0)) for cost, dearest in begun)
    assert budget.spent <= limit + beyond + 1e-9
    assert begun or limit == 0


def test_what_a_failed_run_paid_counts_and_lets_no_crowd_through(loopback, tmp_path):
    # Each decision costs 1.00. The first run fails behind two of them; 2.00 of 3.50 leave no room for another such.
    search = completion(None, call("search", {"query": "q"}), usage={"prompt_tokens": 1000, "completion_tokens": 100})
    busy = (503, {"error": {"message": "busy"}})
    loopback.script[:] = [search, search, busy, *[search] * 20]
    system = SystemSettings(name="S", model="m", base_url=loopback.chat_url, max_retries=0, **PRICES)

    async def found(query: str) -> str:
        return "found"

    tools = [Tool("search", function_schema("search"), found)]
    with Store(tmp_path) as store:
        plan = plan_runs(TASKS, [system], tools, runs=4, today=date(2026, 3, 31))
        budget = Budget(3.5)
        with pytest.raises(ChatError, match=r"cost 2\.00"):
            asyncio.run(run_agents(plan, tools, store, today=date(2026, 3, 31), concurrency=8, budget=budget))
    assert (budget.spent, len(loopback.requests)) == (2.0, 3)


def test_what_runs_here_needs_no_room_and_opens_none(loopback, tmp_path):
    baseline = JudgeSettings(name="baseline-judge", model="baseline-judge", base_url="offline")
    loopback.script[:] = [YES] * 8
    plan = plan_checks(TASKS, REPORTS, [baseline, judge(loopback, **PRICES)])
    _, summary = graded(tmp_path, plan, Budget(2.5), concurrency=8)
    assert (summary.done, len(loopback.requests)) == (8 + 2, 2)
