"""Run agents and judges over many units: bounded, resumable, each result stored as it arrives."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date

from lifesearch_kit.agent.agent import research
from lifesearch_kit.chat.client import Chat
from lifesearch_kit.collect.accounting import Budget, Summary
from lifesearch_kit.collect.arrivals import Arrivals, Refusals
from lifesearch_kit.collect.plan import Run
from lifesearch_kit.collect.store import Store, select
from lifesearch_kit.collect.workers import Workers
from lifesearch_kit.endpoint_addresses import local_address
from lifesearch_kit.errors import InputError
from lifesearch_kit.judge.checks import Check
from lifesearch_kit.judge.judge import judge_rubric
from lifesearch_kit.judge.prefix_order import PrefixOrder
from lifesearch_kit.own_agents import OwnAgent, require_agents, run_own_agent
from lifesearch_kit.records import Report
from lifesearch_kit.settings import ModelSettings
from lifesearch_kit.tools import Tools, tools_for


async def run_agents(
    plan: Sequence[Run],
    tools: Tools,
    store: Store,
    *,
    today: date,
    concurrency: int = 8,
    budget: Budget | None = None,
) -> tuple[list[Report], Summary]:
    """Make the runs that the store does not hold yet.

    Parameters
    ----------
    plan, tools, today
        What is to be run with what (tools for all tasks, or what gives those of a task); agents are told the date.
    store
        Keeps each result as it arrives.
    concurrency
        Runs at a time.
    budget
        When it is spent no further run is begun, and the summary says so. None sets none.

    Returns
    -------
    list of Report
        All reports of the plan that are there now, in its order.
    Summary
        A run lost to infrastructure is counted there and left to be run again.

    Raises
    ------
    InputError
        When a key is missing, or with a budget a price, or another process is at work on the run; nothing has run
        then.
    ChatError
        When an endpoint refuses every further call or has gone: its configuration stops at once, the others finish,
        and all that was done is kept. Also when nothing at all could be done for a configuration.
    """
    with store.claim():
        stored = store.reports()
        todo = [run for run in plan if run.key not in stored]
        summary = Summary("agent runs", planned=len(plan), skipped=len(plan) - len(todo))

        settings = {run.system.name: run.system for run in todo}
        functions = require_agents([one for one in settings.values() if isinstance(one, OwnAgent)])

        async def make(run: Run, chats: Mapping[str, Chat]) -> float | None:
            system, own, checkpoint = run.system, tools_for(tools, run.task), store.checkpoint(run.key)
            if isinstance(system, OwnAgent):
                function = functions.get(system.name)
                made = run_own_agent(run.task, system, own, run=run.number, today=today, function=function)
            else:
                chat = chats[system.name]
                made = research(run.task, system, chat, own, run=run.number, today=today, checkpoint=checkpoint)
            report, transcript = await made
            report = report.model_copy(update={"fingerprint": run.fingerprint})
            kept = store.add_report(report, transcript)
            checkpoint.remove()
            summary.add(kept)
            return kept.cost

        begun = {run.system.name for run in plan if run.key in stored}
        order = PrefixOrder(todo, lambda run: run.key)
        workers = Workers(order, lambda run: run.system, make, begun, summary, budget or Budget())
        summary.set_aside = store.unfinished_beside(run.key for run in plan)
        await workers.run(list(settings.values()), concurrency)
        return select(store.reports(), [run.key for run in plan]), summary


async def grade(plan: Sequence[Check], store: Store, *, concurrency: int = 16, budget: Budget | None = None) -> Summary:
    """Make the judgments that the store does not hold a verdict for.

    The first of those that share the beginning of their prompt is awaited before the others go out together, so that an
    endpoint's prompt cache serves them.

    Parameters
    ----------
    plan
        What is to be judged.
    store
        Keeps each result as it arrives.
    concurrency
        Calls at a time.
    budget
        When it is spent no further call is begun, and the summary says so. None sets none.

    Returns
    -------
    Summary
        Counts by outcome; a second call makes only what failed or is unjudged. The judgments are in the store
        (`Store.select_judgments`): many of them would not fit into memory.

    Raises
    ------
    InputError
        When a key is missing, or with a budget a price, or another process is at work on the run; nothing has run
        then.
    ChatError
        When an endpoint refuses every further call or has gone: its configuration stops at once, the others finish,
        and all that was done is kept. Also when nothing at all could be done for a configuration.
    """
    with store.claim():
        judged = store.judged()
        todo = [check for check in plan if check.key not in judged]
        summary = Summary("judgments", planned=len(plan), skipped=len(plan) - len(todo))
        arrivals, refusals = Arrivals(store, summary), Refusals(concurrency)

        async def make(check: Check, chats: Mapping[str, Chat]) -> float | None:
            judgment = await judge_rubric(check, chats[check.judge.name])
            arrivals.add(judgment)
            refusals.note(check, judgment)
            return judgment.cost

        settings = {check.judge.name: check.judge for check in todo}
        begun = {check.judge.name for check in plan if check.key in judged}
        order = PrefixOrder(todo, lambda check: check.prefix)
        workers = Workers(order, lambda check: check.judge, make, begun, summary, budget or Budget())
        try:
            await workers.run(list(settings.values()), concurrency)
        finally:
            arrivals.keep()
        return summary


def require_keys(settings: Sequence[ModelSettings | OwnAgent], *, live_tools: bool) -> None:
    """Check that the environment holds every key that a run will need, and the address of a model on this machine.

    Raises
    ------
    InputError
        Naming each missing variable and what needs it.
    """
    search = "SERPER_API_KEY"
    needed: dict[str, list[str]] = {search: ["web search"]} if live_tools else {}
    for one in settings:
        if isinstance(one, ModelSettings) and not one.runs_here:
            needed.setdefault(one.api_key_env, []).append(one.name)
    faults = [
        f"set the environment variable {variable}, which {', '.join(users)} needs, to its key"
        + ("" if variable == search else " (to any word where the endpoint asks for none)")
        for variable, users in needed.items()
        if not os.environ.get(variable, "").strip()
    ]
    local = [one.name for one in settings if one.is_local]
    if local:
        try:
            local_address(local)
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
