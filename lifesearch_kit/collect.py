"""Run agents and judges over many units: bounded, resumable, each result stored as it arrives."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import date
from typing import Any, TypeVar

from tqdm.auto import tqdm

from lifesearch_kit import offline
from lifesearch_kit.accounting import Summary
from lifesearch_kit.agent import research
from lifesearch_kit.chat import Chat
from lifesearch_kit.errors import ChatError, InputError
from lifesearch_kit.judge import judge_rubric
from lifesearch_kit.plan import Check, Run
from lifesearch_kit.records import Judgment, Report
from lifesearch_kit.settings import ModelSettings, local_address
from lifesearch_kit.store import Store, select
from lifesearch_kit.tools import Tool

Unit = TypeVar("Unit")
# So many failures of one configuration without a success between them: its endpoint is down.
_FAILURES_IN_A_ROW = 12


async def run_agents(
    plan: Sequence[Run], tools: Sequence[Tool], store: Store, *, today: date, concurrency: int = 8
) -> tuple[list[Report], Summary]:
    """Make the runs that the store does not hold yet.

    Returns
    -------
    list of Report
        All reports of the plan that are there now, in its order.
    Summary
        A run lost to infrastructure is counted there and left to be run again.

    Raises
    ------
    InputError
        When a key is missing, or another process is at work on the run; nothing has run then.
    ChatError
        When an endpoint refuses every further call or has gone: its configuration stops at once, the others finish,
        and all that was done is kept. Also when nothing at all could be done for a configuration.
    """
    with store.claim():
        stored = store.reports()
        todo = [run for run in plan if run.key not in stored]
        summary = Summary("agent runs", planned=len(plan), skipped=len(plan) - len(todo))

        async def make(run: Run, chats: Mapping[str, Chat]) -> None:
            chat = chats[run.system.name]
            report, transcript = await research(run.task, run.system, chat, tools, run=run.number, today=today)
            report = report.model_copy(update={"fingerprint": run.fingerprint})
            summary.add(store.add_report(report, transcript))

        settings = {run.system.name: run.system for run in todo}
        begun = {run.system.name for run in plan if run.key in stored}
        await _collect(todo, lambda run: run.system.name, settings, make, begun, summary, concurrency)
        return select(store.reports(), [run.key for run in plan]), summary


async def grade(plan: Sequence[Check], store: Store, *, concurrency: int = 16) -> tuple[list[Judgment], Summary]:
    """Make the judgments that the store does not hold a verdict for.

    Returns
    -------
    list of Judgment
        All judgments of the plan that are there now, in its order, the unjudged included.
    Summary
        Counts by outcome; a second call makes only what failed or is unjudged.

    Raises
    ------
    InputError
        When a key is missing, or another process is at work on the run; nothing has run then.
    ChatError
        When an endpoint refuses every further call or has gone: its configuration stops at once, the others finish,
        and all that was done is kept. Also when nothing at all could be done for a configuration.
    """
    with store.claim():
        judged = store.judged()
        todo = [check for check in plan if check.key not in judged]
        summary = Summary("judgments", planned=len(plan), skipped=len(plan) - len(todo))

        async def make(check: Check, chats: Mapping[str, Chat]) -> None:
            judgment = await judge_rubric(
                check.task, check.report, check.rubric, check.judge, chats[check.judge.name], repeat=check.repeat
            )
            store.add_judgments([judgment])
            summary.add(judgment)

        settings = {check.judge.name: check.judge for check in todo}
        begun = {check.judge.name for check in plan if check.key in judged}
        await _collect(todo, lambda check: check.judge.name, settings, make, begun, summary, concurrency)
        return select(store.judgments(), [check.key for check in plan]), summary


async def _collect(
    todo: Sequence[Unit],
    name_of: Callable[[Unit], str],
    settings: Mapping[str, ModelSettings],
    make: Callable[[Unit, Mapping[str, Chat]], Awaitable[None]],
    begun: set[str],
    summary: Summary,
    concurrency: int,
) -> None:
    if concurrency < 1:
        raise InputError(f"concurrency {concurrency} runs nothing; give 1 or more")
    started = time.perf_counter()
    units = iter(todo)
    stopped: dict[str, ChatError] = {}
    last: dict[str, ChatError] = {}
    in_a_row, failed, done = Counter[str](), Counter[str](), Counter[str]()
    most_in_a_row = max(_FAILURES_IN_A_ROW, 2 * concurrency)

    async def worker(chats: Mapping[str, Chat], progress: Any) -> None:
        # The workers share one iterator: a waiting unit costs nothing, and memory does not grow with their number.
        for unit in units:
            name = name_of(unit)
            if name not in stopped:
                try:
                    await make(unit, chats)
                    in_a_row[name] = 0
                    done[name] += 1
                except ChatError as error:
                    summary.failed[_cause(error)] += 1
                    in_a_row[name] += 1
                    failed[name] += 1
                    last[name] = error
                    if error.kind == "stop" or in_a_row[name] >= most_in_a_row:
                        stopped.setdefault(name, error)
            progress.update()

    async with AsyncExitStack() as stack:
        chats = await _open_chats(settings, stack)
        progress = stack.enter_context(tqdm(total=len(todo), desc=summary.what, disable=not todo, mininterval=0.5))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(todo))):
                    group.create_task(worker(chats, progress))
        except* Exception as errors:
            raise errors.exceptions[0] from None
        finally:
            summary.seconds = time.perf_counter() - started
    # The others have finished by now: one configuration's failure must not cost them what is under way.
    for name in settings:
        if name in stopped or (failed[name] and not done[name] and name not in begun):
            cause = stopped.get(name) or last[name]
            told = f"{cause}. What was done is kept; mend this, or take {name!r} out, and run again to go on. {summary}"
            raise ChatError(told, cause.kind, cause.status) from cause


def _cause(error: ChatError) -> str:
    """An error's words without what differs from call to call, so that equal causes are counted together."""
    return re.sub(r"\b(?=\w*\d)[\w-]{8,}\b", "...", str(error))[:200]


async def _open_chats(settings: Mapping[str, ModelSettings], stack: AsyncExitStack) -> dict[str, Chat]:
    chats: dict[str, Chat] = {}
    faults: list[str] = []
    for name, one in settings.items():
        try:
            chats[name] = await stack.enter_async_context(open_chat(one))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return chats


def require_keys(settings: Sequence[ModelSettings], *, live_tools: bool) -> None:
    """Check that the environment holds every key that a run will need, and the address of a model on this machine.

    Raises
    ------
    InputError
        Naming each missing variable and what needs it.
    """
    needed: dict[str, list[str]] = {"SERPER_API_KEY": ["web search"]} if live_tools else {}
    for one in settings:
        if not (one.is_offline or one.is_local):
            needed.setdefault(one.api_key_env, []).append(one.name)
    faults = [
        f"set the environment variable {variable}, which {', '.join(users)} needs, to its key"
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


def open_chat(settings: ModelSettings) -> Chat:
    """A client for a model; the built-in baselines answer inside this process. Raises InputError for a missing key."""
    return Chat(settings, offline.http_client() if settings.is_offline else None)
