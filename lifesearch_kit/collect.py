"""Run agents and judges over many units: bounded, resumable, each result stored as it arrives."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

from tqdm.auto import tqdm

from lifesearch_kit import offline
from lifesearch_kit.agent import research
from lifesearch_kit.chat import Chat
from lifesearch_kit.errors import ChatError, InputError
from lifesearch_kit.judge import judge_rubric
from lifesearch_kit.plan import Check, Run
from lifesearch_kit.records import Judgment, Report
from lifesearch_kit.settings import ModelSettings
from lifesearch_kit.store import Store, select
from lifesearch_kit.tools import Tool

Unit = TypeVar("Unit")


@dataclass
class Summary:
    """What a collection did. `failed` counts units lost to infrastructure by cause: they stay to be run.

    `unjudged` counts judgments without a verdict by status. `cost` is None where no prices are given.
    """

    what: str
    planned: int = 0
    skipped: int = 0
    done: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    unjudged: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    unknown_usage: int = 0
    cost: float | None = None
    seconds: float = 0.0

    def add(self, record: Report | Judgment) -> None:
        """Count one stored result."""
        self.done += 1
        if record.output_tokens is None:
            self.unknown_usage += 1
        self.input_tokens += record.input_tokens or 0
        self.output_tokens += record.output_tokens or 0
        if record.cost is not None:
            self.cost = (self.cost or 0.0) + record.cost
        if isinstance(record, Judgment) and record.satisfied is None:
            self.unjudged[record.status] += 1

    def __str__(self) -> str:
        parts = [f"{self.what}: {self.planned} planned, {self.skipped} there already, {self.done} done"]
        parts += [f"{count} unjudged ({status})" for status, count in sorted(self.unjudged.items())]
        parts += [f"{count} failed ({cause}), to be run again" for cause, count in sorted(self.failed.items())]
        tokens = f"{self.input_tokens:,} input and {self.output_tokens:,} output tokens"
        parts.append(tokens + (f" (unknown for {self.unknown_usage})" if self.unknown_usage else ""))
        parts.append("no prices given" if self.cost is None else f"cost {self.cost:,.2f}")
        return "; ".join(parts)


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
        When a key is missing; nothing has run then.
    ChatError
        When an endpoint would refuse every further call. All that was done is kept.
    """
    stored = store.reports()
    todo = [run for run in plan if run.key not in stored]
    summary = Summary("agent runs", planned=len(plan), skipped=len(plan) - len(todo))

    async def make(run: Run, chats: Mapping[str, Chat]) -> None:
        chat = chats[run.system.name]
        report, transcript = await research(run.task, run.system, chat, tools, run=run.number, today=today)
        report = report.model_copy(update={"fingerprint": run.fingerprint})
        summary.add(store.add_report(report, transcript))

    await _collect(todo, {run.system.name: run.system for run in todo}, make, summary, concurrency)
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
        When a key is missing; nothing has run then.
    ChatError
        When an endpoint would refuse every further call. All that was done is kept.
    """
    judged = store.judged()
    todo = [check for check in plan if check.key not in judged]
    summary = Summary("judgments", planned=len(plan), skipped=len(plan) - len(todo))

    async def make(check: Check, chats: Mapping[str, Chat]) -> None:
        judgment = await judge_rubric(
            check.task, check.report, check.rubric, check.judge, chats[check.judge.name], repeat=check.repeat
        )
        store.add_judgments([judgment])
        summary.add(judgment)

    await _collect(todo, {check.judge.name: check.judge for check in todo}, make, summary, concurrency)
    return select(store.judgments(), [check.key for check in plan]), summary


async def _collect(
    todo: Sequence[Unit],
    settings: Mapping[str, ModelSettings],
    make: Callable[[Unit, Mapping[str, Chat]], Awaitable[None]],
    summary: Summary,
    concurrency: int,
) -> None:
    started = time.perf_counter()
    units = iter(todo)

    async def worker(chats: Mapping[str, Chat], progress: Any) -> None:
        # The workers share one iterator: a waiting unit costs nothing, and memory does not grow with their number.
        for unit in units:
            try:
                await make(unit, chats)
            except ChatError as error:
                if error.kind == "stop":
                    raise
                summary.failed[str(error)] += 1
            progress.update()

    async with AsyncExitStack() as stack:
        chats = await _open_chats(settings, stack)
        progress = stack.enter_context(tqdm(total=len(todo), desc=summary.what, disable=not todo, mininterval=0.5))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(todo))):
                    group.create_task(worker(chats, progress))
        except* ChatError as errors:
            raise errors.exceptions[0] from None
        finally:
            summary.seconds = time.perf_counter() - started


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


def open_chat(settings: ModelSettings) -> Chat:
    """A client for a model; the built-in baselines answer inside this process. Raises InputError for a missing key."""
    return Chat(settings, offline.http_client() if settings.is_offline else None)
